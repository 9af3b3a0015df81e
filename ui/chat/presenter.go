package chat

import (
	"slices"
	"strings"

	"steward/app"
	"steward/app/consent"
	"steward/app/event"
	"steward/ui/sentence"
)

// States of a message, in the words of app.ChatMessage.
const (
	stateComplete    = "complete"
	stateStreaming   = "streaming"
	stateInterrupted = "interrupted"
	stateStopped     = "stopped"
	stateFailed      = "failed"
)

// States of a call, in the words of app.CallState.
const (
	callWaiting = "waiting"
	callRunning = "running"
	callDone    = "done"
)

const (
	roleUser      = "user"
	roleAssistant = "assistant"
	roleNote      = "note"
)

// rowKind says what a row of the conversation shows.
type rowKind uint8

const (
	rowUser      rowKind = iota // what the person said
	rowReasoning                // the model's thoughts, folded
	rowAnswer                   // the model's words
	rowCall                     // one tool call
	rowItem                     // something that waits for the person
	rowEnding                   // an answer that did not come to its end, and why
	rowActions                  // what can be done with the last answer
	rowThinking                 // the model has said nothing yet
	rowNotice                   // something to know
	rowNote                     // what the model is given instead of what stands above
	rowFull                     // the model can hardly read more
	rowTop                      // room above all
)

// row is one line of the conversation.
type row struct {
	kind    rowKind
	key     string // lasting, unique in the conversation
	message *message
	call    *app.CallState
	item    *consent.Item
	text    string // of a notice; safe to show
	last    bool   // of an ending: it is the end of all there is, so it can be tried again
}

// message is a message with the pieces that arrived since it was read.
type message struct {
	app.ChatMessage
	text, reasoning strings.Builder // what streams; Text and Reasoning stay as they were read
	missed          bool            // a piece was not heard: the message is being read anew
	remedy          event.Remedy    // of one that failed just now
}

func (m *message) words() string    { return m.Text + m.text.String() }
func (m *message) thoughts() string { return m.Reasoning + m.reasoning.String() }
func (m *message) streaming() bool  { return m.State == stateStreaming }

// presenter works out what a conversation shows. It is plain data: one goroutine at a time.
type presenter struct {
	conversation string
	working      bool
	messages     []*message
	items        []consent.Item
	notices      []row

	rows    []row
	touched map[string]bool // keys of rows that show something else now
	moved   bool            // rows may have come or gone
	current *message        // what streams
	end     *message        // how the last turn ended, where that was not well: a turn can end between two answers
	full    bool            // the conversation comes near what the model can read
	refused bool            // its last request was refused because it was too large
}

// changes are what one round did to the rows.
type changes struct {
	reset   bool  // rows came or went somewhere before the end
	from    int   // where rows were put at the end, when added > 0
	added   int   // how many
	touched []int // rows that show something else, in the new numbering
}

func newPresenter() *presenter { return &presenter{touched: map[string]bool{}} }

// load shows a conversation as it was read.
func (p *presenter) load(conversation string, messages []app.ChatMessage, items []consent.Item, working bool) {
	notices, end, live := p.notices, p.end, p.current
	if conversation != p.conversation {
		notices, end, live = nil, nil, nil
	}
	*p = presenter{notices: notices, end: end, conversation: conversation, working: working, full: p.full && conversation == p.conversation, refused: p.refused && conversation == p.conversation, rows: p.rows, touched: map[string]bool{}, moved: true}
	for _, m := range messages {
		p.store(m)
	}
	p.resume(live)
	p.waits(items)
}

// earlier puts older messages before those that are there.
func (p *presenter) earlier(messages []app.ChatMessage) {
	older := make([]*message, 0, len(messages))
	for _, m := range messages {
		if p.find(m.ID) == nil {
			older = append(older, &message{ChatMessage: m})
		}
	}
	p.messages = append(older, p.messages...)
	p.place()
	p.moved = true
}

// oldest is the Seq to page by; 0 where nothing is shown.
func (p *presenter) oldest() int64 {
	for _, m := range p.messages {
		if m.Role != roleNote { // it stands where an older message does
			return m.Seq
		}
	}
	return 0
}

// waits says what waits for the person in the conversation now.
func (p *presenter) waits(items []consent.Item) {
	p.items = slices.DeleteFunc(slices.Clone(items), func(i consent.Item) bool {
		return i.Conversation != p.conversation || p.conversation == ""
	})
	for _, m := range p.messages {
		for _, c := range m.Calls {
			if c.State == callRunning && c.Record == 0 {
				p.touched[keyOf(rowCall, c.ID)] = true // see held
			}
		}
	}
	p.moved = true
}

