package headless

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"steward/app"
	"steward/app/consent"
	"steward/app/opener"
)

// callChoices offers what a call can be answered with. A grant for a conversation is none
// where the call belongs to none, and none at all where the tool's name is asked for each
// time.
func callChoices(item consent.Item) []choice {
	all := []choice{
		{"y", "yes", "allow this one call", true},
		{"c", "conversation", "allow this tool with any arguments in this conversation", true},
		{"a", "always", "always allow this tool, in every conversation", true},
		{"e", "edit", "edit the arguments, then send the edited call", false},
		{"n", "no", "deny", false},
		{"r", "reason", "deny and tell the model why", false},
	}
	switch {
	case item.Twice:
		return slices.Delete(all, 1, 3)
	case item.Conversation == "":
		return slices.Delete(all, 1, 2)
	}
	return all
}

// putCall asks until the call is allowed or denied. Whatever was begun and given up, the
// whole card stands on the screen again before anything can be allowed.
func (t *terminal) putCall(ctx context.Context, item consent.Item) (consent.Answer, error) {
	seen := false
	for {
		key, err := t.put(ctx, func(c *card) { callCard(c, item) }, offer{callQuestion(item), callChoices(item)}, &seen)
		if err != nil {
			return consent.Answer{Action: consent.Deny}, err
		}
		answer, ok, err := t.callAnswer(ctx, item, key)
		if err != nil {
			return consent.Answer{Action: consent.Deny}, err
		}
		if ok && item.Twice && answer.Action == consent.Allow {
			if answer.Typed, ok, err = t.typedName(ctx, item); err != nil {
				return consent.Answer{Action: consent.Deny}, err
			}
		}
		if ok {
			return answer, nil
		}
	}
}

// typedName asks for the name of a tool that is not allowed by one key.
func (t *terminal) typedName(ctx context.Context, item consent.Item) (name string, ok bool, err error) {
	name, err = t.decision(ctx, fmt.Sprintf("Type the tool's name, %s, to allow it: ", cutShort(item.Presentation.Tool, nameCharacters)))
	ok = err == nil && name == item.Call.Tool()
	if err == nil && !ok {
		t.print("That is not its name, so nothing was allowed.\n")
	}
	return name, ok, err
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
		return t.standing(ctx, consent.InConversation, fmt.Sprintf("From now on, %s runs in this conversation without asking, whatever the arguments, until its definition or the server's settings change.", callName(item)))
	case "a":
		return t.standing(ctx, consent.Always, fmt.Sprintf("From now on, %s runs in every conversation without asking, whatever the arguments, until its definition or the server's settings change or you take this back (steward servers trust SERVER --revoke-grants).", callName(item)))
	default:
		return t.editCall(ctx, item)
	}
}

// standing confirms a grant.
func (t *terminal) standing(ctx context.Context, scope, sentence string) (consent.Answer, bool, error) {
	yes, err := t.confirmWord(ctx, sentence)
	if err == nil && !yes {
		t.print("That is not the word yes, so nothing was allowed.\n")
	}
	return consent.Answer{Action: consent.Allow, Scope: scope}, yes, err
}

func (t *terminal) putElicitation(ctx context.Context, item consent.Item) (consent.Answer, error) {
	if item.Elicitation != nil && item.Elicitation.Mode == "url" {
		return t.putURL(ctx, item)
	}
	if item.Elicitation != nil && item.Elicitation.Mode == consent.ModeDone {
		return t.putDone(ctx, item)
	}
	seen := false
	key, err := t.put(ctx, func(c *card) { elicitationCard(c, item) }, offer{choices: []choice{
		{"y", "yes", "answer it", false},
		{"n", "no", "decline", false},
		{"x", "cancel", "cancel", false},
	}}, &seen)
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
	seen, choices := false, []choice{{"n", "no", "decline", false}, {"x", "cancel", "cancel", false}}
	_, problem := opener.Check(item.Elicitation.URL)
	if problem == nil {
		choices = append([]choice{{"o", "open", "open this address in the browser", true}, {"c", "copy", "agree, but open it yourself", true}}, choices...)
	}
	key, err := t.put(ctx, func(c *card) {
		elicitationCard(c, item)
		if problem != nil {
			c.line("  ", "This address will not be opened: "+sentence(problem))
		}
	}, offer{choices: choices}, &seen)
	switch {
	case err != nil || key == "x":
		return consent.Answer{Action: consent.Cancel}, err
	case key == "n":
		return consent.Answer{Action: consent.Decline}, nil
	}
	return consent.Answer{Action: consent.Accept, Elsewhere: key == "c"}, nil
}

