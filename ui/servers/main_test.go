package servers

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/testdata/scriptedserver"
	"steward/ui/language"
	"steward/ui/layer"
	"steward/ui/place"
	"steward/ui/place/placetest"
	"steward/ui/theme"
)

// The test binary is also the server that the tests start.
const serveKey = "STEWARD_TEST_SERVE"

func TestMain(m *testing.M) {
	if os.Getenv(serveKey) != "" {
		os.Exit(scriptedserver.Main(os.Args[1:]))
	}
	os.Exit(placetest.Main(m))
}

// desk is the place in a window without a screen, over the real program with scripted servers.
type desk struct {
	t      *testing.T
	app    *app.App
	place  *Place
	window fyne.Window
	layer  *layer.Layer
	opened []string
	queue  placetest.Queue
	work   sync.WaitGroup
}

// entry is a scripted server as the servers file has it.
func entry(t *testing.T, flags ...string) map[string]any {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"command": self, "args": flags, "env": map[string]string{serveKey: "1"}}
}

// newDesk opens the program on servers and the place on it. Where given is set, they count as reviewed.
func newDesk(t *testing.T, variant, tongue string, servers map[string]any, given bool) *desk {
	t.Helper()
	fa := test.NewTempApp(t)
	if err := language.Load(tongue); err != nil {
		t.Fatal(err)
	}
	fa.Settings().SetTheme(theme.New(variant))
	dir := t.TempDir()
	data, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		t.Fatal(err)
	}
	o := app.Options{Data: dir, Policy: app.Policy{Calls: "allow", Elicit: "decline", Sampling: "deny"}}
	path := filepath.Join(dir, "servers.json")
	if given {
		path = filepath.Join(t.TempDir(), "given.json")
		o.ServersFile = path
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := app.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	a.UseSecretsMemory()
	d := &desk{t: t, app: a}
	d.window = test.NewTempWindow(t, container.NewStack())
	d.window.SetPadded(false)
	d.layer = layer.New(d.window.Canvas(), func(time.Duration, func()) func() { return func() {} })
	ctx, cancel := context.WithCancel(context.Background())
	d.place = New(place.Deps{
		App: a, Do: d.queue.Do, Layer: d.layer,
		Go: func(f func(context.Context)) {
			d.work.Go(func() { f(ctx) })
		},
		Open:     func(name, argument string) { d.opened = append(d.opened, name+"/"+argument) },
		Showing:  func(string, string) {},
		Shortcut: func(fyne.Shortcut) bool { return false },
		Window:   func() fyne.Window { return d.window },
	})
	d.window.SetContent(container.NewStack(newPaint(theme.Ground, "", 0), d.place.Canvas(), d.layer.Object()))
	d.window.Resize(fyne.NewSize(1032, 800))
	d.place.Shown()
	t.Cleanup(func() {
		d.place.Hidden()
		d.place.Close()
		cancel()
		d.work.Wait()
		d.layer.Close()
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

// until runs what was asked of the window's goroutine until something holds.
func (d *desk) until(what string, holds func() bool) {
	d.t.Helper()
	if !d.queue.Run(20*time.Second, holds) {
		d.t.Fatalf("this did not come about: %s", what)
	}
}

// started starts the chosen server and waits for its tools.
func (d *desk) started(name string) {
	d.t.Helper()
	d.place.Goto(name)
	d.until(name+" is chosen", func() bool { return d.place.p.chosen == name && d.place.p.detailed })
	d.place.detail.restart()
	d.until(name+" is ready", func() bool {
		p := d.place.p
		return p.detail.State == "ready" && len(p.detail.ServerTools) > 0 && p.doing[name] == ""
	})
}

// picture writes what the window shows where STEWARD_PICTURES names a folder, for a person to look at.
func (d *desk) picture(name string) {
	d.t.Helper()
	placetest.Picture(d.t, d.window, name)
}
