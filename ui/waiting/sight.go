package waiting

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/widget"

	"steward/ui/theme"
)

// sight shows a part of what a card is about: down to the answers, which stand at the end of the viewport while the card
// goes on below it. A question of any length can so be answered without scrolling to its end.
type sight struct {
	widget.BaseWidget
	of       *column
	top      float32 // where it begins in the card
	from, to float32 // where the viewport begins and ends, below the card's top; to 0: not told
}

func newSight(of *column) *sight {
	s := &sight{of: of}
	s.ExtendBaseWidget(s)
	return s
}

// CreateRenderer is Fyne's.
func (s *sight) CreateRenderer() fyne.WidgetRenderer { return &sightRenderer{s} }

type sightRenderer struct{ s *sight }

func (r *sightRenderer) Destroy()                     {}
func (r *sightRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.s.of} }
func (r *sightRenderer) MinSize() fyne.Size           { return fyne.NewSize(1, 1) }
func (r *sightRenderer) Layout(fyne.Size)             {} // the card's

func (r *sightRenderer) Refresh() {
	r.s.of.Refresh()
	canvas.Refresh(r.s)
}

// IsClip marks it as clipping, as Fyne's own container.Clip does; that one would measure its content anew whenever the
// card is scrolled.
func (r *sightRenderer) IsClip() {}

// layBelow places what the card is about, and the answers below it: at its end, or at the end of the viewport. What is
// above the viewport is left out too, since the toolkit takes the pointer to the innermost clip alone.
func (c *Card) layBelow() {
	s, x := c.sight, float32(edgeWidth+inset)
	const gap = 3 * theme.Step
	at := s.top + s.of.Size().Height + gap
	if end := s.to - inset - c.foot.Size().Height; s.to > 0 && end < at {
		at = max(end, s.top+gap)
	}
	from := s.top
	if s.to > 0 {
		from = min(max(from, s.from), at-gap)
	}
	s.Move(fyne.NewPos(x, from))
	s.Resize(fyne.NewSize(s.of.Size().Width, at-gap-from))
	s.of.Move(fyne.NewPos(0, s.top-from))
	c.foot.Move(fyne.NewPos(x, at))
}

// SeenPart says which part of the card is seen (list.Seen).
func (c *Card) SeenPart(from, to float32) {
	if c.sight.from == from && c.sight.to == to {
		return
	}
	c.sight.from, c.sight.to = from, to
	if c.Waits() && c.Size().Width >= leastWidth {
		c.layBelow()
	}
}
