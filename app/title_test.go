package app

import (
	"context"
	"strings"
	"testing"

	"steward/app/journal"
	sm "steward/testdata/scriptedmodel"
)

func TestATitleIsOneCleanLine(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"Weekly risks": "Weekly risks",
		"\n\n  \"Weekly risks.\"  \n\nBecause …": "Weekly risks",
		"**Title:** Weekly risks":                "Weekly risks",
		"# Weekly\trisks":                        "Weekly risks",
		"标题：“本周的风险”。":                            "本周的风险",
		"Title:\nWeekly risks":                   "Weekly risks",
		"":                                       "",
		"***\n---":                               "",
		"Title":                                  "Title",
	} {
		if got := titleOf(answer); got != want {
			t.Errorf("%q becomes %q, want %q", answer, got, want)
		}
	}
	if got := titleOf(strings.Repeat("word ", 100)); len([]rune(got)) > titleLength+1 {
		t.Error(got)
	}
}

// The title is asked for with what was said alone, with few tokens, of the model that answered though it calls itself
// otherwise; a person's title and a temporary chat are left alone, and a failure leaves the first words.
func TestTheModelIsAskedForATitle(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{},
		sm.Reply(sm.Reasoning("secret thought"), sm.Text("They are three."), sm.Finish("stop"), sm.Done()),
		sm.Step{Status: 400, Body: `{"error":{"message":"no"}}`},
		sm.Reply(sm.Reasoning("a title it is"), sm.Text("\"Risks of the week\"\n"), sm.Finish("stop"), sm.Done()),
		sm.Step{Say: "passing"}, sm.Step{Say: "Never a title"},
	)
	id := r.say("", "How many risks?")
	if err := r.app.TitleFromModel(ctx, id); err == nil {
		t.Error("a refusal is no error")
	}
	if c := must(t, func() (Conversation, error) { return r.app.Conversation(ctx, id) }); c.Title != "How many risks?" {
		t.Error(c.Title)
	}
	check(t, r.app.TitleFromModel(ctx, id))
	if c := must(t, func() (Conversation, error) { return r.app.Conversation(ctx, id) }); c.Title != "Risks of the week" {
		t.Error(c.Title)
	}
	sent := r.model.Requests()
	body := string(sent[len(sent)-1].Body)
	if !strings.Contains(body, "They are three.") || strings.Contains(body, "secret thought") || !strings.Contains(body, `"max_tokens":200`) && !strings.Contains(body, `"max_completion_tokens":200`) || strings.Contains(body, `"tools"`) {
		t.Error("the model is asked", body)
	}
	var titles []string
	for _, rec := range must(t, func() ([]journal.Record, error) {
		return r.app.Journal().List(ctx, journal.Filter{Kind: string(journal.KindModel), Conversation: id})
	}) {
		if PurposeOf(rec) == "title" {
			titles = append(titles, rec.Outcome)
		}
	}
	if strings.Join(titles, " ") != "ok protocol_error" {
		t.Error("recorded are", titles)
	}
	check(t, r.app.Rename(ctx, id, "mine"), r.app.TitleFromModel(ctx, id))
	passing := must(t, func() (Conversation, error) { return r.app.NewConversation(ctx, true) })
	r.say(passing.ID, "something")
	if err := r.app.TitleFromModel(ctx, passing.ID); err != nil || len(r.model.Requests()) != len(sent)+1 {
		t.Error("the model is asked where nobody wants it to be:", err)
	}
}
