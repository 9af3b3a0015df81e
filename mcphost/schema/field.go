package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// field reads one property of a form.
func (b *formBuilder) field(name string, raw json.RawMessage, required bool) (Field, error) {
	f := Field{Name: name, Required: required, MaxLength: -1, MaxItems: -1}
	def, err := b.resolve(raw, name, 0)
	if err != nil {
		return Field{}, err
	}
	f.Title, f.Description = b.text(def, "title"), b.text(def, "description")
	if f.Title == "" {
		f.Title = name
	}
	if r, ok := def.Get("required"); ok && string(r) == "true" {
		f.Required = true
	}
	if r, ok := def.Get("nullable"); ok && string(r) == "true" {
		f.Nullable = true
	}
	if err := b.kind(&f, def); err != nil {
		return Field{}, err
	}
	b.limits(&f, def)
	f.Secret = looksSecret(&f, def)
	b.fieldDefault(&f, def)
	return f, nil
}

// resolve follows references inside the schema and an allOf of one, and puts the
// keywords beside them over what they refer to.
func (b *formBuilder) resolve(raw json.RawMessage, name string, depth int) (Object, error) {
	b.steps++
	b.work += len(raw)
	if depth > 16 || b.steps > maxFormSteps || b.work > maxFormWork {
		return nil, limitError(fmt.Sprintf("the field %s refers to itself, or through too many references", quoted(name)))
	}
	switch firstByte(raw) {
	case '{':
	case 't': // true: anything goes
		return Object{}, nil
	default:
		return nil, fmt.Errorf("the field %s is not described by a schema", quoted(name))
	}
	def := uncheckedObject(raw)
	target, err := b.target(def, name)
	if err != nil || target == nil {
		return def, err
	}
	inner, err := b.resolve(target, name, depth+1)
	if err != nil {
		return nil, err
	}
	merged := slices.Clone(inner)
	for _, m := range def {
		if m.Name != "$ref" && m.Name != "allOf" {
			merged = append(merged, m) // Get takes the last
		}
	}
	return merged, nil
}

// target finds what def refers to, nil if it does not.
func (b *formBuilder) target(def Object, name string) (json.RawMessage, error) {
	if raw, ok := def.Get("$ref"); ok {
		ref, ok := textOf(raw)
		if !ok {
			return nil, fmt.Errorf(`the field %s has a "$ref" that is not a string`, quoted(name))
		}
		if !strings.HasPrefix(ref, "#") {
			return nil, remoteError(fmt.Sprintf("the field %s refers to %s, which is outside the form; schemas are never fetched", quoted(name), quoted(ref)))
		}
		target, known := b.targets[ref]
		if !known {
			target = b.lookup(strings.TrimPrefix(ref, "#"))
			b.targets[ref] = target
		}
		if target == nil {
			return nil, fmt.Errorf("the field %s refers to %s, which the form does not contain", quoted(name), quoted(ref))
		}
		return target, nil
	}
	if raw, ok := def.Get("allOf"); ok && firstByte(raw) == '[' {
		if parts := uncheckedArray(raw); len(parts) == 1 {
			return parts[0], nil
		}
		return nil, unsupportedError(fmt.Sprintf("the field %s combines several schemas, which a form cannot show", quoted(name)))
	}
	return nil, nil
}

// lookup follows a JSON Pointer through the form's schema.
func (b *formBuilder) lookup(pointer string) json.RawMessage {
	tokens := strings.Split(pointer, "/")
	if tokens[0] != "" || len(tokens) < 2 || len(tokens) > 16 {
		return nil
	}
	at := b.root
	for _, m := range at {
		b.work += len(m.Value)
	}
	for i, t := range tokens[1:] {
		t = strings.ReplaceAll(strings.ReplaceAll(percentDecoded(t), "~1", "/"), "~0", "~")
		v, ok := at.Get(t)
		if !ok {
			return nil
		}
		if i == len(tokens)-2 {
			return v
		}
		if firstByte(v) != '{' {
			return nil
		}
		at = uncheckedObject(v)
	}
	return nil
}

// kind decides how a field is filled in.
func (b *formBuilder) kind(f *Field, def Object) error {
	if done, err := b.alternatives(f, def); done || err != nil {
		return err
	}
	if raw, ok := def.Get("const"); ok {
		return b.options(f, []Object{{{Name: "const", Value: raw}}})
	}
	if raw, ok := def.Get("enum"); ok && firstByte(raw) == '[' {
		return b.enum(f, raw, def)
	}
	types, err := typesOf(def)
	if err != nil {
		return fmt.Errorf("the field %s: %w", quoted(f.Name), err)
	}
	if slices.Contains(types, "null") {
		f.Nullable = true
		types = slices.DeleteFunc(types, func(t string) bool { return t == "null" })
	}
	return b.plain(f, def, types)
}

