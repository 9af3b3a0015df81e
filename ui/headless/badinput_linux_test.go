package headless

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"steward/testdata/scriptedmodel"
)

// snapshot says what stands in a folder: names, modes, times and contents. Files that
// only exist while a database is open are left out.
func snapshot(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, "-wal") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s %s %x\n", path, info.Mode(), info.ModTime().Format(time.RFC3339Nano), sha256.Sum256(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A list of servers that cannot be read is told by line; the model still answers, and
// the file stays as it is.
func TestWrongJSONInTheServersFile(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	path := filepath.Join(data, "servers.json")
	if err := os.WriteFile(path, []byte("{\"mcpServers\": {\n  \"a\": {\"command\": \"x\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, flags := model(t, scriptedmodel.Say("I am here."))
	r := steward(t, with(flags, "ask", "hello", "--data", data)...).mustExit(t, 0).mustSay(t, "servers.json", "line")
	if r.out != "I am here.\n" {
		t.Errorf("stdout: %q", r.out)
	}
	for _, args := range [][]string{{"servers", "list"}, {"doctor"}} {
		steward(t, append(args, "--data", data)...).mustExit(t, 1).mustSay(t, "servers.json", "line")
	}
	steward(t, "tools", "--servers", path, "--data", data).mustExit(t, 1).mustSay(t, "servers.json", "line")
	steward(t, "tools", "--servers", filepath.Join(data, "none.json"), "--data", data).mustExit(t, 1).mustSay(t, "none.json")
	if after, err := os.ReadFile(path); err != nil || !strings.HasPrefix(string(after), "{\"mcpServers\": {\n  \"a\"") {
		t.Errorf("the file was changed: %s, %v", after, err)
	}
}

func TestADeadEndpointAndAWrongKey(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	dead := "http://" + l.Addr().String() + "/v1"
	l.Close()
	servers := serversFile(t, minimal())
	t.Run("dead", func(t *testing.T) {
		t.Parallel()
		r := steward(t, "ask", "hello", "--base-url", dead, "--model", "m", "--data", t.TempDir(), "--servers", servers).mustExit(t, 1)
		r.mustSay(t, strings.TrimSuffix(strings.TrimPrefix(dead, "http://"), "/v1"))
	})
	t.Run("wrong key", func(t *testing.T) {
		t.Parallel()
		m := scriptedmodel.StartScript(t, scriptedmodel.Script{Token: "right", Steps: []scriptedmodel.Step{scriptedmodel.Say("hello")}})
		data := t.TempDir()
		cmd := prepared(t, "ask", "hello", "--base-url", m.URL(), "--model", "m", "--api-key-env", "THE_KEY", "--data", data, "--servers", servers)
		cmd.Env = append(cmd.Env, "THE_KEY=SENTINEL-wrong-key-0123456789")
		r := finish(t, cmd).mustExit(t, 1).mustSay(t, "key")
		if strings.Contains(r.out+r.errOut, "SENTINEL") {
			t.Errorf("the key is shown: %s%s", r.out, r.errOut)
		}
		mustNotHold(t, data, "SENTINEL")
	})
	t.Run("right key", func(t *testing.T) {
		t.Parallel()
		m := scriptedmodel.StartScript(t, scriptedmodel.Script{Token: "right", Steps: []scriptedmodel.Step{scriptedmodel.Say("hello")}})
		cmd := prepared(t, "ask", "hello", "--base-url", m.URL(), "--model", "m", "--api-key-env", "THE_KEY", "--data", t.TempDir(), "--servers", servers)
		cmd.Env = append(cmd.Env, "THE_KEY=right")
		finish(t, cmd).mustExit(t, 0)
	})
	t.Run("no key in the variable", func(t *testing.T) {
		t.Parallel()
		m := scriptedmodel.Start(t, scriptedmodel.Say("hello"))
		steward(t, "ask", "hello", "--base-url", m.URL(), "--model", "m", "--api-key-env", "NOT_SET_AT_ALL", "--data", t.TempDir(), "--servers", servers).mustExit(t, 0).mustSay(t, "NOT_SET_AT_ALL")
	})
}

// mustNotHold looks for text in every file below a folder.
func mustNotHold(t testing.TB, dir, text string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			t.Errorf("%s holds %q", path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// What servers are configured with in the clear reaches them, and nothing else.
func TestSecretsOfServersStayOutOfTheRecord(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	servers := serversFile(t, map[string]any{"s": map[string]any{"command": "sh",
		"args": []string{"-c", `echo "token $API_TOKEN" >&2; echo "noise $API_TOKEN"; exec "$0"`, binaries.minimal, "--api-key=SENTINEL-2-abcdefgh"},
		"env":  map[string]string{"API_TOKEN": "SENTINEL-1-abcdefgh"}}})
	r := steward(t, "call", "s", "get_weekly_report", `{"date":"SENTINEL-1-abcdefgh"}`, "--consent", "allow", "--events", "--data", data, "--servers", servers).mustExit(t, 0)
	for _, n := range only(lines(t, r.out), "notice") {
		if strings.Contains(n.text, "SENTINEL") {
			t.Errorf("a notice holds a secret: %s", n.text)
		}
	}
	mustNotHold(t, data, "SENTINEL")
	if out := steward(t, "journal", "list", "--json", "--data", data).mustExit(t, 0).out; !strings.Contains(out, "[secret") {
		t.Errorf("the record does not mark what was left out: %s", out)
	}
}

func TestASecondWriterIsNamed(t *testing.T) {
	t.Parallel()
	data, servers := t.TempDir(), serversFile(t, minimal())
	hang := scriptedmodel.Reply(scriptedmodel.Text("Wait"))
	hang.End = "hang"
	_, flags := model(t, hang)
	first := prepared(t, with(flags, "ask", "go", "--data", data, "--servers", servers, "--events")...)
	var out watched
	first.Stdout = &out
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for limit := time.Now().Add(20 * time.Second); !strings.Contains(out.String(), "Wait"); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("the first program never got that far")
		}
	}
	for _, args := range [][]string{{"ask", "hello"}, {"call", "weekly-report", "get_weekly_report"}, {"tools"}, {"doctor"}, {"servers", "trust", "weekly-report"}} {
		r := steward(t, append(args, "--data", data, "--servers", servers)...).mustExit(t, 1).mustSay(t, fmt.Sprint(first.Process.Pid), data)
		if r.out != "" {
			t.Errorf("%v printed %q", args, r.out)
		}
	}
	for _, args := range [][]string{{"journal", "list"}, {"journal", "verify"}, {"journal", "export"}, {"servers", "list"}} {
		steward(t, append(args, "--data", data)...).mustExit(t, 0)
	}
	if err := first.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	first.Wait() //nolint:errcheck // status 3
	steward(t, "tools", "--data", data, "--servers", servers).mustExit(t, 0)
}

// A newer database, a damaged one and something else altogether: said, refused, and left
// exactly as they are.
func TestADatabaseThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	good := folder(t)
	db, err := os.ReadFile(filepath.Join(good, "steward.db"))
	if err != nil {
		t.Fatal(err)
	}
	newer := bytes.Clone(db)
	copy(newer[60:64], []byte{0, 0, 0x7f, 0xff}) // user_version, sqlite.org/fileformat2.html 1.3
	damaged := bytes.Clone(db)
	for i := 100; i < min(len(damaged), 9000); i++ {
		damaged[i] ^= 0x5a
	}
	for name, content := range map[string][]byte{"newer": newer, "damaged": damaged, "no database": []byte("just a text file, of some length, that is no database at all")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			if err := os.WriteFile(filepath.Join(data, "steward.db"), content, 0o600); err != nil {
				t.Fatal(err)
			}
			before := snapshot(t, data)
			for _, args := range [][]string{{"ask", "hello"}, {"tools"}, {"journal", "list"}} {
				r := steward(t, append(args, "--data", data)...).mustExit(t, 1).mustSay(t, data)
				if strings.Contains(r.errOut, "panic") || r.out != "" {
					t.Errorf("%v: %s%s", args, r.out, r.errOut)
				}
			}
			after := snapshot(t, data)
			for _, l := range strings.Split(strings.TrimSpace(before), "\n") {
				if !strings.Contains(after, l) {
					t.Errorf("the database was changed:\n%s\n%s", before, after)
				}
			}
		})
	}
}

