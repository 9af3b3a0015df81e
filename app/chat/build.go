package chat

import (
	"cmp"
	"fmt"
	"strings"

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
// without its call. In which form the endpoint at hand wants it is the client's
// matter. It takes time and room in proportion to the rows.
func Build(in Input) llm.Request {
	in.Messages = compacted(in.Messages)
	b := builder{in: in, lastRound: lastRound(in.Messages)}
	if in.System != "" {
		b.out = append(b.out, llm.Message{Role: llm.RoleSystem, Text: in.System})
	}
	b.index()
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
	// Where the answer to each call stands that stored messages name once: a crash may have
	// had it stored behind what came after.
	late map[string]int
}

// index finds the answers by the ids of their calls, as far as these are unique.
func (b *builder) index() {
	calls := map[string]int{}
	b.late = map[string]int{}
	for i, m := range b.in.Messages {
		switch m.Role {
		case storage.RoleTool:
			b.late[m.CallID] = i
		case storage.RoleAssistant:
			for _, c := range readCalls(m) {
				calls[c.ID]++
			}
		}
	}
	for id := range b.late {
		if id == "" || calls[id] != 1 {
			delete(b.late, id)
		}
	}
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
	out := llm.Message{Role: llm.RoleAssistant, Text: clean.Clean(m.Text), Reasoning: m.Reasoning, Extra: readMeta(m).Extra}
	if note := brokeOff[m.State]; note != "" && len(calls) == 0 {
		out.Text += "\n\n" + note
	}
	wire := wireIDs(calls)
	for k, c := range calls {
		args := c.Arguments
		if args == "" {
			args = "{}" // what the model wrote is no JSON; endpoints refuse it in a history
		}
		out.Calls = append(out.Calls, llm.ToolCall{ID: wire[k], Name: c.Name, Arguments: args, Extra: c.Extra})
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

// brokeOff is what the model is told of an answer of its own that it did not end. The
// sentence stands in brackets at the end of the answer: few endpoints take one of another
// side there.
var brokeOff = map[string]string{
	storage.StateInterrupted: "[This answer broke off here.]",
	storage.StateStopped:     "[The person stopped this answer here.]",
	storage.StateFailed:      "[This answer broke off here, because of an error.]",
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
// id instead of ours; those are taken in order. An answer that is not there may
// stand further behind.
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
	for k, c := range calls {
		if j, ok := b.late[c.ID]; ok && out[k] == nil && j > i {
			out[k] = &b.in.Messages[j]
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
	t.Text = cutResult(withoutData(m.Text), limit, meta.Record)
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

// withoutData leaves encoded bytes out of what a server wrote, also of what older versions
// stored: as text they tell a model nothing and fill its context.
func withoutData(text string) string {
	return clean.Embedded(text, func(media, encoded string) string {
		return fmt.Sprintf("[%s, %d kB of data left out]", cmp.Or(clean.Line(media, 60), "data"), (len(encoded)*3/4+1023)/1024)
	})
}

// maxPictures is how many bytes of pictures a request holds at most; some endpoints take no
// request larger than 32 MB, and pictures grow by a third on their way.
const maxPictures = 20 << 20

// limitImages leaves the newest pictures in; the text still says that there were
// others.
func (b *builder) limitImages() {
	left, room := b.in.Budget.Images, maxPictures
	for i := len(b.out) - 1; i >= 0; i-- {
		imgs, keep := b.out[i].Images, 0
		for keep < len(imgs) && left > 0 && len(imgs[keep].Data) <= room {
			left, room = left-1, room-len(imgs[keep].Data)
			keep++
		}
		if keep == len(imgs) {
			continue
		}
		b.out[i].Images, left = imgs[:keep], 0
		b.out[i].Text = strings.TrimSpace(b.out[i].Text + "\n" + leftOut(len(imgs)-keep))
	}
}

func leftOut(pictures int) string {
	if pictures == 1 {
		return "[1 picture is left out of this request]"
	}
	return fmt.Sprintf("[%d pictures are left out of this request]", pictures)
}

// Shorten cuts text to about limit bytes: its head, a note of what is missing,
// and its tail. Limit 0 or less means no limit.
func Shorten(text string, limit int) string {
	if limit <= 0 || len(text) <= limit {
		return text
	}
	head, tail := onRunes(text, limit*3/4, len(text)-limit/4)
	return fmt.Sprintf("%s\n[… %d bytes left out here; the whole text is kept in the journal …]\n%s", text[:head], tail-head, text[tail:])
}
