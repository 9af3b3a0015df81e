package shell

import (
	"bytes"
	"io"
	"slices"
)

// unwanted are complaints of the toolkit that mean nothing to a person.
var unwanted = [][]byte{
	// It keeps a file for each app's preferences, in which Steward keeps nothing, writes it in place whenever it ends,
	// and complains when another Steward reads it meanwhile, or when it cannot be watched.
	[]byte("Preferences load error"),
	[]byte("Failed to watch settings file"),
	// A session without a bus, or a bus without anybody who shows notifications or tells of the desktop's colours: the
	// window says what waits, and its colours can be chosen in the settings.
	[]byte("Unable to connect to session D-Bus"),
	[]byte("Failed to send message to bus"),
	[]byte("failed to watch theme settings"),
	// What was to have the keyboard went away in the same moment, as a card does that was answered from elsewhere. The
	// keyboard stays where it was.
	[]byte("Failed to focus object"),
}

// complaints passes on what the toolkit logs, but for what is unwanted.
// The log package calls it for one line at a time and never for two at once.
type complaints struct {
	to      io.Writer
	dropped bool // the last line was
}

// Write is io.Writer's.
func (c *complaints) Write(line []byte) (int, error) {
	about := bytes.Contains(line, []byte("Fyne error:")) && slices.ContainsFunc(unwanted, func(u []byte) bool { return bytes.Contains(line, u) })
	more := c.dropped && (bytes.Contains(line, []byte("  Cause: ")) || bytes.Contains(line, []byte("  At: ")))
	if c.dropped = about || more; c.dropped {
		return len(line), nil
	}
	return c.to.Write(line)
}
