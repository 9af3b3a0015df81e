package chat

import (
	"context"
	"maps"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/consent"
	"steward/app/event"
	"steward/ui/code"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/picture"
	"steward/ui/place"
	"steward/ui/theme"
	"steward/ui/waiting"
)

// pageOfMessages is how many messages are read at once; scrolling to the top reads as many more.
const pageOfMessages = 60

// messagesOfTurn is how many messages a turn brings, and some.
const messagesOfTurn = 30

// Place is the chat. It shows one conversation at a time; the others go on unseen.
type Place struct {
	d        place.Deps
	now      func() time.Time
	pool     *code.Pool
	pictures *picture.Reader
	unsub    func()
	shown    bool

	state    *presenter
	loading  int // counts what was opened, so that an old reading is not shown
	reading  int // and what was read of it
	known    app.Conversation
	settings app.ConversationSettings
	more     bool // there are older messages than those shown
	paging   bool
	flushing bool

	opened  map[string]bool      // rows that were unfolded
	runs    map[string]time.Time // when calls were first seen to run
	objects map[*column]string   // rows by their columns, for those that change their height by themselves
	drafts  map[string]draft     // what was typed, by conversation
	later   map[string]draft     // what is sent when the turn has ended, by conversation
	card    func(item consent.Item, resized func()) itemCard

	frame       *frame
	head        *head
	list        *list.List
	composer    *composer
	empty       *empty
	fresh       *chip
	offers      *offers
	finder      *finder
	book        book
	bookChanges []bookChange // the first is being stored
	watches     map[watched]*watch
	cards       map[*itemRow]bool
	switches    *switches       // while they are open
	models      *modelMenu      // while it is open
	hunt        *hunt           // while a refused tool is looked for
	panel       *contextPanel   // while it is open
	titled      map[string]bool // conversations that were named by the model, or asked about
	entered     string          // the card that the keyboard was led into last
	pins        *flowBox        // pinned prompts, above the composer
	ticking     bool

	want   wants
	saves  map[string]*saving // of settings, by conversation
	chosen int                // counts the settings the person has chosen, so that an older reading is not shown
}

// itemCard is the card of something that waits for the person.
type itemCard interface {
	fyne.CanvasObject
	HeightFor(width float32) float32
	Enter() // puts the keyboard into it, on the answer that lets nothing happen
	Again() // it was out of sight and is seen now
	Close()
}

// New makes the place; it shows a new conversation until Goto names another.
func New(d place.Deps) *Place {
	p := &Place{
		d: d, now: time.Now, pool: code.NewPool(d.Do), pictures: picture.NewReader(d.Do, d.Go), state: newPresenter(), opened: map[string]bool{}, runs: map[string]time.Time{},
		objects: map[*column]string{}, drafts: map[string]draft{}, later: map[string]draft{}, watches: map[watched]*watch{}, cards: map[*itemRow]bool{}, titled: map[string]bool{},
		saves: map[string]*saving{},
	}
	p.card = func(item consent.Item, resized func()) itemCard {
		return waiting.NewCard(item, waiting.Deps{Deps: d, Resized: func(*waiting.Card) { resized() }})
	}
	p.offers = newOffers(p)
	p.finder = newFinder(p)
	p.list = list.New(list.Source{
		Len: func() int { return len(p.state.rows) }, Build: p.build, Update: p.update, Released: p.released,
		Key: func(i int) string { return p.state.rows[i].key },
	})
	p.list.MaxWidth = columnWidth
	p.list.OnBelow = func() { p.fresh.Show(); p.frame.Refresh() }
	p.list.OnFollow = func(following bool) {
		if following {
			p.fresh.Hide()
		}
	}
	p.list.OnVisible = func(first, _ int) {
		if first < 3 {
			p.earlier()
		}
	}
	p.list.OnKey = func(_ int, e *fyne.KeyEvent) bool {
		p.keyFromText(e)
		return e.Name == fyne.KeyEscape
	}
	p.fresh = newChip(outlined, "chevron-down", lang.X("chat.new_text", "New text"), func() { p.list.SetFollow(true); p.list.ScrollToEnd() })
	p.fresh.pill, p.fresh.small = true, true
	p.fresh.Hide()
	p.pins = newFlow(1.5 * theme.Step)
	p.pins.Hide()
	p.composer = newComposer(p)
	p.head = newHead(p)
	p.empty = newEmpty(p)
	p.frame = newFrame(p)
	p.unsub = d.App.Listen(p.told)
	p.open("")
	p.readPrompts()
	d.Go(func(ctx context.Context) { d.App.Start(ctx) }) // what they offer is wanted before anything is asked: tools, prompts, resources
	return p
}

