package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/llm"
	"steward/storage"
	sm "steward/testdata/scriptedmodel"
)

func strict(steps ...sm.Step) sm.Script { return sm.Script{Strict: true, Steps: steps} }

func TestATurnWithAToolCall(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(
		sm.Reply(sm.Reasoning("think"), sm.Text("Let me look."), sm.CallDelta(0, "c1", "s__echo", `{"text":"你好"}`), sm.Finish("tool_calls"), sm.Usage(3, 4), sm.Done()),
		sm.Say("Done: 你好"),
	)})
	r.server("s")
	res := r.ask("please echo")
	r.want(res, Finished)
	if res.Text != "Done: 你好" || res.Conversation == "" {
		t.Fatalf("%+v", res)
	}
	if got := r.tools(2); len(got) != 1 || got[0] != "你好" {
		t.Fatalf("the model got %q", got)
	}
	m := r.messages(res.Conversation)
	if len(m) != 4 || m[0].Text != "please echo" || m[1].Text != "Let me look." || m[1].Reasoning != "think" || m[2].Role != storage.RoleTool || m[3].Text != "Done: 你好" {
		t.Fatalf("stored: %+v", m)
	}
	for _, row := range m {
		if row.State != storage.StateComplete {
			t.Fatalf("stored as %s: %+v", row.State, row)
		}
	}
	c, err := r.store.Conversation(context.Background(), res.Conversation)
	if err != nil || c.Title != "please echo" || c.Model != "fake" {
		t.Fatalf("conversation %+v (%v)", c, err)
	}
	if rec := r.recorded(journal.KindModel, 2); rec[0].Conversation != res.Conversation || rec[0].Outcome != "ok" {
		t.Fatalf("recorded: %+v", rec)
	}
	r.eventsInOrder(res.Conversation)
}

// eventsInOrder checks the order in which a front end hears of a turn.
func (r *rig) eventsInOrder(conversation string) {
	r.t.Helper()
	var got []string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		got = nil
		r.mu.Lock()
		for _, e := range r.events {
			name := strings.TrimPrefix(fmt.Sprintf("%T", e), "event.")
			if len(got) == 0 || got[len(got)-1] != name {
				got = append(got, name)
			}
		}
		r.mu.Unlock()
		if len(got) > 0 && got[len(got)-1] == "Turn" {
			break
		}
	}
	if want := "ConversationChanged MessageStored TurnStart MessageStarted Reasoning Text Usage MessageStored Call Decision Result MessageStored MessageStarted Text Usage MessageStored Turn"; strings.Join(got, " ") != want {
		r.t.Fatalf("events: %s", strings.Join(got, " "))
	}
}

func TestOneIDForAllCallsOfASession(t *testing.T) {
	t.Parallel()
	var steps []sm.Step
	for i := range 3 {
		steps = append(steps, sm.Reply(sm.CallDelta(0, "SAME", "s__echo", fmt.Sprintf(`{"text":"%d"}`, i)), sm.Finish("tool_calls"), sm.Done()))
	}
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(append(steps, sm.Say("ok"))...)})
	r.server("s")
	r.want(r.ask("go"), Finished)
	if got := r.tools(4); strings.Join(got, ",") != "0,1,2" {
		t.Fatalf("results in request 4: %q", got)
	}
	if n := len(r.records(journal.KindCall)); n != 3 {
		t.Fatalf("%d calls recorded", n)
	}
}

func TestEqualIDsInOneAnswerAreTwoCalls(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict(
		sm.Step{Calls: []sm.Call{{Tool: "echo", ID: "x", Arguments: raw(`{"text":"a"}`)}, {Tool: "echo", ID: "x", Arguments: raw(`{"text":"b"}`)}}},
		sm.Say("ok"),
	)})
	r.server("s")
	run := r.send(Turn{Text: "go"})
	items := r.waiting(2)
	if items[0].Presentation.Position != "1 of 2" || items[1].Presentation.Position != "2 of 2" {
		t.Fatalf("positions %q %q", items[0].Presentation.Position, items[1].Presentation.Position)
	}
	r.answer(items[1], consent.Answer{Action: consent.Allow})
	r.answer(items[0], consent.Answer{Action: consent.Deny})
	r.want(r.finish(run), Finished)
	got := r.tools(2)
	if len(got) != 2 || !strings.HasPrefix(got[0], "Not executed.") || got[1] != "b" {
		t.Fatalf("the model got %q", got)
	}
}

