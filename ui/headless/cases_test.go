package headless

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"steward/testdata/scriptedmodel"
)

// played is one `ask` against a scripted endpoint and a scripted server named "s", with
// everything it left behind.
type played struct {
	result
	all   []line // the event lines
	model *scriptedmodel.Server
	data  string
	file  string // servers file
	seen  string // what the server received, a line each
	took  time.Duration
	// killed says that a run was killed: a call may be recorded whose bytes never left.
	killed bool
}

// play runs a turn with every call allowed, unless more says otherwise, and checks what
// must hold after any turn.
func play(t testing.TB, script scriptedmodel.Script, server []string, more ...string) *played {
	t.Helper()
	dir := t.TempDir()
	p := &played{model: scriptedmodel.StartScript(t, script), data: filepath.Join(dir, "data"), seen: filepath.Join(dir, "seen")}
	p.file = serversFile(t, scripted(append([]string{"--record", p.seen}, server...)...))
	p.again(t, append([]string{"--consent", "allow"}, more...)...)
	return p
}

// again runs one more turn in the same folder.
func (p *played) again(t testing.TB, more ...string) {
	t.Helper()
	start := time.Now()
	p.result = steward(t, append([]string{"ask", "go", "--base-url", p.model.URL(), "--model", "fake", "--data", p.data, "--servers", p.file, "--events"}, more...)...)
	p.took = time.Since(start)
	p.all = lines(t, p.out)
	p.check(t)
}

// check compares what was shown, what the server received and what the journal holds.
func (p *played) check(t testing.TB) {
	t.Helper()
	records := map[string]line{}
	ran := 0
	for _, rec := range array(t, steward(t, "journal", "list", "--json", "--kind", "call", "--limit", "1000", "--data", p.data).mustExit(t, 0).out) {
		records[strconv.Itoa(int(rec.value["record"].(float64)))] = rec
		switch rec.str("outcome") {
		case "denied", "expired", "withdrawn":
		case "waiting", "running":
			t.Errorf("still open: %s", rec.text)
		default:
			if rec.str("effect") != "none" {
				ran++
			}
		}
	}
	received := p.received(t)
	if ran != len(received) && !(p.killed && ran > len(received)) {
		t.Errorf("the server received %d calls, the journal says %d: %q", len(received), ran, received)
	}
	for _, c := range only(p.all, "call") {
		rec, ok := records[strconv.Itoa(int(c.value["record"].(float64)))]
		if !ok || rec.str("arguments") != c.str("arguments") || rec.str("tool") != c.str("tool") || rec.str("server") != c.str("server") {
			t.Errorf("shown %s\nrecorded %s", c.text, rec.text)
		}
		if rec.str("effect") != "none" && !slices.Contains(received, c.str("tool")+" "+c.str("arguments")) {
			t.Errorf("shown %s\nreceived %q", c.text, received)
		}
	}
	steward(t, "journal", "verify", "--data", p.data).mustExit(t, 0)
	if strings.Contains(p.errOut, "panic") || strings.Contains(p.errOut, "goroutine ") {
		t.Errorf("a fault of the program: %s", p.errOut)
	}
}

// received lists the calls the server received: the tool and the bytes of its arguments.
func (p *played) received(t testing.TB) []string {
	t.Helper()
	raw, err := os.ReadFile(p.seen)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, l := range bytes.Split(raw, []byte("\n")) {
		var m struct {
			Method string
			Params struct {
				Name      string
				Arguments json.RawMessage
			}
		}
		if len(l) > 0 && json.Unmarshal(l, &m) == nil && m.Method == "tools/call" {
			all = append(all, m.Params.Name+" "+string(m.Params.Arguments))
		}
	}
	return all
}

// request is the body of the n-th request the endpoint received.
func (p *played) request(t testing.TB, n int) string {
	t.Helper()
	all := p.model.Requests()
	if n >= len(all) {
		t.Fatalf("the endpoint received %d requests, want more than %d\n%s%s", len(all), n, p.out, p.errOut)
	}
	return string(all[n].Body)
}

// sent are the messages of the n-th request.
func (p *played) sent(t testing.TB, n int) []map[string]any {
	t.Helper()
	var b struct{ Messages []map[string]any }
	if err := json.Unmarshal([]byte(p.request(t, n)), &b); err != nil {
		t.Fatal(err)
	}
	return b.Messages
}

// state is how the turn ended.
func (p *played) state(t testing.TB) string { t.Helper(); return one(t, p.all, "turn").str("state") }

// joined is the text of all events of a kind.
func (p *played) joined(event string) string {
	var b strings.Builder
	for _, l := range only(p.all, event) {
		b.WriteString(l.str("text"))
	}
	return b.String()
}

func (p *played) conversation(t testing.TB) string {
	t.Helper()
	return one(t, p.all, "turn_start").str("conversation")
}

// noProblems fails where the endpoint found a request a strict provider would refuse.
func (p *played) noProblems(t testing.TB) {
	t.Helper()
	for _, problem := range p.model.Problems() {
		t.Errorf("the endpoint refused: %s", problem)
	}
}

func strict(steps ...scriptedmodel.Step) scriptedmodel.Script {
	return scriptedmodel.Script{Strict: true, Steps: steps}
}
