package waiting

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/app"
	"steward/app/consent"
	"steward/testdata/scriptedmodel"
	"steward/ui/language"
	"steward/ui/place"
)

// menus is a layer that keeps the menu which is open.
type menus struct {
	place.Layer
	items []place.MenuItem
}

func (m *menus) Menu(items []place.MenuItem, _ fyne.Position) { m.items = items }

const flight = `{"systemPrompt":"Be\nbrief.","messages":[{"role":"user","content":{"type":"text","text":"Card 4111 and again 4111: which flight?"}},{"role":"assistant","content":{"type":"text","text":"Earlier."}},{"role":"user","content":[{"type":"text","text":"A map."},{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}]}],"maxTokens":50,"modelPreferences":{"hints":[{"name":"claude"},{"name":"gpt"}]}}`

// flights is a rig whose server asks the model, which answers so.
func flights(t *testing.T, request string, says ...string) (*rig, *scriptedmodel.Server, *menus) {
	t.Helper()
	var steps []scriptedmodel.Step
	for _, s := range says {
		steps = append(steps, scriptedmodel.Say(s))
	}
	m := scriptedmodel.StartScript(t, scriptedmodel.Script{Steps: steps})
	t.Setenv("WAITING_TEST_KEY", "k")
	r := newRig(t, app.Options{Policy: onlyForms, Endpoint: app.Endpoint{BaseURL: m.URL(), Model: "first", KeyEnv: "WAITING_TEST_KEY"}},
		"--step", "tool:best=@ask sampling/createMessage "+request, "--step", "tool:best=@text ${answer}")
	l := &menus{}
	r.d.Layer = l
	return r, m, l
}

func samples(c *Card) *sampleBody { return c.body.(*sampleBody) }

func TestBothSamplingReviews(t *testing.T) {
	r, _, _ := flights(t, `{"systemPrompt":"Be\nbrief.","messages":[{"role":"user","content":{"type":"text","text":"Which flight?"}}],"maxTokens":50}`, "Take the first.")
	r.call(context.Background(), "best", "{}")
	c := r.seen(r.item(consent.KindSampling))
	b := samples(c)
	got := shownText(c)
	for _, want := range []string{"Which flight?", "Be\nbrief.", "first", "Requests in the last hour: 0 of 100"} {
		if !strings.Contains(got, want) {
			t.Errorf("the card lacks %q: %q", want, got)
		}
	}
	if b.where.tokens.Text != "50" || b.answer().System != nil || b.answer().Limits != nil {
		t.Errorf("the answer without a change is %+v", b.answer())
	}
	test.Tap(b.text.edit)
	b.text.entry.SetText("Be long.")
	b.submit()
	r.over(c)
	second := r.item(consent.KindSamplingAnswer)
	c = r.seen(second)
	b = samples(c)
	if got := shownText(c); !strings.Contains(got, "Take the first.") || !strings.Contains(got, "Be long.") || !strings.Contains(got, "answered by fake") {
		t.Errorf("the answer's card: %q", got)
	}
	test.Tap(b.text.edit)
	b.text.entry.SetText("Take the second.")
	r.window.Canvas().Focus(b.deny)
	r.control(fyne.KeyReturn)
	r.over(c)
	if err := r.ended(); err != nil {
		t.Fatal(err)
	}
	shown, err := r.app.Journal().Show(context.Background(), second.Record)
	if err != nil || !strings.Contains(string(shown.Result), "Take the second.") || !strings.Contains(string(shown.Result), "Be long.") || !strings.Contains(string(shown.Result), "Take the first.") {
		t.Errorf("the record: %s, %v", shown.Result, err)
	}
}