// store shows a message as it is stored now. While the message still streams, pieces that came since stay.
func (p *presenter) store(m app.ChatMessage) {
	at := p.find(m.ID)
	if at == nil {
		at = &message{}
		i := len(p.messages)
		for i > 0 && m.Seq != 0 && p.messages[i-1].Seq > m.Seq {
			i--
		}
		p.messages = slices.Insert(p.messages, i, at)
	}
	if m.State == stateStreaming && at.ID != "" && !at.streaming() {
		// It was read before its end, and arrives behind it.
		m.State, m.Error, m.Text, m.Reasoning = at.State, at.Error, at.words(), at.thoughts()
	}
	ahead(&at.text, at.words(), m.Text, m.State == stateStreaming)
	ahead(&at.reasoning, at.thoughts(), m.Reasoning, m.State == stateStreaming)
	at.missed = false
	for i := range m.Calls { // what was heard of a call is newer than a reading that has no outcome
		for _, o := range p.messages {
			if old := o.call(m.Calls[i].ID); old != nil && m.Calls[i].State != callDone && later(old.State, m.Calls[i].State) {
				m.Calls[i] = *old
			}
		}
	}
	for _, c := range at.Calls {
		if !slices.ContainsFunc(m.Calls, func(n app.CallState) bool { return n.ID == c.ID }) && m.State == stateStreaming {
			m.Calls = append(m.Calls, c)
		}
	}
	at.ChatMessage = m
	if m.State == stateStreaming {
		p.current = at
	} else if p.current == at {
		p.current = nil
	}
	p.claim(at)
	p.touchMessage(at)
	p.moved = true
}

// claim takes the calls of a stored answer away from the one that stood in for it while it had no name.
func (p *presenter) claim(m *message) {
	if m.Role != roleAssistant {
		return
	}
	p.messages = slices.DeleteFunc(p.messages, func(o *message) bool {
		if o == m || o.Role != roleAssistant {
			return false
		}
		o.Calls = slices.DeleteFunc(o.Calls, func(c app.CallState) bool { return m.call(c.ID) != nil })
		if o.ID != nameless || len(o.Calls) > 0 {
			return false
		}
		if p.current == o {
			p.current = nil
		}
		return true
	})
}

// nameless is the id of an answer that was not announced.
const nameless = "live"

func later(a, b string) bool {
	order := []string{callWaiting, callRunning, callDone}
	return slices.Index(order, a) > slices.Index(order, b)
}

func (m *message) call(id string) *app.CallState {
	for i := range m.Calls {
		if m.Calls[i].ID == id {
			return &m.Calls[i]
		}
	}
	return nil
}

func (p *presenter) find(id string) *message {
	for _, m := range p.messages {
		if m.ID == id {
			return m
		}
	}
	return nil
}

// want is what must be read anew after an event.
type want struct {
	message string // a message by its id
	all     bool   // everything
	items   bool   // what waits
	head    bool   // title, settings, tools
}

// apply takes an event of the program. What it cannot know from the event alone it asks for.
func (p *presenter) apply(e event.Event) want {
	switch e := e.(type) {
	case event.Progress: // a call may be known by its id alone
		if e.Conversation == "" || e.Conversation == p.conversation {
			p.onCall(e.Call, func(c *app.CallState) { c.Progress = &e })
		}
		return want{}
	case event.ServersChanged, event.Server, event.SettingsChanged:
		return want{head: true}
	}
	if p.conversation == "" || conversationOf(e) != p.conversation {
		return want{}
	}
	switch e := e.(type) {
	case event.TurnStart:
		p.working, p.moved = true, true
		p.notices, p.end = nil, nil
	case event.Turn:
		return p.ended(e)
	case event.Compaction:
		p.working, p.moved = e.State == event.CompactionStarted, true
		return want{all: !p.working, head: true}
	case event.MessageStarted:
		p.started(e)
	case event.Text:
		p.thinking(e.Message, false)
		return p.piece(rowAnswer, e.Message, e.At, e.Text)
	case event.Reasoning:
		p.thinking(e.Message, true)
		return p.piece(rowReasoning, e.Message, e.At, e.Text)
	case event.MessageStored:
		return want{message: e.ID}
	case event.Call:
		p.called(e)
	case event.Decision:
		p.onCall(e.Call, func(c *app.CallState) {
			c.Decision, c.By, c.Reason = e.Decision, e.By, e.Reason
			c.State = callDone
			if e.Decision == consent.Allowed {
				c.State = callRunning
			}
		})
	case event.Result:
		p.onCall(e.Call, func(c *app.CallState) { settle(c, e) })
	case event.Waiting, event.WaitingGone:
		return want{items: true}
	case event.Notice:
		if e.Kind == "context_full" { // a row of its own says so, as long as it is
			return want{head: true}
		}
		p.notices = append(p.notices, row{kind: rowNotice, key: "notice:" + e.Kind + ":" + e.Server, text: sentence.Worded(e.Message)})
		p.notices = compact(p.notices)
		p.moved = true
	case event.ConversationChanged:
		return want{head: true, all: e.What == "branch" || e.What == "restored" || e.What == "compacted"}
	}
	return want{}
}

