package consent

import (
	"context"
	"errors"
	"fmt"

	"steward/app/clean"
	"steward/app/opener"
	"steward/mcphost"
)

// ModeDone is the mode of an Elicitation of our own: whether what the person agreed to do in
// the browser is done, so that the server can be asked again. Accept says that it is; with
// decline or cancel the server's refusal stands.
const ModeDone = mcphost.ModeDone

// pageDone waits until the person says that a page is done, or the server does. It opens
// nothing and sends nothing, so it has no record of its own: the yes to the page has one, and
// so has the further round of the call.
func (g *Gate) pageDone(ctx context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
	cancel := mcphost.ElicitAnswer{Action: Cancel}
	switch g.o.Policy.Elicit {
	case Decline, Cancel, Defaults: // nobody is there who could say so
		return cancel, nil
	}
	o := g.origin(e.Server, e.Calls)
	shown, err := opener.Check(e.URL)
	if err != nil {
		return cancel, fmt.Errorf("%w: the address cannot be shown: %w", ErrUnanswerable, err)
	}
	item := Item{
		ID: newID("e_"), Kind: KindElicitation, Hash: hashOf("done", e.Server, e.Message, e.URL), Conversation: o.conversation, Server: o.server,
		Record: o.parent, Since: g.o.Now(), Running: o.running,
		Elicitation: &Elicitation{Mode: ModeDone, Message: e.Message, URL: e.URL},
		Presentation: Presentation{
			Title: fmt.Sprintf("%s waits until you are done", clean.Reveal(o.server)), Server: clean.Reveal(o.server), Tool: clean.Reveal(o.tool),
			Message: clean.Clean(g.o.Redact(cut(e.Message, maxMessage))), URL: shown.URL, Host: shown.Host,
		},
	}
	a, d := g.wait(ctx, o, &item, func(a Answer) error {
		switch a.Action {
		case Accept, Decline, Cancel, Deny:
			return nil
		}
		return fmt.Errorf("it can be done or given up, not %q", a.Action)
	})
	if d.word == "" && a.Action == Accept {
		return mcphost.ElicitAnswer{Action: Accept}, nil
	}
	return cancel, nil
}

// finished tells whether a question has ended because the server says that it is done.
func finished(ctx context.Context) bool { return errors.Is(context.Cause(ctx), mcphost.ErrFinished) }
