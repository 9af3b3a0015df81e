package audit

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"steward/app"
	"steward/app/journal"
	"steward/ui/place/placetest"
)

var weekly string // a server's program

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "audit-test-")
	if err == nil {
		defer os.RemoveAll(dir)
		weekly, err = placetest.Program(dir, "steward/testdata/minimalserver")
	}
	if err != nil {
		println(err.Error())
		return 1
	}
	return placetest.Main(m)
}

// bench is the place over a real program.
type bench struct {
	*Place
	*placetest.Bench
}

func newBench(t testing.TB, variant, tongue string, fill func(*app.App)) *bench {
	return newBenchWith(t, placetest.Options{Variant: variant, Language: tongue}, fill)
}

func newBenchWith(t testing.TB, o placetest.Options, fill func(*app.App)) *bench {
	t.Helper()
	o.Servers = map[string]string{"weekly-report": weekly}
	b := &bench{Bench: placetest.New(t, o)}
	if fill != nil {
		fill(b.App)
	}
	b.Place = New(b.Deps())
	b.Show(b.Place)
	return b
}

// record puts one call into the record as the core does.
func record(t *testing.T, j *journal.Journal, p journal.Proposal, d journal.Decision, o journal.Outcome) int64 {
	t.Helper()
	ctx := t.Context()
	if p.Kind == "" {
		p.Kind = journal.KindCall
	}
	e, err := j.Propose(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(e.Shown(ctx, "9f1c0000aa"))
	if d.Decision == "" {
		return e.Number()
	}
	must(e.Decided(ctx, d))
	if d.Decision == journal.Allowed {
		r, err := e.Intent(ctx, []byte(p.Arguments))
		must(err)
		must(r.Spend([]byte(p.Arguments)))
		e.Sent()
		e.Frames([]journal.Frame{{Time: time.Now(), Direction: "out", Bytes: []byte(`{"jsonrpc":"2.0","id":3,"method":"tools/call"}` + "\n")},
			{Time: time.Now(), Direction: "in", Bytes: []byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":3,"progress":1,"total":3,"message":"reading"}}` + "\n")},
			{Time: time.Now(), Direction: "in", Bytes: []byte(`{"jsonrpc":"2.0","id":3,"result":` + string(o.Result) + "}\n")}})
	}
	must(e.Outcome(ctx, o))
	return e.Number()
}

// furnish fills a record with something of everything.
func furnish(t *testing.T, n int) func(*app.App) {
	return func(a *app.App) {
		j := a.Journal()
		yes, no := journal.Decision{Decision: journal.Allowed, By: "person", Scope: "once"}, journal.Decision{Decision: journal.Denied, By: "person", Reason: "wrong folder"}
		text := func(s string) json.RawMessage {
			b, err := json.Marshal(map[string]any{"content": []map[string]any{{"type": "text", "text": s}}})
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		for i := range n {
			// One event each, which is not waited for: the records after them are, and so are these.
			_, err := j.Note(t.Context(), journal.Proposal{Kind: journal.KindCall, Server: "filesystem", Tool: "list_directory", Arguments: `{"path":"` + strings.Repeat("x", i%20) + `"}`, Model: "gpt-5-mini"},
				journal.Outcome{Outcome: journal.OK, Seconds: 0.01, Result: text("a\nb")})
			if err != nil {
				t.Fatal(err)
			}
		}
		call := record(t, j, journal.Proposal{Server: "travel", Tool: "find_best_flight", Arguments: `{"from":"BCN"}`, Model: "gpt-5-mini"}, yes, journal.Outcome{Outcome: journal.ToolError, Reason: "no seats", Seconds: 4.7, Result: text("no seats")})
		record(t, j, journal.Proposal{Kind: journal.KindElicitation, Parent: call, Server: "travel", Arguments: `{}`}, no, journal.Outcome{Outcome: journal.Denied})
		record(t, j, journal.Proposal{Server: "mail-server", Tool: "send_mail", Arguments: `{"to":"a@example.com","body":"the invoice \u202e gnp"}`, Model: "gpt-5-mini"}, no, journal.Outcome{Outcome: journal.Denied, Reason: "wrong folder"})
		record(t, j, journal.Proposal{Server: "filesystem", Tool: "move_file", Arguments: `{"source":"~/Downloads/a.pdf","destination":"~/.ssh/a.pdf"}`, Model: "gpt-5-mini"}, no, journal.Outcome{Outcome: journal.Denied, Reason: "wrong folder"})
		record(t, j, journal.Proposal{Server: "weekly-report", Tool: "get_weekly_report", Arguments: `{"date":"2025-03-17"}`, Model: "gpt-5-mini"}, yes, journal.Outcome{Outcome: journal.OK, Seconds: 0.21, Result: text("周报：一切顺利")})
		record(t, j, journal.Proposal{Server: "mail-server", Tool: "send_mail", Arguments: `{"to":"b@example.com"}`, Model: "gpt-5-mini"}, journal.Decision{}, journal.Outcome{})
	}
}