// Canvas is the whole place.
func (p *Place) Canvas() fyne.CanvasObject { return p.frame }

// Goto opens a conversation; "" begins a new one.
func (p *Place) Goto(argument string) {
	if argument != p.state.conversation {
		p.open(argument)
	}
	if p.shown {
		p.focusComposer()
	}
}

// Shown begins to draw, and puts the keyboard into the composer.
func (p *Place) Shown() {
	p.shown = true
	p.list.Reset()
	for v := range p.cards {
		v.card.Again()
	}
	p.focusComposer()
	p.readEnter()
	p.tick()
}

// Hidden keeps what was typed.
func (p *Place) Hidden() { p.shown = false; p.composer.closePopup() }

// Close ends what the place holds.
func (p *Place) Close() {
	p.composer.closePopup()
	for v := range p.cards {
		v.card.Close()
	}
	unsub, pool, watches := p.unsub, p.pool, slices.Collect(maps.Values(p.watches))
	p.d.Go(func(context.Context) { // all of them wait for work that may itself want Fyne's goroutine
		for _, k := range watches {
			k.end()
		}
		unsub()
		pool.Close()
	})
}

// open shows a conversation from the store.
func (p *Place) open(id string) {
	p.head.renamed(p.head.edit.Text) // before another conversation is shown
	p.drafts[p.state.conversation] = p.composer.draft()
	p.finder.bar.Hide()
	p.finder.forget()
	p.composer.restore(p.drafts[id])
	p.loading++
	p.state.load(id, nil, nil, p.isWorking(id))
	p.known, p.settings = app.Conversation{ID: id}, app.ConversationSettings{}
	p.more, p.paging = false, false
	p.want = wants{}
	p.chosen++
	p.fresh.Hide()
	p.state.flush()
	p.composer.working(p.state.working) // Stop belongs to what is shown, whatever else works
	p.list.Reset()
	p.list.SetFollow(true)
	p.showLater()
	p.refreshAll()
	p.read()
}

// read reads the whole conversation anew, and shows it where the person is.
func (p *Place) read() {
	id, turn := p.state.conversation, p.loading
	p.readHead()
	if id == "" {
		return
	}
	limit := max(pageOfMessages, len(p.state.messages)+messagesOfTurn) // what the person has scrolled up to stays
	p.reading++
	reading, seen := p.reading, p.shown
	p.d.Go(func(ctx context.Context) {
		messages, err := p.d.App.Messages(ctx, id, 0, limit)
		if gone(ctx, err) {
			return
		}
		p.d.Do(func() {
			if turn != p.loading || reading != p.reading { // a later reading knows more
				return
			}
			if err != nil {
				p.unread(id, seen, err)
				return
			}
			working := p.isWorking(id)
			p.state.load(id, messages, p.d.App.Waiting().List(), working)
			p.more = len(messages) >= limit
			p.finder.changed()
			p.soon()
		})
	})
}

// noConversation is the key of the error that there is no such conversation.
const noConversation = "no_conversation"

// unread is told that a conversation could not be read. One that is gone since the last run, which ended with it, is no
// news: it was a temporary one.
func (p *Place) unread(id string, seen bool, err error) {
	none := app.Explain(err).Key == noConversation
	if seen || !none {
		p.fail(err)
	}
	if none {
		p.lost(id, true)
	}
}

// lost goes on with a new conversation where one was shown that is there no more. For good, nothing of it is kept.
func (p *Place) lost(id string, forGood bool) {
	if id == "" {
		return
	}
	if p.state.conversation == id {
		p.open("")
		p.d.Showing(place.Chat, "")
	}
	if forGood {
		delete(p.drafts, id)
		delete(p.later, id)
		delete(p.titled, id)
	}
}

func (p *Place) isWorking(id string) bool {
	for _, w := range p.d.App.Working() {
		if w == id {
			return true
		}
	}
	return false
}

// earlier reads a page of older messages.
func (p *Place) earlier() {
	if p.more && !p.paging {
		p.page(p.state.oldest(), pageOfMessages, nil)
	}
}

// back reads messages until the last n are there, and runs then.
func (p *Place) back(n int, then func()) {
	if n -= len(p.state.messages); n > 0 && p.more {
		p.page(p.state.oldest(), n, then)
	}
}

