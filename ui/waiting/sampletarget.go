package waiting

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/app/consent"
	"steward/ui/form"
	"steward/ui/place"
	"steward/ui/theme"
)

const (
	maxTokens   = 1 << 20 // of one answer
	maxRequests = 10_000  // of one hour
	maxOffered  = 200     // models in the menu
	numberWidth = 110
)

// digits is a number for an input.
func digits(n int) string { return strconv.Itoa(n) }

// count reads a number from 1 to most.
func count(s string, most int) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	return n, err == nil && n >= 1 && n <= most
}

// sampleTarget is where a request goes: the model, to be chosen among those of its endpoint, and the token limit. What
// the server hints at stands beside it as its claim.
type sampleTarget struct {
	c      *Card
	d      *sampleDraft
	box    *column
	model  *button
	keep   *button // keeps the model for the hint; nil where there is no hint
	kept   *flow   // holds keep
	tokens *form.Entry
	asking bool
}

func newSampleTarget(c *Card, d *sampleDraft) *sampleTarget {
	t := &sampleTarget{c: c, d: d}
	s := c.item.Sampling
	t.model = newButton(c, plain, t.name(), "▼", t.choose)
	where := s.Where
	if s.Endpoint == app.DemoEndpoint {
		where = lang.X("sampling.at_demo", "the built-in demo model")
	}
	left := []fyne.CanvasObject{newJoined(2*theme.Step, c.whole(lang.X("sampling.model", "Model")), t.model)}
	if where != "" {
		left = append(left, c.whole(lang.X("sampling.at", "at {{.where}}", map[string]any{"where": where})))
	}
	t.tokens = c.entry(form.NewEntry())
	t.tokens.SetText(d.tokens)
	t.tokens.OnChanged = func(v string) { d.tokens = v; c.update() }
	right := []fyne.CanvasObject{newJoined(2*theme.Step, c.whole(lang.X("sampling.tokens", "Token limit")), newSized(numberWidth, t.tokens))}
	t.box = newColumn(theme.Step, newFlow(2*theme.Step, left, right))
	if prefers := c.item.Presentation.Prefers; prefers != "" {
		t.box.objects = append(t.box.objects, c.caption(lang.X("sampling.prefers", "The server says that it cares most for {{.what}}. That is its wish and chooses nothing.", map[string]any{"what": preferenceWords(prefers)}), theme.Dim))
	}
	if s.Prefers != "" {
		t.box.objects = append(t.box.objects, c.caption(lang.X("sampling.prefers_mapped", "This model is the one that you have set for servers that care most for {{.what}}.", map[string]any{"what": preferenceWords(s.Prefers)}), theme.Dim))
	}
	hints := c.item.Presentation.Hints
	if len(hints) == 0 {
		return t
	}
	t.box.objects = append(t.box.objects, c.caption(lang.X("sampling.hints", "The server would like: {{.hints}}. That is its wish and chooses nothing.", map[string]any{"hints": strings.Join(hints, ", ")}), theme.Dim))
	if s.Hint != "" {
		t.box.objects = append(t.box.objects, c.caption(lang.X("sampling.mapped", "This model is the one that you have set for “{{.hint}}”.", map[string]any{"hint": clean.Line(s.Hint, 100)}), theme.Dim))
	}
	t.keep = newButton(c, segment, "", "", func() { d.remember = !d.remember; t.draw() })
	t.kept = newFlow(0, []fyne.CanvasObject{t.keep}, nil)
	t.box.objects = append(t.box.objects, t.kept)
	t.draw()
	return t
}

// name is the model's, or says that it cannot be told.
func (t *sampleTarget) name() string {
	switch {
	case t.d.model != "":
		return clean.Line(t.d.model, 100)
	case t.c.item.Presentation.Model != "":
		return t.c.item.Presentation.Model
	}
	return lang.X("sampling.model_unknown", "the model in use")
}

func (t *sampleTarget) draw() {
	t.model.say(t.name())
	if t.keep != nil {
		words := lang.X("sampling.keep_model", "From now on use {{.model}} where a server asks for “{{.hint}}”", map[string]any{"model": t.name(), "hint": t.c.item.Presentation.Hints[0]})
		if t.d.remember {
			words = "✓ " + words
		}
		t.keep.say(words)
		t.keep.set(false, t.d.remember)
		if t.d.model == "" && t.c.item.Sampling.Model == "" {
			t.kept.Hide() // there is no model to keep
		} else {
			t.kept.Show()
		}
	}
}

