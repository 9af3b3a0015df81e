package chat

import (
	"context"
	"sync"

	"fyne.io/fyne/v2"

	"steward/app"
	"steward/app/clean"
	"steward/ui/markdown"
	"steward/ui/text"
)

// pageOfFind is how many messages are read at once to be searched.
const pageOfFind = 400

// hit is one place that was found: the n-th in a message. After is how many messages come behind that one.
type hit struct {
	message  string
	n, after int
}

// archive holds the texts of a conversation without their marks, so that each key typed searches memory. It is filled
// when it is first searched. Its methods run in the background, any number at a time.
type archive struct {
	app *app.App
	id  string

	mu    sync.Mutex
	read  bool
	texts []archived // oldest first
}

type archived struct {
	message string
	plain   []string
}

// find gives every place where words stand, oldest message first.
func (a *archive) find(ctx context.Context, words string) ([]hit, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.read {
		if err := a.fill(ctx); err != nil {
			return nil, err
		}
		a.read = true
	}
	var out []hit
	for i, t := range a.texts {
		n := 0
		for _, p := range t.plain {
			for range text.Find(p, words) {
				out = append(out, hit{t.message, n, len(a.texts) - 1 - i})
				n++
			}
		}
	}
	return out, ctx.Err()
}

func (a *archive) fill(ctx context.Context) error {
	var pages [][]app.ChatMessage
	n := 0
	for before := int64(0); ; {
		page, err := a.app.Messages(ctx, a.id, before, pageOfFind)
		if err != nil {
			return err
		}
		pages = append(pages, page)
		n += len(page)
		if len(page) < pageOfFind || page[0].Seq == 0 {
			break
		}
		before = page[0].Seq
	}
	a.texts = make([]archived, 0, n)
	for i := len(pages) - 1; i >= 0; i-- {
		for _, m := range pages[i] {
			a.texts = append(a.texts, archived{m.ID, plainOf(m)})
		}
	}
	return nil
}

// plainOf is a message as its row shows it.
func plainOf(m app.ChatMessage) []string {
	if m.Role == roleUser {
		return []string{clean.Clean(m.Text)}
	}
	return markdown.Plain(clean.Clean(m.Text), words())
}

// finder finds words in the conversation that is shown.
type finder struct {
	p       *Place
	bar     *findBar
	words   string
	archive *archive // nil: what is there must be read anew
	hits    []hit
	at      int // the current one of hits
	turn    int
}

func newFinder(p *Place) *finder {
	f := &finder{p: p}
	f.bar = newFindBar(f)
	return f
}

func (f *finder) open() bool { return f.bar.Visible() }

// show opens the bar, with the keyboard in it.
func (f *finder) show() {
	if f.p.state.conversation == "" {
		return
	}
	f.bar.Show()
	f.p.frame.Refresh()
	f.p.focus(f.bar.entry)
	f.bar.entry.TypedShortcut(&fyne.ShortcutSelectAll{})
	f.search(f.bar.entry.Text)
}

// close takes the bar and the marks away.
func (f *finder) close() {
	if !f.open() {
		return
	}
	f.bar.Hide()
	f.forget()
	f.p.frame.Refresh()
	f.p.focusComposer()
}

// forget is for another conversation.
func (f *finder) forget() {
	f.turn++
	f.words, f.archive, f.hits, f.at = "", nil, nil, 0
	f.repaint()
}

// changed has what is shown searched again, because the conversation is not what it was.
func (f *finder) changed() {
	f.archive = nil
	if f.open() && f.words != "" {
		f.find(false)
	}
}

// search looks for other words.
func (f *finder) search(words string) {
	f.words = words
	if words == "" {
		f.turn++
		f.hits, f.at = nil, 0
		f.repaint()
		return
	}
	f.find(true)
}

