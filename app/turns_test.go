package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"steward/app/event"
	"steward/testdata/scriptedmodel"
)

// Edit, regenerate and move between branches: what is shown and what the model gets.
func TestBranches(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{}, say("one"), say("two"), say("edited answer"), say("again"), say("on"))
	id := r.say("", "first")
	r.say(id, "second")
	m := r.messages(id)
	texts := func() string {
		var out []string
		for _, m := range r.messages(id) {
			out = append(out, m.Text)
		}
		return strings.Join(out, "|")
	}
	turn, err := r.app.EditAndBranch(ctx, id, m[2].ID, "second, changed", []Attachment{{Kind: "file", Name: "new.txt", Text: "what is new"}})
	r.done(turn, err)
	if got := texts(); got != "first|one|second, changed|edited answer" {
		t.Errorf("after the edit: %s", got)
	}
	if got := r.messages(id)[2].Attachments; len(got) != 1 || got[0].Text != "what is new" {
		t.Errorf("attached is %v", got)
	}
	if got := r.messages(id)[2].Versions; len(got) != 2 || got[0] != m[2].ID {
		t.Errorf("the versions are %v", got)
	}
	if got := must(t, func() ([]string, error) { return r.app.Branches(ctx, id, m[2].ID) }); len(got) != 2 {
		t.Errorf("the branches are %v", got)
	}
	check(t, r.app.SwitchBranch(ctx, id, m[2].ID))
	if got := texts(); got != "first|one|second|two" {
		t.Errorf("back in the first branch: %s", got)
	}
	turn, err = r.app.Regenerate(ctx, id)
	r.done(turn, err)
	if got := texts(); got != "first|one|second|again" {
		t.Errorf("after a new answer: %s", got)
	}
	check(t, r.app.SwitchBranch(ctx, id, m[3].ID))
	r.say(id, "go on")
	if got, _ := r.lastRequest(); !slices.Equal(got, []string{"first", "one", "second", "two", "go on"}) {
		t.Errorf("the model got %q", got)
	}
	if got := texts(); got != "first|one|second|two|go on|on" {
		t.Errorf("at the end: %s", got)
	}
	copied := must(t, func() (Conversation, error) { return r.app.Duplicate(ctx, id) })
	id = copied.ID
	if got := texts(); got != "first|one|second|two|go on|on" {
		t.Errorf("the copy: %s", got)
	}
	for _, err := range []error{r.app.SwitchBranch(ctx, id, "m_none"), second(r.app.EditAndBranch(ctx, id, m[2].ID, "x", nil)), second(r.app.Branches(ctx, id, "m_none"))} {
		if Explain(err).Key != "no_message" {
			t.Errorf("%v", err)
		}
	}
	fresh := must(t, func() (Conversation, error) { return r.app.NewConversation(ctx, false) })
	if _, err := r.app.Regenerate(ctx, fresh.ID); Explain(err).Key != "nothing_to_repeat" {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

// Several conversations have a turn at once; one is stopped alone, then all of them, with
// the calls and the servers.
func TestSeveralTurnsAtOnce(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted")}, calls("never", "{}"), calls("never", "{}"), calls("never", "{}"), say("after"))
	check(t, r.app.SetPermission(ctx, "s", "never", PermissionAllow))
	var turns []*Turn
	for i := range 3 {
		turns = append(turns, r.send(Draft{Text: fmt.Sprint("go ", i)}))
	}
	r.until("all run", func() bool { return len(r.app.Working()) == 3 })
	byHand := make(chan Outcome, 1)
	go func() {
		out, err := r.app.Call(ctx, "s", "never", "{}")
		if err != nil {
			t.Error(err)
		}
		byHand <- out
	}()
	r.until("their calls run", func() bool {
		n := 0
		for _, turn := range turns {
			for _, m := range r.messages(turn.Conversation()) {
				for _, c := range m.Calls {
					if c.State == CallRunning && c.Decision == "allowed" && c.Record > 0 && strings.HasPrefix(c.By, "rule:") {
						n++
					}
				}
			}
		}
		return n == 3
	})
	r.app.Stop(turns[1].Conversation())
	if state := r.done(turns[1]); state != "stopped" {
		t.Errorf("the one that was stopped is %s", state)
	}
	if len(r.app.Working()) != 2 {
		t.Errorf("%v work", r.app.Working())
	}
	r.until("the call by hand is sent", func() bool {
		return r.heard(func(e event.Event) bool { d, ok := e.(event.Decision); return ok && d.Conversation == "" })
	})
	check(t, r.app.StopAll(ctx))
	if a, b := r.done(turns[0]), r.done(turns[2]); a != "stopped" || b != "stopped" {
		t.Errorf("after all was stopped they are %s and %s", a, b)
	}
	if out := <-byHand; out.Outcome != "cancelled" && out.Outcome != "unknown" {
		t.Errorf("the call by hand ended as %s", out.Outcome)
	}
	if s := must(t, func() ([]ServerStatus, error) { return r.app.Servers(ctx) }); s[0].State != ServerIdle {
		t.Errorf("the server is %s", s[0].State)
	}
	if len(r.app.host.Connections()) != 0 {
		t.Error("a connection is left")
	}
	// the server comes back with the next turn
	r.say(turns[0].Conversation(), "and now")
	if _, tools := r.lastRequest(); len(tools) == 0 {
		t.Error("its tools did not come back")
	}
	if r.app.StopCall("k_none") {
		t.Error("a call that is none was stopped")
	}
}

// What a conversation switches off is neither offered nor run, and elsewhere nothing
// changes.
func TestSwitchesOfAConversation(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	steps := make([]scriptedmodel.Step, 12)
	for i := range steps {
		steps[i] = say("ok")
	}
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--only", "echo", "--only", "add"), "z": self(t, "scripted", "--only", "echo")}, steps...)
	offered := func(id string) string {
		r.say(id, "x")
		_, tools := r.lastRequest()
		return strings.Join(tools, " ")
	}
	id, other := r.say("", "x"), r.say("", "x")
	if got := offered(id); got != "s__echo s__add z__echo" {
		t.Fatalf("at first: %s", got)
	}
	set := func(s ConversationSettings) { t.Helper(); check(t, r.app.SetConversationSettings(ctx, id, s)) }
	set(ConversationSettings{Tools: map[string]map[string]bool{"s": {"echo": false}}, Servers: map[string]bool{"z": false}})
	if got := offered(id); got != "s__add" {
		t.Errorf("switched off in the conversation: %s", got)
	}
	if got := offered(other); got != "s__echo s__add z__echo" {
		t.Errorf("in the other one: %s", got)
	}
	check(t, r.app.SetToolEnabled(ctx, "s", "add", false))
	if got := offered(other); got != "s__echo z__echo" {
		t.Errorf("switched off everywhere: %s", got)
	}
	set(ConversationSettings{Tools: map[string]map[string]bool{"s": {"add": true}}})
	if got := offered(id); got != "s__echo s__add z__echo" {
		t.Errorf("switched on in the conversation: %s", got)
	}
	check(t, r.app.SetToolReadOnly(ctx, "s", "echo", true))
	set(ConversationSettings{ReadOnly: true})
	if got := offered(id); got != "s__echo" {
		t.Errorf("read-only: %s", got)
	}
	r.reopen()
	if got := offered(id); got != "s__echo" {
		t.Errorf("read-only after a restart: %s", got)
	}
	list := must(t, func() ([]OfferedTool, error) { return r.app.ConversationTools(ctx, id) })
	why := map[string]string{}
	for _, o := range list {
		why[o.Server+"/"+o.Tool.Tool] = o.Why
		if o.Offered != (o.Why == "") || o.ReadOnly != (o.Tool.Tool == "echo" && o.Server == "s") {
			t.Errorf("%+v", o)
		}
	}
	if why["s/echo"] != "" || why["s/add"] != "read_only" || why["z/echo"] != "read_only" {
		t.Errorf("why: %v", why)
	}
	use, err := r.app.ContextUse(ctx, id)
	if err != nil || use.System == 0 || use.Tools == 0 || use.Window != 0 {
		t.Errorf("%+v, %v", use, err)
	}
	check(t, r.app.SetToolEnabled(ctx, "s", "echo", false), r.app.SetToolTwice(ctx, "s", "add", true))
	if out, err := r.app.Call(ctx, "s", "echo", `{"text":"x"}`); err != nil || out.By != "rule:disabled" {
		t.Errorf("what is switched off ran: %+v, %v", out, err)
	}
	if !r.app.ToolTwice("s", "add") || r.app.ToolTwice("z", "add") {
		t.Error("which tools ask twice is wrong")
	}
}

// The folders of one conversation never reach another's connection.
func TestFoldersOfAConversation(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted")}, calls("roots", "{}"), say("ok"), calls("roots", "{}"), say("ok"))
	check(t, r.app.SetPermission(ctx, "s", "roots", PermissionAllow))
	folder := t.TempDir()
	c := must(t, func() (Conversation, error) { return r.app.NewConversation(ctx, false) })
	check(t, r.app.SetConversationSettings(ctx, c.ID, ConversationSettings{Roots: []string{folder}}))
	r.say(c.ID, "which folders")
	if got := r.messages(c.ID)[1].Calls[0].Text; !strings.Contains(got, filepath.Base(folder)) {
		t.Errorf("its server knows %s", got)
	}
	other := r.say("", "which folders")
	if got := r.messages(other)[1].Calls[0].Text; strings.Contains(got, filepath.Base(folder)) {
		t.Errorf("the other's server knows %s", got)
	}
	if n := len(r.app.host.Connections()); n != 2 {
		t.Errorf("there are %d connections", n)
	}
	check(t, r.app.SetConversationSettings(ctx, c.ID, ConversationSettings{}))
	r.until("the connection nobody shares ends", func() bool { return len(r.app.host.Connections()) == 1 })
}

func TestFoldersThatAreNotShared(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{})
	base := t.TempDir()
	put := func(path, text string) string {
		full := filepath.Join(base, path)
		check(t, os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(text), 0o600))
		return filepath.Dir(full)
	}
	bad := []string{
		put("a/id_ed25519", "x"), put("b/server.pem", "-----BEGIN PRIVATE KEY-----"), filepath.Dir(put("c/.ssh/known_hosts", "x")), put("d/.aws/config", "x"),
		filepath.Dir(put("e/deep/er/x.pfx", "x")), r.app.DataDir(), filepath.Dir(r.app.DataDir()), "/", filepath.Join(base, "none"), filepath.Join(put("f/file", "x"), "file"),
	}
	link := filepath.Join(base, "link")
	check(t, os.Symlink(r.app.DataDir(), link))
	for _, path := range append(bad, link) {
		if _, err := r.app.CheckRoot(ctx, path); Explain(err).Key != "root_refused" {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{put("g/public.pem", "-----BEGIN CERTIFICATE-----"), put("h/keys.txt", "x"), put("i/src/main.go", "x")} {
		if got, err := r.app.CheckRoot(ctx, path); err != nil || got != path {
			t.Errorf("%s: %v", path, err)
		}
	}
	c := must(t, func() (Conversation, error) { return r.app.NewConversation(ctx, false) })
	if err := r.app.SetConversationSettings(ctx, c.ID, ConversationSettings{Roots: []string{bad[0]}}); Explain(err).Key != "root_refused" {
		t.Errorf("a folder with keys was shared: %v", err)
	}
}

// The person may be asked about titles, and the one a person gave stays.
func TestTitlesFromTheModel(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{}, say("one"), say("“Lighthouses by night.”\nand more"), say("x"))
	id := r.say("", "tell me about lighthouses")
	check(t, r.app.TitleFromModel(ctx, id))
	title := func() string {
		return must(t, func() (Conversation, error) { return r.app.Conversation(ctx, id) }).Title
	}
	if got := title(); !strings.HasPrefix(got, "Lighthouses by night") || strings.ContainsAny(got, "“\n") {
		t.Errorf("the title is %q", got)
	}
	check(t, r.app.Rename(ctx, id, "mine"), r.app.TitleFromModel(ctx, id))
	if n := len(r.model.Requests()); title() != "mine" || n != 2 {
		t.Errorf("the title is %q after %d requests", title(), n)
	}
}

