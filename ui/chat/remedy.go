package chat

import (
	"context"
	"errors"
	"math/bits"

	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/app/event"
	"steward/ui/place"
	"steward/ui/text"
	"steward/ui/theme"
)

// hunt is the search for the tool that an endpoint refuses.
type hunt struct {
	conversation string
	asked        int // requests so far
	stop         context.CancelFunc
}

// remedyChip is the button for what can be done about the end of a turn; nothing is shown where that is nothing.
func (p *Place) remedyChip(c *chip, m *message) {
	r := m.remedy
	c.Hidden, c.icon, c.colour = r.Kind == "", "", ""
	switch r.Kind {
	case event.LeaveOut:
		c.words = lang.X("chat.leave_out_tool", "Leave out {{.tool}} and try again", map[string]any{"tool": clean.Reveal(cut(r.Tool, 60))})
		c.tapped = func() { p.leaveOutTool(r.Server, r.Tool) }
	case event.FindTool:
		c.icon, c.words, c.tapped = "search", lang.X("chat.find_tool", "Find the refused tool"), func() { p.askToFind(m) }
		if h := p.hunt; h != nil && h.conversation == p.state.conversation {
			c.icon = "stop"
			c.words = lang.X("chat.finding_tool", "Request {{.asked}} of about {{.most}} · Stop", map[string]any{"asked": max(h.asked, 1), "most": hunts(r.Tools)})
			c.tapped = h.stop
		}
	case event.ChooseTools:
		c.icon, c.words, c.tapped = "tool", lang.X("chat.choose_tools", "Choose the tools"), p.toolSwitches
	}
}

// hunts is how many requests it takes to find one of n tools, at most.
func hunts(n int) int { return bits.Len(uint(max(n-1, 0))) + 2 }

// leaveOutTool switches a tool off in this conversation and asks the model again.
func (p *Place) leaveOutTool(server, tool string) {
	id := p.state.conversation
	p.list.SetFollow(true)
	p.stored(id, func(err error) {
		if err != nil {
			p.fail(err)
			return
		}
		p.background(func(ctx context.Context) error {
			_, err := p.d.App.LeaveOutTool(ctx, id, server, tool)
			return err
		}, p.read)
	})
}

// askToFind says what finding the tool takes, and does it where the person agrees.
func (p *Place) askToFind(m *message) {
	body := lang.X("chat.find_tool_ask", "The endpoint is asked up to {{.most}} times to say “OK”, each time with some of the {{.tools}} tools. Nothing of this chat is sent. The provider may charge for it.",
		map[string]any{"most": hunts(m.remedy.Tools), "tools": m.remedy.Tools})
	p.d.Layer.Ask(lang.X("chat.find_tool", "Find the refused tool"), body,
		place.Button{Label: lang.X("common.cancel", "Cancel")},
		place.Button{Label: lang.X("chat.find_tool_go", "Find it"), Look: place.Strong, Do: func() { p.find(m) }})
}

// find looks for the tool; what it finds can then be left out.
func (p *Place) find(m *message) {
	if p.hunt != nil {
		return
	}
	id := p.state.conversation
	h := &hunt{conversation: id, stop: func() {}}
	p.hunt = h
	p.remedyChanged(m)
	p.d.Go(func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		p.d.Do(func() { h.stop = cancel; p.remedyChanged(m) })
		server, tool, err := p.d.App.FindRefusedTool(ctx, id, func(n int) {
			p.d.Do(func() { h.asked = n; p.remedyChanged(m) })
		})
		p.d.Do(func() {
			p.hunt = nil
			if err == nil {
				m.remedy = event.Remedy{Kind: event.LeaveOut, Server: server, Tool: tool}
				m.Error = lang.X("chat.found_tool", "The endpoint refuses the tool {{.tool}} of the server {{.server}}.", map[string]any{"tool": clean.Reveal(cut(tool, 60)), "server": clean.Reveal(cut(server, 60))})
			} else if !errors.Is(err, context.Canceled) {
				p.fail(err)
			}
			p.remedyChanged(m)
		})
	})
}

// remedyChanged shows the row of an ending anew.
func (p *Place) remedyChanged(m *message) {
	p.state.touched[keyOf(rowEnding, m.ID)] = true
	p.soon()
}

// beyond is by how many more tools are offered than the endpoint, or the model's own provider, takes.
func (h headFacts) beyond() int {
	n, _, _ := h.toolSum()
	if h.limit == 0 {
		return 0
	}
	return max(n-h.limit, 0)
}

// limitWords says how many tools are chosen of those that the endpoint takes; "" where no limit is near.
func (h headFacts) limitWords() (words string, look text.Run) {
	n, _, _ := h.toolSum()
	data := map[string]any{"tools": n, "limit": h.limit, "more": h.beyond()}
	switch {
	case h.limit == 0 || n <= h.limit*3/4:
		return "", text.Run{}
	case n <= h.limit:
		return lang.X("chat.tools_of", "{{.tools}} of at most {{.limit}}", data), text.Run{Color: theme.Dim}
	case h.sure:
		return lang.X("chat.tools_beyond", "{{.more}} too many: the endpoint takes {{.limit}}", data), text.Run{Color: theme.Waiting}
	}
	return lang.X("chat.tools_likely", "{{.tools}}; the model's provider takes {{.limit}}", data), text.Run{Color: theme.Waiting}
}

func readLimit(h *headFacts, a *app.App) { h.limit, h.sure = a.ToolLimit(h.settings) }
