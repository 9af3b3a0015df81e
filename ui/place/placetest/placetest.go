// Package placetest is a bench for tests of the window's places: a real program on a folder of its own, the toolkit's
// test driver, the window's layer, and a queue in place of Fyne's goroutine that runs when the test says so.
package placetest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"
	"go.uber.org/goleak"

	"steward/app"
	"steward/ui/language"
	"steward/ui/layer"
	"steward/ui/place"
	"steward/ui/theme"
)

// patience is how long something may take to come about.
const patience = 20 * time.Second

// Main runs a package's tests and finds goroutines that nobody ended. It is what TestMain passes to os.Exit.
func Main(m *testing.M) int {
	if code := m.Run(); code != 0 {
		return code
	}
	// The toolkit's own goroutines, and the clock of the highlighter's regular expressions, live as long as the process.
	if err := goleak.Find(goleak.IgnoreAnyFunction("fyne.io/fyne/v2/internal/async.(*UnboundedChan[...]).processing"),
		goleak.IgnoreAnyFunction("fyne.io/fyne/v2/app.(*settings).watchFile"), goleak.IgnoreAnyFunction("github.com/fsnotify/fsnotify.(*inotify).readEvents"),
		goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// Program builds a program of this module, named by its import path, into a folder and gives its path.
func Program(dir, path string) (string, error) {
	built := filepath.Join(dir, filepath.Base(path))
	if out, err := exec.Command("go", "build", "-o", built, path).CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", path, err, out)
	}
	return built, nil
}

// Options of a bench. What is empty is English, light, a new folder, and a program that asks for everything.
type Options struct {
	Variant  string // see theme.New
	Language string // see language.Load
	Data     string // the data folder
	Servers  map[string]string
	Size     fyne.Size // of the place; zero is what a window of 1280 × 800 leaves it
	Scale    float32   // of the pictures; 0 is 1
	Version  string
}

// Bench is the surroundings of one place. It belongs to the test's goroutine, but for what place.Deps allows.
type Bench struct {
	T      testing.TB
	App    *app.App
	Window fyne.Window
	Layer  *layer.Layer

	Opened    []string // what was asked of Deps.Open, as name/argument
	Showing   []string // what was told to Deps.Showing
	Themes    []string // what was given to Deps.SetTheme
	Languages []string // what was given to Deps.SetLanguage

	Queue

	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// New makes a bench, which is taken down with the test. There is no keyring on it. Servers are names and commands of
// servers that need no review.
func New(t testing.TB, o Options) *Bench {
	t.Helper()
	t.Setenv("LC_ALL", "en_US.UTF-8") // what the machine speaks is no part of a test
	fa := test.NewTempApp(t)
	if o.Variant == "" {
		o.Variant = theme.AlwaysLight
	}
	if o.Language == "" {
		o.Language = "en"
	}
	if err := language.Load(o.Language); err != nil {
		t.Fatal(err)
	}
	fa.Settings().SetTheme(theme.New(o.Variant))
	if o.Data == "" {
		o.Data = t.TempDir()
	}
	if o.Size.IsZero() {
		o.Size = fyne.NewSize(1032, 800)
	}
	b := &Bench{T: t, App: Open(t, o)}
	b.Window = test.NewTempWindow(t, container.NewStack())
	b.Window.SetPadded(false)
	if c, ok := b.Window.Canvas().(software.WindowlessCanvas); ok && o.Scale > 0 {
		c.SetScale(o.Scale)
	}
	b.Window.Resize(o.Size)
	b.Layer = layer.New(b.Window.Canvas(), func(time.Duration, func()) func() { return func() {} })
	b.ctx, b.cancel = context.WithCancel(context.Background())
	t.Cleanup(func() {
		b.cancel()
		b.work.Wait()
		if err := b.App.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return b
}

// Open opens a program as New does; the caller closes it.
func Open(t testing.TB, o Options) *app.App {
	t.Helper()
	entries := map[string]any{}
	for name, command := range o.Servers {
		entries[name] = map[string]any{"command": command}
	}
	list, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(file, list, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	version := o.Version
	if version == "" {
		version = "test"
	}
	a, err := app.Open(t.Context(), app.Options{Data: o.Data, ServersFile: file, Policy: app.Policy{Calls: "ask", Elicit: "ask", Sampling: "ask"}, Hooks: app.Hooks{Version: version}})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Deps is what the place under test gets.
func (b *Bench) Deps() place.Deps {
	return place.Deps{
		App: b.App, Layer: b.Layer, Do: b.Do,
		Go:          func(f func(context.Context)) { b.work.Go(func() { f(b.ctx) }) },
		Open:        func(name, argument string) { b.Opened = append(b.Opened, name+"/"+argument) },
		Showing:     func(name, argument string) { b.Showing = append(b.Showing, name+"/"+argument) },
		Shortcut:    func(fyne.Shortcut) bool { return false },
		SetTheme:    func(c string) { b.Themes = append(b.Themes, c) },
		SetLanguage: func(c string) { b.Languages = append(b.Languages, c) },
		Window:      func() fyne.Window { return b.Window },
	}
}

// Show puts a place into the window as the window does, until the test ends.
func (b *Bench) Show(p place.Place) {
	b.T.Helper()
	size := b.Window.Canvas().Size()
	b.Window.SetContent(container.NewStack(p.Canvas(), b.Layer.Object()))
	b.Window.Resize(size)
	p.Shown()
	b.T.Cleanup(func() { // before New's: the place is closed before the program
		p.Hidden()
		p.Close()
	})
}

// Until runs what is asked for until something holds, and fails the test where that takes too long.
func (b *Bench) Until(what string, holds func() bool) {
	b.T.Helper()
	b.Within(patience, what, holds)
}

// Within is Until with a limit of its own.
func (b *Bench) Within(limit time.Duration, what string, holds func() bool) {
	b.T.Helper()
	if !b.Run(limit, holds) {
		b.T.Fatalf("this did not come about: %s", what)
	}
}

// Picture is the package's, of the bench's window.
func (b *Bench) Picture(name string) {
	b.T.Helper()
	Picture(b.T, b.Window, name)
}
