package wire

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// later waits until f is true.
func later(tb testing.TB, what string, f func() bool) {
	tb.Helper()
	for range 1000 {
		if f() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	tb.Fatalf("never: %s", what)
}

// soon fails if f takes longer than it may; the limit is far above what is needed.
func soon(tb testing.TB, what string, f func()) {
	tb.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(8 * time.Second):
		tb.Fatalf("%s takes for ever", what)
	}
}

func TestServerThatEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		start  []string
		ending string
		code   int
		stderr string
	}{
		"at once":        {[]string{"--start", "@stderr no such db: /x.db", "--start", "@exit 3"}, "exit status 3", 3, "no such db: /x.db"},
		"killed":         {[]string{"--start", "@kill"}, "signal: killed", -1, ""},
		"without output": {[]string{"--start", "@close-stdout", "--ignore-end"}, "closed its standard output", -1, ""},
		"wrong flag":     {[]string{"--no-such-flag"}, "exit status 2", 2, "flag provided but not defined"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s *session
			var err error
			soon(t, "Connect", func() { s, err = open(t, setup{}, c.start...) })
			var exit *ExitError
			if !errors.As(err, &exit) && !errors.As(s.stdio.Err(), &exit) {
				t.Fatalf("%v, %v", err, s.stdio.Err())
			}
			if exit.Ending != c.ending || exit.Code != c.code || !strings.Contains(exit.Stderr, c.stderr) {
				t.Errorf("%#v", exit)
			}
		})
	}
}

func TestServerThatEndsDuringCalls(t *testing.T) {
	t.Parallel()
	for tool, ending := range map[string]string{"die": "exit status 3", "killed": "signal: killed", "mute": "closed its standard output"} {
		t.Run(tool, func(t *testing.T) {
			t.Parallel()
			s := connect(t, setup{}, "--ignore-end")
			other := make(chan Answer, 1)
			sent := make(chan struct{})
			go func() {
				other <- s.call(t, context.Background(), "never", `{}`, func(e *Expectation) { e.Sent = func() { close(sent) } })
			}()
			<-sent
			var a Answer
			soon(t, "the call", func() { a = s.call(t, context.Background(), tool, `{}`) })
			for _, a := range []Answer{a, <-other} {
				var exit *ExitError
				if !errors.As(a.Err, &exit) || exit.Ending != ending {
					t.Errorf("%v", a.Err)
				}
				if tool == "die" && !strings.Contains(exit.Error(), "fatal: out of luck") {
					t.Errorf("its last words are missing: %v", exit)
				}
			}
			soon(t, "a later call", func() {
				if a := s.call(t, context.Background(), "echo", `{}`); a.Err == nil {
					t.Error("a call after the end succeeded")
				}
			})
		})
	}
}

func TestServerThatStopsReading(t *testing.T) {
	t.Parallel()
	large := `{"text":"` + strings.Repeat("x", 1<<20) + `"}`
	t.Run("cancel, then close", func(t *testing.T) {
		t.Parallel()
		s := connect(t, setup{}, "--ignore-end")
		textOf(t, s.call(t, bounded(t), "deaf", `{}`))
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		defer cancel()
		soon(t, "a cancelled call", func() {
			if a := s.call(t, ctx, "echo", large); !errors.Is(a.Err, context.DeadlineExceeded) {
				t.Errorf("%v", a.Err)
			}
		})
		soon(t, "Close", func() {
			if err := s.stdio.Close(); err != nil {
				t.Error(err)
			}
		})
	})
	t.Run("too long", func(t *testing.T) {
		t.Parallel()
		s := connect(t, setup{stdio: StdioOptions{WriteTimeout: 200 * time.Millisecond}}, "--ignore-end")
		textOf(t, s.call(t, bounded(t), "deaf", `{}`))
		soon(t, "the call", func() {
			a := s.call(t, context.Background(), "echo", large)
			var exit *ExitError
			if !errors.As(a.Err, &exit) || exit.Ending != "stopped reading its standard input" {
				t.Errorf("%v", a.Err)
			}
		})
		soon(t, "the end of the process", func() { <-s.proc.Done() })
	})
}

