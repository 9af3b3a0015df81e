package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"steward/app/clean"
	"steward/app/consent"
	"steward/app/event"
	"steward/app/journal"
	"steward/app/secrets"
	"steward/llm"
	"steward/storage"
)

const (
	// maxBroken is how many rounds in a row may hold nothing but calls that
	// cannot run before the turn ends.
	maxBroken = 2
	// maxHistory is how many stored messages a request is built from.
	maxHistory  = 2000
	historyPage = 500
)

// turn is one turn at work; it belongs to its goroutine.
type turn struct {
	limit   int     // as often the model may be asked before the person is
	changes changes // of what is offered, since the turn began

	e        *Engine
	r        *Running
	ctx      context.Context
	log      context.Context // for storing: not cancelled with ctx
	conv     storage.Conversation
	in       Turn
	id       string
	model    string
	client   *llm.Client
	messages []storage.Message
	rounds   int
	broken   int
	read     []string       // servers whose output the model has read in this turn
	made     map[string]int // calls by hash
	text     string         // last answer, cleaned
	head     string         // the person's message that is answered

	fit       *Fit        // how requests are made to fit
	sent      llm.Request // the last one
	shortened bool        // a request of this turn was made shorter after a refusal
	folded    bool        // the conversation was compacted in this turn, or that was tried
}

// ending is how a turn ends.
type ending struct {
	state, err string
	remedy     event.Remedy
}

func (e *Engine) run(ctx context.Context, r *Running, conv storage.Conversation, in Turn, head string) {
	t := &turn{e: e, r: r, ctx: ctx, log: context.WithoutCancel(ctx), conv: conv, in: in, head: head, id: newID("t_"), made: map[string]int{}}
	end := t.protected()
	if err := t.storeConversation(); err != nil {
		end = ending{state: Failed, err: joinSentences(end.err, "the turn could not be stored: "+t.sentence(err))}
	}
	r.result = TurnResult{State: end.state, Error: end.err, Text: t.text, Conversation: conv.ID}
	r.over.Store(true) // before it is told: who hears of the end and looks must not find it at work for ever
	e.o.Bus.Publish(event.Turn{Conversation: conv.ID, State: end.state, Error: end.err, Remedy: end.remedy})
	r.cancel(nil)
	e.release(r)
}

// storeConversation notes when and with which model the turn went on. What else
// stands in the conversation may have changed during the turn.
func (t *turn) storeConversation() error {
	now := t.e.o.Now().UTC()
	err := t.e.o.Store.Write(t.log, func(tx *storage.Tx) error {
		return Change(tx, t.conv.ID, func(c *storage.Conversation, m *Meta) {
			c.Updated, c.Model = now, cmp.Or(t.model, c.Model)
			if t.in.Again != "" && m.Branch == t.in.Again {
				m.Branch = "" // nothing came of it: what was shown before is shown again
			}
		})
	})
	if errors.Is(err, storage.ErrNotFound) {
		return nil // deleted meanwhile
	}
	return err
}

// put stores an answer of the model. One that is given again is shown from here on,
// unless the person has gone to another branch.
func (t *turn) put(tx *storage.Tx, msg storage.Message) error {
	if t.in.Again != "" {
		err := Change(tx, t.conv.ID, func(_ *storage.Conversation, m *Meta) {
			if m.Branch == t.in.Again {
				m.Branch = ""
			}
		})
		if err != nil {
			return err
		}
	}
	return tx.PutMessage(msg)
}

// stored tells that a message was stored, or will be in a moment.
func (t *turn) stored(m storage.Message) {
	t.e.o.Bus.Publish(event.MessageStored{Conversation: t.conv.ID, ID: m.ID, Role: m.Role})
}

// protected keeps a fault in a turn from ending the program.
func (t *turn) protected() (end ending) {
	defer func() {
		if p := recover(); p != nil {
			t.e.notice(t.conv.ID, "internal", "", clean.Clean(t.e.o.Redact(fmt.Sprintf("%v\n%s", p, debug.Stack()))))
			end = ending{state: Failed, err: "the turn was ended by a fault in Steward; nothing further was sent"}
		}
	}()
	return t.work()
}

