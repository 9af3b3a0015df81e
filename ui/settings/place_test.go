package settings

import (
	"context"
	"encoding/json"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
	"go.uber.org/goleak"

	"steward/app"
	"steward/app/secrets"
	"steward/ui/language"
	"steward/ui/layer"
	"steward/ui/place"
	"steward/ui/theme"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		// The toolkit's own goroutines live as long as the process.
		if err := goleak.Find(goleak.IgnoreAnyFunction("fyne.io/fyne/v2/internal/async.(*UnboundedChan[...]).processing"),
			goleak.IgnoreAnyFunction("fyne.io/fyne/v2/app.(*settings).watchFile"), goleak.IgnoreAnyFunction("github.com/fsnotify/fsnotify.(*inotify).readEvents")); err != nil {
			println(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

// bench is the place over a real program on the toolkit's test driver. Its work runs when the test says so.
type bench struct {
	*Place
	t      *testing.T
	app    *app.App
	window fyne.Window
	over   *layer.Layer
	themes []string

	mu    sync.Mutex
	queue []func()
}

func newBench(t *testing.T, variant, tongue string) *bench {
	t.Helper()
	fa := test.NewTempApp(t)
	if err := language.Load(tongue); err != nil {
		t.Fatal(err)
	}
	fa.Settings().SetTheme(theme.New(variant))
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	a, err := app.Open(t.Context(), app.Options{Data: t.TempDir(), Policy: app.Policy{Calls: "ask", Elicit: "ask", Sampling: "ask"}, Hooks: app.Hooks{Version: "1.2.3"}})
	if err != nil {
		t.Fatal(err)
	}
	w := test.NewTempWindow(t, container.NewStack())
	w.SetPadded(false)
	b := &bench{t: t, window: w, app: a}
	ctx, cancel := context.WithCancel(context.Background())
	var work sync.WaitGroup
	b.over = layer.New(w.Canvas(), func(time.Duration, func()) func() { return func() {} })
	b.Place = New(place.Deps{
		App: a, Layer: b.over, Do: b.do,
		Go:          func(f func(context.Context)) { work.Go(func() { f(ctx) }) },
		Open:        func(string, string) {},
		Showing:     func(string, string) {},
		Shortcut:    func(fyne.Shortcut) bool { return false },
		SetTheme:    func(c string) { b.themes = append(b.themes, c) },
		SetLanguage: func(string) {},
		Window:      func() fyne.Window { return w },
	})
	w.SetContent(container.NewStack(b.Canvas(), b.over.Object()))
	w.Resize(fyne.NewSize(1032, 800))
	b.Shown()
	t.Cleanup(func() {
		b.Hidden()
		b.Close()
		cancel()
		work.Wait()
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	b.until("the settings are read", func() bool { return b.p.loaded })
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
	for end := time.Now().Add(20 * time.Second); ; {
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

// endpoint is a model endpoint that takes one key.
func endpoint(t *testing.T) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer sk-right-0123456789" {
			http.Error(w, `{"error":{"message":"wrong key"}}`, http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		if _, err := w.Write([]byte(`{"object":"list","data":[{"id":"small","object":"model"},{"id":"large","object":"model"}]}`)); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func TestAnEndpointIsTestedAndStored(t *testing.T) {
	b := newBench(t, "light", "en")
	b.app.UseSecretsMemory()
	s := endpoint(t)
	e := b.edit(app.ModelEndpoint{}, "")
	if !e.test.Disabled() || !e.save.Disabled() {
		t.Error("an endpoint without an address can be stored")
	}
	e.name.SetText("Mine")
	e.address.SetText(s.URL + "/v1")
	e.key.SetText("sk-wrong-0123456789")
	test.Tap(e.test)
	b.until("a refusal", func() bool { return !e.busy && len(e.models) == 0 })
	e.key.SetText("sk-right-0123456789")
	test.Tap(e.test)
	b.until("the models", func() bool { return len(e.models) == 2 })
	if e.model.Text == "" || e.holder.Hidden {
		t.Errorf("the models are not offered; %q is chosen", e.model.Text)
	}
	e.choice.OnSelected(slices.Index(e.models, "large"))
	test.Tap(e.save)
	stored := func() *app.ModelEndpoint {
		i := slices.IndexFunc(b.p.state.endpoints, func(e app.ModelEndpoint) bool { return e.Name == "Mine" })
		if i < 0 {
			return nil
		}
		return &b.p.state.endpoints[i]
	}
	b.until("it is stored", func() bool { return stored() != nil })
	if got := stored(); got.Model != "large" || !got.HasKey || !got.Chosen || b.over.Modal() || e.key.Text != "" {
		t.Errorf("stored as %+v, the dialog is open: %v", got, b.over.Modal())
	}
	b.until("the secret is listed", func() bool { return len(b.p.state.names) > 0 })
	id := stored().ID
	b.p.do(func(ctx context.Context) error { return b.app.DeleteEndpoint(ctx, id) }, nil)
	b.until("it is gone", func() bool { return stored() == nil })
}

func TestARuleIsTriedAndStored(t *testing.T) {
	b := newBench(t, "light", "en")
	b.Goto(Permissions)
	r := b.addRule()
	r.server.SetText("filesystem")
	r.argument.SetText("path")
	r.save()
	if !b.over.Modal() {
		t.Error("half a condition was stored")
	}
	r.prefix.SetText("/home")
	r.save()
	b.until("the rule is there", func() bool { return len(b.p.state.rules) == 1 })
	got := b.p.state.rules[0]
	var condition struct {
		Arguments map[string]struct{ Prefix string }
	}
	if err := json.Unmarshal(got.Condition, &condition); err != nil || got.Effect != "deny" || got.Server != "filesystem" || condition.Arguments["path"].Prefix != "/home" {
		t.Errorf("stored %+v, %v", got, err)
	}
	b.p.do(func(ctx context.Context) error { return b.app.DeleteRule(ctx, got.ID) }, nil)
	b.until("the rule is gone", func() bool { return len(b.p.state.rules) == 0 })
}

func TestLimitsAreStoredAndNotOverwrittenWhileTyped(t *testing.T) {
	b := newBench(t, "light", "en")
	b.Goto(Limits)
	f := b.form
	if refused := f.Set(map[string]json.RawMessage{fieldRounds: json.RawMessage("7"), fieldTool: json.RawMessage("90"), fieldSystem: json.RawMessage(`"Be brief."`)}); len(refused) != 0 {
		t.Fatalf("refused %q", refused)
	}
	if err := b.app.SetSecret(t.Context(), "x", "y"); err == nil {
		t.Error("a secret was stored without a keyring and without a choice")
	}
	b.p.happened()
	b.until("read again", func() bool { return !b.p.reading })
	if b.form != f && f.Touched() {
		t.Error("what was typed is gone")
	}
	b.saveLimits(f)
	b.until("stored", func() bool { return b.p.state.settings.MaxRounds == 7 })
	if s := b.p.state.settings; s.ToolTimeout != 90*time.Second || s.System != "Be brief." || s.Expiry != 10*time.Minute {
		t.Errorf("stored %+v", s)
	}
}

func TestSecretsHaveAWayOutWithoutAKeyring(t *testing.T) {
	b := newBench(t, "light", "en")
	b.Goto(Secrets)
	if k := b.p.state.secrets.Kind; k != secrets.KindAbsent && k != secrets.KindError {
		t.Fatalf("secrets are kept in %q", k)
	}
	p := b.passphrase()
	p.first.SetText("correct horse battery")
	p.second.SetText("correct horse")
	p.use()
	if !p.do.Disabled() || !b.over.Modal() {
		t.Error("two passphrases that differ were taken")
	}
	p.second.SetText("correct horse battery")
	p.use()
	b.until("the file is used", func() bool { return b.p.state.secrets.Kind == secrets.KindFile })
	if b.over.Modal() {
		t.Error("the dialog stays open")
	}
}

func TestAThemeIsChosen(t *testing.T) {
	b := newBench(t, "light", "en")
	b.Goto(Appearance)
	var first *widget.Select
	var walk func(o fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *widget.Select:
			if first == nil {
				first = o
			}
		case *fyne.Container:
			for _, c := range o.Objects {
				walk(c)
			}
		}
	}
	walk(b.scroll.Content)
	first.SetSelectedIndex(2)
	if !slices.Equal(b.themes, []string{theme.AlwaysDark}) {
		t.Errorf("chosen %q", b.themes)
	}
}

func TestLook(t *testing.T) {
	for _, variant := range []string{"light", "dark"} {
		for _, tongue := range []string{"en", "zh-Hans"} {
			b := newBench(t, variant, tongue)
			if _, err := b.app.SaveRule(t.Context(), app.Rule{Effect: "deny", Server: "filesystem", Tool: "delete_file", Condition: json.RawMessage(`{"arguments":{"path":{"prefix":"/"}}}`)}); err != nil {
				t.Fatal(err)
			}
			b.until("the rule", func() bool { return len(b.p.state.rules) == 1 })
			for _, sec := range b.sections {
				b.Goto(sec.name)
				b.picture("settings-" + variant + "-" + tongue + "-" + sec.name)
			}
			b.edit(app.ModelEndpoint{Name: "OpenAI", BaseURL: "https://api.openai.com/v1"}, "https://platform.openai.com/api-keys")
			b.picture("settings-" + variant + "-" + tongue + "-edit")
			b.over.Escape()
		}
	}
}
