package mcphost_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

// TestEras starts servers that meet server/discover in every way seen.
func TestEras(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		flags    []string
		protocol string
	}{
		{"refuses discover", nil, "2025-11-25"},
		{"ignores discover", []string{"--discover", "ignore"}, "2025-11-25"},
		{"exits on discover", []string{"--discover", "exit"}, "2025-11-25"},
		{"answers discover", []string{"--discover", "answer"}, "2026-07-28"},
		{"answers discover with nothing", []string{"--discover", "empty"}, "2025-11-25"},
		{"answers discover with an error without id", []string{"--discover", "null-id"}, "2025-11-25"},
		{"speaks an old version alone", []string{"--protocol", "2024-11-05"}, "2024-11-05"},
		{"blocks on discover for ever", []string{"--step", "server/discover=@stop-reading"}, "2025-11-25"},
		{"refuses discover in another way", []string{"--step", "server/discover=@error -32602 no"}, "2025-11-25"},
		{"breaks after it refused discover", []string{
			"--step", "server/discover=@error -32600 not initialized", "--step", "server/discover=@sleep 5ms", "--step", "server/discover=@exit 1",
		}, "2025-11-25"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, w := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, trial.Scripted("s", tt.flags...))
			if c.Protocol() != tt.protocol {
				t.Errorf("Protocol() = %q, want %q", c.Protocol(), tt.protocol)
			}
			// One of them may end once more after the handshake, and is started again then.
			for end := time.Now().Add(20 * time.Second); c.State() != mcphost.StateReady && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			if c.State() != mcphost.StateReady {
				t.Errorf("State() = %q", c.State())
			}
			if len(c.Tools()) < 10 || c.Tools()[0].Name != "echo" {
				t.Errorf("Tools() = %s", trial.Names(c.Tools()))
			}
			if info := c.Info(); info.Name != "scripted" || info.Instructions != "Scripted." || info.InstructionsHash == "" {
				t.Errorf("Info() = %+v", info)
			}
			ready := trial.Wait(t, w, func(s mcphost.StateChanged) bool { return s.State == mcphost.StateReady })
			if ready.Protocol != tt.protocol || ready.Tools != len(c.Tools()) {
				t.Errorf("observed %+v", ready)
			}
		})
	}
}

// TestEraIsRemembered checks that a server that was hurt by server/discover is
// not asked it again.
func TestEraIsRemembered(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--discover", "exit", "--record", record))
	if err := c.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	lines, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(lines), "server/discover"); n != 1 {
		t.Errorf("server/discover was sent %d times:\n%s", n, lines)
	}
	if n := strings.Count(string(lines), `"initialize"`); n != 2 {
		t.Errorf("initialize was sent %d times:\n%s", n, lines)
	}
}

// TestUnsupportedVersionIsFinal checks that -32022 is not followed by initialize.
func TestUnsupportedVersionIsFinal(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	h, _ := trial.Host(t, mcphost.Options{})
	_, err := h.Connect(t.Context(), trial.Scripted("s", "--record", record, "--step",
		`server/discover={"jsonrpc":"2.0","id":${id},"error":{"code":-32022,"message":"unsupported","data":{"supported":["2027-01-01"],"requested":"2026-07-28"}}}`))
	var se *mcphost.StartError
	if !errors.As(err, &se) || se.Stage != mcphost.StageHandshake {
		t.Fatalf("err = %v", err)
	}
	if !strings.Contains(se.Message, "2027-01-01") || !strings.Contains(se.Message, "2026-07-28") {
		t.Errorf("the message does not name both versions: %s", se.Message)
	}
	lines, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(lines), "initialize") {
		t.Errorf("initialize was sent:\n%s", lines)
	}
}

