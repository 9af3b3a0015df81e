package chat

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
)

// focusComposer puts the keyboard where the person writes.
func (p *Place) focusComposer() { p.focus(p.composer.entry) }

// focus puts the keyboard on an object. The window is asked, not the object: it knows its canvas only once it was drawn.
func (p *Place) focus(o fyne.Focusable) {
	p.lead(func() {
		if w := p.d.Window(); w != nil {
			w.Canvas().Focus(o)
		}
	})
}

// lead does something that is to bring the keyboard elsewhere. The toolkit finds only what was drawn, so for what has
// just come into sight that is done once more a moment later, unless the person has gone elsewhere by then.
func (p *Place) lead(to func()) {
	w := p.d.Window()
	if w == nil {
		return
	}
	before := w.Canvas().Focused()
	to()
	if w.Canvas().Focused() != before {
		return
	}
	p.d.Go(func(ctx context.Context) {
		t := time.NewTimer(100 * time.Millisecond)
		defer t.Stop()
		select {
		case <-ctx.Done():
		case <-t.C:
			p.d.Do(func() {
				if w.Canvas().Focused() == before {
					to()
				}
			})
		}
	})
}
