package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxArguments bounds the arguments of one call, in bytes.
const maxArguments = 4 << 20

// resend ends every sentence about arguments that cannot be used.
const resend = " Nothing was run. Send the whole call again with one complete JSON object."

// completeObject turns what a model wrote for arguments into compact JSON. If
// that is not one strictly complete JSON object (RFC 8259) of proper Unicode and
// of numbers within a double's range (RFC 7493), it says why, for the model.
// Nothing is mended. A name that stands in one object twice is kept: what the
// person sees and what the server gets are the same bytes. repeated names the
// first such one.
//
// Missing arguments are {} unless the answer was cut, where nobody can know
// what would have come.
func completeObject(raw string, cut bool) (compact, repeated, problem string) {
	switch strings.TrimSpace(raw) {
	case "", "null":
		if cut {
			return "", "", "The answer reached its length limit before the arguments of this call came." + resend
		}
		return "{}", "", ""
	}
	if len(raw) > maxArguments {
		return "", "", fmt.Sprintf("The arguments are longer than %d bytes.", maxArguments) + resend
	}
	if !utf8.ValidString(raw) {
		return "", "", "The arguments are not valid UTF-8." + resend
	}
	b := []byte(raw)
	value, err := whole(b)
	switch {
	case errors.Is(err, errJSONEnd) && cut:
		return "", "", "The answer reached its length limit and the arguments of this call were cut." + resend
	case errors.Is(err, errJSONEnd):
		return "", "", "The arguments were cut: they are not complete JSON." + resend
	case err != nil:
		return "", "", "The arguments are not valid JSON: " + err.Error() + "." + resend
	case value[0] != '{':
		return "", "", "The arguments are " + kindOf(value) + ", not a JSON object." + resend
	}
	if _, err := strictValue(value, 0, 0, &repeated); err != nil {
		return "", "", "The arguments are not usable: " + err.Error() + "." + resend
	}
	var out bytes.Buffer
	if err := json.Compact(&out, value); err != nil {
		return "", "", "The arguments are not valid JSON: " + err.Error() + "." + resend
	}
	return out.String(), repeated, ""
}

func kindOf(value []byte) string {
	switch value[0] {
	case '[':
		return "a JSON array"
	case '"':
		return "a JSON text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

// strictValue checks, in valid JSON, what the grammar leaves open, and notes the
// first repeated name.
func strictValue(b []byte, i, depth int, repeated *string) (int, error) {
	switch b[i] {
	case '{':
		seen := map[string]bool{}
		return eachMember(b, i, depth, func(key []byte, i, depth int) (int, error) {
			if loneSurrogate(key) {
				return i, errors.New("a name holds half of a Unicode surrogate pair")
			}
			name := unquote(key)
			if seen[name] && *repeated == "" {
				*repeated = string(key)
			}
			seen[name] = true
			return strictValue(b, i, depth, repeated)
		})
	case '[':
		return eachItem(b, i, depth, func(i, depth int) (int, error) { return strictValue(b, i, depth, repeated) })
	}
	end, err := skipValue(b, i, depth)
	if err != nil {
		return end, err
	}
	switch value := b[i:end]; {
	case value[0] == '"':
		if loneSurrogate(value) {
			return end, errors.New("a text holds half of a Unicode surrogate pair")
		}
	case value[0] == '-' || value[0] >= '0' && value[0] <= '9':
		if _, err := strconv.ParseFloat(string(value), 64); err != nil {
			return end, fmt.Errorf("the number %.40s is out of range", value)
		}
	}
	return end, nil
}

// loneSurrogate tells whether a JSON string holds an escaped surrogate without
// its other half.
func loneSurrogate(b []byte) bool {
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 || i+1 >= len(b) {
			return false
		}
		if b[i+1] != 'u' || i+6 > len(b) {
			b = b[i+2:]
			continue
		}
		switch u := surrogate(b[i:]); {
		case u == 0:
			b = b[i+6:]
		case u == 'h' && surrogate(b[i+6:]) == 'l':
			b = b[i+12:]
		default:
			return true
		}
	}
}

// surrogate is 'h' or 'l' if b starts with the escape of a high or low
// surrogate, else 0.
func surrogate(b []byte) byte {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' || b[2]|0x20 != 'd' {
		return 0
	}
	switch c := b[3] | 0x20; {
	case c == '8' || c == '9' || c == 'a' || c == 'b':
		return 'h'
	case c >= 'c' && c <= 'f':
		return 'l'
	}
	return 0
}
