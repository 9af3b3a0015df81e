package servers

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	fynetest "fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/consent"
	"steward/ui/text"
)

// within finds the first object that fits, in an object and all that stands in it.
func within(o fyne.CanvasObject, fits func(fyne.CanvasObject) bool) fyne.CanvasObject {
	if o == nil || !o.Visible() {
		return nil
	}
	if fits(o) {
		return o
	}
	var children []fyne.CanvasObject
	switch o := o.(type) {
	case *fyne.Container:
		children = o.Objects
	case fyne.Widget:
		children = fynetest.WidgetRenderer(o).Objects()
	}
	for _, c := range children {
		if found := within(c, fits); found != nil {
			return found
		}
	}
	return nil
}

// says tells whether a text stands in an object.
func says(o fyne.CanvasObject, words string) bool {
	return within(o, func(o fyne.CanvasObject) bool {
		switch o := o.(type) {
		case *text.Label: // drawn in pieces, one for each font
			all := ""
			var gather func(fyne.CanvasObject)
			gather = func(o fyne.CanvasObject) {
				switch o := o.(type) {
				case *canvas.Text:
					all += o.Text
				case *fyne.Container:
					for _, c := range o.Objects {
						gather(c)
					}
				case fyne.Widget:
					for _, c := range fynetest.WidgetRenderer(o).Objects() {
						gather(c)
					}
				}
			}
			gather(o)
			return strings.Contains(all, words)
		case *text.View:
			return strings.Contains(o.Plain(), words)
		}
		return false
	}) != nil
}

// sent counts messages of a method that went to a server.
func (d *desk) sent(server, method string) int {
	n := 0
	for _, f := range d.app.ServerFrames(server) {
		if f.Direction == "out" && strings.Contains(string(f.Bytes), `"method":"`+method+`"`) {
			n++
		}
	}
	return n
}

func initialize(capabilities string) string {
	return `initialize={"jsonrpc":"2.0","id":${id},"result":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"serverInfo":{"name":"scripted","version":"1"}}}`
}

// A server's suggestions stand below the form, with what is filled in already; one is taken by a press.
func TestASuggestionIsTaken(t *testing.T) {
	const prompts = `{"prompts":[{"name":"plan","arguments":[{"name":"from","required":true},{"name":"to"}]}]}`
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--step", `prompts/list={"jsonrpc":"2.0","id":${id},"result":`+prompts+`}`,
		"--step", `completion/complete={"jsonrpc":"2.0","id":${id},"result":{"completion":{"values":["Oslo","Osaka"],"hasMore":true}}}`)}, true)
	d.started("scripted")
	d.until("its prompts are known", func() bool { return len(d.place.p.detail.PromptList) == 1 })
	d.place.detail.choose(tabPrompts)
	tab := d.place.detail.prompts
	tab.open(0)
	q := tab.asks
	q.form.Set(map[string]json.RawMessage{"from": quote("Rome")})
	if !q.form.FocusField("to") {
		t.Fatal("the second field cannot be focused")
	}
	d.until("there are suggestions", func() bool { return q.hints.Visible() && len(q.hints.Objects) > 2 })
	asked := false
	for _, f := range d.app.ServerFrames("scripted") {
		asked = asked || strings.Contains(string(f.Bytes), `"name":"to"`) && strings.Contains(string(f.Bytes), `"from":"Rome"`)
	}
	if !asked {
		t.Error("the argument that was filled in did not go along")
	}
	d.picture("suggestions")
	q.hints.Objects[2].(fyne.Tappable).Tapped(nil)
	if got := string(q.form.Values()["to"]); got != `"Osaka"` {
		t.Errorf("the second suggestion filled in %s", got)
	}
	before := d.sent("scripted", "completion/complete")
	for _, s := range []string{"a", "ab", "abc", "abcd"} {
		q.form.Set(map[string]json.RawMessage{"to": quote(s)})
	}
	d.until("the server is asked about the last", func() bool { return d.sent("scripted", "completion/complete") > before })
	if n := d.sent("scripted", "completion/complete") - before; n != 1 {
		t.Errorf("four keys asked %d times", n)
	}
}

