package servers

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/consent"
	"steward/testdata/signinserver"
	"steward/ui/text"
)

// begin starts the server that wants a sign-in.
func (d *desk) begin() {
	d.t.Helper()
	d.place.Goto("team")
	d.until("its page is there", func() bool { return d.place.p.chosen == "team" && d.place.p.detailed })
	d.place.detail.restart()
}

// asked waits for the question and answers it.
func (d *desk) asked(action string) {
	d.t.Helper()
	var item consent.Item
	d.until("the person is asked", func() bool {
		for _, i := range d.app.Waiting().List() {
			if i.Kind == consent.KindSignIn && i.SignIn.Phase == consent.SignInAsk {
				item = i
				return true
			}
		}
		return false
	})
	if err := d.app.Waiting().Answer(item.ID, item.Hash, consent.Answer{Action: action}); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) status(what string, so func(app.ServerDetail) bool) {
	d.t.Helper()
	d.until(what, func() bool { return d.place.p.doing[d.place.p.chosen] == "" && so(d.place.p.detail) })
}

func TestSigningInAndOutUnderServers(t *testing.T) {
	opened := signinserver.InPlace(t)
	for _, variant := range []string{"light", "dark"} {
		for _, tongue := range []string{"en", "zh-Hans"} {
			s := signinserver.Start(t)
			s.Scopes = []string{"read", "files:write"}
			before := len(opened())
			d := newDesk(t, variant, tongue, map[string]any{"team": map[string]any{"url": s.URL}, "weekly": entry(t)}, true)
			name := "signin-" + variant + "-" + tongue
			d.begin()
			d.asked(consent.Decline)
			d.status("refused", func(s app.ServerDetail) bool { return s.State == "failed" && s.SignIn.Refused })
			head := d.shown()
			if tongue == "en" && (!strings.Contains(head, "Wants you to sign in") || !strings.Contains(head, "It wants you to sign in at "+s.Issuer()) || !strings.Contains(head, "Sign in")) {
				t.Errorf("refused: %s", head)
			}
			d.picture(name + "-needed")

			d.place.detail.doSignIn()
			d.asked(consent.Accept)
			d.until("the page was opened", func() bool { return len(opened()) == before+1 && d.place.p.detail.SignIn.Waiting })
			if head := d.shown(); tongue == "en" && (!strings.Contains(head, "Waiting until you have signed in.") || !strings.Contains(head, "Cancel")) {
				t.Errorf("waiting: %s", head)
			}
			d.picture(name + "-waits")
			if _, err := signinserver.Visit(opened()[before]); err != nil {
				t.Fatal(err)
			}
			d.status("signed in", func(s app.ServerDetail) bool { return s.State == "ready" && s.SignIn.SignedIn })
			if head := d.shown(); tongue == "en" && (!strings.Contains(head, "Signed in at "+s.Issuer()+" · read files:write · until ") || !strings.Contains(head, "Sign out")) {
				t.Errorf("signed in: %s", head)
			}
			d.picture(name + "-in")
			d.place.detail.doSignOut()
			d.status("signed out", func(s app.ServerDetail) bool { return !s.SignIn.SignedIn && s.SignIn.Needed })
			if s.Heard("/revoke") == 0 {
				t.Error("nothing was revoked")
			}
		}
	}
}

func TestASignInIsCancelledUnderServers(t *testing.T) {
	opened := signinserver.InPlace(t)
	s := signinserver.Start(t)
	d := newDesk(t, "light", "en", map[string]any{"team": map[string]any{"url": s.URL}}, true)
	d.begin()
	d.asked(consent.Decline)
	d.status("refused", func(s app.ServerDetail) bool { return s.State == "failed" })
	d.place.detail.doSignIn()
	d.asked(consent.Accept)
	d.until("the page was opened", func() bool { return len(opened()) == 1 })
	d.app.CancelSignIn("team")
	d.status("given up", func(s app.ServerDetail) bool { return !s.SignIn.Waiting && !s.SignIn.SignedIn })
	d.until("nothing waits", func() bool { return len(d.app.Waiting().List()) == 0 })
}

// A server that cannot be started, or not signed in to, says why in the person's language, in the list as in its head.
func TestAFailureSpeaksThePersonsLanguage(t *testing.T) {
	d := newDesk(t, "light", "zh-Hans", map[string]any{"notes": map[string]any{"command": "no-such-runner"}}, true)
	d.place.Goto("notes")
	d.until("it is shown", func() bool { return d.place.p.detailed })
	d.place.detail.restart()
	d.status("failed", func(s app.ServerDetail) bool { return s.State == "failed" })
	s := d.place.p.detail
	if words, _ := secondLine(s.ServerStatus, "", time.Now()); !strings.Contains(words, "没有找到程序") {
		t.Errorf("the list says %q", words)
	}
	s.SignIn.Needed, s.Error, s.Hint = true, "The server https://x/mcp wants a sign-in: signing in was refused.", "Sign in to it when you want to use it."
	head := d.place.detail.signIn(s)
	head.Resize(fyne.NewSize(700, 400))
	for _, want := range []string{"要求登录：登录被拒绝。", "要使用它时请登录。"} {
		if !says(head, want) {
			t.Errorf("the head lacks %q", want)
		}
	}
}

func TestSignedInWords(t *testing.T) {
	newDesk(t, "light", "en", map[string]any{}, true)
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.Local)
	for want, in := range map[string]app.ServerSignIn{
		"Signed in": {},
		"Signed in at https://a.example · read write": {Issuer: "https://a.example", Scopes: []string{"read", "write"}, Expires: now.Add(-time.Minute)},
		"Signed in · until 13:00":                     {Expires: now.Add(time.Hour)},
		"Signed in · until 2026-12-02 12:00":          {Expires: now.Add(48 * time.Hour)},
	} {
		if got := signedInWords(in, now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// shown is every text that the window shows.
func (d *desk) shown() string {
	d.t.Helper()
	var b strings.Builder
	var walk func(o fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		if o == nil || !o.Visible() {
			return
		}
		switch o := o.(type) {
		case *text.View:
			b.WriteString(o.Plain() + "\n")
		case *canvas.Text:
			b.WriteString(o.Text)
		case *fyne.Container:
			for _, c := range o.Objects {
				walk(c)
			}
		case fyne.Widget:
			for _, c := range test.WidgetRenderer(o).Objects() {
				walk(c)
			}
			b.WriteString("\n")
		}
	}
	walk(d.window.Content())
	return b.String()
}
