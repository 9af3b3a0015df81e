package schema

import (
	"reflect"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The library has no limits of its own, and schema and instance may both come from a
// hostile server: {"allOf":[{"$ref":"#"},…]} under properties doubles the work with
// every level. So each compiled subschema gets a gate in the place of its format, which
// the library asks before it goes down into the value; the gate charges a budget, and an
// empty budget ends the validation by a panic, which Validate recovers. An extension
// would not do: the library leaves it out where it only wants to know yes or no, as
// under "not", and the value does not fit.

// maxCharge is the budget of one validation, in applications of a subschema. It
// bounds memory too, since each application can leave one error.
const maxCharge = 500_000

// exhausted is the panic that ends a validation.
type exhausted struct{}

// meter is the budget of the validation that runs.
type meter struct {
	left     int
	calls    int
	deadline time.Time
	running  bool
}

// start fills the budget. An error holds the path to its value, so the deeper the
// instance the fewer may be made.
func (m *meter) start(depth int) {
	*m = meter{left: maxCharge / (1 + depth/8), deadline: time.Now().Add(MaxCheckTime), running: true}
}

func (m *meter) stop() { m.running = false }

// spend takes n from the budget. Outside a validation (while the schema itself is
// compiled) it does nothing.
func (m *meter) spend(n int) {
	if !m.running {
		return
	}
	m.left -= n
	m.calls++
	if m.left < 0 || (n > 64 || m.calls%64 == 0) && time.Now().After(m.deadline) {
		panic(exhausted{})
	}
}

// gate is asked before one subschema is applied to a value.
type gate struct {
	meter    *meter
	fixed    int // for every value: the subschemas applied to the same value
	names    int // for every object: the names it is asked for
	property int // for every property of an object
	item     int // for every item of an array
	unique   bool
	values   *values // of const and enum; nil if it has neither
	format   func(any) error
}

// install puts gates into the compiled schemas that roots lead to, once each. Schemas
// of the library's own (the dialects') are shared, and are left alone.
func install(m *meter, roots []*jsonschema.Schema) {
	seen := map[*jsonschema.Schema]bool{}
	for len(roots) > 0 {
		s := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		if s == nil || seen[s] || !strings.HasPrefix(s.Location, base) {
			continue
		}
		seen[s] = true
		all := reflect.ValueOf(s).Elem()
		for i := range all.NumField() {
			if all.Type().Field(i).IsExported() {
				roots = below(all.Field(i), roots)
			}
		}
		newGate(m, s)
	}
}

// below adds the subschemas in a field of a compiled schema to found.
func below(v reflect.Value, found []*jsonschema.Schema) []*jsonschema.Schema {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			found = below(v.Elem(), found)
		}
	case reflect.Pointer:
		switch p := v.Interface().(type) {
		case *jsonschema.Schema:
			found = append(found, p)
		case *jsonschema.DynamicRef:
			if p != nil {
				found = append(found, p.Ref)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = below(v.Index(i), found)
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			found = below(it.Value(), found)
		}
	}
	return found
}

// newGate makes the gate of s and puts it in place. The gate takes over const and enum:
// the library compares them outside of any budget.
func newGate(m *meter, s *jsonschema.Schema) {
	g := &gate{meter: m, property: 1 + len(s.PatternProperties), item: 1, unique: s.UniqueItems, values: takeValues(s), names: len(s.Required)}
	g.fixed = 1 + len(s.AllOf) + len(s.AnyOf) + len(s.OneOf) + len(s.DependentSchemas) + len(s.Dependencies)
	for _, names := range s.DependentRequired {
		g.names += len(names)
	}
	for _, d := range s.Dependencies {
		if names, ok := d.([]string); ok {
			g.names += len(names)
		}
	}
	if s.PropertyNames != nil {
		g.property++
	}
	if s.Contains != nil {
		g.item++
	}
	name := ""
	if s.Format != nil && s.Format.Name != "regex" { // regular expressions are Go's here, not ECMA-262's
		name, g.format = s.Format.Name, s.Format.Validate
	}
	s.Format = &jsonschema.Format{Name: name, Validate: g.check}
}

// check is what the library calls. Its errors are the format's, or a *notAmong.
func (g *gate) check(v any) error {
	n := g.fixed
	switch v := v.(type) {
	case map[string]any:
		n += g.names + len(v)*g.property
	case []any:
		n += len(v) * g.item
		if g.unique && len(v) <= 20 { // the library compares each with all others
			n += len(v) * weight(v) / 10
		}
	}
	g.meter.spend(n)
	if g.values != nil {
		if err := g.values.check(g.meter, v); err != nil {
			return err
		}
	}
	if g.format != nil {
		return g.format(v)
	}
	return nil
}

// weight is the size of a value in ordinary values; reading a number of many digits, or
// with a large exponent, takes as long as reading many.
func weight(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, item := range v {
			n += weight(item)
		}
	case []any:
		for _, item := range v {
			n += weight(item)
		}
	default:
		if text, ok := numberText(v); ok {
			_, exponent := splitNumber(text)
			n += (len(text) + max(exponent, -exponent)) / 32
		}
	}
	return n
}
