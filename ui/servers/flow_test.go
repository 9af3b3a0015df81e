package servers

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/ui/place"
)

// Nothing of a server is started before the person saw how, and no tool is there to be run before it was trusted.
func TestNothingStartsBeforeTheReview(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t)}, false)
	d.place.Goto("scripted")
	p, r := d.place.p, d.place.detail.review
	d.until("the server is known", func() bool { return p.detailed && p.detail.Name == "scripted" })
	if p.detail.State != app.ServerUnreviewed || len(d.app.ServerFrames("scripted")) != 0 {
		t.Fatalf("the server is %s and there are %d messages on the wire before the review", p.detail.State, len(d.app.ServerFrames("scripted")))
	}
	d.picture("review-first")
	r.read()
	d.until("there is a review", func() bool { return r.found != nil })
	if r.found.Pending() == 0 {
		t.Fatal("a server that nobody knows has nothing to review")
	}
	d.until("its state is read", func() bool { return p.detail.State == "ready" && !p.details.busy })
	for _, tool := range p.detail.ServerTools {
		if tool.State == "same" || tool.Enabled {
			t.Fatalf("%s counts as reviewed while the review is open", tool.Tool.Tool)
		}
	}
	d.picture("review-found")
	r.trust()
	d.until("the answer is there", func() bool { return !r.busy })
	if r.problem != nil || r.notice != "" {
		t.Fatalf("it was not trusted: %v %s", r.problem, r.notice)
	}
	d.until("every tool is trusted", func() bool {
		return !r.open && len(p.detail.ServerTools) > 0 && p.detail.Pending == 0 && p.detail.ServerTools[0].State == "same"
	})
	d.picture("review-trusted")
}

// What changed after the person looked is not trusted by the answer to what they saw.
func TestTrustIsForWhatWasShown(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--only", "echo", "--step", "ping=@usual")}, false)
	d.place.Goto("scripted")
	r := d.place.detail.review
	d.until("the server is known", func() bool { return d.place.p.detailed })
	r.read()
	d.until("there is a review", func() bool { return r.found != nil })
	r.found.Hash = strings.Repeat("0", 64) // as if the server had offered something else when it was shown
	r.trust()
	d.until("the answer is refused", func() bool { return !r.busy && (r.notice != "" || r.problem != nil) })
	if r.notice == "" || r.found.Hash == strings.Repeat("0", 64) {
		t.Fatalf("what is there now was not shown instead: %q, %v", r.notice, r.problem)
	}
	d.until("the server is read", func() bool { return len(d.place.p.detail.ServerTools) > 0 })
	if d.place.p.detail.ServerTools[0].State == "same" {
		t.Fatal("it was trusted all the same")
	}
}

func benchOf(d *desk, tool string) *bench {
	d.t.Helper()
	d.place.ShowTool(d.place.p.chosen, tool)
	for _, b := range d.place.detail.tools.benches {
		if b.tool == tool {
			return b
		}
	}
	d.t.Fatalf("there is no bench for %s", tool)
	return nil
}

// A tool runs by hand with the same consent and record as any call, and both are shown.
func TestTryATool(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--step", `tools/list={"jsonrpc":"2.0","id":${id},"result":`+weekly+`}`, "--step", "tool:get_weekly_report=@text got ${arguments}", "--step", "tool:delete_report=@wait never")}, true)
	d.started("scripted")
	b := benchOf(d, "get_weekly_report")
	b.start()
	if b.stop != nil {
		t.Fatal("it runs without its required argument")
	}
	b.form.Set(map[string]json.RawMessage{"date": json.RawMessage(`"2025-03-17"`), "limit": json.RawMessage("3")})
	b.start()
	d.until("the call ended", func() bool { return b.stop == nil })
	if len(b.result.Objects) < 2 {
		t.Fatalf("no result and no record is shown: %d objects", len(b.result.Objects))
	}
	out := false
	for _, f := range d.app.ServerFrames("scripted") {
		out = out || f.Direction == "out" && strings.Contains(string(f.Bytes), `"arguments":{"date":"2025-03-17","limit":3}`)
	}
	if !out {
		t.Error("the arguments of the form did not go out in the schema's order")
	}
	recorded, ok := b.result.Objects[len(b.result.Objects)-1].(*fyne.Container)
	if !ok {
		t.Fatal("the last line does not lead to the record")
	}
	tapped, ok := recorded.Objects[0].(fyne.Tappable)
	if !ok {
		t.Fatal("the record cannot be opened")
	}
	tapped.Tapped(nil)
	if len(d.opened) != 1 || !strings.HasPrefix(d.opened[0], place.Audit+"/") {
		t.Errorf("the record opened %v", d.opened)
	}
	hanging := benchOf(d, "delete_report")
	hanging.start()
	d.until("the call went out", func() bool {
		for _, f := range d.app.ServerFrames("scripted") {
			if strings.Contains(string(f.Bytes), "delete_report") && strings.Contains(string(f.Bytes), "tools/call") {
				return true
			}
		}
		return false
	})
	hanging.stop()
	d.until("the call was stopped", func() bool { return hanging.stop == nil })
}

