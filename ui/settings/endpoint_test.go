package settings

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/app"
)

// How an endpoint is reached is typed below what few need; what cannot be read is said, and what looks like a key among
// the headers is in the secrets afterwards.
func TestTheWayToAnEndpointIsSet(t *testing.T) {
	for _, look := range [][2]string{{"light", "en"}, {"dark", "zh-Hans"}} {
		t.Run(look[0]+" "+look[1], func(t *testing.T) { wayIsSet(t, look[0], look[1]) })
	}
}

func wayIsSet(t *testing.T, variant, tongue string) {
	name := variant + "-" + tongue
	b := newBench(t, variant, tongue)
	b.App.UseSecretsMemory()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Gateway-Key") != "CANARY-gateway-0123456789" {
			http.Error(w, "no key", http.StatusForbidden)
			return
		}
		var list []string
		for i := range 300 {
			list = append(list, fmt.Sprintf(`{"id":"maker/model-%03d","architecture":{"input_modalities":["text","image"]},"supported_parameters":["tools"],"context_length":131072}`, i))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(list, ","))
	}))
	t.Cleanup(s.Close)
	e := b.edit(app.ModelEndpoint{}, "https://keys.example")
	e.name.SetText("Gateway")
	e.address.SetText(s.URL)
	e.reach.canvas.Show()
	e.arrange()
	b.Picture("endpoint-way-" + name)
	e.reach.headers.SetText("X-Gateway-Key CANARY")
	test.Tap(e.test)
	if e.busy {
		t.Error("a header without a colon was tried")
	}
	e.reach.headers.SetText("X-Gateway-Key: CANARY-gateway-0123456789\n\nX-Team: blue")
	e.reach.idle.SetText("x")
	test.Tap(e.test)
	if e.busy {
		t.Error("a wait that is no number was tried")
	}
	e.reach.idle.SetText("90")
	test.Tap(e.test)
	b.Until("the models", func() bool { return len(e.models.all) == 300 })
	e.model.SetText("28 maker")
	if n := len(e.models.shown); n != 13 {
		t.Errorf("searching finds %d", n)
	}
	e.reach.canvas.Hide()
	e.arrange()
	b.Picture("endpoint-search-" + name)
	e.models.list.OnSelected(3)
	if e.model.Text == "28 maker" || len(e.models.shown) != 13 {
		t.Errorf("chosen is %q of %d", e.model.Text, len(e.models.shown))
	}
	test.Tap(e.save)
	b.Until("it is stored", func() bool {
		return !b.Layer.Modal() && len(b.p.state.endpoints) > 0 && b.p.state.endpoints[0].Name == "Gateway"
	})
	got := b.p.state.endpoints[0]
	if got.Idle != 90*time.Second || got.Headers["X-Team"] != "blue" || strings.Contains(got.Headers["X-Gateway-Key"], "CANARY") || got.Headers["X-Gateway-Key"] == "" {
		t.Errorf("stored is %+v", got)
	}
	b.Until("what it offers is kept", func() bool { return len(b.App.KeptModels(t.Context(), got.ID).Models) == 300 })
	again := b.edit(got, "")
	if !strings.Contains(again.reach.headers.Text, "${secret:") || strings.Contains(again.reach.headers.Text, "CANARY") {
		t.Errorf("shown again is %q", again.reach.headers.Text)
	}
	again.close()
}

// In a low window the fields scroll, and the buttons stay in sight.
func TestTheEditorFitsALowWindow(t *testing.T) {
	b := newBench(t, "light", "en")
	b.Window.Resize(fyne.NewSize(640, 400))
	e := b.edit(app.ModelEndpoint{}, "https://keys.example")
	e.reach.canvas.Show()
	e.arrange()
	b.Picture("endpoint-low")
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(e.save)
	if bottom := at.Y + e.save.Size().Height; bottom > 400 || e.save.Size().Height < 20 {
		t.Errorf("the button to save ends at %v of 400", bottom)
	}
	e.close()
}
