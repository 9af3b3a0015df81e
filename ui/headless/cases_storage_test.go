//go:build linux

package headless

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "steward/testdata/scriptedmodel"
)

// Killed in the middle of a long answer: what stood there a second before is kept, and
// so is everything older.
func TestALongAnswerSurvivesAKill(t *testing.T) {
	t.Parallel()
	var parts []Part
	for i := range 200 {
		p := Text(fmt.Sprintf("w%d ", i))
		p.Delay = Duration(50 * time.Millisecond)
		parts = append(parts, p)
	}
	data, file := t.TempDir(), serversFile(t, minimal())
	_, flags := model(t, Say("The oldest."), Say("The second."), Reply(parts...))
	flags = append(flags, "--data", data, "--servers", file, "--events")
	id := one(t, lines(t, steward(t, with(flags, "ask", "first question")...).mustExit(t, 0).out), "turn_start").str("conversation")
	flags = append(flags, "--conversation", id)
	steward(t, with(flags, "ask", "second question")...).mustExit(t, 0)
	interrupted(t, prepared(t, with(flags, "ask", "third question")...), ` w45"`, syscall.SIGKILL)
	m, _ := next(t, data, file, "--conversation", id)
	body := string(m.Requests()[0].Body)
	for _, want := range []string{"first question", "The oldest.", "second question", "The second.", "third question", "w0 w1 ", " w24 "} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is lost: %s", want, body)
		}
	}
	if p := m.Problems(); len(p) > 0 {
		t.Error(p)
	}
}

// An endpoint that fails, and a kill in the middle of it, delete nothing.
func TestFailuresDeleteNothing(t *testing.T) {
	t.Parallel()
	data, file := t.TempDir(), serversFile(t, minimal())
	_, flags := model(t, Say("The oldest."), Fail(400, "no"), Fail(401, "no"), Fail(429, "later"))
	flags = append(flags, "--data", data, "--servers", file, "--events")
	id := one(t, lines(t, steward(t, with(flags, "ask", "first question")...).mustExit(t, 0).out), "turn_start").str("conversation")
	flags = append(flags, "--conversation", id)
	for range 2 {
		steward(t, with(flags, "ask", "a question that fails")...).mustExit(t, 1)
	}
	interrupted(t, prepared(t, with(flags, "ask", "third question")...), `"kind":"retrying"`, syscall.SIGKILL)
	m, _ := next(t, data, file, "--conversation", id)
	body := string(m.Requests()[0].Body)
	for _, want := range []string{"first question", "The oldest.", "third question"} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is lost: %s", want, body)
		}
	}
	if strings.Count(body, "a question that fails") != 2 || len(m.Problems()) > 0 {
		t.Errorf("%v: %s", m.Problems(), body)
	}
}

// Killed between the calls of a batch: what has run is known, what may have run is told,
// and nothing runs by itself afterwards.
func TestKilledBetweenTheCallsOfABatch(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := &played{model: StartScript(t, strict(batch([3]string{"1", "echo", `{"text":"has run"}`}, [3]string{"2", "never", `{"mail":"boss"}`}, [3]string{"3", "echo", `{"text":"third"}`}))), data: filepath.Join(dir, "data"), seen: filepath.Join(dir, "seen"), killed: true}
	p.file = serversFile(t, scripted("--record", p.seen, "--only", "echo", "--only", "never"))
	cmd := prepared(t, "ask", "go", "--base-url", p.model.URL(), "--model", "fake", "--data", p.data, "--servers", p.file, "--consent", "allow", "--events")
	interrupted(t, cmd, `"has run"}]`, syscall.SIGKILL)
	ran := len(p.received(t))
	steward(t, "tools", "--data", p.data, "--servers", p.file).mustExit(t, 0)
	body := p.goOn(t)
	if got := len(p.received(t)); got != ran || strings.Count(body, `"tool_call_id"`) != 3 || !strings.Contains(body, "has run") {
		t.Errorf("%d calls, %d before: %s", got, ran, body)
	}
	for _, c := range p.calls(t)[1:] {
		if strings.HasSuffix(c, " ok") && !strings.Contains(c, "third") {
			t.Errorf("the journal: %s", c)
		}
	}
}

// Words are found in the record in any writing, and no query is taken for a command.
func TestTheRecordIsSearchedInAnyWriting(t *testing.T) {
	t.Parallel()
	texts := []string{"今天讨论了部署方案", "サンドボックス修正テスト", "重跑gen-itgc后", "한국어 문장입니다", `quote " and % and _ and * here`, "Grüße AN alle"}
	var calls [][3]string
	for i, s := range texts {
		calls = append(calls, [3]string{fmt.Sprint(i), "echo", `{"text":` + jsonText(s) + `}`})
	}
	p := play(t, strict(batch(calls...), Say("Done.")), tools)
	p.mustExit(t, 0)
	for query, want := range map[string]int{
		"部署方案": 1, "サンド": 1, "itgc": 1, "部署": 1, "案": 1, "gen-itgc": 1, "문장": 1, `" and`: 1, "% and": 1, "_ and": 1, "* here": 1, "grüße": 1, "an alle": 1,
		"nowhere": 0, "NEAR(a b)": 0, "text OR path": 0, "'; DROP TABLE x; --": 0, "部署 计划": 0,
	} {
		got := array(t, steward(t, "journal", "list", "--json", "--kind", "call", "--search", query, "--data", p.data).mustExit(t, 0).out)
		if len(got) != want {
			t.Errorf("%q finds %d records, want %d", query, len(got), want)
		}
	}
}

