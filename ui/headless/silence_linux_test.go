package headless

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"steward/app/event"
	"steward/testdata/scriptedmodel"
)

// A silence is explained, once: which model is waited for, and which servers.
func TestASilenceIsExplained(t *testing.T) {
	t.Parallel()
	hang := scriptedmodel.Reply()
	hang.End = "hang"
	m, flags := model(t, hang)
	r := interruptedAfter(t, 5*time.Second, with(flags, "ask", "go", "--data", t.TempDir(), "--servers", serversFile(t, minimal()))...)
	host := strings.TrimSuffix(strings.TrimPrefix(m.URL(), "http://"), "/v1")
	if want := "waiting for the model at " + host + "… Ctrl+C stops"; strings.Count(r.errOut, want) != 1 {
		t.Errorf("stderr does not say %q once: %s", want, r.errOut)
	}
	_, flags = model(t, scriptedmodel.Say("Never."))
	slow := map[string]any{"command": binaries.scripted, "args": []string{"--start", "@sleep 30s"}}
	r = interruptedAfter(t, 4*time.Second, with(flags, "ask", "go", "--data", t.TempDir(), "--servers", serversFile(t, map[string]any{"one": slow, "two": slow}))...)
	if strings.Count(r.errOut, "waiting for 2 servers: one, two…") != 1 {
		t.Errorf("stderr: %s", r.errOut)
	}
}

func interruptedAfter(t *testing.T, d time.Duration, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	cmd := exec.CommandContext(ctx, binaries.steward, args...)
	cmd.Env, cmd.WaitDelay = environment(t), 20*time.Second
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	return finish(t, cmd)
}

// A flood of progress is shown as a few lines, the last of them always.
func TestProgressIsShownInMeasure(t *testing.T) {
	t.Parallel()
	servers := scripted("--step", "tool:p=@progress 500 2ms", "--step", "tool:p=@text done")
	r := steward(t, "call", "s", "p", "--consent", "allow", "--data", t.TempDir(), "--servers", serversFile(t, servers)).mustExit(t, 0)
	if n := strings.Count(r.errOut, " of 500 step "); n < 2 || n > 8 {
		t.Errorf("%d lines of progress: %s", n, r.errOut)
	}
	var errOut strings.Builder
	o := &output{out: io.Discard, err: &errOut}
	for i := range 100 {
		o.on(event.Progress{Call: "k", Progress: float64(i), Message: "of one"})
		o.on(event.Progress{Call: "l", Progress: float64(i), Message: "of another"})
	}
	o.on(event.Result{Call: "k", Outcome: "ok"})
	if want := "  0 of one\n  0 of another\n  99 of one\n  ok after"; !strings.HasPrefix(errOut.String(), want) {
		t.Errorf("got %q, want %q…", errOut.String(), want)
	}
}

// The line that announces a call stays short; JSON lines hold every byte.
func TestTheCallLineIsCut(t *testing.T) {
	t.Parallel()
	args := `{"text":"` + strings.Repeat("x", 100_000) + `"}`
	servers := serversFile(t, scripted("--only", "echo"))
	r := steward(t, "call", "s", "echo", args, "--data", t.TempDir(), "--servers", servers).mustExit(t, 5)
	if len(r.errOut) > 2000 || !strings.Contains(r.errOut, "100,011 bytes in all: steward journal show") {
		t.Errorf("stderr: %.3000s", r.errOut)
	}
	all := lines(t, steward(t, "call", "s", "echo", args, "--events", "--data", t.TempDir(), "--servers", servers).mustExit(t, 5).out)
	if one(t, all, "call").str("arguments") != args {
		t.Error("the JSON line does not hold the arguments")
	}
}

