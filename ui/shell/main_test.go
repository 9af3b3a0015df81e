package shell

import (
	"context"
	"fmt"
	"image/color"
	"os"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/consent"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/place/placetest"
	"steward/ui/theme"
)

func TestMain(m *testing.M) {
	code := placetest.Main(m)
	if err := os.RemoveAll(programDir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

var programDir string // where the real program was built; removed at the end

// told is a source of which a test decides everything.
type told struct {
	mu         sync.Mutex
	chats      []app.Conversation
	err        error
	asked      []app.Query
	serversErr error
	servers    []app.ServerStatus
	items      []consent.Item
	working    []string
	records    int64
}

func (s *told) Conversations(_ context.Context, q app.Query) ([]app.Conversation, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, q)
	return s.chats, s.err
}

func (s *told) Servers(context.Context) ([]app.ServerStatus, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.servers, s.serversErr
}

func (s *told) Records(context.Context) (int64, error) { return s.records, nil }

func (s *told) Items() []consent.Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.items
}

func (s *told) Working() []string { return s.working }

// spot is a place that notes what it is told.
type spot struct {
	name   string
	canvas fyne.CanvasObject
	told   []string
	more   []place.Command
}

func (p *spot) Canvas() fyne.CanvasObject { return p.canvas }
func (p *spot) Goto(argument string)      { p.told = append(p.told, "goto "+argument) }
func (p *spot) Shown()                    { p.told = append(p.told, "shown") }
func (p *spot) Hidden()                   { p.told = append(p.told, "hidden") }
func (p *spot) Close()                    { p.told = append(p.told, "close") }
func (p *spot) Commands() []place.Command { return p.more }

// bench is a window on the toolkit's test driver whose work runs only when the test says so.
type bench struct {
	*Shell
	t      *testing.T
	source *told
	spots  map[string]*spot
	queue  placetest.Queue

	mu   sync.Mutex
	kept map[string]string
}

func newBench(t *testing.T, variant, tongue string, was memory) *bench {
	t.Helper()
	fa := test.NewTempApp(t)
	if err := language.Load(tongue); err != nil {
		t.Fatal(err)
	}
	fa.Settings().SetTheme(theme.New(variant))
	w := test.NewTempWindow(t, canvas.NewRectangle(color.Transparent))
	w.SetPadded(false)
	b := &bench{t: t, source: &told{}, spots: map[string]*spot{}, kept: map[string]string{}}
	b.Shell = newShell(fa, w, os.Stderr)
	b.dispatcher.Close()
	b.dispatcher = NewDispatcher(b.queue.Do, b.broken)
	b.keep = func(_ context.Context, key, value string) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.kept[key] = value
		return nil
	}
	b.makers = nil // spots stand in for the real places
	for _, name := range []string{place.Chat, place.Waiting, place.Servers, place.Audit, place.Settings} {
		icon := map[string]string{place.Chat: "chat", place.Waiting: "clock", place.Servers: "servers", place.Audit: "audit", place.Settings: "settings"}[name]
		b.makers = append(b.makers, maker{name: name, icon: icon, titleKey: "shell." + name, make: func(place.Deps) place.Place {
			p := &spot{name: name, canvas: canvas.NewRectangle(color.Transparent)}
			b.spots[name] = p
			return p
		}})
	}
	b.assemble(b.source, was)
	b.start(was.place)
	t.Cleanup(func() {
		b.stop()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if !b.runner.Close(ctx) {
			t.Error("work in the background did not end")
		}
		<-b.dispatcher.done
	})
	return b
}

// until runs the window's queue until something holds.
func (b *bench) until(what string, holds func() bool) {
	b.t.Helper()
	if !b.queue.Run(5*time.Second, holds) {
		b.t.Fatalf("this did not come about: %s", what)
	}
}

// readAll reads every topic.
func (b *bench) readAll() {
	b.t.Helper()
	for t := range topics {
		b.hub.read(t)
	}
	b.until("every topic is read", func() bool { return b.hub.busy == [topics]bool{} })
}

func (b *bench) press(name fyne.KeyName, m fyne.KeyModifier) bool {
	return b.shortcut(&desktop.CustomShortcut{KeyName: name, Modifier: m})
}

// picture writes what the window shows where STEWARD_PICTURES names a folder, for a person to look at.
func (b *bench) picture(name string) {
	b.t.Helper()
	placetest.Picture(b.t, b.window, name)
}
