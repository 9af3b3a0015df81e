package chat

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"steward/app/clean"
	"steward/llm"
	"steward/storage"
)

// Input is all a request is made from.
type Input struct {
	System   string
	Messages []storage.Message // in order
	Tools    []llm.Tool
	Budget   Budget
}

// What the model is told about a call that has no stored answer.
const noAnswer = "No result of this call was kept. It may or may not have had an effect; do not repeat it without asking the person."

// Build makes the request to the model from what is stored. It is a pure
// function, and whatever the rows hold its result is one that strict endpoints
// take: every tool call is followed by exactly one answer, and no answer stands
// without its call.
func Build(in Input) llm.Request {
	in.Messages = compacted(in.Messages)
	b := builder{in: in, lastRound: lastRound(in.Messages)}
	if in.System != "" {
		b.out = append(b.out, llm.Message{Role: llm.RoleSystem, Text: in.System})
	}
	for i, m := range in.Messages {
		switch m.Role {
		case storage.RoleUser:
			b.user(m)
		case storage.RoleAssistant:
			b.assistant(i, m)
		}
	}
	b.limitImages()
	return llm.Request{Messages: b.out, Tools: in.Tools}
}

type builder struct {
	in        Input
	out       []llm.Message
	lastRound int // index of the last assistant message with calls
}

func lastRound(messages []storage.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if messages[i].Role == storage.RoleAssistant && len(readCalls(messages[i])) > 0 {
			return i
		}
	}
	return -1
}

func (b *builder) user(m storage.Message) {
	out := llm.Message{Role: llm.RoleUser, Text: m.Text}
	for _, a := range readMeta(m).Attachments {
		if a.Kind == KindImage {
			out.Images = append(out.Images, llm.Image{MIMEType: a.MIMEType, Data: a.Data})
			out.Text += fmt.Sprintf("\n\n[attached picture: %s]", clean.Line(a.Name, 200))
			continue
		}
		out.Text += "\n\n" + a.inline()
	}
	out.Text = strings.TrimSpace(out.Text)
	if out.Text == "" && len(out.Images) == 0 {
		return
	}
	b.out = append(b.out, out)
}

// assistant adds an answer of the model and, behind it, one answer for each of
// its calls.
func (b *builder) assistant(i int, m storage.Message) {
	calls := readCalls(m)
	if strings.TrimSpace(m.Text) == "" && len(calls) == 0 {
		return // it broke off before it said anything
	}
	out := llm.Message{Role: llm.RoleAssistant, Text: clean.Clean(m.Text), Reasoning: m.Reasoning}
	wire := wireIDs(calls)
	for k, c := range calls {
		args := c.Arguments
		if args == "" {
			args = "{}" // what the model wrote is no JSON; endpoints refuse it in a history
		}
		out.Calls = append(out.Calls, llm.ToolCall{ID: wire[k], Name: c.Name, Arguments: args})
	}
	b.out = append(b.out, out)
	answers := b.answers(i, calls)
	limits := b.limits(i, answers)
	for k, c := range calls {
		t := llm.Message{Role: llm.RoleTool, CallID: wire[k], Tool: c.Name, Text: noAnswer}
		if a := answers[k]; a != nil {
			b.answer(&t, *a, limits[k])
		}
		b.out = append(b.out, t)
	}
}

// wireIDs gives each call of one answer an id for the wire: the endpoint's own,
// as long as it tells the calls of the answer apart.
func wireIDs(calls []storedCall) []string {
	seen := map[string]bool{}
	out := make([]string, len(calls))
	for k, c := range calls {
		id := c.Wire
		if id == "" || seen[id] {
			id = c.ID
		}
		for seen[id] {
			id += "_"
		}
		seen[id] = true
		out[k] = id
	}
	return out
}

// answers finds the stored answer of each call among the rows between this
// assistant message and the next one with calls. Older rows name the endpoint's
// id instead of ours; those are taken in order.
func (b *builder) answers(i int, calls []storedCall) []*storage.Message {
	out := make([]*storage.Message, len(calls))
	for j := i + 1; j < len(b.in.Messages); j++ {
		m := &b.in.Messages[j]
		if m.Role == storage.RoleAssistant && len(readCalls(*m)) > 0 {
			break
		}
		if m.Role != storage.RoleTool {
			continue
		}
		if k := match(calls, out, m.CallID); k >= 0 {
			out[k] = m
		}
	}
	return out
}

func match(calls []storedCall, taken []*storage.Message, id string) int {
	for k, c := range calls {
		if taken[k] == nil && c.ID == id {
			return k
		}
	}
	for k, c := range calls {
		if taken[k] == nil && c.Wire == id && id != "" {
			return k
		}
	}
	return -1
}

// limits says how many bytes of each answer to the calls of one message the model gets.
func (b *builder) limits(round int, answers []*storage.Message) []int {
	each := b.in.Budget.Old
	if round == b.lastRound {
		each = b.in.Budget.Result
	}
	sizes := make([]int, len(answers))
	for k, a := range answers {
		if a != nil {
			sizes[k] = len(a.Text)
		}
	}
	return b.in.Budget.shares(sizes, each)
}

func (b *builder) answer(t *llm.Message, m storage.Message, limit int) {
	meta := readMeta(m)
	t.Text = cutResult(m.Text, limit, meta.Record)
	if strings.TrimSpace(t.Text) == "" {
		t.Text = "(no output)"
	}
	if meta.Edited != "" {
		t.Text = "The person changed the arguments before allowing the call. Sent were: " + Shorten(meta.Edited, limit) + "\n" + t.Text
	}
	if meta.Note != "" {
		t.Text += "\n[" + meta.Note + "]"
	}
	for _, img := range meta.Images {
		t.Images = append(t.Images, llm.Image{MIMEType: img.MIMEType, Data: img.Data})
	}
}

// limitImages leaves the newest pictures in; the text still says that there were
// others.
func (b *builder) limitImages() {
	left := b.in.Budget.Images
	for i := len(b.out) - 1; i >= 0; i-- {
		imgs := b.out[i].Images
		if len(imgs) > left {
			b.out[i].Images = imgs[:left]
			b.out[i].Text += fmt.Sprintf("\n[%d pictures are left out of this request]", len(imgs)-left)
		}
		left -= len(b.out[i].Images)
	}
}

// Shorten cuts text to about limit bytes: its head, a note of what is missing,
// and its tail. Limit 0 or less means no limit.
func Shorten(text string, limit int) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	head, tail := limit*3/4, len(text)-limit/4
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return fmt.Sprintf("%s\n[… %d bytes left out here; the whole text is kept in the journal …]\n%s", text[:head], tail-head, text[tail:])
}
