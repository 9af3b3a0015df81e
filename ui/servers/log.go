package servers

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/button"
	"steward/ui/code"
	"steward/ui/form"
	"steward/ui/language"
	"steward/ui/list"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// contains says whether one of the texts holds what is looked for, whatever its case. Nothing is held by all.
func contains(filter string, in ...string) bool {
	filter = strings.ToLower(strings.TrimSpace(filter))
	return filter == "" || strings.Contains(strings.ToLower(strings.Join(in, "\n")), filter)
}

// lineTable is a filtered table of many lines, with the whole of the chosen one below.
type lineTable[R any] struct {
	s        *Place
	filter   *form.Entry
	kinds    *segments // further narrows down what is shown
	table    *list.Table
	page     *page
	all      fyne.CanvasObject
	lines    []R
	shown    []R
	chosen   *R
	same     func(a, b R) bool
	fits     func(filter string, r R) bool
	describe func(R) []fyne.CanvasObject
	nothing  *text.Label
}

func newLineTable[R any](s *Place, kinds []string, columns []list.Column, cells func(R) []list.Cell) *lineTable[R] {
	t := &lineTable[R]{s: s, page: newPage()}
	t.filter = filterEntry(s.k, t.refresh)
	t.kinds = newSegments(func(int) { t.refresh() }, kinds...)
	t.table = list.NewTable(columns, list.TableSource{
		Len: func() int { return len(t.shown) },
		Row: func(i int) ([]list.Cell, bool) { return cells(t.shown[i]), true },
	})
	t.table.List.Selectable, t.table.List.OpenOnTap = true, true
	t.table.List.OnSelected, t.table.List.OnOpened = t.open, t.open
	t.nothing = text.NewLabel("", text.Run{Color: theme.Dim}, text.Wrap)
	t.page.set(t.nothing)
	t.all = halves(container.NewBorder(nil, nil, nil, container.NewCenter(padded(2*step, 0, segmentFrame(t.kinds))), t.filter), t.table, t.page, func() float32 { return 1000 })
	return t
}

// set shows other lines. Where the newest was in sight, it stays so.
func (t *lineTable[R]) set(lines []R) {
	if len(lines) == len(t.lines) && (len(lines) == 0 || t.same(lines[0], t.lines[0]) && t.same(lines[len(lines)-1], t.lines[len(lines)-1])) {
		return
	}
	if len(t.lines) == 0 && len(lines) > 0 {
		t.nothing.SetText(lang.X("servers.choose_line", "Choose a line above to see all of it."), text.Run{Color: theme.Dim})
		t.page.changed()
	}
	t.lines = lines
	t.refresh()
}

func (t *lineTable[R]) refresh() {
	before := t.table.List.Place()
	offset, total, view := t.table.List.Offset()
	atEnd := offset+view >= total-2
	t.shown = nil
	for _, l := range t.lines {
		if t.fits(t.filter.Text, l) {
			t.shown = append(t.shown, l)
		}
	}
	t.table.Reset()
	if atEnd {
		t.table.List.ScrollToEnd()
	} else {
		t.table.List.SetPlace(before)
	}
}

func (t *lineTable[R]) open(i int) {
	if i >= 0 && i < len(t.shown) {
		t.chosen = &t.shown[i]
		t.again()
	}
}

// again draws the chosen line anew.
func (t *lineTable[R]) again() {
	if t.chosen != nil {
		t.page.set(t.describe(*t.chosen)...)
	}
}

// clear forgets the chosen line: it belonged to another server.
func (t *lineTable[R]) clear(words string) {
	t.nothing.SetText(words, text.Run{Color: theme.Dim})
	t.page.set(t.nothing)
	t.lines, t.chosen = nil, nil
	t.refresh()
}

// logTab is what a server said about itself, and its standard error.
type logTab struct {
	*lineTable[app.LogLine]
	server string
	stderr string
	pane   *text.Pane
	mode   *segments
	under  *fyne.Container
	asked  *button.Button // for which messages the server is asked
	level  string         // that is asked for; "" where the server does not log
	whole  fyne.CanvasObject
}

