package chat

import (
	"slices"
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

// actionsRow offers what can be done with the last answer.
type actionsRow struct {
	*column
	versions *versions
	spent    *text.Label
}

func newActionsRow(p *Place, r row) *actionsRow {
	a := &actionsRow{versions: newVersions(p)}
	id := r.message.ID
	act := func(icon, label string, do func()) fyne.CanvasObject { return newChip(quiet, icon, label, do) }
	copied := act("copy", lang.X("common.copy", "Copy"), func() { p.copyMessage(id) })
	again := act("retry", lang.X("chat.regenerate", "Regenerate"), p.regenerate)
	var more *chip
	more = newChip(quiet, "more", "", func() { p.messageMenu(id, nil, "", below(more)) })
	a.spent = caption("", theme.Dim, text.Cut)
	a.column = newColumn(0, pad{bottom: rowGap, left: -2.5 * theme.Step}, newLine(0, []fyne.CanvasObject{a.versions, copied, again, more}, a.spent))
	a.show(r)
	return a
}

func (a *actionsRow) show(r row) bool {
	a.versions.show(r.message)
	a.spent.SetText(spentWords(r.message.ChatMessage), text.Run{Color: theme.Dim})
	a.column.Refresh()
	return true
}

// versions moves between the branches that a message stands in. It is hidden where there are none.
type versions struct {
	widget.BaseWidget
	p          *Place
	id         string
	all        []string
	prev, next *chip
	words      *chip
	row        *fyne.Container
}

func newVersions(p *Place) *versions {
	v := &versions{p: p}
	v.prev = newChip(quiet, "chevron-left", "", func() { v.move(-1) })
	v.next = newChip(quiet, "chevron-right", "", func() { v.move(1) })
	v.words = newChip(quiet, "", " ", nil)
	v.row = container.NewHBox(v.prev, v.words, v.next)
	v.ExtendBaseWidget(v)
	v.Hide()
	return v
}

func (v *versions) show(m *message) {
	v.id, v.all = m.ID, m.Versions
	v.Hidden = len(v.all) < 2
	v.words.say(strconv.Itoa(slices.Index(v.all, v.id)+1) + " / " + strconv.Itoa(len(v.all)))
}

func (v *versions) move(by int) {
	at := slices.Index(v.all, v.id) + by
	if at >= 0 && at < len(v.all) {
		v.p.switchBranch(v.all[at])
	}
}

// CreateRenderer is Fyne's.
func (v *versions) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(v.row) }

// below is the place under an object, for what it opens.
func below(o fyne.CanvasObject) fyne.Position {
	return fyne.CurrentApp().Driver().AbsolutePositionForObject(o).AddXY(0, o.Size().Height+theme.Step)
}

// sized gives an object a fixed size, both ways.
func sized(o fyne.CanvasObject, side float32) fyne.CanvasObject {
	return container.NewGridWrap(fyne.NewSquareSize(side), o)
}

// beside puts a mark in front of a text that wraps.
type beside struct {
	widget.BaseWidget
	mark, body fyne.CanvasObject
}

const besideIndent = theme.IconSize + 2*theme.Step

func newBeside(mark, body fyne.CanvasObject) *beside {
	b := &beside{mark: mark, body: body}
	b.ExtendBaseWidget(b)
	return b
}

// HeightFor is the list's.
func (b *beside) HeightFor(width float32) float32 { return heightOf(b.body, width-besideIndent) }

// CreateRenderer is Fyne's.
func (b *beside) CreateRenderer() fyne.WidgetRenderer { return &besideRenderer{b} }

type besideRenderer struct{ b *beside }

func (r *besideRenderer) Destroy() {}
func (r *besideRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.b.mark, r.b.body}
}
func (r *besideRenderer) Refresh()           { r.Layout(r.b.Size()); canvas.Refresh(r.b) }
func (r *besideRenderer) MinSize() fyne.Size { return fyne.NewSize(1, 1) }
func (r *besideRenderer) Layout(s fyne.Size) {
	r.b.mark.Move(fyne.NewPos(0, 2))
	r.b.mark.Resize(fyne.NewSquareSize(theme.IconSize))
	r.b.body.Move(fyne.NewPos(besideIndent, 0))
	r.b.body.Resize(fyne.NewSize(max(s.Width-besideIndent, 1), s.Height))
}
