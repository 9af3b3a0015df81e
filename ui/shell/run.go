// Package shell is the window: it opens the program, shows the side bar and the places, owns the shortcuts, the way onto
// the toolkit's thread and the background work, and closes everything again.
//
// It is the only package that imports Fyne's own app package, and with it the display.
package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"fyne.io/fyne/v2"
	fyneapp "fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/assets"
	"steward/ui/environment"
	"steward/ui/language"
	"steward/ui/theme"
)

const (
	appID = "app.steward.Steward"
	// patience is how long the window waits for the folder to be opened before it is shown without what is in it.
	patience = 1500 * time.Millisecond
	// closing bounds how long leaving may take: background work and servers are asked to end, then made to.
	closing = 10 * time.Second
)

// ErrNoDisplay says that there is nothing to open a window on.
var ErrNoDisplay = errors.New("no display was found to open a window on (neither DISPLAY nor WAYLAND_DISPLAY leads to one)")

// CheckDisplay gives ErrNoDisplay where the system has displays by name and none is named.
func CheckDisplay() error {
	switch runtime.GOOS {
	case "windows", "darwin":
		return nil
	}
	if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return ErrNoDisplay
	}
	return nil
}

// opening is the program while it is opened. Its fields may be read once done is closed.
type opening struct {
	done         chan struct{}
	app          *app.App
	err          error
	conversation string // to be shown first, or ""
}

// open begins to open the program. The goroutine ends with app.Open; whoever waits for done closes the program.
func open(o app.Options) *opening {
	p := &opening{done: make(chan struct{}), conversation: o.Conversation}
	go func() {
		defer close(p.done)
		p.app, p.err = app.Open(context.Background(), o)
	}()
	return p
}

// within waits for the program, and reports whether it is open or has failed to.
func (p *opening) within(d time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(d):
		return false
	}
}

// Run opens the window and returns when it is closed and everything is given back. It must be called on the main
// goroutine; where the toolkit does not come back, exit is called in its stead with what Run would have returned, on
// another goroutine, and must end the process. What keeps the program from being opened (a folder that is held, damaged or newer) is shown in a window,
// said on errOut, and returned. The error is ErrNoDisplay where the display could not be used; then nothing was done.
func Run(o app.Options, errOut io.Writer, exit func(error)) error {
	if err := CheckDisplay(); err != nil {
		return err
	}
	environment.ForWindow()
	program := open(o)
	look := appearance{theme: theme.FollowSystem, language: language.FollowSystem}
	if program.within(patience) && program.app != nil {
		look = remembered(program.app)
	}
	return show(look, program, errOut, exit)
}

// appearance is what must be known before the toolkit begins.
type appearance struct {
	theme, language, scale string
}

func remembered(a *app.App) appearance {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return appearance{
		theme:    preference(ctx, a, preferTheme, theme.FollowSystem),
		language: preference(ctx, a, preferLanguage, language.FollowSystem),
		scale:    preference(ctx, a, preferScale, ""),
	}
}

// preference gives a stored choice, or the usual one where there is none or it cannot be read: a window that looks as
// on the first day is better than none.
func preference(ctx context.Context, a *app.App, key, usual string) string {
	if value, err := a.Preference(ctx, key); err == nil && value != "" {
		return value
	}
	return usual
}

// begin makes the toolkit's app, looking as chosen.
func begin(look appearance, errOut io.Writer) (fyne.App, error) {
	if f, err := strconv.ParseFloat(look.scale, 32); err == nil && f >= 0.5 && f <= 4 && os.Getenv("FYNE_SCALE") == "" {
		os.Setenv("FYNE_SCALE", look.scale)
	}
	log.SetOutput(&complaints{to: errOut})
	fa := fyneapp.NewWithID(appID)
	fa.SetIcon(fyne.NewStaticResource("icon.png", assets.AppIcon()))
	if err := language.Load(look.language); err != nil {
		if again := language.Load(language.FollowSystem); again != nil {
			return nil, again
		}
	}
	fa.Settings().SetTheme(theme.New(look.theme))
	return fa, nil
}

// endQuietly takes out the one thing that the toolkit queues for its own thread while it closes that thread's queue: the
// saving of its preferences, of which there are none here. Where the queue was closed first, the program died of it
// ("send on closed channel", Fyne 2.8, driver/glfw, runGL). The hook has no public name, only a method.
func endQuietly(l fyne.Lifecycle) {
	if hooked, ok := l.(interface{ SetOnStoppedHookExecuted(f func()) }); ok {
		hooked.SetOnStoppedHookExecuted(nil)
	}
}

// show runs the window until it is closed, and gives back the program.
func show(look appearance, program *opening, errOut io.Writer, exit func(error)) (err error) {
	var s *Shell
	started := false
	func() {
		defer func() {
			problem := recover()
			if problem == nil {
				return
			}
			if !started {
				err = ErrNoDisplay // the toolkit panics where a display cannot be used
				return
			}
			err = fmt.Errorf("the window failed and was closed: %v", problem)
			fmt.Fprintf(errOut, "%s\n", debug.Stack())
		}()
		var fa fyne.App
		if fa, err = begin(look, errOut); err != nil {
			return
		}
		s = newShell(fa, fa.NewWindow(lang.X("common.app", "Steward")), errOut)
		fa.Lifecycle().SetOnStarted(func() {
			started = true
			s.began()
		})
		s.begin(program)
		endQuietly(fa.Lifecycle())
		defer s.listenToSystem()()
		returned := make(chan struct{})
		defer close(returned)
		go s.quitting.outlast(returned, overdue, func() { exit(s.end(program)) })
		s.window.ShowAndRun()
	}()
	if s != nil {
		return errors.Join(err, s.end(program))
	}
	return errors.Join(err, giveBack(program))
}

// giveBack closes the program where no window came to own it.
func giveBack(program *opening) error {
	if !program.within(closing) {
		return nil // the process ends, and with it whatever still tries to open the folder
	}
	if program.app == nil {
		return program.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), closing)
	defer cancel()
	return program.app.Close(ctx)
}