func pngOf(t *testing.T, w, h int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewRGBA(image.Rect(0, 0, w, h))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A picture of a resource is decoded here and shown; what is no picture says so; nothing is fetched.
func TestAPictureOfAResource(t *testing.T) {
	resources := `{"resources":[{"uri":"x://a.png","name":"a"},{"uri":"x://b.png","name":"b"}]}`
	read := func(uri string, data []byte) string {
		return fmt.Sprintf(`resources/read={"jsonrpc":"2.0","id":${id},"result":{"contents":[{"uri":%q,"mimeType":"image/png","blob":%q}]}}`, uri, base64.StdEncoding.EncodeToString(data))
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{"a picture": {pngOf(t, 30, 20), "30 × 20"}, "none": {[]byte("http://127.0.0.1:1/x.pn"), "[image/png, 23 bytes]"}} {
		d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--step", `resources/list={"jsonrpc":"2.0","id":${id},"result":`+resources+`}`, "--step", read("x://a.png", c.data))}, true)
		d.started("scripted")
		d.until("its resources are known", func() bool { return len(d.place.p.detail.ResourceList) == 2 })
		d.place.detail.choose(tabResources)
		tab := d.place.detail.res
		for i, n := range tab.nodes {
			if n.resource != nil && n.resource.URI == "x://a.png" {
				tab.open(i)
			}
		}
		d.until(name+" is said", func() bool { return says(tab.page.body, c.want) })
		_, shown := within(tab.page.body, func(o fyne.CanvasObject) bool {
			i, ok := o.(*canvas.Image)
			return ok && i.Image != nil && i.Resource == nil
		}).(*canvas.Image)
		if shown != (name == "a picture") {
			t.Errorf("%s is shown as a picture: %v", name, shown)
		}
		d.picture("resource-" + strings.ReplaceAll(name, " ", "-"))
	}
}

// A followed resource that changes is read again where it is seen, and marked where it is not.
func TestAFollowedResourceIsMarked(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--step", initialize(`{"tools":{},"resources":{"subscribe":true}}`),
		"--step", `tool:touch=@notify notifications/resources/updated {"uri":"test://one"}`, "--step", "tool:touch=@text touched")}, true)
	d.started("scripted")
	d.until("its resources are known", func() bool { return len(d.place.p.detail.ResourceList) == 1 })
	d.place.detail.choose(tabResources)
	tab := d.place.detail.res
	at := func() int {
		for i, n := range tab.nodes {
			if n.resource != nil && n.resource.URI == "test://one" {
				return i
			}
		}
		return -1
	}
	tab.open(at())
	d.until("it is read", func() bool { return says(tab.page.body, "first") })
	r := *tab.nodes[at()].resource
	key := followKey("scripted", r)
	tab.follow(key, "scripted", r, true)
	d.until("it is followed", func() bool { return tab.following[key] != nil })
	touch := func() {
		d.place.k.d.Go(func(ctx context.Context) {
			if _, err := d.app.Call(ctx, "scripted", "touch", "{}"); err != nil {
				t.Error(err)
			}
		})
	}
	reads := d.sent("scripted", "resources/read")
	touch()
	d.until("it is read again", func() bool {
		return d.sent("scripted", "resources/read") == reads+1 && says(tab.page.body, "read again")
	})
	if tab.following[key].unseen {
		t.Error("what is seen is marked as unseen")
	}
	// However often it says so, the server is asked again now and then only.
	times := 0
	told := d.place.k.gathered(func() { times++ })
	for range 10_000 {
		told()
	}
	d.until("it is told", func() bool { return times > 0 })
	told()
	d.until("it is told again", func() bool { return times > 1 })
	if times != 2 {
		t.Errorf("it was told %d times", times)
	}
	d.place.detail.choose(tabTools)
	touch()
	d.until("it is marked", func() bool { return tab.following[key].unseen && says(tab.row(at()), "●") })
	d.place.detail.choose(tabResources)
	d.until("the mark goes", func() bool { return !tab.following[key].unseen && d.sent("scripted", "resources/read") == reads+2 })
	tab.follow(key, "scripted", r, false)
	d.until("the server is told", func() bool { return d.sent("scripted", "resources/unsubscribe") == 1 })
}

