package shell

import (
	"bytes"
	"io"
)

// complaints passes on what the toolkit logs, but for one complaint: it keeps a file for each app's preferences, in which
// Steward keeps nothing, writes it in place whenever it ends, and complains when another Steward reads it meanwhile.
// The log package calls it for one line at a time and never for two at once.
type complaints struct {
	to      io.Writer
	dropped bool // the last line was
}

// Write is io.Writer's.
func (c *complaints) Write(line []byte) (int, error) {
	about := bytes.Contains(line, []byte("Preferences load error"))
	more := c.dropped && (bytes.Contains(line, []byte("  Cause: ")) || bytes.Contains(line, []byte("  At: ")))
	if c.dropped = about || more; c.dropped {
		return len(line), nil
	}
	return c.to.Write(line)
}
