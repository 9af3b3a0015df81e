package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"go.uber.org/goleak"

	"steward/app"
	"steward/app/consent"
	llmdemo "steward/llm/demo"
	mcpdemo "steward/mcphost/demo"
	"steward/ui/language"
	"steward/ui/layer"
	"steward/ui/place"
	"steward/ui/place/placetest"
	"steward/ui/theme"
)

// asServer makes the test binary, started again with this variable, the demo server.
const asServer = "STEWARD_TEST_DEMO_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(asServer) != "" {
		if err := mcpdemo.Stdio(context.Background(), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if code == 0 {
		// The toolkit's own goroutines live as long as the process.
		if err := goleak.Find(goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock"), goleak.IgnoreAnyFunction("fyne.io/fyne/v2/internal/async.(*UnboundedChan[...]).processing")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// bench is the place in a window of the toolkit's test driver, over a real App with the demo model and the demo server.
type bench struct {
	*Place
	t      *testing.T
	app    *app.App
	window fyne.Window
	layer  *layer.Layer
	opened []string
	queue  placetest.Queue
	wg     sync.WaitGroup
}

func newBench(t *testing.T, variant, tongue string) *bench {
	t.Helper()
	return benchOver(t, variant, tongue, app.Endpoint{})
}

// benchOver asks another model than the demo's.
func benchOver(t *testing.T, variant, tongue string, model app.Endpoint) *bench {
	t.Helper()
	fa := test.NewTempApp(t)
	if err := language.Load(tongue); err != nil {
		t.Fatal(err)
	}
	fa.Settings().SetTheme(theme.New(variant))
	w := test.NewTempWindow(t, canvas.NewRectangle(color.Transparent))
	w.SetPadded(false)
	b := &bench{t: t, window: w, app: openApp(t, model)}
	ctx, cancel := context.WithCancel(context.Background())
	b.layer = layer.New(w.Canvas(), func(d time.Duration, f func()) func() {
		timer := time.AfterFunc(d, func() { b.queue.Do(f) })
		return func() { timer.Stop() }
	})
	b.Place = New(place.Deps{
		App: b.app, Do: b.queue.Do, Layer: b.layer, Window: func() fyne.Window { return w },
		Go: func(f func(context.Context)) {
			b.wg.Go(func() { f(ctx) })
		},
		Open:     func(name, argument string) { b.opened = append(b.opened, name+"/"+argument) },
		Showing:  func(string, string) {},
		Shortcut: b.shortcut,
	})
	w.SetContent(container.NewStack(b.Canvas(), b.layer.Object()))
	w.Resize(fyne.NewSize(1032, 800))
	b.Shown()
	t.Cleanup(func() {
		b.Place.Close()
		b.layer.Close()
		cancel()
		b.wg.Wait()
	})
	return b
}

func openApp(t *testing.T, model app.Endpoint) *app.App {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"demo": map[string]any{"command": exe, "env": map[string]string{asServer: "1"}, "sampling": true}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(context.Background(), app.Options{Data: filepath.Join(t.TempDir(), "data"), ServersFile: file, Endpoint: model, Hooks: app.Hooks{
		StartDemoModel: func(ctx context.Context) (app.DemoModel, error) { return llmdemo.Serve(context.WithoutCancel(ctx)) },
	}})
	if err != nil {
		t.Fatal(err)
	}
	a.UseSecretsMemory()
	a.Start(context.Background())
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := a.Close(ctx); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return a
}

// shortcut does what the window does with a shortcut.
func (b *bench) shortcut(s fyne.Shortcut) bool {
	if s.ShortcutName() == escape.ShortcutName() && b.layer.Escape() {
		return true
	}
	for _, c := range b.Commands() {
		if c.Shortcut != nil && c.Shortcut.ShortcutName() == s.ShortcutName() && (c.Enabled == nil || c.Enabled()) {
			c.Do()
			return true
		}
	}
	return false
}

var escape = &desktop.CustomShortcut{KeyName: fyne.KeyEscape}

func ctrl(key fyne.KeyName) fyne.Shortcut {
	return &desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}
}

// until runs the window's queue until something holds.
func (b *bench) until(what string, holds func() bool) {
	b.t.Helper()
	if !b.queue.Run(20*time.Second, holds) {
		b.t.Fatalf("this did not come about: %s; rows: %s", what, b.rowKeys())
	}
}

// settle runs the queue until nothing has come for a moment.
func (b *bench) settle() {
	quiet := time.Now()
	b.until("quiet", func() bool {
		if !b.queue.Empty() {
			quiet = time.Now()
		}
		return time.Since(quiet) > 120*time.Millisecond
	})
}

func (b *bench) rowKeys() string {
	var out []string
	for _, r := range b.state.rows {
		k := r.key[:strings.Index(r.key, ":")]
		if r.call != nil {
			k += "(" + r.call.State + " " + r.call.Outcome + ")"
		}
		out = append(out, k)
	}
	return strings.Join(out, " ")
}

// say types a message and sends it by Enter.
func (b *bench) say(words string) {
	b.focusComposer()
	b.composer.entry.SetText(words)
	b.composer.entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	b.composer.entry.KeyUp(&fyne.KeyEvent{Name: fyne.KeyReturn})
}

// turn says something and waits for the end of what follows.
func (b *bench) turn(words string) {
	b.t.Helper()
	last := func() string {
		if m := b.state.last(roleAssistant); m != nil {
			return m.ID
		}
		return ""
	}
	before := last()
	b.say(words)
	b.until("the turn has ended", func() bool { return last() != before && b.ended() })
}

// item waits for something of a kind that waits for the person.
func (b *bench) item(kind string) consent.Item {
	b.t.Helper()
	var found consent.Item
	b.until(kind+" waits", func() bool {
		for _, i := range b.app.Waiting().List() {
			if i.Kind == kind {
				found = i
				return true
			}
		}
		return false
	})
	return found
}

func (b *bench) answer(kind string, a consent.Answer) {
	b.t.Helper()
	i := b.item(kind)
	if err := b.app.Waiting().Answer(i.ID, i.Hash, a); err != nil {
		b.t.Fatal(err)
	}
}

// picture writes what the window shows where STEWARD_PICTURES names a folder, for a person to look at.
func (b *bench) picture(name string) {
	b.t.Helper()
	placetest.Picture(b.t, b.window, name)
}
