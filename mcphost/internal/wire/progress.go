package wire

import (
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Progress notifications of one request that are handed on: so many at once, so many
// a second afterwards.
const (
	progressBurst = 100
	progressRate  = 50
)

// Reports hands the progress of one request on, in order and not too often: at most 100
// reports at once and 50 a second. Of those that come faster the newest is kept and handed
// on when its time has come, or when the request ends: what a server said last is never
// lost. Its methods may be called from any goroutine.
type Reports struct {
	tell  func(Progress)
	limit *rate.Limiter

	mu    sync.Mutex // held while telling, which keeps the order
	held  *Progress
	timer *time.Timer // runs while a report is held
	over  bool
}

// NewReports makes Reports that call tell, one call at a time; tell must not call back.
// End must be called.
func NewReports(tell func(Progress)) *Reports {
	return &Reports{tell: tell, limit: rate.NewLimiter(progressRate, progressBurst)}
}

// Put takes one report.
func (r *Reports) Put(p Progress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.over:
	case r.timer == nil && r.limit.Allow():
		r.tell(p)
	default:
		r.held = &p
		if r.timer == nil {
			r.timer = time.AfterFunc(r.limit.Reserve().Delay(), r.due)
		}
	}
}

// due hands on what is held. It runs on the timer's goroutine.
func (r *Reports) due() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = nil
	r.release()
}

// release hands on what is held. r.mu is held.
func (r *Reports) release() {
	if p := r.held; p != nil {
		r.held = nil
		r.tell(*p)
	}
}

// End hands on what is held, and nothing from then on.
func (r *Reports) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer != nil {
		r.timer.Stop()
		r.timer = nil
	}
	if !r.over {
		r.over = true
		r.release()
	}
}

// progress hands on one notifications/progress.
func (p *Pending) progress(params []byte) {
	got, ok := ReadProgress(params)
	if !ok || p.reports == nil {
		return
	}
	p.mu.Lock()
	ended := p.ended
	got.Value = max(got.Value, p.value)
	p.value = got.Value
	p.mu.Unlock()
	if ended {
		return
	}
	if got.Total < got.Value {
		got.Total = 0
	}
	p.reports.Put(got)
}

// ReadProgress reads the params of a notifications/progress; false where it names no
// progress.
func ReadProgress(params []byte) (Progress, bool) {
	var message string
	value, total := math.NaN(), 0.0
	members(params, func(name string, v []byte) bool {
		switch name {
		case "progress":
			value = number(v)
		case "total":
			total = number(v)
		case "message":
			if isString(v) {
				message = text(v)
			}
		}
		return true
	})
	if math.IsNaN(total) || total <= 0 || total < value {
		total = 0
	}
	return Progress{Value: value, Total: total, Message: clipText(message, MaxProgressMessage)}, !math.IsNaN(value)
}

// report tells the caller of progress; one that panics loses that report alone.
func (p *Pending) report(progress Progress) {
	defer p.tap.recovered("a progress notification")
	p.want.Progress(progress)
}
