package chat

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/app/event"
	"steward/ui/code"
	"steward/ui/language"
	"steward/ui/picture"
	"steward/ui/text"
	"steward/ui/theme"
)

// previewBytes is as much of one text as a card shows; all of it is in the viewer.
const previewBytes = 64 << 10

const (
	tabCall = iota
	tabResult
	tabWire
)

// toolBody shows what was sent, what came back, and the messages on the wire.
type toolBody struct {
	*column
	p        *Place
	call     app.CallState
	result   *app.CallResult
	problem  error
	shape    *shape // nil until it is set out
	tab      int
	resized  func()
	pictures map[*byte]*picture.Box // by the first of their bytes
	load0    int                    // counts readings, so that an old one is not shown
}

func newToolBody(p *Place, resized func()) *toolBody {
	b := &toolBody{p: p, resized: resized, tab: tabResult, pictures: map[*byte]*picture.Box{}}
	b.column = newColumn(2*theme.Step, pad{top: theme.Step})
	return b
}

// load shows a call and reads its record.
func (b *toolBody) load(c app.CallState) {
	b.call = c
	if c.State != callDone {
		b.tab = tabCall
	}
	b.load0++
	turn := b.load0
	large := sizeOf(c.Content, c.Structured) > atOnce
	if b.shape = nil; !large {
		b.shape = shapeOf(c.Content, c.Structured, nil)
	}
	b.paint()
	if c.Record == 0 && !large {
		return
	}
	b.p.d.Go(func(ctx context.Context) {
		result, shape, err := b.read(ctx, c)
		if gone(ctx, err) {
			return
		}
		b.p.d.Do(func() {
			if turn != b.load0 {
				return
			}
			b.problem, b.shape = err, shape
			if result != nil {
				b.result = result
			}
			b.paint()
			b.resized()
		})
	})
}

// read reads the record of a call, where it has one, and sets out what there is to be shown. In the background.
func (b *toolBody) read(ctx context.Context, c app.CallState) (*app.CallResult, *shape, error) {
	if c.Record == 0 {
		return nil, shapeOf(c.Content, c.Structured, nil), nil
	}
	r, err := b.p.d.App.CallResult(ctx, c.Record)
	if err != nil {
		return nil, shapeOf(c.Content, c.Structured, nil), err
	}
	return &r, shapeOf(r.Content, r.Structured, r.Frames), nil
}

func (b *toolBody) choose(tab int) {
	b.tab = tab
	b.paint()
	b.resized()
}

func (b *toolBody) paint() {
	tabs := []fyne.CanvasObject{}
	for i, label := range []string{lang.X("chat.tab_call", "Call"), lang.X("chat.tab_result", "Result"), lang.X("chat.tab_wire", "Wire")} {
		look := quiet
		if i == b.tab {
			look = chosen
		}
		c := newChip(look, "", label, func() { b.choose(i) })
		c.small, c.onShort = true, b.p.d.Shortcut
		tabs = append(tabs, c)
	}
	var right []fyne.CanvasObject
	right = append(right, newChip(quiet, "copy", lang.X("common.copy", "Copy"), func() { b.p.copyText(b.source()) }))
	if b.call.Record != 0 {
		right = append(right, newChip(quiet, "audit", lang.X("chat.open_record", "Record"), func() { b.p.openRecord(b.call.Record) }))
	}
	objects := []fyne.CanvasObject{newLine(theme.Step, tabs, nil, right...)}
	b.put(append(objects, b.content()...)...)
}

func (b *toolBody) content() []fyne.CanvasObject {
	switch b.tab {
	case tabCall:
		return b.callContent()
	case tabWire:
		return b.wireContent()
	}
	return b.resultContent()
}

func (b *toolBody) config() code.Config {
	return code.Config{Words: words(), Pool: b.p.pool, OnBeyond: func(e *fyne.ScrollEvent) { b.p.list.Scrolled(e) }}
}

// listing shows a text of any length: its beginning, and a button for the rest.
func (b *toolBody) listing(lang0, src string) []fyne.CanvasObject {
	shown := src
	if len(shown) > previewBytes {
		shown = strings.ToValidUTF8(shown[:previewBytes], "")
	}
	v := text.NewView(words())
	b.p.textView(v)
	var l *code.Listing
	l = code.NewListing(lang0, shown, false, text.Block{}, b.config(), func() { // its colours came, or it was unfolded
		v.SetBlocks([]*text.Block{l.Block()})
		b.resized()
	})
	v.SetBlocks([]*text.Block{l.Block()})
	out := []fyne.CanvasObject{v}
	if len(shown) < len(src) {
		label := lang.X("chat.view_all", "View all {{.size}}", map[string]any{"size": size(int64(len(src)))})
		out = append(out, newLine(0, []fyne.CanvasObject{newChip(outlined, "eye", label, func() { b.p.viewer(lang0, src) })}, nil))
	}
	return out
}

func (b *toolBody) callContent() []fyne.CanvasObject {
	if b.call.Edited == "" {
		return b.listing("json", revealJSON(b.call.Arguments))
	}
	out := []fyne.CanvasObject{caption(lang.X("chat.edited_by_you", "You changed what the model proposed. This was sent:"), theme.Dim, text.Wrap)}
	return append(out, code.NewDiff(revealJSON(b.call.Arguments), revealJSON(b.call.Edited), b.config()))
}

