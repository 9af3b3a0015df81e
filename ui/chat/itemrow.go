package chat

import (
	"strconv"

	"fyne.io/fyne/v2"

	"steward/ui/place"
)

// itemRow holds the card of something that waits.
type itemRow struct {
	*column
	card itemCard
	id   string
}

func (p *Place) itemRow(r row) fyne.CanvasObject {
	v := &itemRow{id: r.item.ID}
	p.cards[v] = true
	v.card = p.card(*r.item, func() { p.changedRow(r.key) })
	v.column = newColumn(0, pad{bottom: rowGap}, v.card)
	return v
}

// show keeps the card: an item never changes.
func (v *itemRow) show(r row) bool { return r.item.ID == v.id }

func (p *Place) openRecord(n int64) { p.d.Open(place.Audit, strconv.FormatInt(n, 10)) }

// enterCard puts the keyboard into the oldest card that waits in this conversation, or into the next one where it was
// in a card last. It is the person who goes there; a card never takes the keyboard by itself.
func (p *Place) enterCard() {
	var waits []int
	next := 0
	for i, r := range p.state.rows {
		if r.kind != rowItem {
			continue
		}
		waits = append(waits, i)
		if r.item.ID == p.entered && p.d.Window().Canvas().Focused() != fyne.Focusable(p.composer.entry) {
			next = len(waits)
		}
	}
	if len(waits) == 0 {
		return
	}
	at := waits[next%len(waits)]
	p.list.Reveal(at)
	p.list.Touch(at, func(o fyne.CanvasObject) {
		if v, ok := o.(*itemRow); ok {
			p.entered = v.id
			p.lead(v.card, v.card.Enter)
		}
	})
}
