package chat

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"fyne.io/fyne/v2"

	"steward/app"
	"steward/testdata/scriptedmodel"
)

// gateway is an endpoint with many models, as gateways have them, in OpenRouter's form.
func gateway(t *testing.T, models int, asked *atomic.Int32) *httptest.Server {
	type entry struct {
		ID            string         `json:"id"`
		Name          string         `json:"name"`
		ContextLength int            `json:"context_length"`
		Architecture  map[string]any `json:"architecture"`
		Parameters    []string       `json:"supported_parameters"`
	}
	var list []entry
	for i := range models {
		e := entry{ID: fmt.Sprintf("maker-%d/model-%03d", i%20, i), Name: fmt.Sprintf("Maker %d: Model %d", i%20, i), ContextLength: 128000,
			Architecture: map[string]any{"input_modalities": []string{"text"}, "output_modalities": []string{"text"}}, Parameters: []string{"temperature"}}
		if i%2 == 0 {
			e.Architecture["input_modalities"] = []string{"text", "image"}
			e.Parameters = append(e.Parameters, "tools", "reasoning")
		}
		list = append(list, e)
	}
	raw, err := json.Marshal(map[string]any{"data": list})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(raw)
	}))
	t.Cleanup(s.Close)
	return s
}

func (b *bench) connect(name, address, model string) string {
	b.t.Helper()
	id, err := b.app.SaveEndpoint(context.Background(), app.ModelEndpoint{Name: name, BaseURL: address, Model: model}, "")
	if err != nil {
		b.t.Fatal(err)
	}
	b.until("the head knows "+name, func() bool {
		return slices.ContainsFunc(b.head.facts.points, func(e app.ModelEndpoint) bool { return e.ID == id })
	})
	return id
}

func (m *modelMenu) find(model string) int {
	return slices.IndexFunc(m.lines, func(l modelLine) bool { return l.kind == rowModel && l.choice.Model == model })
}

// Endpoints stand side by side in the menu, favourites before them; what is typed searches all of them, and Enter takes
// what was found for this chat alone.
func TestModelsAreFoundAndChosen(t *testing.T) {
	for _, look := range [][2]string{{"light", "en"}, {"dark", "zh-Hans"}} {
		t.Run(look[0]+" "+look[1], func(t *testing.T) { modelsAreChosen(t, look[0], look[1]) })
	}
}

func modelsAreChosen(t *testing.T, variant, tongue string) {
	name := variant + "-" + tongue
	b := newBench(t, variant, tongue)
	var asked atomic.Int32
	local := scriptedmodel.StartScript(t, scriptedmodel.Script{Model: "small-local", Steps: []scriptedmodel.Step{scriptedmodel.Say("from the local one")}, Repeat: true})
	b.ready()
	here := b.connect("Local", local.URL(), "small-local")
	many := b.connect("Gateway", gateway(t, 500, &asked).URL, "maker-0/model-000")
	gone := b.connect("Away", "http://127.0.0.1:1/v1", "nobody")
	b.modelMenu()
	m := b.models
	b.until("both are listed, and the third says why not", func() bool {
		return m.find("maker-19/model-499") >= 0 && m.find("small-local") >= 0 && slices.ContainsFunc(m.lines, func(l modelLine) bool { return l.kind == rowTrouble && l.choice.Endpoint == gone })
	})
	b.settle()
	b.picture(name + "-models")
	if used := m.lines[m.list.Selected()]; !used.used || used.choice != (app.ModelChoice{Endpoint: here, Model: "small-local"}) {
		t.Errorf("marked is %+v", used)
	}
	m.search.SetText("MODEL-4 maker-1")
	if len(m.lines) < 10 || len(m.lines) > 60 {
		t.Errorf("found are %d", len(m.lines))
	}
	for _, l := range m.lines {
		if l.kind == rowModel && (!strings.Contains(l.info.ID, "model-4") || !strings.Contains(l.info.ID, "maker-1")) {
			t.Errorf("%q is shown", l.info.ID)
		}
	}
	b.settle()
	b.picture(name + "-models-search")
	m.search.SetText("model-420")
	at := m.find("maker-0/model-420")
	m.star(m.lines[at]).tapped()
	b.until("it is a favourite", func() bool { return len(m.of.favourites) == 1 })
	m.search.SetText("")
	if first := m.lines[1]; m.lines[0].kind != rowGroup || !first.favourite || first.choice.Model != "maker-0/model-420" || first.endpoint != "Gateway" {
		t.Errorf("first stands %+v", first)
	}
	b.settle()
	b.picture(name + "-models-favourite")
	m.search.SetText("model-421")
	m.search.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if b.models != nil || b.settings.Model != "maker-1/model-421" || b.settings.Endpoint != many {
		t.Errorf("chosen is %+v; the menu is open: %v", b.settings, b.models != nil)
	}
	b.until("what the model can do is known", func() bool {
		return b.head.facts.can.Images == app.Unsupported && b.head.facts.can.Tools == app.Unsupported
	})
	b.composer.add(app.Attachment{Kind: "image", Name: "a.png", MIMEType: "image/png", Data: []byte("x")})
	if ch, ok := b.composer.chips.objects[0].(*chip); !ok || ch.icon != "warning" {
		t.Error("nothing says that the picture is not sent")
	}
	b.settle()
	b.picture(name + "-picture-unsent")
	before := asked.Load()
	b.modelMenu()
	m = b.models
	b.until("the kept list is there", func() bool { return m.find("maker-19/model-499") >= 0 })
	b.settle()
	if asked.Load() != before {
		t.Error("opening the menu again asked the endpoint again")
	}
	m.search.SetText("not-listed")
	if l := m.lines[len(m.lines)-1]; l.kind != rowTypedModel || l.choice != (app.ModelChoice{Endpoint: many, Model: "not-listed"}) {
		t.Errorf("a name that is typed gives %+v", l)
	}
	m.search.SetText("")
	m.ask(true)
	b.until("it was asked anew", func() bool { return asked.Load() > before && !m.of.points[1].asking })
	if m.lines[0].kind != rowUsualModel {
		t.Fatalf("nothing leads back to the usual model: %+v", m.lines[0])
	}
	m.take(0)
	if b.settings.Endpoint != "" || b.settings.Model != "" {
		t.Errorf("reset, the chat has %+v", b.settings)
	}
}

