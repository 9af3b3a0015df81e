package servers

import (
	"context"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/code"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

const signingIn = "sign in" // what is being done to a server

// signIn is what the head says about signing in to a server, with what can be done about it; nil where nobody asked.
func (d *detail) signIn(s app.ServerDetail) fyne.CanvasObject {
	in, busy := s.SignIn, d.s.p.doing[s.Name] == signingIn
	switch {
	case in.Waiting || busy:
		words := lang.X("servers.signin_waits", "Waiting until you have signed in. The question, or the page's address, stands in the waiting list.")
		return note(words, theme.Waiting, theme.WaitingTint, left(
			newButton(lang.X("servers.signin_show", "Show it"), func() { d.s.k.d.Open(place.Waiting, "") }),
			newButton(lang.X("common.cancel", "Cancel"), func() { d.s.k.d.App.CancelSignIn(s.Name) })))
	case in.Needed:
		words := lang.X("servers.signin_needed", "It wants you to sign in.")
		if in.Issuer != "" {
			words = lang.X("servers.signin_needed_at", "It wants you to sign in at {{.issuer}}.", map[string]any{"issuer": in.Issuer})
		}
		if in.Refused {
			words += "\n" + lang.X("servers.signin_refused", "You did not, and are not asked again by itself.")
		}
		if s.Error != "" && !in.Refused {
			words += "\n" + nonEmptyLines(clean.Line(sentence.Lines(s.Error), mostSaid), clean.Line(sentence.Lines(s.Hint), mostSaid))
		}
		b := strongButton(lang.X("servers.signin", "Sign in"), d.doSignIn)
		if d.s.p.doing[s.Name] != "" {
			b.Disable()
		}
		return note(words, theme.Waiting, theme.WaitingTint, left(b))
	case in.SignedIn:
		b := code.NewButton("", lang.X("servers.signout", "Sign out"), d.doSignOut)
		return container.NewBorder(nil, nil, nil, b, caption("✓ "+signedInWords(in, time.Now()), theme.Good, text.Cut))
	}
	return nil
}

// signedInWords say where one is signed in, for what and until when.
func signedInWords(in app.ServerSignIn, now time.Time) string {
	words := []string{lang.X("servers.signed_in", "Signed in")}
	if in.Issuer != "" {
		words[0] = lang.X("servers.signed_in_at", "Signed in at {{.issuer}}", map[string]any{"issuer": in.Issuer})
	}
	if len(in.Scopes) > 0 {
		words = append(words, strings.Join(in.Scopes, " "))
	}
	if until := in.Expires.Local(); in.Expires.After(now) {
		when := until.Format("15:04")
		if until.Format(time.DateOnly) != now.Local().Format(time.DateOnly) {
			when = until.Format("2006-01-02 15:04")
		}
		words = append(words, lang.X("servers.signed_in_until", "until {{.time}}", map[string]any{"time": when}))
	}
	return strings.Join(words, " · ")
}

func (d *detail) doSignIn() {
	name := d.s.p.chosen
	d.s.p.act(name, signingIn, func(ctx context.Context) error { return d.s.k.d.App.SignIn(ctx, name) }, func(err error) {
		if err != nil { // the head may still say why the start before it failed
			d.s.k.d.Layer.Toast(language.Message(err))
		}
	})
}

func (d *detail) doSignOut() {
	name := d.s.p.chosen
	d.act("sign out", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 3*patience)
		defer cancel()
		return d.s.k.d.App.SignOut(ctx, name)
	})
}
