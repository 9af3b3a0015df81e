package audit

import (
	"context"
	"encoding/json"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"go.uber.org/goleak"

	"steward/app"
	"steward/app/journal"
	"steward/ui/language"
	"steward/ui/layer"
	"steward/ui/place"
	"steward/ui/theme"

	"fyne.io/fyne/v2/container"
)

var weekly string // a server's program

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "audit-test-")
	if err != nil {
		println(err.Error())
		return 1
	}
	defer os.RemoveAll(dir)
	weekly = filepath.Join(dir, "weekly-report")
	if out, err := exec.Command("go", "build", "-o", weekly, "steward/testdata/minimalserver").CombinedOutput(); err != nil {
		println(err.Error(), string(out))
		return 1
	}
	if code := m.Run(); code != 0 {
		return code
	}
	// The toolkit's own goroutines live as long as the process.
	if err := goleak.Find(goleak.IgnoreAnyFunction("fyne.io/fyne/v2/internal/async.(*UnboundedChan[...]).processing"),
		goleak.IgnoreAnyFunction("fyne.io/fyne/v2/app.(*settings).watchFile"), goleak.IgnoreAnyFunction("github.com/fsnotify/fsnotify.(*inotify).readEvents"),
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock")); err != nil {
		println(err.Error())
		return 1
	}
	return 0
}

// bench is the place over a real program on the toolkit's test driver. Its work runs when the test says so.
type bench struct {
	*Place
	t       *testing.T
	app     *app.App
	window  fyne.Window
	over    *layer.Layer
	opened  []string
	showing []string

	mu    sync.Mutex
	queue []func()
}

