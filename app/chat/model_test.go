package chat

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"steward/app/consent"
	"steward/app/journal"
	"steward/llm"
	sm "steward/testdata/scriptedmodel"
)

// Who changes the model during a turn is answered by it from the next request on; what was called stays.
func TestAModelThatIsChangedDuringATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict(sm.CallTool("echo", `{"text":"x"}`), sm.Say("from the other"))})
	r.server("s")
	other, err := llm.New(llm.Endpoint{BaseURL: r.model.URL(), Model: "other"}, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(other.Close)
	var changed atomic.Bool
	before := r.engine.o.Model
	r.engine.o.Model = func(ctx context.Context, c string) (*llm.Client, string, error) {
		if changed.Load() {
			return other, "other", nil
		}
		return before(ctx, c)
	}
	run := r.send(Turn{Text: "go"})
	item := r.waiting(1)[0]
	changed.Store(true)
	r.answer(item, consent.Answer{Action: consent.Allow})
	r.want(r.finish(run), Finished)
	for i, want := range []string{"fake", "other"} {
		var b struct{ Model string }
		if err := json.Unmarshal(r.model.Requests()[i].Body, &b); err != nil || b.Model != want {
			t.Errorf("request %d asks %q, %v", i+1, b.Model, err)
		}
	}
	if rec := r.recorded(journal.KindModel, 2); rec[0].Model != "fake" || rec[1].Model != "other" {
		t.Errorf("recorded: %+v", rec)
	}
	if got := r.tools(2); len(got) != 1 || got[0] != "x" {
		t.Errorf("the other model got %q", got)
	}
}

// A model that can no longer be had ends the turn with what was called kept.
func TestAModelThatIsGoneDuringATurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict(sm.CallTool("echo", `{"text":"x"}`))})
	r.server("s")
	var asked atomic.Int32
	before := r.engine.o.Model
	r.engine.o.Model = func(ctx context.Context, c string) (*llm.Client, string, error) {
		if asked.Add(1) > 1 {
			return nil, "", errors.New("there is no such endpoint any more")
		}
		return before(ctx, c)
	}
	run := r.send(Turn{Text: "go"})
	r.answer(r.waiting(1)[0], consent.Answer{Action: consent.Allow})
	res := r.finish(run)
	r.want(res, Failed)
	if !strings.Contains(res.Error, "no such endpoint") || len(r.messages(res.Conversation)) != 3 {
		t.Errorf("%+v", res)
	}
}
