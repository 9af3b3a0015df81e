package shell

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/widget"

	"steward/ui/text"
	"steward/ui/theme"
)

const headingHeight = 32

// chatRow draws one row of the side bar's list.
type chatRow struct {
	widget.BaseWidget
	row   sideRow
	words *text.Label
	lead  *widget.Icon
	mark  *canvas.Circle
}

func (b *sideBar) build(i int) fyne.CanvasObject {
	r := &chatRow{lead: widget.NewIcon(nil), mark: canvas.NewCircle(color.Transparent)}
	fitting := text.Cut
	if b.rows[i].problem != nil || b.rows[i].nothing {
		fitting = text.Wrap
	}
	r.words = text.NewLabel("", text.Run{}, fitting)
	r.ExtendBaseWidget(r)
	r.set(b.rows[i], b.s.hub.search, b.s.hub.archived)
	return r
}

func (b *sideBar) redraw(o fyne.CanvasObject, i int) bool {
	r, ok := o.(*chatRow)
	if !ok || b.rows[i].chat == nil || r.row.chat == nil {
		return false
	}
	r.set(b.rows[i], b.s.hub.search, b.s.hub.archived)
	return true
}

func (b *sideBar) key(i int) string {
	switch r := b.rows[i]; {
	case r.chat != nil:
		return "c" + r.chat.ID
	case r.archive:
		return "archive"
	case r.problem != nil:
		return "problem"
	default:
		return "h" + r.heading
	}
}

func (r *chatRow) set(row sideRow, search string, archived bool) {
	r.row = row
	r.words.SetTextSize(theme.TextSize)
	r.lead.Hide()
	r.mark.Hide()
	switch {
	case row.chat != nil:
		look := text.Run{}
		if row.chat.Title == "" {
			look.Color = theme.Dim
		}
		r.words.SetText(titleOf(*row.chat), look)
		r.lead.Hidden = !row.chat.Temporary && !row.chat.Archived
		r.mark.Hidden = row.chat.Waiting == 0 && !row.chat.Working
	case row.archive:
		label := lang.X("shell.show_archive", "Archived chats")
		if archived {
			label = lang.X("shell.leave_archive", "Back to all chats")
		}
		r.words.SetText(label, text.Run{Color: theme.Dim})
		r.lead.Hidden = false
	case row.problem != nil:
		r.words.SetText(problemText(row.problem), text.Run{Color: theme.Refusal})
	case row.nothing && archived:
		r.words.SetText(lang.X("shell.archive_empty", "The archive is empty."), text.Run{Color: theme.Dim})
	case row.nothing:
		r.words.SetText(lang.X("common.nothing_found", "Nothing was found for “{{.query}}”.", map[string]any{"query": search}), text.Run{Color: theme.Dim})
	default:
		r.words.SetTextSize(theme.CaptionSize)
		r.words.SetText(lang.X(row.heading, row.heading), text.Run{Color: theme.Dim})
	}
	r.paint()
	r.Refresh()
}

func (r *chatRow) paint() {
	if r.row.chat != nil {
		r.mark.FillColor = theme.Color(theme.Accent)
		if r.row.chat.Waiting > 0 {
			r.mark.FillColor = theme.Color(theme.Waiting)
		}
	}
	name := "archive"
	switch {
	case r.row.chat != nil && r.row.chat.Temporary:
		name = "eye-off"
	case r.row.archive && r.row.chat == nil:
		name = "archive"
	}
	r.lead.SetResource(theme.IconIn(name, theme.Dim))
}

// HeightFor is the list's.
func (r *chatRow) HeightFor(width float32) float32 {
	switch {
	case r.row.heading != "":
		return headingHeight
	case r.row.problem != nil || r.row.nothing:
		return r.words.HeightFor(width-2*(sideInset+rowPadding)) + 4*theme.Step
	}
	return sideRowHeight
}

// CreateRenderer is Fyne's.
func (r *chatRow) CreateRenderer() fyne.WidgetRenderer { return &chatRowRenderer{r} }

type chatRowRenderer struct{ r *chatRow }

func (c *chatRowRenderer) Destroy() {}

