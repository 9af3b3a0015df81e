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

// This file reads JSON (RFC 8259) strictly and in place. encoding/json cannot
// be used for what it does: it loses the order of keys, hides repeated ones,
// and mends bad UTF-8 without a word.

// maxDepth bounds nesting, so that a hostile endpoint cannot exhaust the stack.
const maxDepth = 256

var (
	errJSONEnd   = errors.New("it ends too early")
	errJSONDepth = fmt.Errorf("it is nested more than %d deep", maxDepth)
)

type syntaxError struct {
	at   int
	want string
}

func (e *syntaxError) Error() string {
	return fmt.Sprintf("at byte %d: %s", e.at+1, e.want)
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// skipValue checks the value that starts at b[i] and returns where it ends.
func skipValue(b []byte, i, depth int) (int, error) {
	if i >= len(b) {
		return i, errJSONEnd
	}
	switch c := b[i]; {
	case c == '"':
		return skipString(b, i)
	case c == '{':
		return eachMember(b, i, depth, nil)
	case c == '[':
		return eachItem(b, i, depth, nil)
	case c == '-' || c >= '0' && c <= '9':
		return skipNumber(b, i)
	case c == 't':
		return skipWord(b, i, "true")
	case c == 'f':
		return skipWord(b, i, "false")
	case c == 'n':
		return skipWord(b, i, "null")
	}
	return i, &syntaxError{i, "a value was expected"}
}

func skipWord(b []byte, i int, word string) (int, error) {
	for k := range len(word) {
		if i+k >= len(b) {
			return len(b), errJSONEnd
		}
		if b[i+k] != word[k] {
			return i, &syntaxError{i, word + " was expected"}
		}
	}
	return i + len(word), nil
}

// skipString checks the string that starts at the quote b[i].
func skipString(b []byte, i int) (int, error) {
	for i++; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			return i + 1, nil
		case c < 0x20:
			return i, &syntaxError{i, "a control character inside a text must be escaped"}
		case c != '\\':
			i++
		case i+1 >= len(b):
			return i, errJSONEnd
		case b[i+1] == 'u':
			for k := i + 2; k < i+6; k++ {
				if k >= len(b) {
					return k, errJSONEnd
				}
				if !hexDigit(b[k]) {
					return k, &syntaxError{k, "\\u must be followed by four hexadecimal digits"}
				}
			}
			i += 6
		case strings.IndexByte(`"\/bfnrt`, b[i+1]) >= 0:
			i += 2
		default:
			return i, &syntaxError{i, "\\" + string(rune(b[i+1])) + " is no escape"}
		}
	}
	return i, errJSONEnd
}

func hexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func skipDigits(b []byte, i int) int {
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	return i
}

func skipNumber(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	end := skipDigits(b, i)
	switch {
	case end == i && end == len(b):
		return end, errJSONEnd
	case end == i:
		return i, &syntaxError{i, "a digit was expected"}
	case b[i] == '0' && end > i+1:
		return i, &syntaxError{i, "a number must not start with 0"}
	}
	i = end
	if i < len(b) && b[i] == '.' {
		if end = skipDigits(b, i+1); end == i+1 {
			return end, numberEnd(b, end)
		}
		i = end
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		k := i + 1
		if k < len(b) && (b[k] == '+' || b[k] == '-') {
			k++
		}
		if end = skipDigits(b, k); end == k {
			return end, numberEnd(b, end)
		}
		i = end
	}
	return i, nil
}

func numberEnd(b []byte, i int) error {
	if i >= len(b) {
		return errJSONEnd
	}
	return &syntaxError{i, "a digit was expected"}
}

