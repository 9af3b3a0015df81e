package scriptedserver

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Modern is the version without a handshake.
const Modern = "2026-07-28"

// Server is one scripted server. Receive may be called from any goroutine.
type Server struct {
	o      Options
	out    io.Writer
	err    io.Writer
	exit   func(int)
	record *os.File
	tools  []tool // guarded by mu, as all below

	mu      sync.Mutex
	seen    []string // methods received, in order
	arrived *sync.Cond
	counts  map[string]int
	asked   int
	answers map[string]chan json.RawMessage
	deaf    bool
	done    chan struct{} // closed by Close
	closed  bool

	writing sync.Mutex

	tasking sync.Mutex
	tasks   []byte // guarded by tasking
}

// message is a JSON-RPC message of the host.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// New makes a server that writes lines to out. exit ends the program.
func New(o Options, out, stderr io.Writer, exit func(int)) (*Server, error) {
	s := &Server{o: o, out: out, err: stderr, exit: exit, counts: map[string]int{}, answers: map[string]chan json.RawMessage{}, done: make(chan struct{})}
	s.arrived = sync.NewCond(&s.mu)
	if o.Record != "" {
		f, err := os.OpenFile(o.Record, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		s.record = f
	}
	s.tools = s.entries()
	return s, nil
}

// Main runs the server on standard input and output, and returns the exit status.
func Main(args []string) int {
	o, err := Parse(args)
	if err == nil && o.IgnoreEnd {
		signal.Ignore(syscall.SIGTERM)
	}
	if err == nil && o.HTTP != "" {
		return serveWeb(o)
	}
	var s *Server
	if err == nil {
		s, err = New(o, os.Stdout, os.Stderr, os.Exit)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "scriptedserver:", err)
		return 2
	}
	s.Begin()
	in := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			s.Receive(line)
		}
		if s.isDeaf() || err != nil && o.IgnoreEnd {
			time.Sleep(time.Hour)
		}
		if err != nil {
			return 0
		}
	}
}

// Begin prints the banner and takes the steps of --start.
func (s *Server) Begin() {
	for _, line := range s.o.Banner {
		s.line(line)
	}
	(&running{s: s}).run(s.o.Start)
}

// Close ends the steps that wait. A Server of a program needs no Close.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	close(s.done)
	s.arrived.Broadcast()
	if s.record != nil {
		return s.record.Close()
	}
	return nil
}

// Receive handles one line of the host. Steps run in a goroutine of their own.
func (s *Server) Receive(line []byte) {
	if s.record != nil {
		if _, err := s.record.Write(append([]byte(strings.TrimSpace(string(line))), '\n')); err != nil {
			fmt.Fprintln(s.err, "scriptedserver: record:", err)
		}
	}
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		s.line(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`)
		return
	}
	if m.Method == "" {
		s.answered(m)
		return
	}
	name := ""
	what := m.Method
	if m.Method == "tools/call" {
		var p struct{ Name string }
		// A call without a name is answered as one of an unknown tool.
		_ = json.Unmarshal(m.Params, &p)
		name = p.Name
		if len(s.o.Steps[what]) == 0 {
			what = "tool:" + name
		}
	}
	s.mu.Lock()
	s.seen = append(s.seen, m.Method)
	s.counts[what]++
	// What comes from now on comes after this request, however late its steps begin.
	r := &running{s: s, m: m, n: s.counts[what], mark: len(s.seen)}
	s.arrived.Broadcast()
	s.mu.Unlock()
	steps := s.o.Steps[what]
	if len(steps) == 0 && m.Method == "tools/call" {
		steps = builtin[name]
	}
	if len(steps) > 0 {
		if stopsReading(steps) {
			r.run(steps)
			return
		}
		go r.run(steps)
		return
	}
	s.usual(m)
}

func stopsReading(steps []string) bool { return slices.Contains(steps, "@stop-reading") }

func (s *Server) isDeaf() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.deaf
}

// answered hands an answer of the host to the step that waits for it.
func (s *Server) answered(m message) {
	s.mu.Lock()
	c := s.answers[string(m.ID)]
	delete(s.answers, string(m.ID))
	s.mu.Unlock()
	if c == nil {
		return
	}
	if m.Error != nil {
		c <- json.RawMessage(`{"error":` + string(m.Error) + `}`)
		return
	}
	c <- m.Result
}

func (s *Server) line(text string) { s.write(text + "\n") }

func (s *Server) write(text string) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if _, err := io.WriteString(s.out, text); err != nil && !errors.Is(err, os.ErrClosed) {
		s.exit(1) // the host is gone
	}
}

func (s *Server) result(m message, result string) {
	s.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}

func (s *Server) failure(m message, code int, text string) {
	s.line(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, m.ID, code, quote(text)))
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string can always be marshalled
	}
	return string(b)
}

const capabilities = `{"tools":{"listChanged":true},"prompts":{},"resources":{},"completions":{},"logging":{}}`

// usual does what a good server does.
func (s *Server) usual(m message) {
	if m.ID == nil {
		return
	}
	switch m.Method {
	case "server/discover":
		s.discover(m)
	case "initialize":
		s.result(m, fmt.Sprintf(`{"protocolVersion":%s,"capabilities":%s,"serverInfo":{"name":%s,"version":"1.0.0"},"instructions":"Scripted."}`,
			quote(s.version(m)), s.capabilities(), quote(s.o.Name)))
	case "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe":
		s.result(m, `{}`)
	case "tools/list":
		s.listTools(m)
	case "tools/call":
		s.callTool(m)
	case "prompts/list":
		s.result(m, `{"prompts":[{"name":"greet","description":"Greets.","arguments":[{"name":"who","required":true}]}]}`)
	case "prompts/get":
		s.result(m, `{"messages":[{"role":"user","content":{"type":"text","text":"Greet them."}}]}`)
	case "resources/list":
		s.result(m, `{"resources":[{"uri":"test://one","name":"one","mimeType":"text/plain"}]}`)
	case "resources/templates/list":
		s.result(m, `{"resourceTemplates":[{"uriTemplate":"test://item/{id}","name":"item"}]}`)
	case "resources/read":
		s.result(m, `{"contents":[{"uri":"test://one","mimeType":"text/plain","text":"first"}]}`)
	case "completion/complete":
		s.result(m, `{"completion":{"values":["world"],"total":1,"hasMore":false}}`)
	case "subscriptions/listen":
		s.line(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":` + string(m.ID) + `},"notifications":{}}}`)
	default:
		if !s.askTask(m) {
			s.failure(m, -32601, "method not found: "+m.Method)
		}
	}
}

