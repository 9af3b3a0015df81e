package chat

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/ui/theme"
)

// TestOnlyWhatIsOfferedIsSuggested: a suggestion whose tool is not there would end in a refusal, and a server that nobody
// reviewed is told of where its tools are missed.
func TestOnlyWhatIsOfferedIsSuggested(t *testing.T) {
	b := newBench(t, theme.AlwaysLight, "en")
	shown := func() string { return said(b.empty) }
	h := headFacts{demo: true}
	see := func(want ...string) {
		t.Helper()
		b.empty.show(b.emptiness(context.Background(), h))
		for _, w := range []string{"weekly report for", "Book a trip", "best flight", "built-in server"} {
			so := false
			for _, x := range want {
				so = so || x == w
			}
			if strings.Contains(shown(), w) != so {
				t.Errorf("%q is said: %v, in %q", w, !so, shown())
			}
		}
	}
	see()
	h.tools = []app.OfferedTool{{Tool: app.Tool{Server: "demo", Tool: "book_trip"}, Offered: true}, {Tool: app.Tool{Server: "demo", Tool: "find_best_flight"}, Why: "switched_off"}}
	see("Book a trip")
	b.picture("empty-own")
}

func TestAServerThatWaitsForItsReviewIsToldOf(t *testing.T) {
	b := newBench(t, theme.AlwaysLight, "en")
	for _, want := range []struct{ servers, said string }{
		{`"notes":{"command":"x","disabled":true}`, ""},
		{`"notes":{"command":"x"}`, "server notes waits"},
		{`"a":{"command":"x"},"b":{"command":"x"},"c":{"command":"x"}`, "3 servers wait"},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "servers.json"), []byte(`{"mcpServers":{`+want.servers+`}}`), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := app.Open(context.Background(), app.Options{Data: dir})
		if err != nil {
			t.Fatal(err)
		}
		was := b.Place.d.App
		b.Place.d.App = a
		state := b.emptiness(context.Background(), headFacts{})
		b.Place.d.App = was
		if err := a.Close(context.Background()); err != nil {
			t.Error(err)
		}
		b.empty.show(state)
		if got := said(b.empty); want.said != "" && !strings.Contains(got, want.said) || want.said == "" && strings.Contains(got, "review") {
			t.Errorf("%+v: %q", want, got)
		}
	}
	b.picture("empty-review")
}

// said is every text that an object shows.
func said(o fyne.CanvasObject) string {
	var out strings.Builder
	var walk func(o fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *canvas.Text:
			out.WriteString(o.Text + " ")
		case *fyne.Container:
			for _, c := range o.Objects {
				walk(c)
			}
		case fyne.Widget:
			for _, c := range test.WidgetRenderer(o).Objects() {
				walk(c)
			}
		}
	}
	walk(o)
	return out.String()
}