// eachMember checks the object at b[i]. f, if it is not nil, is called with each
// key (with its quotes) and the place of its value, in order; it must check the
// value and return where it ends.
func eachMember(b []byte, i, depth int, f func(key []byte, i, depth int) (int, error)) (int, error) {
	if depth >= maxDepth {
		return i, errJSONDepth
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1, nil
	}
	for {
		if i >= len(b) {
			return i, errJSONEnd
		}
		if b[i] != '"' {
			return i, &syntaxError{i, "a name in quotes was expected"}
		}
		keyEnd, err := skipString(b, i)
		if err != nil {
			return keyEnd, err
		}
		key := b[i:keyEnd]
		if i = skipSpace(b, keyEnd); i >= len(b) {
			return i, errJSONEnd
		}
		if b[i] != ':' {
			return i, &syntaxError{i, "a colon was expected"}
		}
		i = skipSpace(b, i+1)
		var end int
		if f == nil {
			end, err = skipValue(b, i, depth+1)
		} else {
			end, err = f(key, i, depth+1)
		}
		if err != nil {
			return end, err
		}
		more := false
		if i, more, err = next(b, end, '}'); err != nil || !more {
			return i, err
		}
	}
}

// eachItem checks the array at b[i]; f is as for eachMember.
func eachItem(b []byte, i, depth int, f func(i, depth int) (int, error)) (int, error) {
	if depth >= maxDepth {
		return i, errJSONDepth
	}
	i = skipSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1, nil
	}
	for {
		var end int
		var err error
		if f == nil {
			end, err = skipValue(b, i, depth+1)
		} else {
			end, err = f(i, depth+1)
		}
		if err != nil {
			return end, err
		}
		more := false
		if i, more, err = next(b, end, ']'); err != nil || !more {
			return i, err
		}
	}
}

// next steps over a comma (more) or the closing bracket.
func next(b []byte, i int, closing byte) (int, bool, error) {
	i = skipSpace(b, i)
	switch {
	case i >= len(b):
		return i, false, errJSONEnd
	case b[i] == closing:
		return i + 1, false, nil
	case b[i] == ',':
		return skipSpace(b, i+1), true, nil
	}
	return i, false, &syntaxError{i, "a comma or " + string(rune(closing)) + " was expected"}
}

// whole checks that b is one JSON value and nothing else, and returns it
// without the space around it.
func whole(b []byte) ([]byte, error) {
	i := skipSpace(b, 0)
	end, err := skipValue(b, i, 0)
	if err != nil {
		return nil, err
	}
	if rest := skipSpace(b, end); rest != len(b) {
		return nil, &syntaxError{rest, "there is text behind the value"}
	}
	return b[i:end], nil
}

// unquote is the text of a JSON string that skipString has accepted, or "".
func unquote(b []byte) string {
	if len(b) < 2 || b[0] != '"' {
		return ""
	}
	if inner := b[1 : len(b)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var s string
	if json.Unmarshal(b, &s) != nil {
		return ""
	}
	return s
}

// appendQuoted appends s as a JSON string. Only what must be escaped is; bad
// UTF-8 becomes U+FFFD.
func appendQuoted(dst []byte, s string) []byte {
	const hexes = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(dst, "\ufffd"...)
			} else {
				dst = append(dst, s[i:i+n]...)
			}
			i += n
			continue
		}
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, '\\', 'n')
		case c == '\t':
			dst = append(dst, '\\', 't')
		case c == '\r':
			dst = append(dst, '\\', 'r')
		case c < 0x20:
			dst = append(dst, '\\', 'u', '0', '0', hexes[c>>4], hexes[c&15])
		default:
			dst = append(dst, c)
		}
		i++
	}
	return append(dst, '"')
}

// member is the value under a key of an object, nil if there is none; the last
// of several counts.
func member(object []byte, name string) []byte {
	var found []byte
	i := skipSpace(object, 0)
	if i >= len(object) || object[i] != '{' {
		return nil
	}
	_, err := eachMember(object, i, 0, func(key []byte, i, depth int) (int, error) {
		end, err := skipValue(object, i, depth)
		if err == nil && keyIs(key, name) {
			found = object[i:end]
		}
		return end, err
	})
	if err != nil {
		return nil
	}
	return found
}

func keyIs(key []byte, name string) bool {
	if len(key) == len(name)+2 && string(key[1:len(key)-1]) == name {
		return true
	}
	return bytes.IndexByte(key, '\\') >= 0 && unquote(key) == name
}

// number reads a JSON number, or a number in a string, as an int; else 0.
func number(b []byte) int {
	if len(b) > 1 && b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil || f != f || f > 1<<52 || f < -(1<<52) {
		return 0
	}
	return int(f)
}
