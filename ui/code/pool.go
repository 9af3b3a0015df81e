// Package code shows code: highlighted listings that fold when they are long, a viewer for text of any length, JSON and
// differences. Highlighting never runs on Fyne's thread.
package code

import (
	"fmt"
	"runtime/debug"
	"sync"

	"fyne.io/fyne/v2"
)

// workers is how many jobs run at once; parsing and highlighting are never so urgent as what else the machine does.
const workers = 2

// Pool runs pure work off Fyne's thread and hands back the results on it. It keeps no goroutine when there is nothing to
// do. Its methods may be called from any goroutine.
type Pool struct {
	do func(func())

	mu      sync.Mutex
	idle    sync.Cond
	queue   []job
	running int
	closed  bool
}

type job struct{ work, then func() }

// NewPool makes a pool; do runs a function on Fyne's thread, nil being fyne.Do. Whoever made the pool closes it.
func NewPool(do func(func())) *Pool {
	if do == nil {
		do = fyne.Do
	}
	p := &Pool{do: do}
	p.idle.L = &p.mu
	return p
}

// Run has work done soon, and then called on Fyne's thread after it, even when work panicked. A closed pool does
// neither. A nil pool does both at once.
func (p *Pool) Run(work, then func()) {
	if p == nil {
		safely(work)
		then()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	p.queue = append(p.queue, job{work, then})
	if p.running < workers {
		p.running++
		go p.loop()
	}
}

func (p *Pool) loop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 && !p.closed {
		j := p.queue[0]
		p.queue = p.queue[1:]
		p.mu.Unlock()
		safely(j.work)
		p.do(j.then)
		p.mu.Lock()
	}
	p.running--
	p.idle.Broadcast()
}

// Close forgets what has not begun and waits for what has. It must not be called on Fyne's thread when do waits for it.
func (p *Pool) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.queue = nil
	for p.running > 0 {
		p.idle.Wait()
	}
}

// Wait blocks until there is nothing left to do.
func (p *Pool) Wait() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.running > 0 {
		p.idle.Wait()
	}
}

// safely keeps a fault in a lexer or parser from ending the program: the text is then shown plain.
func safely(work func()) {
	defer func() {
		if r := recover(); r != nil {
			fyne.LogError("Text is shown without colours or marks because reading it failed", fmt.Errorf("%v\n%s", r, debug.Stack()))
		}
	}()
	work()
}