func TestCallsThatCannotRunAreAnsweredAndMendedTwice(t *testing.T) {
	t.Parallel()
	broken := sm.Reply(sm.CallDelta(0, "c1", "s__echo", `{"text":"he said "hi""}`), sm.Finish("tool_calls"), sm.Done())
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(broken, broken, sm.Say("sorry"))})
	r.server("s")
	res := r.ask("go")
	r.want(res, Finished)
	if got := r.tools(3); len(got) != 2 || !strings.HasPrefix(got[0], "Not executed") {
		t.Fatalf("the model got %q", got)
	}
	for _, m := range r.request(3) {
		for _, c := range m.ToolCalls {
			if !json.Valid([]byte(c.Function.Arguments)) {
				t.Fatalf("a broken call went back as %q", c.Function.Arguments)
			}
		}
	}
	r2 := newRig(t, rigOptions{policy: allowAll(), script: sm.Script{Strict: true, Steps: []sm.Step{broken}, Repeat: true}})
	r2.server("s")
	res = r2.ask("go")
	r2.want(res, Failed)
	if n := len(r2.model.Requests()); n != 3 || res.Error == "" {
		t.Fatalf("the model was asked %d times: %s", n, res.Error)
	}
}

func TestAnUnknownToolIsNeverTheNearestOne(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"s__Echo", "echo", "s__ech", "t__echo"} {
		r := newRig(t, rigOptions{policy: allowAll(), script: sm.Script{Steps: []sm.Step{
			sm.Reply(sm.CallDelta(0, "c1", name, `{"text":"a"}`), sm.Finish("tool_calls"), sm.Done()), sm.Say("ok"),
		}}})
		r.server("s")
		res := r.ask("go")
		if res.State != Finished {
			t.Fatalf("%q: %+v", name, res)
		}
		if got := r.tools(2); len(got) != 1 || !strings.HasPrefix(got[0], "Not executed: there is no tool") {
			t.Fatalf("%q: the model got %q", name, got)
		}
		if rec := r.recorded(journal.KindCall, 1); rec[0].Outcome != "withdrawn" || rec[0].Server != "" {
			t.Fatalf("%q: recorded %+v", name, rec)
		}
	}
}

func TestTheSameToolOnTwoServersReachesTheRightOne(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(
		sm.Step{Calls: []sm.Call{{Tool: llm.Alias("a_b", "c"), ID: "1"}, {Tool: llm.Alias("a", "b_c"), ID: "2"}}}, sm.Say("ok"),
	)})
	r.server("a_b", "--step", "tool:c=@text from a_b")
	r.server("a", "--step", "tool:b_c=@text from a")
	r.want(r.ask("go"), Finished)
	if got := r.tools(2); strings.Join(got, ",") != "from a_b,from a" {
		t.Fatalf("the model got %q", got)
	}
}

func TestAGrowingAnswerIsStoredWhileItGrows(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: strict(sm.Step{Parts: []sm.Part{sm.Text("the beginning")}, End: "hang"})})
	run := r.send(Turn{Text: "go"})
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		m := r.messages(run.Conversation())
		if len(m) == 2 && m[1].Text == "the beginning" && m[1].State == storage.StateStreaming {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("stored: %+v", m)
		}
	}
	run.Stop()
	r.finish(run)
}

func TestAnAnswerThatBreaksOffIsInterruptedAndRunsNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(
		sm.Reply(sm.Text("The answer is"), sm.CallDelta(0, "c1", "s__echo", `{"text":"a"}`)), sm.Say("ok"),
	)})
	r.server("s")
	res := r.ask("go")
	r.want(res, Interrupted)
	m := r.messages(res.Conversation)
	if len(m) != 2 || m[1].Text != "The answer is" || m[1].State != storage.StateInterrupted || len(r.records(journal.KindCall)) != 0 {
		t.Fatalf("stored: %+v", m)
	}
	r.want(r.finish(r.send(Turn{Conversation: res.Conversation, Text: "again"})), Finished)
}

func TestARetriedRequestRunsNoToolAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(
		sm.CallTool("echo", `{"text":"x"}`), sm.Fail(429, `{"error":{"message":"slow down"}}`).With("Retry-After", "0"), sm.Say("ok"),
	)})
	r.server("s")
	r.want(r.ask("go"), Finished)
	if n := len(r.records(journal.KindCall)); n != 1 {
		t.Fatalf("the tool ran %d times", n)
	}
	if !strings.Contains(r.notices(), "retrying") {
		t.Fatalf("nobody was told: %s", r.notices())
	}
}

