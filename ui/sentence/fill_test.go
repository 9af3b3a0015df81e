package sentence

import (
	"slices"
	"testing"
)

func TestFillingsAreFound(t *testing.T) {
	for _, c := range []struct {
		pattern, sentence string
		want              []string
		ok                bool
	}{
		{"a", "a", nil, true},
		{"a", "b", nil, false},
		{"“{{.a}}” is long: {{.b}} characters.", "“x” is long: 3 characters.” is long: 7 characters.", []string{"x” is long: 3 characters.", "7"}, true},
		{"“{{.a}}” is long: {{.b}} characters.", "“x” is short.", nil, false},
		{"of {{.a}}.", "of a.b.", []string{"a.b"}, true},
	} {
		if got, ok := made(c.pattern).fill(c.sentence); ok != c.ok || !slices.Equal(got, c.want) {
			t.Errorf("%q in %q: %q, %v", c.pattern, c.sentence, got, ok)
		}
	}
}

func made(text string) pattern {
	p := pattern{fixed: placeholder.Split(text, -1)}
	for range len(p.fixed) - 1 {
		p.names = append(p.names, "x")
	}
	return p
}
