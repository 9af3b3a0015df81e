// Package scriptedmodel is a model endpoint for tests: it speaks the OpenAI
// chat completions wire format over loopback and answers each request with the
// next step of a script, byte for byte, including bytes no honest server would
// send. It records every request body it was given.
//
// A Server may be used from any goroutine. It ends with Close, or by itself at
// the end of the test when started with Start.
package scriptedmodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"steward/testdata/chatrules"
)

// Script says how the endpoint answers.
type Script struct {
	// Model is the name in chunks and in /v1/models; "" means "fake".
	Model string `json:"model,omitempty"`
	// Token, when set, is the bearer token a request must carry, else 401.
	Token string `json:"token,omitempty"`
	// Strict refuses (400) a request a strict provider would refuse; see Problem.
	Strict bool `json:"strict,omitempty"`
	// Rules, when set, are those of the provider that an endpoint profile is named after,
	// "mistral"; Strict then goes by them.
	Rules string `json:"rules,omitempty"`
	// Steps answer one chat request each, in order.
	Steps []Step `json:"steps,omitempty"`
	// Repeat answers every request after the last step with the last step.
	Repeat bool `json:"repeat,omitempty"`
	// Rounds, when set, answers what Steps do not; it keeps no count of its
	// own, so any number of conversations can be run against it.
	Rounds *Rounds `json:"rounds,omitempty"`
	// Check, when set, is asked before the step is taken. A status other than 0
	// is answered with body, and the step stays for the next request.
	Check func(Request) (status int, body string) `json:"-"`
}

// Step is the answer to one request.
type Step struct {
	Status int               `json:"status,omitempty"` // 0 means 200
	Header map[string]string `json:"headers,omitempty"`
	Body   string            `json:"body,omitempty"`  // sent before Parts, as it is
	Parts  []Part            `json:"parts,omitempty"` // sent in order
	End    string            `json:"end,omitempty"`   // "" closes cleanly, "reset" resets the connection, "hang" waits for the client to go
	// Say and Calls build a whole proper answer: text, calls, finish, usage,
	// [DONE]. They come after Parts.
	Say   string `json:"say,omitempty"`
	Calls []Call `json:"calls,omitempty"`
}

// Part is a piece of an answer. It is flushed when written.
type Part struct {
	Text  string   `json:"text"`
	Delay Duration `json:"delay,omitempty"` // waited before writing
	Split int      `json:"split,omitempty"` // flush after every Split bytes, waiting Delay each time; 0 = all at once
}

// Call is one tool call in a proper answer.
type Call struct {
	// Tool is the name, or the part after "__", of one of the offered tools. If
	// none is offered under it the name is sent as it is.
	Tool string `json:"tool"`
	ID   string `json:"id,omitempty"` // "" makes one
	// Arguments is sent as it is; {{n}} becomes the number of the round, from 1.
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Rounds calls one tool N times, one call a round, then says Final.
type Rounds struct {
	N         int             `json:"n"`
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Final     string          `json:"final,omitempty"` // "" means "Done."
}

// Duration is a time.Duration written as text ("20ms") in JSON.
type Duration time.Duration

// UnmarshalJSON reads "20ms".
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("a delay is text such as \"20ms\": %w", err)
	}
	v, err := time.ParseDuration(s)
	*d = Duration(v)
	return err
}

// MarshalJSON writes "20ms".
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// Request is one recorded request.
type Request struct {
	Time   time.Time
	Method string
	Path   string
	Query  string
	Header http.Header
	Body   []byte
}

// Server is a running endpoint.
type Server struct {
	script   Script
	http     *http.Server
	listener net.Listener
	quit     chan struct{}
	served   chan struct{}
	once     sync.Once

	mu       sync.Mutex
	requests []Request
	next     int
	problems []string
	onChat   func(Request)
}

// TB is the part of testing.TB that Start needs.
type TB interface {
	Helper()
	Cleanup(func())
	Fatalf(format string, args ...any)
}

// Start serves the steps until the end of the test.
func Start(t TB, steps ...Step) *Server {
	t.Helper()
	return StartScript(t, Script{Steps: steps})
}

// StartScript serves the script until the end of the test.
func StartScript(t TB, script Script) *Server {
	t.Helper()
	s, err := Listen("127.0.0.1:0", script)
	if err != nil {
		t.Fatalf("starting the scripted model endpoint: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// Listen serves the script on addr ("127.0.0.1:0" for any free port).
func Listen(addr string, script Script) (*Server, error) {
	if script.Model == "" {
		script.Model = "fake"
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &Server{script: script, listener: l, quit: make(chan struct{}), served: make(chan struct{})}
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(s.served)
		_ = s.http.Serve(l) // always http.ErrServerClosed after Close
	}()
	return s, nil
}

// Close ends the endpoint and every answer in progress.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.quit)
		_ = s.http.Close()
		<-s.served
	})
}