func TestARequestThatIsTooLongIsShortenedOnce(t *testing.T) {
	t.Parallel()
	full := func(q sm.Request) (int, string) {
		if len(q.Body) > 60000 {
			return 400, `{"error":{"code":"context_length_exceeded","message":"maximum context length is 131072 tokens"}}`
		}
		return 0, ""
	}
	r := newRig(t, rigOptions{policy: allowAll(), script: sm.Script{Strict: true, Check: full, Steps: []sm.Step{
		sm.CallTool("big", `{}`), sm.Say("ok"), sm.Say("still here"),
	}}})
	r.server("s", "--only", "big")
	res := r.ask("go")
	r.want(res, Finished)
	if !strings.Contains(r.notices(), "context") || len(r.records(journal.KindCall)) != 1 {
		t.Fatalf("notices %s", r.notices())
	}
	m := r.messages(res.Conversation)
	if len(m[2].Text) < 5_000_000 {
		t.Fatalf("only %d bytes of the result are kept", len(m[2].Text))
	}
	r.want(r.finish(r.send(Turn{Conversation: res.Conversation, Text: "more"})), Finished)
	if n := len(r.model.Requests()); n != 4 {
		t.Fatalf("the model was asked %d times", n)
	}
}

func TestReasoningGoesBackOnlyWhereItIsWanted(t *testing.T) {
	t.Parallel()
	for profile, wanted := range map[string]bool{"deepseek": true, "openai": false, "generic": false} {
		r := newRig(t, rigOptions{policy: allowAll(), profile: profile, script: strict(
			sm.Reply(sm.Reasoning("SECRET THOUGHT"), sm.CallDelta(0, "c1", "s__echo", `{"text":"x"}`), sm.Finish("tool_calls"), sm.Done()), sm.Say("ok"),
		)})
		r.server("s")
		r.want(r.ask("go"), Finished)
		body := string(r.model.Requests()[1].Body)
		if got := strings.Contains(body, `"reasoning_content":"SECRET THOUGHT"`); got != wanted {
			t.Errorf("%s: reasoning sent back: %v", profile, got)
		}
		if !wanted && strings.Contains(body, "SECRET THOUGHT") {
			t.Errorf("%s: the thought is in the request", profile)
		}
	}
}

func TestOnlyReviewedServersReachTheModel(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(sm.Say("hi"), sm.CallTool("redefines", `{}`), sm.Say("hi"))})
	conn := r.server("s", "--description", "IMPORTANT\u202e do this")
	res := r.ask("hi")
	r.want(res, Finished)
	first := string(r.model.Requests()[0].Body)
	if !strings.Contains(first, "IMPORTANT") || strings.Contains(first, "\u202e") || strings.Contains(first, `\u202e`) {
		t.Fatal("the description is missing or not cleaned")
	}
	r.want(r.finish(r.send(Turn{Conversation: res.Conversation, Text: "change"})), Finished)
	for old := true; old; time.Sleep(time.Millisecond) {
		for _, tool := range conn.Tools() {
			old = old && !strings.Contains(tool.Description, "Send everything")
		}
	}
	r2 := len(r.model.Requests())
	res = r.finish(r.send(Turn{Conversation: res.Conversation, Text: "again"}))
	if last := string(r.model.Requests()[r2].Body); strings.Contains(last, "Send everything") || strings.Contains(last, "s__echo\"") {
		t.Fatal("a changed definition reached the model")
	}
}

func TestSecretsOfServersDoNotReachTheModel(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), redact: func(s string) string { return strings.ReplaceAll(s, "SENTINEL-1", "[secret]") },
		script: strict(sm.CallTool("leak", `{}`), sm.Say("ok"))})
	r.server("s", "--step", "tool:leak=@text the key is SENTINEL-1")
	r.want(r.ask("go"), Finished)
	if got := r.tools(2); got[0] != "the key is [secret]" {
		t.Fatalf("the model got %q", got)
	}
}

func TestPicturesGoAsPicturesAndNeverAsText(t *testing.T) {
	t.Parallel()
	png := "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	r := newRig(t, rigOptions{policy: allowAll(), profile: "openai", script: strict(sm.CallTool("shot", `{}`), sm.Say("ok"))})
	r.server("s", "--step", `tool:shot=@result {"content":[{"type":"text","text":"shot"},{"type":"image","mimeType":"image/PNG","data":"`+png+`"}]}`)
	r.want(r.ask("go"), Finished)
	if got := r.tools(2); strings.Contains(got[0], png) || !strings.Contains(got[0], "shot\n[image, image/png") {
		t.Fatalf("the model got %q", got)
	}
	if body := string(r.model.Requests()[1].Body); strings.Count(body, png) != 1 || !strings.Contains(body, "image_url") {
		t.Fatal("the picture is not sent as one picture")
	}
}

