package chat

import (
	"strings"
	"testing"

	"steward/app"
	"steward/testdata/scriptedmodel"
	"steward/ui/place"
)

// The model names a conversation after its first turn, once, and not one that is temporary.
func TestTitleFromTheModel(t *testing.T) {
	model := scriptedmodel.StartScript(t, scriptedmodel.Script{Steps: []scriptedmodel.Step{
		{Say: "an answer"}, {Say: "Risks of the week"}, {Say: "another answer"}, {Say: "a passing answer"},
	}})
	b := benchOver(t, "light", "en", app.Endpoint{BaseURL: model.URL(), Model: "fake"})
	b.turn("How many risks does this week's report mention?")
	b.until("it has a title", func() bool { return b.known.Title == "Risks of the week" })
	b.turn("And last week's?")
	b.settle()
	b.Goto("")
	b.want.temporary = true
	b.head.Refresh()
	if !b.head.passing.Visible() {
		t.Error("a temporary conversation is not marked before it begins")
	}
	b.turn("Something that leaves nothing behind")
	b.settle()
	b.picture("temporary")
	if !b.head.passing.Visible() || !b.known.Temporary {
		t.Error("a temporary conversation is not marked")
	}
	asked := 0
	for _, r := range model.Requests() {
		if strings.HasSuffix(r.Path, "/chat/completions") {
			asked++
		}
	}
	if asked != 4 {
		t.Errorf("the model was asked %d times", asked)
	}
	b.Goto("")
	if b.head.passing.Visible() {
		t.Error("the next conversation is marked as temporary")
	}
}

// Nobody is asked for a title where the person wants the first words.
func TestTitleFromTheFirstWords(t *testing.T) {
	model := scriptedmodel.StartScript(t, scriptedmodel.Script{Steps: []scriptedmodel.Step{{Say: "an answer"}, {Say: "Risks of the week"}}})
	b := benchOver(t, "light", "en", app.Endpoint{BaseURL: model.URL(), Model: "fake"})
	if err := b.app.SetPreference(t.Context(), place.PreferTitles, place.TitlesFromWords); err != nil {
		t.Fatal(err)
	}
	b.turn("How many risks?")
	b.settle()
	if n := len(model.Requests()); n != 1 || b.known.Title != "How many risks?" {
		t.Errorf("the model was asked %d times, and the title is %q", n, b.known.Title)
	}
}
