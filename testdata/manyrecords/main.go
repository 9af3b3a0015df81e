// Manyrecords fills a new data folder with calls, through the journal that the program itself writes with, so that the
// window and the commands can be measured on a long record:
//
//	go run ./testdata/manyrecords -data FOLDER -n 1000000
//
// A million take some minutes and about two gigabytes. Times lie in the past; the last call is of now.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"steward/app"
	"steward/app/journal"
)

// writers is how many calls are under way at once: they share the durable commits.
const writers = 512

// apart is how far apart in time two calls are; a million reach over a hundred days.
const apart = 9 * time.Second

var tools = []struct{ server, tool, arguments string }{
	{"filesystem", "list_directory", `{"path":"/home/me/projects/%d"}`},
	{"filesystem", "read_text_file", `{"path":"/home/me/projects/%d/notes.md","head":40}`},
	{"weekly-report", "get_weekly_report", `{"date":"2026-11-%d"}`},
	{"travel", "find_best_flight", `{"from":"BCN","to":"HKG","passengers":%d}`},
	{"mail-server", "send_mail", `{"to":"a@example.com","subject":"Invoice %d","body":"Please find it attached."}`},
}

func main() {
	data := flag.String("data", "", "the folder to be filled; it must not hold a record yet")
	n := flag.Int64("n", 1_000_000, "how many calls")
	flag.Parse()
	if err := fill(context.Background(), *data, *n); err != nil {
		fmt.Fprintln(os.Stderr, "manyrecords:", err)
		os.Exit(1)
	}
}

func fill(ctx context.Context, data string, n int64) (err error) {
	if data == "" {
		return errors.New("no folder was named; use -data FOLDER")
	}
	var made atomic.Int64
	end := time.Now()
	now := func() time.Time { return end.Add(-time.Duration(max(0, n-made.Load())) * apart) }
	a, err := app.Open(ctx, app.Options{Data: data, Policy: app.Policy{Calls: "ask"}, Now: now, Hooks: app.Hooks{Version: "manyrecords"}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close(ctx)) }()
	errs := make(chan error, writers)
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for i := made.Add(1); i <= n; i = made.Add(1) {
				if err := call(ctx, a.Journal(), i); err != nil {
					errs <- err
					return
				}
				if i%50_000 == 0 {
					fmt.Fprintln(os.Stderr, i, time.Since(end).Round(time.Second))
				}
			}
		})
	}
	all.Wait()
	close(errs)
	return <-errs
}

// call records one call: every seventh is denied, every eleventh fails.
func call(ctx context.Context, j *journal.Journal, i int64) error {
	t := tools[i%int64(len(tools))]
	arguments := fmt.Sprintf(t.arguments, i%1000)
	e, err := j.Propose(ctx, journal.Proposal{Kind: journal.KindCall, Server: t.server, Tool: t.tool, Arguments: arguments, Model: "gpt-5-mini"})
	if err != nil {
		return err
	}
	if err := e.Shown(ctx, "9f1c0000aa"); err != nil {
		return err
	}
	if i%7 == 0 {
		err := e.Decided(ctx, journal.Decision{Decision: journal.Denied, By: "person", Reason: "wrong folder"})
		return errors.Join(err, e.Outcome(ctx, journal.Outcome{Outcome: journal.Denied, Reason: "wrong folder"}))
	}
	if err := e.Decided(ctx, journal.Decision{Decision: journal.Allowed, By: "person", Scope: "once"}); err != nil {
		return err
	}
	receipt, err := e.Intent(ctx, []byte(arguments))
	if err != nil {
		return err
	}
	if err := receipt.Spend([]byte(arguments)); err != nil {
		return err
	}
	e.Sent()
	result, err := json.Marshal(map[string]any{"content": []map[string]any{{"type": "text", "text": fmt.Sprintf("answer number %d", i)}}})
	if err != nil {
		return err
	}
	out := journal.Outcome{Outcome: journal.OK, Seconds: 0.01 * float64(i%90), Result: result}
	if i%11 == 0 {
		out.Outcome, out.Reason = journal.ToolError, "no seats"
	}
	return e.Outcome(ctx, out)
}
