package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Limits of a form.
const (
	MaxFields  = 1000   // in one form
	MaxChoices = 20_000 // in all fields of a form together
)

// ErrUnsupported is the errors.Is target of a form that asks for something no flat
// form can give: an object, or a list of objects or lists, as a value. The request
// is then to be answered with JSON-RPC error -32602 (Invalid params).
var ErrUnsupported = errors.New("unsupported form")

type unsupportedError string

func (e unsupportedError) Error() string        { return string(e) }
func (e unsupportedError) Is(target error) bool { return target == ErrUnsupported }

// Kind says how a field is filled in.
type Kind string

// The kinds of fields. A person types Text, Number, Integer and List; Boolean is
// yes or no; Choice is one of Field.Choices, and Choices any number of them.
const (
	Text    Kind = "text"
	Number  Kind = "number"
	Integer Kind = "integer"
	Boolean Kind = "boolean"
	Choice  Kind = "choice"
	Choices Kind = "choices"
	List    Kind = "list"
)

// Option is one value to choose.
type Option struct {
	Value json.RawMessage // what is sent
	Title string          // what is shown; the value's own text if the server gives none
}

// Field is one question of a form. Texts are the server's, as they came: the caller
// makes them safe to show.
type Field struct {
	Name        string
	Title       string // the name if the server gives none
	Description string
	Kind        Kind
	Item        Kind   // of a List: Text, Number or Integer
	Format      string // of Text: "email", "uri", "date", "date-time", "password", or any other word, which is not checked
	Required    bool
	Nullable    bool // null is a possible answer
	Secret      bool // it seems to ask for a password, key, card number or the like
	Options     []Option
	Default     json.RawMessage // nil if there is none that fits the field

	MinLength, MaxLength               int // of Text, in characters; MaxLength -1 is no limit
	MinItems, MaxItems                 int // of List and Choices; MaxItems -1 is no limit
	UniqueItems                        bool
	Minimum, Maximum                   json.Number // "" is no limit
	ExclusiveMinimum, ExclusiveMaximum json.Number
	MultipleOf                         json.Number // more than 0; "" is none
	Pattern                            string      // "" is none

	re *pattern // the compiled Pattern, or nil
}

// Form is what a server asks a person (MCP elicitation/create, mode "form").
type Form struct {
	Title, Description string
	Fields             []Field  // in the order of the schema
	Notes              []string // sentences on what was wrong with the schema and how it was read
}

// ParseForm reads the requestedSchema of an elicitation. It knows all kinds of fields
// of the protocol (MCP 2026-07-28, client/elicitation: string, number, integer,
// boolean, enum, titled enum, several of an enum, with defaults), the older enumNames,
// and what servers send besides: null as an alternative, references inside the schema,
// enums without a type, lists of free text, other formats.
//
// A form that needs nested values is [ErrUnsupported], one that refers outside itself
// is [ErrRemote], one beyond the limits is [ErrLimit]. What is only wrong in part, such
// as a default of the wrong type, becomes a note.
func ParseForm(raw json.RawMessage) (Form, error) {
	if len(raw) > MaxSchemaBytes {
		return Form{}, limitError(fmt.Sprintf("the form is %d bytes long; at most %d are read", len(raw), MaxSchemaBytes))
	}
	if firstByte(raw) == 0 || string(raw) == "null" {
		return Form{}, errors.New("the server asks for a form but sends no schema for it")
	}
	root, err := ParseObject(raw)
	if err != nil {
		return Form{}, fmt.Errorf("the form's schema is not usable: %w", err)
	}
	b := formBuilder{root: root, patterns: newPatterns(&meter{}), targets: map[string]json.RawMessage{}}
	return b.form()
}

// formBuilder reads one form.
type formBuilder struct {
	root     Object
	patterns *patterns
	choices  int
	steps    int // subschemas looked at
	work     int // their bytes
	targets  map[string]json.RawMessage
	notes    []string
}

// A schema of references can be followed much longer than it is.
const (
	maxFormSteps = 50_000
	maxFormWork  = 64 << 20
	maxNotes     = 50
)

func (b *formBuilder) note(format string, args ...any) {
	if len(b.notes) < maxNotes {
		b.notes = append(b.notes, fmt.Sprintf(format, args...))
	}
}