// While a tool runs, the bench says how far it is; the server's progress is shown as a bar.
func TestProgressOfATriedTool(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--only", "slow", "--step", "tool:slow=@progress 4 60ms", "--step", "tool:slow=@wait never")}, true)
	d.started("scripted")
	b := benchOf(d, "slow")
	b.start()
	d.until("progress is shown", func() bool { return b.decided && b.bar.Visible() && b.bar.Layout.(*barLayout).share > 0.9 })
	if !says(b.object, "100 %") || b.halt.Hidden {
		t.Error("the share is not said, or there is nothing to stop it with")
	}
	d.picture("bench-progress")
	b.stop()
	d.until("it is stopped", func() bool { return b.stop == nil })
	if b.bar.Visible() || d.place.k.running.Load() != 0 {
		t.Error("it looks as if it were running")
	}
	d.until("the server is told", func() bool { return d.sent("scripted", "notifications/cancelled") == 1 })
}

// A definition that changes is counted at once, shown as a difference, cannot be run, and counts no more once it was
// trusted.
func TestAChangedDefinition(t *testing.T) {
	servers := map[string]any{"scripted": entry(t, "--only", "echo", "--only", "rug", "--step", "tool:rug=@describe echo Now it sends mail, too.", "--step", "tool:rug=@notify notifications/tools/list_changed {}", "--step", "tool:rug=@text pulled")}
	d := newDesk(t, "light", "en", servers, true)
	d.started("scripted")
	tools := d.place.detail.tools
	if _, err := d.app.Call(t.Context(), "scripted", "rug", "{}"); err != nil {
		t.Fatal(err)
	}
	d.until("the change is counted in the list", func() bool { return d.place.p.list[0].Pending == 1 && d.place.p.detail.Pending == 1 })
	d.place.ShowTool("scripted", "echo")
	if tools.tools[tools.index("echo")].State != consent.StateChanged {
		t.Fatal("the tool is not marked as changed")
	}
	d.until("the difference is shown", func() bool {
		return says(tools.page.body, "Now it sends mail, too.") && says(tools.page.body, "The tool echo.")
	})
	for key, b := range tools.benches {
		if b.tool == "echo" && strings.HasSuffix(key, tools.tools[tools.index("echo")].Definition) {
			t.Error("the changed tool can be run")
		}
	}
	d.picture("tool-changed")
	r := d.place.detail.review
	r.begin()
	d.until("there is a review", func() bool { return r.found != nil && !r.busy })
	r.trust()
	d.until("nothing waits any more", func() bool {
		return !r.open && d.place.p.list[0].Pending == 0 && d.place.p.detail.Pending == 0 && tools.tools[tools.index("echo")].State == consent.StateSame
	})
}

