package shell

import (
	"errors"
	"strings"
	"testing"

	"steward/app"
	"steward/app/event"
	"steward/ui/theme"
)

// What a server was given, refused or failed at is told wherever it belongs; other things of a chat are told there.
func TestWhichNoticesTheWindowTells(t *testing.T) {
	for _, tc := range []struct {
		notice     event.Notice
		must, ours bool
	}{
		{event.Notice{Kind: "sampling_trusted", Conversation: "c_1"}, false, true},
		{event.Notice{Kind: "open", Conversation: "c_1"}, false, true},
		{event.Notice{Kind: "muted"}, false, true},
		{event.Notice{Kind: "sign_in", Server: "s"}, false, true},
		{event.Notice{Kind: "secrets"}, false, true},
		{event.Notice{Kind: "journal"}, true, true},
		{event.Notice{Kind: "journal", Conversation: "c_1"}, false, false},
		{event.Notice{Kind: "server_noise"}, false, false},
		{event.Notice{Kind: "servers_file", Server: "s"}, false, true},
		{event.Notice{Kind: "servers_file", Server: "s", Hint: true}, false, false},
	} {
		if must, ours := grave(tc.notice); must != tc.must || ours != tc.ours {
			t.Errorf("%s of %q: %v, %v", tc.notice.Kind, tc.notice.Conversation, must, ours)
		}
	}
}

// What cannot be used of the servers file is there at every start until somebody mends it: it stops nobody, and stands in
// the side bar.
func TestABrokenServersFileStopsNobody(t *testing.T) {
	b := newBench(t, "light", "en", memory{})
	twice := []event.Notice{{Kind: fileOfServers, Server: "a\u202eb"}, {Kind: fileOfServers, Server: "c"}, {Kind: fileOfServers, Server: "c"}}
	if got := wrongServers(twice); !strings.HasSuffix(got, `: a⟨\u202E⟩b, c`) {
		t.Errorf("it is told as %q", got)
	}
	if got := wrongServers([]event.Notice{{Kind: fileOfServers, Message: "The file is no JSON."}}); got != "The file is no JSON." {
		t.Errorf("a file that cannot be read is told as %q", got)
	}
	told := &notices{s: b.Shell}
	told.told(event.Notice{Kind: fileOfServers, Server: "broken", Message: "The entry broken has neither command nor url."})
	told.told(event.Notice{Kind: fileOfServers, Server: "other", Message: "The entry other has neither command nor url."})
	b.until("it is told", func() bool { return !told.planned })
	if b.layer.Modal() {
		t.Error("a dialog stops the person")
	}
	b.picture("servers-file")
	b.source.servers = []app.ServerStatus{{Name: "broken", State: app.ServerUnusable}, {Name: "good", State: "ready", Enabled: true}, {Name: "off", State: app.ServerDisabled}}
	b.readAll()
	if trail, dot := serversWords(b.hub.servers); !strings.Contains(trail, "1 failed") || dot != theme.Refusal {
		t.Errorf("the side bar says %q, %v", trail, dot)
	}
	b.source.serversErr = errors.New("the file is no JSON")
	b.readAll()
	if trail, dot := serversWords(b.hub.servers); trail != "unreadable" || dot != theme.Refusal {
		t.Errorf("of an unreadable file the side bar says %q, %v", trail, dot)
	}
	told.told(event.Notice{Kind: "journal", Message: "The record does not verify."})
	b.until("what is grave is told", b.layer.Modal)
}
