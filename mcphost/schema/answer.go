package schema

import (
	"encoding/json"
	"fmt"
	"math/big"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// check says why a JSON value does not fit the field, "" if it does.
func (f *Field) check(raw json.RawMessage) string {
	if err := check(raw); err != nil {
		return "is " + err.Error()
	}
	if firstByte(raw) == 'n' {
		if f.Nullable {
			return ""
		}
		return "must not be null"
	}
	switch f.Kind {
	case Boolean:
		if c := firstByte(raw); c != 't' && c != 'f' {
			return "must be true or false, not " + plainShort(raw)
		}
		return ""
	case Choice:
		return f.checkChoice(raw)
	case Choices, List:
		return f.checkItems(raw)
	}
	return f.checkScalar(f.Kind, raw)
}

// checkScalar checks a text or number, of the field itself or of an item.
func (f *Field) checkScalar(k Kind, raw json.RawMessage) string {
	if k == Text {
		s, ok := textOf(raw)
		if !ok {
			return "must be a text, not " + plainShort(raw)
		}
		return f.checkText(s)
	}
	if c := firstByte(raw); c != '-' && !isDigit(c) {
		return "must be " + kindWords(k) + ", not " + plainShort(raw)
	}
	return f.checkNumber(k, strings.TrimSpace(string(raw)))
}

func kindWords(k Kind) string {
	if k == Integer {
		return "a whole number"
	}
	return "a number"
}

// maxMatch bounds the work of one pattern, in instructions times bytes.
const maxMatch = 50_000_000

func (f *Field) checkText(s string) string {
	n := utf8.RuneCountInString(s)
	switch {
	case n < f.MinLength:
		return fmt.Sprintf("must have at least %s, has %d", count(f.MinLength, "character"), n)
	case f.MaxLength >= 0 && n > f.MaxLength:
		return fmt.Sprintf("must have at most %s, has %d", count(f.MaxLength, "character"), n)
	case f.re != nil && len(s)*f.re.size > maxMatch:
		return "is too long to be checked against the pattern " + short(f.Pattern, 200)
	case f.re != nil && !f.re.MatchString(s):
		return "must match the pattern " + short(f.Pattern, 200)
	}
	return checkFormat(f.Format, s)
}

// checkFormat checks the four formats of the protocol. Others are not checked.
func checkFormat(format, s string) string {
	switch format {
	case "email":
		a, err := mail.ParseAddress(s)
		if err != nil || a.Address != s || !strings.Contains(s, "@") {
			return fmt.Sprintf("must be an e-mail address such as name@example.com, not %s", quoted(short(s, 60)))
		}
	case "uri":
		u, err := url.Parse(s)
		web := err == nil && (u.Scheme == "http" || u.Scheme == "https")
		if err != nil || !u.IsAbs() || strings.ContainsAny(s, " \t\r\n") || u.Host == "" && (web || u.Opaque == "" && u.Path == "") {
			return fmt.Sprintf("must be a whole address such as https://example.com/, not %s", quoted(short(s, 60)))
		}
	case "date":
		if _, err := time.Parse("2006-01-02", s); err != nil {
			return fmt.Sprintf("must be a date of the calendar written as YYYY-MM-DD, for example 2025-03-17, not %s", quoted(short(s, 60)))
		}
	case "date-time":
		// Go reads a bit more than RFC 3339 allows: hours of one digit, a comma.
		_, err := time.Parse(time.RFC3339Nano, strings.ToUpper(s))
		if err != nil || s[13] != ':' || strings.Contains(s, ",") {
			return fmt.Sprintf("must be a date and time with its zone, for example 2025-03-17T09:30:00Z, not %s", quoted(short(s, 60)))
		}
	}
	return ""
}

// checkNumber checks a number as JSON writes it. Servers read it into a double, so a
// Number beyond that is refused; an Integer may have any number of digits.
func (f *Field) checkNumber(k Kind, text string) string {
	r, ok := rational(text)
	if !ok {
		return "must be between -1.8e308 and 1.8e308, and of ordinary length, not " + short(text, 40)
	}
	if k == Integer && !r.IsInt() {
		return "must be a whole number, not " + short(text, 40)
	}
	if _, err := strconv.ParseFloat(text, 64); k == Number && err != nil {
		return "must be between -1.8e308 and 1.8e308, not " + short(text, 40)
	}
	limit := func(n json.Number, bad func(cmp int) bool, words string) string {
		if n == "" {
			return ""
		}
		if l, ok := rational(string(n)); ok && bad(r.Cmp(l)) {
			return fmt.Sprintf("must be %s, not %s", fmt.Sprintf(words, n), short(text, 40))
		}
		return ""
	}
	for _, why := range []string{
		limit(f.Minimum, func(c int) bool { return c < 0 }, "%s or more"),
		limit(f.Maximum, func(c int) bool { return c > 0 }, "%s or less"),
		limit(f.ExclusiveMinimum, func(c int) bool { return c <= 0 }, "more than %s"),
		limit(f.ExclusiveMaximum, func(c int) bool { return c >= 0 }, "less than %s"),
	} {
		if why != "" {
			return why
		}
	}
	if m, ok := rational(string(f.MultipleOf)); ok && !new(big.Rat).Quo(r, m).IsInt() {
		return fmt.Sprintf("must be a multiple of %s, which %s is not", f.MultipleOf, short(text, 40))
	}
	return ""
}

func (f *Field) checkChoice(raw json.RawMessage) string {
	if f.optionIndex(raw) >= 0 {
		return ""
	}
	return "must be " + f.optionWords() + ", not " + plainShort(raw)
}

// optionIndex finds a value among the options, -1 if it is none.
func (f *Field) optionIndex(raw json.RawMessage) int {
	s, isText := textOf(raw)
	r, isNumber := rational(strings.TrimSpace(string(raw)))
	return slices.IndexFunc(f.Options, func(o Option) bool {
		if t, ok := textOf(o.Value); ok || isText {
			return ok && isText && t == s
		}
		if l, ok := rational(string(o.Value)); ok || isNumber {
			return ok && isNumber && l.Cmp(r) == 0
		}
		return strings.TrimSpace(string(raw)) == string(o.Value)
	})
}

func (f *Field) optionWords() string {
	if len(f.Options) == 0 {
		return "one of no values at all"
	}
	words := make([]string, 0, 10)
	for _, o := range f.Options[:min(len(f.Options), 10)] {
		w := plainShort(o.Value)
		if t := plainText(o.Value); o.Title != t {
			w += " (" + short(o.Title, 60) + ")"
		}
		words = append(words, w)
	}
	if more := len(f.Options) - len(words); more > 0 {
		return fmt.Sprintf("one of %s or %d other values", strings.Join(words, ", "), more)
	}
	return "one of " + strings.Join(words, ", ")
}

func (f *Field) checkItems(raw json.RawMessage) string {
	if firstByte(raw) != '[' {
		return "must be a list, not " + plainShort(raw)
	}
	items := uncheckedArray(raw)
	if len(items) < f.MinItems {
		return fmt.Sprintf("must have at least %s, has %d", count(f.MinItems, "entry"), len(items))
	}
	if f.MaxItems >= 0 && len(items) > f.MaxItems {
		return fmt.Sprintf("must have at most %s, has %d", count(f.MaxItems, "entry"), len(items))
	}
	seen := map[string]bool{}
	for i, item := range items {
		why := ""
		if f.Kind == Choices {
			why = f.checkChoice(item)
		} else {
			why = f.checkScalar(f.Item, item)
		}
		if why != "" {
			return fmt.Sprintf("has a wrong entry %d: it %s", i+1, why)
		}
		key := plainText(item)
		if seen[key] && (f.UniqueItems || f.Kind == Choices) {
			return fmt.Sprintf("must not have the entry %s twice", plainShort(item))
		}
		seen[key] = true
	}
	return ""
}

// AnswerError is a full sentence to show beside a field whose answer is wrong.
type AnswerError string

// Error gives the sentence.
func (e AnswerError) Error() string { return string(e) }

func answerError(format string, args ...any) error {
	return AnswerError(fmt.Sprintf(format, args...))
}

// Parse turns what a person typed into the field's JSON value. The error, an
// [AnswerError], is a sentence to show beside the field, with an example or the limits. Whole numbers stay exact,
// however long. What a person types around a value (spaces, a plus sign, leading
// zeros, full-width digits) is forgiven where the meaning is clear; a Text is taken
// as it is. Choices and List take entries separated by commas, or a JSON array. An
// empty text is an empty Text, an empty list, or an error.
func (f *Field) Parse(text string) (json.RawMessage, error) {
	if !utf8.ValidString(text) {
		return nil, AnswerError("The text is not valid UTF-8.")
	}
	raw, err := f.parse(text)
	if err != nil {
		return nil, err
	}
	if why := f.check(raw); why != "" {
		return nil, AnswerError("This " + why + ".")
	}
	return raw, nil
}

func (f *Field) parse(text string) (json.RawMessage, error) {
	trimmed := strings.TrimSpace(text)
	if f.Nullable && f.Kind != Text && (trimmed == "" || trimmed == "null") {
		return json.RawMessage("null"), nil
	}
	switch f.Kind {
	case Boolean:
		return parseBoolean(trimmed)
	case Choice:
		return f.parseChoice(trimmed)
	case Choices, List:
		return f.parseItems(trimmed)
	}
	return f.parseScalar(f.Kind, text)
}

func (f *Field) parseScalar(k Kind, text string) (json.RawMessage, error) {
	if k == Text {
		if f.Format == "email" || f.Format == "uri" || f.Format == "date" || f.Format == "date-time" {
			text = strings.TrimSpace(text)
		}
		return appendQuoted(nil, []byte(text)), nil
	}
	return parseNumber(k, strings.TrimSpace(text))
}

func parseBoolean(text string) (json.RawMessage, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "y", "on", "1", "是", "对", "好":
		return json.RawMessage("true"), nil
	case "false", "no", "n", "off", "0", "否", "不", "不是":
		return json.RawMessage("false"), nil
	case "":
		return nil, AnswerError("Answer yes or no.")
	}
	return nil, answerError("%s is neither yes nor no.", quoted(short(text, 60)))
}

