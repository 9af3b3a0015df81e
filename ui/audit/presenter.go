package audit

import (
	"context"
	"time"

	"steward/app/event"
	"steward/app/journal"
	"steward/ui/place"
)

const (
	settle = 250 * time.Millisecond // between what happened, or was typed, and reading the record
	enough = 10 * time.Second       // for one reading
	long   = 2 * time.Minute        // for going through a long record
)

// screen is what the presenter tells of changes. All on Fyne's goroutine.
type screen interface {
	reset()               // other rows
	grown(more int)       // more rows at the end, counted in rows; may be negative
	inserted(n int)       // n rows at the top
	changed()             // rows look otherwise
	status()              // what is looked for, or a problem
	detail()              // another record, or more of it
	checked()             // the state of the check
	exported()            // how far the export is
	told(sentence string) // something the person should know
	failedTo(err error)   // what the person asked for did not work
}

// presenter holds what the place shows. It belongs to Fyne's goroutine.
type presenter struct {
	d   place.Deps
	on  screen
	now func() time.Time

	query   string
	period  period
	filter  journal.Filter
	faults  []fault
	problem error // why rows could not be read
	pages   *pages
	names   namer
	round   int // counts what is looked for: answers to earlier questions are dropped

	seen    struct{ first, last int } // rows
	reading bool                      // a page of them

	typed    int // counts what was typed
	shown    bool
	stale    bool // something happened that has not been read
	fetching bool
	begun    bool   // the rows are being read, or have been
	ending   func() // ends the reading of all numbers

	chosen int64 // the record whose details are shown, 0 for none
	record *detail
	failed error // why they cannot be

	check   check
	writing export
	stop    func()
}

func newPresenter(d place.Deps) *presenter {
	p := &presenter{d: d, now: time.Now, pages: newPages(), period: week}
	p.refilter()
	p.stop = d.App.Listen(func(e event.Event) {
		switch e.(type) {
		case event.Text, event.Reasoning, event.Progress, event.ConversationChanged, event.ResourceUpdated:
			return // nothing of these stands in the record
		}
		d.Do(p.happened)
	})
	return p
}

// refilter works out what the journal is asked for.
func (p *presenter) refilter() {
	now := p.now()
	f, faults := parse(p.query, now.Location())
	if f.Since.IsZero() && f.Until.IsZero() {
		f.Since = p.period.since(now)
	}
	p.filter, p.faults = f, faults
}

// look shows what query and period choose.
func (p *presenter) look(query string, over period) {
	p.query, p.period = query, over
	p.refilter()
	p.restart()
}

// typing looks once the person has stopped typing.
func (p *presenter) typing(query string) {
	p.typed++
	mine := p.typed
	p.later(settle, func() {
		if mine == p.typed && query != p.query {
			p.look(query, p.period)
		}
	})
}

// later calls f on Fyne's goroutine once d is over, unless the window closes before.
func (p *presenter) later(d time.Duration, f func()) {
	p.d.Go(func(ctx context.Context) {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			p.d.Do(f)
		case <-ctx.Done():
		}
	})
}

// restart reads everything anew: the first page, then the numbers of all.
func (p *presenter) restart() {
	p.round++
	p.pages, p.problem, p.reading, p.begun = newPages(), nil, false, true
	p.seen.first, p.seen.last = 0, 0
	if p.ending != nil {
		p.ending() // what was looked for before
		p.ending = nil
	}
	p.on.reset()
	p.on.status()
	f, round := p.filter, p.round
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, long)
		defer cancel()
		p.d.Do(func() {
			if round != p.round {
				cancel()
				return
			}
			p.ending = cancel
		})
		names, ruleErr := newNamer(ctx, p.d.App)
		first := f
		first.Limit = pageRows
		rows, err := p.d.App.Journal().List(ctx, first)
		p.land(round, err, func() {
			if ruleErr == nil {
				p.names = names
			}
			before := p.pages.Len()
			p.pages.begin(rows)
			p.on.grown(p.pages.Len() - before)
		})
		if err != nil || len(rows) < pageRows {
			return
		}
		numbers, err := p.d.App.Journal().Numbers(ctx, f)
		p.land(round, err, func() { p.on.grown(p.pages.all(numbers)) })
	})
}

