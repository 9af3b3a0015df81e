package headless

import (
	"context"
	"errors"
	"slices"
	"sync"

	"steward/app/consent"
	"steward/app/event"
)

// person puts what waits in front of whoever sits at the terminal, one item after the
// other in the order they came. It owns one goroutine, which leave ends.
type person struct {
	term    *terminal
	waiting *consent.Waiting
	stop    func() // ends the turn: the person closed the input

	mu      sync.Mutex
	queue   []string
	current string
	why     string             // current has gone; "" for nothing to say
	gone    context.CancelFunc // ends the question on the screen
	more    chan struct{}      // holds one
	done    chan struct{}
	quit    context.CancelFunc
	unsub   func()
}

func newPerson(t *terminal, bus *event.Bus, waiting *consent.Waiting, stop func()) *person {
	ctx, quit := context.WithCancel(context.Background())
	p := &person{term: t, waiting: waiting, stop: stop, more: make(chan struct{}, 1), done: make(chan struct{}), quit: quit}
	p.unsub = bus.Subscribe(p.on)
	for _, item := range waiting.List() { // came before anybody listened
		p.on(event.Waiting{ID: item.ID})
	}
	go func() {
		defer close(p.done)
		p.work(ctx)
	}()
	return p
}

// leave ends the questions; what still waits stays unanswered.
func (p *person) leave() {
	p.quit()
	<-p.done
	p.unsub()
}

func (p *person) on(e event.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e := e.(type) {
	case event.Waiting:
		if e.ID != p.current && !slices.Contains(p.queue, e.ID) {
			p.queue = append(p.queue, e.ID)
		}
		select {
		case p.more <- struct{}{}:
		default:
		}
	case event.WaitingGone:
		p.queue = slices.DeleteFunc(p.queue, func(id string) bool { return id == e.ID })
		if p.current == e.ID {
			p.why = e.Reason
			p.gone()
		}
	}
}

func (p *person) work(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.more:
		}
		for ctx.Err() == nil {
			item, itemCtx, ok := p.next(ctx)
			if !ok {
				break
			}
			p.decide(itemCtx, item)
		}
	}
}

// next takes the oldest item that still waits; its context ends when it has gone.
func (p *person) next(ctx context.Context) (consent.Item, context.Context, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		id := p.queue[0]
		p.queue = p.queue[1:]
		item, ok := p.waiting.Get(id)
		if !ok {
			continue
		}
		if p.gone != nil {
			p.gone()
		}
		itemCtx, gone := context.WithCancel(ctx)
		p.current, p.gone, p.why = id, gone, ""
		return item, itemCtx, true
	}
	return consent.Item{}, nil, false
}

// decide asks until the answer is taken or the item has gone.
func (p *person) decide(ctx context.Context, item consent.Item) {
	release := p.term.hold()
	defer release()
	for {
		answer, err := p.term.answer(ctx, item)
		if ctx.Err() != nil {
			p.mu.Lock()
			why := p.why
			p.mu.Unlock()
			p.term.print(over(item, why))
			return
		}
		if err != nil { // the input is closed, or the terminal is gone
			if err := p.waiting.Answer(item.ID, item.Hash, careful(item)); err != nil && !errors.Is(err, consent.ErrGone) {
				p.term.print(sentence(err) + "\n")
			}
			p.stop()
			return
		}
		err = p.waiting.Answer(item.ID, item.Hash, answer)
		if err == nil {
			return
		}
		p.term.print(sentence(err) + "\n")
		if errors.Is(err, consent.ErrGone) || errors.Is(err, consent.ErrShown) {
			return
		}
	}
}
