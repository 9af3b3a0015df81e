package chat

import (
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"steward/app"
	"steward/testdata/scriptedmodel"
	"steward/ui/place"
)

// exchangeShown is the dialog's text, once it was read; the queue must be run.
func (b *bench) openExchange(message string) *exchangeView {
	b.t.Helper()
	v := b.showExchange(message)
	b.until("the exchange is read", func() bool { return !v.reading })
	return v
}

func (v *exchangeView) plain() string { return v.pane.View().Plain() }

// What went to the model for a message is shown, to be read and byte for byte, with the way to the ones before it, and
// without the key.
func TestWhatWasSentIsShown(t *testing.T) {
	for _, look := range []struct {
		theme, tongue string
		size          fyne.Size
	}{{"light", "en", fyne.NewSize(1032, 800)}, {"dark", "zh-Hans", fyne.NewSize(640, 400)}} {
		t.Run(look.theme, func(t *testing.T) {
			key := "SENTINEL-key-1234567"
			t.Setenv("EXCHANGE_KEY", key)
			usage := scriptedmodel.Event(`{"choices":[],"usage":{"prompt_tokens":1200,"completion_tokens":64,"total_tokens":1264,"prompt_tokens_details":{"cached_tokens":1000},"completion_tokens_details":{"reasoning_tokens":40}}}`)
			model := scriptedmodel.StartScript(t, scriptedmodel.Script{Steps: []scriptedmodel.Step{
				{Status: 429, Body: `{"error":{"message":"too many"}}`, Header: map[string]string{"Retry-After": "0"}},
				scriptedmodel.Reply(scriptedmodel.Reasoning("They said hello, so do I."), scriptedmodel.Text("Hello \u202eworld "+key), scriptedmodel.Finish("stop"), usage, scriptedmodel.Done()),
				{Say: "and again"},
			}})
			b := benchOver(t, look.theme, look.tongue, app.Endpoint{BaseURL: model.URL(), Model: "fake", KeyEnv: "EXCHANGE_KEY"})
			if err := b.app.SetPreference(t.Context(), place.PreferTitles, place.TitlesFromWords); err != nil {
				t.Fatal(err)
			}
			b.window.Resize(look.size)
			b.say("Hello?") // a notice tells of the second attempt, so the answer is not the last row
			b.until("it is answered", func() bool { m := b.state.last(roleAssistant); return m != nil && !m.streaming() && !b.state.working })
			b.settle()
			first := b.state.last(roleAssistant).ID
			asked := b.state.last(roleUser).ID
			b.turn("Once more")
			b.settle()

			v := b.openExchange(first)
			b.picture("exchange-readable-" + look.theme)
			read := v.plain()
			for _, want := range []string{"Hello?", "They said hello, so do I.", "429", "too many", `\u202E`, "demo__"} {
				if !strings.Contains(read, want) && !strings.Contains(strings.ReplaceAll(read, "⟨U+202E⟩", `\u202E`), want) {
					t.Errorf("%q is not among:\n%s", want, read)
				}
			}
			if strings.Contains(read, "Once more") {
				t.Error("another exchange is shown")
			}
			v.raw = true
			v.show()
			b.picture("exchange-raw-" + look.theme)
			wire := v.plain()
			sent := string(model.Requests()[0].Body)
			if strings.Count(wire, sent) != 2 || !strings.Contains(wire, "data: [DONE]") || !strings.Contains(wire, `{"error":{"message":"too many"}}`) {
				t.Errorf("it is not what went:\n%s", wire)
			}
			if all := read + wire + v.copied(); strings.Contains(all, "SENTINEL") || strings.Contains(all, "Authorization") {
				t.Error("it holds the key")
			}
			e := v.exchange
			if e.Purpose != "turn" || e.Input != 1200 || e.Cached != 1000 || e.Output != 64 || e.ModelRecord.Reasoning != 40 || !strings.Contains(exchangeFacts(*e), "1.2k") {
				t.Errorf("%+v: %s", e.ModelRecord, exchangeFacts(*e))
			}
			record := e.Record
			v.done()

			v = b.openExchange(asked) // what the person said leads to the request that answers it
			if v.exchange.Record != record || len(v.numbers) != 2 {
				t.Error("a person's message leads to", v.exchange.Record, "not", record, v.numbers)
			}
			b.layer.Escape()
			if !v.shut {
				t.Error("Escape does not close it")
			}
			v = b.openExchange("m_unknown")
			if v.exchange != nil || v.failed != nil {
				t.Error(v.exchange, v.failed)
			}
			v.done()
		})
	}
}

// The time that a model reasons is counted while it does, and told afterwards, also after the conversation is read anew.
func TestTheTimeOfReasoning(t *testing.T) {
	model := scriptedmodel.StartScript(t, scriptedmodel.Script{Steps: []scriptedmodel.Step{
		scriptedmodel.Reply(scriptedmodel.Reasoning("hm "), scriptedmodel.Part{Delay: scriptedmodel.Duration(1500 * time.Millisecond), Text: scriptedmodel.Reasoning("hm").Text}, scriptedmodel.Text("42"), scriptedmodel.Finish("stop"), scriptedmodel.Done()),
	}})
	b := benchOver(t, "dark", "en", app.Endpoint{BaseURL: model.URL(), Model: "fake"})
	if err := b.app.SetPreference(t.Context(), place.PreferTitles, place.TitlesFromWords); err != nil {
		t.Fatal(err)
	}
	b.say("6 times 7?")
	b.until("it reasons", func() bool {
		m := b.state.last(roleAssistant)
		return m != nil && !m.Thinking.IsZero() && len(b.state.runningCalls()) == 1
	})
	row := func() string { return (&reasoningRow{p: b.Place, message: b.state.last(roleAssistant)}).heading() }
	if got := row(); !strings.HasPrefix(got, "Thinking… 0:0") {
		t.Error(got)
	}
	if m := b.state.last(roleAssistant); m.Text != "" {
		t.Error("it has answered already")
	}
	b.until("it has answered", b.ended)
	b.settle()
	m := b.state.last(roleAssistant)
	if m.Thought < 1400*time.Millisecond || !m.Thinking.IsZero() || !strings.HasPrefix(row(), "Thought for ") {
		t.Error(m.Thought, m.Thinking, row())
	}
	b.picture("thought")
	again, err := b.app.Messages(t.Context(), b.state.conversation, 0, 0)
	if err != nil || again[len(again)-1].Thought != m.Thought || again[len(again)-1].Reasoning != "hm hm" {
		t.Error(again, err)
	}
	text, err := b.app.ExportConversation(t.Context(), b.state.conversation)
	if err != nil || strings.Contains(text, "hm") || strings.Contains(strings.Join(plainOf(m.whole()), " "), "hm") {
		t.Error("what the model thought is exported or copied:", text, err)
	}
}
