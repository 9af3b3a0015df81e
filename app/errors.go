package app

import (
	"context"
	"errors"
	"io/fs"

	"steward/app/consent"
	"steward/app/secrets"
	"steward/mcphost"
	"steward/storage"
)

// Message is what a person is told about an error: a key, which a front end puts into
// its language, and the parts that differ. It is an error itself.
type Message struct {
	Key  string
	Args map[string]string
	Err  error // the cause; may be nil
}

// Error is for logs; a person is shown the front end's words.
func (m *Message) Error() string {
	if d := m.Args["detail"]; d != "" {
		return d
	}
	return m.Key
}

// Unwrap returns the cause.
func (m *Message) Unwrap() error { return m.Err }

func args(pairs ...string) map[string]string {
	m := make(map[string]string, len(pairs)/2)
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}

// MostLikelyUnrun says whether the reason of a call with an unknown outcome is that its server
// refused it, so that most likely nothing was done.
func MostLikelyUnrun(reason string) bool { return consent.MostLikelyUnrun(reason) }

// Explain turns any error of the program into its message. The packages below word
// their own errors as sentences; those stand in "detail".
func Explain(err error) Message {
	var m *Message
	if errors.As(err, &m) {
		return *m
	}
	detail := args("detail", err.Error())
	var locked *storage.LockedError
	if errors.As(err, &locked) {
		return Message{Key: "folder_locked", Args: detail, Err: err}
	}
	var start *mcphost.StartError
	if errors.As(err, &start) {
		if start.Stopped {
			return Message{Key: "server_stopped", Args: args("detail", err.Error(), "server", start.Server), Err: err}
		}
		return Message{Key: "server_start", Args: args("detail", err.Error(), "server", start.Server, "stage", start.Stage, "hint", start.Hint), Err: err}
	}
	for _, k := range []struct {
		target error
		key    string
	}{
		{storage.ErrNewer, "folder_newer"},
		{storage.ErrForeign, "folder_foreign"},
		{storage.ErrDamaged, "folder_damaged"},
		{storage.ErrFull, "disk_full"},
		{storage.ErrReadOnly, "folder_read_only"},
		{storage.ErrBusy, "folder_busy"},
		{storage.ErrNotFound, "not_found"},
		{secrets.ErrUnavailable, "secrets_unavailable"},
		{context.DeadlineExceeded, "took_too_long"},
		{context.Canceled, "stopped"},
		{fs.ErrPermission, "not_permitted"},
	} {
		if errors.Is(err, k.target) {
			return Message{Key: k.key, Args: detail, Err: err}
		}
	}
	return Message{Key: "other", Args: detail, Err: err}
}
