package chat

import (
	"maps"

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
	case "server_off":
		return lang.X("chat.why_server", "its server is off")
	}
	return ""
}

// toolSwitches opens the switches of this conversation.
func (p *Place) toolSwitches() {
	rows := switchRows(p.head.facts.tools, p.settings)
	width, high := float32(460), float32(40)
	l := list.NewEqual(list.Source{Len: func() int { return len(rows) }, Build: func(i int) fyne.CanvasObject { return p.switchView(rows[i]) }}, high)
	var body fyne.CanvasObject = l
	height := high * float32(min(max(len(rows), 2), 11))
	if len(rows) == 0 {
		body = container.New(layout.NewCustomPaddedLayout(8, 8, 12, 12), text.NewLabel(lang.X("chat.no_tools", "No server runs that offers tools. Review and start one under Servers."), text.Run{Color: theme.Dim}, text.Wrap))
	}
	room := canvas.NewRectangle(theme.Color(theme.Clear))
	room.SetMinSize(fyne.NewSize(width, height))
	title := text.NewLabel(lang.X("chat.tools_here", "Tools in this chat"), text.Run{Bold: true}, text.Cut)
	var done func()
	manage := newChip(quiet, "servers", lang.X("chat.manage_servers", "Servers"), func() { done(); p.d.Open(place.Servers, "") })
	top := container.New(layout.NewCustomPaddedLayout(4, 4, 12, 4), newLine(theme.Step, nil, title, manage))
	at := below(p.head.tools).AddXY(p.head.tools.Size().Width-width, 0)
	done = p.d.Layer.Popup(container.NewBorder(top, nil, nil, nil, container.NewStack(room, body)), at, nil)
}

func (p *Place) switchView(r switchRow) fyne.CanvasObject {
	check := widget.NewCheck("", nil)
	check.Checked = r.on
	name, note := newFitted(theme.TextSize), ""
	indent := 2 * theme.Step
	if r.tool == nil {
		name.set(clean.Reveal(r.server), text.Run{Bold: true})
		note = lang.X("chat.server_sum", "{{.tools}} tools · {{.tokens}} tok", map[string]any{"tools": r.count, "tokens": count(r.tokens)})
		check.OnChanged = func(on bool) {
			p.change(func(s *app.ConversationSettings) {
				s.Servers = maps.Clone(s.Servers)
				if s.Servers == nil {
					s.Servers = map[string]bool{}
				}
				s.Servers[r.server] = on
			})
		}
	} else {
		indent = 7 * theme.Step
		t := r.tool
		name.set(clean.Reveal(t.Tool.Tool), text.Run{})
		note = count(r.tokens)
		if w := why(t); w != "" {
			note = w
		}
		if t.Why == "not_reviewed" || t.Why == "app_only" || t.Why == "server_off" {
			check.Disable()
		}
		check.OnChanged = func(on bool) {
			p.change(func(s *app.ConversationSettings) { s.Tools = switched(s.Tools, r.server, t.Tool.Tool, on) })
		}
	}
	tokens := newFitted(theme.CaptionSize)
	tokens.set(note, text.Run{Color: theme.Dim})
	return container.New(layout.NewCustomPaddedLayout(0, 0, indent, 3*theme.Step), newLine(theme.Step, []fyne.CanvasObject{check, name.box}, nil, tokens.box))
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
