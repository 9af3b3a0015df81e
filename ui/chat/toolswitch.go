package chat

import (
	"maps"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/lang"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"steward/app"
	"steward/app/clean"
	"steward/ui/list"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// switchRow is a server, or a tool of it.
type switchRow struct {
	server string
	tool   *app.OfferedTool // nil: the server's own row
	on     bool
	tokens int
	count  int
}

// name tells rows apart.
func (r switchRow) name() string {
	if r.tool == nil {
		return r.server
	}
	return r.server + "\x00" + r.tool.Tool.Tool
}

// switchRows groups the tools by their servers, in the order they came.
func switchRows(tools []app.OfferedTool, s app.ConversationSettings) []switchRow {
	var out []switchRow
	at := map[string]int{}
	for _, t := range tools {
		if _, ok := at[t.Server]; !ok {
			at[t.Server] = -1
			var own []switchRow
			head := switchRow{server: t.Server, on: true}
			if on, ok := s.Servers[t.Server]; ok {
				head.on = on
			}
			for _, u := range tools {
				if u.Server == t.Server {
					own = append(own, switchRow{server: u.Server, tool: &u, on: u.Offered, tokens: u.Tokens})
					if u.Offered {
						head.tokens += u.Tokens
						head.count++
					}
				}
			}
			out = append(append(out, head), own...)
		}
	}
	return out
}

// why says why a tool is not offered, where the person did not just switch it off here.
func why(t *app.OfferedTool) string {
	switch t.Why {
	case "not_reviewed":
		return lang.X("chat.why_review", "not reviewed yet")
	case "read_only":
		return lang.X("chat.why_read_only", "not marked read-only")
	case "app_only":
		return lang.X("chat.why_app", "not meant for models")
	case "left_out":
		return lang.X("chat.why_left_out", "left out in this run")
	case "server_off":
		return lang.X("chat.why_server", "its server is off")
	}
	return ""
}

// switches are the open list of what the model may be offered in this conversation. A row outlives what it was built
// from: it is told of what changes, and keeps the keyboard.
type switches struct {
	p     *Place
	rows  []switchRow
	limit *text.Label // how many the endpoint takes
	list  *list.List
	views map[*switchView]bool
}

// toolSwitches opens the switches of this conversation.
func (p *Place) toolSwitches() {
	w := &switches{p: p, rows: switchRows(p.head.facts.tools, p.settings), views: map[*switchView]bool{}}
	width, high := float32(460), float32(40)
	w.list = list.NewEqual(list.Source{
		Len: func() int { return len(w.rows) }, Build: func(i int) fyne.CanvasObject { return w.view(i) },
		Released: func(o fyne.CanvasObject) {
			if v, ok := o.(*switchView); ok {
				delete(w.views, v)
			}
		},
	}, high)
	var body fyne.CanvasObject = w.list
	height := high * float32(min(max(len(w.rows), 2), 11))
	if len(w.rows) == 0 {
		body = container.New(layout.NewCustomPaddedLayout(8, 8, 12, 12), text.NewLabel(lang.X("chat.no_tools", "No server runs that offers tools. Review and start one under Servers."), text.Run{Color: theme.Dim}, text.Wrap))
	}
	room := canvas.NewRectangle(theme.Color(theme.Clear))
	room.SetMinSize(fyne.NewSize(width, height))
	title := text.NewLabel(lang.X("chat.tools_here", "Tools in this chat"), text.Run{Bold: true}, text.Whole)
	var done func()
	manage := newChip(quiet, "servers", lang.X("chat.manage_servers", "Servers"), func() { done(); p.d.Open(place.Servers, "") })
	w.limit = text.NewLabel("", text.Run{}, text.Cut)
	w.showLimit()
	top := container.New(layout.NewCustomPaddedLayout(4, 4, 12, 4), newLine(theme.Step, []fyne.CanvasObject{title}, w.limit, manage))
	at := below(p.head.tools).AddXY(p.head.tools.Size().Width-width, 0)
	p.switches = w
	done = p.d.Layer.Popup(container.NewBorder(top, nil, nil, nil, container.NewStack(room, body)), at, func() {
		if p.switches == w {
			p.switches = nil
		}
	})
}

// showLimit says how many tools are chosen of those that the endpoint takes.
func (w *switches) showLimit() { w.limit.SetText(w.p.head.facts.limitWords()) }

// refresh shows what is offered now.
func (w *switches) refresh() {
	w.showLimit()
	rows := switchRows(w.p.head.facts.tools, w.p.settings)
	same := slices.EqualFunc(w.rows, rows, func(a, b switchRow) bool { return a.name() == b.name() })
	w.rows = rows
	if !same {
		w.list.Reset()
		return
	}
	for v := range w.views {
		v.show(rows[v.at])
	}
}

// switchView is the row of a switch.
type switchView struct {
	widget.BaseWidget
	at    int
	check *widget.Check
	note  *fitted
	line  *fyne.Container
}

func (w *switches) view(i int) *switchView {
	r := w.rows[i]
	v := &switchView{at: i, check: widget.NewCheck("", nil), note: newFitted(theme.CaptionSize)}
	name, look, indent := clean.Reveal(r.server), text.Run{Bold: true}, 2*theme.Step
	if r.tool != nil {
		name, look, indent = clean.Reveal(r.tool.Tool.Tool), text.Run{}, 7*theme.Step
	}
	label := newFitted(theme.TextSize)
	label.set(name, look)
	v.line = container.New(layout.NewCustomPaddedLayout(0, 0, indent, 3*theme.Step), newLine(theme.Step, []fyne.CanvasObject{v.check, label.box}, nil, v.note.box))
	v.ExtendBaseWidget(v)
	v.show(r)
	v.check.OnChanged = func(on bool) { w.p.switchTo(r, on) }
	w.views[v] = true
	return v
}

// show brings the row up to date without anything being switched by that.
func (v *switchView) show(r switchRow) {
	note := ""
	if r.tool == nil {
		note = lang.X("chat.server_sum", "{{.tools}} tools · {{.tokens}} tok", map[string]any{"tools": r.count, "tokens": count(r.tokens)})
	} else if note = why(r.tool); note == "" {
		note = count(r.tokens)
	}
	v.note.set(note, text.Run{Color: theme.Dim})
	v.check.Checked = r.on
	if r.tool != nil && (r.tool.Why == "not_reviewed" || r.tool.Why == "app_only" || r.tool.Why == "left_out" || r.tool.Why == "server_off") {
		v.check.Disable()
	} else {
		v.check.Enable()
	}
	v.check.Refresh()
	v.line.Objects[0].Refresh()
}

// CreateRenderer is Fyne's.
func (v *switchView) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(v.line) }

// switchTo offers a server's tools, or one tool, to the model in this conversation, or no longer.
func (p *Place) switchTo(r switchRow, on bool) {
	p.change(func(s *app.ConversationSettings) {
		if r.tool != nil {
			s.Tools = switched(s.Tools, r.server, r.tool.Tool.Tool, on)
			return
		}
		s.Servers = maps.Clone(s.Servers)
		if s.Servers == nil {
			s.Servers = map[string]bool{}
		}
		s.Servers[r.server] = on
	})
}

// switched is a copy of the switches with one more.
func switched(tools map[string]map[string]bool, server, tool string, on bool) map[string]map[string]bool {
	out := maps.Clone(tools)
	if out == nil {
		out = map[string]map[string]bool{}
	}
	own := maps.Clone(out[server])
	if own == nil {
		own = map[string]bool{}
	}
	own[tool] = on
	out[server] = own
	return out
}
