package waiting

import (
	"context"
	"encoding/json"
	"net/url"
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
	"steward/app/event"
	"steward/testdata/signinserver"
	"steward/ui/language"
	"steward/ui/theme"
)

// signInRig is a rig with servers that want their person to sign in: "team", and "desk", which takes only a client that
// was registered by hand.
func signInRig(t *testing.T) (r *rig, team *signinserver.Server, opened func() []string) {
	t.Helper()
	opened = signinserver.InPlace(t)
	team = signinserver.Start(t)
	team.Scopes = []string{"read", "files:write"}
	desk := signinserver.Start(t)
	desk.ByHand("by-hand", "s3cret of the desk")
	r = newRigBeside(t, app.Options{Policy: app.Policy{Calls: consent.Allow}}, map[string]any{"team": map[string]any{"url": team.URL}, "desk": map[string]any{"url": desk.URL}})
	r.app.UseSecretsMemory()
	return r, team, opened
}

func (r *rig) signIn(phase string) (found consent.Item) {
	r.t.Helper()
	r.until("a sign-in waits: "+phase, func() bool {
		for _, i := range r.app.Waiting().List() {
			if i.Kind == consent.KindSignIn && i.SignIn.Phase == phase {
				found = i
				return true
			}
		}
		return false
	})
	return found
}

func TestAPageForSigningInIsOpenedFromItsCard(t *testing.T) {
	r, team, opened := signInRig(t)
	r.callOn(context.Background(), "team", "who", "{}")
	item := r.signIn(consent.SignInAsk)
	c := r.show(item)
	b := c.body.(*signInBody)
	got := shownText(c)
	for _, want := range []string{"team", "wants you to sign in", team.Issuer(), team.URL, "read  files:write", item.SignIn.URL, "Nothing was opened yet."} {
		if !strings.Contains(got, want) {
			t.Errorf("the card lacks %q: %s", want, got)
		}
	}
	b.submit() // too early
	if !b.accept.off || !c.Waits() || len(opened()) != 0 {
		t.Error("the page can be opened before the card was looked at")
	}
	c.Enter()
	r.until("the keyboard is on the harmless answer", func() bool { return r.window.Canvas().Focused() == fyne.Focusable(b.refuse) })
	r.pass(settle)
	r.control(fyne.KeyReturn)
	r.over(c)
	if s := shownText(c); !strings.Contains(s, "You let the page for signing in be opened.") {
		t.Errorf("afterwards the card says %q", s)
	}
	wait := r.signIn(consent.SignInBrowser)
	w := r.seen(wait)
	if s := shownText(w); !strings.Contains(s, "waits for the browser, where you sign in") || !strings.Contains(s, item.SignIn.URL) || !strings.Contains(s, "Cancel") {
		t.Errorf("while the browser is waited for: %q", s)
	}
	r.until("the page was opened", func() bool { return len(opened()) == 1 })
	if opened()[0] != item.SignIn.URL {
		t.Errorf("opened %q, shown %q", opened(), item.SignIn.URL)
	}
	w.body.submit() // nothing to allow here
	page, err := url.Parse(opened()[0])
	if err != nil {
		t.Fatal(err)
	}
	if said, err := signinserver.Visit(page.Query().Get("redirect_uri") + "?code=x&state=of-another"); err == nil {
		t.Errorf("an answer to another sign-in was taken: %s", said)
	}
	r.over(w)
	w = r.seen(r.signIn(consent.SignInBrowser))
	if s := shownText(w); !strings.Contains(s, "does not belong to this sign-in") || !strings.Contains(s, item.SignIn.URL) {
		t.Errorf("after an answer to another sign-in: %q", s)
	}
	if _, err := signinserver.Visit(opened()[0]); err != nil {
		t.Fatal(err)
	}
	r.over(w)
	if s := shownText(w); !strings.Contains(s, "You are signed in at ") {
		t.Errorf("afterwards the card says %q", s)
	}
	if err := r.ended(); err != nil {
		t.Error(err)
	}
	if len(opened()) != 1 {
		t.Errorf("opened %q", opened())
	}
}

func TestASignInIsDeclinedByEscape(t *testing.T) {
	r, _, opened := signInRig(t)
	r.callOn(context.Background(), "team", "who", "{}")
	c := r.seen(r.signIn(consent.SignInAsk))
	c.Enter()
	r.until("the card has the keyboard", func() bool { return r.window.Canvas().Focused() != nil })
	r.press(fyne.KeyEscape)
	r.over(c)
	if s := shownText(c); !strings.Contains(s, "You did not sign in.") {
		t.Errorf("afterwards the card says %q", s)
	}
	if err := r.ended(); err == nil || len(opened()) != 0 {
		t.Errorf("the call: %v; opened %q", err, opened())
	}
}

