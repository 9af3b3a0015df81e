//go:build !window

package window

import (
	"errors"
	"io"

	"steward/app"
)

// ErrNoDisplay is returned by Run where there is no display to open a window on.
var ErrNoDisplay = errors.New("this build has no window")

// Run says that there is none.
func Run(app.Options, io.Writer, func(error)) error { return ErrNoDisplay }

// Enter does nothing in this build.
func Enter() {}

// Leave does nothing in this build.
func Leave() {}
