package demo

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost/schema"
)

// drain is how long the server goes on after its input ended, to answer what it was
// asked before.
const drain = 2 * time.Second

// Stdio serves one client over in and out, one JSON-RPC message a line, until in ends
// or ctx does. It returns nil when the client went away. Requests read before the end
// of in are still answered. A line that is no message gets an error and does no harm.
//
// out is written by one goroutine at a time; nothing else may be written to it. If in
// is an io.Closer it is closed at the end; where that does not end a Read, the
// goroutine that reads stays until the Read returns.
func Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	s, err := newServer(time.Now)
	if err != nil {
		return err
	}
	t := newLines(in, out)
	err = s.mcp.Run(ctx, t)
	if errors.Is(err, context.Canceled) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the demo server's connection ended: %w", err)
	}
	return nil
}

// lines is the transport under Stdio. The SDK's own ends a session at the first line
// it cannot read, and at the end of the input forgets the answers it still owes; so
// lines are checked before the SDK sees them, and the end of the input is held back
// until the answers are out.
type lines struct {
	in     io.Reader
	out    io.Writer
	toSDK  *io.PipeWriter
	reader *io.PipeReader

	write sync.Mutex // one line at a time to out

	mu      sync.Mutex // guards what follows
	owed    map[any]bool
	waiting int           // requests of the server without an answer
	settled chan struct{} // gets a token when owed or waiting changed
}

func newLines(in io.Reader, out io.Writer) *lines {
	r, w := io.Pipe()
	return &lines{in: in, out: out, toSDK: w, reader: r, owed: map[any]bool{}, settled: make(chan struct{}, 1)}
}

// Connect implements mcp.Transport.
func (l *lines) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := (&mcp.IOTransport{Reader: l.reader, Writer: lineWriter{l}, MaxLineLength: maxLine}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	go l.read() // ends with in; see Stdio
	return &lineConnection{Connection: inner, lines: l}, nil
}

// lineWriter gives the SDK's lines to out, which belongs to the caller and stays open.
type lineWriter struct{ *lines }

func (w lineWriter) Write(p []byte) (int, error) {
	w.write.Lock()
	defer w.write.Unlock()
	return w.out.Write(p)
}

func (lineWriter) Close() error { return nil }

// read passes on the lines of in that are messages, then the end.
func (l *lines) read() {
	r := bufio.NewReaderSize(l.in, 64<<10)
	for {
		line, whole, err := readLine(r)
		if problem := l.pass(line, whole); problem != nil {
			_ = l.toSDK.CloseWithError(problem) // never fails
			return
		}
		if err != nil {
			l.settle()
			_ = l.toSDK.CloseWithError(err) // never fails
			return
		}
	}
}

// readLine reads one line; whole is false if it was longer than maxLine, and its rest
// is skipped.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	whole = true
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			line, whole = nil, false
		}
		if whole {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, whole, err
		}
	}
}

// pass gives one line to the SDK, or an error to the client. Its error ends reading.
func (l *lines) pass(line []byte, whole bool) error {
	line = bytes.TrimSpace(line)
	switch {
	case !whole:
		return l.complain(jsonrpc.CodeInvalidRequest, fmt.Sprintf("A message is longer than %d bytes and was not read.", maxLine))
	case len(line) == 0:
		return nil
	}
	line, err := schema.Compact(line)
	if err != nil {
		return l.complain(jsonrpc.CodeParseError, "A line was not read: "+err.Error()+". Messages are JSON-RPC, one a line.")
	}
	if line[0] == '[' {
		return l.passBatch(line)
	}
	msg, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		return l.complain(jsonrpc.CodeInvalidRequest, "A line is not a JSON-RPC 2.0 message and was not read.")
	}
	l.received(msg)
	return l.give(line)
}

// give hands one line to the SDK.
func (l *lines) give(line []byte) error {
	_, err := l.toSDK.Write(append(line, '\n'))
	return err
}