// compact keeps the last notice of each kind.
func compact(notices []row) []row {
	var out []row
	for i, n := range notices {
		if !slices.ContainsFunc(notices[i+1:], func(o row) bool { return o.key == n.key }) {
			out = append(out, n)
		}
	}
	return out
}

func settle(c *app.CallState, e event.Result) {
	c.State, c.Outcome, c.Effect, c.Seconds = callDone, e.Outcome, e.Effect, e.Seconds
	c.Content, c.Structured, c.Progress = e.Content, e.Structured, nil
	if e.Reason != "" {
		c.Reason = e.Reason
	}
	if e.Record != 0 {
		c.Record = e.Record
	}
}

func conversationOf(e event.Event) string {
	switch e := e.(type) {
	case event.TurnStart:
		return e.Conversation
	case event.Turn:
		return e.Conversation
	case event.MessageStarted:
		return e.Conversation
	case event.Text:
		return e.Conversation
	case event.Reasoning:
		return e.Conversation
	case event.MessageStored:
		return e.Conversation
	case event.Call:
		return e.Conversation
	case event.Decision:
		return e.Conversation
	case event.Result:
		return e.Conversation
	case event.Waiting:
		return e.Conversation
	case event.WaitingGone:
		return e.Conversation
	case event.Notice:
		return e.Conversation
	case event.Compaction:
		return e.Conversation
	case event.ConversationChanged:
		return e.Conversation
	}
	return ""
}

func (p *presenter) endCurrent(state string) {
	if p.current == nil {
		return
	}
	p.current.State = state
	p.touchMessage(p.current)
	p.current, p.moved = nil, true
}

// ended closes the turn. What it left behind is read anew, since only the store knows its last state.
func (p *presenter) ended(e event.Turn) want {
	p.working, p.moved = false, true
	state := e.State
	if state == "finished" {
		state = stateComplete
	}
	p.endCurrent(state)
	p.end = nil
	if state != stateComplete || e.Error != "" {
		p.end = &message{ChatMessage: app.ChatMessage{ID: "end", Role: roleAssistant, State: state, Error: e.Error}, remedy: e.Remedy}
	}
	return want{all: true, items: true, head: true}
}

// called shows a proposed call under the answer that proposed it.
func (p *presenter) called(e event.Call) {
	if p.onCall(e.ID, func(c *app.CallState) { c.Record = e.Record }) {
		return
	}
	m := p.current
	if n := len(p.messages); m == nil && n > 0 && p.messages[n-1].Role == roleAssistant {
		m = p.messages[n-1]
	}
	if m == nil {
		m = p.streamTo(nameless)
	}
	m.Calls = append(m.Calls, app.CallState{ID: e.ID, Record: e.Record, Server: e.Server, Tool: e.Tool, Arguments: e.Arguments, State: callWaiting})
	p.moved = true
}

// onCall changes a call that is shown.
func (p *presenter) onCall(id string, change func(*app.CallState)) bool {
	for i := len(p.messages) - 1; i >= 0; i-- {
		if c := p.messages[i].call(id); c != nil {
			change(c)
			p.touched[keyOf(rowCall, id)] = true
			p.moved = true
			return true
		}
	}
	return false
}

func (p *presenter) touchMessage(m *message) {
	for _, k := range []rowKind{rowUser, rowReasoning, rowAnswer, rowEnding, rowActions, rowNote} {
		p.touched[keyOf(k, m.ID)] = true
	}
	for _, c := range m.Calls {
		p.touched[keyOf(rowCall, c.ID)] = true
	}
}
