// Package secrets keeps what must not be read by others: API keys, tokens,
// passwords. They stand in the system's keyring, in an encrypted file, or in
// memory, as the person chose; never in plain text on disk. The package also
// finds secrets in other text and takes them out, by value and by form.
package secrets

import (
	"fmt"
	"io"
)

const hidden = "[secret]"

// Secret is a value that prints as "[secret]" in every way fmt,
// encoding/json and log/slog have. [Secret.Reveal] is the only way to it. Go
// may leave copies in memory; nothing here can prevent that.
type Secret struct {
	// A pointer, because fmt prints the fields of a Secret that stands in an
	// unexported field itself, without asking its methods.
	value *string
}

// NewSecret wraps a value.
func NewSecret(value string) Secret { return Secret{&value} }

// Reveal gives the value, "" for the zero Secret. Whoever calls it must not
// print or store it.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// Empty reports whether there is no value.
func (s Secret) Empty() bool { return s.Reveal() == "" }

// String hides the value.
func (s Secret) String() string { return hidden }

// GoString hides the value in %#v.
func (s Secret) GoString() string { return hidden }

// Format hides the value under every verb; without it %d would print the
// fields of the struct.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, hidden) } //nolint:errcheck // fmt.State reports no errors

// MarshalText hides the value in JSON, XML, slog and as a map's key.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }
