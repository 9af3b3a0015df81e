package servers

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/app/event"
	"steward/ui/button"
	"steward/ui/code"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/place"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

// caller makes one call by hand: the same consent, the same record as a model's.
type caller func(ctx context.Context, server, tool, arguments string) (app.Outcome, error)

// bench is where a tool is tried without a model.
type bench struct {
	k            *kit
	page         *page
	call         caller
	server, tool string

	fields  []form.Field
	form    *form.Form // nil where the schema cannot be asked for by a form
	raw     *form.Entry
	written string // the last that was put into raw by the program
	mode    *segments
	input   *fyne.Container
	run     *button.Button
	halt    *button.Button
	status  *text.Label
	result  *fyne.Container
	object  fyne.CanvasObject
	stop    context.CancelFunc // while a call runs
	output  bool               // the tool promises what its result looks like

	// Of the call that runs:
	id       string // known once it was proposed
	decided  bool   // the person, or a rule, said yes
	began    time.Time
	progress event.Progress
	bar      *fyne.Container
}

func newBench(k *kit, p *page, call caller, t app.ServerTool) *bench {
	b := &bench{k: k, page: p, call: call, server: t.Server, tool: t.Tool.Tool, output: len(t.Output) > 0, bar: newBar()}
	fields, ok := formFields(t.InputSchema)
	b.raw = form.NewMultiLine(4)
	b.raw.EnterBreaks = true
	b.raw.TextStyle = fyne.TextStyle{Monospace: true}
	b.written = "{}"
	b.raw.SetText(b.written)
	b.raw.OnShortcut = k.d.Shortcut
	b.raw.OnBigPaste = func(string) {
		b.say(lang.X("servers.too_long", "This text is too long to be edited here."), theme.Refusal)
	}
	b.input = column(0)
	if ok {
		b.fields = fields
		b.form = form.New(fields, formTexts)
		b.form.OnResize = p.changed
		b.form.OnSubmit = b.start
		b.form.OnShortcut = k.d.Shortcut
	}
	b.mode = newSegments(b.show, lang.X("servers.as_form", "Form"), lang.X("servers.as_json", "JSON"))
	b.run = newButton(lang.X("servers.run", "Run"), b.start)
	b.run.SetLook(button.Strong)
	b.halt = newButton(lang.X("common.stop", "Stop"), func() {
		if b.stop != nil {
			b.stop()
		}
	})
	b.halt.Hide()
	b.status = text.NewLabel("", text.Run{Color: theme.Dim}, text.Wrap)
	b.result = column(2 * step)
	b.object = column(1.5*step,
		caption(lang.X("servers.try_it", "Try it — no model involved"), theme.Dim, text.Whole),
		card(b.head(), b.input, container.NewBorder(nil, nil, left(b.run, b.halt), nil, container.New(centred{}, b.status)), b.bar, b.result))
	if b.form == nil {
		b.mode.show(1)
	}
	b.show(b.mode.chosen)
	return b
}

func (b *bench) head() fyne.CanvasObject {
	if b.form == nil {
		return caption(lang.X("servers.json_only", "The schema of this tool cannot be asked for by a form. Write the arguments as JSON."), theme.Dim, text.Wrap)
	}
	return left(segmentFrame(b.mode))
}

// show changes between form and JSON; what was filled in comes along. What the form cannot show stays as JSON, so that what
// is run is what the person wrote.
func (b *bench) show(i int) {
	if i == 0 && b.form != nil {
		if !b.takeOver() {
			b.mode.show(1)
			b.say(lang.X("servers.form_cannot", "The form cannot show these arguments. They stay as JSON."), theme.Waiting)
			return
		}
		b.input.Objects = []fyne.CanvasObject{b.form}
		if len(b.fields) == 0 {
			b.input.Objects = []fyne.CanvasObject{text.NewLabel(lang.X("servers.no_arguments", "This tool takes no arguments."), text.Run{Color: theme.Dim}, text.Wrap)}
		}
	} else {
		if b.form != nil && !slices.Contains(b.input.Objects, fyne.CanvasObject(b.raw)) { // else the person is there already
			if s, err := arguments(b.fields, b.form.Values()); err == nil {
				b.written = code.Pretty(s)
				b.raw.SetText(b.written)
			}
		}
		b.input.Objects = []fyne.CanvasObject{b.raw}
	}
	b.page.changed()
}

