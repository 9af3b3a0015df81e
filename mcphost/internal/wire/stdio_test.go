package wire

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"steward/mcphost/process"
	"steward/testdata/scriptedserver"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "scripted-server" {
		os.Exit(scriptedserver.Main(os.Args[2:]))
	}
	goleak.VerifyTestMain(m)
}

// session is a library session over our transport to a scripted server.
type session struct {
	*mcp.ClientSession
	tap   *Tap
	stdio *Stdio
	proc  *process.Process

	mu     sync.Mutex
	tokens int
	noise  []Noise
	late   []Late
	notes  []string
}

// setup says how a session differs from the usual.
type setup struct {
	options Options
	stdio   StdioOptions
	version string
	program string
	ready   string // on standard error, before anything is sent
	handle  func(context.Context, ServerRequest) (json.RawMessage, error)
}

func open(tb testing.TB, set setup, args ...string) (*session, error) {
	tb.Helper()
	if set.program == "" {
		self, err := os.Executable()
		if err != nil {
			tb.Fatal(err)
		}
		set.program = self
		args = append([]string{"scripted-server"}, args...)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	p, err := process.Start(ctx, process.Spec{Path: set.program, Args: args, Env: process.Environment(nil, ""), Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	later(tb, "the program is ready", func() bool { return strings.Contains(p.Stderr(), set.ready) })
	s := &session{proc: p}
	o := set.options
	o.Handle = set.handle
	o.Noise = func(n Noise) { s.add(func() { s.noise = append(s.noise, n) }) }
	o.Late = func(l Late) { s.add(func() { s.late = append(s.late, l) }) }
	o.Notify = func(method string, params json.RawMessage) { s.add(func() { s.notes = append(s.notes, method) }) }
	s.tap = NewTap(o)
	set.stdio.Process, set.stdio.Tap = p, s.tap
	if set.stdio.Grace == 0 {
		set.stdio.Grace = 100 * time.Millisecond
	}
	s.stdio = NewStdio(set.stdio)
	tb.Cleanup(func() {
		if err := s.stdio.Close(); err != nil {
			tb.Error(err)
		}
		if s.ClientSession != nil {
			_ = s.ClientSession.Close()
		}
	})
	client := mcp.NewClient(&mcp.Implementation{Name: "steward", Version: "1"}, &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true},
	})
	s.ClientSession, err = client.Connect(ctx, s.stdio, &mcp.ClientSessionOptions{ProtocolVersion: set.version})
	return s, err
}

func connect(tb testing.TB, set setup, args ...string) *session {
	tb.Helper()
	s, err := open(tb, set, args...)
	if err != nil {
		tb.Fatalf("no connection: %v", err)
	}
	return s
}

func (s *session) add(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

// call calls a tool and returns what the server said.
func (s *session) call(tb testing.TB, ctx context.Context, tool, arguments string, more ...func(*Expectation)) Answer {
	tb.Helper()
	var token string
	s.add(func() {
		s.tokens++
		token = "t-" + strconv.Itoa(s.tokens)
	})
	e := Expectation{Token: token}
	for _, f := range more {
		f(&e)
	}
	p, err := s.tap.Expect(e)
	if err != nil {
		return Answer{Err: err}
	}
	defer p.Release()
	params := &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments), Meta: mcp.Meta{"progressToken": token}}
	_, err = s.CallTool(ctx, params)
	a, ok := p.Answer()
	switch {
	case !ok && err == nil:
		tb.Error("the library has an answer that we have not")
	case !ok:
		return Answer{Err: err}
	case err == nil && a.Err != nil || err != nil && a.Err == nil:
		tb.Errorf("the library's error is %v, ours is %v", err, a.Err)
	}
	return a
}

func bounded(tb testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	tb.Cleanup(cancel)
	return ctx
}

// text reads a tool result with one text.
func textOf(tb testing.TB, a Answer) string {
	tb.Helper()
	if a.Err != nil {
		tb.Fatalf("the call failed: %v", a.Err)
	}
	var r struct{ Content []struct{ Text string } }
	if err := json.Unmarshal(a.Result, &r); err != nil || len(r.Content) != 1 {
		tb.Fatalf("%s: %v", a.Result, err)
	}
	return r.Content[0].Text
}

