package chat

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/app/clean"
	"steward/app/consent"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
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

// pointer is a card that leads to where the item can be answered.
type pointer struct{ *column }

func (p *Place) pointer(item consent.Item, _ func()) itemCard {
	what := lang.X("chat.item_waits", "{{.server}} waits for your answer", map[string]any{"server": clean.Reveal(item.Server)})
	if item.Call != nil {
		what = lang.X("chat.item_call", "{{.server}} waits for your yes to run {{.tool}}", map[string]any{"server": clean.Reveal(item.Server), "tool": clean.Reveal(item.Call.Tool())})
	}
	open := newChip(outlined, "clock", lang.X("chat.waiting", "Waiting for you"), func() { p.d.Open(place.Waiting, item.ID) })
	open.small, open.onShort = true, p.d.Shortcut
	c := newColumn(2*theme.Step, pad{2.5 * theme.Step, 4 * theme.Step, 2.5 * theme.Step, 5 * theme.Step},
		newBeside(widget.NewIcon(theme.IconIn("clock", theme.Waiting)), text.NewLabel(what, text.Run{Bold: true}, text.Wrap)),
		newLine(0, []fyne.CanvasObject{open}, nil))
	c.ground, c.stroke, c.edge = theme.Card, theme.Line, theme.Waiting
	return &pointer{c}
}

// Close has nothing to give back.
func (*pointer) Close() {}

func (p *Place) openRecord(n int64) { p.d.Open(place.Audit, strconv.FormatInt(n, 10)) }
