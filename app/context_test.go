package app

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"steward/app/chat"
	"steward/app/consent"
	"steward/app/event"
	"steward/llm"
	"steward/testdata/scriptedmodel"
)

const refusedForSize = `{"error":{"code":400,"message":"request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":8192}}`

func (r *rig) use(id string) ContextUse {
	r.t.Helper()
	return must(r.t, func() (ContextUse, error) { return r.app.ContextUse(context.Background(), id) })
}

func (r *rig) requests() int {
	n := 0
	for _, q := range r.model.Requests() {
		if strings.HasSuffix(q.Path, "/chat/completions") {
			n++
		}
	}
	return n
}

func TestHowMuchAModelCanReadIsKnownFromThePersonAndTheEndpoint(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil, say("one"))
	id := r.say("", "hello")
	if u := r.use(id); u.Window != 0 || u.Source != "" || u.Full() || u.Percent() != 0 || u.Sum() == 0 || u.Model != "fake" {
		t.Errorf("nobody knows, and it says %+v", u)
	}
	if _, ok := r.app.FiguresOf(ctx, id); !ok {
		t.Fatal("nothing can be said of the model")
	}
	r.app.toldWindow(must(t, func() (string, error) { return r.where(id), nil }), "fake", 4096)
	if u := r.use(id); u.Window != 4096 || u.Source != WindowByEndpoint {
		t.Errorf("the endpoint told 4096: %+v", u)
	}
	check(t, r.app.SetFigures(ctx, id, ModelFigures{Window: 100}))
	if u := r.use(id); u.Window != 100 || u.Source != WindowByPerson || !u.Full() || u.Percent() < 80 {
		t.Errorf("the person says 100: %+v", u)
	}
	r.reopen()
	if u := r.use(id); u.Window != 100 {
		t.Errorf("after a restart: %+v", u)
	}
	check(t, r.app.SetFigures(ctx, id, ModelFigures{}))
	if u := r.use(id); u.Window != 4096 {
		t.Errorf("the person says nothing any more: %+v", u)
	}
	for _, bad := range []ModelFigures{{Window: -1}, {Price: Price{Input: "cheap"}}, {Price: Price{Output: "-2"}}, {Price: Price{Cached: "inf"}}} {
		if err := r.app.SetFigures(ctx, id, bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
}

func (r *rig) where(id string) string {
	base, _, _ := r.app.answering(context.Background(), id)
	return strings.TrimSuffix(base, "/v1")
}

// A conversation near the window is told of once, and is compacted by itself where the person
// wants that.
func TestAFullConversationIsToldOfAndCompacted(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	long := strings.Repeat("many words that fill the window of the model ", 60) // some 600 tokens
	r := newRig(t, nil, say("A1"), say("A2"), say("A3"), say("PART-NOTE"), say("THE-NOTE"), say("A4"))
	id := r.say("", "Q1 "+long)
	check(t, r.app.SetFigures(ctx, id, ModelFigures{Window: 1500}))
	full := func() (n int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, e := range r.events {
			if n2, ok := e.(event.Notice); ok && n2.Kind == "context_full" {
				n++
			}
		}
		return n
	}
	if r.say(id, "Q2 "+long); full() != 1 {
		t.Errorf("told %d times", full())
	}
	if r.say(id, "Q3"); full() != 1 {
		t.Errorf("told %d times, of the same", full())
	}
	if r.requests() != 3 {
		t.Fatalf("%d requests: it was compacted without being asked for", r.requests())
	}
	check(t, r.app.SetAutoCompact(ctx, true))
	if !r.app.AutoCompact() {
		t.Error("it is not switched on")
	}
	r.say(id, "Q4")
	texts, _ := r.lastRequest()
	all := strings.Join(texts, "|")
	if r.requests() != 6 || !strings.Contains(all, "THE-NOTE") || strings.Contains(all, "Q1 ") || !strings.Contains(all, "Q4") {
		t.Errorf("%d requests, the last: %.300s", r.requests(), all)
	}
	if u := r.use(id); u.Full() {
		t.Errorf("it is still full: %+v", u)
	}
	list := r.messages(id)
	var roles []string
	for _, m := range list {
		roles = append(roles, m.Role)
	}
	i := slices.Index(roles, "note")
	if i < 0 || i != list[i].Noted || list[i].Text != "THE-NOTE" || list[i].Seq != list[i-1].Seq {
		t.Fatalf("the note stands at %d of %v: %+v", i, roles, list[max(i, 0)])
	}
	md := must(t, func() (string, error) { return r.app.ExportConversation(ctx, id) })
	if !strings.Contains(md, "THE-NOTE") || !strings.Contains(md, "Q1") {
		t.Error("the export lacks the note, or what it stands for")
	}
	if hits := must(t, func() ([]Conversation, error) { return r.app.Conversations(ctx, Query{Search: "Q1"}) }); len(hits) != 1 {
		t.Error("what the note stands for is not found any more")
	}
	check(t, r.app.TakeBackNote(ctx, id, list[i].ID))
	if after := r.messages(id); len(after) != len(list)-1 {
		t.Errorf("%d messages, %d with the note", len(after), len(list))
	}
}

// huge is a conversation whose tool gave more than the model can read: the request is made
// shorter once by itself, which is not enough.
func huge(t *testing.T, steps ...scriptedmodel.Step) (*rig, string) {
	t.Helper()
	fail := scriptedmodel.Fail(400, refusedForSize)
	call := calls("echo", `{"text":"`+strings.Repeat("result ", 8000)+`"}`)
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--only", "echo")}, append([]scriptedmodel.Step{call, fail, fail}, steps...)...)
	turn := r.send(Draft{Text: "go"})
	r.answer(consent.Answer{Action: consent.Allow})
	if state := r.done(turn); state != "failed" {
		t.Fatalf("the turn is %s", state)
	}
	return r, turn.Conversation()
}

func TestAResultThatIsTooLargeHasWaysOut(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	result := func(r *rig) string {
		texts, _ := r.lastRequest()
		return texts[len(texts)-1]
	}
	t.Run("shortened further", func(t *testing.T) {
		t.Parallel()
		r, id := huge(t, say("done"), say("still here"))
		u := r.use(id)
		if !u.Refused || u.Used != 9000 || u.Limit != 8192 || !u.Shortable || u.Window != 8192 || u.Source != WindowByEndpoint {
			t.Fatalf("%+v", u)
		}
		before := len(result(r))
		if state := r.done(r.app.ShortenAndGoOn(ctx, id)); state != "finished" {
			t.Fatalf("the turn is %s", state)
		}
		if after := len(result(r)); after >= before || after == 0 {
			t.Errorf("the result had %d bytes, and then %d", before, after)
		}
		if u := r.use(id); u.Refused {
			t.Error("it is still told as refused")
		}
		if m := r.messages(id); m[1].Calls[0].Text == "" || len(m[1].Calls[0].Text) < 50_000 {
			t.Errorf("what is stored was shortened to %d bytes", len(m[1].Calls[0].Text))
		}
		r.say(id, "and now?")
		if _, err := r.app.ShortenAndGoOn(ctx, id); err == nil {
			t.Error("nothing was refused, and it is sent again")
		}
	})
	t.Run("left out", func(t *testing.T) {
		t.Parallel()
		r, id := huge(t, say("done"), say("again"))
		largest := must(t, func() ([]ContextPart, error) { return r.app.LargestResults(ctx, id, 5) })
		if len(largest) != 1 || largest[0].Server != "s" || largest[0].Tool != "echo" || largest[0].Bytes < 50_000 {
			t.Fatalf("%+v", largest)
		}
		check(t, r.app.LeaveOutResults(ctx, id, []string{largest[0].Call}, true))
		if state := r.done(r.app.GoOn(ctx, id)); state != "finished" {
			t.Fatalf("the turn is %s", state)
		}
		if got := result(r); !strings.Contains(got, "left out") || len(got) > 500 {
			t.Errorf("%.300s", got)
		}
		r.reopen()
		check(t, r.app.LeaveOutResults(ctx, id, []string{largest[0].Call}, false))
		r.say(id, "take it in again")
		texts, _ := r.lastRequest()
		if !strings.Contains(strings.Join(texts, "|"), "result result") {
			t.Error("it is still left out")
		}
	})
	t.Run("nothing runs again", func(t *testing.T) {
		t.Parallel()
		r, id := huge(t, say("done"))
		r.done(r.app.ShortenAndGoOn(ctx, id))
		list := r.messages(id)
		if n := len(list[1].Calls); n != 1 || len(list) != 3 || len(r.app.Waiting().List()) != 0 {
			t.Errorf("%d calls in %d messages", n, len(list))
		}
		if _, err := r.app.GoOn(ctx, id); err == nil {
			t.Error("the model is asked to answer what it has answered")
		}
	})
}

// Money is counted where the person gave a price, and nowhere else.
func TestCosts(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	used := scriptedmodel.Event(`{"choices":[],"usage":{"prompt_tokens":1000000,"completion_tokens":200000,"total_tokens":1200000,"prompt_tokens_details":{"cached_tokens":400000}}}`)
	answer := scriptedmodel.Reply(scriptedmodel.Text("hi"), scriptedmodel.Finish("stop"), used, scriptedmodel.Done())
	r := newRig(t, nil, answer, scriptedmodel.Reply(scriptedmodel.Text("no figures"), scriptedmodel.Finish("stop"), scriptedmodel.Done()))
	id := r.say("", "one")
	r.say(id, "two")
	if u := r.use(id); len(u.Costs) != 0 || u.Answers != 2 {
		t.Errorf("without a price: %+v", u)
	}
	check(t, r.app.SetFigures(ctx, id, ModelFigures{Price: Price{Input: "2", Currency: "EUR"}}))
	if u := r.use(id); len(u.Costs) != 0 {
		t.Errorf("with half of a price: %+v", u)
	}
	check(t, r.app.SetFigures(ctx, id, ModelFigures{Price: Price{Input: "2", Cached: "0,5", Output: "10.00", Currency: "EUR"}}))
	want := 0.6*2 + 0.4*0.5 + 0.2*10
	u := r.use(id)
	if len(u.Costs) != 1 || math.Abs(u.Costs[0].Amount-want) > 1e-9 || u.Costs[0].Currency != "EUR" || u.Answers != 2 || u.Priced != 1 {
		t.Errorf("%+v, want %.2f EUR", u, want)
	}
	list := r.messages(id)
	if m := list[1]; !m.Priced || math.Abs(m.Cost.Amount-want) > 1e-9 || m.Spent.Output != 200000 || m.Spent.Cached != 400000 || m.Spent.Seconds < 0 {
		t.Errorf("%+v", m)
	}
	if m := list[3]; m.Priced || m.Spent.Reported() {
		t.Errorf("an answer without figures costs %+v", m.Cost)
	}
}

// The estimate comes near what the endpoint reports, once it has reported a few times.
func TestAnEstimateIsCorrectedByWhatIsReported(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	words := strings.Repeat("as this model counts, each word is two tokens ", 200)
	r := newRig(t, nil)
	where := "http://127.0.0.1:1"
	_ = r.use("") // somebody estimates
	req := must(t, func() (previewed, error) { return r.app.preview(ctx, "") }).request
	req.Messages = append(req.Messages, req.Messages[0])
	req.Messages[1].Role, req.Messages[1].Text = "user", words
	estimate := chat.Weigh(req).Sum()
	for range 8 {
		r.app.reported(where, "odd", req, llm.Usage{Input: estimate * 17 / 10})
	}
	room := r.app.room(where, "odd")
	if got := room.Factor.Apply(estimate); math.Abs(float64(got)/float64(estimate)-1.7) > 0.02 {
		t.Errorf("estimated %d, reported %d, corrected to %d", estimate, estimate*17/10, got)
	}
	if other := r.app.room(where, "other").Factor; other.Reports != 0 {
		t.Errorf("another model learned it too: %+v", other)
	}
}

func TestThePartsOfARequestAreListed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--only", "echo", "--only", "add")}, calls("echo", `{"text":"hello"}`), say("done"))
	turn := r.send(Draft{Text: "go"})
	r.answer(consent.Answer{Action: consent.Allow})
	r.done(turn)
	id := turn.Conversation()
	parts := must(t, func() ([]ContextPart, error) { return r.app.ContextParts(ctx, id) })
	u := r.use(id)
	sums, kinds := map[string]int{}, []string{}
	for _, p := range parts {
		kind := p.Kind
		if kind != PartSystem && kind != PartTool {
			kind = "messages"
		}
		sums[kind] += p.Tokens
		kinds = append(kinds, p.Kind+":"+p.Tool)
	}
	if want := []string{"system:", "tool:", "tool:", "user:", "answer:", "result:echo", "answer:"}; len(kinds) != len(want) {
		t.Errorf("%v", kinds)
	} else {
		for i := range want {
			if !strings.HasPrefix(kinds[i], want[i]) {
				t.Errorf("part %d is %s, want %s", i, kinds[i], want[i])
			}
		}
	}
	for kind, pair := range map[string][2]int{"system": {sums[PartSystem], u.System}, "tools": {sums[PartTool], u.Tools}, "messages": {sums["messages"], u.Messages}} {
		if d := pair[0] - pair[1]; d > len(parts) || d < -len(parts) {
			t.Errorf("%s: the parts add up to %d, the sum says %d", kind, pair[0], pair[1])
		}
	}
	if fmt.Sprint(parts[1].Server) != "s" || parts[1].Tokens < parts[2].Tokens {
		t.Errorf("the tools are %+v", parts[1:3])
	}
}
