package shell

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/ui/language"
	"steward/ui/place"
)

// askToLeave is leave, but where something would be broken off the person is asked first. Asked for again while that
// question stands, the window closes.
func (s *Shell) askToLeave() {
	calls, turns := 0, 0
	if s.underWay != nil {
		calls, turns = s.underWay()
	}
	select {
	case <-s.stopping():
		calls, turns = 0, 0
	default:
	}
	if s.leaveAsked || calls == 0 && turns == 0 {
		s.leave()
		return
	}
	s.leaveAsked = true
	title := lang.X("shell.quit_turns", "Answers are being worked on: {{.count}}", map[string]any{"count": turns})
	switch {
	case calls == 1:
		title = lang.X("shell.quit_call", "1 call is running")
	case calls > 1:
		title = lang.X("shell.quit_calls", "{{.count}} calls are running", map[string]any{"count": calls})
	case turns == 1:
		title = lang.X("shell.quit_turn", "An answer is being worked on")
	}
	s.layer.Ask(title, lang.X("shell.quit_means", "Quitting breaks it off. What a call has done until then stays done."),
		place.Button{Label: lang.X("shell.quit_stay", "Stay"), Do: func() { s.leaveAsked = false }},
		place.Button{Label: lang.X("shell.quit_anyway", "Quit anyway"), Look: place.Dangerous, Do: s.leave})
}

// leave closes the window: it says so, gives everything back and then quits. A second request quits at once; what is
// left is then given back without a window.
func (s *Shell) leave() {
	select {
	case <-s.stopping():
		s.quit()
		return
	default:
	}
	s.stop()
	if s.app != nil {
		s.window.SetContent(page(lang.X("shell.closing", "Closing: servers are being ended and the journal written…")))
	}
	go func() { // ended by finish, which is bounded
		s.finish()
		if !s.quitting.has() {
			fyne.Do(s.quit)
		}
	}()
}

// quit ends the toolkit, once: asked again after it has ended, it would look for its windows and fail.
func (s *Shell) quit() {
	if s.quitting.begin() {
		s.dispatcher.Close()
		<-s.dispatcher.done // nothing may be on its way onto a thread that ends
		s.endToolkit()
	}
}

// endToolkit tells the toolkit to end. Where it could not watch its settings' file, because the system had no watch left
// for it (inotify(7), max_user_instances), it fails over the missing watch as the very last thing it does (Fyne 2.8,
// app/settings_desktop.go, stopWatching). By then it has ended.
func (s *Shell) endToolkit() {
	defer func() {
		problem := recover()
		if problem == nil {
			return
		}
		if e, ok := problem.(runtime.Error); !ok || !strings.Contains(e.Error(), "nil pointer dereference") {
			panic(problem)
		}
	}()
	s.fyne.Quit()
}

// ending is whether and since when the toolkit is on its way out, whoever asked for it. The zero value is not usable.
type ending struct {
	once  sync.Once
	begun chan struct{}
}

// begin reports whether this was the first request.
func (e *ending) begin() (first bool) {
	e.once.Do(func() {
		first = true
		close(e.begun)
	})
	return first
}

func (e *ending) has() bool {
	select {
	case <-e.begun:
		return true
	default:
		return false
	}
}

// overdue is how long the toolkit may take to come back once it was told to end.
const overdue = 5 * time.Second

// outlast does what is left where the toolkit was told to end and does not come back: of the last thing that it queues
// for its own thread it can lose sight, and then waits for it for ever (Fyne 2.8, driver/glfw, runGL). It ends when the
// toolkit has returned.
func (e *ending) outlast(returned <-chan struct{}, within time.Duration, rest func()) {
	select {
	case <-returned:
		return
	case <-e.begun:
	}
	select {
	case <-returned:
	case <-time.After(within):
		rest()
	}
}

// stopping is closed once the window is on its way out.
func (s *Shell) stopping() <-chan struct{} { return s.dispatcher.quit }

// stop ends what belongs to Fyne's goroutine. It may be called more than once.
func (s *Shell) stop() {
	if s.dispatcher.isClosed() {
		return
	}
	s.layer.Close()
	if s.frame != nil && s.frame.remembered() != "" {
		s.unsaved[preferSize] = s.frame.remembered()
	}
	if p := s.places[s.current]; p != nil {
		p.Hidden()
	}
	for _, p := range s.places {
		p.Close()
	}
	s.dispatcher.Close()
}

// finish gives back the program, once, within its bound. Any goroutine.
func (s *Shell) finish() {
	s.leaving.Do(func() {
		defer close(s.left)
		if s.app == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), closing)
		defer cancel()
		if s.hub != nil {
			s.hub.close()
		}
		s.leftErr = s.store(ctx, s.unsaved)
		if !s.runner.Close(ctx) {
			s.leftErr = errors.Join(s.leftErr, errors.New("work in the background did not end in time and was left"))
		}
		s.leftErr = errors.Join(s.leftErr, s.app.Close(ctx))
	})
	<-s.left
}

// end is called after the window is gone, on the main goroutine, whatever closed it.
func (s *Shell) end(program *opening) error {
	s.stop()
	if s.app == nil && s.failed == nil {
		return giveBack(program) // the window went before the program was open
	}
	s.finish()
	if s.leftErr != nil {
		fmt.Fprintln(s.errOut, "steward: the window did not close as it should: "+language.Message(s.leftErr))
	}
	return errors.Join(s.failed, s.leftErr)
}

// deaf is how long the toolkit has to act on a signal by itself.
const deaf = time.Second

// listenToSystem lets the system's wish to end the program close the window as its button does; a second one is left
// to the system. It owns one goroutine until the function it returns is called, which is after the toolkit has ended.
func (s *Shell) listenToSystem() (cancel func()) {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}
	ch := make(chan os.Signal, 2)
	gone := make(chan struct{})
	signal.Notify(ch, signals...)
	go func() {
		var unheard <-chan time.Time
		for n := 0; ; {
			select {
			case <-gone:
				return
			case <-unheard: // it came before the toolkit listened
				fyne.Do(s.endToolkit)
			case asked := <-ch:
				if n++; n > 1 {
					signal.Reset(signals...)
					fmt.Fprintln(s.errOut, "steward: still closing; another signal ends it at once")
					continue
				}
				if asked == syscall.SIGHUP {
					fyne.Do(s.leave)
					continue
				}
				s.quitting.begin() // the toolkit hears these two itself, and ends at once
				unheard = time.After(deaf)
			}
		}
	}()
	return func() {
		signal.Stop(ch)
		close(gone)
	}
}
