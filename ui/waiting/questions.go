package waiting

import (
	"encoding/json"
	"errors"
	"strings"

	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/app/consent"
	"steward/ui/form"
	"steward/ui/sentence"
)

// Kinds of consent.Field that need more than their name.
const (
	kindList    = "list"    // free entries
	kindChoices = "choices" // any of the options
	kindChoice  = "choice"

	longText = 300 // characters from which a text gets several lines
)

// questions are the fields of a server's form, in the server's order.
func questions(item consent.Item) ([]form.Field, error) {
	if _, err := app.NewForm(item); err != nil {
		return nil, err
	}
	defaults := item.Defaults()
	var out []form.Field
	for _, p := range item.Presentation.Fields {
		f := form.Field{
			Name: p.Name, Title: p.Title, Description: p.Description, Required: p.Required, Nullable: p.Nullable, LooksSecret: p.Secret,
			Default: defaults[p.Name], Min: p.Minimum, Max: p.Maximum, MinItems: p.MinItems, MaxItems: p.MaxItems,
		}
		f.Kind = kindOf(p, f.Default)
		switch p.Kind {
		case kindChoice, kindChoices:
			for k := range p.Options {
				f.Choices = append(f.Choices, option(item, p, k))
			}
		case kindList:
			f.Entry = form.String
			if p.Item == "number" || p.Item == "integer" {
				f.Entry = form.Kind(p.Item)
			}
		case "text":
			if f.Kind != form.Date && f.Kind != form.DateTime {
				f.MinLength, f.MaxLength = p.MinLength, p.MaxLength
			}
		}
		switch f.Kind {
		case form.String:
			f.Placeholder = shape(p.Format)
		case form.Choice, form.Boolean, form.Date, form.DateTime:
			out = append(out, f)
			continue
		}
		f.Check = check(item, p.Name)
		out = append(out, f)
	}
	return out, nil
}

// shape is an example of a format.
func shape(format string) string {
	switch format {
	case "email":
		return lang.X("form.email_shape", "name@example.com")
	case "uri":
		return lang.X("form.uri_shape", "https://example.com/")
	}
	return ""
}

func kindOf(p consent.Field, suggested json.RawMessage) form.Kind {
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
	case kindList:
		return form.List
	}
	switch {
	case p.Secret:
		return form.Secret
	case p.Format == "date":
		return form.Date
	case p.Format == "date-time":
		return form.DateTime
	case p.Format == "email", p.Format == "uri":
		return form.String
	case p.MaxLength >= longText, strings.Contains(string(suggested), `\n`):
		return form.Text
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
