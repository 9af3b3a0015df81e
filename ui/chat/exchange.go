package chat

import (
	"context"
	"strconv"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/language"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	// What the dialog takes of the window at most, and leaves of it for what stands around the text.
	exchangeWidth  float32 = 760
	exchangeHeight float32 = 420
	exchangeAround float32 = 230
	// mostExchange is how many bytes of an exchange are laid out; copying gives all that is kept.
	mostExchange = 1 << 20
)

// exchangeView shows what went to the model for a message, as it went over the wire, and the conversation's other
// exchanges that are still kept.
type exchangeView struct {
	p        *Place
	body     *column
	frame    *fyne.Container
	raw      bool
	width    float32
	turn     int  // of what is being read; what was asked for before is not shown any more
	reading  bool // nothing was read yet
	shut     bool
	done     func()
	numbers  []int64 // of those that are kept
	exchange *app.Exchange
	failed   error
	readable []*text.Block
	wire     []*text.Block
	pane     *text.Pane
	closing  *chip
}

// showExchange opens it for a message.
func (p *Place) showExchange(message string) *exchangeView {
	window := p.d.Window().Canvas().Size()
	v := &exchangeView{p: p, reading: true, width: max(min(exchangeWidth, window.Width-20*theme.Step), 200)}
	v.closing = newChip(outlined, "", lang.X("common.close", "Close"), func() { v.done() })
	v.closing.onShort = p.d.Shortcut
	v.pane = text.NewPane(words())
	v.pane.SetLeast(fyne.NewSize(v.width, max(min(exchangeHeight, window.Height-exchangeAround), 80)))
	p.textPane(v.pane)
	v.body = newColumn(3*theme.Step, pad{})
	room := canvas.NewRectangle(theme.Color(theme.Clear))
	room.SetMinSize(fyne.NewSize(v.width, 0))
	v.frame = container.NewStack(room, &fyne.Container{Layout: measured{v.body, v.width}, Objects: []fyne.CanvasObject{v.body}})
	v.show()
	before := p.d.Window().Canvas().Focused()
	v.done = p.d.Layer.Dialog(v.frame, func() {
		v.shut = true
		if before != nil {
			p.focus(before)
		}
	})
	p.focus(v.closing)
	conversation := p.state.conversation
	v.read(func(ctx context.Context) (int64, error) { return p.d.App.ExchangeOf(ctx, conversation, message) })
	return v
}

// textPane has keys that a pane does not know do what they do everywhere.
func (p *Place) textPane(pane *text.Pane) {
	v := pane.View()
	scroll := v.OnKey
	v.OnKey = func(e *fyne.KeyEvent) {
		p.keyFromText(e)
		scroll(e)
	}
	v.OnShortcut = func(s fyne.Shortcut) { p.d.Shortcut(s) }
}

// read finds the record and reads it, all of it away from Fyne's goroutine, as a large one takes a while.
func (v *exchangeView) read(find func(context.Context) (int64, error)) {
	v.turn++
	turn, conversation := v.turn, v.p.state.conversation
	v.p.d.Go(func(ctx context.Context) {
		var got *app.Exchange
		var readable, wire []*text.Block
		var numbers []int64
		record, err := find(ctx)
		if err == nil && record != 0 {
			var e app.Exchange
			if e, err = v.p.d.App.Exchange(ctx, record); err == nil {
				got, readable, wire = &e, readableBlocks(e), rawBlocks(e)
				numbers, err = v.p.d.App.Exchanges(ctx, conversation)
			}
		}
		if gone(ctx, err) {
			return
		}
		v.p.d.Do(func() {
			if turn != v.turn || v.shut {
				return
			}
			v.exchange, v.failed, v.numbers, v.readable, v.wire = got, err, numbers, readable, wire
			v.reading = false
			v.show()
		})
	})
}

// show builds the dialog anew.
func (v *exchangeView) show() {
	e := v.exchange
	objects := []fyne.CanvasObject{text.NewLabel(lang.X("chat.what_was_sent", "What was sent"), text.Run{Bold: true}, text.Wrap)}
	say := func(words string) {
		objects = append(objects, text.NewLabel(words, text.Run{Color: theme.Dim}, text.Wrap))
	}
	var left []fyne.CanvasObject
	switch {
	case v.failed != nil:
		say(language.Message(v.failed))
	case v.reading:
		say(lang.X("common.loading", "Loading…"))
	case e == nil:
		say(lang.X("chat.exchange_none", "No request to the model is recorded for this message."))
	default:
		objects = append(objects, caption(exchangeFacts(*e), theme.Dim, text.Wrap))
		if e.Reason != "" {
			objects = append(objects, text.NewLabel(sentence.Worded(e.Reason), text.Run{Color: theme.Refusal}, text.Wrap))
		}
		left = append(left, newChip(outlined, "audit", lang.X("chat.exchange_record", "Record {{.record}}", map[string]any{"record": e.Record}), func() {
			v.done()
			v.p.openRecord(e.Record)
		}))
		if why := whyNotKept(*e); why != "" {
			say(why)
			break
		}
		objects = append(objects, v.choices(), v.pane)
		blocks := v.readable
		if v.raw {
			blocks = v.wire
		}
		v.pane.SetBlocks(blocks)
		left = append(left, newChip(outlined, "copy", lang.X("common.copy", "Copy"), func() { v.p.copyText(v.copied()) }))
	}
	for _, o := range left {
		if c, ok := o.(*chip); ok {
			c.onShort = v.p.d.Shortcut
		}
	}
	v.body.put(append(objects, newLine(2*theme.Step, left, nil, v.closing))...)
	v.body.Refresh()
	v.p.resized()
}

