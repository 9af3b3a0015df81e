package waiting

import (
	"time"

	"fyne.io/fyne/v2"

	"steward/ui/place"
)

// Deps is what a card needs: the window's, and what its surroundings add. Only place.Deps must be given.
type Deps struct {
	place.Deps

	// Now is the clock; nil is time.Now.
	Now func() time.Time

	// After runs f on Fyne's goroutine once d has passed, unless stop is called before. nil is a timer and Deps.Do.
	After func(d time.Duration, f func()) (stop func())

	// Resized is told when the card has another height at the same width, so that the list it stands in can ask for it
	// (HeightFor). It may be nil.
	Resized func(c *Card)

	// Focus puts the keyboard somewhere; nil asks the window's canvas.
	Focus func(f fyne.Focusable)
}
