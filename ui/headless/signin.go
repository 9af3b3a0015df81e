package headless

import (
	"context"
	"fmt"
	"strings"

	"steward/app/consent"
)

func (t *terminal) putSignIn(ctx context.Context, item consent.Item) (consent.Answer, error) {
	switch item.SignIn.Phase {
	case consent.SignInBrowser:
		return t.putBrowser(ctx, item)
	case consent.SignInClient:
		return t.putClient(ctx, item)
	}
	seen, yes, put := false, "open this page in the browser", signInCard
	if item.SignIn.Phase == consent.SignInRegister {
		yes, put = "register Steward there", registerCard
	}
	key, err := t.put(ctx, func(c *card) { put(c, item) }, offer{choices: []choice{
		{"y", "yes", yes, true},
		{"n", "no", "do not sign in", false},
	}}, &seen)
	switch {
	case err != nil:
		return consent.Answer{Action: consent.Cancel}, err
	case key == "n":
		return consent.Answer{Action: consent.Decline}, nil
	}
	return consent.Answer{Action: consent.Accept}, nil
}

func signInCard(c *card, item consent.Item) {
	p := item.Presentation
	c.rule()
	words := "wants you to sign in"
	if item.SignIn.More {
		words = "wants more than you have granted it: you would sign in again"
	}
	c.line("", fmt.Sprintf("The server %s %s%s", cutShort(p.Server, nameCharacters), words, whose(item)))
	c.printf("\n")
	c.value("  At      ", "Where you would sign in", p.Issuer, bold)
	c.value("  For     ", "What it is for", p.Resource, plain)
	c.value("  Rights  ", "What it would be allowed", strings.Join(p.Scopes, ", "), plain)
	c.printf("\n")
	c.line("", "  This page would be opened in your browser:")
	c.value("    ", "The page", p.URL, plain)
	c.value("  Host: ", "Its host", p.Host, bold)
	c.warnings(p.Warnings)
}

// registerCard asks whether to introduce this program where nothing says that one can.
func registerCard(c *card, item consent.Item) {
	p := item.Presentation
	c.rule()
	c.line("", fmt.Sprintf("The server %s wants a sign-in%s", cutShort(p.Server, nameCharacters), whose(item)))
	c.printf("\n")
	c.value("  ", "Why you are asked", p.Message, plain)
	c.value("  At      ", "Where Steward would register", p.Issuer, bold)
	c.value("  For     ", "What it is for", p.Resource, plain)
	c.line("", "  Nothing has been sent there yet.")
	c.warnings(p.Warnings)
}

// putBrowser stands while the browser has not come back; there is one way out of it.
func (t *terminal) putBrowser(ctx context.Context, item consent.Item) (consent.Answer, error) {
	p := item.Presentation
	_, err := t.put(ctx, func(c *card) {
		c.rule()
		if p.Message != "" {
			c.line("", p.Message)
		}
		c.line("", fmt.Sprintf("Waiting until you have signed in to %s in the browser. Where no page was opened, open this one yourself, on this computer:", cutShort(p.Server, nameCharacters)))
		c.printf("    %s\n", p.URL)
	}, offer{choices: []choice{{"x", "cancel", "give up signing in", false}, {"n", "no", "the same", false}}}, new(bool))
	return consent.Answer{Action: consent.Cancel}, err
}

// putClient asks for what a person was given by the authorization server.
func (t *terminal) putClient(ctx context.Context, item consent.Item) (consent.Answer, error) {
	p := item.Presentation
	key, err := t.put(ctx, func(c *card) {
		c.rule()
		c.line("", fmt.Sprintf("To sign in to %s, this program must be registered by hand", cutShort(p.Server, nameCharacters)))
		c.printf("\n")
		c.value("  ", "Why", p.Message, plain)
		c.value("  Register it at       ", "Where", p.Issuer, bold)
		c.value("  With this redirect:  ", "The redirect", p.Redirect, bold)
		c.line("", "  You then get a client id, and perhaps a secret.")
		c.warnings(p.Warnings)
	}, offer{choices: []choice{
		{"y", "yes", "enter them", false},
		{"n", "no", "do not sign in", false},
	}}, new(bool))
	switch {
	case err != nil:
		return consent.Answer{Action: consent.Cancel}, err
	case key == "n":
		return consent.Answer{Action: consent.Decline}, nil
	}
	a := consent.Answer{Action: consent.Accept}
	for a.ClientID == "" {
		if a.ClientID, err = t.ask(ctx, "  Client id: "); err != nil {
			return consent.Answer{Action: consent.Cancel}, err
		}
	}
	if a.ClientSecret, err = t.askHidden(ctx, "  Secret, or Enter where there is none (it is not shown): "); err != nil {
		return consent.Answer{Action: consent.Cancel}, err
	}
	return a, nil
}

// over says that an item has gone while it stood on the screen.
func over(item consent.Item, why string) string {
	if item.Kind == consent.KindSignIn && item.SignIn.Phase == consent.SignInBrowser {
		if why != "" {
			return why + "\n"
		}
		return "The browser is not waited for any more.\n"
	}
	return "This no longer waits for an answer; nothing was decided.\n"
}
