package audit

import (
	"strings"
	"testing"

	"steward/app"
	sm "steward/testdata/scriptedmodel"
)

// A request to a model tells what it was for, each attempt, and what went over the wire; one enormous line is drawn at
// once.
func TestARequestToAModelIsSetOut(t *testing.T) {
	for _, look := range []struct{ variant, tongue string }{{"light", "en"}, {"dark", "zh-Hans"}} {
		long := strings.Repeat("a very long line ", 13_000)
		model := sm.StartScript(t, sm.Script{Steps: []sm.Step{
			{Status: 503, Body: `{"error":{"message":"busy"}}`, Header: map[string]string{"Retry-After": "0"}},
			sm.Reply(sm.Text("Hello."), sm.Finish("stop"), sm.Usage(1200, 34), sm.Done()), {Say: "A title"},
		}})
		b := newBench(t, look.variant, look.tongue, func(a *app.App) {
			id, err := a.SaveEndpoint(t.Context(), app.ModelEndpoint{Name: "Mine", BaseURL: model.URL(), Model: "fake"}, "")
			if err == nil {
				err = a.ChooseEndpoint(t.Context(), id, "")
			}
			if err != nil {
				t.Fatal(err)
			}
			turn, err := a.Send(t.Context(), app.Draft{Text: long})
			if err != nil {
				t.Fatal(err)
			}
			<-turn.Done()
			if err := a.TitleFromModel(t.Context(), turn.Conversation()); err != nil {
				t.Fatal(err)
			}
		})
		b.loaded()
		rows := strings.Join(b.rows(), "\n")
		title := map[string]string{"en": "title", "zh-Hans": "标题"}[look.tongue]
		if !strings.Contains(rows, "fake · "+title) {
			t.Errorf("the table does not say what a request was for:\n%s", rows)
		}
		b.Goto(b.row0(1))
		b.Until("details", func() bool { return b.p.record != nil })
		body := func() string { return b.pane.body.View().Plain() }
		b.Picture("audit-" + look.variant + "-" + look.tongue + "-model")
		for _, want := range map[string][]string{
			"en":      {"purpose", "turn", model.URL(), "refused with HTTP 503", "to be sent again in", "bytes received", "1,200 tokens in, 34 out"},
			"zh-Hans": {"HTTP 503", "1,200"},
		}[look.tongue] {
			if !strings.Contains(body(), want) {
				t.Errorf("it does not say %q:\n%.3000s", want, body())
			}
		}
		if strings.Contains(body(), "proposed by") || strings.Contains(body(), "answer received") {
			t.Errorf("it is told as if it were a call:\n%s", body())
		}
		b.pane.tabs.choose(tabWire)
		b.Picture("audit-" + look.variant + "-" + look.tongue + "-model-wire")
		if wire := body(); !strings.Contains(wire, "data: [DONE]") || !strings.Contains(wire, "a very long line") {
			t.Errorf("%.2000s", wire)
		}
		for _, block := range b.p.record.wire {
			if block.NoWrap {
				t.Error("a line of half a megabyte is drawn unbroken, which takes seconds")
			}
		}
	}
}