// What the person edits, masks, leaves out and chooses is what the model gets; the choice for the server's hint holds
// for its next request.
func TestARequestToTheModelIsChanged(t *testing.T) {
	r, m, layer := flights(t, flight, "one", "two")
	r.call(context.Background(), "best", "{}")
	item := r.item(consent.KindSampling)
	c := r.seen(item)
	b := samples(c)
	if got := shownText(c); !strings.Contains(got, "claude, gpt") || !strings.Contains(got, "image (image/png, 8 bytes)") {
		t.Errorf("the card: %q", got)
	}
	test.Tap(b.messages[0].mask)
	if !strings.Contains(c.complaintIs.Plain(), "Select the words") || b.messages[0].sent() != nil {
		t.Errorf("masked without a selection: %q", c.complaintIs.Plain())
	}
	b.messages[0].view.SelectAll()
	b.messages[0].d.text = strings.Replace(b.messages[0].d.text, "which", "Which", 1) // as an edit would
	test.Tap(b.messages[0].edit)
	b.messages[0].entry.FocusGained()
	selectIn(b.messages[0].entry, "4111")
	test.Tap(b.messages[0].mask)
	test.Tap(b.messages[1].out)
	test.Tap(b.messages[2].bare)
	b.where.tokens.SetText("0")
	if !b.send.off || !strings.Contains(shownText(c), "between 1 and") {
		t.Error("a token limit of 0 can be sent")
	}
	b.where.tokens.SetText("7")
	test.Tap(b.where.model)
	r.until("the models are offered", func() bool { return len(layer.items) > 0 })
	if layer.items[0].Label != "fake" {
		t.Fatalf("offered: %+v", layer.items)
	}
	layer.items[0].Do()
	test.Tap(b.where.keep)
	c.Close()
	c = r.seen(item) // on another card all of it is found again
	b = samples(c)
	if b.where.model.caption != "fake" || !b.messages[1].d.out || b.where.tokens.Text != "7" {
		t.Error("what was changed is lost with the card")
	}
	b.submit()
	r.over(c)
	second := r.item(consent.KindSamplingAnswer)
	c = r.seen(second)
	samples(c).submit()
	r.over(c)
	if err := r.ended(); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Model    string
		Messages []struct{ Role, Content string }
		Max      int `json:"max_tokens"`
	}
	if err := json.Unmarshal(m.Requests()[len(m.Requests())-1].Body, &got); err != nil {
		t.Fatal(err)
	}
	all, _ := json.Marshal(got.Messages)
	if got.Model != "fake" || strings.Contains(string(all), "4111") || strings.Count(string(all), "[masked]") != 2 || strings.Contains(string(all), "Earlier") || strings.Contains(string(all), "image") {
		t.Errorf("the model got %s %s", got.Model, all)
	}
	r.call(context.Background(), "best", "{}")
	c = r.seen(r.item(consent.KindSampling))
	if got := shownText(c); !strings.Contains(got, "you have set for “claude”") || samples(c).where.model.caption != "fake" {
		t.Errorf("the next request's card: %q", got)
	}
	samples(c).escape()
	r.over(c)
	_ = r.ended() // the tool tells what it got
}

// selectIn selects the first place of words in an input, as a person would with Shift and the arrows.
func selectIn(e interface {
	TypedKey(*fyne.KeyEvent)
	KeyDown(*fyne.KeyEvent)
	KeyUp(*fyne.KeyEvent)
}, words string) {
	e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyHome})
	for range len("Card ") {
		e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	}
	e.KeyDown(&fyne.KeyEvent{Name: "LeftShift"})
	for range len(words) {
		e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	}
	e.KeyUp(&fyne.KeyEvent{Name: "LeftShift"})
}