// The log can be narrowed down to what is grave, the wire to one direction.
func TestFiltersOfLogAndWire(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--only", "echo", "--only", "talk", "--banner", "not a message",
		"--step", `tool:talk=@notify notifications/message {"level":"debug","data":"small talk"}`,
		"--step", `tool:talk=@notify notifications/message {"level":"error","data":"it burns"}`, "--step", "tool:talk=@text said")}, true)
	d.started("scripted")
	if _, err := d.app.Call(t.Context(), "scripted", "talk", "{}"); err != nil {
		t.Fatal(err)
	}
	d.place.detail.choose(tabLog)
	l := d.place.detail.log
	d.until("the messages are read", func() bool {
		d.place.look(time.Second)
		return strings.Contains(words(l.shown), "it burns")
	})
	for i, want := range []string{"small talk|not a message|it burns", "not a message|it burns", "not a message|it burns", "it burns"} {
		l.kinds.choose(i)
		for _, s := range []string{"small talk", "not a message", "it burns"} {
			if strings.Contains(words(l.shown), s) != strings.Contains(want, s) {
				t.Errorf("at level %d the log shows %q, and should show %s", i, words(l.shown), want)
			}
		}
	}
	d.until("it is said which messages are asked for", func() bool { return l.asked.Visible() && l.level == "info" })
	l.askFor("debug")
	d.until("another level is asked for", func() bool { return l.level == "debug" })
	if n := d.sent("scripted", "logging/setLevel"); n != 2 {
		t.Errorf("the level was set %d times", n)
	}
	d.place.detail.choose(tabWire)
	w := d.place.detail.wire
	d.place.look(time.Second)
	all := len(w.shown)
	w.kinds.choose(1)
	out := len(w.shown)
	w.kinds.choose(2)
	if in := len(w.shown); out == 0 || in == 0 || in+out != all {
		t.Errorf("%d messages are %d sent and %d received", all, out, in)
	}
	for i, f := range w.shown {
		if strings.Contains(string(f.Bytes), "it burns") {
			w.open(i)
		}
	}
	if !says(w.page.body, `  "method": "notifications/message"`) {
		t.Error("the message is not laid out")
	}
	w.look.choose(1)
	if !says(w.page.body, `{"jsonrpc":"2.0","method":"notifications/message"`) {
		t.Error("the message is not shown as it was sent")
	}
}

func words(lines []app.LogLine) string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return strings.Join(out, "\n")
}

// A start that hangs can be stopped, and holds up no other server.
func TestAStartThatHangsIsStopped(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"hangs": entry(t, "--start", "@stderr npm http fetch GET 200 thing", "--step", "initialize=@wait never", "--step", "server/discover=@wait never"), "other": entry(t, "--only", "echo")}, true)
	d.until("the list is read", func() bool { return len(d.place.p.list) == 2 })
	d.place.Goto("hangs")
	d.until("it is shown", func() bool { return d.place.p.detailed })
	d.place.detail.restart()
	d.until("it is starting", func() bool { return d.place.p.list[0].State == "starting" })
	d.started("other")
	d.place.Goto("hangs")
	d.until("it is still starting", func() bool { return d.place.p.detailed && d.place.p.detail.State == "starting" })
	d.until("what it writes is seen", func() bool {
		d.place.detail.look()
		return d.place.detail.wrote != nil && says(d.place.detail.wrote, "npm http fetch GET 200 thing")
	})
	stop := d.place.detail.made["stop"]
	if stop == nil || stop.Disabled() {
		t.Fatal("there is nothing to stop it with")
	}
	stop.Tapped(nil)
	d.until("it is not starting any more", func() bool { return d.place.p.detail.State == app.ServerIdle && d.place.p.doing["hangs"] == "" })
	if d.place.p.list[1].State != "ready" {
		t.Errorf("the other is %s", d.place.p.list[1].State)
	}
}

// An entry that is changed while a tool of it runs ends the call, which is recorded as unknown.
func TestEditingAServerWhileACallRuns(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--step", "tool:hang=@wait never")}, false)
	d.place.Goto("scripted")
	r := d.place.detail.review
	d.until("the server is known", func() bool { return d.place.p.detailed })
	r.read()
	d.until("there is a review", func() bool { return r.found != nil && !r.busy })
	r.trust()
	d.until("it is trusted", func() bool {
		return !r.open && len(d.place.p.detail.ServerTools) > 0 && d.place.p.detail.ServerTools[0].State == consent.StateSame
	})
	b := benchOf(d, "hang")
	b.start()
	d.until("the call went out", func() bool { return d.sent("scripted", "tools/call") == 1 && b.decided })
	e := d.place.edit(d.place.p.detail.Entry, "scripted")
	e.form().Set(map[string]json.RawMessage{"cwd": quote(t.TempDir())})
	e.keep()
	d.until("the call ended", func() bool { return b.stop == nil })
	if !says(b.object, "Ended") && !says(b.object, "unknown") {
		t.Error("the bench does not say that nobody knows how the call ended")
	}
	d.until("it waits for its review", func() bool { return d.place.p.detail.State == app.ServerUnreviewed })
}