// takeOver fills the form with the JSON that the person wrote; false where it cannot hold all of it.
func (b *bench) takeOver() bool {
	if b.raw.Text == b.written {
		return true // nothing was written there
	}
	names, values, err := members(json.RawMessage(b.raw.Text))
	if err != nil {
		return false
	}
	filled := map[string]json.RawMessage{}
	for n, name := range names {
		filled[name] = values[n]
	}
	return len(b.form.Replace(filled)) == 0
}

func (b *bench) say(s string, colour fyne.ThemeColorName) {
	b.status.SetText(s, text.Run{Color: colour})
	b.page.changed()
}

// start runs the tool with what is filled in.
func (b *bench) start() {
	if b.stop != nil {
		return
	}
	written := b.raw.Text
	if b.mode.chosen == 0 && b.form != nil {
		if !b.form.Check() {
			return
		}
		var err error
		if written, err = arguments(b.fields, b.form.Values()); err != nil {
			b.say(clean.Clean(err.Error()), theme.Refusal)
			return
		}
	}
	if err := app.CheckArguments(written); err != nil {
		b.say(language.Message(err), theme.Refusal)
		return
	}
	b.result.Objects = []fyne.CanvasObject{left(code.NewButton("clock", lang.X("servers.open_waiting", "Open what waits for you"), func() { b.k.d.Open(place.Waiting, "") }))}
	b.run.Disable()
	b.halt.Show()
	b.id, b.decided, b.began, b.progress = "", false, time.Now(), event.Progress{}
	b.k.running.Add(1)
	b.tell()
	stopped := make(chan struct{})
	closed := false
	b.stop = func() {
		if !closed {
			closed = true
			close(stopped)
		}
	}
	b.k.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		go func() { // ends with ctx, which ends with the call
			select {
			case <-stopped:
				cancel()
			case <-ctx.Done():
			}
		}()
		o, err := b.call(ctx, b.server, b.tool, written)
		b.k.d.Do(func() { b.done(o, err) })
	})
}

// heard is told what happens to calls while one of a bench runs.
func (b *bench) heard(e event.Event) {
	if b.stop == nil {
		return
	}
	switch e := e.(type) {
	case event.Call:
		if b.id == "" && e.Conversation == "" && e.Server == b.server && e.Tool == b.tool {
			b.id = e.ID
		}
	case event.Decision:
		if e.Call == b.id && b.id != "" && !b.decided {
			b.decided, b.began = true, time.Now()
			b.result.Objects = nil // nothing waits for the person any more
		}
	case event.Progress:
		if e.Call == b.id && b.id != "" {
			b.decided, b.progress = true, e
		}
	}
	b.tell()
}

// tell says how far the running call is.
func (b *bench) tell() {
	if b.stop == nil {
		return
	}
	if !b.decided {
		b.say(lang.X("servers.waiting_for_you", "Waiting for your answer. Nothing has been sent yet."), theme.Waiting)
		return
	}
	words := []string{lang.X("servers.running_for", "Running for {{.time}}", map[string]any{"time": span(time.Since(b.began))})}
	p := b.progress
	share := float32(0)
	switch {
	case p.Total > 0:
		share = float32(min(max(p.Progress/p.Total, 0), 1))
		words = append(words, strconv.Itoa(int(share*100))+" %")
	case p.Progress > 0:
		words = append(words, strconv.FormatFloat(p.Progress, 'g', -1, 64))
	}
	setBar(b.bar, p.Total > 0, share)
	words = append(words, nonEmpty(clean.Line(p.Message, 300))...)
	if p.Task {
		words = append(words, lang.X("servers.task", "A task at the server; it goes on by itself"))
	}
	b.say(strings.Join(words, " · "), theme.Dim)
}

func (b *bench) done(o app.Outcome, err error) {
	b.stop = nil
	b.k.running.Add(-1)
	setBar(b.bar, false, 0)
	b.run.Enable()
	b.halt.Hide()
	b.result.Objects = nil
	if err != nil && o.Outcome == "" {
		b.say(language.Message(err), theme.Refusal)
		return
	}
	if err != nil { // it was done, but could not be recorded
		b.result.Objects = append(b.result.Objects, note(language.Message(err), theme.Refusal, theme.RefusalTint))
	}
	b.result.Objects = append(b.result.Objects, b.resultOf(o)...)
	words, colour := outcomeWords(o)
	if b.output && o.Outcome == "ok" && len(o.Structured) > 0 && len(o.Notes) == 0 {
		words += " · " + lang.X("servers.valid", "valid against the schema")
	}
	for _, n := range o.Notes {
		b.result.Objects = append([]fyne.CanvasObject{caption("⚠ "+clean.Clean(n), theme.Waiting, text.Wrap)}, b.result.Objects...)
	}
	b.say(words, colour)
}

