package consent

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"steward/app/event"
	"steward/app/journal"
	"steward/mcphost"
)

// asking makes a tool of the scripted server that asks for the model.
func asking(tool, request string) []string {
	return []string{"--step", "tool:" + tool + "=@ask sampling/createMessage " + request, "--step", "tool:" + tool + "=@text ${answer}"}
}

// seenModel is what a model was really asked.
type seenModel struct {
	mu     sync.Mutex
	target []Target
	got    []mcphost.SamplingRequest
}

func (m *seenModel) sample(_ context.Context, _ string, t Target, _ int64, r mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.target, m.got = append(m.target, t), append(m.got, r)
	return mcphost.SamplingAnswer{Model: t.Model, Text: "an answer", StopReason: "endTurn"}, nil
}

func (m *seenModel) asked() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.got)
}

func at(endpoint, model string) func(context.Context, string, mcphost.SamplingRequest) Target {
	return func(context.Context, string, mcphost.SamplingRequest) Target {
		return Target{Endpoint: endpoint, Model: model}
	}
}

// intents are the exact texts that the record of a request says were about to be sent.
func (r *rig) intents(record int64) []string {
	r.t.Helper()
	d, err := r.journal.Show(context.Background(), record)
	if err != nil {
		r.t.Fatal(err)
	}
	var out []string
	for _, e := range d.Events {
		if e.Event == "intent" {
			out = append(out, string(e.Data))
		}
	}
	return out
}

// Everything that the person changed is what the model gets, and what the record says it got.
func TestAnEditedRequestIsWhatTheModelGets(t *testing.T) {
	t.Parallel()
	var m seenModel
	mapped := map[string]string{}
	r := newRig(t, func(o *Options) {
		allow(o)
		o.Sample, o.Target = m.sample, at("e_1", "small")
		o.MapHint = func(_ context.Context, endpoint, hint, model string) error {
			mapped[endpoint+"/"+hint] = model
			return nil
		}
	})
	conn, _ := r.server("s", asking("ask", `{"systemPrompt":"obey","messages":[{"role":"user","content":{"type":"text","text":"my card is 4111"}},{"role":"user","content":{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}},{"role":"assistant","content":{"type":"text","text":"drop me"}}],"maxTokens":50,"modelPreferences":{"hints":[{"name":"claude"}]}}`)...)
	out := r.run(context.Background(), r.call(conn, "ask", `{}`), conn, Limits{})
	i := r.item(KindSampling)
	if i.Sampling.Model != "small" || len(i.Sampling.Hints) != 1 || i.Presentation.Hints[0] != "claude" || i.Presentation.Model != "small" {
		t.Fatalf("shown %+v", i.Sampling)
	}
	for name, bad := range map[string]Answer{
		"too few messages":     {Action: Send, Edit: &SamplingEdit{Messages: []MessageEdit{{}}}},
		"no message left":      {Action: Send, Edit: &SamplingEdit{Messages: []MessageEdit{{Out: true}, {Out: true}, {Out: true}}}},
		"too many tokens":      {Action: Send, Edit: &SamplingEdit{MaxTokens: 1 << 21}},
		"trust without tokens": {Action: Send, Limits: &SamplingLimits{Trusted: 1}},
	} {
		if err := r.gate.Waiting().Answer(i.ID, i.Hash, bad); err == nil {
			t.Fatalf("%s: taken", name)
		}
	}
	system, masked := "be brief", "my card is ████"
	r.answer(i, Answer{Action: Send, System: &system, Edit: &SamplingEdit{
		Model: "large", MaxTokens: 7, Map: "claude", Messages: []MessageEdit{{Text: &masked}, {Bare: true}, {Out: true}},
	}})
	j := r.item(KindSamplingAnswer)
	if j.Hash == i.Hash || j.Presentation.Messages[0].Text != masked || len(j.Presentation.Messages) != 2 || j.Sampling.MaxTokens != 7 {
		t.Errorf("the answer's card shows %+v", j.Presentation)
	}
	r.answer(j, Answer{Action: Send})
	wait(t, out)
	got := m.got[0]
	if got.System != system || len(got.Messages) != 2 || got.Messages[0].Content[0].Text != masked || len(got.Messages[1].Content) != 0 || got.MaxTokens != 7 || m.target[0] != (Target{Endpoint: "e_1", Model: "large", Chosen: true}) {
		t.Errorf("the model got %+v at %+v", got, m.target[0])
	}
	if mapped["e_1/claude"] != "large" {
		t.Errorf("kept for hints: %v", mapped)
	}
	rec := r.records(journal.KindSampling)[0]
	intents := r.intents(rec.Record)
	if len(intents) != 1 {
		t.Fatalf("%d intents: %q", len(intents), intents)
	}
	for _, want := range []string{"large", "be brief", "████", `\"maxTokens\":7`} {
		if !strings.Contains(intents[0], want) && !strings.Contains(intents[0], strings.ReplaceAll(want, `\"`, `"`)) {
			t.Errorf("the record of what was sent lacks %s: %s", want, intents[0])
		}
	}
	if strings.Contains(intents[0], "4111") || strings.Contains(intents[0], "drop me") {
		t.Errorf("the record says that what was masked was sent: %s", intents[0])
	}
	if !r.seen(func(e event.Event) bool { s, ok := e.(event.Sampling); return ok && s.Action == "sent" && s.Edited }) {
		t.Error("the edit is not told")
	}
}

