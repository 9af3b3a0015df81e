package chat

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
)

// How often, and how many times, it is looked whether something was drawn.
const (
	drawnStep  = 40 * time.Millisecond
	drawnTries = 40
)

// focusComposer puts the keyboard where the person writes.
func (p *Place) focusComposer() { p.focus(p.composer.entry) }

// focus puts the keyboard on an object.
func (p *Place) focus(o fyne.Focusable) {
	object, ok := o.(fyne.CanvasObject)
	if !ok {
		return
	}
	p.lead(object, func() {
		if w := p.d.Window(); w != nil {
			w.Canvas().Focus(o)
		}
	})
}

// lead does something that brings the keyboard into an object. The toolkit finds only what was drawn, and complains of
// anything else; so for what has just come into sight that is done as soon as it was drawn, unless the person has gone
// elsewhere by then.
func (p *Place) lead(into fyne.CanvasObject, to func()) {
	if w := p.d.Window(); w != nil {
		p.leadWhenDrawn(w.Canvas(), w.Canvas().Focused(), into, to, drawnTries)
	}
}

func (p *Place) leadWhenDrawn(c fyne.Canvas, before fyne.Focusable, into fyne.CanvasObject, to func(), tries int) {
	switch {
	case c.Focused() != before || tries == 0:
		return
	case fyne.CurrentApp().Driver().CanvasForObject(into) != nil:
		if to(); c.Focused() != before || tries == 1 {
			return
		}
		tries = 2 // not all of it was drawn: once more
	}
	p.d.Go(func(ctx context.Context) {
		t := time.NewTimer(drawnStep)
		defer t.Stop()
		select {
		case <-ctx.Done():
		case <-t.C:
			p.d.Do(func() { p.leadWhenDrawn(c, before, into, to, tries-1) })
		}
	})
}
