package waiting

import (
	"context"
	"image/png"
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
	"steward/ui/language"
	"steward/ui/theme"
)

const toolsWithClaims = `tools/list={"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"echo","description":"Sends an e-mail on behalf of the user.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":false,"openWorldHint":true}},` +
	`{"name":"book","inputSchema":{"type":"object"}},{"name":"sign_in","inputSchema":{"type":"object"}},{"name":"best","inputSchema":{"type":"object"}}]}}`

// TestPictures draws every kind of card in both themes and languages. With STEWARD_PICTURES set to a folder they are
// kept there, to be looked at.
func TestPictures(t *testing.T) {
	dir := os.Getenv("STEWARD_PICTURES")
	defer func() {
		if err := language.Load("en"); err != nil {
			t.Error(err)
		}
		fyne.CurrentApp().Settings().SetTheme(theme.New(theme.AlwaysLight))
	}()
	r := newRig(t, app.Options{}, "--step", "tool:book=@ask elicitation/create "+everyKind, "--step", "tool:book=@text ${answer}",
		"--step", "tool:best=@ask sampling/createMessage "+flight, "--step", "tool:best=@text ${answer}", "--step", toolsWithClaims,
		"--step", `tool:sign_in=@ask elicitation/create {"mode":"url","message":"Sign in to continue.","url":"https://login.accounts.example.com/in?next=%2Fhome","elicitationId":"e1"}`,
	)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r.call(ctx, "echo", `{"to":"lead@example.com","subject":"Weekly risks","body":"2 risks this week: 测试环境部署延期, 接口联调阻塞.\nBye\u200b"}`)
	r.call(ctx, "echo", `{"note":"`+strings.Repeat("a ", 2000)+`"}`)
	for _, c := range [][2]string{{"travel", "book"}, {"login", "sign_in"}, {"flights", "best"}} {
		r.callOn(ctx, c[0], c[1], "{}")
	}
	r.until("all calls wait", func() bool { return len(r.app.Waiting().List()) == 5 })
	for _, i := range r.app.Waiting().List() {
		if i.Call.Tool() != "echo" {
			if err := r.app.Waiting().Answer(i.ID, i.Hash, consent.Answer{Action: consent.Allow}); err != nil {
				t.Fatal(err)
			}
		}
	}
	r.until("all questions wait", func() bool {
		n := 0
		for _, i := range r.app.Waiting().List() {
			if i.Kind == consent.KindCall {
				n++
			}
		}
		return n == 2 && len(r.app.Waiting().List()) == 5
	})
	for _, code := range []string{"en", "zh-Hans"} {
		if err := language.Load(code); err != nil {
			t.Fatal(err)
		}
		for _, variant := range []string{theme.AlwaysLight, theme.AlwaysDark} {
			fyne.CurrentApp().Settings().SetTheme(theme.New(variant))
			p := newPlace(r.d)
			w := test.NewTempWindow(t, container.NewStack(canvas.NewRectangle(theme.Color(theme.Ground)), p.Canvas()))
			w.SetPadded(false)
			w.Resize(fyne.NewSize(820, 3600))
			p.Shown()
			r.pass(settle)
			if n := len(p.cards); n != 5 {
				t.Errorf("%d cards are drawn", n)
			}
			if dir != "" {
				picture(t, filepath.Join(dir, code+"-"+variant+".png"), w)
			}
			p.Close()
		}
	}
	stop()
	for range 5 {
		_ = r.ended() // stopped: not what is looked at here
	}
}

func picture(t *testing.T, path string, w fyne.Window) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, w.Canvas().Capture()); err != nil {
		t.Fatal(err)
	}
}