func (t *turn) work() ending {
	err := t.chooseModel()
	t.e.o.Bus.Publish(event.TurnStart{Conversation: t.conv.ID, Model: t.model})
	if err != nil {
		return t.failed(err)
	}
	t.fit = ReadMeta(t.conv).Fit
	if t.messages, err = t.history(); err != nil {
		return t.failed(err)
	}
	if err := t.asWritten(); err != nil {
		return t.failed(err)
	}
	t.warn()
	t.limit = t.perGo()
	for {
		if t.rounds++; t.rounds > 1 {
			if err := t.chooseModel(); err != nil {
				return t.failed(err)
			}
		}
		offers, system, err := t.offers()
		if err != nil {
			return t.failed(err)
		}
		if end := t.countTools(offers); end != nil {
			return *end
		}
		t.makeRoom(offers, system)
		answer, end := t.ask(offers, system)
		if end != nil {
			return *end
		}
		if len(answer.Calls) == 0 {
			return ending{state: Finished}
		}
		if end := t.round(answer, offers); end != nil {
			return *end
		}
	}
}

// chooseModel takes the model that the conversation is set to now: one that the person has changed
// to during the turn is asked from the next request on.
func (t *turn) chooseModel() error {
	client, model, err := t.e.o.Model(t.ctx, t.conv.ID)
	if err == nil || t.client == nil {
		t.client, t.model = client, model
	}
	return err
}

func (t *turn) warn() {
	for _, a := range t.in.Attach {
		if w := a.Warning(); w != "" {
			t.e.notice(t.conv.ID, "secret", "", w)
		}
	}
	if secrets.LooksSecret(t.in.Text) {
		t.e.notice(t.conv.ID, "secret", "", "The message holds something that looks like a key or password; it goes to the model.")
	}
}

// history reads the stored messages, from a message of the person on.
func (t *turn) history() ([]storage.Message, error) {
	var all []storage.Message
	for before := int64(0); len(all) < maxHistory || cutOff(all); {
		page, err := t.e.o.Store.Messages(t.log, t.conv.ID, before, historyPage)
		if err != nil {
			return nil, fmt.Errorf("the conversation cannot be read: %w", err)
		}
		all = append(page, all...)
		if len(page) < historyPage {
			break
		}
		before = page[0].Seq
	}
	all = NewTree(all).Path(t.head)
	for len(all) > 0 && all[0].Role != storage.RoleUser {
		all = all[1:]
	}
	return all, t.settle(all)
}

// settle puts in how calls ended of which the rows say that they still run as tasks: rows
// of a copy of their conversation, and those whose end was recorded just before a crash.
func (t *turn) settle(rows []storage.Message) error {
	for i := range rows {
		m := &rows[i]
		meta := readMeta(*m)
		if m.Role != storage.RoleTool || meta.Outcome != journal.Running || meta.Record == 0 {
			continue
		}
		d, err := t.e.o.Journal.Show(t.log, meta.Record)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			return fmt.Errorf("how record %d ended cannot be read: %w", meta.Record, err)
		}
		o := t.e.o.Gate.Recorded(d)
		m.Text, meta.Outcome, meta.Effect, meta.Reason, meta.Images = o.Text, o.Outcome, o.Effect, o.Reason, storedImages(o.Images)
		if m.Meta, err = encode(meta); err != nil {
			return err
		}
	}
	return nil
}

// asWritten puts what the person has just written in the place of what is stored of it.
func (t *turn) asWritten() error {
	i := slices.IndexFunc(t.messages, func(m storage.Message) bool { return m.ID == t.head })
	if i < 0 || t.in.Again != "" {
		return nil
	}
	m := &t.messages[i]
	m.Text = t.in.Text
	if len(t.in.Attach) == 0 {
		return nil
	}
	var err error
	m.Meta, err = encode(storedMeta{Attachments: t.in.Attach})
	return err
}

func (t *turn) failed(err error) ending {
	if t.ctx.Err() != nil {
		return t.stopped()
	}
	return ending{state: Failed, err: t.sentence(err)}
}

func (t *turn) sentence(err error) string { return clean.Clean(t.e.o.Redact(err.Error())) }

// stopped says why the turn's context has ended.
func (t *turn) stopped() ending {
	switch cause := context.Cause(t.ctx); {
	case errors.Is(cause, consent.ErrClosed):
		return ending{state: Interrupted, err: "Steward was closed"}
	case errors.Is(cause, consent.ErrAbandoned):
		return ending{state: Stopped, err: "the person went on with another message"}
	}
	return ending{state: Stopped, err: ""}
}

