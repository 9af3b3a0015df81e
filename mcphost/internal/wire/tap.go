package wire

import (
	"encoding/json"
	"errors"
)

// Tap reads and writes the messages of one connection. All methods may be called
// from any goroutine. Close ends it.
type Tap struct {
	o Options
}

// NewTap makes a Tap. Attach must be called before the server can be answered.
func NewTap(o Options) *Tap { return &Tap{o: o} }

var errUnfinished = errors.New("wire: not written yet")

// Attach says how the Tap sends its own answers to the server's requests. reply is
// called from the goroutines that serve them, one message a call, without newline.
func (t *Tap) Attach(reply func(frame []byte) error) {}

// Expect registers a request. Release the Pending when nobody waits any more.
func (t *Tap) Expect(e Expectation) (*Pending, error) { return nil, errUnfinished }

// Out takes one message of the library on its way to the server. It returns what
// to send; an error (a *jsonrpc.Error with CodeRejected) means that nothing may be sent.
func (t *Tap) Out(frame []byte) (*Outgoing, error) { return nil, errUnfinished }

// In takes what the server sent: one JSON text, also a batch, also anything else.
// It returns the messages for the library, all of them answers to requests that
// are still open.
func (t *Tap) In(raw []byte) [][]byte { return nil }

// Close ends every Pending with err, cancels the handlers of the server's requests,
// and waits for them at most a second.
func (t *Tap) Close(err error) {}

// SetModern says that the connection speaks 2026-07-28 or later, where servers make
// no requests: those that come are noise, and are not answered.
func (t *Tap) SetModern(on bool) {}

// Handshake returns the method (initialize or server/discover) and the raw result
// of the handshake that succeeded last; "" and nil before.
func (t *Tap) Handshake() (method string, result json.RawMessage) { return "", nil }

// Frames returns the newest messages of the connection, oldest first.
func (t *Tap) Frames() []Frame { return nil }

// NoiseSeen returns how many pieces of noise came so far, and the first of them.
func (t *Tap) NoiseSeen() (count int, first string) { return 0, "" }

// Outgoing is one message on its way out.
type Outgoing struct {
	// Frame is what to send, without newline.
	Frame []byte
	// Request is true if the server must answer it.
	Request bool
}

// Sent says that the whole message was handed to the operating system.
func (o *Outgoing) Sent() {}

// Fail answers the request for a server that gave no usable answer (an HTTP error,
// an empty body), and returns the message for the library. The Pending gets err.
// It returns nil if the request is not open any more, or Outgoing is no request.
func (o *Outgoing) Fail(err error) []byte { return nil }

// Open reports whether the request still waits for its answer.
func (o *Outgoing) Open() bool { return false }

// Pending is a request that was announced with Expect.
type Pending struct{}

// Token returns the token.
func (p *Pending) Token() string { return "" }

// Done is closed when the request was answered, failed, or the connection ended.
func (p *Pending) Done() <-chan struct{} { return nil }

// Answer returns how it ended; ok is false before that.
func (p *Pending) Answer() (a Answer, ok bool) { return Answer{}, false }

// WasSent reports whether the whole request was handed to the operating system, and
// Started whether its first byte may have been.
func (p *Pending) WasSent() bool { return false }

// Started reports whether the first byte of the request may have left.
func (p *Pending) Started() bool { return false }

// Frames returns the messages of this request: the request, progress, the answer.
func (p *Pending) Frames() []Frame { return nil }

// Release says that nobody waits any more: an answer from now on is Late.
func (p *Pending) Release() {}
