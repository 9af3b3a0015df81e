package wire

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// later waits until f is true.
func later(tb testing.TB, what string, f func() bool) {
	tb.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if f() {
			return
		}
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
	case <-time.After(30 * time.Second):
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
	later(t, "the second answer", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.late) > 0 })
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.late) != 1 || !s.late[0].Duplicate || s.late[0].Token != "t-1" {
		t.Errorf("%+v", s.late)
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

// Code of others that panics ends what it was called for, and neither the program nor
// the connection.
func TestOthersThatPanic(t *testing.T) {
	t.Parallel()
	s := connect(t, setup{})
	a := s.call(t, bounded(t), "echo", `{"text":"x"}`, func(e *Expectation) {
		e.Before = func([]byte) error { panic("out of receipts") }
		e.Sent = func() { t.Error("it was sent") }
	})
	if a.Err == nil || !strings.Contains(a.Err.Error(), "out of receipts") {
		t.Errorf("%v", a.Err)
	}
	a = s.call(t, bounded(t), "echo", `{"text":"x"}`, func(e *Expectation) { e.Sent = func() { panic("nobody there") } })
	if a.Err != nil {
		t.Error(a.Err)
	}
	s.works(t)
	tap := NewTap(Options{Noise: func(Noise) { panic("full") }})
	defer tap.Close(nil)
	tap.In([]byte("a banner\n"))
	if count, _ := tap.NoiseSeen(); count != 1 {
		t.Errorf("%d pieces of noise", count)
	}
}

// A fault of our own while reading ends the connection, with a reason, not the program.
func TestReaderThatPanics(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	s := connect(t, setup{options: Options{Now: func() time.Time {
		if broken.CompareAndSwap(true, false) {
			panic("no clock")
		}
		return time.Now()
	}}}, "--step", "tool:say=@sleep 50ms", "--step", "tool:say=@text hello")
	var a Answer
	soon(t, "the call", func() {
		a = s.call(t, bounded(t), "say", `{}`, func(e *Expectation) { e.Sent = func() { broken.Store(true) } })
	})
	var exit *ExitError
	if !errors.As(a.Err, &exit) || !strings.Contains(exit.Ending, "failed to read") {
		t.Errorf("%v", a.Err)
	}
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

// Writing to it fails at once, and says why.
func TestServerThatClosesItsInput(t *testing.T) {
	t.Parallel()
	var s *session
	var err error
	soon(t, "Connect", func() {
		s, err = open(t, setup{program: "/bin/sh", ready: "closed"}, "-c", "exec <&-; echo closed >&2; trap '' TERM; while :; do sleep 100; done")
	})
	var exit *ExitError
	if err == nil || !errors.As(s.stdio.Err(), &exit) || exit.Ending != "closed its standard input" {
		t.Errorf("%v, %v", err, s.stdio.Err())
	}
}