// land takes in what was read, if it is still looked for. Any goroutine.
func (p *presenter) land(round int, err error, take func()) {
	p.d.Do(func() {
		if round != p.round {
			return
		}
		if err != nil {
			p.problem, p.reading = err, false
			p.on.status()
			return
		}
		take()
		p.on.changed()
		p.on.status()
		p.see(p.seen.first, p.seen.last)
	})
}

// see reads what is missing of the rows that are seen: one page after the other, so that somebody who drags through a
// million waits for none but those where they stop.
func (p *presenter) see(first, last int) {
	p.seen.first, p.seen.last = first, last
	page := p.pages.missing(first, last)
	if page < 0 || p.reading || p.problem != nil {
		return
	}
	p.reading = true
	numbers, round := p.pages.wanted(page), p.round
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, enough)
		defer cancel()
		rows, err := readRecords(ctx, p.d.App.Journal(), numbers)
		p.land(round, err, func() {
			p.reading = false
			p.pages.landed(page, rows)
		})
	})
}

// readRecords reads records by their numbers. One that is not there has its number alone.
func readRecords(ctx context.Context, j *journal.Journal, numbers []int64) ([]journal.Record, error) {
	found := make(map[int64]journal.Record, len(numbers))
	for _, n := range numbers {
		found[n] = journal.Record{Record: n}
	}
	if err := j.Records(ctx, found); err != nil {
		return nil, err
	}
	rows := make([]journal.Record, 0, len(numbers))
	for _, n := range numbers {
		rows = append(rows, found[n])
	}
	return rows, nil
}

// happened reads what is new, a moment later and for all that happens meanwhile.
func (p *presenter) happened() {
	p.stale = true
	if !p.shown || p.fetching {
		return
	}
	p.fetching = true
	p.later(settle, func() {
		p.stale = false
		p.fetch()
	})
}

// fetch reads the first rows, and those that had not ended.
func (p *presenter) fetch() {
	f, round, open, chosen := p.filter, p.round, p.pages.open(), p.chosen
	f.Limit = pageRows
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, enough)
		defer cancel()
		rows, err := p.d.App.Journal().List(ctx, f)
		if err == nil && len(open) > 0 {
			err = p.d.App.Journal().Records(ctx, open)
		}
		p.d.Do(func() {
			p.fetching = false
			switch {
			case err != nil || round != p.round:
			case p.problem != nil: // it can be read again
				p.restart()
			default:
				p.take(rows, open)
				if chosen == p.chosen && chosen != 0 && (p.record == nil || p.record.live()) {
					p.choose(chosen)
				}
			}
			if p.stale {
				p.happened()
			}
		})
	})
}

func (p *presenter) take(rows []journal.Record, open map[int64]journal.Record) {
	added, ok := p.pages.fresh(rows)
	if !ok {
		if !p.reading {
			p.restart()
		}
		return
	}
	now := make([]journal.Record, 0, len(open))
	for _, r := range open {
		now = append(now, r)
	}
	p.pages.update(now)
	if added > 0 {
		p.on.inserted(added)
		p.on.status()
	}
	p.on.changed()
}

// show says that the place is seen.
func (p *presenter) show() {
	p.shown = true
	if !p.begun || p.problem != nil {
		p.restart()
	}
	if p.stale {
		p.happened()
	}
	if p.check.state == unchecked {
		p.checkSmall()
	}
}

func (p *presenter) hide() { p.shown = false }

// close lets go of the program's events.
func (p *presenter) close() {
	p.check.end()
	p.stopExport()
	p.stop()
}

// empty says that there is nothing to show, and whether that is because of what is looked for.
func (p *presenter) empty() (empty, filtered bool) {
	empty = p.pages.ended && p.pages.Len() == 0
	return empty, p.query != "" || p.period != always
}