func TestCloseWaitsForNobody(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	asked := make(chan struct{})
	s := connect(t, setup{handle: func(ctx context.Context, r ServerRequest) (json.RawMessage, error) {
		close(asked)
		<-release // a handler that ignores its context
		return nil, ctx.Err()
	}}, "--ignore-end")
	calls := make(chan Answer, 2)
	for _, tool := range []string{"elicit", "never"} {
		go func() { calls <- s.call(t, context.Background(), tool, `{}`) }()
	}
	<-asked
	soon(t, "Close", func() {
		if err := s.stdio.Close(); err != nil {
			t.Error(err)
		}
		_ = s.ClientSession.Close()
	})
	for range 2 {
		if a := <-calls; a.Err == nil {
			t.Error("a call succeeded")
		}
	}
	if s.stdio.Err() != nil {
		t.Errorf("Close counts as an end of the server's making: %v", s.stdio.Err())
	}
	if _, err := s.tap.Expect(Expectation{Token: "x"}); err == nil {
		t.Error("a closed Tap takes requests")
	}
}

func TestLifeIsNotBoundToConnect(t *testing.T) {
	t.Parallel()
	s := connect(t, setup{}) // open cancels its context on return
	time.Sleep(50 * time.Millisecond)
	s.works(t)
}

func TestFloodOfStderr(t *testing.T) {
	t.Parallel()
	s := connect(t, setup{})
	if got := textOf(t, s.call(t, bounded(t), "flood", `{}`)); got != "done" {
		t.Error(got)
	}
}

func TestFloodOfNotifications(t *testing.T) {
	t.Parallel()
	s := connect(t, setup{version: "2025-11-25"}, "--step", "tool:storm=@repeat 20000 @notify notifications/tools/list_changed {}",
		"--step", "tool:storm=@repeat 5000 noise", "--step", "tool:storm=@text done")
	if got := textOf(t, s.call(t, bounded(t), "storm", `{}`)); got != "done" {
		t.Error(got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notes) != 20000 {
		t.Errorf("%d notifications", len(s.notes))
	}
	if count, _ := s.tap.NoiseSeen(); count != 5000 || len(s.noise) > 100 {
		t.Errorf("%d lines of noise, %d reports", count, len(s.noise))
	}
}

func TestServerAsks(t *testing.T) {
	t.Parallel()
	var asked atomic.Value
	s := connect(t, setup{handle: func(ctx context.Context, r ServerRequest) (json.RawMessage, error) {
		asked.Store(r)
		switch r.Method {
		case "elicitation/create":
			return json.RawMessage(`{"action":"accept","content":{"age":12345678901234567890}}`), nil
		case "roots/list":
			return nil, nil
		case "sampling/createMessage":
			if strings.Contains(string(r.Params), "fail") {
				panic("a handler that fails")
			}
			return nil, &Error{Code: -1, Message: "the person said no"}
		}
		t.Errorf("the handler got %s", r.Method)
		return nil, nil
	}}, "--step", "tool:failing=@ask sampling/createMessage {\"fail\":1}", "--step", "tool:failing=@text ${answer}")
	if got := textOf(t, s.call(t, bounded(t), "elicit", `{}`)); got != `{"action":"accept","content":{"age":12345678901234567890}}` {
		t.Errorf("the server got %s", got)
	}
	if r := asked.Load().(ServerRequest); !strings.Contains(string(r.Params), `"name":{"type":"string"},"age"`) {
		t.Errorf("the order of the fields is lost: %s", r.Params)
	}
	for tool, want := range map[string]string{
		"sample":  `{"error":{"code":-1,"message":"the person said no"}}`,
		"failing": `{"error":{"code":-32603,"message":"the host failed to handle the request"}}`,
		"roots":   `{"error":{"code":-32603,"message":"the host has no answer"}}`,
	} {
		if got := textOf(t, s.call(t, bounded(t), tool, `{}`)); got != want {
			t.Errorf("%s: the server got %s", tool, got)
		}
	}
	s.works(t)
}

func TestServerAsksForWhatIsNotOffered(t *testing.T) {
	t.Parallel()
	s := connect(t, setup{}, "--step", "tool:ping=@ask ping {}", "--step", "tool:ping=@text ${answer}",
		"--step", "tool:odd=@ask files/delete {}", "--step", "tool:odd=@text ${answer}")
	for tool, want := range map[string]string{
		"ping":   `{}`,
		"odd":    `{"error":{"code":-32601,"message":"the host does not offer files/delete"}}`,
		"elicit": `{"error":{"code":-32601,"message":"the host does not offer elicitation/create"}}`,
	} {
		if got := textOf(t, s.call(t, bounded(t), tool, `{}`)); got != want {
			t.Errorf("%s: the server got %s", tool, got)
		}
	}
	s.tap.SetModern(true)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if a := s.call(t, ctx, "ping", `{}`); !errors.Is(a.Err, context.DeadlineExceeded) {
		t.Errorf("a request was answered where servers make none: %s, %v", a.Result, a.Err)
	}
}

func TestServerWithdrawsItsRequest(t *testing.T) {
	t.Parallel()
	withdrawn := make(chan struct{})
	s := connect(t, setup{handle: func(ctx context.Context, r ServerRequest) (json.RawMessage, error) {
		<-ctx.Done()
		close(withdrawn)
		return nil, ctx.Err()
	}})
	if got := textOf(t, s.call(t, bounded(t), "elicit-cancel", `{}`)); got != "withdrawn" {
		t.Error(got)
	}
	soon(t, "the handler's end", func() { <-withdrawn })
}

func TestListChangedDuringACall(t *testing.T) {
	t.Parallel()
	s := connect(t, setup{version: "2025-11-25"})
	done := make(chan Answer, 1)
	go func() { done <- s.call(t, bounded(t), "changes", `{}`) }()
	later(t, "the notification", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.notes) > 0 })
	if _, err := s.ListTools(bounded(t), nil); err != nil {
		t.Fatal(err)
	}
	if got := textOf(t, <-done); got != "changed" {
		t.Error(got)
	}
}