// URL is the base URL, ending in /v1.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/v1" }

// Origin is the address without a path.
func (s *Server) Origin() string { return "http://" + s.listener.Addr().String() }

// Requests returns the chat requests received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Problems returns what was refused in strict mode, and requests after the end
// of the script. A test that expects none should say so.
func (s *Server) Problems() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.problems...)
}

// OnRequest has f called with each chat request before it is answered, on the
// request's goroutine.
func (s *Server) OnRequest(f func(Request)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onChat = f
}

// ServeHTTP answers /models and everything that ends in /chat/completions.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.script.Token != "" && r.Header.Get("Authorization") != "Bearer "+s.script.Token {
		refuse(w, http.StatusUnauthorized, "Incorrect API key provided", "invalid_request_error")
		return
	}
	switch {
	case strings.HasSuffix(r.URL.Path, "/models"):
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"object":"list","data":[{"id":%s,"object":"model"}]}`, quote(s.script.Model))
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		s.chat(w, r)
	default:
		refuse(w, http.StatusNotFound, "no such path: "+r.URL.Path, "invalid_request_error")
	}
}

func refuse(w http.ResponseWriter, status int, message, kind string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"message":%s,"type":%s}}`, quote(message), quote(kind))
}

func (s *Server) chat(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	req := Request{Time: time.Now().UTC(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Header: r.Header.Clone(), Body: body}
	s.mu.Lock()
	s.requests = append(s.requests, req)
	hook := s.onChat
	s.mu.Unlock()
	if hook != nil {
		hook(req)
	}
	if s.script.Check != nil {
		if status, text := s.script.Check(req); status != 0 {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
			return
		}
	}
	if s.script.Strict {
		if p := problem(body, chatrules.For(s.script.Rules)); p != "" {
			s.complain(p)
			refuse(w, http.StatusBadRequest, p, "invalid_request_error")
			return
		}
	}
	step, ok := s.step(body)
	if !ok {
		s.complain("a request came after the end of the script")
		refuse(w, http.StatusBadRequest, "the script has ended", "invalid_request_error")
		return
	}
	s.play(w, r, step, body)
}

func (s *Server) complain(p string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, p)
}

// step takes the next step of the script.
func (s *Server) step(body []byte) (Step, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next < len(s.script.Steps) {
		s.next++
		return s.script.Steps[s.next-1], true
	}
	if r := s.script.Rounds; r != nil {
		n := answered(body)
		if n < r.N {
			args := bytes.ReplaceAll(r.Arguments, []byte("{{n}}"), fmt.Appendf(nil, "%d", n+1))
			return Step{Calls: []Call{{Tool: r.Tool, ID: fmt.Sprintf("call_%d", n+1), Arguments: args}}}, true
		}
		if r.Final == "" {
			return Step{Say: "Done."}, true
		}
		return Step{Say: r.Final}, true
	}
	if n := len(s.script.Steps); s.script.Repeat && n > 0 {
		return s.script.Steps[n-1], true
	}
	return Step{}, false
}

// play writes the step.
func (s *Server) play(w http.ResponseWriter, r *http.Request, step Step, body []byte) {
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	for k, v := range step.Header {
		w.Header().Set(k, v)
	}
	if step.Status != 0 {
		w.WriteHeader(step.Status)
	}
	parts := make([]Part, 0, len(step.Parts)+2)
	if step.Body != "" {
		parts = append(parts, Part{Text: step.Body})
	}
	parts = append(parts, step.Parts...)
	if step.Say != "" || len(step.Calls) > 0 {
		parts = append(parts, Part{Text: proper(s.script.Model, step, body)})
	}
	for _, p := range parts {
		if !s.write(w, r, p) {
			return
		}
	}
	switch step.End {
	case "reset":
		reset(w)
	case "hang":
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		select {
		case <-r.Context().Done():
		case <-s.quit:
		}
	}
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, p Part) bool {
	size := p.Split
	if size <= 0 {
		size = len(p.Text)
	}
	for text := p.Text; ; {
		if p.Delay > 0 {
			select {
			case <-time.After(time.Duration(p.Delay)):
			case <-r.Context().Done():
				return false
			case <-s.quit:
				return false
			}
		}
		n := min(size, len(text))
		if _, err := io.WriteString(w, text[:n]); err != nil {
			return false
		}
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		if text = text[n:]; text == "" {
			return true
		}
	}
}

// reset makes the client see a TCP reset instead of an end.
func reset(w http.ResponseWriter) {
	h, ok := w.(http.Hijacker)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	conn, _, err := h.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}