// page reads n messages older than those from before on.
func (p *Place) page(before int64, n int, then func()) {
	p.paging = true
	id, turn := p.state.conversation, p.loading
	p.d.Go(func(ctx context.Context) {
		messages, err := p.d.App.Messages(ctx, id, before, n)
		if gone(ctx, err) {
			return
		}
		p.d.Do(func() {
			if turn != p.loading {
				return
			}
			p.paging = false
			if err != nil {
				p.fail(err)
				return
			}
			p.more = len(messages) >= n
			p.state.earlier(messages)
			p.flush()
			if then != nil {
				then()
			}
		})
	})
}

// told hands an event on to Fyne's goroutine. It runs on the bus's.
func (p *Place) told(e event.Event) { p.d.Do(func() { p.apply(e) }) }

func (p *Place) apply(e event.Event) {
	w := p.state.apply(e)
	switch e := e.(type) {
	case event.ServersChanged, event.Server:
		p.offers.stale()
	case event.Turn:
		p.entitle(e)
		p.turnEnded(e)
		if e.Conversation == p.state.conversation {
			p.learnWindow()
		}
	case event.ConversationChanged:
		if e.What == "deleted" || e.What == "erased" {
			p.lost(e.Conversation, e.What == "erased")
		}
	}
	if w.items {
		p.state.waits(p.d.App.Waiting().List())
	}
	switch {
	case w.all:
		p.read()
	case w.message != "":
		p.readMessage(w.message)
	}
	if w.head && !w.all {
		p.readHead()
	}
	p.soon()
}

func (p *Place) readMessage(id string) {
	conversation, turn := p.state.conversation, p.loading
	p.d.Go(func(ctx context.Context) {
		m, err := p.d.App.Message(ctx, conversation, id)
		if err != nil {
			return // the answer of a tool, or one that is gone: the end of the turn reads everything
		}
		p.d.Do(func() {
			if turn == p.loading && (m.Role == roleUser || m.Role == roleAssistant) {
				p.state.store(m)
				p.soon()
			}
		})
	})
}

// soon draws what changed, once for all events that came together.
func (p *Place) soon() {
	if p.flushing {
		return
	}
	p.flushing = true
	p.d.Do(func() {
		p.flushing = false
		p.flush()
	})
}

func (p *Place) flush() {
	before := len(p.state.rows)
	c := p.state.flush()
	if c.reset {
		p.list.Reset()
	} else {
		if c.added > 0 {
			p.list.Inserted(c.from, c.added)
		}
		for _, i := range c.touched {
			p.list.Changed(i)
		}
	}
	if (before == 0) != (len(p.state.rows) == 0) {
		p.refreshAll()
	}
	p.composer.working(p.state.working)
	p.tick()
}

// changedRow draws a row again that changed by the person's doing.
func (p *Place) changedRow(key string) {
	for i, r := range p.state.rows {
		if r.key == key {
			p.list.Changed(i)
			return
		}
	}
}

func (p *Place) rowResized(c *column) {
	if key := p.objects[c]; key != "" {
		p.changedRow(key)
	}
}

func (p *Place) released(o fyne.CanvasObject) {
	switch o := o.(type) {
	case *answerRow:
		delete(p.objects, o.column)
	case *itemRow:
		delete(p.cards, o)
		o.card.Close()
	}
}

// tick counts the time of calls that run and of a model that reasons, twice a second, while some do and the place is seen.
func (p *Place) tick() {
	if p.ticking || !p.shown || len(p.state.runningCalls()) == 0 {
		return
	}
	p.ticking = true
	p.d.Go(func(ctx context.Context) {
		t := time.NewTimer(500 * time.Millisecond)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		p.d.Do(func() {
			p.ticking = false
			for _, i := range p.state.runningCalls() {
				p.list.Touch(i, func(o fyne.CanvasObject) {
					if t, ok := o.(interface{ tick() }); ok {
						t.tick()
					}
				})
			}
			p.tick()
		})
	})
}

// fail tells the person of an error.
func (p *Place) fail(err error) {
	if err != nil {
		p.d.Layer.Toast(language.Message(err))
	}
}

// background runs work, tells of its error, and runs then on Fyne's goroutine where it succeeded.
func (p *Place) background(work func(ctx context.Context) error, then func()) {
	fetch(p, func(ctx context.Context) (struct{}, error) { return struct{}{}, work(ctx) }, func(struct{}) {
		if then != nil {
			then()
		}
	})
}

// fetch is background for work that gives something.
func fetch[T any](p *Place, work func(ctx context.Context) (T, error), then func(T)) {
	p.d.Go(func(ctx context.Context) {
		got, err := work(ctx)
		if gone(ctx, err) {
			return
		}
		p.d.Do(func() {
			if err != nil {
				p.fail(err)
				return
			}
			then(got)
		})
	})
}

func (p *Place) refreshAll() {
	p.frame.Refresh()
	p.head.Refresh()
}
