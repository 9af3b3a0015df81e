package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"steward/app/chat"
	"steward/app/journal"
	"steward/llm"
	"steward/storage"
)

// Exchange is a request to a model as it went over the wire, with what came back. Known
// secrets are replaced; nothing in it has been made safe to show otherwise, so show texts
// through clean.Reveal.
type Exchange struct {
	ModelRecord
	Record  int64
	Model   string // as it was asked by
	Time    time.Time
	Seconds float64
	Outcome string // running while it goes on
	Reason  string
	// Kept says that what went over the wire is there: it is of the last requests of a
	// conversation alone, once they are over.
	Kept   bool
	Erased bool
	Frames []Frame        // request and answer of each attempt, in order
	Parts  []ExchangePart // the same, to be read
}

// The kinds of an [ExchangePart].
const (
	ExchangeRequest    = "request"    // Name is where it went; Text, what was asked for beside the messages
	ExchangeMessage    = "message"    // Name is its role
	ExchangeThought    = "thought"    // reasoning sent back, or given
	ExchangeCall       = "call"       // Name is the tool
	ExchangeTools      = "tools"      // Text holds their names, one a line
	ExchangeAnswer     = "answer"     // what the model said
	ExchangeUnreadable = "unreadable" // Text is what stands there as it is
	ExchangeStatus     = "status"     // Name is the HTTP status of an answer that is none
)

// ExchangePart is a piece of an exchange.
type ExchangePart struct {
	Kind, Name, Text string
	Answer           bool // of what came back
}

// Exchanges gives the records of the conversation's requests whose exchanges are kept, the oldest first.
func (a *App) Exchanges(ctx context.Context, conversation string) ([]int64, error) {
	return a.journal.Exchanges(ctx, conversation)
}

// ExchangeOf gives the record of the request that a message answers or, of a person's
// message, the last that was made to answer it; 0 where none is known.
func (a *App) ExchangeOf(ctx context.Context, conversation, message string) (int64, error) {
	if err := a.db.Flush(ctx); err != nil {
		return 0, err
	}
	m, err := a.db.Message(ctx, message)
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		return 0, err
	}
	if n := chat.Request(m); n != 0 {
		return n, nil
	}
	all, err := a.Exchanges(ctx, conversation)
	if err != nil {
		return 0, err
	}
	for _, n := range slices.Backward(all) {
		d, err := a.journal.Show(ctx, n)
		if err != nil {
			return 0, err
		}
		if r := ReadModelRecord(d); r.PromptMessage == message || r.AnswerMessage == message {
			return n, nil
		}
	}
	return 0, nil
}

// Exchange reads what is kept of a request. It takes a while for a large one.
func (a *App) Exchange(ctx context.Context, record int64) (Exchange, error) {
	d, err := a.journal.Show(ctx, record)
	if err != nil {
		return Exchange{}, err
	}
	known := a.secrets.Redactor()
	redact := known.Redact
	out := Exchange{
		ModelRecord: ReadModelRecord(d), Record: d.Record.Record, Model: d.Model, Time: d.Time, Seconds: d.Seconds, Outcome: d.Outcome, Reason: redact(d.Reason),
		Kept: len(d.Frames) > 0, Erased: d.Erased,
	}
	tries := attempts(d)
	for _, f := range d.Frames {
		if f.Direction == "in" {
			f.Bytes = known.Pieces(f.Bytes)
		}
		f.Bytes = []byte(redact(string(f.Bytes))) // what has become known as a secret since is none to show either
		out.Frames = append(out.Frames, Frame{Time: f.Time, Direction: f.Direction, Bytes: f.Bytes, Length: f.Length, Cut: f.Cut})
		if f.Direction == "out" {
			out.Parts = append(out.Parts, requestParts(tries.next(), f)...)
		} else {
			out.Parts = append(out.Parts, answerParts(ctx, tries.now, f)...)
		}
	}
	for i := range out.Parts { // put together, a key may show that was none in its pieces
		out.Parts[i].Text = redact(out.Parts[i].Text)
	}
	return out, nil
}

// attempt is what a record says of one attempt to reach the model.
type attempt struct {
	Address string `json:"address"`
	Status  int    `json:"status"`
	Type    string `json:"answer_type"`
}

type attemptList struct {
	left []attempt
	now  attempt
}

func (l *attemptList) next() attempt {
	l.now = attempt{}
	if len(l.left) > 0 {
		l.now, l.left = l.left[0], l.left[1:]
	}
	return l.now
}