// parseNumber reads a number as people write it and gives it as JSON writes it.
func parseNumber(k Kind, text string) (json.RawMessage, error) {
	example := "for example 2.5"
	if k == Integer {
		example = "for example 20"
	}
	if text == "" {
		return nil, answerError("Enter %s, %s.", kindWords(k), example)
	}
	n := jsonNumber(text)
	if check([]byte(n)) != nil || n == "" || n[0] != '-' && !isDigit(n[0]) {
		hint := example
		if strings.Count(text, ",") == 1 && k == Number {
			hint = "with a point, " + example
		}
		return nil, answerError("%s is not %s; write it in digits, %s.", quoted(short(text, 60)), kindWords(k), hint)
	}
	if k == Integer && strings.ContainsAny(n, ".eE") {
		r, ok := rational(n)
		if !ok {
			return nil, answerError("%s is too large or too small to be sent.", quoted(short(text, 60)))
		}
		if !r.IsInt() {
			return nil, answerError("%s is not a whole number.", quoted(short(text, 60)))
		}
		return json.RawMessage(r.Num().String()), nil
	}
	return json.RawMessage(n), nil
}

// jsonNumber brings digits of other widths, a plus sign, leading zeros and a missing
// zero beside the point into the grammar of JSON.
func jsonNumber(text string) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r >= '０' && r <= '９':
			return r - '０' + '0'
		case r == '．':
			return '.'
		case r == '－' || r == '−':
			return '-'
		case r == '＋':
			return '+'
		}
		return r
	}, text)
	sign := ""
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		sign, text = "-", rest
	} else {
		text = strings.TrimPrefix(text, "+")
	}
	for len(text) > 1 && text[0] == '0' && isDigit(text[1]) {
		text = text[1:]
	}
	if strings.HasPrefix(text, ".") {
		text = "0" + text
	}
	return sign + strings.TrimSuffix(text, ".")
}