// find searches in the background. go to: the place nearest to what is seen becomes the current one.
func (f *finder) find(goTo bool) {
	f.turn++
	turn, words := f.turn, f.words
	if f.archive == nil {
		f.archive = &archive{app: f.p.d.App, id: f.p.state.conversation}
	}
	a := f.archive
	f.p.d.Go(func(ctx context.Context) {
		hits, err := a.find(ctx, words)
		if gone(ctx, err) {
			return
		}
		f.p.d.Do(func() {
			if turn != f.turn {
				return
			}
			if err != nil {
				f.p.fail(err)
				return
			}
			f.found(hits, goTo)
		})
	})
}

func (f *finder) found(hits []hit, goTo bool) {
	was, had := hit{}, f.at < len(f.hits)
	if had {
		was = f.hits[f.at]
	}
	f.hits = hits
	if goTo {
		f.at = f.nearest()
	} else if f.at = 0; had {
		for i, h := range hits {
			if h.message == was.message && h.n == was.n {
				f.at = i
			}
		}
	}
	f.repaint()
	if goTo {
		f.reach()
	}
}

// nearest is the first place from the top of what is seen on, else the last.
func (f *finder) nearest() int {
	order := map[string]int{}
	for i, r := range f.p.state.rows {
		if r.message != nil {
			order[r.message.ID] = i
		}
	}
	first, _ := f.p.list.VisibleRows()
	for i, h := range f.hits {
		if at, ok := order[h.message]; ok && at >= first {
			return i
		}
	}
	return max(len(f.hits)-1, 0)
}

// move goes to the next place, or the one before.
func (f *finder) move(by int) {
	if n := len(f.hits); n > 0 {
		f.at = (f.at + by + n) % n
		f.repaint()
		f.reach()
	}
}

// current is the place that the person is at, of a message; -1 where it is in another one.
func (f *finder) current(message string) int {
	if f.at < len(f.hits) && f.hits[f.at].message == message {
		return f.hits[f.at].n
	}
	return -1
}

// mark marks what was found in a message's text.
func (f *finder) mark(v *text.View, message string) {
	if len(f.hits) == 0 {
		v.Mark("", 0)
		return
	}
	v.Mark(f.words, f.current(message))
}

// repaint brings the bar and the rows that are built up to date.
func (f *finder) repaint() {
	f.bar.say()
	for i := range f.p.state.rows {
		f.p.list.Touch(i, func(o fyne.CanvasObject) {
			switch o := o.(type) {
			case *userRow:
				f.mark(o.body, o.id)
			case *answerRow:
				f.mark(&o.body.View, o.id)
			}
		})
	}
}

// reach shows the current place, and reads the messages up to it first where they are not there.
func (f *finder) reach() {
	if f.at >= len(f.hits) {
		return
	}
	h := f.hits[f.at]
	if f.p.state.find(h.message) == nil {
		turn := f.turn
		f.p.back(h.after+pageOfMessages, func() {
			if turn == f.turn && f.at < len(f.hits) && f.hits[f.at] == h && f.p.state.find(h.message) != nil {
				f.scroll(h)
			}
		})
		return
	}
	f.scroll(h)
}

func (f *finder) scroll(h hit) {
	for i, r := range f.p.state.rows {
		if r.message == nil || r.message.ID != h.message || r.kind != rowUser && r.kind != rowAnswer {
			continue
		}
		f.p.list.RevealPart(i, 0, 1) // so that it is built
		f.p.list.Touch(i, func(o fyne.CanvasObject) {
			switch o := o.(type) {
			case *userRow:
				f.reveal(i, o.body, h.n, o.body.Position().Y)
			case *answerRow:
				f.reveal(i, &o.body.View, h.n, 0)
			}
		})
		return
	}
}

// reveal scrolls to the n-th place of a row's text, which begins at y of the row, with some room around it.
func (f *finder) reveal(i int, v *text.View, n int, y float32) {
	const room = 48
	if top, height, ok := v.Marked(n); ok {
		f.p.list.RevealPart(i, y+top-room, height+2*room)
	}
}
