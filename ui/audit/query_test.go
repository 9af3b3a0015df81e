package audit

import (
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
	upTo := func(from, to int64) (out []int64) {
		for _, r := range rows(from, to) {
			out = append(out, r.Record)
		}
		return out
	}
	p := newPages()
	p.begin(rows(1000, 801))
	if p.ended || p.Len() != 201 || p.missing(0, 199) != -1 {
		t.Errorf("%d rows after the first page, ended %v, page %d is missing", p.Len(), p.ended, p.missing(0, 199))
	}
	// Three came before the numbers of all were read: they stand among them.
	if n, ok := p.fresh(append(rows(1003, 1001), rows(1000, 804)...)); n != 3 || !ok || p.Len() != 204 {
		t.Errorf("%d came (%v), %d rows", n, ok, p.Len())
	}
	if more := p.all(upTo(1002, 701)); more != 99 || !p.ended || p.Len() != 303 || len(p.head) != 1 {
		t.Errorf("%d more, %d rows, %d of them before the numbers", more, p.Len(), len(p.head))
	}
	if p.find(1002) != 1 || p.find(750) != 253 || p.find(5) != -1 || p.number(0) != 1003 || p.number(302) != 701 || p.number(303) != 0 {
		t.Errorf("1002 stands at %d, 750 at %d", p.find(1002), p.find(750))
	}
	if _, ok := p.fresh(rows(2000, 1801)); ok {
		t.Error("a gap was not noticed")
	}
	if _, ok := p.fresh(append(rows(1004, 1004), rows(1002, 900)...)); ok {
		t.Error("rows that do not go on with what is held were taken")
	}
	for page := p.missing(0, 302); page >= 0; page = p.missing(0, 302) {
		w := p.wanted(page)
		p.landed(page, rows(w[0], w[len(w)-1]))
	}
	for i := range p.Len() {
		if r, ok := p.at(i); !ok || r.Record != 1003-int64(i) {
			t.Fatalf("row %d is #%d", i, r.Record)
		}
	}
	for page := range 2 * pagesKept {
		p.touch(page)
	}
	if len(p.used) != pagesKept || p.kept[0] != nil {
		t.Errorf("%d pages are kept", len(p.used))
	}
}