// asNobody makes a command run without rights, where the test has them.
func asNobody(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
}

func TestAReadOnlyFolder(t *testing.T) {
	t.Parallel()
	data := folder(t)
	open := os.TempDir() // nobody must be able to reach the folder and the program
	dir, err := os.MkdirTemp(open, "steward-ro-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(dir, 0o700); os.RemoveAll(dir) })
	for _, name := range []string{"steward.db"} {
		raw, err := os.ReadFile(filepath.Join(data, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o444); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(binaries.steward), 0o755); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)
	run := func(args ...string) result {
		cmd := prepared(t, append(args, "--data", dir)...)
		cmd.Env = []string{"HOME=/nonexistent", "PATH=" + os.Getenv("PATH"), "LANG=C"}
		cmd.Dir = "/"
		asNobody(t, cmd)
		return finish(t, cmd)
	}
	run("ask", "hello").mustExit(t, 1).mustSay(t, dir)
	list := run("journal", "list", "--json").mustExit(t, 0)
	if len(array(t, list.out)) == 0 {
		t.Error("the record of a read-only folder cannot be read")
	}
	if after := snapshot(t, dir); after != before {
		t.Errorf("something was written:\n%s\n%s", before, after)
	}
}

// A disk without room: no call goes out unrecorded, what there is stays readable, and
// with room again everything works.
func TestAFullDisk(t *testing.T) {
	t.Parallel()
	data, servers := folder(t), t.TempDir()+"/seen"
	file := serversFile(t, scripted("--record", servers, "--only", "echo"))
	limited := exec.Command("sh", "-c", `ulimit -f 64; exec "$0" "$@"`, binaries.steward, "call", "s", "echo", `{"text":"`+strings.Repeat("x", 60000)+`"}`,
		"--consent", "allow", "--data", data, "--servers", file)
	limited.Env = environment(t)
	r := finish(t, limited).mustExit(t, 1)
	if strings.Contains(r.errOut, "panic") || !strings.Contains(r.errOut, "room") && !strings.Contains(r.errOut, "full") && !strings.Contains(r.errOut, "space") {
		t.Errorf("nobody is told that there is no room: %s", r.errOut)
	}
	if seen, err := os.ReadFile(servers); err == nil && bytes.Contains(seen, []byte(`"tools/call"`)) {
		t.Error("a call went out that could not be recorded")
	}
	steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
	steward(t, "call", "s", "echo", "--consent", "allow", "--data", data, "--servers", file).mustExit(t, 0)
}

// A reader of our output that goes away ends the turn, not the record.
func TestTheReaderOfStdoutGoesAway(t *testing.T) {
	t.Parallel()
	data, servers := t.TempDir(), serversFile(t, scripted("--only", "echo"))
	m := scriptedmodel.StartScript(t, scriptedmodel.Script{Rounds: &scriptedmodel.Rounds{N: 1000, Tool: "echo", Arguments: []byte(`{"text":"{{n}}"}`)}})
	cmd := prepared(t, "ask", "go", "--base-url", m.URL(), "--model", "fake", "--data", data, "--servers", servers, "--consent", "allow", "--max-rounds", "1000", "--events")
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := pipe.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	pipe.Close()
	cmd.Wait() //nolint:errcheck // looked at below
	if code := cmd.ProcessState.ExitCode(); code != 1 && code != 3 {
		t.Errorf("exit status %d (%s): %s", code, cmd.ProcessState, &errOut)
	}
	for _, rec := range array(t, steward(t, "journal", "list", "--json", "--kind", "call", "--limit", "5000", "--data", data).mustExit(t, 0).out) {
		if o := rec.str("outcome"); o == "waiting" || o == "running" {
			t.Errorf("still open: %s", rec.text)
		}
	}
}