func TestCancelledCallAndItsLateAnswer(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	s := connect(t, setup{}, "--record", record)
	ctx, cancel := context.WithCancel(context.Background())
	a := s.call(t, ctx, "late", `{}`, func(e *Expectation) { e.Sent = cancel })
	if !errors.Is(a.Err, context.Canceled) {
		t.Fatalf("%v", a.Err)
	}
	later(t, "the late answer", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.late) > 0 })
	s.mu.Lock()
	l := s.late[0]
	s.mu.Unlock()
	if l.Token != "t-1" || l.Method != "tools/call" || l.Duplicate || !strings.Contains(string(l.Raw), "too late") {
		t.Errorf("%+v", l)
	}
	data, err := os.ReadFile(record)
	if err != nil || !strings.Contains(string(data), `"reason":"cancelled by the host"`) || strings.Contains(string(data), "context canceled") {
		t.Errorf("%s %v", data, err)
	}
	s.works(t)
}

func TestSecondAnswer(t *testing.T) {
	t.Parallel()
	s := connect(t, setup{})
	if got := textOf(t, s.call(t, bounded(t), "twice", `{}`)); got != "once" {
		t.Error(got)
	}
	s.works(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.late) != 1 || !s.late[0].Duplicate || s.late[0].Token != "t-1" {
		t.Errorf("%+v", s.late)
	}
}

func TestProgress(t *testing.T) {
	t.Parallel()
	note := func(params string) string {
		return `tool:work={"jsonrpc":"2.0","method":"notifications/progress","params":` + params + `}`
	}
	var args []string
	for _, params := range []string{
		`{"progressToken":${token},"progress":1,"total":10,"message":"one"}`,
		`{"progressToken":"nobody","progress":9}`,
		`{"progressToken":7,"progress":9}`,
		`{"progressToken":${token},"progress":5}`,
		`{"progressToken":${token},"progress":3,"total":0}`,
		`{"progressToken":${token},"progress":NaN,"total":10}`,
		`{"progressToken":${token}}`,
		`{"progressToken":${token},"progress":1e999}`,
		`{"progressToken":${token},"progress":"6","total":"12","message":7}`,
		`{"progressToken":${token},"progress":1e308,"total":5,"message":"` + strings.Repeat("ä", MaxProgressMessage) + `"}`,
		`[]`,
	} {
		args = append(args, "--step", note(params))
	}
	args = append(args, "--step", "tool:work=@text done", "--step", note(`{"progressToken":${token},"progress":2e308}`), "--step", note(`{"progressToken":${token},"progress":1.5e308}`))
	s := connect(t, setup{}, args...)
	var got []Progress
	textOf(t, s.call(t, bounded(t), "work", `{}`, func(e *Expectation) { e.Progress = func(p Progress) { got = append(got, p) } }))
	s.works(t)
	long := strings.Repeat("ä", MaxProgressMessage/2)
	want := []Progress{{1, 10, "one"}, {5, 0, ""}, {5, 0, ""}, {6, 12, ""}, {1e308, 0, long}}
	if len(got) != len(want) {
		t.Fatalf("%.500v", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %.100v, want %.100v", i, got[i], want[i])
		}
	}
}

