package waiting

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"go.uber.org/goleak"

	"steward/app"
	"steward/app/consent"
	"steward/testdata/scriptedserver"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/theme"
)

// asServer makes the test binary, started again with this variable, the scripted server.
const asServer = "STEWARD_TEST_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		os.Exit(scriptedserver.Main(os.Args[1:]))
	}
	test.NewApp().Settings().SetTheme(theme.New(theme.AlwaysLight))
	if err := language.Load("en"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent(), goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"))
}

// rig is the real program with a scripted server, and a window that the test's own goroutine serves.
type rig struct {
	t      *testing.T
	app    *app.App
	record string
	queue  chan func()
	window fyne.Window
	d      Deps
	at     time.Time // of the cards' clock
	front  time.Time
	timers []*timer
	passed []fyne.Shortcut // what cards handed on
	done   chan error
}

type timer struct {
	at      time.Time
	f       func()
	stopped bool
}

func newRig(t *testing.T, o app.Options, flags ...string) *rig {
	t.Helper()
	return newRigBeside(t, o, nil, flags...)
}

// newRigBeside is newRig with further servers.
func newRigBeside(t *testing.T, o app.Options, more map[string]any, flags ...string) *rig {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r := &rig{t: t, record: filepath.Join(dir, "received"), queue: make(chan func(), 4096), at: time.Now().Add(time.Minute), done: make(chan error, 16)}
	servers := map[string]any{} // only those are started that a call is for
	for _, name := range []string{"mail", "travel", "flights", "login"} {
		servers[name] = map[string]any{
			"command": exe, "args": append([]string{"--record", r.record}, flags...), "env": map[string]string{asServer: "1"}, "sampling": true,
		}
	}
	maps.Copy(servers, more)
	list, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	o.Data, o.ServersFile = filepath.Join(dir, "data"), filepath.Join(dir, "servers.json")
	if err := os.WriteFile(o.ServersFile, list, 0o600); err != nil {
		t.Fatal(err)
	}
	if r.app, err = app.Open(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		if err := r.app.Close(context.Background()); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	r.window = test.NewTempWindow(t, newColumn(0))
	r.window.SetPadded(false)
	r.window.Resize(fyne.NewSize(760, 900))
	r.d = Deps{
		Deps: place.Deps{
			App: r.app, Do: func(f func()) { r.queue <- f }, Go: func(f func(context.Context)) { go f(ctx) },
			Window: func() fyne.Window { return r.window }, Front: func() time.Time { return r.front }, Drafts: map[string]any{},
			Shortcut: func(s fyne.Shortcut) bool { r.passed = append(r.passed, s); return true },
		},
		Now: func() time.Time { return r.at },
		After: func(d time.Duration, f func()) func() {
			x := &timer{at: r.at.Add(d), f: f}
			r.timers = append(r.timers, x)
			return func() { x.stopped = true }
		},
	}
	return r
}

// pass lets time go by for the cards.
func (r *rig) pass(d time.Duration) {
	r.at = r.at.Add(d)
	due := r.timers
	r.timers = nil
	for _, x := range due {
		switch {
		case x.stopped:
		case x.at.After(r.at):
			r.timers = append(r.timers, x)
		default:
			x.f()
		}
	}
}

// until serves the window until something is so.
func (r *rig) until(what string, so func() bool) {
	r.t.Helper()
	end := time.After(60 * time.Second)
	for !so() {
		select {
		case f := <-r.queue:
			f()
		case <-time.After(time.Millisecond):
		case <-end:
			r.t.Fatalf("not within 60 s: %s", what)
		}
	}
}

// call proposes a call by hand; it ends in done.
func (r *rig) call(ctx context.Context, tool, arguments string) {
	r.callOn(ctx, "mail", tool, arguments)
}

func (r *rig) callOn(ctx context.Context, server, tool, arguments string) {
	go func() {
		_, err := r.app.Call(ctx, server, tool, arguments)
		r.done <- err
	}()
}

// ended waits until a call of call has ended.
func (r *rig) ended() error {
	r.t.Helper()
	var err error
	over := false
	r.until("the call ends", func() bool {
		select {
		case err = <-r.done:
			over = true
		default:
		}
		return over
	})
	return err
}

// item waits until something of a kind waits.
func (r *rig) item(kind string) consent.Item {
	r.t.Helper()
	var found consent.Item
	r.until("something of the kind "+kind+" waits", func() bool {
		for _, i := range r.app.Waiting().List() {
			if i.Kind == kind {
				found = i
				return true
			}
		}
		return false
	})
	return found
}

// show puts the card of an item into the window.
func (r *rig) show(item consent.Item) *Card {
	c := NewCard(item, r.d)
	r.t.Cleanup(c.Close)
	r.window.SetContent(newColumn(0, c))
	r.window.Resize(fyne.NewSize(760, 900))
	return c
}

// seen is show, with the time over in which nothing is taken.
func (r *rig) seen(item consent.Item) *Card {
	c := r.show(item)
	r.pass(settle)
	return c
}

func (r *rig) over(c *Card) {
	r.t.Helper()
	r.until("the card is over", func() bool { return !c.Waits() })
}

// received is what the server got as tools/call, as "tool arguments".
func (r *rig) received() []string {
	r.t.Helper()
	data, err := os.ReadFile(r.record)
	if err != nil && !os.IsNotExist(err) {
		r.t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		var m struct {
			Method string
			Params struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		if json.Unmarshal([]byte(line), &m) == nil && m.Method == "tools/call" {
			out = append(out, m.Params.Name+" "+string(m.Params.Arguments))
		}
	}
	return out
}

// press is a key typed where the keyboard is.
func (r *rig) press(name fyne.KeyName) {
	r.t.Helper()
	f := r.window.Canvas().Focused()
	if f == nil {
		r.t.Fatal("the keyboard is nowhere")
	}
	f.TypedKey(&fyne.KeyEvent{Name: name})
}

// control is a key typed together with Ctrl.
func (r *rig) control(name fyne.KeyName) {
	r.t.Helper()
	f, ok := r.window.Canvas().Focused().(fyne.Shortcutable)
	if !ok {
		r.t.Fatal("the keyboard is nowhere that takes shortcuts")
	}
	f.TypedShortcut(&desktop.CustomShortcut{KeyName: name, Modifier: fyne.KeyModifierShortcutDefault})
}
