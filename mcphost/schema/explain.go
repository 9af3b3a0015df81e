package schema

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// maxViolations is how many violations Validate gives.
const maxViolations = 50

// violations turns the library's tree of errors into sentences, in the order of paths.
func violations(ve *jsonschema.ValidationError) []Violation {
	var out []Violation
	collect(ve, &out)
	slices.SortStableFunc(out, func(a, b Violation) int {
		return cmp.Or(comparePaths(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	out = slices.Compact(out)
	if len(out) > maxViolations {
		out = append(out[:maxViolations-1], Violation{Message: fmt.Sprintf("does not fit in %d more ways", len(out)-maxViolations+1)})
	}
	return out
}

// comparePaths orders array indexes as numbers.
func comparePaths(a, b string) int {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		if errX == nil && errY == nil && x != y {
			return cmp.Compare(x, y)
		}
		if as[i] != bs[i] {
			return cmp.Compare(as[i], bs[i])
		}
	}
	return cmp.Compare(len(as), len(bs))
}

func collect(ve *jsonschema.ValidationError, out *[]Violation) {
	path := pointer(ve.InstanceLocation)
	switch k := ve.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, c := range ve.Causes {
			collect(c, out)
		}
	case *kind.Required:
		for _, name := range k.Missing {
			*out = append(*out, Violation{child(path, name), "is required but missing"})
		}
	case *kind.AdditionalProperties:
		for _, name := range k.Properties {
			*out = append(*out, Violation{child(path, name), "is not allowed here: the schema has no such property"})
		}
	case *kind.AnyOf:
		*out = append(*out, Violation{path, alternatives(path, ve.Causes)})
	case *kind.OneOf:
		if k.Subschemas != nil {
			*out = append(*out, Violation{path, "fits more than one of the alternatives, but must fit exactly one"})
			return
		}
		*out = append(*out, Violation{path, alternatives(path, ve.Causes)})
	case *kind.PropertyNames:
		why := "is not an allowed property name"
		var inner []Violation
		for _, c := range ve.Causes {
			collect(c, &inner)
		}
		if len(inner) > 0 {
			why += ": it " + inner[0].Message
		}
		*out = append(*out, Violation{child(path, k.Property), why})
	default:
		*out = append(*out, Violation{path, sentence(ve.ErrorKind)})
	}
}

// alternatives joins the reasons why none of several subschemas fits.
func alternatives(path string, causes []*jsonschema.ValidationError) string {
	var reasons []string
	for _, c := range causes {
		var inner []Violation
		collect(c, &inner)
		if len(inner) == 0 {
			continue
		}
		reason := inner[0].Message
		if rel := strings.TrimPrefix(inner[0].Path, path); rel != "" {
			reason = rel + " " + reason
		}
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	if len(reasons) == 1 {
		return reasons[0]
	}
	more := ""
	if len(reasons) > 4 {
		more = fmt.Sprintf(", or %d more", len(reasons)-4)
		reasons = reasons[:4]
	}
	return "fits none of the alternatives: " + strings.Join(reasons, ", or ") + more
}

// sentence words one error without parts.
func sentence(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("must be %s, not %s", typeList(k.Want), article(k.Got))
	case *kind.Enum:
		return "must be " + oneOf(k.Want)
	case *kind.Const:
		return "must be " + show(k.Want)
	case *kind.Format:
		if not, ok := k.Err.(*notAmong); ok {
			return sentence(not.kind)
		}
		return fmt.Sprintf("must be a valid %s, not %s", k.Want, show(k.Got))
	case *kind.Pattern:
		return fmt.Sprintf("must match the pattern %s, not be %s", short(k.Want, 200), show(k.Got))
	case *kind.FalseSchema:
		return "is not allowed here"
	case *kind.Not:
		return "is a value the schema excludes"
	case *kind.RefCycle:
		return "cannot be checked: the schema refers to itself without end"
	case *kind.UniqueItems:
		return fmt.Sprintf("must not repeat items: items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.AdditionalItems:
		return fmt.Sprintf("has %d items too many", k.Count)
	case *kind.Contains:
		return "must contain at least one item of the kind the schema asks for"
	case *kind.MinContains:
		return fmt.Sprintf("must contain at least %d items of the kind the schema asks for, has %d", k.Want, len(k.Got))
	case *kind.MaxContains:
		return fmt.Sprintf("must contain at most %d items of the kind the schema asks for, has %d", k.Want, len(k.Got))
	case *kind.Dependency:
		return fmt.Sprintf("needs %s too, because it has %s", quotedList(k.Missing), quoted(k.Prop))
	case *kind.DependentRequired:
		return fmt.Sprintf("needs %s too, because it has %s", quotedList(k.Missing), quoted(k.Prop))
	}
	if s := sizeSentence(k); s != "" {
		return s
	}
	if s := rangeSentence(k); s != "" {
		return s
	}
	return "does not fit: " + short(k.LocalizedString(message.NewPrinter(language.English)), 200)
}

func sizeSentence(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.MinLength:
		return fmt.Sprintf("must have at least %s, has %d", count(k.Want, "character"), k.Got)
	case *kind.MaxLength:
		return fmt.Sprintf("must have at most %s, has %d", count(k.Want, "character"), k.Got)
	case *kind.MinItems:
		return fmt.Sprintf("must have at least %s, has %d", count(k.Want, "item"), k.Got)
	case *kind.MaxItems:
		return fmt.Sprintf("must have at most %s, has %d", count(k.Want, "item"), k.Got)
	case *kind.MinProperties:
		return fmt.Sprintf("must have at least %s, has %d", count(k.Want, "property"), k.Got)
	case *kind.MaxProperties:
		return fmt.Sprintf("must have at most %s, has %d", count(k.Want, "property"), k.Got)
	}
	return ""
}

func rangeSentence(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Minimum:
		return fmt.Sprintf("must be %s or more, not %s", decimal(k.Want), decimal(k.Got))
	case *kind.Maximum:
		return fmt.Sprintf("must be %s or less, not %s", decimal(k.Want), decimal(k.Got))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("must be more than %s, not %s", decimal(k.Want), decimal(k.Got))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("must be less than %s, not %s", decimal(k.Want), decimal(k.Got))
	case *kind.MultipleOf:
		return fmt.Sprintf("must be a multiple of %s, which %s is not", decimal(k.Want), decimal(k.Got))
	}
	return ""
}

// decimal writes a fraction that came from a decimal number exactly, or shortened if
// it is very long.
func decimal(r *big.Rat) string {
	if r.IsInt() {
		return short(r.Num().String(), 60)
	}
	digits, exact := r.FloatPrec()
	if !exact || digits > 60 {
		digits = 60
	}
	return short(strings.TrimRight(r.FloatString(digits), "0"), 80)
}

// oneOf lists allowed values.
func oneOf(values []any) string {
	if len(values) == 0 {
		return "nothing: the schema allows no value"
	}
	if len(values) == 1 {
		return show(values[0])
	}
	shown := make([]string, 0, 10)
	for _, v := range values[:min(len(values), 10)] {
		shown = append(shown, show(v))
	}
	if more := len(values) - len(shown); more > 0 {
		return fmt.Sprintf("one of %s or %d other values", strings.Join(shown, ", "), more)
	}
	return "one of " + strings.Join(shown, ", ")
}

// show writes a value as short JSON.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return quoted(short(v, 60))
	case json.Number:
		return short(string(v), 60)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return "a value"
	}
	return short(string(b), 60)
}