// choices are the form that is shown, and the way to the other exchanges.
func (v *exchangeView) choices() fyne.CanvasObject {
	form := func(raw bool, words string) *chip {
		c := newChip(quiet, "", words, func() { v.raw = raw; v.show() })
		if v.raw == raw {
			c.look = chosen
		}
		c.small, c.onShort = true, v.p.d.Shortcut
		return c
	}
	left := []fyne.CanvasObject{form(false, lang.X("chat.exchange_readable", "Readable")), form(true, lang.X("chat.exchange_raw", "As it went"))}
	at := -1
	for i, n := range v.numbers {
		if n == v.exchange.Record {
			at = i
		}
	}
	if at < 0 || len(v.numbers) < 2 {
		return newLine(theme.Step, left, nil)
	}
	step := func(icon string, to int) *chip {
		c := newChip(quiet, icon, "", func() {
			if to >= 0 && to < len(v.numbers) {
				n := v.numbers[to]
				v.read(func(context.Context) (int64, error) { return n, nil })
			}
		})
		c.onShort = v.p.d.Shortcut
		return c
	}
	place := caption(lang.X("chat.exchange_of", "{{.number}} of the last {{.count}}", map[string]any{"number": at + 1, "count": len(v.numbers)}), theme.Dim, text.Whole)
	return newLine(theme.Step, left, nil, step("chevron-left", at-1), place, step("chevron-right", at+1))
}

// copied is all that is kept, in the form that is shown.
func (v *exchangeView) copied() string {
	if !v.raw {
		return plainOfBlocks(readableBlocks(*v.exchange))
	}
	var parts []string
	for _, f := range v.exchange.Frames {
		parts = append(parts, string(f.Bytes))
	}
	return strings.Join(parts, "\n\n")
}

func plainOfBlocks(blocks []*text.Block) string {
	var parts []string
	for _, b := range blocks {
		var line strings.Builder
		for _, r := range b.Runs {
			line.WriteString(r.Text)
		}
		parts = append(parts, line.String())
	}
	return strings.Join(parts, "\n")
}

// whyNotKept says why there is nothing to show; empty where there is.
func whyNotKept(e app.Exchange) string {
	switch {
	case e.Kept:
		return ""
	case e.Erased:
		return lang.X("chat.exchange_erased", "It was erased together with its conversation.")
	case e.Outcome == "running" || e.Outcome == "waiting":
		return lang.X("chat.exchange_running", "The request still goes on. What went over the wire can be seen once it is over.")
	}
	return lang.X("chat.exchange_gone", "What went over the wire is not kept any more: that is done for the last requests of a chat alone.")
}

// exchangeFacts says in a line what the request was.
func exchangeFacts(e app.Exchange) string {
	model := e.Model
	if e.ModelRecord.Model != "" && e.ModelRecord.Model != e.Model {
		model += " (" + e.ModelRecord.Model + ")"
	}
	parts := []string{purposeWords(e.Purpose), clean.Line(clean.Reveal(model), 120), clean.Line(clean.Reveal(e.Endpoint), 120), e.Time.Local().Format("2006-01-02 15:04:05")}
	if e.Seconds > 0 {
		parts = append(parts, seconds(e.Seconds))
	}
	if e.Input > 0 {
		words := lang.X("chat.tokens_in", "{{.count}} tokens in", map[string]any{"count": count(e.Input)})
		if e.Cached > 0 {
			words += lang.X("chat.tokens_cached", " ({{.count}} of them cached)", map[string]any{"count": count(e.Cached)})
		}
		parts = append(parts, words)
	}
	if e.Output > 0 {
		words := lang.X("chat.tokens_out", "{{.count}} out", map[string]any{"count": count(e.Output)})
		if e.ModelRecord.Reasoning > 0 {
			words += lang.X("chat.tokens_reasoning", " ({{.count}} of them reasoning)", map[string]any{"count": count(e.ModelRecord.Reasoning)})
		}
		parts = append(parts, words)
	}
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, " · ")
}