// putDone waits for what the person does in the browser.
func (t *terminal) putDone(ctx context.Context, item consent.Item) (consent.Answer, error) {
	seen := false
	key, err := t.put(ctx, func(c *card) { elicitationCard(c, item) }, offer{choices: []choice{
		{"y", "yes", "it is done: ask the server again", false},
		{"x", "cancel", "give it up", false},
	}}, &seen)
	if err != nil || key != "y" {
		return consent.Answer{Action: consent.Cancel}, err
	}
	return consent.Answer{Action: consent.Accept}, nil
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
		seen := false
		key, err := t.put(ctx, func(c *card) {
			c.printf("\nThis would be sent to %s:\n", cutShort(item.Presentation.Server, nameCharacters))
			c.value("  ", "This would be sent", shown, plain)
		}, offer{choices: []choice{
			{"y", "yes", "send it", true},
			{"e", "edit", "fill it in again", false},
			{"n", "no", "decline", false},
			{"x", "cancel", "cancel", false},
		}}, &seen)
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
	c := t.newCard()
	c.printf("\n")
	c.value("  ", f.Title, f.Title+" ("+f.Kind+f.Limits+")", bold)
	c.value("    ", f.Title, f.Description, dim)
	options := make([]string, len(f.Options))
	for i, o := range f.Options {
		options[i] = fmt.Sprintf("%d  %s", i+1, o)
	}
	c.list("    ", "Choices", options, plain)
	hint := "Enter leaves it out"
	switch {
	case f.Current != "":
		hint = "Enter keeps " + f.Current
	case f.Required:
		hint = "required"
	}
	ask := t.ask
	if f.Secret {
		c.line("    ! ", "This looks like a secret. A server must not ask for passwords or keys in a form.")
		ask = t.askHidden
	}
	t.card = c.b.String()
	t.print(t.card)
	if len(c.folded) > 0 {
		if _, err := t.page(ctx, c.folded); err != nil {
			return err
		}
	}
	for {
		s, err := ask(ctx, "  ["+hint+"] > ")
		if err != nil {
			return err
		}
		if s == "" && f.Needed() {
			done, err := t.leaveEmpty(ctx, form, f)
			if err != nil || done {
				return err
			}
			continue
		}
		if err := form.Set(f.Name, s); err != nil {
			t.print("    " + sentence(err) + "\n")
			continue
		}
		return nil
	}
}

// leaveEmpty asks whether Enter meant an empty text, where the server would take one.
func (t *terminal) leaveEmpty(ctx context.Context, form *app.Form, f app.FormField) (bool, error) {
	t.print("    This one is needed.\n")
	if !f.MayBeEmpty {
		return false, nil
	}
	s, err := t.decision(ctx, "    Send an empty text? y or n, then Enter: ")
	if err != nil || !strings.EqualFold(s, "y") && !strings.EqualFold(s, "yes") {
		return false, err
	}
	return true, form.SetEmpty(f.Name)
}

func (t *terminal) putSampling(ctx context.Context, item consent.Item) (consent.Answer, error) {
	edit, what := "replace the system prompt, then send", "System prompt"
	if item.Kind == consent.KindSamplingAnswer {
		edit, what = "replace the text, then send", "Text"
	}
	seen := false
	key, err := t.put(ctx, func(c *card) { samplingCard(c, item) }, offer{choices: []choice{
		{"y", "yes", "send it", true},
		{"e", "edit", edit, item.Kind != consent.KindSamplingAnswer}, // the messages go as they are
		{"n", "no", "deny", false},
	}}, &seen)
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
	if item.Kind == consent.KindElicitation || item.Kind == consent.KindSignIn {
		return consent.Answer{Action: consent.Cancel}
	}
	return consent.Answer{Action: consent.Deny}
}