func (s *Server) discover(m message) {
	switch s.o.Discover {
	case "ignore":
	case "exit":
		s.exit(1)
	case "empty":
		s.result(m, `{}`)
	case "null-id":
		s.line(`{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"method not found"}}`)
	case "answer":
		s.result(m, fmt.Sprintf(`{"resultType":"complete","supportedVersions":[%q],"capabilities":%s,"instructions":"Scripted.","_meta":{"io.modelcontextprotocol/serverInfo":{"name":%s,"version":"1.0.0"}},"ttlMs":0,"cacheScope":"private"}`,
			Modern, s.capabilities(), quote(s.o.Name)))
	default:
		s.failure(m, -32601, "method not found: server/discover")
	}
}

func (s *Server) version(m message) string {
	if s.o.Answer != "" {
		return s.o.Answer
	}
	var p struct{ ProtocolVersion string }
	if err := json.Unmarshal(m.Params, &p); err == nil && slices.Contains(s.o.Protocol, p.ProtocolVersion) {
		return p.ProtocolVersion
	}
	return s.o.Protocol[len(s.o.Protocol)-1]
}

// listTools answers with the page the cursor names.
func (s *Server) listTools(m message) {
	var p struct{ Cursor *string }
	if err := json.Unmarshal(m.Params, &p); err != nil && m.Params != nil {
		s.failure(m, -32602, err.Error())
		return
	}
	s.mu.Lock()
	tools := slices.Clone(s.tools)
	n := s.counts["tools/list"]
	s.mu.Unlock()
	size := s.o.PageSize
	if size <= 0 {
		size = max(len(tools), 1)
	}
	page := 0
	if p.Cursor != nil && s.o.Pages != "repeat" && s.o.Pages != "alternate" && s.o.Pages != "endless" && s.o.Pages != "huge" {
		page = 1
		if *p.Cursor != "" {
			var err error
			if page, err = strconv.Atoi(*p.Cursor); err != nil {
				s.failure(m, -32602, "unknown cursor")
				return
			}
		}
	}
	if s.o.Pages == "hang" && page == 1 {
		return
	}
	from := min(page*size, len(tools))
	entries := make([]string, 0, size)
	for _, t := range tools[from:min(from+size, len(tools))] {
		entries = append(entries, t.entry)
	}
	s.result(m, `{"tools":[`+strings.Join(entries, ",")+`]`+s.cursor(page, from+size < len(tools), n)+`}`)
}

// cursor returns the member nextCursor for a page, "" for none.
func (s *Server) cursor(page int, more bool, n int) string {
	next := ""
	switch s.o.Pages {
	case "repeat":
		next = quote("8")
	case "alternate":
		next = quote(strconv.Itoa(n % 2))
	case "endless":
		next = quote(fmt.Sprintf("%d-%d", n, time.Now().UnixNano()))
	case "huge":
		next = quote(strings.Repeat("c", 1<<20))
	case "empty":
		next = quote("")
		if page > 0 {
			next = quote(strconv.Itoa(page + 1))
		}
	case "number":
		next = strconv.Itoa(page + 1)
	default:
		next = quote(strconv.Itoa(page + 1))
	}
	endless := s.o.Pages == "repeat" || s.o.Pages == "alternate" || s.o.Pages == "endless" || s.o.Pages == "huge"
	if !more && !endless {
		return ""
	}
	return `,"nextCursor":` + next
}