func attempts(d journal.Detail) *attemptList {
	var l attemptList
	for _, e := range d.Events {
		var data struct {
			What   string
			Detail attempt
		}
		if e.Event == "attempt" && json.Unmarshal(e.Data, &data) == nil && data.What == chat.AttemptRequest {
			l.left = append(l.left, data.Detail)
		}
	}
	return &l
}

// wireMessage is a message of a request in the form of chat completions.
type wireMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content"`
	Calls     []struct {
		Function struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// requestParts sets a request out to be read.
func requestParts(to attempt, f journal.Frame) []ExchangePart {
	members := map[string]json.RawMessage{}
	var messages []wireMessage
	var tools []struct {
		Function struct{ Name string } `json:"function"`
	}
	if f.Cut || json.Unmarshal(f.Bytes, &members) != nil || json.Unmarshal(members["messages"], &messages) != nil {
		return []ExchangePart{{Kind: ExchangeRequest, Name: to.Address}, {Kind: ExchangeUnreadable, Text: string(f.Bytes)}}
	}
	_ = json.Unmarshal(members["tools"], &tools) // none, or in a form that is shown raw alone
	delete(members, "messages")
	delete(members, "tools")
	var about []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		about = append(about, name+": "+string(members[name]))
	}
	out := []ExchangePart{{Kind: ExchangeRequest, Name: to.Address, Text: strings.Join(about, "\n")}}
	for _, m := range messages {
		if m.Reasoning != "" {
			out = append(out, ExchangePart{Kind: ExchangeThought, Name: m.Role, Text: m.Reasoning})
		}
		if text := contentText(m.Content); text != "" || len(m.Calls) == 0 {
			out = append(out, ExchangePart{Kind: ExchangeMessage, Name: m.Role, Text: text})
		}
		for _, c := range m.Calls {
			out = append(out, ExchangePart{Kind: ExchangeCall, Name: c.Function.Name, Text: stringOf(c.Function.Arguments)})
		}
	}
	if len(tools) > 0 {
		names := make([]string, len(tools))
		for i, t := range tools {
			names[i] = t.Function.Name
		}
		out = append(out, ExchangePart{Kind: ExchangeTools, Text: strings.Join(names, "\n")})
	}
	return out
}

// stringOf is a JSON string's text, or what stands there in place of one.
func stringOf(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// contentText is what a message says: a text, or parts of which those that are no text are
// named.
func contentText(raw json.RawMessage) string {
	var parts []struct{ Type, Text string }
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &parts) != nil {
		return stringOf(raw)
	}
	var out []string
	for _, p := range parts {
		if p.Type != "text" {
			p.Text = "[" + p.Type + "]"
		}
		out = append(out, p.Text)
	}
	return strings.Join(out, "\n")
}

// answerParts sets an answer out to be read, as the program itself read it.
func answerParts(ctx context.Context, from attempt, f journal.Frame) (out []ExchangePart) {
	defer func() {
		for i := range out {
			out[i].Answer = true
		}
	}()
	if from.Status < 200 || from.Status > 299 {
		return []ExchangePart{{Kind: ExchangeStatus, Name: fmt.Sprint(from.Status), Text: string(f.Bytes)}}
	}
	raw := f.Bytes
	if before, behind := journal.Halves(raw); behind != nil { // whole events alone
		before = before[:bytes.LastIndex(before, []byte("\n\n"))+1]
		if i := bytes.Index(behind, []byte("\n\n")); i >= 0 {
			behind = behind[i:]
		}
		raw = slices.Concat(before, []byte("\n\n"), behind)
	}
	answer, _ := llm.Reread(ctx, from.Type, bytes.NewReader(raw))
	if answer.Reasoning != "" {
		out = append(out, ExchangePart{Kind: ExchangeThought, Text: answer.Reasoning})
	}
	if answer.Text != "" {
		out = append(out, ExchangePart{Kind: ExchangeAnswer, Text: answer.Text})
	}
	for _, c := range answer.Calls {
		text := c.Arguments
		if c.Problem != "" {
			text = c.Raw
		}
		out = append(out, ExchangePart{Kind: ExchangeCall, Name: c.Name, Text: text})
	}
	if len(out) == 0 { // whatever was wrong with it: the answer itself says most
		return []ExchangePart{{Kind: ExchangeUnreadable, Text: string(f.Bytes)}}
	}
	return out
}
