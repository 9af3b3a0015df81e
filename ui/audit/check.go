package audit

import (
	"context"

	"steward/app/journal"
)

// small is how many records are checked unasked when the place is opened: it takes about a second.
const small = 20_000

type checkState uint8

const (
	unchecked checkState = iota
	checking
	holds
	broken      // something was changed, removed or put back
	uncheckable // the check itself failed
	unasked     // it was ended, or never asked for
)

// check is the proof that the record is as it was written.
type check struct {
	state   checkState
	records int64
	part    float64 // of it that is done
	stopped bool    // the journal records nothing until the person goes on
	result  journal.Verification
	err     error
	cancel  context.CancelFunc
}

func (c *check) end() {
	if c.cancel != nil {
		c.cancel()
	}
}

// checkSmall checks a record that is short, and tells of one that is known not to hold.
func (p *presenter) checkSmall() {
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, enough)
		defer cancel()
		if bad := p.d.App.Journal().Broken(ctx); bad != nil {
			p.d.Do(p.verify) // it finds out where
		}
	})
	p.count(func(n int64) {
		if p.check.state != unchecked {
			return
		}
		p.check.records = n
		if n <= small {
			p.verify()
			return
		}
		p.on.checked()
	})
}

// count finds the number of the newest record: all numbers up to it were given.
func (p *presenter) count(then func(n int64)) {
	p.d.Go(func(ctx context.Context) {
		newest, err := p.d.App.Journal().List(ctx, journal.Filter{Limit: 1})
		p.d.Do(func() {
			if err == nil && len(newest) > 0 {
				then(newest[0].Record)
			}
		})
	})
}

// verify checks the whole record. It may take minutes for a long one, and can be ended.
func (p *presenter) verify() {
	if p.check.state == checking {
		return
	}
	p.check = check{state: checking, records: p.check.records}
	stopped := false
	p.check.cancel = func() { stopped = true }
	p.on.checked()
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		p.d.Do(func() {
			p.check.cancel = cancel
			if stopped {
				cancel()
			}
		})
		newest, err := p.d.App.Journal().List(ctx, journal.Filter{Limit: 1})
		var v journal.Verification
		if err == nil {
			v, err = p.d.App.Journal().VerifyWith(ctx, func(done, of int64) {
				p.d.Do(func() {
					if p.check.state == checking {
						p.check.part = float64(done) / float64(max(of, 1))
						p.on.checked()
					}
				})
			})
		}
		ended := ctx.Err() != nil
		bad := p.d.App.Journal().Broken(ctx)
		p.d.Do(func() {
			if len(newest) > 0 {
				p.check.records = newest[0].Record
			}
			p.check.cancel, p.check.result, p.check.err, p.check.stopped = nil, v, err, bad != nil
			switch {
			case ended:
				p.check.state = unasked
			case err != nil:
				p.check.state = uncheckable
			case v.OK:
				p.check.state = holds
			default:
				p.check.state = broken
			}
			p.on.checked()
		})
	})
}

// acknowledge lets a record that does not hold go on. What was found is recorded.
func (p *presenter) acknowledge() {
	p.d.Go(func(ctx context.Context) {
		err := p.d.App.Journal().Acknowledge(ctx)
		p.d.Do(func() {
			if err != nil {
				p.on.failedTo(err)
				return
			}
			p.verify()
		})
	})
}