func (s *session) works(tb testing.TB) {
	tb.Helper()
	if got := textOf(tb, s.call(tb, bounded(tb), "echo", `{"text":"still here"}`)); got != "still here" {
		tb.Errorf("echo says %q", got)
	}
}

func TestConnectThroughNoise(t *testing.T) {
	t.Parallel()
	// initialize answers the request with the server's usual result, written so.
	as := func(format string) string {
		return "initialize=" + strings.ReplaceAll(format, "RESULT",
			`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)
	}
	good := `{"jsonrpc":"2.0","id":${id},"result":RESULT}`
	for name, args := range map[string][]string{
		"banner":              {"--banner", "Server v1 running on stdio"},
		"emoji":               {"--banner", "🖥️ mode: STDIO"},
		"blank":               {"--banner", "", "--banner", "\r"},
		"log entry":           {"--banner", `{"level":"info","msg":"started"}`},
		"log entry with id":   {"--banner", `{"id":1,"level":"info","error":"none"}`},
		"values":              {"--banner", "42", "--banner", "[]", "--banner", "{}", "--banner", "null"},
		"colours":             {"--banner", "\x1b[32mready\x1b[0m"},
		"not UTF-8":           {"--banner", "\xff\xfe\x80"},
		"no line end":         {"--start", "@raw Loading… "},
		"byte order mark":     {"--start", "@raw \xef\xbb\xbf"},
		"unknown message":     {"--banner", `{"jsonrpc":"2.0"}`},
		"error without id":    {"--banner", `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}`},
		"unknown id":          {"--banner", `{"jsonrpc":"2.0","id":99,"result":{}}`},
		"odd method":          {"--banner", `{"jsonrpc":"2.0","method":7,"id":1}`},
		"odd id":              {"--banner", `{"jsonrpc":"2.0","method":"ping","id":{}}`},
		"crlf":                {"--step", as(good + "\r")},
		"version missing":     {"--step", as(`{"id":${id},"result":RESULT}`)},
		"id in quotes":        {"--step", as(`{"jsonrpc":"2.0","id":"${id}","result":RESULT}`)},
		"id with a point":     {"--step", as(`{"jsonrpc":"2.0","id":${id}.0,"result":RESULT}`)},
		"empty error":         {"--step", as(`{"jsonrpc":"2.0","id":${id},"result":RESULT,"error":null}`)},
		"batch":               {"--step", as(`[{"jsonrpc":"2.0","method":"notifications/message","params":{}},` + good + `]`)},
		"two on a line":       {"--step", as(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}` + good)},
		"several lines":       {"--step", as("{\n\"jsonrpc\":\"2.0\",\n \"id\":${id},\n\n\"result\":\nRESULT\n}")},
		"discover with null":  {"--discover", "null-id"},
		"discover with {}":    {"--discover", "empty"},
		"capabilities true":   {"--step", `initialize=@result {"protocolVersion":"2025-06-18","capabilities":{"tools":true,"logging":[]},"serverInfo":"x"}`},
		"nothing but version": {"--step", `initialize=@result {"protocolVersion":"2025-06-18"}`},
		"asks at once":        {"--start", "@ask-only roots/list {}", "--start", "@ask-only ping {}"},
		"changes at once":     {"--start", "@repeat 5 @notify notifications/tools/list_changed {}"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connect(t, setup{}, args...)
			s.works(t)
			if _, raw := s.tap.Handshake(); !json.Valid(raw) {
				t.Errorf("the handshake is %q", raw)
			}
		})
	}
}

