package list

import (
	"context"
	"sync"
)

const (
	pageRows  = 200 // in a page
	pagesKept = 20  // beyond the visible ones
	loading   = 2   // pages at once
)

// Pager holds the rows of a long table by pages that are loaded when they are seen. Loads that nobody waits for any
// more are cancelled. Its methods belong to Fyne's goroutine; load runs on goroutines of the pager, which end when
// their context does: whoever makes a pager calls Close.
type Pager[R any] struct {
	// OnError is told of a load that failed. The page is tried again when it is seen anew, or by Retry.
	OnError func(err error)

	load    func(ctx context.Context, from, count int) ([]R, error)
	do      func(func())
	changed func(from, count int)

	pages       map[int][]R
	used        []int // pages held, the one seen last at the end
	failed      map[int]bool
	running     map[int]*flight
	first, last int // visible rows; last < first when there are none
	closed      bool
	work        sync.WaitGroup
}

// flight is one load under way.
type flight struct {
	cancel context.CancelFunc
}

// NewPager makes a pager. load reads count rows from row from on; do runs a function on Fyne's goroutine later, such
// as fyne.Do; changed is told which rows are there now.
func NewPager[R any](load func(ctx context.Context, from, count int) ([]R, error), do func(func()), changed func(from, count int)) *Pager[R] {
	return &Pager[R]{
		load: load, do: do, changed: changed,
		pages: map[int][]R{}, failed: map[int]bool{}, running: map[int]*flight{}, last: -1,
	}
}

// Get is row i, if it is there.
func (p *Pager[R]) Get(i int) (row R, ok bool) {
	page := p.pages[i/pageRows]
	if i < 0 || i%pageRows >= len(page) {
		return row, false
	}
	return page[i%pageRows], true
}

// Visible says which rows are seen: their pages, and the next one, are loaded if they are not there.
func (p *Pager[R]) Visible(first, last int) {
	p.first, p.last = first, last
	for page := range p.failed {
		if !p.wanted(page) {
			delete(p.failed, page)
		}
	}
	for page, f := range p.running {
		if !p.wanted(page) {
			f.cancel()
			delete(p.running, page)
		}
	}
	p.start()
}

// wanted says whether a page is seen, or comes next.
func (p *Pager[R]) wanted(page int) bool {
	return p.last >= p.first && page >= p.first/pageRows && page <= (p.last+pageRows/2)/pageRows
}

// start loads what is wanted and not there.
func (p *Pager[R]) start() {
	for page := p.first / pageRows; !p.closed && p.wanted(page) && len(p.running) < loading; page++ {
		if _, there := p.pages[page]; there {
			p.touch(page)
			continue
		}
		if p.failed[page] || p.running[page] != nil {
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		f := &flight{cancel: cancel}
		p.running[page] = f
		p.work.Go(func() {
			defer cancel()
			rows, err := p.load(ctx, page*pageRows, pageRows)
			p.do(func() { p.landed(page, f, rows, err) })
		})
	}
}

func (p *Pager[R]) landed(page int, f *flight, rows []R, err error) {
	if p.closed || p.running[page] != f {
		return // cancelled, or of an earlier content
	}
	delete(p.running, page)
	if err != nil {
		p.failed[page] = true
		if p.OnError != nil {
			p.OnError(err)
		}
	} else {
		p.pages[page] = rows
		p.touch(page)
		p.changed(page*pageRows, len(rows))
	}
	p.start()
}

// touch makes a page the one seen last, and lets go of those seen long ago.
func (p *Pager[R]) touch(page int) {
	kept := p.used[:0]
	for _, other := range p.used {
		if other != page {
			kept = append(kept, other)
		}
	}
	p.used = append(kept, page)
	for len(p.used) > pagesKept && !p.wanted(p.used[0]) {
		delete(p.pages, p.used[0])
		p.used = p.used[1:]
	}
}

// Retry tries pages again that could not be loaded.
func (p *Pager[R]) Retry() {
	clear(p.failed)
	p.start()
}

// Reset forgets every row, because the table shows something else now, and loads the visible ones.
func (p *Pager[R]) Reset() {
	p.drop()
	p.start()
}

func (p *Pager[R]) drop() {
	for _, f := range p.running {
		f.cancel()
	}
	clear(p.running)
	clear(p.pages)
	clear(p.failed)
	p.used = nil
}

// Close cancels every load. It does not wait: see Wait.
func (p *Pager[R]) Close() {
	p.closed = true
	p.drop()
}

// Wait returns when every load has ended. Unlike the other methods it may be called from any goroutine, after Close.
func (p *Pager[R]) Wait() { p.work.Wait() }