// plain handles a field without a list of values.
func (b *formBuilder) plain(f *Field, def Object, types []string) error {
	if len(types) == 0 {
		types = impliedTypes(def)
	}
	if len(types) > 1 {
		b.note("The field %s may be %s; it is asked for as %s.", quoted(f.Name), typeList(types), article(preferred(types)))
	}
	switch t := preferred(types); t {
	case "string":
		f.Kind, f.Format = Text, b.text(def, "format")
	case "number":
		f.Kind = Number
	case "integer":
		f.Kind = Integer
	case "boolean":
		f.Kind = Boolean
	case "array":
		return b.list(f, def)
	case "object":
		return nested(f.Name)
	default:
		return fmt.Errorf("the field %s has the unknown type %s", quoted(f.Name), quoted(t))
	}
	return nil
}

func nested(name string) error {
	return unsupportedError(fmt.Sprintf("the field %s asks for nested values, which a form cannot give", quoted(name)))
}

// preferred chooses among several types the one that a person can fill in most freely.
func preferred(types []string) string {
	for _, t := range []string{"string", "number", "integer", "boolean", "array", "object"} {
		if slices.Contains(types, t) {
			return t
		}
	}
	return types[0]
}

// impliedTypes guesses the type of a field that names none.
func impliedTypes(def Object) []string {
	for _, k := range []struct{ word, means string }{{"properties", "object"}, {"items", "array"}, {"minimum", "number"}, {"maximum", "number"}} {
		if _, ok := def.Get(k.word); ok {
			return []string{k.means}
		}
	}
	return []string{"string"}
}

// alternatives handles oneOf and anyOf: a list of titled values, or one schema beside
// null. done says that the field's kind is decided.
func (b *formBuilder) alternatives(f *Field, def Object) (done bool, err error) {
	raw, ok := def.Get("oneOf")
	if !ok {
		raw, ok = def.Get("anyOf")
	}
	if !ok || firstByte(raw) != '[' {
		return false, nil
	}
	branches, err := b.branches(raw, f.Name)
	if err != nil {
		return false, err
	}
	rest := slices.DeleteFunc(branches, func(o Object) bool {
		if isNull(o) {
			f.Nullable = true
			return true
		}
		return false
	})
	if len(rest) == 0 {
		return false, nil
	}
	if allConst(rest) {
		return true, b.options(f, rest)
	}
	chosen := rest[0]
	if len(rest) > 1 {
		if chosen, err = b.widest(f, rest); err != nil {
			return false, err
		}
	}
	if f.Title == f.Name && b.text(chosen, "title") != "" && len(rest) == 1 {
		f.Title = b.text(chosen, "title")
	}
	if err := b.kind(f, chosen); err != nil {
		return false, err
	}
	b.limits(f, chosen)
	return true, nil
}

