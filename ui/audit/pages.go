package audit

import (
	"cmp"
	"slices"

	"steward/app"
	"steward/app/journal"
)

const (
	pageRows  = 200
	pagesKept = 30 // beyond those that are seen
)

// pages holds the rows of the table: the numbers of all of them, and the records of those that were seen lately, so
// that any row of a million is read at the same cost. What comes while the table is open stands before the first
// number and moves none of them. It is plain state without a goroutine of its own.
type pages struct {
	head    []journal.Record // newer than the first number, the newest first
	numbers []int64          // of the rows below head, the newest first
	ended   bool             // numbers are all there are, and not only those of the first page
	kept    map[int][]journal.Record
	used    []int // pages kept, the one seen last at the end
}

func newPages() *pages { return &pages{kept: map[int][]journal.Record{}} }

// Len is the number of rows that are known, and one more while there may be more.
func (p *pages) Len() int {
	n := len(p.head) + len(p.numbers)
	if !p.ended {
		n++
	}
	return n
}

// at is row i, if it is kept.
func (p *pages) at(i int) (r journal.Record, ok bool) {
	if i < 0 {
		return r, false
	}
	if i < len(p.head) {
		return p.head[i], true
	}
	i -= len(p.head)
	page := p.kept[i/pageRows]
	if i%pageRows >= len(page) {
		return r, false
	}
	return page[i%pageRows], true
}

// begin takes in the first page, which is read before the numbers of all, so that something is there at once.
func (p *pages) begin(first []journal.Record) {
	p.numbers = make([]int64, 0, len(first))
	for _, r := range first {
		p.numbers = append(p.numbers, r.Record)
	}
	p.ended = len(first) < pageRows
	p.kept[0] = slim(first)
	p.touch(0)
}

// all takes in the numbers of all rows, and says how many rows are more now.
func (p *pages) all(numbers []int64) (more int) {
	before := p.Len()
	if len(numbers) > 0 {
		p.head = slices.DeleteFunc(p.head, func(r journal.Record) bool { return r.Record <= numbers[0] })
	}
	first := p.kept[0]
	if len(first) > len(numbers) || !slices.EqualFunc(first, numbers[:len(first)], func(r journal.Record, n int64) bool { return r.Record == n }) {
		p.kept, p.used = map[int][]journal.Record{}, nil
	}
	p.numbers, p.ended = numbers, true
	return p.Len() - before
}

// missing is a page that has to be read because rows first to last are seen, -1 for none. What follows them is read
// ahead.
func (p *pages) missing(first, last int) int {
	from, to := max(0, first-len(p.head))/pageRows, max(0, last-len(p.head)+pageRows/2)/pageRows
	for page := from; page <= to && page*pageRows < len(p.numbers); page++ {
		if p.kept[page] == nil {
			return page
		}
		p.touch(page)
	}
	return -1
}

// wanted are the numbers of a page's rows.
func (p *pages) wanted(page int) []int64 {
	return p.numbers[page*pageRows : min(len(p.numbers), (page+1)*pageRows)]
}

// landed takes in the records of a page.
func (p *pages) landed(page int, rows []journal.Record) {
	p.kept[page] = slim(rows)
	p.touch(page)
}

// slim lets go of arguments, which no row shows: thousands of records are kept, and the arguments of one may be megabytes.
func slim(rows []journal.Record) []journal.Record {
	for i := range rows {
		if rows[i].Kind == journal.KindModel && rows[i].Arguments != "" { // it has no tool; what it was for stands in its place, as a row holds no more
			rows[i].Tool = app.PurposeOf(rows[i])
		}
		rows[i].Arguments = ""
	}
	return rows
}

func (p *pages) touch(page int) {
	p.used = append(slices.DeleteFunc(p.used, func(other int) bool { return other == page }), page)
	for len(p.used) > pagesKept {
		delete(p.kept, p.used[0])
		p.used = p.used[1:]
	}
}

// newest is the number of the first row, 0 where there is none.
func (p *pages) newest() int64 {
	switch {
	case len(p.head) > 0:
		return p.head[0].Record
	case len(p.numbers) > 0:
		return p.numbers[0]
	}
	return 0
}

// number is that of row i, which need not be kept; 0 where there is none.
func (p *pages) number(i int) int64 {
	switch at := i - len(p.head); {
	case i < 0 || at >= len(p.numbers):
		return 0
	case at < 0:
		return p.head[i].Record
	default:
		return p.numbers[at]
	}
}

// fresh takes in the first rows as they are now and says how many are new. It cannot (ok is false) where they do not
// go on with what is held: then everything is to be read anew.
func (p *pages) fresh(rows []journal.Record) (added int, ok bool) {
	rows = slim(rows)
	top := p.newest()
	if top == 0 {
		return 0, len(rows) == 0
	}
	for added < len(rows) && rows[added].Record > top {
		added++
	}
	if added == len(rows) {
		return 0, false
	}
	for i, r := range rows[added:] {
		if had := p.number(i); had != 0 && had != r.Record {
			return 0, false
		}
	}
	p.head = append(slices.Clone(rows[:added]), p.head...)
	p.update(rows[added:])
	return added, true
}

// open are the numbers of the kept records that have not ended.
func (p *pages) open() map[int64]journal.Record {
	out := map[int64]journal.Record{}
	p.each(func(r *journal.Record) bool {
		if r.Outcome == journal.Waiting || r.Outcome == journal.Running {
			out[r.Record] = *r
		}
		return len(out) < 10*pageRows
	})
	return out
}

// update takes in records as they are now.
func (p *pages) update(rows []journal.Record) {
	now := make(map[int64]journal.Record, len(rows))
	for _, r := range slim(rows) {
		now[r.Record] = r
	}
	p.each(func(r *journal.Record) bool {
		if other, ok := now[r.Record]; ok {
			*r = other
		}
		return true
	})
}

// each visits what is kept until do is false.
func (p *pages) each(do func(r *journal.Record) bool) {
	for i := range p.head {
		if !do(&p.head[i]) {
			return
		}
	}
	for _, page := range p.kept {
		for i := range page {
			if !do(&page[i]) {
				return
			}
		}
	}
}

// find is the row of a record, -1 where it is none of them. It need not be kept.
func (p *pages) find(number int64) int {
	if i, ok := slices.BinarySearchFunc(p.head, number, func(r journal.Record, n int64) int { return cmp.Compare(n, r.Record) }); ok {
		return i
	}
	if i, ok := slices.BinarySearchFunc(p.numbers, number, func(r, n int64) int { return cmp.Compare(n, r) }); ok {
		return len(p.head) + i
	}
	return -1
}