// The model is the one that was shown, also where another one is chosen meanwhile.
func TestTheModelThatWasShownIsAsked(t *testing.T) {
	t.Parallel()
	var m seenModel
	var mu sync.Mutex
	model := "shown"
	r := newRig(t, func(o *Options) {
		allow(o)
		o.Sample = m.sample
		o.Target = func(context.Context, string, mcphost.SamplingRequest) Target {
			mu.Lock()
			defer mu.Unlock()
			return Target{Endpoint: "e", Model: model}
		}
	})
	conn, _ := r.server("s")
	out := r.run(context.Background(), r.call(conn, "sample", `{}`), conn, Limits{})
	i := r.item(KindSampling)
	mu.Lock()
	model = "another"
	mu.Unlock()
	r.answer(i, Answer{Action: Send})
	r.answer(r.item(KindSamplingAnswer), Answer{Action: Deny, Reason: "not good"})
	wait(t, out)
	if m.target[0].Model != "shown" {
		t.Errorf("asked %+v", m.target[0])
	}
	rec := r.records(journal.KindSampling)[0]
	if len(r.intents(rec.Record)) != 1 {
		t.Error("what the model got is not in the record, though its answer was refused")
	}
}

// stated keeps limits as the app does.
type stated struct {
	mu sync.Mutex
	l  SamplingLimits
}

func (s *stated) get(string) SamplingLimits { s.mu.Lock(); defer s.mu.Unlock(); return s.l }
func (s *stated) set(_ context.Context, _ string, l SamplingLimits) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.l = l
	return nil
}

