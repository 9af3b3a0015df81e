package audit

import (
	"slices"
	"testing"
	"time"

	"steward/app/journal"
)

func TestQueriesAreReadAsTheyAreTyped(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]journal.Filter{
		"": {},
		`server:mail-server outcome:denied “in voice”`: {Server: "mail-server", Outcome: "denied", Search: "in voice"},
		`server:"my server" a  b`:                      {Server: "my server", Search: "a b"},
		`OUTCOME:Tool-Error kind:call`:                 {Outcome: "tool_error", Kind: "call"},
		`http://x "server:y"`:                          {Search: "http://x server:y"},
		`since:2026-01-30 until:2026-01-31`:            {Since: time.Date(2026, 1, 30, 0, 0, 0, 0, time.UTC), Until: time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)},
		`outcome:maybe kind:x since:yesterday`:         {},
		"\xff\xfe server:":                             {Search: "\ufffd\ufffd"},
	} {
		if got, _ := parse(query, time.UTC); got != want {
			t.Errorf("%q is read as %+v, want %+v", query, got, want)
		}
	}
	if _, faults := parse("outcome:maybe kind:x since:yesterday until:2999-01-01", time.UTC); len(faults) != 4 {
		t.Errorf("faults %v", faults)
	}
}

func TestMenusChangeOneWord(t *testing.T) {
	t.Parallel()
	for _, c := range [][4]string{
		{"", "server", "a", "server:a"}, {"x server:a y", "server", "b c", `x server:"b c" y`}, {"x server:a server:b", "server", "", "x"},
		{`“in voice” outcome:ok`, "outcome", "denied", `“in voice” outcome:denied`},
	} {
		if got := with(c[0], c[1], c[2]); got != c[3] || value(got, c[1]) != c[2] {
			t.Errorf("%q with %s=%q is %q, want %q", c[0], c[1], c[2], got, c[3])
		}
	}
}

func TestPagesJoin(t *testing.T) {
	t.Parallel()
	rows := func(from, to int64) (out []journal.Record) {
		for n := from; n >= to; n-- {
			out = append(out, journal.Record{Record: n, Outcome: journal.OK})
		}
		return out
	}
	p := newPages()
	p.landed(0, rows(1000, 801))
	if p.missing(0, 20) != -1 || p.missing(0, 150) != 1 || p.begin[1] != 801 {
		t.Errorf("after the first page %d and %d are missing, the next begins after %d", p.missing(0, 20), p.missing(0, 150), p.begin[1])
	}
	p.landed(1, rows(800, 701))
	if !p.ended || p.Len() != 300 {
		t.Errorf("%d rows, ended %v", p.Len(), p.ended)
	}
	if n, ok := p.fresh(append(rows(1003, 1001), rows(1000, 804)...)); n != 3 || !ok || p.Len() != 303 || p.find(1002) != 1 || p.find(750) != 253 || p.find(5) != -1 {
		t.Errorf("%d came (%v), 1002 stands at %d, 750 at %d", n, ok, p.find(1002), p.find(750))
	}
	if _, ok := p.fresh(rows(2000, 1801)); ok {
		t.Error("a gap was not noticed")
	}
	// A page that was let go of is read again from where it began, whatever has come since.
	p.kept = map[int][]journal.Record{}
	if p.missing(3, 10) != 0 || p.begin[0] != 1001 {
		t.Errorf("page %d is missing, after %d", p.missing(3, 10), p.begin[0])
	}
	var numbers []int64
	p.landed(0, rows(1000, 801))
	p.landed(1, rows(800, 701))
	for i := range p.Len() {
		r, _ := p.at(i)
		numbers = append(numbers, r.Record)
	}
	if p.Len() != 303 || !slices.IsSortedFunc(numbers, func(a, b int64) int { return int(b - a) }) {
		t.Errorf("%d rows: %v", p.Len(), numbers)
	}
}
