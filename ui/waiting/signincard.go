package waiting

import (
	"encoding/json"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app/consent"
	"steward/app/opener"
	"steward/ui/form"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

// signInBody is a server that wants the person to sign in: the question whether its page may be opened, the wait for the
// browser, or the question whether to register, or for a client that was registered by hand.
type signInBody struct {
	c       *Card
	phase   string
	form    *form.Form // of a client
	problem error      // the page cannot be opened

	accept, refuse *button
}

// Fields of the form that asks for a client.
const (
	clientID     = "client_id"
	clientSecret = "client_secret"
)

func newSignInBody(c *Card) *signInBody {
	b := &signInBody{c: c, phase: c.item.SignIn.Phase}
	accept, refuse := lang.X("signin.open", "Open the page"), lang.X("signin.refuse", "Do not sign in")
	look := refusing
	switch b.phase {
	case consent.SignInAsk:
		_, b.problem = opener.Check(c.item.SignIn.URL)
	case consent.SignInBrowser:
		refuse, look = lang.X("common.cancel", "Cancel"), plain
	case consent.SignInRegister:
		accept = lang.X("signin.do_register", "Register Steward there")
	case consent.SignInClient:
		accept = lang.X("signin.go_on", "Go on")
		b.buildForm()
	}
	b.accept = newButton(c, strong, accept, keyHint(), b.submit)
	b.refuse = newButton(c, look, refuse, "Esc", b.escape)
	return b
}

func (b *signInBody) buildForm() {
	c := b.c
	b.form = form.New([]form.Field{
		{Name: clientID, Title: lang.X("signin.client_id", "Client id"), Kind: form.String, Required: true, MaxLength: 4096, Own: true},
		{Name: clientSecret, Title: lang.X("signin.client_secret", "Client secret, where there is one"), Kind: form.Secret, MaxLength: 4096, Own: true,
			Description: lang.X("signin.client_secret_help", "It is kept where your other secrets are and sent to this authorization server alone.")},
	}, c.formText)
	if d, ok := c.d.Drafts[c.item.ID].(*formDraft); ok {
		b.form.Restore(d.state)
	}
	b.form.OnChange = func() {
		if c.d.Drafts != nil {
			c.d.Drafts[c.item.ID] = &formDraft{state: b.form.State()}
		}
		c.update()
	}
	b.form.OnResize = c.resized
	b.form.OnShortcut = c.taken
	b.form.OnEscape = func() bool { c.Enter(); return true }
}

func (b *signInBody) title() []text.Run {
	words := lang.X("signin.wants", "wants you to sign in")
	switch b.phase {
	case consent.SignInBrowser:
		words = lang.X("signin.browser", "waits for the browser, where you sign in")
	case consent.SignInRegister:
		words = lang.X("signin.wants_register", "does not say how one signs in")
	case consent.SignInClient:
		words = lang.X("signin.wants_client", "can be signed in to only by a program that was registered by hand")
	}
	return []text.Run{{Text: b.c.item.Presentation.Server, Bold: true}, {Text: "  " + words}}
}

func (b *signInBody) rows() []fyne.CanvasObject {
	c, p := b.c, b.c.item.Presentation
	out := c.during()
	if b.phase == consent.SignInBrowser {
		if p.Message != "" {
			out = append(out, c.caption("◆ "+sentence.Worded(p.Message), theme.Waiting))
		}
		out = append(out, text.NewLabel(lang.X("signin.browser_means", "Steward goes on by itself when the browser comes back. If no page was opened, copy this address into the browser of this computer."), text.Run{}, text.Wrap))
		return append(out, newBox(theme.CodeGround, c.address(c.item.SignIn.URL)))
	}
	if p.Message != "" {
		v := c.view()
		v.SetText(sentence.Worded(p.Message), text.Run{})
		out = append(out, v)
	}
	if c.item.SignIn.More {
		out = append(out, c.caption("◆ "+lang.X("signin.more", "It wants more than you have granted it before, so you sign in again."), theme.Waiting))
	}
	if f := b.facts(); f != nil {
		out = append(out, f)
	}
	if w := c.warnings(p.Warnings); w != nil {
		out = append(out, w)
	}
	switch {
	case b.problem != nil:
		out = append(out, c.problem(b.problem))
	case b.form != nil:
		out = append(out, c.caption(lang.X("signin.register", "Register Steward there with this redirect address, then enter what you are given."), theme.Dim), b.form)
	case b.phase == consent.SignInRegister:
		out = append(out, c.caption(lang.X("signin.register_means", "Nothing has been sent there yet."), theme.Dim))
	default:
		out = append(out, newBox(theme.CodeGround, c.address(c.item.SignIn.URL)), c.caption(lang.X("elicitation.open_means", "It is opened in your browser, once, when you choose so. Nothing was opened yet."), theme.Dim))
	}
	return out
}

// facts are where one signs in and for what, a line each.
func (b *signInBody) facts() fyne.CanvasObject {
	c, p := b.c, b.c.item.Presentation
	var rows []fyne.CanvasObject
	add := func(name, value string) {
		if value == "" {
			return
		}
		v := c.view()
		v.SetRuns(append([]text.Run{{Text: name + "  ", Color: theme.Dim}}, marked(value, text.Run{Mono: true})...)...)
		rows = append(rows, v)
	}
	add(lang.X("signin.at", "Sign in at"), p.Issuer)
	add(lang.X("signin.for", "To use"), p.Resource)
	add(lang.X("signin.rights", "Rights asked for"), strings.Join(p.Scopes, "  "))
	add(lang.X("signin.redirect", "Redirect address"), p.Redirect)
	if rows == nil {
		return nil
	}
	return newBox(theme.Ground, rows...)
}

func (b *signInBody) buttons() (left, right []fyne.CanvasObject) {
	if b.phase == consent.SignInBrowser {
		return []fyne.CanvasObject{b.refuse}, nil
	}
	return []fyne.CanvasObject{b.refuse}, []fyne.CanvasObject{b.accept}
}

func (b *signInBody) first() *button { return b.refuse }

func (b *signInBody) escape() {
	action := consent.Decline
	if b.phase == consent.SignInBrowser {
		action = consent.Cancel
	}
	b.c.answer(consent.Answer{Action: action})
}

func (b *signInBody) submit() {
	if b.phase == consent.SignInBrowser {
		return
	}
	if !b.c.ready() || b.problem != nil {
		b.c.update()
		return
	}
	a := consent.Answer{Action: consent.Accept}
	if b.form != nil {
		if !b.form.Check() {
			b.c.resized()
			return
		}
		values := b.form.Values()
		a.ClientID, a.ClientSecret = plainText(values[clientID]), plainText(values[clientSecret])
	}
	b.c.answer(a)
}

// plainText is a JSON string without its quotes; no answer is none.
func plainText(v json.RawMessage) (s string) {
	if len(v) == 0 || json.Unmarshal(v, &s) != nil {
		return ""
	}
	return s
}

func (b *signInBody) update(now bool) {
	invalid := b.form != nil && len(b.form.Problems()) > 0
	b.accept.set(!now || b.problem != nil || invalid, false)
	b.refuse.set(b.c.busy, false)
}

// signInWords is what is left of a card after the person's answer.
func signInWords(phase string, a consent.Answer) string {
	switch {
	case phase == consent.SignInBrowser:
		return lang.X("signin.you_gave_up", "You gave up signing in.")
	case a.Action != consent.Accept:
		return lang.X("signin.you_refused", "You did not sign in. You can still do so under Servers.")
	case phase == consent.SignInRegister:
		return lang.X("signin.you_registered", "You let Steward register there.")
	case phase == consent.SignInClient:
		return lang.X("signin.you_named", "You entered the client.")
	}
	return lang.X("signin.you_opened", "You let the page for signing in be opened.")
}
