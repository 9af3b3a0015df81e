package chat

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"steward/llm"
	"steward/storage"
)

// Fit is what a person has decided, or the program had to do, so that a conversation's requests
// fit into the model's context window. It holds for every later request of the conversation.
type Fit struct {
	// Results is the longest a tool result may be in a request, in bytes; 0 is the usual.
	Results int `json:"results,omitempty"`
	// Out names calls, by our own ids, whose results are left out.
	Out []string `json:"out,omitempty"`
}

func (f *Fit) same(o *Fit) bool {
	if f == nil || o == nil {
		return f == o
	}
	return f.Results == o.Results && slices.Equal(f.Out, o.Out)
}

// leastResult is the shortest that a result is cut to, in bytes: what it is about stays readable.
const leastResult = 200

// fitted gives the rows as they go to the model after Fit: a result that is left out says so in
// its place, so that its call keeps its answer. The rows given are not changed.
func fitted(path []storage.Message, f *Fit) []storage.Message {
	if f == nil || len(f.Out) == 0 {
		return path
	}
	out := slices.Clone(path)
	for i, m := range out {
		if m.Role != storage.RoleTool || !slices.Contains(f.Out, m.CallID) {
			continue
		}
		meta := readMeta(m)
		where := ""
		if meta.Record > 0 {
			where = fmt.Sprintf(", in record %d", meta.Record)
		}
		out[i].Text = fmt.Sprintf("[The call ended with the outcome %q. Its result of %d bytes is left out of this request, because it was too large for the model; the whole is kept in the journal%s. Ask the person if you need a part of it.]", meta.Outcome, len(m.Text), where)
		meta.Images = nil
		raw, err := encode(meta)
		if err != nil {
			continue // the pictures then stay; the text is the larger part
		}
		out[i].Meta = raw
	}
	return out
}

// budget limits what a request takes of results, after Fit.
func (f *Fit) budget(b Budget) Budget {
	if f != nil && f.Results > 0 {
		b.Result, b.Old = min(b.Result, f.Results), min(b.Old, f.Results)
	}
	return b
}

// largestThatFit is how long results may be at most, in bytes, so that a request shrinks by
// excess bytes: only those that are longer lose something, so the largest are shortened first.
// sizes are the lengths of the results as they are in the request now. It is never below
// leastResult, so it may not be enough.
func largestThatFit(sizes []int, excess int) int {
	sizes = slices.Clone(sizes)
	slices.Sort(sizes)
	total := 0
	for _, n := range sizes {
		total += n
	}
	room := total - excess
	for i, n := range sizes { // those that are shorter than their share keep all
		share := room / (len(sizes) - i)
		if n > share {
			return max(share, leastResult)
		}
		room -= n
	}
	return max(room, leastResult)
}

// TooLarge is a request that an endpoint refused because the model cannot read so much. Figures
// are tokens, 0 where it did not say.
type TooLarge struct {
	Used, Limit int
}

// shorterResults is how long results may be so that a request like the refused one fits: by the
// figures of the refusal, or to half of what all of them take where it told none. bytes is the
// size of the request that was refused.
func shorterResults(refused TooLarge, bytes int, sizes []int) int {
	total := 0
	for _, n := range sizes {
		total += n
	}
	excess := total / 2
	if refused.Used > 0 && refused.Limit > 0 && refused.Used > refused.Limit {
		fits := float64(refused.Limit) * roomForAnswer / float64(refused.Used) * float64(bytes)
		excess = bytes - int(fits)
	}
	return largestThatFit(sizes, excess)
}

// roomForAnswer is the part of a context window that a request may fill, so that an answer has
// room as well.
const roomForAnswer = 0.75

// refusal is the last request of a conversation that was too large, and what it held.
type refusal struct {
	TooLarge
	bytes int   // of all texts
	sizes []int // of the tool results, in bytes
}

func refusalOf(e *llm.Error, r llm.Request) refusal {
	out := refusal{TooLarge: TooLarge{Used: e.Used, Limit: e.Limit}}
	for _, m := range r.Messages {
		out.bytes += len(m.Text)
		for _, c := range m.Calls {
			out.bytes += len(c.Arguments)
		}
		if m.Role == llm.RoleTool {
			out.sizes = append(out.sizes, len(m.Text))
		}
	}
	for _, t := range r.Tools {
		out.bytes += len(t.Description) + len(t.Schema)
	}
	return out
}

// shorter gives the budget with which a refused request is sent once more: as documented, and
// shorter still where the refusal's figures say that this would not be enough. False: nothing in
// the request can be made shorter.
func (r refusal) shorter(now Budget) (Budget, bool) {
	next := Budget{Result: min(now.Result, tight.Result), Old: min(now.Old, tight.Old), Round: min(cmp.Or(now.Round, usualRound), tight.Round), Images: min(now.Images, tight.Images)}
	if len(r.sizes) > 0 {
		most := shorterResults(r.TooLarge, r.bytes, r.sizes)
		next.Result, next.Old = min(next.Result, max(most, leastResult)), min(next.Old, max(most, leastResult))
	}
	return next, next != now
}

// limits are the budget of the conversation's requests.
func (t *turn) limits() Budget {
	t.e.mu.Lock()
	b, ok := t.e.tight[t.conv.ID]
	t.e.mu.Unlock()
	if !ok {
		b = roomy
	}
	return t.fit.budget(b)
}

// shorten makes the next request of the conversation shorter than the one that was refused, once
// in a turn; false where nothing can be done by itself.
func (t *turn) shorten(e *llm.Error) bool {
	r := refusalOf(e, t.sent)
	if t.e.o.Limit != nil && e.Limit > 0 {
		t.e.o.Limit(t.client.Where(), t.model, e.Limit)
	}
	t.e.mu.Lock()
	defer t.e.mu.Unlock()
	t.e.refused[t.conv.ID] = r
	if t.shortened {
		return false
	}
	b, ok := t.e.tight[t.conv.ID]
	if !ok {
		b = roomy
	}
	b, ok = r.shorter(t.fit.budget(b))
	if !ok {
		return false
	}
	t.shortened = true
	t.e.tight[t.conv.ID] = b
	return true
}

// differs tells whether the request would now be made of other messages than were sent last: one with nothing in it that
// could be shortened would be refused again.
func (t *turn) differs(o offers, system string) bool {
	return !reflect.DeepEqual(t.build(o, system).Messages, t.sent.Messages)
}

// fits notes that the endpoint took the request.
func (t *turn) fits() {
	t.e.mu.Lock()
	defer t.e.mu.Unlock()
	delete(t.e.refused, t.conv.ID)
}

// Refused gives the figures of the last request of a conversation, where it was refused because
// it was too large and nothing could be shortened by itself, or that was not enough; and how
// short its results would have to be cut, in bytes, to be sent again, 0 where it has none that
// could be cut further. It is forgotten with the program's end.
func (e *Engine) Refused(conversation string) (refused TooLarge, results int, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, ok := e.refused[conversation]
	if !ok {
		return TooLarge{}, 0, false
	}
	if len(r.sizes) > 0 && slices.Max(r.sizes) > 2*leastResult {
		results = shorterResults(r.TooLarge, r.bytes, r.sizes)
	}
	return r.TooLarge, results, true
}