// Who opens a conversation while its answer comes gets all of it that was told, stored or not, and can put what comes
// behind it; a conversation's other branches do not show it.
func TestAnAnswerCanBeReadWhileItComes(t *testing.T) {
	t.Parallel()
	part := func(text string) scriptedmodel.Part {
		return scriptedmodel.Part{Text: `data: {"id":"1","object":"chat.completion.chunk","model":"fake","choices":[{"index":0,"delta":{"content":"` + text + `"}}]}` + "\n\n"}
	}
	r := newRig(t, map[string]any{}, scriptedmodel.Step{
		Header: map[string]string{"Content-Type": "text/event-stream"}, Parts: []scriptedmodel.Part{part("It is "), part("so. "), part("And")}, End: "hang",
	})
	turn := r.send(Draft{Text: "is it?"})
	id := turn.Conversation()
	var heard strings.Builder
	var message string
	r.until("text comes", func() bool {
		heard.Reset()
		r.heard(func(e event.Event) bool {
			if x, ok := e.(event.Text); ok {
				if x.At != heard.Len() {
					t.Errorf("a piece says that %d bytes come before it, not %d", x.At, heard.Len())
				}
				heard.WriteString(x.Text)
				message = x.Message
			}
			return false
		})
		return strings.HasSuffix(heard.String(), "And")
	})
	m := r.messages(id) // well before it is stored for the first time
	if len(m) != 2 || m[1].State != "streaming" || m[1].Text != heard.String() || m[1].ID != message {
		t.Errorf("read is %+v, heard %q", m, heard.String())
	}
	one := must(t, func() (ChatMessage, error) { return r.app.Message(context.Background(), id, message) })
	if one.Text != heard.String() {
		t.Errorf("read by its id it is %+v", one)
	}
	if older := must(t, func() ([]ChatMessage, error) { return r.app.Messages(context.Background(), id, 2, 0) }); len(older) > 1 {
		t.Errorf("older messages are %+v", older)
	}
	r.app.Stop(id)
	r.done(turn)
	if m := r.messages(id); len(m) != 2 || m[1].State != "stopped" || m[1].Text != "It is so. And" {
		t.Errorf("at the end it is %+v", m)
	}
}

// A server that was told to be ready can be used by whoever hears of it.
func TestAReadyServerIsThereWhenItIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--only", "echo")})
	r.until("the server is told", func() bool {
		return r.heard(func(e event.Event) bool { return e == event.ServersChanged{Server: "s"} })
	})
	if tools := must(t, func() ([]OfferedTool, error) { return r.app.ConversationTools(context.Background(), "") }); len(tools) == 0 {
		t.Error("its tools are not there")
	}
}
