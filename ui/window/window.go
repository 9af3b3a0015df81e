//go:build window

// Package window is where the program opens its window, in a build that has one. The toolkit and the system's drawing
// libraries cost a command in the terminal half of its memory again, so a build has the window only where it is asked
// for with the tag "window".
package window

import (
	"io"
	"runtime"

	"steward/app"
	"steward/ui/environment"
	"steward/ui/shell"
)

// ErrNoDisplay is returned by Run where there is no display to open a window on.
var ErrNoDisplay = shell.ErrNoDisplay

// Run opens the window and returns when it is closed. It is called on the main goroutine. What went wrong at the start
// has been shown, but for ErrNoDisplay. exit ends the process with what Run would have returned; it is called only where
// the toolkit does not come back.
func Run(o app.Options, errOut io.Writer, exit func(error)) error {
	return shell.Run(o, errOut, exit)
}

// Enter is called first of all: it undoes what the toolkit needed set before its packages were initialised.
func Enter() { environment.Restore() }

// Leave lets go of the main thread, to which the toolkit ties the first goroutine and which only the window needs.
func Leave() { runtime.UnlockOSThread() }
