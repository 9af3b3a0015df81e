package audit

import (
	"slices"

	"steward/app/journal"
)

const (
	pageRows  = 200
	pagesKept = 30 // beyond those that are seen
)

// pages holds the rows of the table. The record is read by keyset: a page begins after the number that the one before
// ended with, so that reading costs the same anywhere. What comes while the table is open stands before the first page
// and moves none of them. It is plain state without a goroutine of its own.
type pages struct {
	head  []journal.Record // newer than the first page, the newest first
	begin []int64          // of page i: the number that its records are older than; 0 is none
	kept  map[int][]journal.Record
	used  []int // pages kept, the one seen last at the end
	rows  int   // of all pages that have been read
	ended bool  // the last page that has been read is the last there is
}

func newPages() *pages {
	return &pages{begin: []int64{0}, kept: map[int][]journal.Record{}}
}

// Len is the number of rows that are known, and one more while there may be more.
func (p *pages) Len() int {
	n := len(p.head) + p.rows
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

// missing is a page that has to be read because rows first to last are seen, -1 for none. The page after them is read
// ahead.
func (p *pages) missing(first, last int) int {
	from, to := max(0, first-len(p.head))/pageRows, max(0, last-len(p.head)+pageRows/2)/pageRows
	for page := from; page <= to && page < len(p.begin); page++ {
		if p.kept[page] != nil {
			p.touch(page)
			continue
		}
		if page == len(p.begin)-1 && p.ended {
			continue
		}
		return page
	}
	return -1
}

// landed takes in a page that was read after the number that began it, and says whether the number of rows is another
// one now.
func (p *pages) landed(page int, rows []journal.Record) (grown bool) {
	if rows == nil {
		rows = []journal.Record{}
	}
	if page == 0 && p.begin[0] == 0 && len(rows) > 0 {
		p.begin[0] = rows[0].Record + 1 // what comes later stands in head
	}
	if page == len(p.begin)-1 && !p.ended {
		p.rows += len(rows)
		p.ended = len(rows) < pageRows
		if !p.ended {
			p.begin = append(p.begin, rows[len(rows)-1].Record)
		}
		grown = true
	}
	p.kept[page] = rows
	p.touch(page)
	return grown
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
	if r, ok := p.at(0); ok {
		return r.Record
	}
	return 0
}

// fresh takes in the first rows as they are now and says how many are new. It cannot (ok is false) where they do not
// go on with what is held: then everything is to be read anew.
func (p *pages) fresh(rows []journal.Record) (added int, ok bool) {
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
		if had, held := p.at(i); held && had.Record != r.Record {
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
	for _, r := range rows {
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

// find is the row of a record among those that are kept, -1 where it is not.
func (p *pages) find(number int64) int {
	newestFirst := func(r journal.Record, n int64) int { return int(min(1, max(-1, n-r.Record))) }
	if i, ok := slices.BinarySearchFunc(p.head, number, newestFirst); ok {
		return i
	}
	for page, rows := range p.kept {
		if i, ok := slices.BinarySearchFunc(rows, number, newestFirst); ok {
			return len(p.head) + page*pageRows + i
		}
	}
	return -1
}
