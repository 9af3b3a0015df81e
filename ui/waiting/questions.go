package waiting

import (
	"encoding/json"
	"errors"
	"strings"

	"steward/app"
	"steward/app/clean"
	"steward/app/consent"
	"steward/ui/form"
	"steward/ui/sentence"
)

// Kinds of consent.Field that need more than their name.
const (
	kindList    = "list"    // free items; typed with commas between
	kindChoices = "choices" // any of the options
	kindChoice  = "choice"
)

// questions are the fields of a server's form, in the server's order.
func questions(item consent.Item) ([]form.Field, error) {
	described, err := app.NewForm(item)
	if err != nil {
		return nil, err
	}
	defaults := item.Defaults()
	shown := described.Fields()
	var out []form.Field
	for i, p := range item.Presentation.Fields {
		f := form.Field{
			Name: p.Name, Title: p.Title, Description: p.Description, Required: p.Required, LooksSecret: p.Secret,
			Default: defaults[p.Name],
		}
		f.Kind = kindOf(p, shown[i].Kind)
		switch p.Kind {
		case kindChoice, kindChoices:
			for k := range p.Options {
				f.Choices = append(f.Choices, option(item, p, k))
			}
		case kindList:
			if f.Default != nil { // shown as it is typed: a JSON list is understood as well
				f.Default = quoted(string(f.Default))
			}
		}
		if p.Kind != kindChoice && f.Kind != form.Boolean && f.Kind != form.Date && f.Kind != form.DateTime {
			f.Check = check(item, p.Name)
		}
		out = append(out, f)
	}
	return out, nil
}

func kindOf(p consent.Field, described string) form.Kind {
	switch p.Kind {
	case "integer":
		return form.Integer
	case "number":
		return form.Number
	case "boolean":
		return form.Boolean
	case kindChoice:
		return form.Choice
	case kindChoices:
		return form.Choices
	}
	switch {
	case p.Secret:
		return form.Secret
	case described == "date":
		return form.Date
	case described == "date-time":
		return form.DateTime
	}
	return form.String
}

// check is the form's own word on an answer. Complaints of servers' patterns hold foreign text.
func check(item consent.Item, name string) func(string) error {
	return func(text string) error {
		if _, err := item.Parse(name, text); err != nil {
			return errors.New(clean.Line(sentence.Worded(err.Error()), 300))
		}
		return nil
	}
}

// option is one choice, with its exact value.
func option(item consent.Item, p consent.Field, k int) form.Option {
	plain, err := clean.Unreveal(p.Options[k])
	if err != nil {
		plain = p.Options[k]
	}
	value := quoted(plain)
	if p.Kind == kindChoice {
		if v, err := item.Parse(p.Name, plain); err == nil {
			value = v
		}
	}
	title := p.Titles[k]
	switch {
	case title == "":
		title = p.Options[k]
	case title != p.Options[k]:
		title += " (" + p.Options[k] + ")"
	}
	return form.Option{Value: value, Title: title}
}

// quoted is a text as a JSON string, every character as it is.
func quoted(s string) json.RawMessage {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // never: a string has a JSON form
		return json.RawMessage(`""`)
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}

// content is the answer that the form holds now, as the server gets it.
func content(item consent.Item, values map[string]json.RawMessage) (json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(values))
	for _, p := range item.Presentation.Fields {
		v, ok := values[p.Name]
		if !ok {
			continue
		}
		if p.Kind == kindList {
			var typed string
			if err := json.Unmarshal(v, &typed); err != nil {
				return nil, err
			}
			var err error
			if v, err = item.Parse(p.Name, typed); err != nil {
				return nil, err
			}
		}
		out[p.Name] = v
	}
	data, err := json.Marshal(out)
	return data, err
}

// revealLines and unrevealLines keep real line ends in a text that is edited over several lines.
func revealLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = clean.Reveal(lines[i])
	}
	return strings.Join(lines, "\n")
}

func unrevealLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		plain, err := clean.Unreveal(lines[i])
		if err != nil {
			plain = lines[i] // typed by the person, who may write ⟨ as well as anything else
		}
		lines[i] = plain
	}
	return strings.Join(lines, "\n")
}
