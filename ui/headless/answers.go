package headless

import (
	"context"
	"fmt"
	"os"
	"strings"

	"steward/app"
	"steward/app/config"
	"steward/app/consent"
	"steward/app/opener"
)

// put asks the person one item and returns the answer. ctx ends when the item has gone.
// io.EOF is an answer too: the careful one of the item's kind.
func (t *terminal) put(ctx context.Context, item consent.Item) (consent.Answer, error) {
	switch item.Kind {
	case consent.KindElicitation:
		return t.putElicitation(ctx, item)
	case consent.KindSampling, consent.KindSamplingAnswer:
		return t.putSampling(ctx, item)
	default:
		return t.putCall(ctx, item)
	}
}

// callChoices offers what a call can be answered with. A grant for a conversation is none
// where the call belongs to none.
func callChoices(item consent.Item) (text, prompt string, keys map[string]string) {
	text, prompt = callText, "y, c, a, e, n or r, then Enter: "
	keys = map[string]string{"y": "yes", "c": "conversation", "a": "always", "e": "edit", "n": "no", "r": "reason"}
	if item.Conversation == "" {
		text, prompt = strings.Replace(text, conversationChoice, "", 1), "y, a, e, n or r, then Enter: "
		delete(keys, "c")
	}
	return text, prompt, keys
}

const conversationChoice = "  c  allow this tool with any arguments in this conversation\n"

const callText = `
  y  allow this one call
` + conversationChoice + `  a  always allow this tool, in every conversation
  e  edit the arguments, then send the edited call
  n  deny
  r  deny and tell the model why
`

func (t *terminal) putCall(ctx context.Context, item consent.Item) (consent.Answer, error) {
	text, prompt, keys := callChoices(item)
	t.print(callCard(item) + text)
	if err := t.settleDown(ctx); err != nil {
		return consent.Answer{}, err
	}
	for {
		key, err := t.choose(ctx, prompt, keys)
		if err != nil {
			return consent.Answer{Action: consent.Deny}, err
		}
		answer, ok, err := t.callAnswer(ctx, item, key)
		if err != nil {
			return consent.Answer{Action: consent.Deny}, err
		}
		if ok {
			return answer, nil
		}
	}
}

// callAnswer completes the answer that key begins; ok is false where the person thought
// better of it.
func (t *terminal) callAnswer(ctx context.Context, item consent.Item, key string) (a consent.Answer, ok bool, err error) {
	switch key {
	case "y":
		return consent.Answer{Action: consent.Allow, Scope: consent.Once}, true, nil
	case "n":
		return consent.Answer{Action: consent.Deny}, true, nil
	case "r":
		reason, err := t.ask(ctx, "Why not? The model reads this: ")
		return consent.Answer{Action: consent.Deny, Reason: reason}, true, err
	case "c":
		yes, err := t.confirm(ctx, fmt.Sprintf("From now on, %s on %s runs in this conversation without asking, whatever the arguments, until its definition or the server's settings change.", item.Presentation.Tool, item.Presentation.Server))
		return consent.Answer{Action: consent.Allow, Scope: consent.InConversation}, yes, err
	case "a":
		yes, err := t.confirm(ctx, fmt.Sprintf("From now on, %s on %s runs in every conversation without asking, whatever the arguments, until its definition or the server's settings change or you take this back (steward servers trust SERVER --revoke-grants).", item.Presentation.Tool, item.Presentation.Server))
		return consent.Answer{Action: consent.Allow, Scope: consent.Always}, yes, err
	default:
		return t.editCall(ctx, item)
	}
}

func (t *terminal) confirm(ctx context.Context, sentence string) (bool, error) {
	s, err := t.ask(ctx, sentence+"\nType yes to confirm: ")
	return strings.EqualFold(s, "yes"), err
}

// editCall reads new arguments. What will be sent is shown once more before it counts.
func (t *terminal) editCall(ctx context.Context, item consent.Item) (consent.Answer, bool, error) {
	s, err := t.ask(ctx, "New arguments as one line of JSON, or @FILE to read them from a file; an empty line keeps the old ones:\n")
	if err != nil || s == "" {
		return consent.Answer{}, false, err
	}
	if name, file := strings.CutPrefix(s, "@"); file {
		data, err := os.ReadFile(name)
		if err != nil {
			t.print(sentence(config.Unreadable("the file", name, err)) + "\n")
			return consent.Answer{}, false, nil
		}
		s = string(data)
	}
	exact, shown, err := app.EditedArguments(item, s)
	if err != nil {
		t.print(sentence(err) + "\n")
		return consent.Answer{}, false, nil
	}
	t.print("Instead this would be sent:\n" + shown + "\n")
	yes, err := t.confirm(ctx, "The call is then sent with these arguments; the record keeps both.")
	return consent.Answer{Action: consent.Allow, Scope: consent.Once, Arguments: exact}, yes, err
}

func (t *terminal) putElicitation(ctx context.Context, item consent.Item) (consent.Answer, error) {
	t.print(elicitationCard(item))
	if err := t.settleDown(ctx); err != nil {
		return consent.Answer{}, err
	}
	if item.Elicitation != nil && item.Elicitation.Mode == "url" {
		return t.putURL(ctx, item)
	}
	key, err := t.choose(ctx, "\n  y  answer it\n  n  decline\n  x  cancel\ny, n or x, then Enter: ", map[string]string{"y": "yes", "n": "no", "x": "cancel"})
	if err != nil {
		return consent.Answer{Action: consent.Cancel}, err
	}
	switch key {
	case "n":
		return consent.Answer{Action: consent.Decline}, nil
	case "x":
		return consent.Answer{Action: consent.Cancel}, nil
	}
	return t.fillForm(ctx, item)
}

