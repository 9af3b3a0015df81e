package form

import (
	"encoding/json"
	"strings"
)

// answer is what a person has given for one field so far.
type answer struct {
	field   *Field
	text    string // what was typed, or the JSON of what was chosen; "" is no answer
	touched bool   // changed by the person
	left    bool   // the person was in it and went on: from now on complaints are shown at once
	outside string // a complaint from elsewhere, until the answer changes

	kept json.RawMessage // a value too long for a control; sent as it is
}

// reset goes back to the field's default.
func (a *answer) reset() {
	*a = answer{field: a.field}
	if a.field.Default != nil {
		a.put(a.field.Default)
	}
}

// put fills a value in. A value that is none of the field's is not taken.
func (a *answer) put(value json.RawMessage) bool {
	if a.field.Nullable && string(value) == "null" {
		a.text, a.kept, a.outside = "", nil, ""
		return true
	}
	text, ok := a.field.shown(value)
	if !ok {
		return false
	}
	a.text, a.kept, a.outside = text, nil, ""
	if len(text) > MaxText && a.field.typed() && a.field.Kind != List {
		a.text, a.kept = "", value
	}
	return true
}

// typed says whether the field is filled in by typing.
func (f *Field) typed() bool { return f.Kind != Choice && f.Kind != Choices && f.Kind != Boolean }

// empty says whether there is no answer. An empty array of choices is none either, unless the field has to be there.
func (a *answer) empty() bool {
	if a.kept != nil {
		return false
	}
	switch a.field.Kind {
	case String, Text, Secret:
		return a.text == ""
	case Choices, List:
		return a.text == "" || (a.text == "[]" && !a.field.Required)
	}
	return strings.TrimSpace(a.text) == ""
}

// value is the JSON to send; present is false where the field is left out.
func (a *answer) value() (value json.RawMessage, present bool, err error) {
	switch {
	case a.kept != nil:
		return a.kept, true, nil
	case a.empty() && a.field.Required && a.field.Nullable:
		return json.RawMessage("null"), true, nil
	case a.empty() && a.field.Required:
		return nil, false, complain("form.required", "This has to be filled in.")
	case a.empty():
		return nil, false, nil
	}
	value, err = a.field.parse(a.text)
	return value, err == nil, err
}

// complaint is the sentence to show now, "" for none.
func (a *answer) complaint() string {
	if a.outside != "" {
		return a.outside
	}
	if !a.left {
		return ""
	}
	if _, _, err := a.value(); err != nil {
		return err.Error()
	}
	return ""
}

// Draft is a field as it stands while it is being filled in.
type Draft struct {
	Text    string          // may be a secret
	Kept    json.RawMessage // a value too long for its control
	Touched bool
	Left    bool
}

// State is a half-filled form by the names of its fields. It lives in memory: it holds secrets as they were typed.
type State map[string]Draft

// Problem is what is wrong with an answer.
type Problem struct {
	Name string // of the field
	Text string // a sentence for the person
}