// passBatch gives a batch (MCP 2025-03-26, basic) to the SDK: its calls together, so
// that they are answered together, the rest one by one. The SDK ends the session at a
// batch with two notifications, and at one that uses an id twice.
func (l *lines) passBatch(line []byte) error {
	var messages []json.RawMessage
	if err := json.Unmarshal(line, &messages); err != nil || len(messages) == 0 {
		return l.complain(jsonrpc.CodeInvalidRequest, "A batch without messages was not read.")
	}
	var calls, others [][]byte
	seen := map[any]bool{}
	all := make([]jsonrpc.Message, 0, len(messages))
	for _, m := range messages {
		msg, err := jsonrpc.DecodeMessage(m)
		if err != nil {
			return l.complain(jsonrpc.CodeInvalidRequest, "A batch holds something that is not a JSON-RPC 2.0 message and was not read.")
		}
		all = append(all, msg)
		r, ok := msg.(*jsonrpc.Request)
		if !ok || !r.IsCall() {
			others = append(others, m)
			continue
		}
		if id := r.ID.Raw(); seen[id] || l.owes(id) {
			return l.complain(jsonrpc.CodeInvalidRequest, "A batch uses the id of another request that is not answered yet and was not read.")
		}
		seen[r.ID.Raw()] = true
		calls = append(calls, m)
	}
	for _, msg := range all {
		l.received(msg)
	}
	for _, m := range others {
		if err := l.give(m); err != nil {
			return err
		}
	}
	if len(calls) == 0 {
		return nil
	}
	return l.give(slices.Concat([]byte{'['}, bytes.Join(calls, []byte{','}), []byte{']'}))
}

func (l *lines) owes(id any) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owed[id]
}

// complain answers a line that has no usable id (JSON-RPC 2.0, section 5).
func (l *lines) complain(code int64, message string) error {
	line, err := marshal(struct {
		Version string  `json:"jsonrpc"`
		ID      *string `json:"id"`
		Error   any     `json:"error"`
	}{"2.0", nil, map[string]any{"code": code, "message": message}})
	if err != nil {
		return err
	}
	_, err = lineWriter{l}.Write(append(line, '\n'))
	return err
}

// received notes what the client asked and answered.
func (l *lines) received(msg jsonrpc.Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch m := msg.(type) {
	case *jsonrpc.Request:
		// Listening has no answer until the client ends it.
		if m.IsCall() && m.Method != "subscriptions/listen" {
			l.owed[m.ID.Raw()] = true
		}
	case *jsonrpc.Response:
		l.waiting--
	}
}

// sent notes what the server answered and asked.
func (l *lines) sent(msg jsonrpc.Message) {
	l.mu.Lock()
	switch m := msg.(type) {
	case *jsonrpc.Request:
		if m.IsCall() {
			l.waiting++
		}
	case *jsonrpc.Response:
		delete(l.owed, m.ID.Raw())
	}
	l.mu.Unlock()
	select {
	case l.settled <- struct{}{}:
	default:
	}
}

// settle waits until everything asked is answered. It does not wait for calls that
// wait for the client themselves, who can say nothing any more.
func (l *lines) settle() {
	limit := time.NewTimer(drain)
	defer limit.Stop()
	for {
		l.mu.Lock()
		done := len(l.owed) == 0 || l.waiting > 0
		l.mu.Unlock()
		if done {
			return
		}
		select {
		case <-l.settled:
		case <-limit.C:
			return
		}
	}
}

// lineConnection tells lines what is sent.
type lineConnection struct {
	mcp.Connection
	lines *lines
}

// Write implements mcp.Connection.
func (c *lineConnection) Write(ctx context.Context, msg jsonrpc.Message) error {
	if r, ok := msg.(*jsonrpc.Request); ok {
		c.lines.sent(r) // before the client can answer it
		return c.Connection.Write(ctx, msg)
	}
	err := c.Connection.Write(ctx, msg)
	c.lines.sent(msg)
	return err
}

// Close implements mcp.Connection.
func (c *lineConnection) Close() error {
	err := c.Connection.Close()
	if closer, ok := c.lines.in.(io.Closer); ok {
		err = errors.Join(err, closer.Close())
	}
	return err
}