func (b *formBuilder) form() (Form, error) {
	f := Form{Title: b.text(b.root, "title"), Description: b.text(b.root, "description")}
	types, err := typesOf(b.root)
	if err != nil {
		return Form{}, err
	}
	if len(types) > 0 && !slices.Contains(types, "object") {
		return Form{}, unsupportedError(fmt.Sprintf("the form's schema must be an object of fields, not %s", typeList(types)))
	}
	raw, ok := b.root.Get("properties")
	if !ok || firstByte(raw) == 'n' {
		f.Notes = b.notes
		return f, nil
	}
	if firstByte(raw) != '{' {
		return Form{}, errors.New(`the form's "properties" must be an object`)
	}
	properties := uncheckedObject(raw)
	order := b.required()
	required := make(map[string]bool, len(order))
	for _, name := range order {
		required[name] = true
	}
	for _, name := range properties.Duplicates() {
		b.note("The field %s is defined more than once; the last definition is used.", quoted(name))
	}
	seen := map[string]bool{}
	for _, m := range properties {
		if seen[m.Name] {
			continue
		}
		seen[m.Name] = true
		if len(f.Fields) == MaxFields {
			return Form{}, limitError(fmt.Sprintf("the form has more than %d fields", MaxFields))
		}
		def, _ := properties.Get(m.Name)
		field, err := b.field(m.Name, def, required[m.Name])
		if err != nil {
			return Form{}, err
		}
		f.Fields = append(f.Fields, field)
	}
	for _, name := range order {
		if !seen[name] {
			b.note("The server requires %s, but the form has no such field.", quoted(name))
		}
	}
	b.sameTitles(f.Fields)
	f.Notes = append(b.notes, b.patterns.warnings...)
	return f, nil
}

// required reads the names that must be answered. The old style, "required": true in
// the field itself, is handled by field.
func (b *formBuilder) required() []string {
	raw, ok := b.root.Get("required")
	if !ok || firstByte(raw) != '[' {
		return nil
	}
	var out []string
	for _, item := range uncheckedArray(raw) {
		if name, ok := textOf(item); ok && len(out) < 2*MaxFields {
			out = append(out, name)
		}
	}
	return out
}

// sameTitles tells of fields that a person could not tell apart.
func (b *formBuilder) sameTitles(fields []Field) {
	first := map[string]string{}
	for i := range fields {
		key := strings.ToLower(strings.Join(strings.Fields(fields[i].Title), " "))
		if other, ok := first[key]; ok {
			b.note("The fields %s and %s have the same title %s.", quoted(other), quoted(fields[i].Name), quoted(fields[i].Title))
			continue
		}
		first[key] = fields[i].Name
	}
}

// Defaults gives the value of every field that has a usable default: what a form
// begins with, before a person touches it.
func (f Form) Defaults() map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	for i := range f.Fields {
		if f.Fields[i].Default != nil {
			out[f.Fields[i].Name] = f.Fields[i].Default
		}
	}
	return out
}

// Check says what is wrong with the answers, in the order of the fields; nil means
// that they may be sent. A missing answer is wrong only where it is required. Names
// that are no fields are wrong too.
func (f Form) Check(values map[string]json.RawMessage) []Violation {
	var out []Violation
	known := make(map[string]bool, len(f.Fields))
	for i := range f.Fields {
		field := &f.Fields[i]
		known[field.Name] = true
		v, ok := values[field.Name]
		if !ok || v == nil {
			if field.Required {
				out = append(out, Violation{child("", field.Name), "is required but missing"})
			}
			continue
		}
		if why := field.check(v); why != "" {
			out = append(out, Violation{child("", field.Name), why})
		}
	}
	var strangers []string
	for name := range values {
		if !known[name] {
			strangers = append(strangers, name)
		}
	}
	slices.Sort(strangers)
	for _, name := range strangers {
		out = append(out, Violation{child("", name), "is not a field of this form"})
	}
	return out
}

// Encode writes the answers as one compact JSON object in the order of the schema.
// Only what is in values is written, so an optional field that nobody touched, and
// that has no default, is left out; start from [Form.Defaults] to honour defaults.
// Values must be JSON, as [Form.Check] and [Field.Parse] ensure; one that is not is
// left out.
func (f Form) Encode(values map[string]json.RawMessage) json.RawMessage {
	out := []byte{'{'}
	for i := range f.Fields {
		v, err := Compact(values[f.Fields[i].Name])
		if err != nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = appendQuoted(out, []byte(f.Fields[i].Name))
		out = append(out, ':')
		out = append(out, v...)
	}
	return append(out, '}')
}
