package waiting

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"steward/app/consent"
	"steward/ui/place"
)

// Card shows one item. HeightFor(width) is its height; Enter puts the keyboard into it (Deny first); Close gives back
// its listener and clock, and must be called when the card is let go of (list.Source.Released). Its draft stays.
type Card struct {
	widget.BaseWidget
	item consent.Item
	d    Deps
}

// NewCard makes the card of an item. It never takes the keyboard by itself.
func NewCard(item consent.Item, d Deps) *Card {
	c := &Card{item: item, d: d}
	c.ExtendBaseWidget(c)
	return c
}

// HeightFor is the height the card needs at a width.
func (c *Card) HeightFor(width float32) float32 { return 0 }

// Item is what the card shows.
func (c *Card) Item() consent.Item { return c.item }

// Waits reports whether the item can still be answered.
func (c *Card) Waits() bool { return true }

// Enter puts the keyboard into the card, on the answer that lets nothing happen.
func (c *Card) Enter() {}

// Close gives back what the card holds.
func (c *Card) Close() {}

// CreateRenderer is Fyne's.
func (c *Card) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(container.NewStack()) }

// Place lists everything that waits, of all conversations, the oldest first.
type Place struct{ d place.Deps }

// New makes the place.
func New(d place.Deps) *Place { return &Place{d: d} }

func (p *Place) Canvas() fyne.CanvasObject { return container.NewStack() }
func (p *Place) Goto(string)               {}
func (p *Place) Shown()                    {}
func (p *Place) Hidden()                   {}
func (p *Place) Commands() []place.Command { return nil }
func (p *Place) Close()                    {}

var _ place.Place = (*Place)(nil)