// branches resolves the members of oneOf or anyOf.
func (b *formBuilder) branches(raw json.RawMessage, name string) ([]Object, error) {
	items := uncheckedArray(raw)
	out := make([]Object, 0, len(items))
	for _, item := range items {
		o, err := b.resolve(item, name, 1)
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, nil
}

// widest chooses among several alternatives the one a person can fill in most freely.
func (b *formBuilder) widest(f *Field, rest []Object) (Object, error) {
	for _, want := range []string{"string", "number", "integer", "boolean", "array"} {
		for _, o := range rest {
			types, err := typesOf(o)
			if err != nil {
				return nil, err
			}
			if len(types) == 0 {
				types = impliedTypes(o)
			}
			if slices.Contains(types, want) {
				b.note("The field %s has several alternatives; it is asked for as %s.", quoted(f.Name), article(want))
				return o, nil
			}
		}
	}
	return nil, nested(f.Name)
}

// isNull says whether a schema allows nothing but null.
func isNull(o Object) bool {
	if raw, ok := o.Get("type"); ok {
		t, _ := textOf(raw)
		return t == "null"
	}
	raw, ok := o.Get("const")
	return ok && firstByte(raw) == 'n'
}

func allConst(list []Object) bool {
	return !slices.ContainsFunc(list, func(o Object) bool {
		_, ok := o.Get("const")
		return !ok
	})
}

// options makes a choice out of schemas with const and title.
func (b *formBuilder) options(f *Field, list []Object) error {
	f.Kind = Choice
	for _, o := range list {
		v, _ := o.Get("const")
		if err := b.option(f, v, b.text(o, "title")); err != nil {
			return err
		}
	}
	return nil
}

// enum makes a choice out of enum, with the titles of the older enumNames.
func (b *formBuilder) enum(f *Field, raw json.RawMessage, def Object) error {
	f.Kind = Choice
	var titles []json.RawMessage
	if names, ok := def.Get("enumNames"); ok && firstByte(names) == '[' {
		titles = uncheckedArray(names)
	}
	values := uncheckedArray(raw)
	if len(titles) > 0 && len(titles) != len(values) {
		b.note("The field %s has %d values but %d names for them; the names are not used.", quoted(f.Name), len(values), len(titles))
		titles = nil
	}
	for i, v := range values {
		if firstByte(v) == 'n' {
			f.Nullable = true
			continue
		}
		title := ""
		if titles != nil {
			title, _ = textOf(titles[i])
		}
		if err := b.option(f, v, title); err != nil {
			return err
		}
	}
	if len(f.Options) == 0 {
		b.note("The field %s allows no value at all.", quoted(f.Name))
	}
	return nil
}

func (b *formBuilder) option(f *Field, v json.RawMessage, title string) error {
	b.choices++
	if b.choices > MaxChoices {
		return limitError(fmt.Sprintf("the form has more than %d values to choose from", MaxChoices))
	}
	if c := firstByte(v); c == '{' || c == '[' {
		return nested(f.Name)
	}
	if title == "" {
		title = plainText(v)
	}
	f.Options = append(f.Options, Option{Value: v, Title: title})
	return nil
}

// list handles an array: several of a list of values, or free entries.
func (b *formBuilder) list(f *Field, def Object) error {
	f.Kind, f.Item = List, Text
	raw, ok := def.Get("items")
	if !ok {
		return nil
	}
	item, err := b.resolve(raw, f.Name, 1)
	if err != nil {
		return err
	}
	inner := Field{Name: f.Name, MaxLength: -1, MaxItems: -1}
	if err := b.kind(&inner, item); err != nil {
		return err
	}
	b.limits(&inner, item)
	switch inner.Kind {
	case Choice:
		f.Kind, f.Item, f.Options = Choices, "", inner.Options
	case Text, Number, Integer:
		f.Item, f.Format, f.Pattern, f.re = inner.Kind, inner.Format, inner.Pattern, inner.re
		f.MinLength, f.MaxLength = inner.MinLength, inner.MaxLength
		f.Minimum, f.Maximum = inner.Minimum, inner.Maximum
		f.ExclusiveMinimum, f.ExclusiveMaximum = inner.ExclusiveMinimum, inner.ExclusiveMaximum
		f.MultipleOf = inner.MultipleOf
	default:
		return nested(f.Name)
	}
	return nil
}

// limits reads what bounds a field's value.
func (b *formBuilder) limits(f *Field, def Object) {
	size := func(word string, into *int) {
		if n, ok := sizeOf(def, word); ok {
			*into = n
		}
	}
	number := func(word string, into *json.Number) {
		raw, ok := def.Get(word)
		if !ok || !manageable(string(raw)) {
			return
		}
		if c := firstByte(raw); c == '-' || isDigit(c) {
			*into = json.Number(raw)
		}
	}
	switch f.Kind {
	case Text:
		size("minLength", &f.MinLength)
		size("maxLength", &f.MaxLength)
		if p := b.text(def, "pattern"); p != "" {
			f.Pattern = p
			if b.patterns.usable(p) {
				f.re = b.patterns.get(p)
			}
		}
	case Number, Integer:
		number("minimum", &f.Minimum)
		number("maximum", &f.Maximum)
		number("exclusiveMinimum", &f.ExclusiveMinimum)
		number("exclusiveMaximum", &f.ExclusiveMaximum)
		number("multipleOf", &f.MultipleOf)
		if r, ok := rational(string(f.MultipleOf)); !ok || r.Sign() <= 0 {
			f.MultipleOf = ""
		}
	case List, Choices:
		size("minItems", &f.MinItems)
		size("maxItems", &f.MaxItems)
		if u, ok := def.Get("uniqueItems"); ok {
			f.UniqueItems = string(u) == "true"
		}
	}
}

// fieldDefault takes over the default if it fits the field.
func (b *formBuilder) fieldDefault(f *Field, def Object) {
	raw, ok := def.Get("default")
	// null as the default of an optional field means: not answered.
	if !ok || firstByte(raw) == 'n' && !(f.Nullable && f.Required) {
		return
	}
	if why := f.check(raw); why != "" {
		b.note("The server's default for %s is not used: it %s.", quoted(f.Name), why)
		return
	}
	// check was strict already, so this cannot fail.
	if compact, err := Compact(raw); err == nil {
		f.Default = compact
	}
}

// text reads a keyword that is a string.
func (b *formBuilder) text(o Object, word string) string {
	raw, ok := o.Get(word)
	if !ok {
		return ""
	}
	s, _ := textOf(raw)
	return s
}

// typesOf reads "type", one name or several.
func typesOf(o Object) ([]string, error) {
	raw, ok := o.Get("type")
	if !ok {
		return nil, nil
	}
	if t, ok := textOf(raw); ok {
		return []string{t}, nil
	}
	var out []string
	if firstByte(raw) == '[' {
		for _, item := range uncheckedArray(raw) {
			t, ok := textOf(item)
			if !ok {
				return nil, errors.New(`"type" must name types`)
			}
			out = append(out, t)
		}
		return out, nil
	}
	if firstByte(raw) == 'n' {
		return nil, nil
	}
	return nil, errors.New(`"type" must be the name of a type`)
}