// TestStartErrors checks that a start that fails says where, why and what to do.
func TestStartErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	tests := []struct {
		name  string
		cfg   mcphost.ServerConfig
		stage string
		want  []string
		code  int
	}{
		{"no such program", mcphost.ServerConfig{Command: "no-such-program-here"}, mcphost.StageProgram, []string{"no-such-program-here", "PATH"}, 0},
		{"nothing to run", mcphost.ServerConfig{}, mcphost.StageProgram, []string{"command"}, 0},
		{"a folder", mcphost.ServerConfig{Command: dir}, mcphost.StageProgram, []string{dir}, 0},
		{"no working folder", mcphost.ServerConfig{Command: "sh", Cwd: filepath.Join(dir, "none")}, mcphost.StageProgram, []string{"none"}, 0},
		{"exits at once", mcphost.ServerConfig{Command: "sh", Args: []string{"-c", "echo 'no such db: /x.db' >&2; exit 3"}}, mcphost.StageStart,
			[]string{"no such db: /x.db", "exit status 3"}, 3},
		{"closes its output", trial.Scripted("s", "--step", "initialize=@close-stdout", "--step", "initialize=@wait nothing"), mcphost.StageStart, nil, -1},
		{"never answers", with(trial.Scripted("s", "--step", "server/discover=@wait nothing", "--step", "initialize=@wait nothing", "--start", "@stderr thinking"), time.Second),
			mcphost.StageHandshake, []string{"within 1s", "thinking"}, 0},
		{"nothing but noise", with(mcphost.ServerConfig{Command: "sh", Args: []string{"-c", "while echo it is me; do sleep 0.1; done"}}, time.Second),
			mcphost.StageHandshake, []string{"it is me"}, 0},
		{"unknown version", trial.Scripted("s", "--answer", "1999-01-01"), mcphost.StageHandshake, []string{"1999-01-01", "2025-11-25"}, 0},
		{"no version", trial.Scripted("s", "--step", `initialize=@result {"capabilities":{}}`), mcphost.StageHandshake, []string{"(none)", "2025-11-25"}, 0},
		{"a version that is a number", trial.Scripted("s", "--step", `initialize=@result {"protocolVersion":20250618}`), mcphost.StageHandshake, []string{"(none)", "2025-11-25"}, 0},
		{"nothing for an answer", trial.Scripted("s", "--step", "initialize=@result null"), mcphost.StageHandshake, []string{"(none)", "2025-11-25"}, 0},
		{"neither result nor error", trial.Scripted("s", "--step", `initialize={"jsonrpc":"2.0","id":${id}}`), mcphost.StageHandshake, []string{"neither a result nor an error"}, 0},
		{"initialize refused", trial.Scripted("s", "--step", "initialize=@error -32000 no licence"), mcphost.StageHandshake, []string{"no licence"}, 0},
		{"the list is never answered", with(trial.Scripted("s", "--step", "tools/list=@wait nothing"), time.Second), mcphost.StageList, []string{"tools/list"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, w := trial.Host(t, mcphost.Options{})
			tt.cfg.ID = "broken"
			_, err := h.Connect(t.Context(), tt.cfg)
			var se *mcphost.StartError
			if !errors.As(err, &se) {
				t.Fatalf("err = %v, want a StartError", err)
			}
			if se.Stage != tt.stage {
				t.Errorf("Stage = %q, want %q (%v)", se.Stage, tt.stage, err)
			}
			if se.ExitCode != tt.code {
				t.Errorf("ExitCode = %d, want %d", se.ExitCode, tt.code)
			}
			for _, want := range append(tt.want, "broken") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
			failed := trial.Wait(t, w, func(s mcphost.StateChanged) bool { return s.State == mcphost.StateFailed })
			if failed.Err == nil {
				t.Error("the failure was observed without its reason")
			}
			if n := len(h.Connections()); n != 1 || h.Connections()[0].State() != mcphost.StateFailed {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func with(cfg mcphost.ServerConfig, start time.Duration) mcphost.ServerConfig {
	cfg.StartTimeout = start
	return cfg
}

// TestConnectShares checks that one server is started once, however many ask.
func TestConnectShares(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	h, _ := trial.Host(t, mcphost.Options{})
	cfg := trial.Scripted("s", "--record", record)
	var wg sync.WaitGroup
	got := make([]*mcphost.Connection, 8)
	for i := range got {
		wg.Go(func() { got[i] = trial.Connect(t, h, cfg) })
	}
	wg.Wait()
	for _, c := range got {
		if c != got[0] {
			t.Error("two connections were made")
		}
	}
	lines, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(lines), `"initialize"`); n != 1 {
		t.Errorf("initialize was sent %d times", n)
	}
	cfg.Roots = []string{t.TempDir()}
	if c := trial.Connect(t, h, cfg); c == got[0] {
		t.Error("another set of roots shares the connection")
	}
	if n := len(h.Connections()); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// TestFailedStartIsNotRepeated has several wait for one start that fails: it is then over
// for all of them, and nothing starts the server again by itself.
func TestFailedStartIsNotRepeated(t *testing.T) {
	t.Parallel()
	h, w := trial.Host(t, mcphost.Options{})
	cfg := trial.Scripted("s", "--start", "@sleep 500ms", "--start", "@exit 3")
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if _, err := h.Connect(t.Context(), cfg); err == nil {
				t.Error("it started")
			}
		})
	}
	all.Wait()
	time.Sleep(300 * time.Millisecond) // in which it would be started again
	for _, c := range h.Connections() {
		if err := c.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	n := 0
	for _, o := range w.Seen() {
		if s, ok := o.(mcphost.StateChanged); ok && s.State == mcphost.StateStarting {
			n++
		}
	}
	if n != 1 {
		t.Errorf("it was started %d times", n)
	}
}

// TestStartOutlivesItsContext checks that neither the start nor the connection
// depends on the context of Connect.
func TestStartOutlivesItsContext(t *testing.T) {
	t.Parallel()
	h, w := trial.Host(t, mcphost.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	cfg := trial.Scripted("s", "--start", "@sleep 150ms")
	if _, err := h.Connect(ctx, cfg); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("err = %v", err)
	}
	trial.Wait(t, w, func(s mcphost.StateChanged) bool { return s.State == mcphost.StateReady })
	ctx, cancel = context.WithCancel(t.Context())
	c, err := h.Connect(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCloseIsBounded closes servers that do not want to end.
func TestCloseIsBounded(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	for _, id := range []string{"a", "b", "c"} {
		trial.Connect(t, h, trial.Scripted(id, "--ignore-end", "--name", id))
	}
	begun := time.Now()
	if err := h.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if d := time.Since(begun); d > 3*time.Second {
		t.Errorf("closing took %s", d)
	}
	if _, err := h.Connect(t.Context(), trial.Scripted("d")); !errors.Is(err, mcphost.ErrClosed) {
		t.Errorf("Connect after Close: %v", err)
	}
}

// TestRestartAfterExit checks that a server that ended is started again when it
// is next needed, and by itself.
func TestRestartAfterExit(t *testing.T) {
	t.Parallel()
	h, w := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--step", "ping=@stderr giving up", "--step", "ping=@exit 7"))
	if err := c.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("Ping = %v", err)
	}
	exited := trial.Wait(t, w, func(mcphost.Exited) bool { return true })
	if exited.Code != 7 || !strings.Contains(exited.Stderr, "giving up") {
		t.Errorf("observed %+v", exited)
	}
	if _, err := c.Prompts(t.Context()); err != nil {
		t.Errorf("the next use did not start it again: %v", err)
	}
	if !strings.Contains(c.Protocol(), "2025") || c.State() != mcphost.StateReady {
		t.Errorf("state %s, protocol %q", c.State(), c.Protocol())
	}
}

// TestCrashLoopEnds checks that a server that keeps crashing is left alone.
func TestCrashLoopEnds(t *testing.T) {
	t.Parallel()
	h, w := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--step", "ping=@exit 1"))
	for range 6 {
		if err := c.Ping(t.Context()); err == nil {
			t.Fatal("the ping was answered")
		}
		trial.Wait(t, w, func(s mcphost.StateChanged) bool { return s.State == mcphost.StateFailed })
	}
	left := trial.Wait(t, w, func(s mcphost.StateChanged) bool { return strings.Contains(s.Detail, "left alone") })
	if left.State != mcphost.StateFailed {
		t.Errorf("observed %+v", left)
	}
	var pauses []string
	for _, o := range w.Seen() {
		if s, ok := o.(mcphost.StateChanged); ok && strings.HasPrefix(s.Detail, "it is started again in ") {
			pauses = append(pauses, strings.TrimPrefix(s.Detail, "it is started again in "))
		}
	}
	if got := strings.Join(pauses, " "); got != "1s 2s 4s 8s 16s" {
		t.Errorf("the pauses were %s", got)
	}
	begun := time.Now()
	if err := c.Ping(t.Context()); err == nil || time.Since(begun) > time.Second {
		t.Errorf("it was started again: %v", err)
	}
	if err := c.Restart(t.Context()); err != nil {
		t.Errorf("Restart: %v", err)
	}
}

// TestMinimalServer connects to the smallest server found in the wild.
func TestMinimalServer(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "minimalserver")
	if out, err := exec.Command("go", "build", "-o", bin, "steward/testdata/minimalserver").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	h, w := trial.Host(t, mcphost.Options{})
	begun := time.Now()
	c := trial.Connect(t, h, mcphost.ServerConfig{ID: "weekly-report", Command: bin})
	if d := time.Since(begun); d > time.Second {
		t.Errorf("it took %s to start", d)
	}
	if c.Protocol() != "2024-11-05" || trial.Names(c.Tools()) != "get_weekly_report" {
		t.Errorf("protocol %q, tools %s", c.Protocol(), trial.Names(c.Tools()))
	}
	noise := trial.Wait(t, w, func(mcphost.Noise) bool { return true })
	if !strings.Contains(noise.Line, "周报服务已启动") {
		t.Errorf("noise %+v", noise)
	}
}

// TestAHintIsNoPartOfWhatAServerWrote keeps the two apart.
func TestAHintIsNoPartOfWhatAServerWrote(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{"It ended.": "It ended. Look at it.", "It ended.\nIt wrote: {": "It ended.\nIt wrote: {\nLook at it."} {
		if got := (&mcphost.StartError{Server: "s", Message: message, Hint: "Look at it."}).Error(); got != `server "s" did not start: `+want {
			t.Errorf("%q", got)
		}
	}
}