// What goes with the requests of a chat is set in it, shown in its head, sent, and taken back.
func TestAChatHasParametersOfItsOwn(t *testing.T) {
	for _, look := range [][2]string{{"light", "en"}, {"dark", "zh-Hans"}} {
		t.Run(look[0]+" "+look[1], func(t *testing.T) { parametersOfAChat(t, look[0], look[1]) })
	}
}

func parametersOfAChat(t *testing.T, variant, tongue string) {
	name := variant + "-" + tongue
	b := newBench(t, variant, tongue)
	model := scriptedmodel.StartScript(t, scriptedmodel.Script{Steps: []scriptedmodel.Step{scriptedmodel.Say("yes")}, Repeat: true})
	b.ready()
	b.connect("Local", model.URL(), "fake")
	b.turn("hello")
	if b.head.own.Visible() {
		t.Error("the head shows parameters where none are set")
	}
	f := b.modelSettings()
	b.settle()
	f.temperature.SetText("hot")
	f.save()
	if !f.wrong.Visible() || !b.layer.Modal() {
		t.Error("what is no temperature was taken")
	}
	f.temperature.SetText("0,2")
	f.tokens.SetText("500")
	f.effort = "high"
	f.offer()
	f.system.SetText("Answer in one word.")
	f.complain(nil)
	b.settle()
	b.picture(name + "-parameters")
	f.save()
	b.until("they are stored", func() bool { return len(b.saves) == 0 && b.storedSettings().Changed() == 4 })
	b.settle()
	if !b.head.own.Visible() || b.head.own.words == "" {
		t.Error("the head does not show what is set")
	}
	b.picture(name + "-parameters-head")
	b.turn("again")
	sent := func(words string) string {
		for _, r := range model.Requests() { // the model is asked for a title too
			if body := string(r.Body); strings.Contains(body, `"content":"`+words+`"}],"tools"`) {
				return body
			}
		}
		return ""
	}
	body := sent("again")
	for _, want := range []string{`"temperature":0.2`, `"max_tokens":500`, `"reasoning_effort":"high"`, "Answer in one word."} {
		if !strings.Contains(body, want) {
			t.Errorf("%s was not sent: %s", want, body)
		}
	}
	f = b.modelSettings()
	f.show(app.Parameters{})
	f.save()
	b.until("they are taken back", func() bool { return len(b.saves) == 0 && b.storedSettings().Changed() == 0 })
	b.turn("once more")
	if body = sent("once more"); body == "" {
		t.Error("the last message was not sent")
	}
	for _, gone := range []string{`"temperature"`, `"max_tokens"`, `"reasoning_effort"`, "Answer in one word."} {
		if strings.Contains(body, gone) {
			t.Errorf("%s is still sent", gone)
		}
	}
}