// Folders and files that are not what they should be are said to be so, at once and by
// their place, and nothing is changed.
func TestFoldersThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	good, err := os.ReadFile(filepath.Join(folder(t), "steward.db"))
	if err != nil {
		t.Fatal(err)
	}
	put := func(name string, content []byte) func(t *testing.T, data string) {
		return func(t *testing.T, data string) {
			if err := os.WriteFile(filepath.Join(data, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, tc := range map[string]struct {
		make func(t *testing.T, data string)
		code int // of ask and tools
		list int // of journal list
	}{
		"an empty database file":       {put("steward.db", nil), -1, -1},
		"half a database":              {put("steward.db", good[:len(good)/2]), -1, -1},
		"the first 50 bytes":           {put("steward.db", good[:50]), 1, 1},
		"a page of zeros":              {put("steward.db", make([]byte, 4096)), 1, 1},
		"a page in the middle of it":   {put("steward.db", append(append(bytes.Clone(good[:4096]), bytes.Repeat([]byte{0xaa}, 4096)...), good[8192:]...)), 1, -1},
		"a folder in its place":        {func(t *testing.T, data string) { mkdir(t, filepath.Join(data, "steward.db")) }, 1, 1},
		"a pipe in its place":          {func(t *testing.T, data string) { fifo(t, filepath.Join(data, "steward.db")) }, 1, 1},
		"a folder for the servers":     {func(t *testing.T, data string) { mkdir(t, filepath.Join(data, "servers.json")) }, -1, 0},
		"a pipe for the servers":       {func(t *testing.T, data string) { fifo(t, filepath.Join(data, "servers.json")) }, -1, 0},
		"a log without its database":   {put("steward.db-wal", []byte("left over")), 0, -1},
		"a huge number in the servers": {put("servers.json", []byte(`{"mcpServers":{"a":{"command":"x","timeout":1e400}}}`)), -1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := t.TempDir()
			tc.make(t, data)
			before := ""
			if !strings.Contains(name, "pipe") && tc.code == 1 {
				before = snapshot(t, data)
			}
			_, flags := model(t, Say("Hello."))
			for _, c := range []struct {
				args []string
				want int
			}{{with(flags, "ask", "hello"), tc.code}, {[]string{"tools"}, tc.code}, {[]string{"journal", "list"}, tc.list}, {[]string{"journal", "verify"}, tc.list}} {
				start := time.Now()
				r := steward(t, append(c.args, "--data", data)...)
				if c.want >= 0 && r.code != c.want || r.code > 1 || r.code < 0 || time.Since(start) > 20*time.Second {
					t.Errorf("%v: exit status %d after %s, want %d: %s%s", c.args, r.code, time.Since(start), c.want, r.out, r.errOut)
				}
				if r.code != 0 && (!strings.Contains(r.errOut+r.out, data) && !strings.Contains(r.out, "record")) || strings.Contains(r.errOut, "goroutine ") {
					t.Errorf("%v does not say where: %s%s", c.args, r.out, r.errOut)
				}
			}
			if before == "" {
				return
			}
			after := snapshot(t, data)
			for _, l := range strings.Split(strings.TrimSpace(before), "\n") {
				if !strings.Contains(after, l) {
					t.Errorf("it was changed:\n%s\n%s", before, after)
				}
			}
		})
	}
	t.Run("a file in the folder's place", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"ask", "hello"}, {"journal", "list"}} {
			steward(t, append(args, "--data", file)...).mustExit(t, 1).mustSay(t, file)
		}
	})
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func fifo(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

// A database set back to an older copy, and a record cut at its end, are found.
func TestAnOlderCopyOfTheRecordIsFound(t *testing.T) {
	t.Parallel()
	data, servers := t.TempDir(), serversFile(t, minimal())
	call := func() {
		t.Helper()
		steward(t, "call", "weekly-report", "get_weekly_report", weekly, "--data", data, "--servers", servers, "--consent", "allow").mustExit(t, 0)
	}
	call()
	db := filepath.Join(data, "steward.db")
	older, err := os.ReadFile(db)
	if err != nil {
		t.Fatal(err)
	}
	call()
	steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
	if err := os.WriteFile(db, older, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := steward(t, "journal", "verify", "--data", data).mustExit(t, 1); r.out == "" {
		t.Errorf("nothing on stdout: %s", r.errOut)
	}
}

// Output that cannot be written ends the turn with an error, and leaves the record whole.
func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"ask", "go", "--events"}, {"ask", "go"}, {"tools"}, {"journal", "list", "--json"}, {"journal", "export"}, {"version"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			t.Parallel()
			data := folder(t)
			_, flags := model(t, Say("Hello."))
			if args[0] == "ask" || args[0] == "tools" {
				args = with(append(flags, "--servers", serversFile(t, minimal())), args...)
			}
			cmd := exec.Command("sh", append([]string{"-c", `exec "$0" "$@" > /dev/full`, binaries.steward}, append(args, "--data", data)...)...)
			cmd.Env = environment(t)
			r := finish(t, cmd)
			if r.code == 0 || r.errOut == "" || strings.Contains(r.errOut, "goroutine ") {
				t.Errorf("exit status %d: %s", r.code, r.errOut)
			}
			steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
		})
	}
}
