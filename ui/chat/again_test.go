package chat

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"steward/app/consent"
)

// counted is a card that counts how often it came into sight again.
type counted struct {
	widget.Label
	again int
}

func (c *counted) HeightFor(float32) float32 { return 40 }
func (c *counted) Enter()                    {}
func (c *counted) Again()                    { c.again++ }
func (c *counted) Close()                    {}

// A card that comes into sight with its place takes no answer that was meant for what stood there before.
func TestCardsBeginAnewWhenThePlaceIsShownAgain(t *testing.T) {
	b := newBench(t, "light", "en")
	b.ready()
	card := &counted{}
	card.ExtendBaseWidget(card)
	b.card = func(consent.Item, func()) itemCard { return card }
	b.say("How many risks does the weekly report for 2025-03-17 mention?")
	b.until("the card is there", func() bool { return len(b.cards) == 1 })
	b.Hidden()
	before := card.again
	b.Shown()
	if card.again != before+1 {
		t.Errorf("it was told %d times", card.again-before)
	}
	b.stop()
	b.until("the turn has ended", b.ended)
}

var _ fyne.Widget = (*counted)(nil)
