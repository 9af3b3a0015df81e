package servers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"steward/app/clean"
	"steward/ui/form"
)

// property is what a form needs to know of one property of a JSON Schema (2020-12 and draft-07).
type property struct {
	Type        json.RawMessage   `json:"type"`
	Title       string            `json:"title"`
	Description string            `json:"description"`
	Format      string            `json:"format"`
	Enum        []json.RawMessage `json:"enum"`
	OneOf       []choice          `json:"oneOf"`
	AnyOf       []choice          `json:"anyOf"`
	Default     json.RawMessage   `json:"default"`
	Minimum     json.Number       `json:"minimum"`
	Maximum     json.Number       `json:"maximum"`
	MinLength   int               `json:"minLength"`
	MaxLength   int               `json:"maxLength"`
	MinItems    int               `json:"minItems"`
	MaxItems    int               `json:"maxItems"`
	Items       *property         `json:"items"`
}

type choice struct {
	Const json.RawMessage `json:"const"`
	Title string          `json:"title"`
}

// maxFields is how many fields a form may have; beyond it, JSON is the better way.
const maxFields = 60

// formFields turns a tool's schema into fields, in the order of the schema. What is nested becomes a field of JSON. It
// reports false where a form cannot ask for everything that the schema allows at its top: then the person writes JSON.
func formFields(schema json.RawMessage) ([]form.Field, bool) {
	var top struct {
		Type       string          `json:"type"`
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
		Ref        string          `json:"$ref"`
		OneOf      json.RawMessage `json:"oneOf"`
		AnyOf      json.RawMessage `json:"anyOf"`
		AllOf      json.RawMessage `json:"allOf"`
	}
	if json.Unmarshal(schema, &top) != nil || top.Type != "object" || top.Ref != "" || top.OneOf != nil || top.AnyOf != nil || top.AllOf != nil {
		return nil, false
	}
	if top.Properties == nil {
		return nil, true
	}
	names, values, err := members(top.Properties)
	if err != nil || len(names) > maxFields {
		return nil, false
	}
	var fields []form.Field
	for i, name := range names {
		f := fieldOf(values[i])
		f.Name, f.Required = name, slices.Contains(top.Required, name)
		if f.Title == "" {
			f.Title = clean.Reveal(name)
		} else {
			f.Title = fmt.Sprintf("%s (%s)", f.Title, clean.Reveal(name))
		}
		fields = append(fields, f)
	}
	return fields, true
}

var errNotAnObject = errors.New("this is no JSON object with different names")

// members are an object's names and values as they stand. A name that comes twice is an error.
func members(object json.RawMessage) (names []string, values []json.RawMessage, err error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, errNotAnObject
	}
	for d.More() {
		t, err := d.Token()
		name, ok := t.(string)
		if err != nil || !ok || slices.Contains(names, name) {
			return nil, nil, errNotAnObject
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			return nil, nil, err
		}
		names, values = append(names, name), append(values, v)
	}
	if _, err := d.Token(); err != nil { // the closing brace
		return nil, nil, errNotAnObject
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, errNotAnObject
	}
	return names, values, nil
}

func fieldOf(raw json.RawMessage) form.Field {
	var p property
	f := form.Field{Kind: form.JSON}
	if json.Unmarshal(raw, &p) != nil {
		return f // true, or a schema that is not what it should be: any JSON
	}
	f.Title, f.Description, f.Default = clean.Clean(p.Title), clean.Clean(p.Description), p.Default
	if options := p.options(); options != nil {
		f.Kind, f.Choices = form.Choice, options
		return f
	}
	switch p.single() {
	case "string":
		f.Kind, f.MinLength, f.MaxLength = form.String, p.MinLength, p.MaxLength
		switch p.Format {
		case "date":
			f.Kind, f.MinLength, f.MaxLength = form.Date, 0, 0
		case "date-time":
			f.Kind, f.MinLength, f.MaxLength = form.DateTime, 0, 0
		}
	case "integer":
		f.Kind, f.Min, f.Max = form.Integer, p.Minimum.String(), p.Maximum.String()
	case "number":
		f.Kind, f.Min, f.Max = form.Number, p.Minimum.String(), p.Maximum.String()
	case "boolean":
		f.Kind = form.Boolean
	case "array":
		if p.Items != nil {
			if options := p.Items.options(); options != nil {
				f.Kind, f.Choices, f.MinItems, f.MaxItems = form.Choices, options, p.MinItems, p.MaxItems
			}
		}
	}
	return f
}

// single is the property's only type beside null; "" where it has none or several.
func (p *property) single() string {
	var one string
	if json.Unmarshal(p.Type, &one) == nil {
		return one
	}
	var several []string
	if json.Unmarshal(p.Type, &several) != nil {
		return ""
	}
	several = slices.DeleteFunc(several, func(s string) bool { return s == "null" })
	if len(several) == 1 {
		return several[0]
	}
	return ""
}

func (p *property) options() []form.Option {
	var out []form.Option
	for _, v := range p.Enum {
		out = append(out, form.Option{Value: v, Title: valueTitle(v)})
	}
	if out != nil {
		return out
	}
	for _, c := range append(p.OneOf, p.AnyOf...) {
		if c.Const == nil {
			return nil
		}
		title := clean.Clean(c.Title)
		if title == "" {
			title = valueTitle(c.Const)
		}
		out = append(out, form.Option{Value: c.Const, Title: title})
	}
	return out
}

func valueTitle(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return clean.Reveal(s)
	}
	return clean.Reveal(string(v))
}

// arguments writes the answers of a form as one object, in the order of its fields.
func arguments(fields []form.Field, values map[string]json.RawMessage) (string, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for _, f := range fields {
		v, ok := values[f.Name]
		if !ok {
			continue
		}
		name, err := encode(f.Name)
		if err != nil {
			return "", err
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(name)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.String(), nil
}

// encode writes a value as JSON without turning < and & into escapes.
func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return string(bytes.TrimSpace(b.Bytes())), err
}