func newLogTab(s *Place) *logTab {
	t := &logTab{}
	t.lineTable = newLineTable(s, []string{lang.X("servers.level_all", "Everything"), lang.X("servers.level_info", "Info and above"), lang.X("servers.level_warning", "Warnings"), lang.X("servers.level_error", "Errors")}, []list.Column{
		{Title: lang.X("servers.column_time", "Time"), Width: 110, Mono: true},
		{Title: lang.X("servers.column_kind", "Kind"), Width: 90},
		{Title: lang.X("servers.column_level", "Level"), Width: 80},
		{Title: lang.X("servers.column_text", "Text"), Width: 200, Flex: 1},
	}, func(l app.LogLine) []list.Cell {
		c := theme.Text
		switch severity(l) {
		case levelWarning:
			c = theme.Waiting
		case levelError:
			c = theme.Refusal
		}
		return []list.Cell{{Text: clock(l.Time), Color: theme.Dim}, {Text: logKind(l.Kind), Color: theme.Dim}, {Text: l.Level, Color: c}, {Text: oneLine(l.Text), Color: c}}
	})
	t.same = func(a, b app.LogLine) bool { return a == b }
	t.fits = func(f string, l app.LogLine) bool {
		return severity(l) >= t.kinds.chosen && contains(f, logKind(l.Kind), l.Level, l.Text)
	}
	t.describe = func(l app.LogLine) []fyne.CanvasObject {
		return []fyne.CanvasObject{caption(strings.Join(nonEmpty(clock(l.Time), logKind(l.Kind), l.Level), " · "), theme.Dim, text.Wrap), s.k.listing(t.page, "", l.Text)}
	}
	t.pane = text.NewPane(s.k.words())
	t.mode = newSegments(t.show, lang.X("servers.log_lines", "Log"), lang.X("servers.log_stderr", "Standard error"))
	t.under = container.NewStack(t.all)
	t.asked = newButton("", t.offerLevels)
	t.asked.Hide()
	head := container.NewBorder(nil, nil, segmentFrame(t.mode), padded(2*step, 0, t.asked)) // ends where the filters below end
	t.whole = container.NewBorder(padded(5*step, step, head), nil, nil, nil, t.under)
	return t
}

// offerLevels lets the person choose which messages the server is asked for.
func (t *logTab) offerLevels() {
	var items []place.MenuItem
	for _, level := range app.LogLevels() {
		items = append(items, place.MenuItem{Label: level, Checked: level == t.level, Do: func() { t.askFor(level) }})
	}
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(t.asked)
	t.s.k.d.Layer.Menu(items, at.AddXY(0, t.asked.Size().Height))
}

func (t *logTab) askFor(level string) {
	d, server := t.s.k.d, t.server
	d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		if err := d.App.SetServerLogLevel(ctx, server, level); err != nil {
			d.Do(func() { d.Layer.Toast(language.Message(err)) })
		}
	})
}

// tellLevel shows which messages the server is asked for.
func (t *logTab) tellLevel(level string) {
	if t.level = level; level == "" {
		t.asked.Hide()
		return
	}
	t.asked.SetText(lang.X("servers.log_asked", "Asked for: {{.level}} and worse", map[string]any{"level": level}))
	t.asked.Show()
}

// Levels as the filter counts them.
const (
	levelDebug = iota
	levelInfo
	levelWarning
	levelError
)

// severity is how grave a line is. The words are those of RFC 5424, which the protocol's messages use; what the program
// writes beside them has none.
func severity(l app.LogLine) int {
	switch l.Level {
	case "debug":
		return levelDebug
	case "warning":
		return levelWarning
	case "error", "critical", "alert", "emergency":
		return levelError
	}
	if l.Kind == "warning" || l.Kind == "stdout" { // on its protocol stream a server writes nothing but messages
		return levelWarning
	}
	return levelInfo
}

func logKind(kind string) string {
	switch kind {
	case "state":
		return lang.X("servers.kind_state", "state")
	case "stdout":
		return lang.X("servers.kind_stdout", "output")
	case "stderr":
		return lang.X("servers.kind_stderr", "stderr")
	case "message":
		return lang.X("servers.kind_message", "message")
	case "warning":
		return lang.X("servers.kind_warning", "warning")
	}
	return kind
}

func (t *logTab) show(i int) {
	t.under.Objects = []fyne.CanvasObject{t.all}
	if i == 1 {
		t.under.Objects = []fyne.CanvasObject{padded(5*step, step, t.pane)}
	}
	t.under.Refresh()
}

func (t *logTab) object() fyne.CanvasObject { return t.whole }

func (t *logTab) update(d app.ServerDetail) {
	if d.Name != t.server {
		t.server = d.Name
		t.clear(lang.X("servers.log_empty", "What the server says about itself stands here once it runs."))
	}
	t.tellLevel(d.LogLevel)
	t.have(d.Log, d.Stderr)
}

func (t *logTab) read(server string) {
	a := t.s.k.d.App
	t.have(a.ServerLog(server), a.ServerStderr(server))
}

