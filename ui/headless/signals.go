package headless

import (
	"context"
	"os"
	"os/signal"
	"sync"
)

// signals turns what the system or the person sends into a stopped turn, and then into
// the end of the program.
type signals struct {
	mu   sync.Mutex
	stop func() // ends the turn that runs, if one does
}

// listen owns one goroutine until end is called. The first signal (Ctrl+C, SIGTERM,
// SIGHUP) stops the turn, after which the program ends by itself; a second one, or any
// where no turn runs, ends ctx; after that signals do what the system does by itself, so
// that nothing here can keep the program alive. A reader of our output that goes away (SIGPIPE) shows as a
// failed write instead.
func listen(parent context.Context) (ctx context.Context, s *signals, end func()) {
	ctx, cancel := context.WithCancel(parent)
	s = &signals{}
	ch := make(chan os.Signal, 4)
	signal.Notify(ch, endSignals...)
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case sig := <-ch:
				if sig == pipeSignal {
					continue
				}
				if !s.take() {
					cancel()
					signal.Reset(hardSignals...)
				}
			}
		}
	}()
	return ctx, s, func() {
		signal.Stop(ch)
		close(quit)
		<-done
		cancel()
	}
}

// take stops the turn; false where there is none to stop (any more).
func (s *signals) take() bool {
	s.mu.Lock()
	stop := s.stop
	s.stop = nil
	s.mu.Unlock()
	if stop == nil {
		return false
	}
	stop()
	return true
}

// turn says how the running turn is stopped; nil when it is over.
func (s *signals) turn(stop func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop = stop
}
