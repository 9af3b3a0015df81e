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
	v.card = p.card(*r.item, func() { p.changedRow(r.key) })
	v.column = newColumn(0, pad{bottom: rowGap}, v.card)
	return v
}

// show keeps the card: an item never changes.
func (v *itemRow) show(r row) bool { return r.item.ID == v.id }

func (p *Place) openRecord(n int64) { p.d.Open(place.Audit, strconv.FormatInt(n, 10)) }
