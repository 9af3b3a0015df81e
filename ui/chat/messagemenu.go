package chat

import (
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"steward/app"
	"steward/app/clean"
	"steward/ui/place"
	"steward/ui/text"
)

// mostVersions is how many branches a menu lists.
const mostVersions = 12

// messageMenu offers all that can be done with a message. view is what it is shown in, nil where the menu belongs to no
// text; link is an address under the pointer.
func (p *Place) messageMenu(id string, view *text.View, link string, at fyne.Position) {
	m := p.state.find(id)
	if m == nil {
		return
	}
	var items []place.MenuItem
	add := func(icon, label string, do func()) {
		items = append(items, place.MenuItem{Label: label, Icon: icon, Do: do})
	}
	if view != nil && view.SelectedText() != "" {
		add("copy", lang.X("chat.copy_selection", "Copy what is selected"), view.Copy)
	}
	if text.Web(link) {
		add("link", lang.X("chat.copy_link", "Copy the address"), func() { p.copyText(link) })
	}
	add("copy", lang.X("chat.copy_text", "Copy as text"), func() { p.copyText(strings.Join(plainOf(m.whole()), "\n\n")) })
	if m.Role == roleAssistant {
		add("copy", lang.X("chat.copy_markdown", "Copy as Markdown"), func() { p.copyText(m.words()) })
	}
	if view != nil {
		add("", lang.X("common.select_all", "Select all"), func() { p.focus(view); view.SelectAll() })
	}
	items = append(items, place.MenuItem{})
	if u := p.state.asked(id); u != nil {
		add("branch", lang.X("chat.edit_and_branch", "Edit and branch"), func() { p.editMessage(u.ID) })
	}
	if m == p.state.last(roleAssistant) && !p.state.working {
		add("retry", lang.X("chat.regenerate", "Regenerate"), p.regenerate)
	}
	if m.thoughts() != "" {
		add("copy", lang.X("chat.copy_thoughts", "Copy the thoughts"), func() { p.copyText(clean.Clean(m.thoughts())) })
	}
	add("wire", lang.X("chat.what_was_sent", "What was sent"), func() { p.showExchange(m.ID) })
	items = append(items, p.promptItems(m)...)
	if took := spentDetail(m.ChatMessage); took != "" {
		items = append(items, place.MenuItem{}, place.MenuItem{Label: took, Icon: "info", Disabled: true})
	}
	if n := len(m.Versions); n > 1 {
		items = append(items, place.MenuItem{})
		for i, v := range m.Versions[max(0, n-mostVersions):] {
			label := lang.X("chat.version", "Version {{.number}}", map[string]any{"number": strconv.Itoa(max(0, n-mostVersions) + i + 1)})
			items = append(items, place.MenuItem{Label: label, Icon: "branch", Checked: v == m.ID, Disabled: v == m.ID, Do: func() { p.switchBranch(v) }})
		}
	}
	p.d.Layer.Menu(items, at)
}

// whole is a message with what streams.
func (m *message) whole() app.ChatMessage {
	w := m.ChatMessage
	w.Text, w.Reasoning = m.words(), m.thoughts()
	return w
}

// asked is the message of the person that a message is, or answers.
func (p *presenter) asked(id string) *message {
	var last *message
	for _, m := range p.messages {
		if m.Role == roleUser {
			last = m
		}
		if m.ID == id {
			return last
		}
	}
	return nil
}

// promptItems offer the pinned prompts for a message, and all others.
func (p *Place) promptItems(m *message) []place.MenuItem {
	items := []place.MenuItem{{}}
	for _, pin := range p.book.shown() {
		items = append(items, place.MenuItem{Label: pin.label(), Icon: "slash", Do: func() { p.runOver(m, pin) }})
	}
	return append(items, place.MenuItem{Label: lang.X("chat.prompt_over", "Run a prompt over it…"), Icon: "slash", Do: func() {
		p.attachMessage(m)
		p.composer.insert("/")
	}})
}

// runOver runs a prompt over a message: one of the person's own that has a place for the message gets it there, any
// other with the message attached.
func (p *Place) runOver(m *message, pin pinned) {
	if own := p.book.own(pin); own != nil && own.takesMessage() {
		p.useOwn(*own, clean.Clean(m.words()))
		return
	}
	p.attachMessage(m)
	p.usePin(pin)
}

// attachMessage attaches the text of a message.
func (p *Place) attachMessage(m *message) {
	name := lang.X("chat.message_you", "Your message")
	if m.Role == roleAssistant {
		name = lang.X("chat.message_model", "The model's message")
	}
	p.composer.add(app.Attachment{Kind: "file", Name: name + ".md", MIMEType: "text/markdown", Text: clean.Clean(m.words())})
}
