package settings

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/secrets"
	"steward/ui/place/placetest"
	"steward/ui/theme"
)

var weekly string // a server's program

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "settings-test-")
	if err == nil {
		defer os.RemoveAll(dir)
		weekly, err = placetest.Program(dir, "steward/testdata/minimalserver")
	}
	if err != nil {
		println(err.Error())
		return 1
	}
	return placetest.Main(m)
}

// bench is the place over a real program.
type bench struct {
	*Place
	*placetest.Bench
}

func newBench(t *testing.T, variant, tongue string) *bench {
	t.Helper()
	return newBenchWith(t, placetest.Options{Variant: variant, Language: tongue})
}

func newBenchWith(t *testing.T, o placetest.Options) *bench {
	t.Helper()
	o.Version = "1.2.3"
	b := &bench{Bench: placetest.New(t, o)}
	b.Place = New(b.Deps())
	b.Show(b.Place)
	b.Until("the settings are read", func() bool { return b.p.loaded && b.p.looked })
	return b
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
	b.App.UseSecretsMemory()
	s := endpoint(t)
	e := b.edit(app.ModelEndpoint{}, "")
	if !e.test.Disabled() || !e.save.Disabled() {
		t.Error("an endpoint without an address can be stored")
	}
	e.name.SetText("Mine")
	e.address.SetText(s.URL + "/v1")
	e.key.SetText("sk-wrong-0123456789")
	test.Tap(e.test)
	b.Until("a refusal", func() bool { return !e.busy && len(e.models.all) == 0 })
	e.key.SetText("sk-right-0123456789")
	test.Tap(e.test)
	b.Until("the models", func() bool { return len(e.models.all) == 2 })
	if e.model.Text == "" || e.models.canvas.Hidden {
		t.Errorf("the models are not offered; %q is chosen", e.model.Text)
	}
	b.Picture("settings-tested")
	e.models.list.OnSelected(slices.IndexFunc(e.models.shown, func(m app.ModelInfo) bool { return m.ID == "large" }))
	test.Tap(e.save)
	stored := func() *app.ModelEndpoint {
		i := slices.IndexFunc(b.p.state.endpoints, func(e app.ModelEndpoint) bool { return e.Name == "Mine" })
		if i < 0 {
			return nil
		}
		return &b.p.state.endpoints[i]
	}
	b.Until("it is stored", func() bool { return stored() != nil })
	if got := stored(); got.Model != "large" || !got.HasKey || !got.Chosen || b.Layer.Modal() || e.key.Text != "" {
		t.Errorf("stored as %+v, the dialog is open: %v", got, b.Layer.Modal())
	}
	b.Until("the secret is listed", func() bool { return len(b.p.state.names) > 0 })
	id := stored().ID
	b.p.do(func(ctx context.Context) error { return b.App.DeleteEndpoint(ctx, id) }, nil)
	b.Until("it is gone", func() bool { return stored() == nil })
}

func TestARuleIsTriedAndStored(t *testing.T) {
	b := newBench(t, "light", "en")
	b.Goto(Permissions)
	r := b.addRule()
	r.server.SetText("filesystem")
	r.argument.SetText("path")
	r.save()
	if !b.Layer.Modal() {
		t.Error("half a condition was stored")
	}
	r.prefix.SetText("/home")
	r.save()
	b.Until("the rule is there", func() bool { return len(b.p.state.rules) == 1 })
	got := b.p.state.rules[0]
	var condition struct {
		Arguments map[string]struct{ Prefix string }
	}
	if err := json.Unmarshal(got.Condition, &condition); err != nil || got.Effect != "deny" || got.Server != "filesystem" || condition.Arguments["path"].Prefix != "/home" {
		t.Errorf("stored %+v, %v", got, err)
	}
	b.p.do(func(ctx context.Context) error { return b.App.DeleteRule(ctx, got.ID) }, nil)
	b.Until("the rule is gone", func() bool { return len(b.p.state.rules) == 0 })
}

func TestLimitsAreStoredAndNotOverwrittenWhileTyped(t *testing.T) {
	b := newBench(t, "light", "en")
	b.Goto(Limits)
	f := b.form
	if refused := f.Set(map[string]json.RawMessage{fieldRounds: json.RawMessage("7"), fieldTool: json.RawMessage("90"), fieldSystem: json.RawMessage(`"Be brief."`)}); len(refused) != 0 {
		t.Fatalf("refused %q", refused)
	}
	if err := b.App.SetSecret(t.Context(), "x", "y"); err == nil {
		t.Error("a secret was stored without a keyring and without a choice")
	}
	b.p.happened()
	b.Until("read again", func() bool { return !b.p.reading })
	if b.form != f && f.Touched() {
		t.Error("what was typed is gone")
	}
	b.Goto(About)
	b.Goto(Limits)
	if f = b.form; string(f.Values()[fieldRounds]) != "7" || string(f.Values()[fieldSystem]) != `"Be brief."` {
		t.Errorf("another section was looked at, and %s is left of what was typed", f.Values())
	}
	b.saveLimits(f)
	b.Until("stored", func() bool { return b.p.state.settings.MaxRounds == 7 })
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
	if !p.do.Disabled() || !b.Layer.Modal() {
		t.Error("two passphrases that differ were taken")
	}
	p.second.SetText("correct horse battery")
	p.use()
	b.Until("the file is used", func() bool { return b.p.state.secrets.Kind == secrets.KindFile })
	if b.Layer.Modal() {
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
	if !slices.Equal(b.Themes, []string{theme.AlwaysDark}) {
		t.Errorf("chosen %q", b.Themes)
	}
}

func TestLook(t *testing.T) {
	for _, variant := range []string{"light", "dark"} {
		for _, tongue := range []string{"en", "zh-Hans"} {
			b := newBench(t, variant, tongue)
			if _, err := b.App.SaveRule(t.Context(), app.Rule{Effect: "deny", Server: "filesystem", Tool: "delete_file", Condition: json.RawMessage(`{"arguments":{"path":{"prefix":"/"}}}`)}); err != nil {
				t.Fatal(err)
			}
			b.Until("the rule", func() bool { return len(b.p.state.rules) == 1 && b.p.looked })
			for _, sec := range b.sections {
				b.Goto(sec.name)
				b.Picture("settings-" + variant + "-" + tongue + "-" + sec.name)
			}
			b.edit(app.ModelEndpoint{Name: "OpenAI", BaseURL: "https://api.openai.com/v1"}, "https://platform.openai.com/api-keys")
			b.Picture("settings-" + variant + "-" + tongue + "-edit")
			b.Layer.Escape()
			b.edit(app.ModelEndpoint{Name: "OpenAI", BaseURL: "https://api.openai.com/v1", Model: "gpt-5.1", Traits: map[string]string{"stop": "yes"}}, "").openCompatibility()
			b.Picture("settings-" + variant + "-" + tongue + "-compatibility")
			b.Layer.Escape()
			b.Layer.Escape()
		}
	}
}
