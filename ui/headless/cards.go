package headless

import (
	"fmt"
	"strings"

	"steward/app/consent"
)

// A card is the whole of what waits, as text. Everything in a Presentation is safe to
// show; nothing is folded and nothing is cut.

const rule = "────────────────────────────────────────────────────────────"

func callCard(item consent.Item) string {
	p := item.Presentation
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", rule)
	title := "The model wants to call a tool"
	if item.Call != nil && item.Call.Model() == "" {
		title = "A tool call waits"
	}
	if p.Position != "" {
		title += " (" + p.Position + ")"
	}
	fmt.Fprintf(&b, "%s\n\n  Server  %s\n  Tool    %s\n", title, p.Server, p.Tool)
	if p.Description != "" || len(p.Claims) > 0 {
		b.WriteString("\n  What the server says about it (not checked):\n")
		indent(&b, "    ", p.Description)
		for _, c := range p.Claims {
			indent(&b, "    - ", c)
		}
	}
	b.WriteString("\n  What would be sent:\n")
	if len(p.Rows) == 0 {
		b.WriteString("    (no arguments)\n")
	}
	for _, r := range p.Rows {
		writeRow(&b, r)
	}
	fmt.Fprintf(&b, "\n  Exactly these bytes: %s\n", p.JSON)
	for _, w := range p.Warnings {
		indent(&b, "  ! ", w)
	}
	return b.String()
}

func writeRow(b *strings.Builder, r consent.Row) {
	name := r.Name
	if r.Duplicate {
		name += " (this name occurs more than once)"
	}
	indent(b, "    ", fmt.Sprintf("%s (%s): %s", name, r.Kind, r.Text))
	for _, h := range r.Hidden {
		indent(b, "      ! ", h)
	}
}

func elicitationCard(item consent.Item) string {
	p := item.Presentation
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\nThe server %s asks you something%s\n\n", rule, p.Server, whose(item))
	indent(&b, "  ", p.Message)
	if p.URL != "" {
		fmt.Fprintf(&b, "\n  It wants you to open this address:\n    %s\n  Host: %s\n", p.URL, p.Host)
	}
	for _, w := range p.Warnings {
		indent(&b, "  ! ", w)
	}
	return b.String()
}

func samplingCard(item consent.Item) string {
	p := item.Presentation
	var b strings.Builder
	if item.Kind == consent.KindSamplingAnswer {
		fmt.Fprintf(&b, "\n%s\nThe model's answer, before the server %s sees it%s\n\n", rule, p.Server, whose(item))
		indent(&b, "  ", p.Answer)
	} else {
		fmt.Fprintf(&b, "\n%s\nThe server %s wants to ask your model%s\n", rule, p.Server, whose(item))
		if s := item.Sampling; s != nil {
			fmt.Fprintf(&b, "  Model: %s, at most %d tokens", orWords(s.Model, "none can be reached"), s.MaxTokens)
			if s.Wanted > s.MaxTokens {
				fmt.Fprintf(&b, " (the server wanted %d)", s.Wanted)
			}
			b.WriteString("\n")
		}
		if p.System != "" {
			b.WriteString("\n  System prompt:\n")
			indent(&b, "    ", p.System)
		}
		for _, m := range p.Messages {
			fmt.Fprintf(&b, "\n  %s:\n", m.Role)
			indent(&b, "    ", m.Text)
			indent(&b, "    ", m.Note)
		}
	}
	for _, w := range p.Warnings {
		indent(&b, "  ! ", w)
	}
	return b.String()
}

// whose says which call a server's question belongs to, where that can be told.
func whose(item consent.Item) string {
	switch len(item.Running) {
	case 0:
		return " (no call of yours is running on it)"
	case 1:
		return " (during call " + item.Running[0] + ")"
	}
	return " (it cannot be told which of these calls: " + strings.Join(item.Running, ", ") + ")"
}

// indent writes text, which may have several lines, so that no line of it can pass for
// one of the program's own.
func indent(b *strings.Builder, prefix, text string) {
	if text == "" {
		return
	}
	hang := strings.Repeat(" ", len(prefix))
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i > 0 {
			prefix = hang
		}
		b.WriteString(prefix + line + "\n")
	}
}
