package waiting

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"

	"steward/app/consent"
	"steward/app/event"
	"steward/ui/list"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	columnWidth = 760
	keepEnded   = 20 // cards of items that ended, which stay until the place is left
)

// Place lists everything that waits, of all conversations, the oldest first. What ends while it is looked at stays as
// one line until the place is shown again.
type Place struct {
	d        Deps
	items    []consent.Item
	cards    map[string]*Card
	list     *list.List
	empty    fyne.CanvasObject
	title    *text.Label
	canvas   fyne.CanvasObject
	unlisten func()
	shown    bool
	goal     string // the item to show
}

// New makes the place. Drafts live in d.Drafts; without them, in the place.
func New(d place.Deps) *Place { return newPlace(Deps{Deps: d}) }

func newPlace(d Deps) *Place {
	if d.Drafts == nil {
		d.Drafts = map[string]any{}
	}
	p := &Place{d: d, cards: map[string]*Card{}}
	p.d.Resized = p.resized
	p.list = list.New(list.Source{
		Len:    func() int { return len(p.items) },
		Key:    func(i int) string { return p.items[i].ID },
		Build:  p.build,
		Update: func(fyne.CanvasObject, int) bool { return true },
		Released: func(o fyne.CanvasObject) {
			if r, ok := o.(*column); ok {
				if c, ok := r.objects[0].(*Card); ok {
					c.Close()
					if p.cards[c.item.ID] == c {
						delete(p.cards, c.item.ID)
					}
				}
			}
		},
	})
	p.list.MaxWidth = columnWidth
	p.title = text.NewLabel("", text.Run{}, text.Cut)
	hint := text.NewLabel(lang.X("waiting.empty", "Nothing is waiting for you."), text.Run{Color: theme.Dim}, text.Whole)
	more := text.NewLabel(lang.X("waiting.empty_more", "Tool calls, forms and requests that want your answer appear here."), text.Run{Color: theme.Dim}, text.Whole)
	more.SetTextSize(theme.CaptionSize)
	p.empty = container.NewCenter(container.NewVBox(container.NewCenter(hint), container.NewCenter(more)))
	head := container.New(layout.NewCustomPaddedLayout(4*theme.Step, 2*theme.Step, 5*theme.Step, 5*theme.Step), p.title)
	p.canvas = container.NewBorder(head, nil, nil, nil, container.NewStack(p.list, p.empty))
	p.unlisten = d.App.Listen(func(e event.Event) {
		switch e.(type) {
		case event.Waiting, event.WaitingGone:
			d.Do(p.sync)
		}
	})
	p.sync()
	return p
}

func (p *Place) build(i int) fyne.CanvasObject {
	c := NewCard(p.items[i], p.d)
	p.cards[c.item.ID] = c
	row := newColumn(0, c)
	row.padding = 2 * theme.Step
	return row
}

// sync takes the waiting list over: new items come at the end, items that ended keep their place as one line while the
// place is shown.
func (p *Place) sync() {
	now := p.d.App.Waiting().List()
	waits := func(id string) bool {
		return slices.ContainsFunc(now, func(i consent.Item) bool { return i.ID == id })
	}
	for i := len(p.items) - 1; i >= 0; i-- {
		if !waits(p.items[i].ID) && (!p.shown || p.ended(now) > keepEnded) {
			p.items = slices.Delete(p.items, i, i+1)
			p.list.Removed(i, 1)
		}
	}
	for id := range p.d.Drafts { // of what ended while no card showed it
		if !waits(id) {
			delete(p.d.Drafts, id)
		}
	}
	for _, item := range now {
		if !slices.ContainsFunc(p.items, func(i consent.Item) bool { return i.ID == item.ID }) {
			p.items = append(p.items, item)
			p.list.Inserted(len(p.items)-1, 1)
		}
	}
	p.title.SetText(lang.X("waiting.title", "Waiting for you")+p.count(len(now)), text.Run{Bold: true})
	if len(p.items) == 0 {
		p.empty.Show()
	} else {
		p.empty.Hide()
	}
	p.reach()
}

// ended counts the lines of items that ended.
func (p *Place) ended(now []consent.Item) int { return len(p.items) - len(now) }

func (p *Place) count(n int) string {
	if n == 0 {
		return ""
	}
	return " · " + lang.X("waiting.count", "{{.count}}", map[string]any{"count": n})
}

func (p *Place) resized(c *Card) {
	for i := range p.items {
		if p.items[i].ID == c.item.ID {
			p.list.Changed(i)
		}
	}
}

// reach scrolls to the item that was asked for, once it is there.
func (p *Place) reach() {
	i := slices.IndexFunc(p.items, func(i consent.Item) bool { return i.ID == p.goal })
	if i < 0 {
		return
	}
	p.goal = ""
	p.list.Reveal(i)
}

// Canvas is the place's content.
func (p *Place) Canvas() fyne.CanvasObject { return p.canvas }

// Goto scrolls to an item.
func (p *Place) Goto(id string) {
	p.goal = id
	p.reach()
}

// Shown takes away what ended while nobody looked, and starts the clocks of the cards anew.
func (p *Place) Shown() {
	p.sync()
	p.shown = true
	for _, c := range p.cards {
		c.Again()
	}
}

// Hidden says that the place is not seen.
func (p *Place) Hidden() { p.shown = false }

// Commands are what the place offers to the keyboard.
func (p *Place) Commands() []place.Command {
	return []place.Command{{
		ID: "waiting.enter", TitleKey: "waiting.enter",
		Shortcut: &desktop.CustomShortcut{KeyName: fyne.KeyJ, Modifier: fyne.KeyModifierShortcutDefault},
		Enabled:  func() bool { return p.first() != "" },
		Do:       p.enter,
	}}
}

// first is the oldest item that still waits.
func (p *Place) first() string {
	for _, item := range p.items {
		if _, waits := p.d.App.Waiting().Get(item.ID); waits {
			return item.ID
		}
	}
	return ""
}

// enter puts the keyboard into the oldest card, or into the next one where it is in a card already.
func (p *Place) enter() {
	id := p.next()
	i := slices.IndexFunc(p.items, func(i consent.Item) bool { return i.ID == id })
	if i < 0 {
		return
	}
	p.list.Reveal(i)
	if c := p.cards[id]; c != nil {
		c.Enter()
	}
}

func (p *Place) next() string {
	focused := ""
	if w := p.d.Window(); w != nil {
		if b, ok := w.Canvas().Focused().(*button); ok {
			focused = b.card.item.ID
		}
	}
	at := slices.IndexFunc(p.items, func(i consent.Item) bool { return i.ID == focused })
	for _, item := range p.items[at+1:] {
		if _, waits := p.d.App.Waiting().Get(item.ID); waits {
			return item.ID
		}
	}
	return p.first()
}

// Close gives back what the place holds.
func (p *Place) Close() {
	p.unlisten()
	for _, c := range p.cards {
		c.Close()
	}
}

var _ place.Place = (*Place)(nil)