// A person states limits and trust with an answer: further requests within them are not asked about.
func TestLimitsAndTrustAreStated(t *testing.T) {
	r, m, _ := flights(t, `{"messages":[{"role":"user","content":{"type":"text","text":"Which?"}}],"maxTokens":50}`, "one", "two", "three")
	r.call(context.Background(), "best", "{}")
	c := r.seen(r.item(consent.KindSampling))
	b := samples(c)
	if b.limits.box.Visible() {
		t.Error("the limits are open from the start")
	}
	test.Tap(b.more)
	b.limits.box.objects[0].Refresh()
	inputs := func(texts ...string) {
		copy(b.d.limits[:], texts)
		c.update()
	}
	for _, bad := range [][]string{{"0", "1", "0", "0"}, {"5", "x", "0", "0"}, {"5", "50", "1", "0"}, {"5", "50", "0", "10"}, {"5", "50", "-1", "10"}} {
		if inputs(bad...); !b.send.off {
			t.Errorf("%q can be sent", bad)
		}
	}
	inputs("5", "60", "1", "60")
	b.submit()
	r.over(c)
	c = r.seen(r.item(consent.KindSamplingAnswer))
	samples(c).submit()
	r.over(c)
	_ = r.ended()
	if got := r.app.SamplingLimits("mail"); got != (app.SamplingLimits{PerHour: 5, MaxTokens: 60, Trusted: 1, TrustedTokens: 60}) {
		t.Fatalf("kept: %+v", got)
	}
	r.call(context.Background(), "best", "{}")
	_ = r.ended()
	if n := len(m.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
	r.call(context.Background(), "best", "{}")
	c = r.seen(r.item(consent.KindSampling))
	samples(c).escape()
	r.over(c)
	_ = r.ended()
}

// The tools of a server's request, what became of them before, and the model's calls of them stand on the cards, whole.
func TestToolsOfASamplingRequestAreShown(t *testing.T) {
	m := scriptedmodel.StartScript(t, scriptedmodel.Script{Steps: []scriptedmodel.Step{{Calls: []scriptedmodel.Call{{Tool: "weather", Arguments: []byte(`{"city":"Bern"}`)}}}}})
	t.Setenv("WAITING_TEST_KEY", "k")
	r := newRig(t, app.Options{Policy: onlyForms, Endpoint: app.Endpoint{BaseURL: m.URL(), Model: "first", KeyEnv: "WAITING_TEST_KEY"}},
		"--step", `tool:best=@ask sampling/createMessage {"messages":[{"role":"user","content":{"type":"text","text":"And in Bern?"}},{"role":"assistant","content":{"type":"tool_use","id":"c0","name":"weather","input":{"city":"Basel"}}},{"role":"user","content":{"type":"tool_result","toolUseId":"c0","content":[{"type":"text","text":"rain"}]}}],"maxTokens":50,"tools":[{"name":"weather","description":"Tells the weather.","inputSchema":{"type":"object","properties":{"city":{"type":"string"}}}}],"toolChoice":{"mode":"required"}}`,
		"--step", "tool:best=@text ${answer}")
	r.call(context.Background(), "best", "{}")
	item := r.item(consent.KindSampling)
	if err := language.Load("zh-Hans"); err != nil {
		t.Fatal(err)
	}
	chinese := NewCard(item, r.d)
	if got := shownText(chinese); !strings.Contains(got, "调用工具 weather") || !strings.Contains(got, "工具的结果") {
		t.Errorf("in Chinese the card says %q", got)
	}
	chinese.Close()
	if err := language.Load("en"); err != nil {
		t.Fatal(err)
	}
	c := r.seen(item)
	got := shownText(c)
	for _, want := range []string{"call of the tool weather", "result of a tool", "without asking you", "Tells the weather.", `"city":{"type":"string"}`, `weather {"city":"Basel"}`, "rain", "makes the model use one"} {
		if !strings.Contains(got, want) {
			t.Errorf("the card lacks %q: %q", want, got)
		}
	}
	test.Tap(samples(c).messages[2].out)
	if got := shownText(c); strings.Contains(got, "rain") {
		t.Errorf("what is left out stands there as if it were sent: %q", got)
	}
	test.Tap(samples(c).messages[2].out)
	samples(c).submit()
	r.over(c)
	c = r.seen(r.item(consent.KindSamplingAnswer))
	if got := shownText(c); !strings.Contains(got, `weather  {"city":"Bern"}`) {
		t.Errorf("the answer's card lacks the call: %q", got)
	}
	samples(c).submit()
	r.over(c)
	if err := r.ended(); err != nil {
		t.Fatal(err)
	}
}
