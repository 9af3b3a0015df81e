package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"steward/app/consent"
	"steward/app/journal"
	sm "steward/testdata/scriptedmodel"
)

// A request is on the record before the endpoint hears of it, and every attempt stands there with what went over the
// wire.
func TestEachRequestIsRecordedBeforeItGoes(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: sm.Script{Steps: []sm.Step{
		{Status: 503, Body: `{"error":{"message":"busy"}}`, Header: map[string]string{"Retry-After": "0"}},
		{Status: 400, Body: `{"error":{"message":"Unsupported parameter: 'stream_options'","param":"stream_options","type":"invalid_request_error"}}`},
		sm.Reply(sm.Reasoning("hm"), sm.Text("Hello."), sm.Finish("stop"),
			sm.Event(`{"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":4},"completion_tokens_details":{"reasoning_tokens":2}}}`), sm.Done()),
	}}})
	seen := make(chan string, 9)
	r.model.OnRequest(func(sm.Request) {
		for _, rec := range r.records(journal.KindModel) {
			seen <- rec.Outcome
		}
	})
	res := r.ask("hi")
	if res.State != Finished {
		t.Fatal(res)
	}
	close(seen)
	n := 0
	for outcome := range seen {
		if n++; outcome != journal.Running {
			t.Error("while it goes on its record says", outcome)
		}
	}
	if n != 3 {
		t.Errorf("the record was there at %d of 3 requests", n)
	}
	rec := r.recorded(journal.KindModel, 1)[0]
	d, err := r.journal.Show(context.Background(), rec.Record)
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, e := range d.Events {
		var data struct {
			What   string
			Detail struct{ Status int }
		}
		if err := json.Unmarshal(e.Data, &data); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, strings.TrimSpace(e.Event+" "+data.What))
	}
	if got := strings.Join(steps, ", "); got != "proposed, intent, attempt request, attempt retry, attempt request, attempt adapted, attempt request, outcome" {
		t.Error(got)
	}
	sent := r.model.Requests()
	if len(d.Frames) != 6 || len(sent) != 3 {
		t.Fatal(len(d.Frames), len(sent))
	}
	for i, f := range d.Frames {
		if i%2 == 0 && (f.Direction != "out" || !bytes.Equal(f.Bytes, sent[i/2].Body)) {
			t.Errorf("frame %d is not what the endpoint got: %s", i, f.Bytes)
		}
	}
	if !bytes.HasSuffix(d.Frames[5].Bytes, []byte("data: [DONE]\n\n")) || d.Frames[5].Direction != "in" {
		t.Errorf("%s", d.Frames[5].Bytes)
	}
	if rec.Outcome != journal.OK || rec.Arguments != `{"purpose":"turn","endpoint":"`+r.model.URL()+`","messages":2,"tools":0}` {
		t.Error(rec.Outcome, rec.Arguments)
	}
	want := `{"model":"m","finish":"stop","calls":0,"input_tokens":10,"cached_tokens":4,"output_tokens":5,"reasoning_tokens":2,"answer":"Hello.","answer_message":`
	if !strings.HasPrefix(string(d.Result), want) {
		t.Errorf("%s", d.Result)
	}
	if v, err := r.journal.Verify(context.Background()); err != nil || !v.OK {
		t.Error(v, err)
	}
}

// How a request ended: stopped, broken off, refused; counts that nobody reported are not invented.
func TestHowRequestsEnd(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		step    sm.Step
		outcome string
		reason  string
	}{
		"broken off": {sm.Step{Header: map[string]string{"Content-Type": "text/event-stream"}, Parts: []sm.Part{sm.Text("Half")}}, journal.Unknown, "ended before"},
		"refused":    {sm.Step{Status: 401, Body: `{"error":"Unauthorized"}`}, journal.ProtocolError, "401"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, rigOptions{script: sm.Script{Steps: []sm.Step{tc.step}}})
			r.ask("hi")
			d, err := r.journal.Show(context.Background(), r.recorded(journal.KindModel, 1)[0].Record)
			if err != nil || d.Outcome != tc.outcome || !strings.Contains(d.Reason, tc.reason) || strings.Contains(string(d.Result), "tokens") || len(d.Frames) != 2 {
				t.Errorf("%s %q %s %d, %v", d.Outcome, d.Reason, d.Result, len(d.Frames), err)
			}
		})
	}
	t.Run("stopped", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, rigOptions{script: sm.Script{Steps: []sm.Step{{Header: map[string]string{"Content-Type": "text/event-stream"}, Parts: []sm.Part{sm.Text("Half")}, End: "hang"}}}})
		run, err := r.engine.Send(context.Background(), Turn{Text: "hi"})
		if err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(30 * time.Second); ; time.Sleep(2 * time.Millisecond) {
			if m, ok := r.engine.Live(run.Conversation()); ok && m.Text != "" {
				break
			}
			if time.Now().After(end) {
				t.Fatal("nothing comes")
			}
		}
		run.Stop()
		<-run.Done()
		d, err := r.journal.Show(context.Background(), r.recorded(journal.KindModel, 1)[0].Record)
		if err != nil || d.Outcome != journal.Cancelled || len(d.Frames) != 2 || !bytes.Contains(d.Frames[1].Bytes, []byte("Half")) {
			t.Errorf("%s %q %d, %v", d.Outcome, d.Reason, len(d.Frames), err)
		}
	})
}

// What cannot be recorded is not sent.
func TestARequestThatCannotBeRecordedIsNotSent(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: sm.Script{Steps: []sm.Step{{Say: "hello"}}}})
	if err := r.journal.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if res := r.ask("hi"); res.State != Failed || !strings.Contains(res.Error, "not sent") || len(r.model.Requests()) != 0 {
		t.Error(res, len(r.model.Requests()))
	}
}

// A server's request to the model is a record of its own below the one that the person decided about, and says why
// this model was asked.
func TestTheRequestForAServerIsRecorded(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{
		policy: consent.Policy{Calls: consent.Allow, Sampling: consent.Allow},
		script: sm.Script{Steps: []sm.Step{{Calls: []sm.Call{{Tool: "asks"}}}, {Say: "Oslo"}, {Say: "Done."}}},
	})
	r.server("s", "--step", `tool:asks=@ask sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"capital?"}}],"maxTokens":9}`, "--step", "tool:asks=@text ${answer}")
	if res := r.ask("hi"); res.State != Finished {
		t.Fatal(res)
	}
	sampling := r.recorded(journal.KindSampling, 1)[0]
	for _, rec := range r.recorded(journal.KindModel, 3) {
		purpose, _, why := ReadRequest(rec.Arguments)
		if purpose == ForSampling {
			if rec.Parent != sampling.Record || why != (consent.Target{}).Why() || rec.Outcome != journal.OK {
				t.Errorf("%+v", rec)
			}
			return
		}
	}
	t.Error("it is not recorded")
}
