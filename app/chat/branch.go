package chat

import (
	"encoding/json"
	"fmt"

	"steward/storage"
)

// Root as a message's Parent says that it begins the conversation. An empty Parent
// means the message before, by number; most messages have none other.
const Root = "-"

// Meta is what is kept with a conversation beside its columns.
type Meta struct {
	// Branch is the last message of the branch that is shown, where it is not the
	// newest message of all.
	Branch string `json:"branch,omitempty"`
	// Named says that a person gave the title.
	Named bool `json:"named,omitempty"`
	// Fit is how its requests are made to fit into the model's context window.
	Fit *Fit `json:"fit,omitempty"`
	// Settings belong to the program around the engine.
	Settings json.RawMessage `json:"settings,omitempty"`
}

// ReadMeta reads it; what cannot be read counts as empty.
func ReadMeta(c storage.Conversation) Meta {
	var m Meta
	if len(c.Meta) > 0 && json.Unmarshal(c.Meta, &m) != nil {
		return Meta{}
	}
	return m
}

// SetMeta puts it into the conversation.
func SetMeta(c *storage.Conversation, m Meta) error {
	raw, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("the settings of a conversation could not be prepared for storing: %w", err)
	}
	c.Meta = raw
	return nil
}

// Change changes a conversation as it stands in the transaction, so that nothing is lost
// which somebody else has changed meanwhile; storage.ErrNotFound. It may be called again
// with the transaction, so change must only depend on what it is given.
func Change(tx *storage.Tx, id string, change func(*storage.Conversation, *Meta)) error {
	c, err := tx.Conversation(id)
	if err != nil {
		return err
	}
	before := ReadMeta(c)
	after := before
	change(&c, &after)
	if after.Branch != before.Branch || after.Named != before.Named || !after.Fit.same(before.Fit) || string(after.Settings) != string(before.Settings) {
		if err := SetMeta(&c, after); err != nil {
			return err
		}
	}
	return tx.PutConversation(c)
}

// Tree is how the messages of a conversation hang together: each person's message
// and each answer of the model follows one other, or none; answers of tools hang
// at the model's answer that called them, notes at the last message they stand for.
type Tree struct {
	messages []storage.Message
	parent   map[string]string // of users' and assistants' messages
	owner    map[string]string // of tools' answers: the assistant's message; of notes: their Parent
	newest   string
}

// NewTree looks at all messages of a conversation, or at the last ones, in order.
// Texts are not needed.
func NewTree(messages []storage.Message) Tree {
	t := Tree{messages: messages, parent: map[string]string{}, owner: map[string]string{}}
	calls := map[string]string{}
	before, asked := Root, ""
	for _, m := range messages {
		switch m.Role {
		case storage.RoleNote:
			t.owner[m.ID] = m.Parent
			continue
		case storage.RoleTool:
			t.owner[m.ID] = asked
			if id, ok := calls[m.CallID]; ok {
				t.owner[m.ID] = id
			}
			continue
		}
		t.parent[m.ID] = m.Parent
		if m.Parent == "" {
			t.parent[m.ID] = before
		}
		before, t.newest = m.ID, m.ID
		if m.Role == storage.RoleAssistant {
			asked = m.ID
			for _, c := range readCalls(m) {
				calls[c.ID] = m.ID
			}
		}
	}
	return t
}

// Leaf is the end of the branch that is shown: the message branch, or the newest of
// all where there is no such message.
func (t Tree) Leaf(branch string) string {
	if o, ok := t.owner[branch]; ok {
		branch = o
	}
	if _, ok := t.parent[branch]; ok {
		return branch
	}
	return t.newest
}

// Seq is the number of a row; 0 where there is none.
func (t Tree) Seq(id string) int64 {
	for i := len(t.messages) - 1; i >= 0; i-- {
		if t.messages[i].ID == id {
			return t.messages[i].Seq
		}
	}
	return 0
}

// Parent is the message that one follows: Root, or "" where there is no such message.
func (t Tree) Parent(id string) string { return t.parent[id] }

// Path gives the branch that ends in a message, in order, with the tools' answers in
// it. A branch whose beginning is not among the messages begins where they do.
func (t Tree) Path(leaf string) []storage.Message {
	on := map[string]bool{}
	for id := leaf; id != Root && id != "" && !on[id]; id = t.parent[id] {
		if _, ok := t.parent[id]; !ok {
			break
		}
		on[id] = true
	}
	var out []storage.Message
	for _, m := range t.messages {
		if on[m.ID] || on[t.owner[m.ID]] {
			out = append(out, m)
		}
	}
	return out
}

// Versions are the messages that follow the same one as this does, oldest first, itself
// among them: those of the person for a person's, those of the model for an answer.
func (t Tree) Versions(id string) []string {
	parent, ok := t.parent[id]
	if !ok {
		return nil
	}
	role := ""
	for _, m := range t.messages {
		if m.ID == id {
			role = m.Role
		}
	}
	var out []string
	for _, m := range t.messages {
		if p, known := t.parent[m.ID]; known && p == parent && m.Role == role {
			out = append(out, m.ID)
		}
	}
	return out
}

// End is the newest message that follows a message directly or through others; the
// message itself where none does.
func (t Tree) End(id string) string {
	below := map[string]bool{id: true}
	end := id
	for _, m := range t.messages { // a message stands behind the one it follows
		if p, ok := t.parent[m.ID]; ok && below[p] {
			below[m.ID] = true
			end = m.ID
		}
	}
	return end
}

// End is the message that the next one of a branch follows; Root where it is empty.
func End(path []storage.Message) string { return ended(path) }

// Hangs says that a row is no message of its own in the order of a branch: the answer of a tool,
// or a note.
func Hangs(m storage.Message) bool { return hangs(m) }

// hangs says that a row is no message of its own in the order of a branch: the answer of a
// tool, or a note.
func hangs(m storage.Message) bool { return m.Role == storage.RoleTool || m.Role == storage.RoleNote }

// Owner is the message that the answer of a tool, or a note, hangs at; "" where there is no such
// row.
func (t Tree) Owner(id string) string { return t.owner[id] }

// ended is the message that the next one follows, of messages in the branch's order.
func ended(messages []storage.Message) string {
	for i := len(messages) - 1; i >= 0; i-- {
		if !hangs(messages[i]) {
			return messages[i].ID
		}
	}
	return Root
}

// NewConversationID makes the id of a conversation; none is made twice.
func NewConversationID() string { return newID("c_") }

// Copy makes messages for another conversation of those of a branch, under ids of their
// own; the calls in them keep theirs, and so their records.
func Copy(path []storage.Message, conversation string) []storage.Message {
	out := make([]storage.Message, len(path))
	before := Root
	copies := map[string]string{}
	for i, m := range path {
		at := copies[m.Parent]
		copies[m.ID] = newID("m_")
		m.ID, m.Conversation, m.Parent, m.Seq = copies[m.ID], conversation, "", 0
		if m.State == storage.StateStreaming {
			m.State = storage.StateInterrupted // the copy does not grow
		}
		switch {
		case m.Role == storage.RoleNote:
			m.Parent = at
		case m.Role != storage.RoleTool:
			m.Parent, before = before, m.ID
		}
		out[i] = m
	}
	return out
}
