package schema

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// values are what const and enum of one subschema allow, by a key that equal values
// share (JSON Schema 2020-12, core, section 4.2.2: numbers by their value, objects
// whatever the order). So checking takes no longer with many values than with one.
type values struct {
	lists []allowed // const, enum, or both
}

// allowed is one of the two.
type allowed struct {
	keys    map[string]bool
	longest int // of the keys, in bytes
	wrong   func(got any) jsonschema.ErrorKind
}

// takeValues moves const and enum of s into values; nil if it has neither.
func takeValues(s *jsonschema.Schema) *values {
	var v values
	add := func(list []any, wrong func(any) jsonschema.ErrorKind) {
		a := allowed{keys: make(map[string]bool, len(list)), wrong: wrong}
		for _, item := range list {
			key, _ := appendKey(nil, item, 1<<62, func(int) {})
			a.keys[string(key)] = true
			a.longest = max(a.longest, len(key))
		}
		v.lists = append(v.lists, a)
	}
	if s.Const != nil {
		want := *s.Const
		add([]any{want}, func(got any) jsonschema.ErrorKind { return &kind.Const{Got: got, Want: want} })
	}
	if s.Enum != nil {
		want := s.Enum.Values
		add(want, func(got any) jsonschema.ErrorKind { return &kind.Enum{Got: got, Want: want} })
	}
	s.Const, s.Enum = nil, nil
	if v.lists == nil {
		return nil
	}
	return &v
}

// notAmong is the error of a value that const or enum does not allow.
type notAmong struct{ kind jsonschema.ErrorKind }

func (e *notAmong) Error() string { return sentence(e.kind) }

// check looks for v among the values, and charges the meter for its size.
func (l *values) check(m *meter, v any) error {
	for _, a := range l.lists {
		key, whole := appendKey(nil, v, a.longest, m.spend)
		if !whole || !a.keys[string(key)] {
			return &notAmong{a.wrong(v)}
		}
	}
	return nil
}

// appendKey appends the key of a decoded value: its JSON text with sorted names and
// numbers in one form. whole is false if it was given up because it is longer than
// limit bytes. spend is told the work.
func appendKey(out []byte, v any, limit int, spend func(int)) (key []byte, whole bool) {
	switch v := v.(type) {
	case nil:
		out = append(out, "null"...)
	case bool:
		out = strconv.AppendBool(out, v)
	case string:
		if len(v) > limit {
			return out, false
		}
		out = append(out, 's')
		out = strconv.AppendInt(out, int64(len(v)), 10)
		out = append(append(out, ':'), v...)
	case []any:
		spend(1 + len(v)/16)
		out = append(out, '[')
		for _, item := range v {
			if out, whole = appendKey(out, item, limit, spend); !whole {
				return out, false
			}
		}
		out = append(out, ']')
	case map[string]any:
		if len(v) > limit {
			return out, false
		}
		spend(1 + len(v))
		out = append(out, '{')
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if out, whole = appendKey(out, name, limit, spend); !whole {
				return out, false
			}
			if out, whole = appendKey(out, v[name], limit, spend); !whole {
				return out, false
			}
		}
		out = append(out, '}')
	default:
		text, _ := numberText(v)
		digits, exponent := splitNumber(text)
		out = append(append(append(out, 'n'), digits...), 'e')
		out = append(strconv.AppendInt(out, int64(exponent), 10), ';')
	}
	return out, len(out) <= limit
}

// numberText gives the text of a decoded number.
func numberText(v any) (string, bool) {
	n, ok := v.(json.Number)
	return string(n), ok
}

// splitNumber writes a manageable number as digits times a power of ten, the digits
// with a minus sign where it is negative, and without zeros at either end.
func splitNumber(text string) (digits string, exponent int) {
	sign := ""
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		sign, text = "-", rest
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		// A manageable exponent has three digits at most.
		exponent, _ = strconv.Atoi(text[i+1:])
		text = text[:i]
	}
	whole, fraction, _ := strings.Cut(text, ".")
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	exponent += len(digits) - len(short)
	if short == "" {
		return "0", 0
	}
	return sign + short, exponent
}