// outcomeWords say how a call ended, with its time.
func outcomeWords(o app.Outcome) (string, fyne.ThemeColorName) {
	data := map[string]any{"seconds": seconds(o.Seconds), "reason": clean.Clean(sentence.Worded(o.Reason)), "outcome": o.Outcome}
	s, colour := lang.X("servers.outcome_other", "Ended: {{.outcome}}", data), theme.Refusal
	switch {
	case o.Decision == "denied" || o.Decision == "deny":
		s = lang.X("servers.outcome_denied", "Not allowed, and not run")
	case o.Outcome == "ok":
		s, colour = lang.X("servers.outcome_ok", "{{.seconds}} s · succeeded", data), theme.Good
	case o.Outcome == "tool_error":
		s = lang.X("servers.outcome_tool_error", "{{.seconds}} s · the tool reports an error", data)
	case o.Outcome == "cancelled" || o.Outcome == "withdrawn":
		s, colour = lang.X("servers.outcome_stopped", "Stopped"), theme.Dim
	case o.Outcome == "timeout":
		s = lang.X("servers.outcome_timeout", "{{.seconds}} s · no answer came in time", data)
	}
	if o.Reason != "" {
		s += " · " + clean.Clean(sentence.Worded(o.Reason))
	}
	return s, colour
}

// resultOf shows what came back, whole.
func (b *bench) resultOf(o app.Outcome) []fyne.CanvasObject {
	var out []fyne.CanvasObject
	for _, c := range o.Content {
		switch s := clean.Clean(c.Text); {
		case s != "" && json.Valid([]byte(s)) && strings.ContainsAny(s[:1], "{["):
			out = append(out, b.k.listing(b.page, "json", s))
		case s != "":
			out = append(out, b.k.listing(b.page, "", s))
		case strings.HasPrefix(c.MIMEType, "image/") && len(c.Data) > 0:
			out = append(out, b.k.picture(b.page, c.MIMEType, c.Data))
		default:
			what := strings.Join(nonEmpty(clean.Clean(c.Type), clean.Clean(c.MIMEType), clean.Reveal(c.Name), clean.Reveal(c.URI)), " · ")
			out = append(out, caption(what, theme.Dim, text.Wrap))
		}
	}
	if len(o.Structured) > 0 {
		out = append(out, caption(lang.X("servers.structured", "Structured result"), theme.Dim, text.Wrap), b.k.listing(b.page, "json", clean.Clean(string(o.Structured))))
	}
	if len(out) == 0 && o.Text != "" {
		out = append(out, b.k.listing(b.page, "", clean.Clean(o.Text)))
	}
	if o.Record > 0 {
		n := recordNumber(o.Record)
		out = append(out, left(code.NewButton("audit", lang.X("servers.record", "Record {{.n}} in the audit", map[string]any{"n": n}), func() { b.k.d.Open(place.Audit, n) })))
	}
	return out
}

func nonEmpty(words ...string) []string {
	var out []string
	for _, w := range words {
		if w != "" {
			out = append(out, w)
		}
	}
	return out
}

// newBar is a thin bar that shows a share of the width.
func newBar() *fyne.Container {
	c := container.New(&barLayout{}, newPaint(theme.Side, "", 2), newPaint(theme.Accent, "", 2))
	c.Hide()
	return c
}

func setBar(c *fyne.Container, shown bool, share float32) {
	c.Layout.(*barLayout).share = share
	c.Hidden = !shown
	c.Refresh()
}

type barLayout struct{ share float32 }

// MinSize is Fyne's.
func (*barLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(40, 4) }

// Layout is Fyne's.
func (b *barLayout) Layout(o []fyne.CanvasObject, s fyne.Size) {
	o[0].Resize(s)
	o[1].Resize(fyne.NewSize(s.Width*b.share, s.Height))
}

// centred puts one measured object into the middle of the height it gets.
type centred struct{}

// MinSize is Fyne's.
func (centred) MinSize(o []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(80, heightOf(o[0], max(o[0].Size().Width, 200)))
}

// Layout is Fyne's.
func (centred) Layout(o []fyne.CanvasObject, s fyne.Size) {
	h := heightOf(o[0], s.Width-2*step)
	o[0].Move(fyne.NewPos(2*step, max((s.Height-h)/2, 0)))
	o[0].Resize(fyne.NewSize(s.Width-2*step, h))
}
