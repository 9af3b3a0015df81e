package form

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"fyne.io/fyne/v2/lang"
)

// Kind says how a field is filled in.
type Kind string

// The kinds of fields. The value of all but Integer, Number, Boolean, Choice, Choices, List and JSON is a JSON string.
const (
	String   Kind = "string"   // one line
	Text     Kind = "text"     // several lines
	Secret   Kind = "secret"   // one line, shown as dots
	Integer  Kind = "integer"  // a whole number of any size, kept digit by digit
	Number   Kind = "number"   // kept as typed
	Boolean  Kind = "boolean"  // yes or no
	Choice   Kind = "choice"   // one of Field.Choices
	Choices  Kind = "choices"  // any number of them, an array
	List     Kind = "list"     // any number of entries that are typed, an array; see Field.Entry
	Date     Kind = "date"     // 2006-01-02 (RFC 3339 full-date)
	DateTime Kind = "datetime" // RFC 3339 date-time; without a zone the local one is meant
	JSON     Kind = "json"     // any JSON value, typed as such
)

// Option is one value to choose.
type Option struct {
	Value json.RawMessage
	Title string
}

// Field is one question. Its texts are drawn as they are: whoever makes it has made them safe to show.
type Field struct {
	Name        string // key of the value; unique in a form
	Title       string // Name if empty
	Description string
	Kind        Kind
	Required    bool
	Nullable    bool // required, but null may be given: no answer is null then
	Entry       Kind // of List: String, Integer or Number
	LooksSecret bool // whoever asks may be after a password or key: a warning is shown
	Own         bool // the program itself asks: no such warning
	Placeholder string
	Choices     []Option
	Default     json.RawMessage // filled in at first; nil for none

	Min, Max             string // of Integer and Number, as JSON numbers; "" is no limit
	MinLength, MaxLength int    // in characters (code points); MaxLength 0 is no limit
	MinItems, MaxItems   int    // of Choices and List; MaxItems 0 is no limit

	// Check has the last word on an answer that fits the kind: text is what was typed, or the JSON of what was chosen or
	// listed.
	// Its error is the sentence shown. Optional; called with every change, so it must be quick.
	Check func(text string) error
}

type problem string

func (p problem) Error() string { return string(p) }

func complain(key, english string, data ...any) error { return problem(lang.X(key, english, data...)) }

const maxDigits = 400 // of a number: longer ones are no answers, and comparing them could take for ever

// parse turns what was typed or chosen into the JSON value. An empty text is no answer, also of a choice; parse is
// not asked about it.
func (f *Field) parse(text string) (json.RawMessage, error) {
	value, err := f.convert(text)
	if err != nil {
		return nil, err
	}
	if f.Check != nil {
		if f.Kind == List {
			text = string(value)
		}
		if err := f.Check(text); err != nil {
			return nil, err
		}
	}
	return value, nil
}

func (f *Field) convert(text string) (json.RawMessage, error) {
	switch f.Kind {
	case Integer, Number:
		return f.number(strings.TrimSpace(text))
	case Boolean:
		if text != "true" && text != "false" {
			return nil, complain("form.boolean", "This is neither yes nor no.")
		}
		return json.RawMessage(text), nil
	case Choice:
		if f.option(json.RawMessage(text)) < 0 {
			return nil, complain("form.choice", "This is none of the choices.")
		}
		return json.RawMessage(text), nil
	case Choices:
		return f.choices(text)
	case List:
		return f.entries(text)
	case Date:
		text = strings.TrimSpace(text)
		if _, err := time.Parse(time.DateOnly, text); err != nil {
			return nil, complain("form.date", "Write the date as year-month-day, such as 2025-03-17.")
		}
		return quote(text), nil
	case DateTime:
		at, err := parseTime(strings.TrimSpace(text))
		if err != nil {
			return nil, complain("form.datetime", "Write date and time as 2025-03-17 14:30, or with a zone as 2025-03-17T14:30:00+01:00.")
		}
		return quote(at), nil
	case JSON:
		return compactJSON(text)
	}
	return f.words(text)
}

func (f *Field) words(text string) (json.RawMessage, error) {
	if !utf8.ValidString(text) {
		return nil, complain("form.utf8", "This holds bytes that are no text.")
	}
	n := utf8.RuneCountInString(text)
	if n < f.MinLength {
		return nil, complain("form.short", "At least {{.min}} characters; these are {{.have}}.", map[string]any{"min": f.MinLength, "have": n})
	}
	if f.MaxLength > 0 && n > f.MaxLength {
		return nil, complain("form.long", "At most {{.max}} characters; these are {{.have}}.", map[string]any{"max": f.MaxLength, "have": n})
	}
	return quote(text), nil
}

