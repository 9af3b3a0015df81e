package audit

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/app/event"
	"steward/app/journal"
	"steward/ui/code"
	"steward/ui/language"
	"steward/ui/sentence"
	"steward/ui/text"
	"steward/ui/theme"
)

const (
	mostText    = 64_000  // bytes of an argument or a result that are set out; all of it stands in the record
	mostWire    = 512_000 // bytes of frames that are shown
	mostFields  = 100
	longestLine = 4000 // bytes of a line that is drawn unbroken
	shortField  = 200  // bytes of an argument that stands on a line of its own
)

// detail is a record with its texts worked out: every odd character visible, JSON set out.
type detail struct {
	journal.Detail
	chat      string // title of its conversation, "" where there is none
	arguments []*text.Block
	result    []*text.Block
	wire      []*text.Block
	whole     []*text.Block // everything, as JSON
	json      string
	steps     []step
}

// live says that the record has not ended, so that it may still change.
func (d *detail) live() bool { return live(d.Detail) }

func live(d journal.Detail) bool {
	return d.Outcome == journal.Waiting || d.Outcome == journal.Running
}

// again says that the call can be made once more by hand.
func (d *detail) again() bool {
	return d.Kind == journal.KindCall && !d.Erased && d.Server != "" && d.Tool != ""
}

// choose shows a record's details, 0 none.
func (p *presenter) choose(number int64) {
	if number != p.chosen {
		p.record, p.failed = nil, nil
	}
	p.chosen = number
	if number == 0 {
		p.on.detail()
		return
	}
	if p.record == nil {
		p.on.detail()
	}
	names := p.names
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, enough)
		defer cancel()
		d, err := readDetail(ctx, p.d.App, names, number)
		p.d.Do(func() {
			if number != p.chosen {
				return
			}
			p.record, p.failed = d, err
			p.on.detail()
		})
	})
}

// readDetail reads a record and works its texts out. It takes a while for a big one.
func readDetail(ctx context.Context, a *app.App, names namer, number int64) (*detail, error) {
	kept, err := a.Journal().Show(ctx, number)
	if err != nil {
		return nil, err
	}
	d := &detail{Detail: kept}
	if d.Conversation != "" {
		// A conversation may be gone; its records stay.
		if c, err := a.Conversation(ctx, d.Conversation); err == nil {
			d.chat = clean.Line(c.Title, 200)
			if d.chat == "" {
				d.chat = lang.X("audit.untitled", "Untitled chat")
			}
		}
	}
	d.arguments = argumentBlocks(kept.Arguments)
	if d.result, err = resultBlocks(ctx, a, kept); err != nil {
		d.result = []*text.Block{{Runs: []text.Run{{Text: language.Message(err), Color: theme.Refusal}}}}
	}
	d.wire = wireBlocks(kept)
	whole, err := json.Marshal(kept)
	if err != nil {
		return nil, fmt.Errorf("record %d cannot be shown: %w", number, err)
	}
	d.json = code.Pretty(clean.Reveal(string(whole)))
	d.whole = lines(d.json)
	d.steps = steps(kept, names)
	return d, nil
}

// member is one member of a JSON object, in the order in which it was written.
type member struct{ name, value string }

// members takes a flat look at an object; ok is false where JSON is something else.
func members(object string) (list []member, ok bool) {
	dec := json.NewDecoder(strings.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, false
		}
		list = append(list, member{fmt.Sprint(name), string(raw)})
	}
	_, err := dec.Token()
	return list, err == nil
}

// argumentBlocks shows arguments as fields where they are few and short, else as JSON.
func argumentBlocks(arguments string) []*text.Block {
	if arguments == "" {
		return nil
	}
	list, ok := members(arguments)
	if !ok || len(list) > mostFields {
		return jsonBlocks(arguments)
	}
	width := 0
	for i, m := range list {
		var s string
		if json.Unmarshal([]byte(m.value), &s) == nil && strings.HasPrefix(m.value, `"`) {
			list[i].value = s
		}
		if len(m.value) > shortField || strings.HasPrefix(m.value, "{") || strings.HasPrefix(m.value, "[") {
			return jsonBlocks(arguments)
		}
		list[i].name = clean.Reveal(m.name)
		width = max(width, min(24, len([]rune(list[i].name))))
	}
	var runs []text.Run
	for i, m := range list {
		end := "\n"
		if i == len(list)-1 {
			end = ""
		}
		runs = append(runs, text.Run{Text: m.name + strings.Repeat(" ", max(0, width-len([]rune(m.name)))) + "  ", Color: theme.Dim},
			text.Run{Text: clean.Reveal(m.value) + end})
	}
	if len(runs) == 0 {
		runs = []text.Run{{Text: "{}", Color: theme.Dim}}
	}
	return []*text.Block{{Runs: runs, Code: true, Ground: theme.CodeGround}}
}

// jsonBlocks shows JSON set out and coloured.
func jsonBlocks(raw string) []*text.Block {
	shown := code.Pretty(clean.Reveal(raw))
	more := 0
	if len(shown) > mostText {
		more = len(shown) - mostText
		shown = strings.ToValidUTF8(shown[:mostText], "")
	}
	runs := code.Highlight("json", shown)
	if runs == nil {
		runs = []text.Run{{Text: shown}}
	}
	blocks := []*text.Block{{Runs: runs, Code: true, Ground: theme.CodeGround}}
	if more > 0 {
		blocks = append(blocks, plain(lang.X("audit.more_in_record", "{{.count}} more characters stand under “Record”.", map[string]any{"count": count(int64(more))}), theme.Dim))
	}
	return blocks
}

