package headless

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"steward/app/clean"
	"steward/app/consent"
)

// A card is the whole of what waits, as text. Everything in a Presentation is safe to
// show; nothing is cut without a word. What is long is folded: its beginning and its
// length stand in the card, and it can be opened.

// Bounds of a card. A value longer than foldCharacters or foldRows is folded, and so is
// what comes after cardRows rows of values.
const (
	foldCharacters = 1200
	foldRows       = 24
	headCharacters = 400
	headRows       = 5
	tailCharacters = 120
	tailRows       = 3
	cardRows       = 80
	nameCharacters = 80 // of a name where it is repeated
)

const rule = "────────────────────────────────────────────────────────────"

// card collects the text of one question.
type card struct {
	b      strings.Builder
	width  int // columns of the screen; 0: not known
	colour bool
	whole  bool // nothing is folded: nobody pages through a pipe
	room   int  // rows left for values
	folded []part
}

// part is what was folded, whole.
type part struct{ title, text string }

func (t *terminal) newCard() *card {
	width, _ := t.size()
	return &card{width: width, colour: t.colour, whole: t.piped, room: cardRows}
}

func (c *card) printf(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

func (c *card) rule() {
	if c.width <= 0 {
		c.printf("\n%s\n", rule)
		return
	}
	c.printf("\n%s\n", strings.Repeat("─", c.width))
}

// style is how text is set off on a screen that can; it never means anything by itself.
type style string

const (
	plain style = ""
	bold  style = "1"
	dim   style = "2"
)

func (c *card) styled(s style, text string) string {
	if !c.colour || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// line writes text as it is, wrapped, so that no row of it can pass for one of the
// program's own.
func (c *card) line(prefix, text string) { c.rows(prefix, c.measure(prefix, text), plain) }

// value writes text from outside under a title: whole where it is short, else folded.
func (c *card) value(prefix, title, text string, s style) {
	if text == "" {
		return
	}
	long := utf8.RuneCountInString(text) > foldCharacters
	head := text
	if long {
		head = firstCharacters(text, headCharacters)
	}
	rows := c.measure(prefix, head)
	if c.whole || !long && len(rows) <= min(foldRows, c.room) {
		if c.whole && long {
			rows = c.measure(prefix, text)
		}
		c.rows(prefix, rows, s)
		c.room -= len(rows)
		return
	}
	c.rows(prefix, rows[:min(len(rows), headRows)], s)
	c.room -= headRows + 1 + tailRows
	lines := ""
	if n := strings.Count(strings.TrimRight(text, "\n"), "\n") + 1; n > 1 {
		lines = fmt.Sprintf(" in %s lines", thousands(n))
	}
	c.fold(prefix, part{title, text}, fmt.Sprintf("%s characters%s", thousands(utf8.RuneCountInString(text)), lines))
	tail := c.measure(prefix, "… "+lastCharacters(text, tailCharacters))
	c.rows(strings.Repeat(" ", utf8.RuneCountInString(prefix)), tail[max(0, len(tail)-tailRows):], s)
}

func (c *card) fold(prefix string, p part, length string) {
	c.folded = append(c.folded, p)
	c.line(strings.Repeat(" ", utf8.RuneCountInString(prefix)), fmt.Sprintf("… folded: %s in all; v shows it whole", length))
}

// list writes values one after the other; those that find no room are folded together.
func (c *card) list(prefix, what string, items []string, s style) {
	for i, item := range items {
		if c.room <= 0 && !c.whole && len(items)-i > 1 {
			rest := strings.Join(items[i:], "\n")
			c.fold(prefix, part{what, rest}, fmt.Sprintf("%s more, %s characters", thousands(len(items)-i), thousands(utf8.RuneCountInString(rest))))
			return
		}
		c.value(prefix, what, item, s)
	}
}

// warnings stand apart from what outsiders wrote, so they have rows of their own.
func (c *card) warnings(list []string) {
	left := c.room
	c.room = foldRows
	c.list("  ! ", "Warnings", list, plain)
	c.room = left
}

func (c *card) measure(prefix, text string) []string {
	width := c.width
	if width > 0 {
		width = max(10, width-utf8.RuneCountInString(prefix))
	}
	var rows []string
	for _, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		rows = append(rows, wrap(line, width)...)
	}
	return rows
}

func (c *card) rows(prefix string, rows []string, s style) {
	for i, row := range rows {
		if i == 1 {
			prefix = strings.Repeat(" ", utf8.RuneCountInString(prefix))
		}
		c.b.WriteString(prefix + c.styled(s, row) + "\n")
	}
}

// exact writes bytes that are sent, unbroken: the terminal breaks them at its width.
func (c *card) exact(bytes string) {
	n := utf8.RuneCountInString(bytes)
	if c.whole || n <= foldCharacters && n <= max(c.room, headRows)*max(c.width, 40) {
		c.printf("\n  Exactly these bytes: %s\n", bytes)
		return
	}
	c.printf("\n  Exactly these bytes: %s\n", firstCharacters(bytes, headCharacters))
	c.fold("    ", part{"Exactly these bytes", bytes}, thousands(n)+" characters")
	c.printf("    … %s\n", lastCharacters(bytes, tailCharacters))
}

func callCard(c *card, item consent.Item) {
	p := item.Presentation
	title := "The model wants to call a tool"
	if item.Call != nil && item.Call.Model() == "" {
		title = "A tool call waits"
	}
	if p.Position != "" {
		title += " (" + p.Position + ")"
	}
	c.rule()
	c.line("", title)
	c.printf("\n")
	c.value("  Server  ", "Server", p.Server, bold)
	c.value("  Tool    ", "Tool", p.Tool, bold)
	if p.Description != "" || len(p.Claims) > 0 {
		c.printf("\n")
		c.line("", "  What the server says about it (not checked):")
		c.value("    ", "What the server says about "+cutShort(p.Tool, nameCharacters)+" (not checked)", p.Description, dim)
		c.list("    - ", "Claims of the server (not checked)", p.Claims, dim)
	}
	c.printf("\n")
	c.line("", "  What would be sent:")
	if len(p.Rows) == 0 {
		c.line("", "    (no arguments)")
	}
	c.arguments(p.Rows)
	c.exact(p.JSON)
	c.warnings(p.Warnings)
}

func (c *card) arguments(rows []consent.Row) {
	for i, r := range rows {
		if c.room <= 0 && !c.whole && len(rows)-i > 1 {
			var b strings.Builder
			for _, r := range rows[i:] {
				b.WriteString(argument(r) + "\n")
			}
			c.fold("    ", part{"More arguments", b.String()}, fmt.Sprintf("%s more arguments", thousands(len(rows)-i)))
			return
		}
		c.value("    ", "Argument "+cutShort(r.Name, nameCharacters), argument(r), plain)
		for _, h := range r.Hidden {
			c.line("      ! ", h)
		}
	}
}

func argument(r consent.Row) string {
	name := r.Name
	if r.Duplicate {
		name += " (this name occurs more than once)"
	}
	return fmt.Sprintf("%s (%s): %s", name, r.Kind, r.Text)
}

// callQuestion stands next to the prompt, however long the card is.
func callQuestion(item consent.Item) string {
	n := 0
	if item.Call != nil {
		n = len(item.Call.Arguments())
	}
	return callName(item) + fmt.Sprintf(", with %s bytes of arguments: may this be sent?", thousands(n))
}

func callName(item consent.Item) string {
	p := item.Presentation
	return fmt.Sprintf("%s on %s", cutShort(p.Tool, nameCharacters), cutShort(p.Server, nameCharacters))
}

func elicitationCard(c *card, item consent.Item) {
	p := item.Presentation
	c.rule()
	doing, opens := "asks you something", "It wants you to open this address:"
	if item.Elicitation != nil && item.Elicitation.Mode == consent.ModeDone {
		doing, opens = "waits until you are done in the browser", "What it wants is to be done there:"
	}
	c.line("", fmt.Sprintf("The server %s %s%s", cutShort(p.Server, nameCharacters), doing, whose(item)))
	c.printf("\n")
	c.value("  ", "The server's question", p.Message, plain)
	if p.URL != "" {
		c.printf("\n")
		c.line("", "  "+opens)
		c.value("    ", "The address", p.URL, plain)
		c.value("  Host: ", "Its host", p.Host, bold)
	}
	c.warnings(p.Warnings)
}

func samplingCard(c *card, item consent.Item) {
	p := item.Presentation
	server := cutShort(p.Server, nameCharacters)
	c.rule()
	if item.Kind == consent.KindSamplingAnswer {
		c.line("", fmt.Sprintf("The model's answer, before the server %s sees it%s", server, whose(item)))
		c.printf("\n")
		c.value("  ", "The model's answer", p.Answer, plain)
		c.tools("It asks the server for these calls of the server's own tools", "Call", p.Calls)
	} else {
		c.line("", fmt.Sprintf("The server %s wants to ask your model%s", server, whose(item)))
		c.samplingRequest(item)
	}
	c.warnings(p.Warnings)
}

func (c *card) samplingRequest(item consent.Item) {
	p := item.Presentation
	if s := item.Sampling; s != nil {
		model := fmt.Sprintf("Model: %s, at most %d tokens", orWords(p.Model, "none can be reached"), s.MaxTokens)
		if s.Wanted > s.MaxTokens {
			model += fmt.Sprintf(" (the server wanted %d)", s.Wanted)
		}
		c.line("  ", model)
	}
	if len(p.Hints) > 0 {
		c.line("  ", "The server would like one of these, which chooses nothing by itself: "+strings.Join(p.Hints, ", "))
	}
	if p.Prefers != "" {
		c.line("  ", "The server says that it cares most for "+p.Prefers+", which chooses nothing by itself.")
	}
	if s := item.Sampling; s != nil && (s.Hint != "" || s.Prefers != "") {
		c.line("  ", "Why this model: "+clean.Clean(s.Why())+".")
	}
	if p.System != "" {
		c.printf("\n  System prompt:\n")
		c.value("    ", "System prompt", p.System, plain)
	}
	for i, m := range p.Messages {
		if c.room <= 0 && !c.whole && len(p.Messages)-i > 1 {
			var b strings.Builder
			for _, m := range p.Messages[i:] {
				fmt.Fprintf(&b, "%s:\n%s\n%s\n%s\n", m.Role, m.Text, m.Note, strings.Join(m.Tools, "\n"))
			}
			c.fold("  ", part{"More messages", b.String()}, fmt.Sprintf("%s more messages", thousands(len(p.Messages)-i)))
			break
		}
		c.printf("\n  %s:\n", m.Role)
		c.value("    ", "Message of "+m.Role, m.Text, plain)
		c.value("    ", "Note", m.Note, plain)
		for _, tool := range m.Tools {
			c.value("    ", "Of a tool", tool, plain)
		}
	}
	c.tools("The model may ask for these tools of the server, which runs them itself, without asking you", "Tool", p.Tools)
}

// tools lists a server's own tools, or the model's calls of them.
func (c *card) tools(heading, label string, tools []consent.SamplingTool) {
	if len(tools) == 0 {
		return
	}
	c.printf("\n")
	c.line("  ", heading+":")
	for _, t := range tools {
		c.value("    ", label, t.Name+" "+t.Schema, plain)
		c.value("      ", "Description", t.Description, plain)
	}
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
