package app

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// operator is how an expression of a template is written out (RFC 6570, appendix A).
type operator struct {
	first, separator string
	named            bool
	ifEmpty          string
	reserved         bool // reserved characters and triplets stay
}

var operators = map[byte]operator{
	'+': {separator: ",", reserved: true},
	'#': {first: "#", separator: ",", reserved: true},
	'.': {first: ".", separator: "."},
	'/': {first: "/", separator: "/"},
	';': {first: ";", separator: ";", named: true},
	'?': {first: "?", separator: "&", named: true, ifEmpty: "="},
	'&': {first: "&", separator: "&", named: true, ifEmpty: "="},
}

// ExpandTemplate fills in a resource template (RFC 6570, all four levels). A variable that
// is left out is undefined; for a list variable (explode modifier *) the values stand
// between commas. Characters beyond ASCII become the triplets of their UTF-8 (section
// 1.5), which is why the expanding is done here: the library that reads the templates
// writes the code point instead.
func ExpandTemplate(template string, values map[string]string) (string, error) {
	if _, err := parseTemplate(template); err != nil {
		return "", err
	}
	for name, v := range values {
		if len(v) > maxTemplate {
			return "", &Message{Key: "template", Args: args("detail", "The value of "+reveal(name)+" is too long.")}
		}
	}
	var b strings.Builder
	for rest := template; rest != ""; {
		literal, after, found := strings.Cut(rest, "{")
		b.WriteString(escapeURI(literal, true))
		if !found {
			break
		}
		var expression string
		expression, rest, _ = strings.Cut(after, "}") // the template was read, so it is closed
		expand(&b, expression, values)
	}
	return b.String(), nil
}

// expand writes one expression (RFC 6570, section 3.2.1).
func expand(b *strings.Builder, expression string, values map[string]string) {
	op := operator{separator: ","}
	if o, ok := operators[expression[0]]; ok {
		op, expression = o, expression[1:]
	}
	lead := op.first
	for _, spec := range strings.Split(expression, ",") {
		name, list := strings.CutSuffix(spec, "*")
		name, length, cut := strings.Cut(name, ":")
		value, defined := values[name]
		if !defined {
			continue
		}
		parts := []string{value}
		if list {
			parts = strings.Split(value, ",")
		}
		for _, part := range parts {
			if n, err := strconv.Atoi(length); cut && err == nil {
				part = firstCharacters(part, n)
			}
			b.WriteString(lead)
			lead = op.separator
			if op.named {
				b.WriteString(escapeURI(name, true))
				if part == "" {
					b.WriteString(op.ifEmpty)
					continue
				}
				b.WriteByte('=')
			}
			b.WriteString(escapeURI(part, op.reserved))
		}
	}
}

func firstCharacters(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

// escapeURI writes text as RFC 3986 allows it; with reserved the reserved characters and
// triplets stay as they are.
func escapeURI(s string, reserved bool) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c < utf8.RuneSelf && class(rune(c)) != 0, strings.IndexByte("-._~", c) >= 0,
			reserved && strings.IndexByte(":/?#[]@!$&'()*+,;=", c) >= 0,
			reserved && c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			b.WriteByte(c)
		default:
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
