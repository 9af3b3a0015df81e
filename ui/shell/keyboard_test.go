package shell

import (
	"errors"
	"slices"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"steward/ui/place"
)

// What is typed must not reach a place that is hidden; in the side bar the keyboard may stay.
func TestAHiddenPlaceLosesTheKeyboard(t *testing.T) {
	b := newBench(t, "light", "en", memory{place: "chat/c7"})
	b.window.Resize(fyne.NewSize(1200, 700))
	b.makers = slices.Clone(b.makers)
	entry := widget.NewEntry()
	for i := range b.makers {
		if b.makers[i].name == place.Waiting {
			b.makers[i].make = func(place.Deps) place.Place { return &spot{name: place.Waiting, canvas: entry} }
		}
	}
	b.open(place.Waiting, "")
	canvas := b.window.Canvas()
	canvas.Focus(entry)
	b.open(place.Waiting, "w_1")
	if canvas.Focused() != fyne.Focusable(entry) {
		t.Error("going on in the same place took the keyboard away")
	}
	b.open(place.Audit, "")
	if f := canvas.Focused(); f != nil {
		t.Errorf("the keyboard stayed in what is hidden: %T", f)
	}
	canvas.Focus(b.side.foot[0])
	b.open(place.Servers, "")
	if canvas.Focused() != fyne.Focusable(b.side.foot[0]) {
		t.Error("the side bar lost the keyboard")
	}
}

func TestPlacesKnowWhenTheWindowCameToTheFront(t *testing.T) {
	b := newBench(t, "light", "en", memory{})
	front := b.deps().Front
	if !front().IsZero() {
		t.Errorf("before anything happened the window came to the front at %v", front())
	}
	life, ok := b.fyne.Lifecycle().(interface{ OnEnteredForeground() func() })
	if !ok {
		t.Fatalf("%T does not tell what it would call", b.fyne.Lifecycle())
	}
	before := time.Now()
	life.OnEnteredForeground()()
	if front().Before(before) || !b.notifier.front {
		t.Errorf("the window came to the front after %v; places are told %v", before, front())
	}
}

func TestPlacesShareTheirDrafts(t *testing.T) {
	b := newBench(t, "light", "en", memory{})
	b.deps().Drafts["w_1"] = "half"
	if b.deps().Drafts["w_1"] != "half" {
		t.Error("each place has drafts of its own")
	}
}

// taker is a place that takes files.
type taker struct {
	*spot
	got []string
}

func (p *taker) Dropped(paths []string) { p.got = append(p.got, paths...) }

func TestDroppedFilesReachTheChat(t *testing.T) {
	b := newBench(t, "light", "en", memory{})
	var chat *taker
	b.makers = slices.Clone(b.makers)
	for i, m := range b.makers {
		if m.name == place.Chat {
			delete(b.places, place.Chat)
			b.makers[i].make = func(d place.Deps) place.Place { chat = &taker{spot: m.make(d).(*spot)}; return chat }
		}
	}
	b.open(place.Chat, "c7")
	b.open(place.Audit, "")
	web, err := storage.ParseURI("https://example.com/x")
	if err != nil {
		t.Fatal(err)
	}
	b.dropped([]fyne.URI{web, nil})
	if b.current != place.Audit {
		t.Error("what is no file opened the chat")
	}
	b.dropped([]fyne.URI{storage.NewFileURI("/tmp/a b.txt"), web, storage.NewFileURI("/tmp/目录")})
	if want := []string{"/tmp/a b.txt", "/tmp/目录"}; !slices.Equal(chat.got, want) || b.current != place.Chat || b.arguments[place.Chat] != "c7" {
		t.Errorf("in %s/%s the files %q were taken, want %q", b.current, b.arguments[b.current], chat.got, want)
	}
	b.layer.Dialog(widget.NewLabel("?"), nil)
	b.dropped([]fyne.URI{storage.NewFileURI("/tmp/c")})
	if len(chat.got) != 2 {
		t.Error("a file fell through a dialog")
	}
}

// failing is a toolkit that fails while it ends.
type failing struct {
	fyne.App
	fails func()
}

func (f failing) Quit() { f.fails() }

func TestQuittingSurvivesAMissingWatch(t *testing.T) {
	app := test.NewTempApp(t)
	ends := func(fails func()) *Shell {
		return &Shell{
			fyne: failing{app, fails}, quitting: ending{begun: make(chan struct{})},
			dispatcher: NewDispatcher(func(func()) {}, func(any) {}), // ended by quit
		}
	}
	s := ends(func() {
		var missing *struct{ x int }
		missing.x++ // what the toolkit does with a watcher that it could not make
	})
	s.quit()
	if !s.quitting.has() {
		t.Error("the window does not know that it ends")
	}
	other := errors.New("something else")
	s = ends(func() { panic(other) })
	func() {
		defer func() {
			if problem := recover(); problem != other {
				t.Errorf("another fault became %v", problem)
			}
		}()
		s.quit()
	}()
}