// What is filled in on a bench stays when the server is read again.
func TestABenchKeepsWhatIsFilledIn(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--step", `tools/list={"jsonrpc":"2.0","id":${id},"result":`+weekly+`}`)}, true)
	d.started("scripted")
	b := benchOf(d, "get_weekly_report")
	b.form.Set(map[string]json.RawMessage{"limit": json.RawMessage("7")})
	tool := d.place.detail.tools.tools[0]
	d.place.detail.tools.switchTool(tool, false)
	d.until("the tool is off", func() bool { return !d.place.detail.tools.tools[0].SwitchedOn })
	again := benchOf(d, "get_weekly_report")
	if again != b || string(again.form.Values()["limit"]) != "7" {
		t.Errorf("the bench holds %s", again.form.Values()["limit"])
	}
	b.mode.choose(1)
	if !strings.Contains(b.raw.Text, `"limit": 7`) {
		t.Errorf("the JSON does not hold what the form did: %s", b.raw.Text)
	}
	b.raw.SetText(`{"limit":9}`)
	b.mode.choose(0)
	if string(b.form.Values()["limit"]) != "9" {
		t.Errorf("the form does not hold what the JSON did: %s", b.form.Values()["limit"])
	}
	// What was taken out is gone, and what the form has no field for is not dropped.
	b.mode.choose(1)
	b.raw.SetText(`{}`)
	b.mode.choose(0)
	if left := b.form.Values(); len(left) != 0 {
		t.Errorf("the form holds %s still", left)
	}
	for _, odd := range []string{`{"limit":3,"beside":true}`, `{"limit":"many"}`, `{"limit":1,"limit":2}`, `{`, `{"limit":1}}`} {
		b.mode.choose(1)
		b.raw.SetText(odd)
		b.mode.choose(0)
		if b.mode.chosen != 1 || b.raw.Text != odd || b.input.Objects[0] != fyne.CanvasObject(b.raw) {
			t.Errorf("%s was given up for the form, which holds %s", odd, b.form.Values())
		}
		if b.mode.choose(1); b.raw.Text != odd {
			t.Errorf("%s was replaced by %s", odd, b.raw.Text)
		}
	}
}

func TestPermissionIsKept(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--only", "echo")}, true)
	d.started("scripted")
	tools := d.place.detail.tools
	tools.change(setNever)
	d.until("it is kept", func() bool { return tools.tools[0].Permission == app.PermissionDeny })
}

// A server is added, edited and removed; each is asked or told where it must be.
func TestAddEditRemove(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{}, false)
	e := d.place.edit(app.ServerEntry{Transport: stdio}, "")
	e.keep()
	if e.busy {
		t.Fatal("an empty entry is saved")
	}
	e.form().Set(map[string]json.RawMessage{"name": quote("mine"), "command": quote("prog"), "args": quote("a b\n--x"), "env": quote("A=1\nB=x=y")})
	e.keep()
	d.until("it is there and shown", func() bool { return d.place.p.find("mine") >= 0 && d.place.p.chosen == "mine" && d.place.p.detailed })
	got := d.place.p.detail.Entry
	if got.Command != "prog" || strings.Join(got.Args, "|") != "a b|--x" || got.Env["B"] != "x=y" {
		t.Errorf("the entry is %+v", got)
	}
	if d.place.p.detail.State != app.ServerUnreviewed {
		t.Errorf("a server that was just added is %s", d.place.p.detail.State)
	}
	e = d.place.edit(got, "mine")
	e.form().Set(map[string]json.RawMessage{"cwd": quote("/tmp")})
	e.keep()
	d.until("it is changed", func() bool { return d.place.p.detail.Entry.Cwd == "/tmp" })
	d.place.detail.remove()
	d.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if d.place.p.doing["mine"] != "" {
		t.Fatal("Escape removes it")
	}
	d.place.detail.remove()
	d.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	d.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	d.until("it is gone", func() bool { return d.place.p.loaded && d.place.p.find("mine") < 0 })
}

// Servers of a text are shown before they are added, only the chosen ones are added, and none is started.
func TestImportAddsOnlyWhatIsChosen(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"taken": entry(t)}, false)
	d.until("the list is read", func() bool { return len(d.place.p.list) == 1 })
	m := d.place.newImporter()
	m.text.SetText(`{"mcpServers":{"one":{"command":"a"},"two":{"command":"b"},"taken":{"command":"c"}}}`)
	m.parse()
	d.until("it is read", func() bool { return m.read })
	for _, o := range m.offered {
		if o.on != (o.entry.Name != "taken") {
			t.Errorf("%s is chosen: %v", o.entry.Name, o.on)
		}
		if o.entry.Name == "two" {
			o.on = false
		}
	}
	m.add()
	d.until("it is added", func() bool { return d.place.p.find("one") >= 0 })
	if d.place.p.find("two") >= 0 || len(d.app.ServerFrames("one")) != 0 {
		t.Error("more was added than chosen, or it was started")
	}
	m = d.place.newImporter()
	m.text.SetText("not JSON")
	m.parse()
	d.until("the problem is told", func() bool { return m.problem != nil })
}