func purposeWords(purpose string) string {
	switch purpose {
	case "turn":
		return lang.X("chat.for_turn", "An answer")
	case "title":
		return lang.X("chat.for_title", "A title")
	case "compaction":
		return lang.X("chat.for_compaction", "A summary of what came before")
	case "sampling":
		return lang.X("chat.for_sampling", "A server's request")
	case "test":
		return lang.X("chat.for_test", "A test")
	}
	return clean.Line(purpose, 40)
}

// readableBlocks set an exchange out to be read. Any goroutine.
func readableBlocks(e app.Exchange) []*text.Block {
	var out []*text.Block
	left := mostExchange
	for i, p := range e.Parts {
		room := 3 * theme.Step
		if i == 0 {
			room = 0
		}
		color := theme.Dim
		if p.Answer {
			color = theme.Accent
		}
		out = append(out, &text.Block{Runs: []text.Run{{Text: partHeading(p), Bold: true, Color: color}}, Before: room})
		if p.Text == "" {
			continue
		}
		shown := shownPart(p, &left)
		out = append(out, &text.Block{Runs: []text.Run{{Text: shown}}, Before: theme.Step, Code: p.Kind != app.ExchangeMessage && p.Kind != app.ExchangeAnswer && p.Kind != app.ExchangeThought})
	}
	return out
}

// shownPart is a part's text as far as there is room for it.
func shownPart(p app.ExchangePart, left *int) string {
	s, cut := p.Text, 0
	if len(s) > *left {
		s, cut = strings.ToValidUTF8(s[:*left], ""), len(s)-*left
	}
	*left -= len(s)
	if p.Kind == app.ExchangeCall {
		s = revealJSON(s)
	} else {
		s = revealLines(s)
	}
	if cut > 0 {
		s += "\n" + lang.X("chat.exchange_more", "{{.count}} more bytes are not shown here; copying gives them.", map[string]any{"count": strconv.Itoa(cut)})
	}
	return s
}

func partHeading(p app.ExchangePart) string {
	name := clean.Line(clean.Reveal(p.Name), 200)
	data := map[string]any{"name": name}
	switch p.Kind {
	case app.ExchangeRequest:
		return lang.X("chat.part_request", "Request to {{.name}}", data)
	case app.ExchangeThought:
		return lang.X("chat.part_thought", "Reasoning")
	case app.ExchangeCall:
		return lang.X("chat.part_call", "Call of {{.name}}", data)
	case app.ExchangeTools:
		return lang.X("chat.part_tools", "Tools that the model could call")
	case app.ExchangeAnswer:
		return lang.X("chat.part_answer", "What the model answered")
	case app.ExchangeStatus:
		return lang.X("chat.part_status", "Refused with HTTP {{.name}}", data)
	case app.ExchangeUnreadable:
		return lang.X("chat.part_as_it_is", "As it went")
	}
	switch p.Name {
	case "system", "developer":
		return lang.X("chat.sent_system", "System prompt")
	case "user":
		return lang.X("chat.message_you", "Your message")
	case "assistant":
		return lang.X("chat.message_model", "The model's message")
	case "tool":
		return lang.X("chat.sent_result", "Result of a tool")
	}
	return name
}

// rawBlocks show the bytes. Their lines are broken where they do not fit: one of half a megabyte would take seconds
// to draw otherwise. Any goroutine.
func rawBlocks(e app.Exchange) []*text.Block {
	var out []*text.Block
	left := mostExchange
	for i, f := range e.Frames {
		arrow, color := "→ ", theme.Dim
		if f.Direction == "in" {
			arrow, color = "← ", theme.Accent
		}
		heading := arrow + f.Time.Local().Format("15:04:05.000") + " · " + size(f.Length)
		if f.Cut {
			heading += " · " + lang.X("chat.exchange_cut", "the middle is not kept")
		}
		room := 3 * theme.Step
		if i == 0 {
			room = 0
		}
		out = append(out, &text.Block{Runs: []text.Run{{Text: heading, Bold: true, Color: color}}, Before: room},
			&text.Block{Runs: []text.Run{{Text: shownPart(app.ExchangePart{Kind: app.ExchangeUnreadable, Text: string(f.Bytes)}, &left)}}, Code: true, Before: theme.Step})
	}
	return out
}

// thoughtWords word how long a model reasoned.
func thoughtWords(d time.Duration) string {
	switch s := int(d.Round(time.Second) / time.Second); {
	case d <= 0:
		return lang.X("chat.thoughts", "Thoughts")
	case s < 1:
		return lang.X("chat.thought_moment", "Thought for a moment")
	case s < 60:
		return lang.X("chat.thought_for", "Thought for {{.seconds}} s", map[string]any{"seconds": s})
	default:
		return lang.X("chat.thought_minutes", "Thought for {{.minutes}} min {{.seconds}} s", map[string]any{"minutes": s / 60, "seconds": s % 60})
	}
}
