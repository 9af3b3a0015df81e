// Package consent decides what may run. Every route to a tool passes Gate.Run:
// a call is proposed, checked against what the person has reviewed, allowed or
// refused by a rule, a grant, a flag or the person, written into the journal and
// only then sent, exactly as it was shown. What servers ask in between (a form,
// a request to the model) is answered here as well.
package consent

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"steward/mcphost/schema"
)

// MaxArguments is the longest a call's arguments may be, in bytes.
const MaxArguments = 16 << 20

// CallSpec is what a Call is made from. Arguments is one JSON object as text;
// empty means {}. Definition is the hash of the tool's definition that the
// caller saw, ServerHash that of the server's configuration. Position and Of
// tell which call of one answer this is (1 of 3); zero where it stands alone.
// Turn names the turn the call belongs to; empty makes the call its own turn.
type CallSpec struct {
	Conversation string
	Turn         string
	Server       string
	ServerHash   string
	Tool         string
	Definition   string
	Arguments    string
	Model        string
	Position, Of int
	// After names the servers whose output the model has read in this turn.
	After []string
}

// Call is one tool call, fixed once. It never changes; an edit makes a new Call
// that names the old one.
type Call struct {
	spec   CallSpec
	id     string
	edited string
	hash   string
}

// NewCall fixes a call under an id of its own. The arguments are made compact;
// order, duplicate keys and the way numbers are written stay. The error is a
// sentence that may be given to the model.
func NewCall(s CallSpec) (Call, error) {
	args, err := compactObject(s.Arguments)
	if err != nil {
		return Call{}, err
	}
	s.Arguments = args
	c := Call{spec: s, id: newID("k_")}
	if c.spec.Turn == "" {
		c.spec.Turn = c.id
	}
	c.hash = hashOf("call", s.Server, s.ServerHash, s.Tool, s.Definition, s.Arguments)
	return c, nil
}

// ID is the host's own id of the call, unique for ever ("k_…").
func (c Call) ID() string { return c.id }

// Hash covers server, server hash, tool, definition and arguments: what is
// shown, approved and sent.
func (c Call) Hash() string { return c.hash }

// Server is the host's own id of the server.
func (c Call) Server() string { return c.spec.Server }

// ServerHash is the hash of the server's configuration.
func (c Call) ServerHash() string { return c.spec.ServerHash }

// Tool is the tool's original name on its server.
func (c Call) Tool() string { return c.spec.Tool }

// Definition is the hash of the tool's definition ("sha256:…").
func (c Call) Definition() string { return c.spec.Definition }

// Arguments is the exact compact JSON object that will be sent.
func (c Call) Arguments() string { return c.spec.Arguments }

// Conversation is the conversation the call belongs to; empty for a call made
// by hand outside of one.
func (c Call) Conversation() string { return c.spec.Conversation }

// Turn groups the calls of one turn.
func (c Call) Turn() string { return c.spec.Turn }

// Model is the model that proposed the call; empty where a person did.
func (c Call) Model() string { return c.spec.Model }

// Edited is the id of the call that this one replaces; empty otherwise.
func (c Call) Edited() string { return c.edited }

// Position tells which call of how many in one answer this is.
func (c Call) Position() (n, of int) { return c.spec.Position, c.spec.Of }

// edit makes the call that a person has changed the arguments of.
func (c Call) edit(arguments string) (Call, error) {
	s := c.spec
	s.Arguments = arguments
	n, err := NewCall(s)
	if err != nil {
		return Call{}, err
	}
	n.spec.Turn = c.spec.Turn
	n.edited = c.id
	return n, nil
}

// newID makes an id of 80 random bits; no id is ever made twice.
func newID(prefix string) string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // crypto/rand.Read never returns an error (Go 1.24)
	return prefix + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(b[:]))
}

// hashOf hashes parts so that no two different lists of parts give one hash.
func hashOf(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s,", len(p), p)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// compactObject returns text as one compact JSON object (RFC 8259) or says why
// it is none.
func compactObject(text string) (string, error) {
	if len(text) > MaxArguments {
		return "", fmt.Errorf("the arguments are %d bytes long; at most %d are accepted", len(text), MaxArguments)
	}
	if strings.TrimSpace(text) == "" {
		return "{}", nil
	}
	b, err := schema.Compact([]byte(text))
	if err != nil {
		return "", fmt.Errorf("the arguments are %w", err)
	}
	if len(b) == 0 || b[0] != '{' {
		return "", errors.New("the arguments must be one JSON object")
	}
	return string(b), nil
}
