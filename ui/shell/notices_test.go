package shell

import (
	"testing"

	"steward/app/event"
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
		{event.Notice{Kind: "journal"}, true, true},
		{event.Notice{Kind: "journal", Conversation: "c_1"}, false, false},
		{event.Notice{Kind: "server_noise"}, false, false},
	} {
		if must, ours := grave(tc.notice); must != tc.must || ours != tc.ours {
			t.Errorf("%s of %q: %v, %v", tc.notice.Kind, tc.notice.Conversation, must, ours)
		}
	}
}