func TestBeforeDecides(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	s := connect(t, setup{}, "--record", record)
	arguments := `{"z":1.0,"text":"<b>\u00e4</b>","z":12345678901234567890}`
	var seen string
	refused := errors.New("the receipt is spent")
	a := s.call(t, bounded(t), "echo", arguments, func(e *Expectation) {
		e.Before = func(b []byte) error { seen = string(b); return refused }
		e.Sent = func() { t.Error("a refused request was sent") }
	})
	if !errors.Is(a.Err, refused) || seen != arguments {
		t.Errorf("%v, %s", a.Err, seen)
	}
	order := ""
	a = s.call(t, bounded(t), "add", arguments, func(e *Expectation) {
		e.Set = []Member{{"arguments", json.RawMessage(arguments)}, {"name", json.RawMessage(`"never-mind"`)}}
		e.Before = func(b []byte) error { order += "before "; seen = string(b); return nil }
		e.Sent = func() { order += "sent" }
	})
	var e *Error
	if !errors.As(a.Err, &e) || e.Code != CodeInvalidParams || e.Invalid || seen != arguments || order != "before sent" {
		t.Errorf("%v, %s, %s", a.Err, seen, order)
	}
	data, err := os.ReadFile(record)
	if err != nil || strings.Contains(string(data), `"echo"`) || !strings.Contains(string(data), `"arguments":`+arguments) {
		t.Errorf("%s %v", data, err)
	}
	s.works(t)
}

func TestFramesAreKept(t *testing.T) {
	t.Parallel()
	s := connect(t, setup{})
	p, err := s.tap.Expect(Expectation{Token: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.tap.Expect(Expectation{Token: "mine"}); err == nil {
		t.Error("a token was given twice")
	}
	p.Release()
	textOf(t, s.call(t, bounded(t), "slow", `{}`))
	if a := s.call(t, bounded(t), "big", `{}`); len(a.Result) < 5000000 {
		t.Errorf("%d bytes", len(a.Result))
	}
	for range 600 {
		s.works(t)
	}
	frames := s.tap.Frames()
	bytes := 0
	for _, f := range frames {
		bytes += len(f.Bytes)
	}
	if len(frames) != logFrames || bytes > logBytes {
		t.Errorf("%d frames, %d bytes", len(frames), bytes)
	}
	if last := frames[len(frames)-1]; last.Out || !strings.Contains(string(last.Bytes), "still here") || last.Token == "" || last.Size != len(last.Bytes) {
		t.Errorf("%+v", last)
	}
}

func TestServerThatLeavesAnotherWithItsOutput(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "pid")
	var s *session
	var err error
	soon(t, "Connect", func() {
		s, err = open(t, setup{program: "/bin/sh"}, "-c", `setsid sh -c 'echo $$ >"`+file+`"; exec sleep 100' & while [ ! -s "`+file+`" ]; do sleep 0.01; done; echo bye >&2; exit 3`)
	})
	var exit *ExitError
	if err == nil || !errors.As(s.stdio.Err(), &exit) || exit.Code != 3 || exit.Ending != "exit status 3" || exit.Stderr != "bye" {
		t.Errorf("%v, %v", err, s.stdio.Err())
	}
	soon(t, "Close", func() { _ = s.stdio.Close() })
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill() // it left the group before anybody looked
	}
}

