package wire

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

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

// What a server asks is held in memory until it is answered, and its id once more until
// it reads the answer; neither may add up.
func TestServerThatAsksLargely(t *testing.T) {
	t.Parallel()
	const most = 100 << 10
	answers := make(chan string, 10)
	release := make(chan struct{})
	tap := NewTap(Options{MaxFrame: most, Handle: func(context.Context, ServerRequest) (json.RawMessage, error) {
		<-release
		return json.RawMessage(`{}`), nil
	}})
	defer tap.Close(nil)
	tap.Attach(func(frame []byte) error { answers <- string(frame); return nil })
	ask := func(id, method string, size int) {
		tap.In([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{"message":"` + strings.Repeat("x", size) + `"}}`))
	}
	next := func() string {
		select {
		case a := <-answers:
			return a
		case <-time.After(5 * time.Second):
			t.Fatal("no answer")
			return ""
		}
	}
	ask("1", "elicitation/create", most*6/10)
	ask("2", "elicitation/create", most*6/10)
	if got := next(); !strings.Contains(got, `"id":2`) || !strings.Contains(got, "larger than") {
		t.Errorf("the second large request: %s", got)
	}
	close(release)
	next()
	later(t, "room for a large request", func() bool {
		ask("3", "elicitation/create", most*6/10)
		return !strings.Contains(next(), "error")
	})
	ask(`"`+strings.Repeat("i", maxRequestID)+`"`, "ping", 0)
	ask("5", "ping", 0)
	if got := next(); got != `{"jsonrpc":"2.0","id":5,"result":{}}` {
		t.Errorf("the id of a kilobyte was sent back: %.100s", got)
	}
	if count, first := tap.NoiseSeen(); count != 1 || !strings.Contains(first, "ping") {
		t.Errorf("%d pieces of noise, %.100s", count, first)
	}
}

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
	for _, token := range []string{"t2", "t3", "t4"} {
		other, err := tap.Expect(Expectation{Token: token})
		if err != nil {
			t.Fatal(err)
		}
		defer other.Release()
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

// A caller that has gone, because it was stopped or its time was over, has been told whether its request may have
// left. The library may only then come to write it.
func TestWithdrawnRequestNeverLeaves(t *testing.T) {
	t.Parallel()
	tap := NewTap(Options{})
	defer tap.Close(nil)
	frame := func(id, token string) []byte {
		return []byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":"` + token + `"}}}`)
	}
	asked := 0
	before := func([]byte) error { asked++; return nil }
	refuses := func(what string, id, token string) {
		t.Helper()
		if out, err := tap.Out(frame(id, token)); err == nil || asked != 0 {
			t.Errorf("%s left: %+v, asked %d times", what, out, asked)
		}
	}
	withdrawn, err := tap.Expect(Expectation{Token: "a", Before: before})
	if err != nil {
		t.Fatal(err)
	}
	if withdrawn.Withdraw() {
		t.Error("it is said to have left")
	}
	refuses("a withdrawn call", "1", "a")
	withdrawn.Release()
	refuses("a released call", "2", "a")
	refuses("a call that was never announced", "3", "never")
	if _, err := tap.Out([]byte(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"x"}}`)); err == nil {
		t.Error("a call without a token left")
	}

	// Withdrawn while it is being decided, it has left or it has not; the answer waits until that is known.
	entered, leave := make(chan struct{}), make(chan struct{})
	racing, err := tap.Expect(Expectation{Token: "b", Before: func([]byte) error { close(entered); <-leave; return nil }})
	if err != nil {
		t.Fatal(err)
	}
	defer racing.Release()
	sent := make(chan error, 1)
	go func() { _, err := tap.Out(frame("5", "b")); sent <- err }()
	<-entered
	told := make(chan bool, 1)
	go func() { told <- racing.Withdraw() }()
	close(leave)
	if err, started := <-sent, <-told; err != nil || !started {
		t.Errorf("sent: %v, said to have left: %v", err, started)
	}
	if _, err := tap.Out(frame("6", "b")); err == nil {
		t.Error("it left twice")
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

func TestLastProgressIsNotLost(t *testing.T) {
	t.Parallel()
	note := `tool:work=@repeat 3000 {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1,"total":9}}`
	last := `tool:work={"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":9,"total":9,"message":"last"}}`
	s := connect(t, setup{}, "--step", note, "--step", last, "--step", "tool:work=@wait tools/call", "--step", "tool:work=@text done")
	var mu sync.Mutex
	var got []Progress
	seen := make(chan struct{})
	done := make(chan string, 1)
	go func() {
		done <- textOf(t, s.call(t, bounded(t), "work", `{}`, func(e *Expectation) {
			e.Progress = func(p Progress) {
				mu.Lock()
				defer mu.Unlock()
				if got = append(got, p); p.Message == "last" {
					close(seen)
				}
			}
		}))
	}()
	select {
	case <-seen: // while the call still runs
	case <-bounded(t).Done():
		t.Fatal("the last report was lost")
	}
	s.works(t) // which the server waits for
	<-done
	mu.Lock()
	defer mu.Unlock()
	if len(got) > 1500 {
		t.Errorf("%d reports were handed on", len(got))
	}
}

func TestLastProgressComesBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	note := `tool:work=@repeat 500 {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1}}`
	last := `tool:work={"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":9}}`
	s := connect(t, setup{}, "--step", note, "--step", last, "--step", "tool:work=@text done")
	var got []Progress
	textOf(t, s.call(t, bounded(t), "work", `{}`, func(e *Expectation) { e.Progress = func(p Progress) { got = append(got, p) } }))
	if len(got) == 0 || got[len(got)-1].Value != 9 {
		t.Errorf("%d reports, the last %v", len(got), got[max(0, len(got)-1):])
	}
}