func TestWaitingForTheBrowserIsCancelledOnItsCard(t *testing.T) {
	r, _, _ := signInRig(t)
	r.callOn(context.Background(), "team", "who", "{}")
	r.seen(r.signIn(consent.SignInAsk)).body.submit()
	w := r.seen(r.signIn(consent.SignInBrowser))
	w.body.escape()
	r.over(w)
	if s := shownText(w); !strings.Contains(s, "You gave up signing in.") {
		t.Errorf("afterwards the card says %q", s)
	}
	if err := r.ended(); err == nil {
		t.Error("the call went through")
	}
	r.until("nothing waits", func() bool { return len(r.app.Waiting().List()) == 0 })
}

func TestAClientIsTypedIntoItsCard(t *testing.T) {
	r, _, opened := signInRig(t)
	r.callOn(context.Background(), "desk", "who", "{}")
	item := r.signIn(consent.SignInClient)
	c := r.seen(item)
	b := c.body.(*signInBody)
	if s := shownText(c); !strings.Contains(s, item.Presentation.Redirect) || !strings.Contains(s, "Client id *") || strings.Contains(s, "Whoever asks gets to read") {
		t.Errorf("the card says %q", s)
	}
	if !b.accept.off {
		t.Error("nothing can be sent")
	}
	if refused := b.form.Set(map[string]json.RawMessage{clientID: json.RawMessage(`"by-hand"`), clientSecret: json.RawMessage(`"s3cret of the desk"`)}); refused != nil {
		t.Fatalf("refused: %v", refused)
	}
	c.update()
	other := NewCard(item, r.d) // the same, shown elsewhere
	if got := other.body.(*signInBody).form.Values(); string(got[clientID]) != `"by-hand"` {
		t.Errorf("what was typed is lost: %s", got)
	}
	other.Close()
	b.submit()
	r.over(c)
	if len(r.d.Drafts) != 0 {
		t.Error("what was typed is still there")
	}
	r.seen(r.signIn(consent.SignInAsk)).body.submit()
	r.until("the page was opened", func() bool { return len(opened()) == 1 })
	if _, err := signinserver.Visit(opened()[0]); err != nil {
		t.Fatal(err)
	}
	if err := r.ended(); err != nil {
		t.Error(err)
	}
}

// TestSignInPictures draws the cards of signing in; see TestPictures.
func TestSignInPictures(t *testing.T) {
	dir := os.Getenv("STEWARD_PICTURES")
	defer func() {
		if err := language.Load("en"); err != nil {
			t.Error(err)
		}
		fyne.CurrentApp().Settings().SetTheme(theme.New(theme.AlwaysLight))
	}()
	r, team, _ := signInRig(t)
	team.Step = "admin"
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	r.callOn(ctx, "team", "who", "{}")
	r.callOn(ctx, "desk", "who", "{}")
	first := r.signIn(consent.SignInAsk)
	r.signIn(consent.SignInClient)
	draw := func(name string, cards int) {
		for _, code := range []string{"en", "zh-Hans"} {
			if err := language.Load(code); err != nil {
				t.Fatal(err)
			}
			for _, variant := range []string{theme.AlwaysLight, theme.AlwaysDark} {
				fyne.CurrentApp().Settings().SetTheme(theme.New(variant))
				p := newPlace(r.d)
				w := test.NewTempWindow(t, container.NewStack(canvas.NewRectangle(theme.Color(theme.Ground)), p.Canvas()))
				w.SetPadded(false)
				w.Resize(fyne.NewSize(820, 1000))
				p.Shown()
				r.pass(settle)
				if n := len(p.cards); n != cards {
					t.Errorf("%d cards are drawn", n)
				}
				if dir != "" {
					picture(t, filepath.Join(dir, "signin-"+name+"-"+code+"-"+variant+".png"), w)
				}
				p.Close()
			}
		}
	}
	draw("asked", 2)
	if err := r.app.Waiting().Answer(first.ID, first.Hash, consent.Answer{Action: consent.Accept}); err != nil {
		t.Fatal(err)
	}
	r.signIn(consent.SignInBrowser)
	draw("browser", 2)
	stop()
	for range 2 {
		_ = r.ended() // stopped: not what is looked at here
	}
}

// The list may say that a question was answered before its card knows that its own answer was the one.
func TestACardsOwnAnswerIsNotTakenForAnothers(t *testing.T) {
	item := consent.Item{ID: "x", Kind: consent.KindElicitation}
	e := ending{given: &consent.Answer{Action: consent.Decline}}
	if !e.learn(item, event.WaitingGone{ID: "x", Why: "answered"}) || e.words(item) != ownWords(item, *e.given) {
		t.Errorf("it says %q", e.words(item))
	}
	e.given = nil // it was refused: somebody else had answered
	if e.words(item) != "Answered elsewhere." {
		t.Errorf("it says %q", e.words(item))
	}
}
