package shell

import (
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/ui/theme"
)

func TestEndingIsBegunOnce(t *testing.T) {
	t.Parallel()
	e := ending{begun: make(chan struct{})}
	if e.has() || !e.begin() || e.begin() || !e.has() {
		t.Error("an ending begins once and is then known")
	}
}

func TestTheProgramIsGivenBackWithoutTheToolkit(t *testing.T) {
	t.Parallel()
	e := ending{begun: make(chan struct{})}
	gaveBack := make(chan struct{})
	go e.outlast(make(chan struct{}), time.Millisecond, func() { close(gaveBack) }) // a toolkit that never returns
	select {
	case <-gaveBack:
		t.Fatal("the program was given back under an open window")
	case <-time.After(20 * time.Millisecond):
	}
	e.begin()
	<-gaveBack
}

func TestAToolkitThatReturnsIsLeftAlone(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{false, true} {
		e := ending{begun: make(chan struct{})}
		returned := make(chan struct{})
		close(returned)
		if begun {
			e.begin()
		}
		e.outlast(returned, time.Hour, func() { t.Error("it was given back twice") })
	}
}

func TestNothingIsQueuedForAThreadThatEnds(t *testing.T) {
	lifecycle := test.NewTempApp(t).Lifecycle()
	hooked, ok := lifecycle.(interface {
		SetOnStoppedHookExecuted(f func())
		OnStopped() func()
	})
	if !ok {
		t.Fatal("the toolkit's lifecycle no longer has the hook that endQuietly takes out")
	}
	hooked.SetOnStoppedHookExecuted(func() {})
	if hooked.OnStopped() == nil {
		t.Fatal("the toolkit queues nothing at its end; endQuietly may go")
	}
	endQuietly(lifecycle)
	if hooked.OnStopped() != nil {
		t.Error("the toolkit still queues something at its end")
	}
}

// What runs is not broken off unasked; who asks for it twice means it.
func TestQuittingAsksWhileSomethingRuns(t *testing.T) {
	b := newBench(t, theme.AlwaysLight, "en", memory{})
	b.underWay = func() (int, int) { return 1, 1 }
	open := func() bool {
		select {
		case <-b.stopping():
			return false
		default:
			return true
		}
	}
	b.press(fyne.KeyQ, fyne.KeyModifierShortcutDefault)
	if !open() || !b.layer.Modal() {
		t.Fatal("the window was closed unasked, or nothing is asked")
	}
	b.picture("quit")
	b.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if !open() || b.layer.Modal() || b.leaveAsked {
		t.Fatal("staying is not staying")
	}
	b.askToLeave()
	if !open() || !b.layer.Modal() {
		t.Fatal("it is not asked again")
	}
	b.press(fyne.KeyQ, fyne.KeyModifierShortcutDefault)
	if open() {
		t.Error("asked for twice, the window stays")
	}
}
