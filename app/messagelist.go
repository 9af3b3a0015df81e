package app

import (
	"context"
	"slices"

	"steward/app/chat"
	"steward/app/clean"
	"steward/app/event"
	"steward/app/journal"
	"steward/storage"
)

// pageOfMessages is the limit of Messages where the caller names none.
const pageOfMessages = 50

// States of a CallState.
const (
	CallWaiting = "waiting"
	CallRunning = "running"
	CallDone    = "done"
)

// Messages gives the last limit messages of the branch that is shown which come before
// the Seq before (0: the newest), in order. Limit 0 is 50. What was told as stored before
// the call is among them, and so is an answer that comes at the moment, with all of it that
// was told; its Seq is 0 as long as nothing of it is stored.
func (a *App) Messages(ctx context.Context, conversation string, before int64, limit int) ([]ChatMessage, error) {
	c, err := a.stored(ctx, conversation)
	if err != nil {
		return nil, err
	}
	tree, err := a.tree(ctx, conversation)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = pageOfMessages
	}
	path := tree.Path(tree.Leaf(chat.ReadMeta(c).Branch))
	if before > 0 {
		if i := slices.IndexFunc(path, func(m storage.Message) bool { return !chat.Hangs(m) && m.Seq >= before }); i >= 0 {
			path = path[:i]
		}
	}
	first := len(path)
	for n := 0; first > 0 && n < limit; {
		if first--; !chat.Hangs(path[first]) {
			n++
		}
	}
	out, err := a.shownMessages(ctx, tree, path[first:])
	if err != nil || before > 0 {
		return out, err
	}
	return a.withLive(conversation, path, out), nil
}

// withLive puts the answer that comes at the moment where it belongs: at the end of the branch
// that is shown, unless it is there already.
func (a *App) withLive(conversation string, path []storage.Message, out []ChatMessage) []ChatMessage {
	m, ok := a.engine.Live(conversation)
	if !ok || slices.ContainsFunc(path, func(p storage.Message) bool { return p.ID == m.ID }) {
		return out
	}
	if chat.End(path) != m.Parent {
		return out // it comes in another branch
	}
	return append(out, a.shownMessage(m, nil, []string{m.ID}))
}

// tree reads how the messages of a conversation hang together, with what has been told as
// stored.
func (a *App) tree(ctx context.Context, conversation string) (chat.Tree, error) {
	if err := a.db.Flush(ctx); err != nil {
		return chat.Tree{}, err
	}
	outline, err := a.db.Outline(ctx, conversation)
	return chat.NewTree(outline), err
}

// Message gives one message by its id, whichever branch it is in.
func (a *App) Message(ctx context.Context, conversation, id string) (ChatMessage, error) {
	tree, err := a.tree(ctx, conversation)
	if err != nil {
		return ChatMessage{}, err
	}
	if tree.Parent(id) != "" {
		path := tree.Path(id)
		for i := len(path) - 1; i >= 0; i-- {
			if path[i].ID == id {
				list, err := a.shownMessages(ctx, tree, path[i:])
				if err != nil || len(list) == 0 {
					return ChatMessage{}, err
				}
				return list[0], nil
			}
		}
	}
	if at := tree.Owner(id); at != "" {
		m, err := a.db.Message(ctx, id)
		if err == nil && m.Role == storage.RoleNote {
			list, err := a.shownMessages(ctx, tree, []storage.Message{m})
			if err != nil || len(list) > 0 {
				return list[0], err
			}
		}
	}
	if m, ok := a.engine.Live(conversation); ok && m.ID == id {
		return a.shownMessage(m, nil, []string{id}), nil
	}
	return ChatMessage{}, noMessage(id)
}

func noMessage(id string) error {
	return &Message{Key: "no_message", Args: args("detail", "There is no message with the id "+reveal(id)+" in this conversation."), Err: storage.ErrNotFound}
}

// shownMessages reads the rows of a piece of a branch and makes them fit to be shown.
func (a *App) shownMessages(ctx context.Context, tree chat.Tree, piece []storage.Message) ([]ChatMessage, error) {
	if len(piece) == 0 {
		return []ChatMessage{}, nil
	}
	wanted := map[string]bool{}
	first, last := piece[0].Seq, piece[0].Seq
	for _, m := range piece {
		wanted[m.ID], first, last = true, min(first, m.Seq), max(last, m.Seq)
	}
	rows, err := a.db.MessagesBetween(ctx, piece[0].Conversation, first, last)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(m storage.Message) bool { return !wanted[m.ID] })
	out := []ChatMessage{}
	records := map[int64]journal.Record{}
	for i, m := range rows {
		if m.Role == storage.RoleTool || m.Role == storage.RoleNote && chat.TakenBack(m) {
			continue
		}
		out = append(out, a.shownMessage(m, rows[i+1:], tree.Versions(m.ID)))
		if m.Role == storage.RoleNote {
			out[len(out)-1].Seq = tree.Seq(m.Parent) // where what it stands for ends
		}
		for _, c := range out[len(out)-1].Calls {
			records[c.Record] = journal.Record{}
		}
	}
	out = placeNotes(out)
	delete(records, 0)
	if len(records) > 0 {
		if err := a.journal.Records(ctx, records); err != nil {
			return nil, err
		}
	}
	for i := range out {
		for k := range out[i].Calls {
			out[i].Calls[k].join(records)
		}
	}
	return out, nil
}

// placeNotes puts each note behind the last message that it stands for; before all where that is
// not among them.
func placeNotes(list []ChatMessage) []ChatMessage {
	var notes []ChatMessage
	list = slices.DeleteFunc(list, func(m ChatMessage) bool {
		if m.Role == storage.RoleNote {
			notes = append(notes, m)
		}
		return m.Role == storage.RoleNote
	})
	for _, n := range notes {
		i := len(list)
		for i > 0 && (list[i-1].Seq > n.Seq || list[i-1].Seq == 0) {
			i--
		}
		list = slices.Insert(list, i, n)
	}
	return list
}

