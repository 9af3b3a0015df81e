package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"go.uber.org/goleak"

	"steward/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func testStore(t testing.TB, dir string) *storage.DB {
	t.Helper()
	db, err := storage.Open(context.Background(), storage.Options{Dir: dir, Program: "steward test", OnError: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func testJournal(t testing.TB, o Options) *Journal {
	t.Helper()
	j, _, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return j
}

func call(t testing.TB, j *Journal, args string, result string) int64 {
	t.Helper()
	ctx := context.Background()
	e, err := j.Propose(ctx, Proposal{Kind: KindCall, Server: "s", Tool: "t", Arguments: args, Conversation: "c_1"})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Decided(ctx, Decision{Decision: Allowed, By: "flag"}); err != nil {
		t.Fatal(err)
	}
	r, err := e.Intent(ctx, []byte(args))
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Spend([]byte(args)); err != nil {
		t.Fatal(err)
	}
	e.Sent()
	if err := e.Outcome(ctx, Outcome{Outcome: OK, Result: json.RawMessage(result), Seconds: 0.021}); err != nil {
		t.Fatal(err)
	}
	return e.Number()
}

func TestFirst(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	db := testStore(t, t.TempDir())
	j := testJournal(t, Options{Store: db})
	call(t, j, `{"a":"<b>&今天讨论了部署方案"}`, `{"content":[{"type":"text","text":"重跑gen-itgc后"}]}`)
	if _, err := j.Note(ctx, Proposal{Kind: KindGrant, Server: "s", Tool: "t"}, Outcome{}); err != nil {
		t.Fatal(err)
	}
	call(t, j, `{"a":"b"}`, `{}`)
	for _, q := range []string{"", "部署方案", "itgc", `"*(`} {
		l, err := j.List(ctx, Filter{Search: q})
		b, _ := encode(l)
		t.Log(q, string(b), err)
	}
	d, err := j.Show(ctx, 1)
	b, _ := encode(d)
	t.Log(string(b), err)
	v, err := j.Verify(ctx)
	t.Log(v, err)
	for _, f := range []string{"jsonl", "csv", "html"} {
		var w bytes.Buffer
		err := j.Export(ctx, &w, f, Filter{})
		t.Log(w.String(), err)
		if f == "jsonl" {
			t.Log(VerifyExport(&w))
		}
	}
}
