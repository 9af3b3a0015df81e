package chat

import (
	"context"
	"fmt"

	"steward/llm"
	"steward/llm/tokens"
	"steward/mcphost"
	"steward/storage"
)

// Room is what is known of how much a model can read.
type Room struct {
	// Window is its context window in tokens; 0 where nobody knows.
	Window int
	// Factor corrects estimates for the model.
	Factor tokens.Factor
	// Auto compacts the conversation without being asked when it comes near the window.
	Auto bool
}

// WarnAt is the part of a context window in percent from which on a person is warned.
const WarnAt = 80

// Full says whether so many tokens come near the window.
func (r Room) Full(used int) bool { return r.Window > 0 && used >= r.Window/100*WarnAt }

// keep is how many tokens of the latest turns stay whole when the rest is folded.
func (r Room) keep() int {
	if r.Window == 0 {
		return keepUnknown
	}
	return r.Window / 5
}

// keepUnknown is Room.keep where the window is not known.
const keepUnknown = 6000

// farFrom is how much longer than roughly estimated a request may be. One that is far from the
// window by that is not counted, which would need the vocabulary.
const farFrom = 1.5

// used estimates what a request takes, as far as it matters here.
func (r Room) used(req llm.Request) int {
	rough := r.Factor.Apply(weigh(req, tokens.Rough).Sum())
	if !r.Full(int(float64(rough) * farFrom)) {
		return rough
	}
	return r.Factor.Apply(Weigh(req).Sum())
}

// makeRoom warns when the next request comes near the model's window, and compacts the older
// part of the conversation where the person wants that without being asked.
func (t *turn) makeRoom(o offers, system string) {
	if t.e.o.Room == nil {
		return
	}
	room := t.e.o.Room(t.client.Where(), t.model)
	if room.Window == 0 {
		return
	}
	used := room.used(t.build(o, system))
	if room.Auto && room.Full(used) && !t.folded && t.ctx.Err() == nil {
		t.folded = true // once a turn
		used = t.fold(room, o, system, used)
	}
	t.e.mu.Lock()
	before := t.e.warned[t.conv.ID]
	t.e.warned[t.conv.ID] = room.Full(used)
	t.e.mu.Unlock()
	if room.Full(used) && !before {
		t.e.notice(t.conv.ID, "context_full", "", fmt.Sprintf("The conversation takes about %d of the %d tokens that the model can read. Compact it, switch off tools it does not need, or begin a new one.", used, room.Window))
	}
}

// fold compacts inside a turn. What fails leaves everything as it was.
func (t *turn) fold(room Room, o offers, system string, used int) int {
	note, err := t.e.compact(t.ctx, compaction{conversation: t.conv.ID, client: t.client, model: t.model, room: room, path: t.messages})
	switch {
	case isNothing(err):
		return used
	case err != nil:
		t.e.notice(t.conv.ID, "compaction", "", "The conversation could not be compacted, and is as it was: "+t.sentence(err))
		return used
	}
	t.messages = append([]storage.Message{note}, t.messages...) // the last one stays the one that is answered
	t.e.notice(t.conv.ID, "compaction", "", fmt.Sprintf("The conversation came near what the model can read, so %d older messages are summed up in a note for the model. They are kept, and the note can be taken back.", Noted(note)))
	return room.used(t.build(o, system))
}

// build makes the request from the rows of the turn.
func (t *turn) build(o offers, system string) llm.Request {
	return Build(Input{System: system, Messages: fitted(t.messages, t.fit), Tools: o.tools, Budget: t.limits()})
}

// Preview gives what the next request of a conversation holds beside what the person will write:
// built from a branch of it that was read, with the tools that these servers offer now.
func (e *Engine) Preview(ctx context.Context, c storage.Conversation, path []storage.Message, servers []*mcphost.Connection) (llm.Request, error) {
	t := &turn{e: e, ctx: ctx, log: ctx, conv: c, messages: path, fit: ReadMeta(c).Fit}
	o, system, err := t.offersOf(servers)
	if err != nil {
		return llm.Request{}, err
	}
	return t.build(o, system), nil
}
