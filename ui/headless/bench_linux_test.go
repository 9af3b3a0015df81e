package headless

import (
	"context"
	"fmt"
	"os/exec"
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
	var times []time.Duration
	for range b.N {
		m := scriptedmodel.Start(b, scriptedmodel.Say("Hello."))
		cmd := prepared(b, "ask", "hello", "--base-url", m.URL(), "--model", "fake", "--data", b.TempDir(), "--servers", servers)
		start := time.Now()
		finish(b, cmd).mustExit(b, 0)
		times = append(times, m.Requests()[0].Time.Sub(start))
		m.Close()
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "ms/first-request")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkTurn makes a turn of 50 calls. ms/call is the time between two model requests
// less nothing: the call, its two durable commits, and the endpoint's own answer.
func BenchmarkTurn(b *testing.B) {
	servers := serversFile(b, scripted("--only", "echo"))
	var perCall []float64
	var peak int64
	for range b.N {
		m := scriptedmodel.StartScript(b, scriptedmodel.Script{Rounds: &scriptedmodel.Rounds{N: benchCalls, Tool: "echo", Arguments: []byte(`{"text":"{{n}}"}`)}})
		cmd := prepared(b, "ask", "go", "--base-url", m.URL(), "--model", "fake", "--data", b.TempDir(), "--servers", servers, "--consent", "allow", "--max-rounds", fmt.Sprint(benchCalls+5), "--events")
		r := finish(b, cmd).mustExit(b, 0)
		if n := strings.Count(r.out, `"outcome":"ok"`); n != benchCalls {
			b.Fatalf("%d calls, want %d", n, benchCalls)
		}
		requests := m.Requests()
		perCall = append(perCall, requests[len(requests)-1].Time.Sub(requests[0].Time).Seconds()*1000/benchCalls)
		peak = max(peak, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
		m.Close()
	}
	slices.Sort(perCall)
	b.ReportMetric(perCall[len(perCall)/2], "ms/call")
	b.ReportMetric(float64(peak)/1024, "MB-peak")
	b.ReportMetric(0, "ns/op")
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