func (c *chatRowRenderer) MinSize() fyne.Size { return fyne.NewSize(1, c.r.HeightFor(sideWidth)) }

func (c *chatRowRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{c.r.lead, c.r.words, c.r.mark}
}

func (c *chatRowRenderer) Refresh() {
	c.r.paint()
	c.Layout(c.r.Size())
	canvas.Refresh(c.r)
}

func (c *chatRowRenderer) Layout(size fyne.Size) {
	r := c.r
	left, right := sideInset+float32(rowPadding), size.Width-rowPadding // the list keeps room for its scroll bar
	if r.row.heading != "" {
		left = sideInset + 1.5*theme.Step
		height := r.words.MinSize().Height
		r.words.Resize(fyne.NewSize(right-left, height))
		r.words.Move(fyne.NewPos(left, size.Height-height-2*theme.Step))
		return
	}
	if r.row.problem != nil || r.row.nothing {
		r.words.Resize(fyne.NewSize(right-left, r.words.HeightFor(right-left)))
		r.words.Move(fyne.NewPos(left, 2*theme.Step))
		return
	}
	if !r.lead.Hidden {
		r.lead.Resize(fyne.NewSquareSize(theme.IconSize))
		r.lead.Move(fyne.NewPos(left, (size.Height-theme.IconSize)/2))
		left += theme.IconSize + 1.5*theme.Step
	}
	if !r.mark.Hidden {
		right -= dotSize
		r.mark.Resize(fyne.NewSquareSize(dotSize))
		r.mark.Move(fyne.NewPos(right, (size.Height-dotSize)/2))
		right -= theme.Step
	}
	height := r.words.MinSize().Height
	r.words.Resize(fyne.NewSize(max(right-left, 0), height))
	r.words.Move(fyne.NewPos(left, (size.Height-height)/2))
}

// CreateRenderer is Fyne's.
func (b *sideBar) CreateRenderer() fyne.WidgetRenderer { return &sideRenderer{b} }

type sideRenderer struct{ b *sideBar }

func (r *sideRenderer) Destroy() {}

func (r *sideRenderer) MinSize() fyne.Size { return fyne.NewSize(1, 1) }

func (r *sideRenderer) Objects() []fyne.CanvasObject {
	b := r.b
	out := []fyne.CanvasObject{b.newChat, b.find, b.icon, b.chats, b.rule}
	for _, e := range b.entries() {
		out = append(out, e)
	}
	return out
}

func (r *sideRenderer) Refresh() {
	r.b.rule.FillColor = theme.Color(theme.Line)
	r.b.find.SetIcon(theme.IconIn("search", theme.Dim))
	r.Layout(r.b.Size())
	canvas.Refresh(r.b)
}

func (r *sideRenderer) Layout(size fyne.Size) {
	b := r.b
	inset := float32(sideInset)
	if b.narrow {
		inset = 2 * theme.Step
	}
	width := max(size.Width-2*inset, 0)
	y := inset
	put := func(o fyne.CanvasObject, height float32) {
		o.Move(fyne.NewPos(inset, y))
		o.Resize(fyne.NewSize(width, height))
		y += height
	}
	if b.newChat.Visible() {
		put(b.newChat, 35)
		y += 10
	}
	if b.narrow {
		b.find.Hide()
		b.chats.Hide()
		b.icon.Show()
		put(b.icon, sideRowHeight)
	} else {
		b.icon.Hide()
		b.find.Show()
		b.chats.Show()
		put(b.find, 35)
	}
	top := y + 2*theme.Step
	y = size.Height - inset
	shown := 0
	for _, e := range b.entries() {
		if e.Visible() {
			y -= sideRowHeight
			shown++
		}
	}
	bottom := y - 2*theme.Step
	for _, e := range b.entries() {
		if e.Visible() {
			put(e, sideRowHeight)
		}
	}
	b.rule.Hidden = shown == 0
	b.rule.Move(fyne.NewPos(inset, bottom))
	b.rule.Resize(fyne.NewSize(width, 1))
	b.chats.Move(fyne.NewPos(0, top))
	b.chats.Resize(fyne.NewSize(size.Width, max(bottom-top, 0)))
}
