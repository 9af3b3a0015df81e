package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime/debug"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/ui/language"
	"steward/ui/layer"
	"steward/ui/place"
	"steward/ui/theme"
)

// Keys of what the window remembers.
const (
	preferTheme    = place.PreferTheme
	preferLanguage = place.PreferLanguage
	preferScale    = place.PreferScale
	preferSize     = "window.size"  // "1280x800"
	preferSide     = "window.side"  // "icons", or empty
	preferPlace    = "window.place" // "chat/c_…"
)

// Shell is the window with everything in it. Unless said otherwise its methods belong to Fyne's goroutine.
type Shell struct {
	fyne   fyne.App
	window fyne.Window
	errOut io.Writer

	app        *app.App
	dispatcher *Dispatcher
	runner     *Runner
	commands   *registry
	known      map[string]bool // shortcuts that the canvas hands to us
	layer      *layer.Layer
	frame      *frame
	side       *sideBar
	banner     *banner
	notifier   *notifier
	hub        *hub

	underWay   func() (calls, turns int) // what closing would break off; nil before the program is open
	leaveAsked bool                      // whether to break it off is being asked

	makers    []maker
	places    map[string]place.Place
	arguments map[string]string
	current   string
	front     time.Time      // when the window last came to the front
	drafts    map[string]any // half-given answers, see place.Deps

	keep    func(ctx context.Context, key, value string) error // stores a choice
	unsaved map[string]string                                  // choices still to be stored
	saving  bool

	running bool   // the toolkit runs
	first   func() // what is done when it begins to

	failed   error // what kept the program from being opened
	quitting ending
	leaving  sync.Once
	left     chan struct{} // closed when everything is given back
	leftErr  error
}

func newShell(fa fyne.App, w fyne.Window, errOut io.Writer) *Shell {
	s := &Shell{
		fyne: fa, window: w, errOut: errOut, places: map[string]place.Place{}, quitting: ending{begun: make(chan struct{})}, arguments: map[string]string{},
		commands: &registry{}, known: map[string]bool{}, unsaved: map[string]string{}, left: make(chan struct{}), makers: makers(),
		drafts: map[string]any{},
	}
	s.dispatcher = NewDispatcher(func(f func()) {
		if s.quitting.has() {
			return // the toolkit closes its queue, and fails over what comes into it just then
		}
		fyne.Do(func() {
			if s.quitting.has() {
				return // the toolkit runs this on whatever goroutine asks, once it has ended
			}
			f()
			s.redraw()
		})
	}, s.broken)
	s.runner = NewRunner(func(problem any) { // the stack is that of the goroutine that failed
		stack := debug.Stack()
		s.dispatcher.Do(func() { s.tellBroken(problem, stack) })
	})
	s.layer = layer.New(w.Canvas(), s.after)
	s.commands.blocked = func(c place.Command) bool { return s.layer.Modal() && !alwaysRuns(c.ID) }
	return s
}

// redraw has the toolkit draw the window once more. What came from the background may have put something new into it,
// and the toolkit draws nothing for an object alone that it has never drawn.
func (s *Shell) redraw() {
	if c := s.window.Content(); c != nil {
		canvas.Refresh(c)
	}
}

// begin shows the window with what is known so far.
func (s *Shell) begin(program *opening) {
	w := s.window
	w.SetMaster()
	w.SetPadded(false)
	w.SetCloseIntercept(s.askToLeave)
	w.Resize(startSize)
	if program.within(0) {
		s.ready(program)
		return
	}
	w.SetContent(page(lang.X("shell.opening", "Opening the data folder…")))
	go func() { // ends with the opening; once the window is gone, end takes what it gives
		<-program.done
		s.dispatcher.Do(func() { s.ready(program) })
	}()
}

// ready fills the window once the program is open, or says why it is not.
func (s *Shell) ready(program *opening) {
	if program.err != nil {
		s.failed = program.err
		fmt.Fprintln(s.errOut, "steward: "+language.Message(program.err))
		s.showProblem(program.err)
		return
	}
	s.app = program.app
	s.underWay = s.app.UnderWay
	s.build(program.conversation)
}

// after calls f on Fyne's goroutine when d is over.
func (s *Shell) after(d time.Duration, f func()) (stop func()) {
	stopped := false
	t := time.AfterFunc(d, func() {
		s.dispatcher.Do(func() {
			if !stopped {
				f()
			}
		})
	})
	return func() {
		stopped = true
		t.Stop()
	}
}

// broken tells of a panic in work that came through the dispatcher; that work alone is lost.
func (s *Shell) broken(problem any) { s.tellBroken(problem, debug.Stack()) }

func (s *Shell) tellBroken(problem any, stack []byte) {
	fmt.Fprintf(s.errOut, "steward: a part of the window failed and was ended: %v\n%s", problem, stack)
	s.layer.Toast(lang.X("shell.part_failed", "A part of the window failed and was ended. Everything else goes on."))
}

// fail tells the person of an error.
func (s *Shell) fail(err error) {
	if err != nil {
		s.layer.Toast(language.Message(err))
	}
}

// background runs work and tells of its error. then, if not nil, runs on Fyne's goroutine when it succeeded.
func (s *Shell) background(work func(ctx context.Context) error, then func()) {
	s.runner.Go(func(ctx context.Context) {
		err := work(ctx)
		s.dispatcher.Do(func() {
			if err != nil {
				s.fail(err)
			} else if then != nil {
				then()
			}
		})
	})
}

// remember keeps a choice of the window's own for the next start. Choices are stored a moment later, one after the
// other: the last one counts. What is still to be stored when the window closes is stored then.
func (s *Shell) remember(key, value string) {
	s.unsaved[key] = value
	if s.saving {
		return
	}
	s.saving = true
	s.after(settle, s.save)
}

// save stores what is unsaved, and begins again where more came meanwhile.
func (s *Shell) save() {
	batch := maps.Clone(s.unsaved)
	s.runner.Go(func(ctx context.Context) {
		err := s.store(ctx, batch)
		s.dispatcher.Do(func() {
			s.saving = false
			for key, value := range batch {
				if s.unsaved[key] == value {
					delete(s.unsaved, key)
				}
			}
			if err != nil {
				s.fail(err)
			} else if len(s.unsaved) > 0 {
				s.saving = true
				s.save()
			}
		})
	})
}

// store writes choices. Any goroutine.
func (s *Shell) store(ctx context.Context, choices map[string]string) error {
	var errs []error
	for key, value := range choices {
		errs = append(errs, s.keep(ctx, key, value))
	}
	return errors.Join(errs...)
}

// deps is what every place gets.
func (s *Shell) deps() place.Deps {
	return place.Deps{
		App: s.app, Do: s.dispatcher.Do, Go: s.runner.Go, Layer: s.layer, Open: s.open, Showing: s.showing,
		Shortcut: s.shortcut, Commands: s.everyCommand, SetTheme: s.setTheme, SetLanguage: s.setLanguage,
		Window: func() fyne.Window { return s.window },
		Front:  func() time.Time { return s.front },
		Drafts: s.drafts,
	}
}

func (s *Shell) setTheme(choice string) {
	s.fyne.Settings().SetTheme(theme.New(choice))
	s.remember(preferTheme, choice)
}

func (s *Shell) setLanguage(choice string) {
	s.remember(preferLanguage, choice)
	s.layer.Toast(lang.X("shell.language_later", "The language changes when Steward is started again."))
}
