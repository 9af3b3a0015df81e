package headless

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"steward/testdata/scriptedmodel"
)

// The three figures of a whole run against a scripted endpoint and one stdio server. Run
// with -bench; nothing here fails on time.

const benchCalls = 50

// BenchmarkFirstRequest is the time from the start of the process to the arrival of its
// first model request, with one stdio server and a fresh folder.
func BenchmarkFirstRequest(b *testing.B) {
	servers := serversFile(b, scripted("--only", "echo"))
	var times []float64
	for range b.N {
		m := scriptedmodel.Start(b, scriptedmodel.Say("Hello."))
		cmd := prepared(b, "ask", "hello", "--base-url", m.URL(), "--model", "fake", "--data", b.TempDir(), "--servers", servers)
		start := time.Now()
		finish(b, cmd).mustExit(b, 0)
		times = append(times, m.Requests()[0].Time.Sub(start).Seconds()*1000)
		m.Close()
	}
	b.ReportMetric(median(times), "ms/first-request")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkTurn makes a turn of 50 calls. ms/call is the time from the end of the model's
// answer to the call's result: proposed, decided, both durable commits, and the server.
// ms/round is the time from one model request to the next, with the endpoint and the
// messages stored beside the call. ms/insert is a bare durable insert in the same run, and
// x-budget the share of 1.5 ms plus two such inserts that a call takes.
func BenchmarkTurn(b *testing.B) {
	servers := serversFile(b, scripted("--only", "echo"))
	installed := installedCopy(b)
	var perCall, perRound, perInsert []float64
	var peak int64
	for range b.N {
		m := scriptedmodel.StartScript(b, scriptedmodel.Script{Rounds: &scriptedmodel.Rounds{N: benchCalls, Tool: "echo", Arguments: []byte(`{"text":"{{n}}"}`)}})
		cmd := prepared(b, "ask", "go", "--base-url", m.URL(), "--model", "fake", "--data", b.TempDir(), "--servers", servers, "--consent", "allow", "--max-rounds", fmt.Sprint(benchCalls+5), "--events")
		cmd.Path = installed
		perCall = append(perCall, callTime(b, cmd))
		requests := m.Requests()
		perRound = append(perRound, requests[len(requests)-1].Time.Sub(requests[0].Time).Seconds()*1000/benchCalls)
		perInsert = append(perInsert, bareInsert(b))
		peak = max(peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
		m.Close()
	}
	call, insert := median(perCall), median(perInsert)
	b.ReportMetric(call, "ms/call")
	b.ReportMetric(median(perRound), "ms/round")
	b.ReportMetric(insert, "ms/insert")
	b.ReportMetric(call/(1.5+2*insert), "x-budget")
	b.ReportMetric(float64(peak)/1024, "MB-peak")
	b.ReportMetric(0, "ns/op")
}

// installedCopy is the program as an installation leaves it, copied. What the linker has just written lies in memory in
// large pages, and mapping it counts ten megabytes that a person's copy never takes.
func installedCopy(b *testing.B) string {
	b.Helper()
	from, err := os.Open(binaries.steward)
	if err != nil {
		b.Fatal(err)
	}
	defer from.Close()
	path := filepath.Join(b.TempDir(), "steward")
	to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o700)
	if err != nil {
		b.Fatal(err)
	}
	_, err = io.Copy(struct{ io.Writer }{to}, from) // through memory: a file system may share the pages else
	if err := errors.Join(err, to.Close()); err != nil {
		b.Fatal(err)
	}
	return path
}

// callTime runs a turn and returns the median time, in ms, from the model's usage line, which
// ends its answer, to the result line of the call in it.
func callTime(b *testing.B, cmd *exec.Cmd) float64 {
	b.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	var times []float64
	var answered time.Time
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		switch line := lines.Text(); {
		case strings.HasPrefix(line, `{"event":"usage"`):
			answered = time.Now()
		case strings.HasPrefix(line, `{"event":"result"`) && strings.Contains(line, `"outcome":"ok"`):
			times = append(times, time.Since(answered).Seconds()*1000)
		}
	}
	if err := errors.Join(lines.Err(), cmd.Wait()); err != nil {
		b.Fatal(err)
	}
	if len(times) != benchCalls {
		b.Fatalf("%d calls, want %d", len(times), benchCalls)
	}
	return median(times)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// bareInsert is the time of one durable insert in ms: one row of a call's size, WAL,
// synchronous=FULL, the driver that the program itself links.
func bareInsert(b *testing.B) float64 {
	b.Helper()
	db, err := sql.Open("sqlite3", "file:"+filepath.Join(b.TempDir(), "bare.db")+"?_journal_mode=WAL&_synchronous=FULL")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE t (id INTEGER PRIMARY KEY, body TEXT)"); err != nil {
		b.Fatal(err)
	}
	body := strings.Repeat("x", 500)
	start := time.Now()
	for range 2 * benchCalls {
		if _, err := db.Exec("INSERT INTO t (body) VALUES (?)", body); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start).Seconds() * 1000 / (2 * benchCalls)
}

// BenchmarkEmptyProcess is the floor: a process of the same binary that does nothing.
func BenchmarkEmptyProcess(b *testing.B) {
	for range b.N {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		if err := exec.CommandContext(ctx, binaries.steward, "version").Run(); err != nil {
			b.Fatal(err)
		}
		cancel()
	}
}