// parseChoice finds the option a person means: by its value, by its title, or by
// either in other letter case, where that is only one.
func (f *Field) parseChoice(text string) (json.RawMessage, error) {
	for _, same := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		strings.EqualFold,
	} {
		for _, of := range []func(Option) string{
			func(o Option) string { return plainText(o.Value) },
			func(o Option) string { return strings.TrimSpace(o.Title) },
		} {
			var found []json.RawMessage
			for _, o := range f.Options {
				if same(of(o), text) {
					found = append(found, o.Value)
				}
			}
			if len(found) == 1 {
				return found[0], nil
			}
			if len(found) > 1 {
				return nil, answerError("%s means %d of the choices; give the value of one.", quoted(short(text, 60)), len(found))
			}
		}
	}
	return nil, answerError("Choose %s.", f.optionWords())
}

// parseItems reads a JSON array, or entries separated by commas or lines.
func (f *Field) parseItems(text string) (json.RawMessage, error) {
	if text == "" {
		return json.RawMessage("[]"), nil
	}
	if compact, err := Compact([]byte(text)); err == nil && compact[0] == '[' {
		return compact, nil
	}
	out := []byte{'['}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '，' || r == '、' || r == '\n' }) {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		var item json.RawMessage
		var err error
		if f.Kind == Choices {
			item, err = f.parseChoice(part)
		} else {
			item, err = f.parseScalar(f.Item, part)
		}
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']'), nil
}

// textOf reads a JSON string that was checked before.
func textOf(raw json.RawMessage) (string, bool) {
	if firstByte(raw) != '"' {
		return "", false
	}
	return string(unquote([]byte(strings.TrimSpace(string(raw))))), true
}

// plainText shows a JSON scalar without quotes.
func plainText(raw json.RawMessage) string {
	if s, ok := textOf(raw); ok {
		return s
	}
	return strings.TrimSpace(string(raw))
}

// plainShort shows any JSON value briefly, texts in quotes.
func plainShort(raw json.RawMessage) string {
	if s, ok := textOf(raw); ok {
		return quoted(short(s, 60))
	}
	return short(strings.TrimSpace(string(raw)), 60)
}

// sizeOf reads a keyword that is a whole number of things. What does not fit an int is
// as good as the largest.
func sizeOf(o Object, word string) (int, bool) {
	raw, ok := o.Get(word)
	if !ok {
		return 0, false
	}
	r, ok := rational(strings.TrimSpace(string(raw)))
	if !ok || !r.IsInt() || r.Sign() < 0 {
		return 0, false
	}
	if r.Cmp(new(big.Rat).SetInt64(1<<31-1)) > 0 {
		return 1<<31 - 1, true
	}
	return int(r.Num().Int64()), true
}

// percentDecoded undoes %XX in a URI fragment; what is wrong stays.
func percentDecoded(s string) string {
	if d, err := url.PathUnescape(s); err == nil {
		return d
	}
	return s
}
