package waiting

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/consent"
	"steward/testdata/scriptedmodel"
	"steward/ui/language"
	"steward/ui/theme"
)

// atLimit is a turn that has come to its limit, and the card that asks about it.
func atLimit(t *testing.T) (*rig, *app.Turn, consent.Item) {
	t.Helper()
	m := scriptedmodel.StartScript(t, scriptedmodel.Script{Strict: true, Rounds: &scriptedmodel.Rounds{N: 100, Tool: "mail__echo", Arguments: json.RawMessage(`{"text":"{{n}}"}`)}})
	r := newRig(t, app.Options{Endpoint: app.Endpoint{BaseURL: m.URL(), Model: "fake"}, MaxRounds: 2, Policy: app.Policy{Calls: "allow"}}, "--only", "echo")
	turn, err := r.app.Send(context.Background(), app.Draft{Text: "Check every report of 2025"})
	if err != nil {
		t.Fatal(err)
	}
	return r, turn, r.item(consent.KindRounds)
}

func TestATurnAtItsLimitGoesOnByAClickAndStopsByEscape(t *testing.T) {
	r, turn, item := atLimit(t)
	c := r.seen(item)
	if words := shownText(c); !strings.Contains(words, "asked 2 times") || !strings.Contains(words, "Check every report of 2025") || !strings.Contains(words, "Go on for 2 more") {
		t.Errorf("the card says:\n%s", words)
	}
	c.Enter()
	r.control(fyne.KeyReturn)
	r.over(c)
	if words := shownText(c); !strings.Contains(words, "You let it go on.") {
		t.Errorf("the card says:\n%s", words)
	}
	c = r.seen(r.item(consent.KindRounds))
	if words := shownText(c); !strings.Contains(words, "asked 4 times") {
		t.Errorf("the card says:\n%s", words)
	}
	c.Enter()
	r.press(fyne.KeyEscape)
	r.over(c)
	if words := shownText(c); !strings.Contains(words, "You stopped it here.") {
		t.Errorf("the card says:\n%s", words)
	}
	res, err := turn.Wait(context.Background())
	if err != nil || res.State != "stopped" {
		t.Errorf("%+v, %v", res, err)
	}
}

// What was clicked before the card could be read lets nothing go on.
func TestATurnAtItsLimitDoesNotGoOnByAccident(t *testing.T) {
	r, turn, item := atLimit(t)
	c := r.show(item)
	c.Enter()
	r.control(fyne.KeyReturn)
	if !c.Waits() {
		t.Error("it went on at once")
	}
	turn.Stop()
	r.over(c)
	if words := shownText(c); !strings.Contains(words, "stopped") {
		t.Errorf("the card says:\n%s", words)
	}
}

// With STEWARD_PICTURES set to a folder the card is kept there, to be looked at.
func TestPicturesOfATurnAtItsLimit(t *testing.T) {
	dir := os.Getenv("STEWARD_PICTURES")
	defer func() {
		if err := language.Load("en"); err != nil {
			t.Error(err)
		}
		fyne.CurrentApp().Settings().SetTheme(theme.New(theme.AlwaysLight))
	}()
	r, turn, item := atLimit(t)
	defer turn.Stop()
	for _, code := range []string{"en", "zh-Hans"} {
		if err := language.Load(code); err != nil {
			t.Fatal(err)
		}
		for _, variant := range []string{theme.AlwaysLight, theme.AlwaysDark} {
			fyne.CurrentApp().Settings().SetTheme(theme.New(variant))
			c := NewCard(item, r.d)
			t.Cleanup(c.Close)
			w := test.NewTempWindow(t, container.NewStack(canvas.NewRectangle(theme.Color(theme.Ground)), newColumn(0, c)))
			w.SetPadded(false)
			w.Resize(fyne.NewSize(720, c.HeightFor(720)+16))
			r.pass(settle)
			if words := shownText(c); (code == "en") != strings.Contains(words, "The model wants to go on") {
				t.Errorf("in %s the card says:\n%s", code, words)
			}
			if dir != "" {
				picture(t, filepath.Join(dir, "rounds-"+code+"-"+variant+".png"), w)
			}
		}
	}
}