func TestModernServer(t *testing.T) {
	t.Parallel()
	s := connect(t, setup{}, "--discover", "answer")
	if got := s.InitializeResult().ProtocolVersion; got != scriptedserver.Modern {
		t.Fatalf("version %s", got)
	}
	if method, raw := s.tap.Handshake(); method != "server/discover" || !strings.Contains(string(raw), `"ttlMs":0`) {
		t.Errorf("%s: %s", method, raw)
	}
	s.works(t)
	a := s.call(t, bounded(t), "input", `{}`)
	if !strings.Contains(string(a.Result), `"requestState":"st\u00e4te-\"1\""`) {
		t.Fatalf("%s %v", a.Result, a.Err)
	}
	a = s.call(t, bounded(t), "input", `{"z":1,"a":1.0}`, func(e *Expectation) {
		e.Set = []Member{{"inputResponses", json.RawMessage(`{"who":{"action":"accept","content":{"name":"x"}}}`)}, {"requestState", json.RawMessage(`"st\u00e4te-\"1\""`)}}
	})
	if got := textOf(t, a); got != `{"who":{"action":"accept","content":{"name":"x"}}} "st\u00e4te-\"1\""` {
		t.Errorf("the server got %s", got)
	}
}

// Each fault of an answer ends that call alone, and is told as what it is.
func TestFaultyAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		steps   []string
		err     string // part of the error's text, "" for a result
		code    int64
		invalid bool
		result  string // the exact result
	}{
		"neither":           {steps: []string{`{"jsonrpc":"2.0","id":${id}}`}, err: "neither", code: CodeInternal, invalid: true},
		"both":              {steps: []string{`{"jsonrpc":"2.0","id":${id},"result":{},"error":{"code":1,"message":"no"}}`}, err: "both", code: CodeInternal, invalid: true},
		"error text":        {steps: []string{`{"jsonrpc":"2.0","id":${id},"error":"boom"}`}, err: "boom", code: CodeInternal},
		"error list":        {steps: []string{`{"jsonrpc":"2.0","id":${id},"error":["a",1]}`}, err: `["a",1]`, code: CodeInternal},
		"code in quotes":    {steps: []string{`{"jsonrpc":"2.0","id":${id},"error":{"code":"-32001","message":"m"}}`}, err: "m", code: -32001},
		"code with a point": {steps: []string{`{"jsonrpc":"2.0","id":${id},"error":{"code":-32000.0,"message":"m","data":{"x":1}}}`}, err: "m", code: -32000},
		"code too large":    {steps: []string{`{"jsonrpc":"2.0","id":${id},"error":{"code":1e999999999,"message":"m"}}`}, err: "m", code: CodeInternal},
		"no message":        {steps: []string{`{"jsonrpc":"2.0","id":${id},"error":{"code":-5}}`}, err: `{"code":-5}`, code: -5},
		"odd message":       {steps: []string{`{"jsonrpc":"2.0","id":${id},"error":{"code":-5,"message":{"a":1}}}`}, err: `{"a":1}`, code: -5},
		"good error":        {steps: []string{"@error -32000 it is broken"}, err: "it is broken", code: -32000},
		"not JSON":          {steps: []string{`{"jsonrpc":"2.0","id":${id},"result":{"a":1,}}`}, err: "not valid JSON", code: CodeInternal, invalid: true},
		"not JSON, id last": {steps: []string{`{"jsonrpc":"2.0","result":{"a":1,},"id":${id}}`}, err: "not valid JSON", code: CodeInternal, invalid: true},
		"too deep":          {steps: []string{`{"jsonrpc":"2.0","id":${id},"result":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + "}"}, err: "nested", code: CodeInternal, invalid: true},
		"too large":         {steps: []string{"@big 2000000"}, err: "larger than 1 MiB", code: CodeInternal, invalid: true},
		"nearly too large":  {steps: []string{"@big 1000000"}},
		"log in between":    {steps: []string{"working…", `{"level":"info"}`, "@result {}"}, result: `{}`},
		"error without id":  {steps: []string{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}`, "@result {}"}, result: `{}`},
		"wrong id":          {steps: []string{`{"jsonrpc":"2.0","id":9007199254740993,"result":{"wrong":true}}`, "@result {}"}, result: `{}`},
		"null":              {steps: []string{"@result null"}, result: `null`},
		"text":              {steps: []string{`@result "x"`}, result: `"x"`},
		"order and numbers": {steps: []string{`@result {"structuredContent":{"z":1,"a":12345678901234567890,"z":1.0},"content":[null,{"type":"x"}],"isError":"true"}`}, result: `{"structuredContent":{"z":1,"a":12345678901234567890,"z":1.0},"content":[null,{"type":"x"}],"isError":"true"}`},
		"not a number":      {steps: []string{`@result {"a":NaN}`}, result: `{"a":null}`},
		"not UTF-8":         {steps: []string{"@result {\"a\":\"x\xffy\"}"}, result: "{\"a\":\"x\uFFFDy\"}"},
		"several lines":     {steps: []string{"{\"jsonrpc\":\"2.0\",\n\"id\":${id},\n\"result\":{\"a\":\n1}}"}, result: "{\"a\":\n1}"},
		"answer in quotes":  {steps: []string{`{"jsonrpc":"2.0","id":"${id}","result":{"a":1}}`}, result: `{"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := make([]string, 0, 2*len(c.steps))
			for _, step := range c.steps {
				args = append(args, "--step", "tool:odd="+step)
			}
			s := connect(t, setup{version: "2025-11-25", options: Options{MaxFrame: 1 << 20}}, args...)
			a := s.call(t, bounded(t), "odd", `{}`)
			if c.err == "" {
				if a.Err != nil || c.result != "" && string(a.Result) != c.result {
					t.Errorf("%v, %s", a.Err, a.Result)
				}
			} else {
				var e *Error
				if !errors.As(a.Err, &e) || !strings.Contains(e.Message, c.err) || e.Code != c.code || e.Invalid != c.invalid {
					t.Errorf("%#v", a.Err)
				}
			}
			s.works(t)
		})
	}
}

func TestListsReachUsRaw(t *testing.T) {
	t.Parallel()
	page := `{"tools":[7,null,{"name":7},{"name":8,"inputSchema":{"x-mcp-header":"A"}},{"name":"y","inputSchema":["x-mcp-header"]},{"name":"x","inputSchema":{"type":"object","properties":{"b":{"x-mcp-header":"B","type":"string"},"a":{"default":12345678901234567890}}},"annotations":{"readOnlyHint":"yes"}}],"nextCursor":""}`
	s := connect(t, setup{version: "2025-11-25"}, "--step", "tools/list=@result "+page)
	for i, want := range []string{`"nextCursor":""`, `"cursor":""`} {
		p, err := s.tap.Expect(Expectation{Token: "page-" + strconv.Itoa(i)})
		if err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			p.want.Set = []Member{{"cursor", json.RawMessage(`""`)}}
		}
		res, err := s.ListTools(bounded(t), &mcp.ListToolsParams{Meta: mcp.Meta{"progressToken": p.Token()}})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Tools) != 1 || res.Tools[0].Name != "x" {
			t.Errorf("the library sees %v", res.Tools)
		}
		if a, _ := p.Answer(); string(a.Result) != page {
			t.Errorf("%s", a.Result)
		}
		var all strings.Builder
		for _, f := range p.Frames() {
			all.Write(f.Bytes)
		}
		if !strings.Contains(all.String(), want) {
			t.Errorf("%s is missing in %s", want, all.String())
		}
		p.Release()
	}
}

func TestMinimalServer(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "minimal")
	if out, err := exec.Command("go", "build", "-o", program, "steward/testdata/minimalserver").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	begin := time.Now()
	s := connect(t, setup{program: program})
	if got := s.InitializeResult().ProtocolVersion; got != "2024-11-05" {
		t.Errorf("version %s", got)
	}
	if time.Since(begin) > 30*time.Second {
		t.Error("the probe was not answered by the error without id")
	}
	if got := textOf(t, s.call(t, bounded(t), "get_weekly_report", `{"date":"2025-03-17"}`)); !strings.Contains(got, `"日期":"2025-03-17"`) {
		t.Error(got)
	}
	if count, first := s.tap.NoiseSeen(); count < 2 || !strings.HasPrefix(first, "周报服务已启动") {
		t.Errorf("%d, %q", count, first)
	}
}