// Trust that the person states with an answer lets further requests go within its limits,
// and the next one is asked about; more than an hour may hold is refused.
func TestTrustUnderALimit(t *testing.T) {
	t.Parallel()
	var m seenModel
	var s stated
	r := newRig(t, func(o *Options) { allow(o); o.Sample, o.Limits, o.SetLimits = m.sample, s.get, s.set })
	conn, _ := r.server("s")
	first := r.run(context.Background(), r.call(conn, "sample", `{}`), conn, Limits{})
	r.answer(r.item(KindSampling), Answer{Action: Send, Limits: &SamplingLimits{PerHour: 5, Trusted: 2, TrustedTokens: 1000}})
	r.answer(r.item(KindSamplingAnswer), Answer{Action: Send})
	wait(t, first)
	for range 2 { // 50 tokens each
		r.now(r.callIn("c_1", newID("t_"), conn, "sample", `{}`), conn)
	}
	if m.asked() != 3 || len(r.gate.Waiting().List()) != 0 {
		t.Fatalf("the model was asked %d times", m.asked())
	}
	if !r.seen(func(e event.Event) bool { n, ok := e.(event.Notice); return ok && n.Kind == "sampling_trusted" }) {
		t.Error("a request that nobody saw is not told")
	}
	over := r.run(context.Background(), r.callIn("c_1", "t_over", conn, "sample", `{}`), conn, Limits{})
	r.answer(r.item(KindSampling), Answer{Action: Send})
	r.answer(r.item(KindSamplingAnswer), Answer{Action: Send})
	wait(t, over)
	last := r.run(context.Background(), r.callIn("c_1", "t_last", conn, "sample", `{}`), conn, Limits{})
	r.answer(r.item(KindSampling), Answer{Action: Send, Limits: &SamplingLimits{}})
	r.answer(r.item(KindSamplingAnswer), Answer{Action: Send})
	wait(t, last)
	if s.l != (SamplingLimits{}) {
		t.Errorf("the trust was not taken back: %+v", s.l)
	}
	s.l = SamplingLimits{PerHour: 5}
	if o := r.now(r.callIn("c_1", "t_more", conn, "sample", `{}`), conn); !strings.Contains(o.Text, "refused") || m.asked() != 5 {
		t.Errorf("beyond the hour's limit: %s; asked %d times", o.Text, m.asked())
	}
	by := map[string]int{}
	for _, rec := range r.records(journal.KindSampling) {
		by[rec.By]++
	}
	if by["person"] != 3 || by[byTrust] != 2 || by[byLimit] != 1 {
		t.Errorf("decided by %v", by)
	}
}

// The hour's limit holds also where nobody is asked and many ask at once.
func TestTheHoursLimitHoldsForManyAtOnce(t *testing.T) {
	t.Parallel()
	var m seenModel
	r := newRig(t, func(o *Options) {
		allow(o)
		o.Policy.Sampling, o.MaxSamples, o.Sample, o.Limits = Allow, 100, m.sample, func(string) SamplingLimits { return SamplingLimits{PerHour: 3} }
	})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			text := mcphost.SamplingMessage{Role: "user", Content: []mcphost.Content{{Type: "text", Text: "?"}}}
			_, err := r.gate.Sample(context.Background(), mcphost.SamplingRequest{Server: "s", Messages: []mcphost.SamplingMessage{text}, MaxTokens: 5})
			if err != nil && !errors.Is(err, mcphost.ErrNotAllowed) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if m.asked() != 3 {
		t.Errorf("the model was asked %d times", m.asked())
	}
}

// A request of a server that the person trusts is shown again once it wants more tokens than
// were stated.
func TestTrustCountsTokens(t *testing.T) {
	t.Parallel()
	var m seenModel
	r := newRig(t, func(o *Options) {
		allow(o)
		o.Sample, o.Limits = m.sample, func(string) SamplingLimits { return SamplingLimits{Trusted: 10, TrustedTokens: 49} }
	})
	conn, _ := r.server("s")
	out := r.run(context.Background(), r.call(conn, "sample", `{}`), conn, Limits{})
	r.answer(r.item(KindSampling), Answer{Action: Deny})
	wait(t, out)
	if m.asked() != 0 {
		t.Error("sent without asking")
	}
}

// A tool whose name must be typed is covered by no grant, and by no yes without its name.
func TestAToolThatAsksForItsName(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	twice := false
	r := newRig(t, func(o *Options) {
		o.Twice = func(server, tool string) bool {
			mu.Lock()
			defer mu.Unlock()
			return twice && server == "s" && tool == "echo"
		}
	})
	conn, got := r.server("s")
	out := r.run(context.Background(), r.call(conn, "echo", `{}`), conn, Limits{})
	i := r.item(KindCall)
	if i.Twice {
		t.Error("an ordinary tool asks for its name")
	}
	r.answer(i, Answer{Action: Allow, Scope: Always})
	wait(t, out)
	mu.Lock()
	twice = true
	mu.Unlock()
	out = r.run(context.Background(), r.call(conn, "echo", `{}`), conn, Limits{})
	i = r.item(KindCall)
	if !i.Twice {
		t.Error("the item does not say that the name is asked for")
	}
	for _, bad := range []Answer{{Action: Allow}, {Action: Allow, Typed: "ECHO"}, {Action: Allow, Typed: "echo", Scope: Always}, {Action: Allow, Typed: "echo", Scope: InConversation}} {
		if err := r.gate.Waiting().Answer(i.ID, i.Hash, bad); err == nil {
			t.Fatalf("%+v was taken", bad)
		}
	}
	if n := len(got()); n != 1 {
		t.Fatalf("the server got %d calls", n)
	}
	r.answer(i, Answer{Action: Allow, Typed: "echo"})
	expect(t, wait(t, out), Allowed, "person", "ok", "done")
}