func (b *toolBody) sentence(s string, colour fyne.ThemeColorName) fyne.CanvasObject {
	v := text.NewView(words())
	b.p.textView(v)
	v.SetText(s, text.Run{Color: colour})
	return v
}

func (b *toolBody) resultContent() []fyne.CanvasObject {
	switch {
	case b.result != nil && b.result.Erased:
		return []fyne.CanvasObject{b.sentence(lang.X("chat.erased", "The texts of this call were erased together with their conversation."), theme.Dim)}
	case b.shape == nil:
		return []fyne.CanvasObject{b.sentence(lang.X("common.loading", "Loading…"), theme.Dim)}
	}
	var out []fyne.CanvasObject
	for _, p := range b.shape.parts {
		out = append(out, b.part(p)...)
	}
	if b.shape.structured != "" {
		out = append(out, caption(lang.X("chat.structured", "Structured content"), theme.Dim, text.Cut))
		out = append(out, b.listing("json", b.shape.structured)...)
	}
	if len(out) == 0 && b.call.Text != "" {
		out = b.listing("", b.call.Text)
	}
	switch {
	case len(out) > 0:
	case b.call.State != callDone:
		out = append(out, b.sentence(lang.X("chat.no_result_yet", "There is no result yet."), theme.Dim))
	case b.problem != nil:
		out = append(out, b.sentence(language.Message(b.problem), theme.Refusal))
	default:
		out = append(out, b.sentence(lang.X("chat.no_result", "The call gave no content."), theme.Dim))
	}
	return out
}

// part shows one block of a result.
func (b *toolBody) part(p shapedPart) []fyne.CanvasObject {
	if p.text != "" {
		return b.listing(p.lang, p.text)
	}
	c := p.other
	if c.Type == "image" && len(c.Data) > 0 {
		return []fyne.CanvasObject{b.picture(c)}
	}
	name := c.Name
	if name == "" {
		name = c.URI
	}
	words := lang.X("chat.part", "{{.type}} · {{.mime}} · {{.size}} {{.name}}", map[string]any{
		"type": clean.Line(c.Type, 40), "mime": clean.Line(c.MIMEType, 80), "size": size(int64(len(c.Data))), "name": clean.Reveal(clean.Line(name, 200)),
	})
	return []fyne.CanvasObject{b.sentence(words, theme.Dim)}
}

// picture shows a picture of the result. It is decoded once, however often it is shown.
func (b *toolBody) picture(c event.Content) fyne.CanvasObject {
	shown := b.pictures[&c.Data[0]]
	if shown == nil {
		shown = b.p.pictures.Box(clean.Line(c.MIMEType, 80)+" · "+size(int64(len(c.Data))), c.Data, b.resized)
		b.pictures[&c.Data[0]] = shown
	}
	return shown
}

func (b *toolBody) wireContent() []fyne.CanvasObject {
	if b.result == nil || b.shape == nil || len(b.shape.frames) == 0 {
		if b.problem != nil {
			return []fyne.CanvasObject{b.sentence(language.Message(b.problem), theme.Refusal)}
		}
		return []fyne.CanvasObject{b.sentence(lang.X("chat.no_frames", "No messages of this call are kept."), theme.Dim)}
	}
	var out []fyne.CanvasObject
	for i, f := range b.result.Frames {
		arrow := "→ "
		if f.Direction == "in" {
			arrow = "← "
		}
		head := arrow + f.Time.Local().Format("15:04:05.000") + " · " + size(max(f.Length, int64(len(f.Bytes))))
		out = append(out, caption(head, theme.Dim, text.Cut))
		out = append(out, b.listing("json", b.shape.frames[i])...)
	}
	return out
}

// source is what the copy button copies: the open tab as text.
func (b *toolBody) source() string {
	switch {
	case b.tab == tabCall && b.call.Edited != "":
		return b.call.Edited
	case b.tab == tabCall:
		return b.call.Arguments
	case b.tab == tabWire && b.result != nil:
		var s strings.Builder
		for _, f := range b.result.Frames {
			fmt.Fprintf(&s, "%s %s %s\n", f.Time.Format("15:04:05.000"), f.Direction, f.Bytes)
		}
		return s.String()
	}
	content := b.call.Content
	if b.result != nil {
		content = b.result.Content
	}
	var parts []string
	for _, c := range content {
		if c.Text != "" {
			parts = append(parts, c.Text)
		}
	}
	if len(parts) == 0 {
		return b.call.Text
	}
	return strings.Join(parts, "\n\n")
}

// viewer shows a text of any length over everything.
func (p *Place) viewer(lang0, src string) {
	pane := code.NewViewer(lang0, src, code.Config{Words: words(), Pool: p.pool})
	pane.SetLeast(fyne.NewSize(min(900, p.d.Window().Canvas().Size().Width-80), p.d.Window().Canvas().Size().Height-160))
	var done func()
	closing := newChip(outlined, "cross", lang.X("common.close", "Close"), func() { done() })
	copied := newChip(outlined, "copy", lang.X("common.copy_all", "Copy all"), func() { p.copyText(src) })
	done = p.d.Layer.Dialog(container.NewBorder(nil, container.NewPadded(newLine(2*theme.Step, nil, nil, copied, closing)), nil, nil, pane), nil)
}