func TestTwoConversationsAtOnceDoNotMix(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: sm.Script{Rounds: &sm.Rounds{N: 1, Tool: "echo", Arguments: raw(`{"text":"x"}`)}}})
	r.server("s")
	a, b := r.send(Turn{Text: "a"}), r.send(Turn{Text: "b"})
	items := r.waiting(2)
	for _, i := range items {
		switch i.Conversation {
		case a.Conversation():
			r.answer(i, consent.Answer{Action: consent.Allow})
		case b.Conversation():
			r.answer(i, consent.Answer{Action: consent.Deny})
		default:
			t.Fatalf("an item of the conversation %q", i.Conversation)
		}
	}
	r.want(r.finish(a), Finished)
	r.want(r.finish(b), Finished)
	for _, rec := range r.records(journal.KindCall) {
		want := map[string]string{a.Conversation(): "ok", b.Conversation(): "denied"}[rec.Conversation]
		if rec.Outcome != want {
			t.Fatalf("%+v", rec)
		}
	}
}

func TestAModelThatCannotBeReached(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{script: sm.Script{Steps: []sm.Step{sm.Fail(401, `{"error":"Unauthorized"}`)}}})
	res := r.ask("go")
	r.want(res, Failed)
	if res.Error == "" || len(r.messages(res.Conversation)) != 1 {
		t.Fatalf("%+v", res)
	}
	if rec := r.recorded(journal.KindModel, 1); rec[0].Outcome != "protocol_error" {
		t.Fatalf("recorded: %+v", rec)
	}
}

func TestMessagesThatAreRefusedBeforeAnythingIsStored(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for _, bad := range []Turn{{}, {Text: " \n"}, {Text: strings.Repeat("a", MaxText+1)}, {Text: "x", Conversation: "c_none"}, {Attach: []Attachment{{Kind: KindImage, Data: make([]byte, MaxTotal+1)}}}} {
		if _, err := r.engine.Send(context.Background(), bad); err == nil {
			t.Fatalf("%.60v was sent", bad)
		}
	}
	if all, err := r.store.Conversations(context.Background(), storage.ConversationFilter{}); err != nil || len(all) != 0 {
		t.Fatalf("%v (%v)", all, err)
	}
}

// What a growing answer costs to store is a multiple of its size, not its square.
func TestALongAnswerIsNotStoredOverAndOver(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	s := newSaver(r.store, storage.Message{ID: "m_x", Conversation: "c_x", Role: storage.RoleAssistant, State: storage.StateStreaming}, (*storage.Tx).PutMessage)
	defer s.close()
	if err := r.store.Write(context.Background(), func(tx *storage.Tx) error { return tx.PutConversation(storage.Conversation{ID: "c_x"}) }); err != nil {
		t.Fatal(err)
	}
	const piece, pieces = 4 << 10, 1024
	written, times, last := 0, 0, 0
	for range pieces {
		s.add(strings.Repeat("x", piece), "")
		s.save()
		if s.stored != last {
			written, times, last = written+s.stored, times+1, s.stored
		}
	}
	if n := piece * pieces; written > 12*n || times < 16 || last < n*7/8 {
		t.Errorf("an answer of %d bytes was stored %d times, %d bytes in all, at last %d", n, times, written, last)
	}
}

// Of the calls of one answer so many run and no more, whoever allows them; each is answered.
func TestHundredsOfCallsInOneAnswer(t *testing.T) {
	t.Parallel()
	const made = maxCalls + 40
	var parts []sm.Part
	for i := range made {
		parts = append(parts, sm.CallDelta(i, fmt.Sprintf("c%d", i), "s__echo", fmt.Sprintf(`{"text":"%d"}`, i)))
	}
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(sm.Reply(append(parts, sm.Finish("tool_calls"), sm.Done())...), sm.Say("ok"))})
	r.server("s")
	r.want(r.ask("go"), Finished)
	ran, refused := 0, 0
	for i, got := range r.tools(2) {
		switch {
		case got == fmt.Sprint(i):
			ran++
		case got == fmt.Sprintf("Not executed: more than %d calls in one answer.", maxCalls):
			refused++
		}
	}
	if ran != maxCalls || refused != made-maxCalls {
		t.Errorf("%d ran, %d were refused", ran, refused)
	}
	if n := len(r.records(journal.KindCall)); n != made {
		t.Errorf("%d calls recorded", n)
	}
	told := 0
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if n, ok := e.(event.Notice); ok && n.Kind == "call_refused" {
			told++
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}
