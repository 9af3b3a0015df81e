package chat

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"steward/app"
	"steward/testdata/scriptedmodel"
)

// refusing is an endpoint that refuses what check finds in a request, and otherwise answers.
func refusing(t *testing.T, check func(body []byte) string) app.Endpoint {
	t.Helper()
	s := scriptedmodel.StartScript(t, scriptedmodel.Script{Steps: []scriptedmodel.Step{scriptedmodel.Say("Hello.")}, Repeat: true, Check: func(q scriptedmodel.Request) (int, string) {
		if why := check(q.Body); why != "" {
			return 400, `{"error":{"message":"` + why + `","type":"invalid_request_error"}}`
		}
		return 0, ""
	}})
	return app.Endpoint{BaseURL: s.URL(), Model: "fake"}
}

// remedyButton is the button that the last row offers beside trying again.
func (b *bench) remedyButton() *chip {
	b.t.Helper()
	var found *chip
	b.until("a remedy is offered", func() bool {
		if !b.ended() {
			return false
		}
		for _, r := range b.state.rows {
			if r.kind == rowEnding {
				e := newEndingRow(b.Place, r)
				found = e.remedy
			}
		}
		return found != nil && !found.Hidden
	})
	return found
}

const refusedTool = `"name":"demo__get_weekly_report"`

func TestARefusedToolIsLeftOut(t *testing.T) {
	for _, look := range [][2]string{{"light", "en"}, {"dark", "zh-Hans"}} {
		b := benchOver(t, look[0], look[1], refusing(t, func(body []byte) string {
			if bytes.Contains(body, []byte(refusedTool)) {
				return "Invalid schema for function 'demo__get_weekly_report': None is not of type 'object'"
			}
			return ""
		}))
		b.ready()
		b.say("Hello?")
		remedy := b.remedyButton()
		if !strings.Contains(remedy.words, "get_weekly_report") {
			t.Errorf("the button says %q", remedy.words)
		}
		b.settle()
		b.picture("remedy-" + look[0] + "-" + look[1])
		remedy.Tapped(&fyne.PointEvent{})
		b.until("the answer", func() bool { return b.ended() && strings.Contains(b.rowKeys(), "answer") })
		b.settle()
		s, err := b.app.ConversationSettings(t.Context(), b.state.conversation)
		if on, set := s.Tools["demo"]["get_weekly_report"]; err != nil || on || !set || strings.Contains(b.rowKeys(), "ending") {
			t.Errorf("%+v, %v; rows: %s", s.Tools, err, b.rowKeys())
		}
	}
}

func TestARefusedToolIsFound(t *testing.T) {
	b := benchOver(t, "light", "en", refusing(t, func(body []byte) string {
		if bytes.Contains(body, []byte(refusedTool)) {
			return "a function has invalid parameters"
		}
		return ""
	}))
	b.ready()
	b.say("Hello?")
	b.remedyButton().Tapped(&fyne.PointEvent{})
	if !b.layer.Modal() {
		t.Fatal("the endpoint is asked without anybody's consent")
	}
	b.picture("remedy-ask")
	b.layer.Escape()
	b.settle()
	if b.hunt != nil {
		t.Fatal("it is looked for after a no")
	}
	m := b.state.rows[len(b.state.rows)-1].message
	b.find(m)
	b.until("it is found", func() bool { return b.hunt == nil && m.remedy.Tool != "" })
	if m.remedy.Tool != "get_weekly_report" || m.remedy.Server != "demo" || !strings.Contains(m.Error, "get_weekly_report") {
		t.Errorf("found %+v: %s", m.remedy, m.Error)
	}
	b.settle()
	b.picture("remedy-found")
	b.remedyButton().Tapped(&fyne.PointEvent{})
	b.until("the answer", func() bool { return b.ended() && strings.Contains(b.rowKeys(), "answer") })
}

func TestTooManyToolsAreChosenFrom(t *testing.T) {
	for _, look := range [][2]string{{"dark", "en"}, {"light", "zh-Hans"}} {
		b := benchOver(t, look[0], look[1], refusing(t, func(body []byte) string {
			if n := bytes.Count(body, []byte(`"type":"function"`)); n > 3 {
				return fmt.Sprintf("at most 3 tools are allowed, got %d", n)
			}
			return ""
		}))
		b.ready()
		b.say("Hello?")
		remedy := b.remedyButton()
		b.until("the limit is known", func() bool { return b.head.facts.limit == 3 && b.head.facts.beyond() > 0 })
		remedy.Tapped(&fyne.PointEvent{})
		if b.switches == nil {
			t.Fatal("the tools are not offered for choosing")
		}
		b.settle()
		b.picture("remedy-choose-" + look[0] + "-" + look[1])
		words, _ := b.head.facts.limitWords()
		for _, r := range b.switches.rows[4:] {
			b.switchTo(r, false)
		}
		b.until("few enough are left", func() bool { return b.head.facts.beyond() == 0 })
		if now, _ := b.head.facts.limitWords(); now == words {
			t.Errorf("still %q", now)
		}
		b.layer.Escape()
		b.regenerate()
		b.until("the answer", func() bool { return b.ended() && strings.Contains(b.rowKeys(), "answer") })
	}
}