func (a *App) shownMessage(m storage.Message, behind []storage.Message, versions []string) ChatMessage {
	out := ChatMessage{
		ID: m.ID, Seq: m.Seq, Role: m.Role, State: m.State, Text: m.Text, Model: clean.Line(m.Model, 200), Time: m.Time,
		Attachments: chat.Attachments(m), Error: chat.Problem(m), Versions: versions,
	}
	if s, ok := chat.SpentOn(m); ok {
		out.Spent = s
		out.Cost, out.Priced = a.costOf(s)
	}
	if m.Role == storage.RoleUser {
		return out
	}
	out.Noted = chat.Noted(m)
	out.Text, out.Reasoning = clean.Clean(m.Text), clean.Clean(m.Reasoning)
	if live, ok := a.engine.Live(m.Conversation); ok && live.ID == m.ID && m.State == storage.StateStreaming {
		out.Text, out.Reasoning = live.Text, live.Reasoning // what is stored lags behind
	}
	if out.Thought = chat.Thought(m); m.State == storage.StateStreaming {
		out.Thought, out.Thinking = a.engine.Reasoning(m.Conversation, m.ID)
	}
	working := a.engine.Running(m.Conversation) != nil
	for _, c := range chat.Calls(m, behind) {
		out.Calls = append(out.Calls, a.callState(c, working))
	}
	return out
}

func (a *App) callState(c chat.Called, working bool) CallState {
	s := CallState{
		ID: c.ID, Server: c.Server, Tool: c.Tool, Arguments: c.Arguments, State: CallDone, Record: c.Record, Outcome: c.Outcome, Effect: c.Effect,
		Reason: clean.Clean(c.Reason), Edited: c.Edited, Text: clean.Clean(c.Text),
	}
	if s.Tool == "" {
		s.Tool = c.Name
	}
	if s.Reason == "" {
		s.Reason = clean.Clean(c.Problem)
	}
	if s.Arguments == "" {
		s.Arguments = c.Raw
	}
	for _, img := range c.Images {
		s.Content = append(s.Content, event.Content{Type: "image", MIMEType: img.MIMEType, Data: img.Data})
	}
	left := c.Outcome == journal.Running // its server works on it as a task, which is followed
	if c.Answered && !left {
		return s
	}
	if item, ok := a.gate.Waiting().Get(c.ID); ok {
		s.State, s.Record = CallWaiting, item.Record
		return s
	}
	if live, ok := a.gate.Live(c.ID); ok {
		s.State, s.Record, s.Decision, s.By, s.Progress, s.Edited = CallRunning, live.Record, live.Decision, live.By, live.Progress, live.Edited
		s.Seconds = a.clock().Sub(live.Started.UTC()).Seconds()
		return s
	}
	s.copied = left && !a.follows(c.Record)
	if working || left {
		s.State = CallRunning // it is on its way to being asked about, sent or stored
	}
	return s
}

// join fills in what the record says.
func (s *CallState) join(records map[int64]journal.Record) {
	r, ok := records[s.Record]
	if !ok || r.Record == 0 {
		return
	}
	if r.Decision != "" {
		s.Decision, s.By = r.Decision, r.By
	}
	if s.copied && r.Outcome != journal.Running {
		s.State, s.Text = CallDone, ""
	}
	if s.State != CallDone {
		return
	}
	s.Outcome, s.Effect, s.Seconds = r.Outcome, r.Effect, r.Seconds
}

// CallResult reads a call's result from the journal.
func (a *App) CallResult(ctx context.Context, record int64) (CallResult, error) {
	d, err := a.journal.Show(ctx, record)
	if err != nil {
		return CallResult{}, err
	}
	out := CallResult{Raw: d.Result, Length: d.Length, Cut: d.Cut, Erased: d.Erased, Reason: clean.Clean(d.Reason)}
	for _, f := range d.Frames {
		out.Frames = append(out.Frames, Frame{Time: f.Time, Direction: f.Direction, Bytes: f.Bytes, Length: f.Length})
	}
	if d.Kind == journal.KindCall && !d.Cut && len(d.Result) > 0 {
		out.Content, out.Structured = a.gate.ReadResult(d.Result)
	}
	return out, nil
}

// Branches gives the messages that stand in a message's place, oldest first, itself
// included.
func (a *App) Branches(ctx context.Context, conversation, message string) ([]string, error) {
	tree, err := a.tree(ctx, conversation)
	if err != nil {
		return nil, err
	}
	versions := tree.Versions(message)
	if len(versions) == 0 {
		return nil, noMessage(message)
	}
	return versions, nil
}

// SwitchBranch shows the branch that a message stands in, to its newest end. A turn that
// runs goes on in its own branch.
func (a *App) SwitchBranch(ctx context.Context, conversation, message string) error {
	tree, err := a.tree(ctx, conversation)
	if err != nil {
		return err
	}
	if tree.Parent(message) == "" {
		return noMessage(message)
	}
	end := tree.End(message)
	return a.change(ctx, conversation, "branch", func(_ *storage.Conversation, m *chat.Meta) { m.Branch = end })
}

// ExportConversation gives the branch that is shown as Markdown, with each call, its
// decision and its record number.
func (a *App) ExportConversation(ctx context.Context, id string) (string, error) {
	c, err := a.Conversation(ctx, id)
	if err != nil {
		return "", err
	}
	messages, err := a.Messages(ctx, id, 0, 1<<30)
	if err != nil {
		return "", err
	}
	return markdown(c, messages), nil
}
