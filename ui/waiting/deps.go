package waiting

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"steward/app/consent"
	"steward/ui/place"
)

// Deps is what a card needs: the window's, and what its surroundings add. Of what this package adds, all may be nil.
type Deps struct {
	place.Deps

	// Now is the clock; nil is time.Now.
	Now func() time.Time

	// After runs f on Fyne's goroutine once d has passed, unless stop is called before; nil is a timer and Deps.Do.
	After func(d time.Duration, f func()) (stop func())

	// Resized is told when the card has another height at the same width, so that the list it stands in can ask for it
	// (HeightFor).
	Resized func(c *Card)
}

func (d Deps) now() time.Time {
	if d.Now != nil {
		return d.Now()
	}
	return time.Now()
}

func (d Deps) front() time.Time {
	if d.Front != nil {
		return d.Front()
	}
	return time.Time{}
}

func (d Deps) after(wait time.Duration, f func()) (stop func()) {
	if d.After != nil {
		return d.After(wait, f)
	}
	stopped := false // read and written on Fyne's goroutine
	t := time.AfterFunc(wait, func() {
		d.Do(func() {
			if !stopped {
				f()
			}
		})
	})
	return func() { stopped = true; t.Stop() }
}

// answer gives an answer off Fyne's goroutine, because the record is asked, and tells then on it.
func (d Deps) answer(item consent.Item, a consent.Answer, then func(error)) {
	d.Go(func(context.Context) {
		err := d.App.Waiting().Answer(item.ID, item.Hash, a)
		d.Do(func() { then(err) })
	})
}

// focused is what has the keyboard now, nil if nothing has.
func (d Deps) focused() fyne.Focusable {
	if d.Window != nil {
		if w := d.Window(); w != nil {
			return w.Canvas().Focused()
		}
	}
	return nil
}

// focus puts the keyboard on f, if there is a window to do so.
func (d Deps) focus(f fyne.Focusable) {
	if d.Window == nil || f == nil {
		return
	}
	if w := d.Window(); w != nil {
		w.Canvas().Focus(f)
	}
}
