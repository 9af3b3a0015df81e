package config

import (
	"errors"
	"io/fs"

	"steward/app/clean"
)

// Unreadable words why a file or folder that the person named cannot be used. what begins
// the sentence, such as "the servers file"; the system's own error is wrapped.
func Unreadable(what, path string, err error) error {
	shown := clean.Reveal(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &fileError{what + " " + shown + " does not exist", err}
	case errors.Is(err, fs.ErrPermission):
		return &fileError{what + " " + shown + " may not be read by you", err}
	}
	var p *fs.PathError
	why := err.Error()
	if errors.As(err, &p) {
		why = p.Err.Error()
	}
	return &fileError{what + " " + shown + " cannot be read: " + why, err}
}

// fileError is a sentence in place of the system's words.
type fileError struct {
	message string
	cause   error
}

func (e *fileError) Error() string { return e.message }
func (e *fileError) Unwrap() error { return e.cause }