func (t *logTab) have(lines []app.LogLine, stderr string) {
	t.set(lines)
	if stderr == t.stderr {
		return
	}
	t.stderr = stderr
	t.pane.Replace([]*text.Block{{Runs: []text.Run{{Text: stderr, Mono: true}}, Code: true, NoWrap: true}})
}

// wireTab is what went over the wire, message by message.
type wireTab struct {
	*lineTable[app.Frame]
	server string
	look   *segments // laid out or raw
}

func newWireTab(s *Place) *wireTab {
	t := &wireTab{}
	t.lineTable = newLineTable(s, []string{lang.X("servers.both_ways", "Both"), lang.X("servers.sent", "sent"), lang.X("servers.received", "received")}, []list.Column{
		{Title: lang.X("servers.column_time", "Time"), Width: 110, Mono: true},
		{Title: "", Width: 40},
		{Title: lang.X("servers.column_size", "Size"), Width: 80, Right: true},
		{Title: lang.X("servers.column_message", "Message"), Width: 200, Flex: 1, Mono: true},
	}, func(f app.Frame) []list.Cell {
		return []list.Cell{{Text: clock(f.Time), Color: theme.Dim}, {Text: arrow(f.Direction), Color: theme.Accent, Bold: true}, {Text: size(f.Length), Color: theme.Dim}, {Text: frameWords(f)}}
	})
	t.same = func(a, b app.Frame) bool { return a.Time.Equal(b.Time) && a.Length == b.Length }
	t.fits = func(filter string, f app.Frame) bool {
		if out := f.Direction == "out"; t.kinds.chosen == 1 && !out || t.kinds.chosen == 2 && out {
			return false
		}
		return strings.TrimSpace(filter) == "" || contains(filter, directionWord(f.Direction), string(f.Bytes)) // big ones are not copied for nothing
	}
	t.look = newSegments(func(int) { t.again() }, lang.X("servers.pretty", "Laid out"), lang.X("servers.raw", "As sent"))
	t.describe = t.frame
	return t
}

// frame shows a whole message, laid out or as it went over the wire.
func (t *wireTab) frame(f app.Frame) []fyne.CanvasObject {
	words := strings.Join([]string{arrow(f.Direction) + " " + directionWord(f.Direction), clock(f.Time), size(f.Length)}, " · ")
	copied := code.NewButton("copy", lang.X("servers.copy_raw", "Copy as sent"), func() {
		fyne.CurrentApp().Clipboard().SetContent(string(f.Bytes))
		t.s.k.d.Layer.Toast(lang.X("common.copied", "Copied"))
	})
	language := "json"
	if t.look.chosen == 1 {
		language = ""
	}
	return []fyne.CanvasObject{container.NewBorder(nil, nil, nil, container.New(&rowLayout{2 * step}, segmentFrame(t.look), copied), container.New(centred{}, caption(words, theme.Dim, text.Wrap))),
		t.s.k.listing(t.page, language, clean.Reveal(string(f.Bytes)))}
}

func arrow(direction string) string {
	if direction == "out" {
		return "→"
	}
	return "←"
}

func directionWord(direction string) string {
	if direction == "out" {
		return lang.X("servers.sent", "sent")
	}
	return lang.X("servers.received", "received")
}

// frameWords say in a line what a message is: its method, or what it answers, and how it begins.
func frameWords(f app.Frame) string {
	var m struct {
		Method string          `json:"method"`
		ID     json.RawMessage `json:"id"`
		Error  json.RawMessage `json:"error"`
	}
	begin := clean.Line(string(f.Bytes[:min(len(f.Bytes), 2000)]), 200)
	if len(f.Bytes) > 1<<20 || json.Unmarshal(f.Bytes, &m) != nil {
		return begin
	}
	id := ""
	if m.ID != nil {
		id = "#" + clean.Line(string(m.ID), 40)
	}
	switch {
	case m.Method != "":
		return strings.Join(nonEmpty(clean.Line(m.Method, 80), id, begin), "  ")
	case m.Error != nil:
		return strings.Join(nonEmpty(lang.X("servers.frame_error", "error"), id, begin), "  ")
	default:
		return strings.Join(nonEmpty(lang.X("servers.frame_result", "result"), id, begin), "  ")
	}
}

func (t *wireTab) object() fyne.CanvasObject { return t.all }

func (t *wireTab) update(d app.ServerDetail) {
	if d.Name != t.server {
		t.server = d.Name
		t.clear(lang.X("servers.wire_empty", "Every message to and from the server stands here once it runs. Secrets are replaced."))
	}
	t.set(slices.Clone(d.Frames))
}

func (t *wireTab) read(server string) { t.set(t.s.k.d.App.ServerFrames(server)) }