// open opens a program on a folder, with one server that needs no review.
func open(t *testing.T, dir string, policy app.Policy) *app.App {
	t.Helper()
	list, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"weekly-report": map[string]any{"command": weekly}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	a, err := app.Open(t.Context(), app.Options{Data: dir, ServersFile: file, Policy: policy, Hooks: app.Hooks{Version: "test"}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newBench(t *testing.T, variant, tongue string, fill func(*app.App)) *bench {
	t.Helper()
	fa := test.NewTempApp(t)
	if err := language.Load(tongue); err != nil {
		t.Fatal(err)
	}
	fa.Settings().SetTheme(theme.New(variant))
	w := test.NewTempWindow(t, container.NewStack())
	w.SetPadded(false)
	b := &bench{t: t, window: w, app: open(t, t.TempDir(), app.Policy{Calls: "ask", Elicit: "ask", Sampling: "ask"})}
	if fill != nil {
		fill(b.app)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	b.over = layer.New(w.Canvas(), func(time.Duration, func()) func() { return func() {} })
	b.Place = New(place.Deps{
		App: b.app, Layer: b.over,
		Do:       b.do,
		Go:       func(f func(context.Context)) { work.Go(func() { f(ctx) }) },
		Open:     func(name, argument string) { b.opened = append(b.opened, name+"/"+argument) },
		Showing:  func(name, argument string) { b.showing = append(b.showing, name+"/"+argument) },
		Shortcut: func(fyne.Shortcut) bool { return false },
		Window:   func() fyne.Window { return w },
	})
	w.SetContent(container.NewStack(b.Canvas(), b.over.Object()))
	w.Resize(fyne.NewSize(1032, 800))
	b.Shown()
	t.Cleanup(func() {
		b.Hidden()
		b.Close()
		cancel()
		work.Wait()
		if err := b.app.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

func (b *bench) do(f func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue = append(b.queue, f)
}

// until runs what was asked for until something holds.
func (b *bench) until(what string, holds func() bool) {
	b.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; {
		b.mu.Lock()
		queue := b.queue
		b.queue = nil
		b.mu.Unlock()
		for _, f := range queue {
			f()
		}
		if holds() {
			return
		}
		if time.Now().After(end) {
			b.t.Fatalf("this did not come about: %s", what)
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// picture writes what the window shows where STEWARD_PICTURES names a folder, for a person to look at.
func (b *bench) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("STEWARD_PICTURES")
	if dir == "" {
		return
	}
	f, err := os.Create(filepath.Join(dir, name+".png"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, b.window.Canvas().Capture()); err != nil {
		b.t.Fatal(err)
	}
}

// record puts one call into the record as the core does.
func record(t *testing.T, j *journal.Journal, p journal.Proposal, d journal.Decision, o journal.Outcome) int64 {
	t.Helper()
	ctx := t.Context()
	if p.Kind == "" {
		p.Kind = journal.KindCall
	}
	e, err := j.Propose(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(e.Shown(ctx, "9f1c0000aa"))
	if d.Decision == "" {
		return e.Number()
	}
	must(e.Decided(ctx, d))
	if d.Decision == journal.Allowed {
		r, err := e.Intent(ctx, []byte(p.Arguments))
		must(err)
		must(r.Spend([]byte(p.Arguments)))
		e.Sent()
		e.Frames([]journal.Frame{{Time: time.Now(), Direction: "out", Bytes: []byte(`{"jsonrpc":"2.0","id":3,"method":"tools/call"}` + "\n")},
			{Time: time.Now(), Direction: "in", Bytes: []byte(`{"jsonrpc":"2.0","id":3,"result":` + string(o.Result) + "}\n")}})
	}
	must(e.Outcome(ctx, o))
	return e.Number()
}

// furnish fills a record with something of everything.
func furnish(t *testing.T, n int) func(*app.App) {
	return func(a *app.App) {
		j := a.Journal()
		yes, no := journal.Decision{Decision: journal.Allowed, By: "person", Scope: "once"}, journal.Decision{Decision: journal.Denied, By: "person", Reason: "wrong folder"}
		text := func(s string) json.RawMessage {
			b, err := json.Marshal(map[string]any{"content": []map[string]any{{"type": "text", "text": s}}})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		for i := range n {
			record(t, j, journal.Proposal{Server: "filesystem", Tool: "list_directory", Arguments: `{"path":"` + strings.Repeat("x", i%20) + `"}`, Model: "gpt-5-mini"}, yes, journal.Outcome{Outcome: journal.OK, Seconds: 0.01, Result: text("a\nb")})
		}
		call := record(t, j, journal.Proposal{Server: "travel", Tool: "find_best_flight", Arguments: `{"from":"BCN"}`, Model: "gpt-5-mini"}, yes, journal.Outcome{Outcome: journal.ToolError, Reason: "no seats", Seconds: 4.7, Result: text("no seats")})
		record(t, j, journal.Proposal{Kind: journal.KindElicitation, Parent: call, Server: "travel", Arguments: `{}`}, no, journal.Outcome{Outcome: journal.Denied})
		record(t, j, journal.Proposal{Server: "mail-server", Tool: "send_mail", Arguments: `{"to":"a@example.com","body":"the invoice \u202e gnp"}`, Model: "gpt-5-mini"}, no, journal.Outcome{Outcome: journal.Denied, Reason: "wrong folder"})
		record(t, j, journal.Proposal{Server: "filesystem", Tool: "move_file", Arguments: `{"source":"~/Downloads/a.pdf","destination":"~/.ssh/a.pdf"}`, Model: "gpt-5-mini"}, no, journal.Outcome{Outcome: journal.Denied, Reason: "wrong folder"})
		record(t, j, journal.Proposal{Server: "weekly-report", Tool: "get_weekly_report", Arguments: `{"date":"2025-03-17"}`, Model: "gpt-5-mini"}, yes, journal.Outcome{Outcome: journal.OK, Seconds: 0.21, Result: text("周报：一切顺利")})
		record(t, j, journal.Proposal{Server: "mail-server", Tool: "send_mail", Arguments: `{"to":"b@example.com"}`, Model: "gpt-5-mini"}, journal.Decision{}, journal.Outcome{})
	}
}
