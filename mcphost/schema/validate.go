package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Violation is one way in which a value does not fit its schema.
type Violation struct {
	Path    string // JSON Pointer (RFC 6901) into the value; "" is the value itself
	Message string // what is wrong there, to be read after the path
}

// String gives both as one sentence.
func (v Violation) String() string {
	if v.Path == "" {
		return "the value " + v.Message
	}
	return v.Path + " " + v.Message
}

// maxValues bounds the values of one instance.
const maxValues = 100_000

// maxWeight bounds the values of one instance where numbers of many digits or with large
// exponents count for several.
const maxWeight = 300_000

// maxStack bounds the depth of the instance times the subschemas that apply others to
// the same value. The library recurses that often at most (a reference that comes back
// to itself on the same value is found by it), and Go cannot recover from a stack that
// is too large.
const maxStack = 100_000

// Validate says in which ways instance, one JSON text, does not fit the schema; nil
// means that it fits. Numbers are compared exactly, however long. The order is that of
// the paths, at most 50 are given. An instance that cannot be checked within
// [MaxCheckTime] and the limits of this package gives one violation that says so. Of
// a name that appears twice the last value is checked.
func (s *Schema) Validate(instance []byte) []Violation {
	sc, err := newScanner(instance)
	if err == nil {
		err = sc.document()
	}
	if err != nil {
		return []Violation{{Message: "cannot be checked: " + err.Error()}}
	}
	if sc.count > maxValues { // decoded, they would take many times their text
		return []Violation{{Message: fmt.Sprintf("has more than %d parts, too many to be checked against the schema", maxValues)}}
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(instance))
	if err != nil {
		return []Violation{{Message: "cannot be read: " + err.Error()}}
	}
	var size extent
	if why := size.measure(doc, 1); why != "" {
		return []Violation{{Message: why}}
	}
	if size.depth*(s.inPlace+1) > maxStack {
		return []Violation{{Message: "is nested too deep to be checked against a schema of this many references"}}
	}
	if weight(doc) > maxWeight {
		return []Violation{{Message: "has too many long numbers to be checked against the schema"}}
	}
	return s.run(doc, size.depth)
}

// extent is the size of an instance.
type extent struct{ depth int }

// measure finds the depth of v and looks for numbers nobody can compare.
func (x *extent) measure(v any, depth int) string {
	x.depth = max(x.depth, depth)
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			if why := x.measure(item, depth+1); why != "" {
				return why
			}
		}
	case []any:
		for _, item := range v {
			if why := x.measure(item, depth+1); why != "" {
				return why
			}
		}
	case json.Number:
		if !manageable(string(v)) {
			return fmt.Sprintf("contains the number %s, which is too large or too long to be checked", short(string(v), 20))
		}
	}
	return ""
}

// run validates under the meter. The library is one pure computation that calls
// nothing but gate and pattern, so holding the lock meanwhile cannot deadlock.
func (s *Schema) run(doc any, depth int) (result []Violation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.meter.start(depth)
	defer s.meter.stop()
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exhausted:
			result = []Violation{{Message: "could not be checked: schema and value together need too much work"}}
		default:
			result = []Violation{{Message: fmt.Sprintf("could not be checked: %v", r)}}
		}
	}()
	err := s.compiled.Validate(doc)
	if err == nil {
		return nil
	}
	var ve *jsonschema.ValidationError
	if !errors.As(err, &ve) {
		return []Violation{{Message: "could not be checked: " + err.Error()}}
	}
	return violations(ve)
}

// manageable says whether a number is short enough, and its exponent small enough, to
// be turned into an exact fraction at once.
func manageable(n string) bool {
	if len(n) > 1000 {
		return false
	}
	i := strings.IndexAny(n, "eE")
	if i < 0 {
		return true
	}
	exp, err := strconv.Atoi(n[i+1:])
	return err == nil && exp >= -400 && exp <= 400
}

// rational reads a manageable number exactly.
func rational(n string) (*big.Rat, bool) {
	if !manageable(n) {
		return nil, false
	}
	return new(big.Rat).SetString(n)
}