// choose asks the endpoint for its models, off Fyne's goroutine, and offers them.
func (t *sampleTarget) choose() {
	d, endpoint := t.c.d, t.c.item.Sampling.Endpoint
	if t.asking || endpoint == "" {
		return
	}
	t.asking = true
	d.Go(func(ctx context.Context) {
		models, err := d.App.Models(ctx, endpoint)
		d.Do(func() {
			t.asking = false
			switch {
			case t.c.closed || !t.c.Waits():
			case err != nil:
				t.c.complain(err)
			case len(models) == 0:
				t.c.complain(errors.New(lang.X("sampling.no_models", "The endpoint names no models.")))
			default:
				t.offer(models)
			}
		})
	})
}

func (t *sampleTarget) offer(models []string) {
	if t.c.d.Layer == nil {
		return
	}
	var items []place.MenuItem
	now := t.d.model
	if now == "" {
		now = t.c.item.Sampling.Model
	}
	for _, m := range models[:min(len(models), maxOffered)] {
		items = append(items, place.MenuItem{Label: clean.Line(m, 100), Checked: m == now, Do: func() { t.take(m) }})
	}
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(t.model)
	t.c.d.Layer.Menu(items, at.AddXY(0, t.model.Size().Height))
}

// take uses a model for this request.
func (t *sampleTarget) take(model string) {
	t.d.model = model
	if model == t.c.item.Sampling.Model {
		t.d.model = ""
	}
	t.draw()
	t.c.changed()
}

// sampleLimits are what a person states for the server from now on.
type sampleLimits struct {
	c   *Card
	d   *sampleDraft
	box *column
}

// limitTexts are limits as they stand in the inputs.
func limitTexts(l consent.SamplingLimits) [4]string {
	return [4]string{digits(l.PerHour), digits(l.MaxTokens), digits(l.Trusted), digits(l.TrustedTokens)}
}

func newSampleLimits(c *Card, d *sampleDraft) *sampleLimits {
	l := &sampleLimits{c: c, d: d}
	server := map[string]any{"server": c.item.Presentation.Server}
	l.box = newBox(theme.WaitingTint, c.caption(lang.X("sampling.limits_mean", "What you state here holds for {{.server}} from this answer on. Beyond the first two limits its requests are refused.", server), theme.Dim))
	for i, words := range []string{
		lang.X("sampling.limit_requests", "Requests in any hour"),
		lang.X("sampling.limit_tokens", "Tokens of one answer"),
		lang.X("sampling.trust_requests", "Requests in any hour that are sent without asking; 0 for none"),
		lang.X("sampling.trust_tokens", "Tokens in any hour that these may use together"),
	} {
		e := c.entry(form.NewEntry())
		e.SetText(d.limits[i])
		e.OnChanged = func(s string) { d.limits[i] = s; c.update() }
		l.box.objects = append(l.box.objects, newInput(c.caption(words, theme.Text), newSized(numberWidth, e)))
		if i == 1 {
			l.box.objects = append(l.box.objects, c.caption(lang.X("sampling.trust_means", "Trust: within the next two limits, what {{.server}} asks goes to the model and the answer back to it without being shown to you. Each stands in the record. Trust ends when the server is set up in another way.", server), theme.Dim))
		}
	}
	l.show(d.open)
	return l
}

func (l *sampleLimits) show(yes bool) {
	if yes {
		l.box.Show()
	} else {
		l.box.Hide()
	}
}

// read gives the limits as they stand in the inputs; false where they are none.
func (l *sampleLimits) read() (consent.SamplingLimits, bool) {
	var n [4]int
	for i, most := range []int{maxRequests, maxTokens, maxRequests, 1 << 30} {
		v, ok := count(l.d.limits[i], most)
		if !ok && (i < 2 || strings.TrimSpace(l.d.limits[i]) != "0") {
			return consent.SamplingLimits{}, false
		}
		n[i] = v
	}
	out := consent.SamplingLimits{PerHour: n[0], MaxTokens: n[1], Trusted: n[2], TrustedTokens: n[3]}
	return out, (out.Trusted > 0) == (out.TrustedTokens > 0)
}

func (l *sampleLimits) unfit() bool {
	_, ok := l.read()
	return !ok
}

// stated are the limits where they differ from those in force, else nil.
func (l *sampleLimits) stated() *consent.SamplingLimits {
	out, ok := l.read()
	if !ok || out == l.c.item.Sampling.Limits {
		return nil
	}
	return &out
}

// preferenceWords name what a server cares for in a model.
func preferenceWords(what string) string {
	switch what {
	case consent.PreferCost:
		return lang.X("sampling.cost", "a low price")
	case consent.PreferSpeed:
		return lang.X("sampling.speed", "speed")
	}
	return lang.X("sampling.intelligence", "capability")
}
