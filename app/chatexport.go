package app

import (
	"fmt"
	"strings"

	"steward/app/clean"
)

// markdown writes a conversation for people who do not have Steward. Foreign text is
// quoted, so that it cannot pass for a heading of ours.
func markdown(c Conversation, messages []ChatMessage) string {
	var b strings.Builder
	title := c.Title
	if title == "" {
		title = c.ID
	}
	fmt.Fprintf(&b, "# %s\n\nExported from Steward; conversation %s, begun %s.\n", title, c.ID, c.Created.Format("2006-01-02 15:04 MST"))
	for _, m := range messages {
		who := "You"
		if m.Role != "user" {
			who = clean.Line("Model "+m.Model, 200)
		}
		fmt.Fprintf(&b, "\n## %s, %s\n\n", strings.TrimSpace(who), m.Time.Format("2006-01-02 15:04:05 MST"))
		for _, a := range m.Attachments {
			fmt.Fprintf(&b, "- attached %s: %s\n", a.Kind, clean.Line(a.Name, 200))
		}
		quote(&b, clean.Clean(m.Text))
		for _, call := range m.Calls {
			exportCall(&b, call)
		}
		if m.Error != "" {
			fmt.Fprintf(&b, "\n*%s: %s*\n", m.State, clean.Line(m.Error, 500))
		}
	}
	return b.String()
}

func exportCall(b *strings.Builder, c CallState) {
	fmt.Fprintf(b, "\n**Call** %s on %s", clean.Reveal(c.Tool), clean.Reveal(c.Server))
	if c.Record > 0 {
		fmt.Fprintf(b, ", record %d", c.Record)
	}
	if c.Decision != "" {
		fmt.Fprintf(b, ", %s by %s", c.Decision, c.By)
	}
	if c.Outcome != "" {
		fmt.Fprintf(b, ", %s, effect %s, %.3f s", c.Outcome, c.Effect, c.Seconds)
	}
	b.WriteString("\n\n")
	arguments := c.Arguments
	if c.Edited != "" {
		arguments = c.Edited
	}
	quote(b, clean.Reveal(arguments))
	b.WriteByte('\n')
	quote(b, c.Text)
}

func quote(b *strings.Builder, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	for _, line := range strings.Split(text, "\n") {
		b.WriteString("> " + line + "\n")
	}
}