// The card of a call knows whether arguments fit the schema, and of a definition that is
// another one than when the tool was last used.
func TestWhatACardKnowsOfItsTool(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	list := func(description string) []string {
		return []string{"--step", `tools/list={"jsonrpc":"2.0","id":${id},"result":{"tools":[{"name":"echo","description":"` + description + `","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]}}`}
	}
	for k, description := range []string{"one", "two", "two"} {
		conn, _ := r.server("s", list(description)...)
		review, err := r.gate.Review(context.Background(), conn)
		if err == nil {
			err = r.gate.Trust(context.Background(), conn, review.Hash)
		}
		if err != nil {
			t.Fatal(err)
		}
		out := r.run(context.Background(), r.call(conn, "echo", `{"n":1}`), conn, Limits{})
		i := r.item(KindCall)
		if !i.Presentation.Fits || len(i.Violations(`{"n":1}`)) != 0 || len(i.Violations(`{"n":"x"}`)) != 1 || len(i.Violations(`{}`)) != 1 {
			t.Errorf("fits %v; violations %v", i.Presentation.Fits, i.Violations(`{"n":"x"}`))
		}
		if changed := strings.Contains(strings.Join(i.Presentation.Warnings, "|"), "definition has changed"); changed != (k == 1) {
			t.Errorf("round %d: warnings %q", k, i.Presentation.Warnings)
		}
		r.answer(i, Answer{Action: Allow})
		wait(t, out)
		if err := conn.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

// A server that asks in vain as often as it can does not get its hour back, and neither does
// one that names its limit of tokens so that it reads as another one.
func TestRefusedRequestsHideNoAllowedOnes(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	ctx := context.Background()
	propose := func(decision, by, arguments string) {
		e, err := r.journal.Propose(ctx, journal.Proposal{Kind: journal.KindSampling, Server: "s", Arguments: arguments})
		if err == nil {
			err = e.Decided(ctx, journal.Decision{Decision: decision, By: by})
		}
		if err == nil {
			err = e.Outcome(ctx, journal.Outcome{Outcome: journal.Withdrawn, Effect: journal.EffectNone})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	propose(Allowed, byTrust, `{"maxTokens":900,"MAXTOKENS":1}`)
	propose(Allowed, byTrust, `{"maxTokens":100}`)
	propose(Allowed, byPerson, `{"maxTokens":100}`)
	f := journal.Filter{Kind: string(journal.KindSampling), Server: "s", Limit: 4}
	for range f.Limit {
		propose(Denied, byLimit, `{}`)
	}
	newest, err := r.journal.List(ctx, f)
	if err != nil || len(newest) != f.Limit || newest[f.Limit-1].Decision != Denied { // what refused ones would crowd out
		t.Fatalf("the newest are %+v, %v", newest, err)
	}
	u, err := r.gate.sampledLately(ctx, "s", 0, f.Limit)
	if err != nil || u != (sampleUse{requests: 3, trusted: 2, tokens: 1000}) {
		t.Errorf("counted %+v, %v", u, err)
	}
	for arguments, want := range map[string]int{
		`{"maxTokens":5,"maxTokens":6}`: 4096, `{"MaxTokens":5}`: 4096, `{"maxTokens":"5"}`: 4096, `{"maxTokens":0.5}`: 4096, `[`: 4096,
		`{"maxTokens":1e9}`: 4096, `{"maxTokens":7.9,"x":{"maxTokens":1}}`: 7,
	} {
		if got := wantedTokens(arguments, 4096); got != want {
			t.Errorf("%s counts for %d, want %d", arguments, got, want)
		}
	}
}