// Who reads along is told how the conversation goes on; a reader that goes away hears
// nothing of it.
func TestHowAConversationGoesOn(t *testing.T) {
	t.Parallel()
	_, flags := model(t, scriptedmodel.Say("Hello."), scriptedmodel.Say("Hello again."))
	data := t.TempDir() + "/with a blank"
	d := talk(t, prepared(t, with(flags, "ask", "hello", "--data", data, "--servers", serversFile(t, minimal()))...))
	line := d.end(0)
	_, line, found := strings.Cut(line, "to go on: steward ")
	if !found || !strings.Contains(line, "--conversation c_") || !strings.Contains(line, " --data '"+data+"' ") {
		t.Fatalf("stderr: %s", line)
	}
	words := strings.ReplaceAll(strings.ReplaceAll(strings.TrimSpace(line), "\r\n", " "), "\"…\"", "again")
	cmd := prepared(t)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", "'" + binaries.steward + "' " + words}
	if r := finish(t, cmd).mustExit(t, 0); r.out != "Hello again.\n" || strings.Contains(r.errOut, "to go on") {
		t.Errorf("%q %s", r.out, r.errOut)
	}
}

func TestAReaderThatStopsHearsNothing(t *testing.T) {
	t.Parallel()
	_, flags := model(t, scriptedmodel.Reply(scriptedmodel.Text("One.\n"), scriptedmodel.Text("Two.\n"), scriptedmodel.Finish("stop"), scriptedmodel.Done()))
	cmd := prepared(t, with(flags, "ask", "hello", "--data", t.TempDir(), "--servers", serversFile(t, minimal()))...)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	cmd.Stdout = w
	d := talk(t, cmd)
	w.Close()
	cmd.Wait() //nolint:errcheck // looked at below
	d.master.Close()
	<-d.done
	screen := d.seen.String()
	if code := cmd.ProcessState.ExitCode(); code != 1 && code != 3 || strings.Contains(screen, "pipe") || strings.Contains(screen, "stopped.") || strings.Contains(screen, "to go on") {
		t.Errorf("exit status %d: %s", code, screen)
	}
}

// Many servers that nobody has reviewed are one notice, and one command reviews several.
func TestManyUnreviewedServers(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	servers := map[string]any{}
	for i := range 100 {
		servers[fmt.Sprintf("server-%03d", i)] = map[string]any{"command": binaries.minimal}
	}
	writeServers(t, filepath.Join(data, "servers.json"), servers)
	_, flags := model(t, scriptedmodel.Say("Hello."))
	for _, args := range [][]string{with(flags, "ask", "hello", "--data", data), {"tools", "--data", data}} {
		r := steward(t, args...).mustExit(t, 0)
		if strings.Count(r.errOut, "Notice:") != 1 || !strings.Contains(r.errOut, "100 servers are not used") || !strings.Contains(r.errOut, "server-000, server-001, server-002, server-003, server-004 and 95 more") {
			t.Errorf("%v: %s", args, r.errOut)
		}
	}
	r := steward(t, "servers", "trust", "server-001", "no-such", "server-002", "--data", data).mustExit(t, 1).mustSay(t, "no-such")
	if strings.Count(r.out, "trusted as it is now") != 2 {
		t.Errorf("stdout: %s", r.out)
	}
}

// Arguments from stdin leave the terminal to the person; without one, a denial says how
// somebody can be asked.
func TestArgumentsFromStdin(t *testing.T) {
	t.Parallel()
	servers := serversFile(t, scripted("--only", "echo"))
	args := []string{"call", "s", "echo", "-", "--data", t.TempDir(), "--servers", servers}
	cmd := prepared(t, args...)
	cmd.Stdin = strings.NewReader(`{"n":1}`)
	d := talk(t, cmd)
	d.waitFor(question)
	d.answer("y")
	d.end(0)
	cmd = prepared(t, args...)
	cmd.Stdin = io.MultiReader(strings.NewReader(`{"n":1}`))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	finish(t, cmd).mustExit(t, 5).mustSay(t, "no terminal to ask on", "--consent")
}
