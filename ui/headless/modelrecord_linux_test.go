package headless

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	sm "steward/testdata/scriptedmodel"
)

// shownRecord is what these tests read of "journal show N --json".
type shownRecord struct {
	Record    int64
	Kind      string
	Outcome   string
	Reason    string
	Arguments string
	Result    map[string]any
	Frames    []struct {
		Direction, Text string
		Length          int64
	}
}

func modelRecords(t *testing.T, data string) (all []shownRecord) {
	t.Helper()
	for _, l := range array(t, steward(t, "journal", "list", "--kind", "model", "--json", "--data", data).mustExit(t, 0).out) {
		var r shownRecord
		out := steward(t, "journal", "show", jsonText(l.value["record"]), "--json", "--data", data).mustExit(t, 0).out
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		all = append(all, r)
	}
	return all
}

// What went to the model and came back is shown as it went; killed in the middle, the request is open, and unknown after
// the next start.
func TestWhatWentToTheModelIsShown(t *testing.T) {
	t.Parallel()
	m, flags := model(t,
		sm.Reply(sm.Text("Hello."), sm.Finish("stop"), sm.Usage(10, 2), sm.Done()),
		sm.Step{Header: map[string]string{"Content-Type": "text/event-stream"}, Parts: []sm.Part{sm.Text("Half of it")}, End: "hang"},
		sm.Step{Say: "Back again."},
	)
	data := t.TempDir()
	key := "Qm7-endpoint-key-4711"
	cmd := prepared(t, with(flags, "ask", "hello", "--api-key-env", "THE_KEY", "--data", data)...)
	cmd.Env = append(cmd.Env, "THE_KEY="+key)
	finish(t, cmd).mustExit(t, 0)
	first := modelRecords(t, data)[0]
	if len(first.Frames) != 2 || first.Frames[0].Text != string(m.Requests()[0].Body) || first.Frames[0].Direction != "out" || !strings.HasSuffix(first.Frames[1].Text, "data: [DONE]\n\n") {
		t.Errorf("%+v", first.Frames)
	}
	if first.Result["input_tokens"] != 10.0 || first.Result["output_tokens"] != 2.0 || !strings.HasPrefix(first.Arguments, `{"purpose":"turn","endpoint":"`+m.URL()+`"`) {
		t.Error(first.Result, first.Arguments)
	}
	whole := steward(t, "journal", "show", jsonText(first.Record), "--json", "--data", data).out + steward(t, "journal", "show", jsonText(first.Record), "--data", data).out
	if strings.Contains(whole, key) || strings.Contains(whole, "Authorization") || !strings.Contains(whole, "10 in, 2 out") {
		t.Error(whole)
	}
	killed := interrupted(t, prepared(t, with(flags, "ask", "and now?", "--data", data)...), "Half", os.Kill)
	if !strings.Contains(killed.out, "Half") {
		t.Fatal(killed)
	}
	if open := modelRecords(t, data)[0]; open.Outcome != "running" || len(open.Frames) != 0 {
		t.Errorf("%+v", open)
	}
	next := steward(t, with(flags, "ask", "still there?", "--data", data)...).mustExit(t, 0)
	if !strings.Contains(next.errOut, "may or may not have happened") {
		t.Error(next.errOut)
	}
	records := modelRecords(t, data)
	if records[1].Outcome != "unknown" || records[1].Reason != "crash" || records[0].Outcome != "ok" || len(records) != 3 {
		t.Errorf("%+v", records)
	}
	steward(t, "journal", "verify", "--data", data).mustExit(t, 0)
}