func (t *terminal) putURL(ctx context.Context, item consent.Item) (consent.Answer, error) {
	decline := consent.Answer{Action: consent.Decline}
	if _, err := opener.Check(item.Elicitation.URL); err != nil {
		t.print("  This address will not be opened: " + sentence(err) + "\n")
		key, err := t.choose(ctx, "\n  n  decline\n  x  cancel\nn or x, then Enter: ", map[string]string{"n": "no", "x": "cancel"})
		if err != nil || key == "x" {
			return consent.Answer{Action: consent.Cancel}, err
		}
		return decline, nil
	}
	key, err := t.choose(ctx, "\n  o  open this address in the browser\n  c  agree, but open it yourself\n  n  decline\n  x  cancel\no, c, n or x, then Enter: ",
		map[string]string{"o": "open", "c": "copy", "n": "no", "x": "cancel"})
	switch {
	case err != nil || key == "x":
		return consent.Answer{Action: consent.Cancel}, err
	case key == "n":
		return decline, nil
	}
	return consent.Answer{Action: consent.Accept, Elsewhere: key == "c"}, nil
}

// fillForm goes through the fields in the server's order. A value is checked as soon as
// it is typed; what would be sent is shown as a whole before it is.
func (t *terminal) fillForm(ctx context.Context, item consent.Item) (consent.Answer, error) {
	form, err := app.NewForm(item)
	if err != nil {
		t.print("  " + sentence(err) + "\n")
		return consent.Answer{Action: consent.Cancel}, nil
	}
	for {
		for _, f := range form.Fields() {
			if err := t.fillField(ctx, form, f); err != nil {
				return consent.Answer{Action: consent.Cancel}, err
			}
		}
		if problems := form.Problems(); len(problems) > 0 {
			t.print("  " + strings.Join(problems, "\n  ") + "\n")
			continue
		}
		content, shown := form.Content()
		key, err := t.choose(ctx, "\nThis would be sent:\n  "+shown+"\n\n  y  send it\n  e  fill it in again\n  n  decline\n  x  cancel\ny, e, n or x, then Enter: ",
			map[string]string{"y": "yes", "e": "edit", "n": "no", "x": "cancel"})
		switch {
		case err != nil || key == "x":
			return consent.Answer{Action: consent.Cancel}, err
		case key == "n":
			return consent.Answer{Action: consent.Decline}, nil
		case key == "y":
			return consent.Answer{Action: consent.Accept, Content: content}, nil
		}
	}
}

func (t *terminal) fillField(ctx context.Context, form *app.Form, f app.FormField) error {
	var b strings.Builder
	b.WriteString("\n")
	indent(&b, "  ", f.Title+" ("+f.Kind+f.Limits+")")
	indent(&b, "    ", f.Description)
	for i, o := range f.Options {
		indent(&b, "    ", fmt.Sprintf("%d  %s", i+1, o))
	}
	hint := "Enter leaves it out"
	switch {
	case f.Current != "":
		hint = "Enter keeps " + f.Current
	case f.Required:
		hint = "required"
	}
	if f.Secret {
		b.WriteString("    ! This looks like a secret. A server must not ask for passwords or keys in a form.\n")
	}
	t.print(b.String())
	ask := t.ask
	if f.Secret {
		ask = t.askHidden
	}
	for {
		s, err := ask(ctx, "  ["+hint+"] > ")
		if err != nil {
			return err
		}
		if err := form.Set(f.Name, s); err != nil {
			t.print("    " + sentence(err) + "\n")
			continue
		}
		return nil
	}
}

func (t *terminal) putSampling(ctx context.Context, item consent.Item) (consent.Answer, error) {
	t.print(samplingCard(item))
	if err := t.settleDown(ctx); err != nil {
		return consent.Answer{}, err
	}
	edit, what := "  e  replace the system prompt, then send\n", "System prompt"
	if item.Kind == consent.KindSamplingAnswer {
		edit, what = "  e  replace the text, then send\n", "Text"
	}
	key, err := t.choose(ctx, "\n  y  send it\n"+edit+"  n  deny\ny, e or n, then Enter: ", map[string]string{"y": "yes", "e": "edit", "n": "no"})
	if err != nil || key == "n" {
		return consent.Answer{Action: consent.Deny}, err
	}
	answer := consent.Answer{Action: consent.Send}
	if key == "e" {
		text, err := t.readText(ctx, what)
		if err != nil {
			return consent.Answer{Action: consent.Deny}, err
		}
		if item.Kind == consent.KindSamplingAnswer {
			answer.Text = &text
		} else {
			answer.System = &text
		}
	}
	return answer, nil
}

// readText reads several lines, ended by one that holds a full stop alone.
func (t *terminal) readText(ctx context.Context, what string) (string, error) {
	var lines []string
	prompt := what + "; a line with only a full stop ends it:\n"
	for {
		s, err := t.askLine(ctx, prompt)
		if err != nil {
			return "", err
		}
		if s == "." {
			return strings.Join(lines, "\n"), nil
		}
		lines, prompt = append(lines, s), ""
	}
}

// careful is the answer where nobody can be asked (any more).
func careful(item consent.Item) consent.Answer {
	if item.Kind == consent.KindElicitation {
		return consent.Answer{Action: consent.Cancel}
	}
	return consent.Answer{Action: consent.Deny}
}
