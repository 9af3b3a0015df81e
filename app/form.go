package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"steward/app/clean"
	"steward/app/consent"
	"steward/mcphost/schema"
)

// reveal shows text that will be sent or written: nothing dropped, everything odd visible.
func reveal(s string) string { return clean.Reveal(s) }

// Form is a server's question while a person answers it. It is used by one goroutine.
type Form struct {
	form   schema.Form
	values map[string]json.RawMessage
	typed  map[string]bool // set by the person
}

// FormField is one field as it is shown; all its text is safe to show.
type FormField struct {
	Name        string // key for Set
	Title       string
	Description string
	Kind        string
	Limits      string   // ", required", ", 0 to 10", …
	Options     []string // of a choice
	Current     string   // what Enter keeps; "" where there is nothing to keep
	Required    bool
	Secret      bool
	MayBeEmpty  bool // an empty text would be a valid answer
}

// Needed says whether nothing is no answer: the field is required and holds nothing yet.
func (f FormField) Needed() bool { return f.Required && f.Current == "" }

// NewForm reads the form of an item that waits. Its values begin with the server's
// defaults.
func NewForm(item consent.Item) (*Form, error) {
	if item.Elicitation == nil {
		return nil, &Message{Key: "form", Args: args("detail", "This is no form.")}
	}
	f, err := schema.ParseForm(item.Elicitation.Schema)
	if err != nil {
		return nil, &Message{Key: "form", Args: args("detail", "The form cannot be shown: "+err.Error()), Err: err}
	}
	return &Form{form: f, values: maps.Clone(f.Defaults()), typed: map[string]bool{}}, nil
}

// Fields returns the fields in the server's order with what they hold now.
func (f *Form) Fields() []FormField {
	out := make([]FormField, len(f.form.Fields))
	for i, s := range f.form.Fields {
		out[i] = FormField{
			Name: s.Name, Title: clean.Line(s.Title, 300), Description: clean.Clean(s.Description), Kind: kindWords(s), Limits: limitWords(s),
			Required: s.Required, Secret: s.Secret, Current: f.current(s), MayBeEmpty: mayBeEmpty(s),
		}
		if s.Title != s.Name {
			out[i].Title += " [" + reveal(s.Name) + "]"
		}
		for _, o := range s.Options {
			out[i].Options = append(out[i].Options, optionWords(o))
		}
	}
	return out
}

func (f *Form) current(s schema.Field) string {
	v, ok := f.values[s.Name]
	if !ok {
		return ""
	}
	if s.Secret && f.typed[s.Name] { // a default is the server's own text and no secret of the person's
		return "what was typed"
	}
	for _, o := range s.Options {
		if string(o.Value) == string(v) {
			return optionWords(o)
		}
	}
	return reveal(string(v))
}

func optionWords(o schema.Option) string {
	value := reveal(string(o.Value))
	if title := clean.Line(o.Title, 300); title != "" && title != strings.Trim(value, `"`) {
		return title + " (" + value + ")"
	}
	return value
}

func kindWords(s schema.Field) string {
	switch s.Kind {
	case schema.Boolean:
		return "yes or no"
	case schema.Choice:
		return "one of these"
	case schema.Choices:
		return "any of these, with commas between"
	case schema.List:
		return "a list, with commas between"
	case schema.Integer:
		return "whole number"
	}
	if s.Format != "" {
		return clean.Line(s.Format, 40)
	}
	return string(s.Kind)
}

func limitWords(s schema.Field) string {
	var b strings.Builder
	bound := func(words, value string) {
		if value != "" {
			fmt.Fprintf(&b, ", %s %s", words, clean.Line(value, 60))
		}
	}
	bound("at least", s.Minimum.String())
	bound("more than", s.ExclusiveMinimum.String())
	bound("at most", s.Maximum.String())
	bound("less than", s.ExclusiveMaximum.String())
	bound("a multiple of", s.MultipleOf.String())
	if s.MinLength > 0 {
		fmt.Fprintf(&b, ", at least %d characters", s.MinLength)
	}
	if s.MaxLength >= 0 && s.Kind == schema.Text {
		fmt.Fprintf(&b, ", at most %d characters", s.MaxLength)
	}
	bound("pattern", s.Pattern)
	if s.Required {
		b.WriteString(", required")
	}
	return b.String()
}

// Set takes what a person typed for a field. Empty text keeps what the field holds, or
// leaves an optional field out. The number of an option stands for it. The error is a
// sentence to show beside the field, which then keeps its value.
func (f *Form) Set(name, text string) error {
	for i := range f.form.Fields {
		s := &f.form.Fields[i]
		if s.Name != name {
			continue
		}
		_, has := f.values[name]
		if text == "" {
			if has || !s.Required {
				return nil
			}
			return &Message{Key: "field", Args: args("detail", "This one is needed.")}
		}
		v, err := s.Parse(text)
		if err != nil {
			if byNumber := optionByNumber(s, text); byNumber != nil {
				v, err = byNumber, nil
			}
		}
		if err != nil {
			return &Message{Key: "field", Args: args("detail", err.Error()), Err: err}
		}
		f.values[name], f.typed[name] = v, true
		return nil
	}
	return &Message{Key: "field", Args: args("detail", "The form has no such field.")}
}

// SetEmpty gives a field the empty text, which Set takes for no answer.
func (f *Form) SetEmpty(name string) error {
	for _, s := range f.form.Fields {
		if s.Name == name && mayBeEmpty(s) {
			f.values[name], f.typed[name] = json.RawMessage(`""`), true
			return nil
		}
	}
	return &Message{Key: "field", Args: args("detail", "This field cannot be empty.")}
}

func mayBeEmpty(s schema.Field) bool {
	return s.Kind == schema.Text && s.MinLength == 0 && s.Format == "" && s.Pattern == ""
}

func optionByNumber(s *schema.Field, text string) json.RawMessage {
	if s.Kind != schema.Choice {
		return nil
	}
	for i, o := range s.Options {
		if fmt.Sprint(i+1) == strings.TrimSpace(text) {
			return o.Value
		}
	}
	return nil
}

// Problems says what keeps the answers from being sent; none where they may be.
func (f *Form) Problems() []string {
	var out []string
	for _, v := range f.form.Check(f.values) {
		out = append(out, clean.Clean(v.String()))
	}
	return out
}

// Content is the exact answer that would be sent, and the text that shows it.
func (f *Form) Content() (content json.RawMessage, shown string) {
	content = f.form.Encode(f.values)
	return content, reveal(string(content))
}
