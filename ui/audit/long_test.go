package audit

import (
	"fmt"
	"os"
	"testing"
	"time"

	"steward/app/journal"
	"steward/ui/place/placetest"
)

// BenchmarkLongRecord tells how long a person waits on a long record, once for each step:
//
//	go run ./testdata/manyrecords -data FOLDER -n 1000000
//	STEWARD_LONG_RECORD=FOLDER go test -tags migrated_fynedo -run '^$' -bench LongRecord -benchtime 1x ./ui/audit
func BenchmarkLongRecord(b *testing.B) {
	folder := os.Getenv("STEWARD_LONG_RECORD")
	if folder == "" {
		b.Skip("STEWARD_LONG_RECORD names no folder")
	}
	for range b.N {
		measureLong(b, folder)
	}
}

const veryLong = 20 * time.Minute

func measureLong(b *testing.B, folder string) {
	begin := time.Now()
	step := func(name string) {
		fmt.Printf("%-50s %8.0f ms\n", name, float64(time.Since(begin).Microseconds())/1000)
		begin = time.Now()
	}
	p := newBenchWith(b, placetest.Options{Data: folder}, nil)
	step("the program is open, the place is built")
	p.Until("rows", func() bool { return len(p.p.pages.numbers) > 0 })
	step("the first rows (7 days)")
	loaded := func() { p.Within(veryLong, "all numbers", func() bool { return p.p.pages.ended }) }
	loaded()
	step("all of 7 days can be reached")
	p.look(always, "")
	loaded()
	n := p.p.pages.Len()
	step("all time can be reached")
	fmt.Printf("%d rows\n", n)
	row := func(i int) { p.Within(veryLong, "the row", func() bool { _, ok := p.p.pages.at(i); return ok }) }
	p.table.List.ScrollToEnd()
	row(n - 1)
	step("at the end")
	p.table.List.ScrollTo(n / 2)
	row(n / 2)
	step("in the middle")
	for _, query := range []string{"invoice", "answer 123456", "server:travel", "outcome:denied", "decision:denied server:mail-server", "nothinglikethis", "since:2026-11-01 outcome:tool_error"} {
		p.look(always, query)
		p.Within(veryLong, "rows", func() bool { return p.p.pages.ended || len(p.p.pages.numbers) > 0 })
		step("first rows of " + query)
		loaded()
		step("all of it")
		fmt.Printf("%d rows\n", p.p.pages.Len())
	}
	p.look(always, "")
	loaded()
	begin = time.Now()
	p.lead(int64(n / 3))
	p.Until("details", func() bool { return p.p.record != nil })
	row(p.table.List.Selected())
	step("details of a record by its number")
	p.p.verify()
	p.Within(veryLong, "the check", func() bool { return p.p.check.state != checking })
	step("verified")
	if p.p.check.state != holds {
		b.Errorf("the record does not hold: %+v", p.p.check.result)
	}
	for _, format := range []string{journal.FormatCSV, journal.FormatHTML, journal.FormatJSONL} {
		done := false
		p.p.export(format, b.TempDir(), func(_ string, err error) {
			if err != nil {
				b.Error(err)
			}
			done = true
		})
		p.Within(veryLong, "the export", func() bool { return done })
		step("exported as " + format)
	}
}

func (b *bench) look(over period, query string) {
	b.p.period = over
	b.set(query)
}
