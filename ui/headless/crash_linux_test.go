package headless

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"steward/testdata/scriptedmodel"
)

// watched is a command's stdout as it grows.
type watched struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.buf.String()
}

// interrupted starts a command, sends it a signal as soon as its stdout shows text, and
// waits for it.
func interrupted(t testing.TB, cmd *exec.Cmd, text string, sig os.Signal) result {
	t.Helper()
	return interruptedWhen(t, cmd, func(out string) bool { return strings.Contains(out, text) }, sig)
}

// interruptedWhen is interrupted at a moment that ready recognises.
func interruptedWhen(t testing.TB, cmd *exec.Cmd, ready func(out string) bool, sig os.Signal) result {
	t.Helper()
	var out watched
	var errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	limit := time.After(20 * time.Second)
	for !ready(out.String()) {
		select {
		case <-look.C:
		case err := <-done:
			t.Fatalf("it ended (%v) before the moment came: %s%s", err, &out, &errOut)
		case <-limit:
			cmd.Process.Kill()
			<-done
			t.Fatalf("the moment never came: %s%s", &out, &errOut)
		}
	}
	if err := cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	<-done
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// inCall says that a server which records what it is sent has been sent a call.
func inCall(file string) func(string) bool {
	return func(string) bool {
		seen, err := os.ReadFile(file)
		return err == nil && bytes.Contains(seen, []byte(`"tools/call"`))
	}
}

// alive says whether the process whose id stands in a file still runs.
func alive(t testing.TB, file string) bool {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for range 40 {
		if syscall.Kill(pid, 0) != nil {
			return false
		}
		// One that has ended stays a zombie until its new parent looks at it.
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && bytes.Contains(stat, []byte(") Z ")) {
			return false
		}
		time.Sleep(50 * time.Millisecond)
	}
	return true
}

// next starts the program once more in the folder and returns what it says.
func next(t testing.TB, data, servers string, more ...string) (*scriptedmodel.Server, []line) {
	t.Helper()
	m, flags := model(t, scriptedmodel.Say("Here again."))
	r := steward(t, with(flags, append([]string{"ask", "go on", "--data", data, "--servers", servers, "--events"}, more...)...)...).mustExit(t, 0)
	return m, lines(t, r.out)
}

func TestKilledInTheMiddleOfACall(t *testing.T) {
	t.Parallel()
	data, seen := t.TempDir(), t.TempDir()+"/seen"
	servers := serversFile(t, scripted("--record", seen))
	_, flags := model(t, scriptedmodel.CallTool("never", `{"mail":"boss"}`))
	r := interruptedWhen(t, prepared(t, with(flags, "ask", "send it", "--data", data, "--servers", servers, "--consent", "allow", "--events")...), inCall(seen), syscall.SIGKILL)
	conversation := one(t, lines(t, whole(r.out)), "turn_start").str("conversation")
	m, all := next(t, data, servers, "--conversation", conversation)
	told := false
	for _, n := range only(all, "notice") {
		told = told || n.str("kind") == "recovered"
	}
	if !told {
		t.Errorf("the next start does not tell what is left open:\n%s", texts(all))
	}
	rec := lastCallOf(t, data)
	if rec.str("outcome") != "unknown" || rec.str("effect") != "unknown" || rec.str("decision") != "allowed" {
		t.Errorf("record: %s", rec.text)
	}
	if !bytes.Contains(m.Requests()[0].Body, []byte("may or may not")) {
		t.Errorf("the model is not told: %s", m.Requests()[0].Body)
	}
	if p := m.Problems(); len(p) > 0 {
		t.Errorf("the conversation cannot go on: %v", p)
	}
	steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
}

// whole drops a line that the kill has cut.
func whole(out string) string { return out[:strings.LastIndexByte(out, '\n')+1] }

func lastCallOf(t testing.TB, data string) line {
	t.Helper()
	return array(t, steward(t, "journal", "list", "--json", "--kind", "call", "--data", data).mustExit(t, 0).out)[0]
}

// A call that nobody had decided when the program was killed was never sent, and is
// not asked again by itself.
func TestKilledWhileAskedIsWithdrawn(t *testing.T) {
	t.Parallel()
	data, servers := t.TempDir(), serversFile(t, minimal())
	_, flags := model(t, oneCallThen("Never.")...)
	d := talk(t, prepared(t, with(flags, "ask", "go", "--data", data, "--servers", servers)...))
	d.waitFor(question)
	if err := d.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	d.end(-1)
	next(t, data, servers)
	if rec := lastCallOf(t, data); rec.str("outcome") != "withdrawn" || rec.str("effect") != "none" {
		t.Errorf("record: %s", rec.text)
	}
}

func TestKilledInTheMiddleOfAStream(t *testing.T) {
	t.Parallel()
	data, servers := t.TempDir(), serversFile(t, minimal())
	half := scriptedmodel.Reply(scriptedmodel.Text("The first half of an answer"))
	half.End = "hang"
	_, flags := model(t, half)
	r := interrupted(t, prepared(t, with(flags, "ask", "go", "--data", data, "--servers", servers, "--events")...), "The first half", syscall.SIGKILL)
	conversation := one(t, lines(t, whole(r.out)), "turn_start").str("conversation")
	m, _ := next(t, data, servers, "--conversation", conversation)
	if p := m.Problems(); len(p) > 0 {
		t.Errorf("the conversation cannot go on: %v", p)
	}
	for _, rec := range array(t, steward(t, "journal", "list", "--json", "--data", data).mustExit(t, 0).out) {
		if o := rec.str("outcome"); o == "waiting" || o == "running" {
			t.Errorf("still open: %s", rec.text)
		}
	}
}

// Killed at any moment of a busy turn, the folder opens, the chain holds, nothing is
// left open, and no call that the server has seen is missing from the record.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for i := range 6 {
		seen := fmt.Sprintf("%s/seen-%d", t.TempDir(), i)
		servers := serversFile(t, scripted("--only", "echo", "--record", seen))
		m := scriptedmodel.StartScript(t, scriptedmodel.Script{Rounds: &scriptedmodel.Rounds{N: 300, Tool: "echo", Arguments: []byte(`{"text":"{{n}}"}`)}})
		cmd := prepared(t, "ask", "go", "--base-url", m.URL(), "--model", "fake", "--data", data, "--servers", servers, "--consent", "allow", "--max-rounds", "400", "--events")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(40+rand.IntN(300)) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait() //nolint:errcheck // it was killed
		next(t, data, serversFile(t, scripted("--only", "echo")))
		steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
		calls := array(t, steward(t, "journal", "list", "--json", "--kind", "call", "--limit", "5000", "--data", data).mustExit(t, 0).out)
		for _, rec := range calls {
			if o := rec.str("outcome"); o == "waiting" || o == "running" {
				t.Errorf("still open: %s", rec.text)
			}
		}
		got, err := os.ReadFile(seen)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if sent := bytes.Count(got, []byte(`"tools/call"`)); sent > count(calls, func(l line) bool { return l.str("outcome") == "ok" || l.str("outcome") == "unknown" }) {
			t.Errorf("the server saw %d calls in this run alone; the record has fewer", sent)
		}
	}
}

func count(all []line, f func(line) bool) int {
	n := 0
	for _, l := range all {
		if f(l) {
			n++
		}
	}
	return n
}

// A killed run leaves nothing in the system's folder for temporary files, and what it left in
// the data folder is removed by the next one.
func TestAKilledRunLeavesNoFolderBehind(t *testing.T) {
	t.Parallel()
	data, tmp, seen := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "seen")
	servers := serversFile(t, scripted("--record", seen, "--step", "tool:slow=@sleep 60s"))
	cmd := prepared(t, "call", "s", "slow", "{}", "--consent", "allow", "--data", data, "--servers", servers)
	cmd.Env = append(cmd.Env, "TMPDIR="+tmp)
	interruptedWhen(t, cmd, inCall(seen), syscall.SIGKILL)
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("in the folder for temporary files: %v (%v)", left, err)
	}
	if left, err := os.ReadDir(filepath.Join(data, "work")); err != nil || len(left) != 1 {
		t.Errorf("this test kills too early or too late: %v (%v)", left, err)
	}
	steward(t, "tools", "--data", data).mustExit(t, 0)
	if _, err := os.Stat(filepath.Join(data, "work")); !os.IsNotExist(err) {
		t.Errorf("the next run left it there: %v", err)
	}
}