// A form that was begun is there again after the person looked elsewhere; cancelling forgets it.
func TestABegunFormIsKept(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t)}, false)
	d.until("the list is read", func() bool { return d.place.p.detailed })
	d.place.showAdd()
	e := d.place.drafts[""]
	e.form().Set(map[string]json.RawMessage{"name": quote("half")})
	e.form().FocusField("name")
	d.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if d.place.over != nil {
		t.Fatal("Escape does not leave the form")
	}
	d.place.showAdd()
	if d.place.over != e.page || string(e.form().Values()["name"]) != `"half"` {
		t.Fatal("what was filled in is lost")
	}
	e.cancel()
	d.place.showAdd()
	if d.place.over == e.page {
		t.Error("what was cancelled is there again")
	}
}

// The keyboard reaches every part; the page follows it, and buttons keep it when the server is read again.
func TestTheKeyboardReachesEverything(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--only", "echo")}, true)
	d.started("scripted")
	c := d.window.Canvas()
	restart := d.place.detail.made["start"]
	c.Focus(restart)
	restart.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if d.place.p.doing["scripted"] != "restart" {
		t.Fatal("Enter does not restart the server")
	}
	d.until("it runs again", func() bool {
		return d.place.p.doing["scripted"] == "" && d.place.p.detail.State == "ready" && len(d.place.p.detail.ServerTools) > 0
	})
	if c.Focused() != fyne.Focusable(restart) || within(d.place.detail.object, func(o fyne.CanvasObject) bool { return o == fyne.CanvasObject(restart) }) == nil {
		t.Error("the keyboard was lost while the server was read again")
	}
	page := d.place.page()
	if page != d.place.detail.tools.page {
		t.Fatal("the wrong page counts as seen")
	}
	reached := map[fyne.Focusable]bool{}
	moved := false
	for range 200 {
		c.FocusNext()
		f := c.Focused()
		if reached[f] {
			break
		}
		reached[f] = true
		d.place.follow()
		if page.scroll.Offset.Y > 0 {
			moved = true
			o := f.(fyne.CanvasObject)
			y := fyne.CurrentApp().Driver().AbsolutePositionForObject(o).Y - fyne.CurrentApp().Driver().AbsolutePositionForObject(page.scroll).Y
			if in := within(page.body, func(x fyne.CanvasObject) bool { return x == o }) != nil; in && (y < -1 || y > page.scroll.Size().Height) {
				t.Errorf("%T has the keyboard out of sight, at %v of %v", o, y, page.scroll.Size().Height)
			}
		}
	}
	for name, o := range map[string]fyne.Focusable{"the servers": d.place.list, "the tools": d.place.detail.tools.list, "a tab": d.place.detail.tabs.made[3], "run": benchOf(d, "echo").run} {
		if !reached[o] {
			t.Errorf("%s cannot be reached", name)
		}
	}
	if !moved {
		t.Error("the page never followed the keyboard")
	}
	tabs := d.place.detail.tabs
	c.Focus(tabs.made[0])
	tabs.made[0].TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	if tabs.chosen != 1 || c.Focused() != fyne.Focusable(tabs.made[1]) {
		t.Error("the arrow does not go to the next tab")
	}
	enabled := map[string]bool{}
	for _, cmd := range d.place.Commands() {
		enabled[cmd.ID] = cmd.Enabled == nil || cmd.Enabled()
		if cmd.ID == "servers.restart" && cmd.Shortcut.(*desktop.CustomShortcut).KeyName != fyne.KeyR {
			t.Error("the restart has another key")
		}
		if cmd.ID == "servers.stop" {
			cmd.Do()
		}
	}
	if !enabled["servers.stop"] || enabled["servers.start"] || enabled["servers.edit"] || !enabled["servers.refresh"] {
		t.Errorf("the commands that can be used are %v", enabled)
	}
	d.until("it is stopped", func() bool { return d.place.p.detail.State == app.ServerIdle && d.place.p.doing["scripted"] == "" })
}