// ask makes one request to the model and stores its answer. An ending ends the
// turn.
func (t *turn) ask(offers offers, system string) (llm.Answer, *ending) {
	answer, err := t.request(offers, system)
	var e *llm.Error
	if errors.As(err, &e) && e.Kind == llm.KindContext && answer.Text == "" && t.ctx.Err() == nil && t.shorten(e) && t.differs(offers, system) {
		t.e.notice(t.conv.ID, "context", "", "The request was too long for the model's context window. Earlier tool results are shortened, and the request is sent once more; no tool runs again.")
		if answer, err = t.request(offers, system); errors.As(err, &e) && e.Kind == llm.KindContext {
			t.shorten(e)
		}
	}
	if err == nil {
		t.fits()
	}
	switch {
	case err == nil && len(answer.Calls) > 0:
		return answer, nil // also when stopped just now: round gives each call its end
	case t.ctx.Err() != nil:
		end := t.stopped()
		return answer, &end
	case err != nil && answer.State == llm.StateInterrupted:
		return answer, &ending{state: Interrupted, err: t.sentence(err)}
	case err != nil:
		return answer, &ending{state: Failed, err: t.sentence(err), remedy: remedyFor(err, offers)}
	case answer.State != llm.StateFinished:
		return answer, &ending{state: answer.State, err: "the answer broke off"}
	}
	return answer, nil
}

// request streams one answer and stores it as it grows.
func (t *turn) request(offers offers, system string) (llm.Answer, error) {
	req := t.build(offers, system)
	t.set(&req, t.e.o.Parameters(t.ctx, t.conv.ID))
	t.sent = req
	msg := storage.Message{
		ID: newID("m_"), Conversation: t.conv.ID, Role: storage.RoleAssistant, State: storage.StateStreaming,
		Model: t.model, Time: t.e.o.Now().UTC(), Parent: ended(t.messages),
	}
	live := &Live{msg: msg}
	t.r.live.Store(live)
	t.e.o.Bus.Publish(event.MessageStarted{Conversation: t.conv.ID, ID: msg.ID, Model: t.model})
	s := newSaver(t.e.o.Store, msg, t.put)
	defer s.close()
	v := &viewer{t: t, saver: s, live: live, text: piece{known: t.e.o.Known.Stream()}, thought: piece{known: t.e.o.Known.Stream()}}
	got, err := t.e.recorder().Ask(t.ctx, t.client, t.asking(msg.ID, v), req, v.on)
	v.end()
	s.close()
	answer := got.Answer
	answer.Text, answer.Reasoning = t.e.o.Known.Known(answer.Text), t.e.o.Known.Known(answer.Reasoning)
	t.e.report(t.client, t.model, req, answer.Usage)
	msg.Text, msg.Reasoning, msg.State = answer.Text, answer.Reasoning, storedState(answer, err)
	if answer.Model != "" {
		msg.Model = answer.Model
	}
	t.text = clean.Clean(answer.Text)
	kept := v.meta(t.sentenceOf(err))
	kept.Spent, kept.Extra = spentOf(t.client, t.model, answer.Usage, got.Seconds), t.e.vendors(answer.Extra)
	var metaErr error
	msg.Meta, metaErr = encode(kept)
	err = errors.Join(err, metaErr)
	if err == nil && len(answer.Calls) > 0 {
		t.messages = append(t.messages, msg) // stored with its calls by round
		return answer, nil
	}
	if err != nil && answer.Text == "" && answer.Reasoning == "" {
		t.r.live.Store(nil)
		return answer, err // there is nothing to keep
	}
	t.messages = append(t.messages, msg)
	if storeErr := t.e.o.Store.Write(t.log, func(tx *storage.Tx) error { return t.put(tx, msg) }); storeErr != nil {
		err = errors.Join(err, fmt.Errorf("the answer could not be stored: %w", storeErr))
	}
	t.stored(msg)
	return answer, err
}

// vendors is what an endpoint added, without known secrets, as it is kept and sent back.
func (e *Engine) vendors(extra json.RawMessage) json.RawMessage {
	if len(extra) == 0 {
		return nil
	}
	return json.RawMessage(e.o.Known.KnownJSON(string(extra)))
}

func storedState(a llm.Answer, err error) string {
	switch {
	case a.State == llm.StateStopped:
		return storage.StateStopped
	case a.State == llm.StateInterrupted:
		return storage.StateInterrupted
	case err != nil || a.State == llm.StateFailed:
		return storage.StateFailed
	}
	return storage.StateComplete
}

func joinSentences(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, "; ")
}
