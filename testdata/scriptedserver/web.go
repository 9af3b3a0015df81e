package scriptedserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
)

// Web is the scripted server over HTTP: Streamable HTTP with one session, whose POSTs are answered with JSON or,
// where other messages come first, with a stream, and a channel by GET. Faults, by name, break into that.
//
// It is an http.Handler; Close ends its streams and steps.
type Web struct {
	server *Server
	faults map[string]fault // by what they break into

	mu      sync.Mutex
	seen    []string                 // "METHOD rpc-method" of each request
	waiting map[string]chan []byte   // POSTs, by the id of the request
	channel map[chan []byte]struct{} // open GETs
	session string                   // "" until initialize, or forgotten
	serial  int
	done    chan struct{}
	once    sync.Once
}

// fault breaks into the requests of one method; it reports whether it has answered.
type fault struct {
	at string // the JSON-RPC method, "GET", or "*" for every POST
	do func(s *Web, w http.ResponseWriter, r *http.Request, m message) bool
}

// NewWeb makes one with the named faults; see Faults.
func NewWeb(o Options, faults ...string) (*Web, error) {
	w := &Web{faults: map[string]fault{}, waiting: map[string]chan []byte{}, channel: map[chan []byte]struct{}{}, done: make(chan struct{})}
	for _, name := range faults {
		f, ok := webFaults[name]
		if !ok {
			return nil, fmt.Errorf("there is no fault %q", name)
		}
		w.faults[f.at] = f
	}
	var err error
	w.server, err = New(o, (*webOut)(w), io.Discard, func(int) {})
	return w, err
}

// Seen returns what came so far, in order: "POST tools/call", "GET ", "DELETE ".
func (s *Web) Seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.seen...)
}

// Count is how often something came.
func (s *Web) Count(what string) (n int) {
	for _, x := range s.Seen() {
		if x == what {
			n++
		}
	}
	return n
}

// Forget forgets the session.
func (s *Web) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = ""
}

// Close ends all streams.
func (s *Web) Close() error {
	s.once.Do(func() { close(s.done) })
	return s.server.Close()
}

// webOut takes what the Server writes: an answer goes to the POST that waits for it, anything else to the newest POST
// that is open, or to the channel.
type webOut Web

func (o *webOut) Write(p []byte) (int, error) {
	s := (*Web)(o)
	for line := range bytes.Lines(p) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.route(bytes.Clone(line))
		}
	}
	return len(p), nil
}

func (s *Web) route(line []byte) {
	var m message
	_ = json.Unmarshal(line, &m) // what is no message goes to the channel
	s.mu.Lock()
	defer s.mu.Unlock()
	if to := s.waiting[string(m.ID)]; to != nil && m.Method == "" {
		to <- line
		return
	}
	for _, to := range s.waiting {
		select {
		case to <- line:
			return
		default:
		}
	}
	for to := range s.channel {
		select {
		case to <- line:
			return
		default:
		}
	}
}

// ServeHTTP implements http.Handler.
func (s *Web) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var m message
	_ = json.Unmarshal(body, &m) // empty for GET and DELETE
	s.mu.Lock()
	s.seen = append(s.seen, r.Method+" "+m.Method)
	s.mu.Unlock()
	at := m.Method
	if r.Method != http.MethodPost {
		at = r.Method
	}
	for _, place := range []string{at, "*"} {
		s.mu.Lock()
		f, ok := s.faults[place]
		s.mu.Unlock()
		if ok && (place != "*" || r.Method == http.MethodPost) && f.do(s, w, r, m) {
			return
		}
	}
	s.good(w, r, m, body)
}

// good does what a good server does.
func (s *Web) good(w http.ResponseWriter, r *http.Request, m message, body []byte) {
	if m.Method == "initialize" {
		s.mu.Lock()
		s.serial++
		s.session = fmt.Sprintf("session-%d", s.serial)
		w.Header().Set("Mcp-Session-Id", s.session)
		s.mu.Unlock()
	} else if m.Method != "server/discover" && r.Header.Get("Mcp-Protocol-Version") < Modern && !s.known(r) {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	switch {
	case r.Method == http.MethodGet:
		s.push(w, r)
	case r.Method == http.MethodDelete:
		s.Forget()
	case m.ID == nil || m.Method == "":
		s.server.Receive(body)
		w.WriteHeader(http.StatusAccepted)
	default:
		s.post(w, r, m, body)
	}
}

func (s *Web) known(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.session != "" && r.Header.Get("Mcp-Session-Id") == s.session
}

// post answers one request.
func (s *Web) post(w http.ResponseWriter, r *http.Request, m message, body []byte) {
	in := make(chan []byte, 100)
	s.mu.Lock()
	s.waiting[string(m.ID)] = in
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.waiting, string(m.ID))
	}()
	s.server.Receive(body)
	stream := false
	for {
		select {
		case line := <-in:
			var answer message
			last := json.Unmarshal(line, &answer) == nil && answer.Method == "" && bytes.Equal(answer.ID, m.ID)
			if last && !stream {
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write(line) // the host may have gone
				return
			}
			stream = true
			event(w, line)
			if last {
				return
			}
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		}
	}
}

// push keeps a channel open.
func (s *Web) push(w http.ResponseWriter, r *http.Request) {
	in := make(chan []byte, 100)
	s.mu.Lock()
	s.channel[in] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.channel, in)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // as below
	for {
		select {
		case line := <-in:
			event(w, line)
		case <-r.Context().Done():
			return
		case <-s.done:
			return
		}
	}
}

// event sends one event at once.
func event(w http.ResponseWriter, line []byte) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "data: %s\n\n", line) // the host may have gone
	_ = http.NewResponseController(w).Flush()
}

// serveWeb is the program over HTTP: it prints its address on standard output and runs until it is told to end.
func serveWeb(o Options) int {
	s, err := NewWeb(o, o.Fault...)
	var l net.Listener
	if err == nil {
		l, err = net.Listen("tcp", o.HTTP)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scriptedserver:", err)
		return 2
	}
	fmt.Println("http://" + l.Addr().String() + "/mcp")
	server := &http.Server{Handler: s}
	end := make(chan os.Signal, 1)
	signal.Notify(end, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-end
		_ = s.Close()
		_ = server.Close() // Serve says so
	}()
	if err := server.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(os.Stderr, "scriptedserver:", err)
		return 1
	}
	return 0
}

// resultFor is a good answer to a request, for faults that break what is around it.
func resultFor(m message) string {
	result := `{"content":[{"type":"text","text":"called"}]}`
	if m.Method != "tools/call" {
		result = `{}`
	}
	return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`
}

// fill puts a request's id and a good answer into a text.
func fill(text string, m message) string {
	return strings.NewReplacer("${id}", string(m.ID), "${answer}", resultFor(m)).Replace(text)
}