// quoted puts text in quotes, with everything invisible escaped.
func quoted(s string) string { return strconv.Quote(short(s, 300)) }

func quotedList(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quoted(n)
	}
	return strings.Join(out, ", ")
}

// short cuts s to at most n characters.
func short(s string, n int) string {
	if len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s
	}
	i := 0
	for range n - 1 {
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	return s[:i] + "…"
}

// count words a number of things.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "y") {
		return fmt.Sprintf("%d %sies", n, noun[:len(noun)-1])
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func typeList(types []string) string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = article(t)
	}
	return strings.Join(out, " or ")
}

// article puts the right article before a JSON type's name.
func article(t string) string {
	switch t {
	case "null":
		return t
	case "array", "object", "integer":
		return "an " + t
	}
	return "a " + t
}

func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

// pointer makes a JSON Pointer (RFC 6901).
func pointer(tokens []string) string {
	path := ""
	for _, t := range tokens {
		path = child(path, t)
	}
	return path
}

func child(path, name string) string { return path + "/" + escapePointer(name) }

func escapePointer(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "~", "~0"), "/", "~1")
}

// place words a path for a sentence.
func place(path string) string {
	if path == "" {
		return "the top"
	}
	return path
}

// firstByte gives the first byte of a value after white space, 0 if there is none.
func firstByte(raw []byte) byte {
	for _, c := range raw {
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		}
		return c
	}
	return 0
}