func (f *Field) number(text string) (json.RawMessage, error) {
	text = strings.TrimPrefix(text, "+")
	if f.Kind == Integer {
		digits := strings.TrimPrefix(text, "-")
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			return nil, complain("form.integer", "Write a whole number, such as 42.")
		}
		if len(digits) > maxDigits {
			return nil, complain("form.digits", "This number is too long.")
		}
		whole, _ := new(big.Int).SetString(text, 10)
		text = whole.String()
	} else {
		if rest, ok := strings.CutPrefix(text, "."); ok {
			text = "0." + rest
		}
		if !isNumber(text) {
			return nil, complain("form.number", "Write a number with a point for decimals, such as 2.5.")
		}
	}
	value, ok := rational(text)
	if !ok {
		return nil, complain("form.digits", "This number is too long.")
	}
	if least, ok := rational(f.Min); ok && value.Cmp(least) < 0 {
		return nil, complain("form.min", "At least {{.min}}.", map[string]any{"min": f.Min})
	}
	if most, ok := rational(f.Max); ok && value.Cmp(most) > 0 {
		return nil, complain("form.max", "At most {{.max}}.", map[string]any{"max": f.Max})
	}
	return json.RawMessage(text), nil
}

// isNumber says whether text is a number of RFC 8259, section 6.
func isNumber(text string) bool {
	if text == "" || (text[0] != '-' && (text[0] < '0' || text[0] > '9')) {
		return false
	}
	return json.Valid([]byte(text))
}

// rational reads a JSON number exactly. It refuses those whose exponent or length would make that slow.
func rational(text string) (*big.Rat, bool) {
	if !isNumber(text) || len(text) > maxDigits {
		return nil, false
	}
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		if exponent, err := strconv.Atoi(text[at+1:]); err != nil || exponent > maxDigits || exponent < -maxDigits {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

func (f *Field) choices(text string) (json.RawMessage, error) {
	var chosen []json.RawMessage
	if err := json.Unmarshal([]byte(text), &chosen); err != nil {
		return nil, complain("form.choice", "This is none of the choices.")
	}
	for _, value := range chosen {
		if f.option(value) < 0 {
			return nil, complain("form.choice", "This is none of the choices.")
		}
	}
	if len(chosen) < f.MinItems {
		return nil, complain("form.few", "Choose at least {{.min}}.", map[string]any{"min": f.MinItems})
	}
	if f.MaxItems > 0 && len(chosen) > f.MaxItems {
		return nil, complain("form.many", "Choose at most {{.max}}.", map[string]any{"max": f.MaxItems})
	}
	return json.RawMessage(text), nil
}

// option is the number of the choice with this value, -1 for none.
func (f *Field) option(value json.RawMessage) int {
	return slices.IndexFunc(f.Choices, func(o Option) bool { return sameJSON(o.Value, value) })
}

func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y bytes.Buffer
	return json.Compact(&x, a) == nil && json.Compact(&y, b) == nil && canonical(x.Bytes()) == canonical(y.Bytes())
}

// canonical makes differently escaped strings equal; other values are left as they are.
func canonical(compact []byte) string {
	var s string
	if len(compact) > 0 && compact[0] == '"' && json.Unmarshal(compact, &s) == nil {
		return string(quote(s))
	}
	return string(compact)
}

func compactJSON(text string) (json.RawMessage, error) {
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		return nil, complain("form.json", "This is no JSON: {{.detail}}.", map[string]any{"detail": err.Error()})
	}
	return out.Bytes(), nil
}

// parseTime completes a date with time to RFC 3339. What has a zone is kept as typed.
func parseTime(text string) (string, error) {
	_, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	if err == nil {
		return strings.ToUpper(text), nil
	}
	for _, layout := range []string{"2006-01-02 15:04", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02T15:04:05"} {
		at, local := time.ParseInLocation(layout, text, time.Local)
		if local == nil {
			return at.Format(time.RFC3339), nil
		}
	}
	return "", err
}

// quote is s as a JSON string, with no more escapes than JSON asks for.
func quote(s string) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil { // a string can always be encoded
		return json.RawMessage(`""`)
	}
	return bytes.TrimRight(out.Bytes(), "\n")
}

// shown is the text that stands for a JSON value in the field's control; ok is false where the control cannot show it.
func (f *Field) shown(value json.RawMessage) (text string, ok bool) {
	switch f.Kind {
	case Integer, Number:
		text = string(bytes.TrimSpace(value))
		return text, isNumber(text)
	case Boolean:
		text = string(bytes.TrimSpace(value))
		return text, text == "true" || text == "false"
	case Choice:
		return string(value), f.option(value) >= 0
	case Choices:
		var chosen []json.RawMessage
		if json.Unmarshal(value, &chosen) != nil {
			return "", false
		}
		for _, v := range chosen {
			if f.option(v) < 0 {
				return "", false
			}
		}
		return string(value), true
	case List:
		return f.shownEntries(value)
	case JSON:
		var out bytes.Buffer
		if json.Indent(&out, value, "", "  ") != nil {
			return "", false
		}
		return out.String(), true
	}
	return text, json.Unmarshal(value, &text) == nil
}