// lines shows long JSON with unbroken, numbered lines.
func lines(json string) []*text.Block {
	b := &text.Block{Code: true, NoWrap: true, Number: true, Runs: []text.Run{{Text: json}}}
	if len(json) <= mostText {
		if runs := code.Highlight("json", json); runs != nil {
			b.Runs = runs
		}
	}
	return []*text.Block{b}
}

// wireBlocks shows frames, or says why there are none. Lines of any length are broken: an unbroken one of half a
// megabyte would take seconds to draw.
func wireBlocks(d journal.Detail) []*text.Block {
	if len(d.Frames) == 0 {
		return []*text.Block{plain(noWire(d), theme.Dim)}
	}
	shown := wireText(d.Frames, d.Kind == journal.KindModel)
	return []*text.Block{{Code: true, NoWrap: !hasLongLine(shown), Runs: []text.Run{{Text: shown}}}}
}

func hasLongLine(s string) bool {
	for line := range strings.Lines(s) {
		if len(line) > longestLine {
			return true
		}
	}
	return false
}

// noWire says why nothing of the wire is there.
func noWire(d journal.Detail) string {
	switch {
	case d.Kind != journal.KindModel:
	case live(d):
		return lang.X("audit.wire_later", "What goes over the wire can be seen once the request is over.")
	case d.Erased:
		return lang.X("audit.erased", "The texts were erased with their conversation. The record itself stays.")
	default:
		return lang.X("audit.wire_gone", "What went over the wire is kept for the last requests of a chat alone.")
	}
	return lang.X("audit.no_frames", "Nothing went over the wire.")
}

func plain(s string, color fyne.ThemeColorName) *text.Block {
	return &text.Block{Runs: []text.Run{{Text: s, Color: color}}, Before: 2 * theme.Step}
}

// resultBlocks shows what came back: the texts to read first, then what is for programs.
func resultBlocks(ctx context.Context, a *app.App, d journal.Detail) ([]*text.Block, error) {
	var blocks []*text.Block
	if d.Reason != "" {
		_, color := outcomeWords(d.Outcome)
		blocks = append(blocks, plain(clean.Clean(sentence.Worded(d.Reason)), color))
	}
	if d.Erased {
		blocks = append(blocks, plain(lang.X("audit.erased", "The texts were erased with their conversation. The record itself stays."), theme.Dim))
	}
	if len(d.Result) == 0 {
		if len(blocks) == 0 {
			blocks = append(blocks, plain(lang.X("audit.no_result", "Nothing came back."), theme.Dim))
		}
		return blocks, nil
	}
	if d.Kind != journal.KindCall || d.Cut {
		return append(blocks, jsonBlocks(string(d.Result))...), nil
	}
	r, err := a.CallResult(ctx, d.Record.Record)
	if err != nil {
		return nil, err
	}
	for _, c := range r.Content {
		blocks = append(blocks, contentBlock(c))
	}
	if len(r.Structured) > 0 {
		blocks = append(blocks, jsonBlocks(string(r.Structured))...)
	}
	return blocks, nil
}

func contentBlock(c event.Content) *text.Block {
	switch {
	case c.Text != "" && len(c.Text) <= mostText:
		return plain(c.Text, "")
	case c.Text != "":
		return plain(strings.ToValidUTF8(c.Text[:mostText], "")+"…", "")
	}
	about := strings.Join(strings.Fields(c.Type+" "+clean.Line(c.Name, 100)+" "+clean.Line(c.MIMEType, 100)+" "+clean.Reveal(c.URI)), " ")
	if n := len(c.Data); n > 0 {
		about += " · " + lang.X("audit.bytes", "{{.count}} bytes", map[string]any{"count": count(int64(n))})
	}
	return plain(about, theme.Dim)
}

// wireText sets the frames out one after the other, with time, direction and length.
func wireText(frames []journal.Frame, model bool) string {
	var b strings.Builder
	for i, f := range frames {
		if b.Len() > mostWire {
			b.WriteString(lang.X("audit.more_frames", "{{.count}} more frames stand under “Record”.", map[string]any{"count": len(frames) - i}))
			break
		}
		arrow := "→"
		if f.Direction == "in" {
			arrow = "←"
		}
		length := f.Length
		if length == 0 {
			length = int64(len(f.Bytes))
		}
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(arrow + " " + f.Time.Local().Format("15:04:05.000") + " · " + lang.X("audit.bytes", "{{.count}} bytes", map[string]any{"count": count(length)}))
		switch {
		case f.Cut && model:
			b.WriteString(" · " + lang.X("audit.frame_ends", "the middle was not kept"))
		case f.Cut:
			b.WriteString(" · " + lang.X("audit.frame_cut", "only the beginning was kept"))
		}
		b.WriteString("\n" + frameText(strings.TrimRight(string(f.Bytes), "\r\n")))
	}
	return b.String()
}

// frameText shows a frame with every odd character visible: one message of JSON set out, a stream of events line by line.
func frameText(s string) string {
	if !strings.Contains(s, "\n") {
		return code.Pretty(clean.Reveal(s))
	}
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = clean.Reveal(strings.TrimSuffix(l, "\r"))
	}
	return strings.Join(lines, "\n")
}
