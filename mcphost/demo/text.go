package demo

import (
	"bytes"
	"encoding/json"
	"hash/fnv"
	"strings"
	"time"
	"unicode"
)

// clean makes text from a client safe to give back: no control, format, private-use
// or line-separating characters, no long runs of combining marks, no runs of white
// space, at most limit characters.
func clean(text string, limit int) string {
	var b strings.Builder
	space, marks, n := false, 0, 0
	for _, r := range text {
		switch {
		case unicode.IsSpace(r) || unicode.In(r, unicode.Zs, unicode.Zl, unicode.Zp):
			space, marks = true, 0
			continue
		case unicode.In(r, unicode.C) || r == unicode.ReplacementChar:
			continue
		case unicode.In(r, unicode.M):
			if marks++; marks > 3 {
				continue
			}
		default:
			marks = 0
		}
		if n >= limit {
			b.WriteRune('…')
			break
		}
		if space && b.Len() > 0 {
			b.WriteByte(' ')
			n++
		}
		space = false
		b.WriteRune(r)
		n++
	}
	return b.String()
}

// chinese says whether text is written in Chinese characters.
func chinese(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// marshal writes compact JSON with all characters as they are.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// dice gives numbers that look random and depend on its parts alone.
type dice struct{ state uint64 }

func roll(parts ...string) *dice {
	h := fnv.New64a()
	for _, p := range parts {
		// The hash cannot fail; the zero byte keeps "ab","c" and "a","bc" apart.
		_, _ = h.Write([]byte(p))
		_, _ = h.Write([]byte{0})
	}
	return &dice{h.Sum64()}
}

// next gives a number from low to high, both included (splitmix64).
func (d *dice) next(low, high int) int {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return low + int(z%uint64(high-low+1))
}

// pick gives one of several texts.
func (d *dice) pick(texts []string) string { return texts[d.next(0, len(texts)-1)] }

// day reads a date of the calendar between the years 2000 and 2100. argument names it
// in the error.
func day(argument, text string) (time.Time, error) {
	d, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return time.Time{}, refuse("%s must be a date of the calendar written as YYYY-MM-DD, for example 2025-03-17, not %q.", argument, clean(text, 40))
	}
	if d.Year() < 2000 || d.Year() > 2100 {
		return time.Time{}, refuse("%s must be between the years 2000 and 2100, not %s.", argument, text)
	}
	return d, nil
}

// monday gives the Monday of the week d is in (ISO 8601).
func monday(d time.Time) time.Time {
	return d.AddDate(0, 0, -(int(d.Weekday())+6)%7)
}