// A server that does not start says why, and the red sentence stands in the list.
func TestAFailureIsSaidInTheList(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"broken": entry(t, "--start", "@stderr no such db: /x.db", "--start", "@exit 3")}, true)
	d.until("the server is known", func() bool { return d.place.p.detailed })
	d.place.detail.restart()
	d.until("it failed", func() bool { return d.place.p.detail.State == "failed" && d.place.p.doing["broken"] == "" })
	d.until("the log has the reason", func() bool { return strings.Contains(d.app.ServerStderr("broken"), "no such db") })
	d.place.detail.choose(tabLog)
	if !strings.Contains(d.place.detail.log.stderr, "no such db") {
		t.Errorf("standard error shows %q", d.place.detail.log.stderr)
	}
	s := d.place.p.list[0]
	if words, colour := secondLine(s, "", s.Since); words == "" || colour != "steward.refusal" || strings.Contains(words, "\n") {
		t.Errorf("the list says %q in %s", words, colour)
	}
}

var errTest = errors.New("a test's own error")

// However much is odd about a server, its head leaves room for the rest, and all of it stands under Doctor.
func TestManyProblemsLeaveRoom(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--step", `tools/list=@result {"tools":[`+strings.Repeat("7,", 40)+`{"name":"a","inputSchema":{"type":"object"}}]}`)}, true)
	d.started("scripted")
	d.until("its problems are known", func() bool { return len(d.place.p.detail.Problems) > 20 })
	if h := d.place.detail.head.Size().Height; h > 200 {
		t.Errorf("the head is %v high", h)
	}
	d.place.detail.choose(tabDoctor)
	last := d.place.p.detail.Problems[len(d.place.p.detail.Problems)-1]
	if d.place.page() != d.place.detail.doctor.page || !says(d.place.page().body, "things about it are odd") {
		t.Error("the problems do not stand under Doctor")
	}
	if strings.TrimSpace(last) == "" {
		t.Error("a problem says nothing")
	}
}

// A tool for an app page alone has no switches that would change nothing.
func TestAToolForAPageAloneCannotBeOffered(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t, "--step", `tools/list=@result {"tools":[{"name":"button","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://s/p","visibility":["app"]}}},{"name":"chart","inputSchema":{"type":"object"}}]}`)}, true)
	d.started("scripted")
	d.until("its tools are known", func() bool { return len(d.place.detail.tools.tools) == 2 })
	for i, alone := range []bool{true, false} {
		tool := d.place.detail.tools.tools[i]
		ticked := within(d.place.detail.tools.row(i), func(o fyne.CanvasObject) bool { c, ok := o.(*widget.Check); return ok && c.Checked && !c.Disabled() }) != nil
		words := ""
		for _, o := range d.place.detail.tools.choices(tool) {
			within(o, func(o fyne.CanvasObject) bool {
				if c, ok := o.(*widget.Check); ok {
					words += c.Text
				}
				return false
			})
		}
		if tool.AppOnly != alone || ticked == alone || strings.Contains(words, "models may be offered") == alone || strings.Contains(words, "read-only chats") == alone || !strings.Contains(words, "Ask twice") {
			t.Errorf("%s: ticked %v, offers %q", tool.Tool.Tool, ticked, words)
		}
	}
}

// Before a server at an address is looked at, nothing is said of a program that would be started.
func TestTheReviewOfAnAddressSpeaksOfNoProgram(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"there": map[string]any{"url": "http://127.0.0.1:1/mcp"}}, false)
	d.place.Goto("there")
	p := d.place.p
	d.until("the server is known", func() bool { return p.detailed && p.detail.Name == "there" })
	d.until("its review is shown", func() bool { return strings.Contains(d.shown(), "Nothing was sent there yet.") })
	if s := d.shown(); strings.Contains(s, "A program that is started") {
		t.Errorf("it says %s", s)
	}
}

// A key that stands in the list is neither shown nor passed off as a secret that is stored, and what to do about it is
// said with the names that it gets.
func TestAKeyInTheFileIsShownAsSuch(t *testing.T) {
	e := entry(t)
	e["env"].(map[string]string)["GITHUB_TOKEN"] = "hunter2hunter2hunter2"
	d := newDesk(t, "light", "en", map[string]any{"keys": e}, false)
	d.place.Goto("keys")
	p := d.place.p
	d.until("the server is known", func() bool { return p.detailed && p.detail.Name == "keys" })
	var got string
	d.until("the review is drawn", func() bool { got = d.shown(); return strings.Contains(got, "GITHUB_TOKEN=") })
	for want, so := range map[string]bool{
		"GITHUB_TOKEN=•••• (stands in the file)": true, "${secret:": false, "hunter2": false,
		"then Save: it goes to the keyring as keys.GITHUB_TOKEN.": true, "SERVER": false,
	} {
		if strings.Contains(got, want) != so {
			t.Errorf("%q is said: %v, in %q", want, !so, got)
		}
	}
	d.picture("review-key")
}