func TestServerThatAsksTooMuch(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	answers := map[string]int{}
	tap := NewTap(Options{Handle: func(ctx context.Context, r ServerRequest) (json.RawMessage, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	tap.Attach(func(frame []byte) error {
		mu.Lock()
		defer mu.Unlock()
		answers[string(member(member(frame, "error"), "message"))]++
		return nil
	})
	ask := func(id int) {
		tap.In([]byte(`{"jsonrpc":"2.0","id":` + strconv.Itoa(id) + `,"method":"elicitation/create","params":{}}`))
	}
	for i := range MaxServerRequests + 10 {
		ask(i)
	}
	ask(0)
	total := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, c := range answers {
			n += c
		}
		return n
	}
	later(t, "eleven refusals", func() bool { return total() == 11 })
	soon(t, "Close", func() { tap.Close(nil) })
	if answers[`"more than 64 requests are open"`] != 10 || answers[`"a request with this id is open already"`] != 1 {
		t.Errorf("%v", answers)
	}
}

// The same Tap serves HTTP: bodies come whole, and a request without a usable answer is
// answered for the server.
func TestTapWithoutStream(t *testing.T) {
	t.Parallel()
	tap := NewTap(Options{})
	defer tap.Close(nil)
	send := func(id, method string) *Outgoing {
		out, err := tap.Out([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"_meta":{"progressToken":"t` + id + `"}}}`))
		if err != nil || !out.Request || !out.Open() || out.Method() != method {
			t.Fatalf("%+v, %v", out, err)
		}
		return out
	}
	p, err := tap.Expect(Expectation{Token: "t1"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	out := send("1", "tools/call")
	if got := string(out.Fail(errors.New("the server answered with status 502"))); got != `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"the server answered with status 502"}}` {
		t.Error(got)
	}
	if a, ok := p.Answer(); !ok || a.Err == nil || out.Open() || out.Fail(a.Err) != nil {
		t.Errorf("%v %v", a, ok)
	}
	send("2", "resources/read")
	send("3", "prompts/get")
	send("4", "subscriptions/listen")
	got := tap.In([]byte("\xef\xbb\xbf [" + `{"jsonrpc":"2.0","id":"3","result":{}} , {"jsonrpc":"2.0","id":2,"result":{"contents":[{"uri":7}]}}]`))
	if len(got) != 2 || string(got[0]) != `{"jsonrpc":"2.0","id":3,"result":{"messages":[]}}` || string(got[1]) != `{"jsonrpc":"2.0","id":2,"result":{"contents":[]}}` {
		t.Errorf("%q", got)
	}
	if got := tap.In([]byte("<html>bad gateway</html>")); got != nil {
		t.Errorf("%q", got)
	}
	out, err = tap.Out([]byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	if err != nil || out.Request || out.Open() || out.Fail(errors.New("x")) != nil {
		t.Errorf("%+v, %v", out, err)
	}
	gone := errors.New("gone")
	sent, err := tap.Expect(Expectation{Token: "t5"})
	if err != nil {
		t.Fatal(err)
	}
	send("5", "tools/call")
	sent.Release() // released, and then nobody is told of its end
	waiting, err := tap.Expect(Expectation{Token: "t6"})
	if err != nil {
		t.Fatal(err)
	}
	send("6", "tools/call")
	tap.Close(gone)
	soon(t, "the end of what waits", func() { <-waiting.Done() })
	if a, ok := waiting.Answer(); !ok || a.Err != gone {
		t.Errorf("%v %v", a, ok)
	}
	if _, ok := sent.Answer(); ok {
		t.Error("a released request was answered")
	}
	if _, err := tap.Out([]byte(`{"jsonrpc":"2.0","id":9,"method":"ping"}`)); err == nil {
		t.Error("a request left after the end")
	}
}

func TestMinimalHandshake(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ method, in, want string }{
		{"initialize", `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true,"x":1},"prompts":false,"resources":{"subscribe":"yes"},"logging":true},"serverInfo":{"name":7,"version":"1","icons":"x"}}`,
			`{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"resources":{},"tools":{"listChanged":true}},"serverInfo":{"name":"","version":"1"}}`},
		{"initialize", `[]`, `{"protocolVersion":"","capabilities":{},"serverInfo":{"name":"","version":""}}`},
		{"server/discover", `{"supportedVersions":["2026-07-28",7],"capabilities":null,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n"}},"ttlMs":"x"}`,
			`{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"n","version":""}},"supportedVersions":["2026-07-28"],"capabilities":{}}`},
		{"prompts/list", `{"prompts":"x","nextCursor":8}`, `{"prompts":[]}`},
		{"resources/list", `null`, `{"resources":[]}`},
		{"resources/templates/list", `{"nextCursor":"a"}`, `{"resourceTemplates":[],"nextCursor":"a"}`},
		{"completion/complete", `{"completion":7}`, `{"completion":{"values":[]}}`},
		{"logging/setLevel", `"ok"`, `{}`},
	} {
		if got := string(minimal(c.method, []byte(c.in))); got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.method, c.in, got, c.want)
		}
	}
}

func TestServerThatClosesItsInput(t *testing.T) {
	t.Parallel()
	var s *session
	var err error
	soon(t, "Connect", func() {
		s, err = open(t, setup{program: "/bin/sh"}, "-c", "exec <&-; trap '' TERM; while :; do sleep 100; done")
	})
	var exit *ExitError
	if err == nil || !errors.As(s.stdio.Err(), &exit) || exit.Ending != "closed its standard input" {
		t.Errorf("%v, %v", err, s.stdio.Err())
	}
}
