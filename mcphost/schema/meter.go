package schema

import (
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The library has no limits of its own, and schema and instance may both come from a
// hostile server: {"allOf":[{"$ref":"#"},…]} under properties doubles the work with
// every level. So each subschema carries an extension that is called whenever the
// subschema has been applied to a value, and that charges a budget; an empty budget
// ends the validation by a panic, which Validate recovers.

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

func (m *meter) start() {
	*m = meter{left: maxCharge, deadline: time.Now().Add(MaxCheckTime), running: true}
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

// charge is the extension of one subschema.
type charge struct {
	meter    *meter
	fixed    int // for every value: the subschemas applied to the same value
	property int // for every property of an object
	item     int // for every item of an array
}

func newCharge(m *meter, obj map[string]any) *charge {
	c := &charge{meter: m, fixed: 1, property: 1, item: 1}
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := obj[k].([]any)
		c.fixed += len(list)
	}
	for _, k := range []string{"dependentSchemas", "dependencies"} {
		m, _ := obj[k].(map[string]any)
		c.fixed += len(m)
	}
	if enum, ok := obj["enum"].([]any); ok {
		c.fixed += len(enum) / 16
	}
	members, _ := obj["patternProperties"].(map[string]any)
	c.property += len(members)
	if _, ok := obj["propertyNames"]; ok {
		c.property++
	}
	if _, ok := obj["contains"]; ok {
		c.item++
	}
	return c
}

// Validate implements jsonschema.SchemaExt.
func (c *charge) Validate(_ *jsonschema.ValidatorContext, v any) {
	n := c.fixed
	switch v := v.(type) {
	case map[string]any:
		n += len(v) * c.property
	case []any:
		n += len(v) * c.item
	}
	c.meter.spend(n)
}
