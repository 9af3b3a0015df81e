package chat

import (
	"fmt"
	"slices"
	"strings"

	"steward/app/clean"
	"steward/storage"
)

// A note is what a model wrote to stand for the older part of a conversation. It is a row of
// its own that hangs at the last message it stands for (its Parent), as an answer of a tool
// hangs at its call: so it holds in each branch that has that message in it, and in no other,
// and the messages stay where they are.

// notedPart is the note that holds in a branch, and where what it stands for ends.
type notedPart struct {
	note storage.Message
	end  int // in the branch: the first row that it does not stand for
}

// noteIn finds the note that holds in a branch: of those that were not taken back the one that
// stands for most of it.
func noteIn(path []storage.Message) (notedPart, bool) {
	at := map[string]int{}
	for i, m := range path {
		if m.Role != storage.RoleTool && m.Role != storage.RoleNote {
			at[m.ID] = i
		}
	}
	best, found := notedPart{}, false
	for _, m := range path {
		i, ok := at[m.Parent]
		if m.Role != storage.RoleNote || !ok || TakenBack(m) {
			continue
		}
		for i++; i < len(path) && path[i].Role != storage.RoleUser; i++ { // answers of tools, and other notes
			if path[i].Role == storage.RoleAssistant {
				break
			}
		}
		if !found || i >= best.end {
			best, found = notedPart{m, i}, true
		}
	}
	return best, found
}

// TakenBack says whether a note holds no more.
func TakenBack(m storage.Message) bool { return readMeta(m).TakenBack }

// Noted is what a note stands for.
func Noted(m storage.Message) (messages int) { return readMeta(m).Noted }

// Marks around a note in a request. It goes with a message of the person, since some models take
// no two of the same side in a row, and it is no instruction of the program's.
const (
	noteBegins = "[summary of the earlier part of this conversation, written by a model; the messages themselves are left out of this request]"
	noteEnds   = "[end of the summary]"
)

// compacted gives the rows of a branch that go to the model: behind a note those that it does
// not stand for, with its text before the first message of the person. The rows given are not
// changed. Rows that are notes are never among the result.
func compacted(path []storage.Message) []storage.Message {
	part, ok := noteIn(path)
	if !ok {
		if !slices.ContainsFunc(path, isNote) {
			return path
		}
		return slices.DeleteFunc(slices.Clone(path), isNote)
	}
	out := slices.DeleteFunc(slices.Clone(path[part.end:]), isNote)
	text := fmt.Sprintf("%s\n%s\n%s", noteBegins, clean.Clean(part.note.Text), noteEnds)
	if len(out) > 0 && out[0].Role == storage.RoleUser {
		if out[0].Text != "" {
			text += "\n\n" + out[0].Text
		}
		out[0].Text = text
		return out
	}
	first := storage.Message{ID: part.note.ID, Conversation: part.note.Conversation, Role: storage.RoleUser, State: storage.StateComplete, Text: text, Time: part.note.Time}
	return append([]storage.Message{first}, out...)
}

func isNote(m storage.Message) bool { return m.Role == storage.RoleNote }

// cutOff says whether a note is among the last rows of a conversation, and the message that it hangs
// at is not: rows before them must be read to know whether it holds.
func cutOff(rows []storage.Message) bool {
	at := map[string]bool{}
	for _, m := range rows {
		at[m.ID] = true
	}
	return slices.ContainsFunc(rows, func(m storage.Message) bool { return isNote(m) && !TakenBack(m) && !at[m.Parent] })
}

// turnsOf are where the turns of a branch begin: its messages of the person.
func turnsOf(path []storage.Message) (begins []int) {
	for i, m := range path {
		if m.Role == storage.RoleUser {
			begins = append(begins, i)
		}
	}
	return begins
}

// foldable decides how much of a branch a note is to stand for: everything before the turns that
// stay whole, which are the newest one and as many before it as fit into keep tokens together.
// from is where what no note stands for yet begins, end the first row that stays; false where
// there is nothing to fold.
func foldable(path []storage.Message, weight func(storage.Message) int, keep int) (from, end int, ok bool) {
	if part, has := noteIn(path); has {
		from = part.end
	}
	begins := slices.DeleteFunc(turnsOf(path), func(i int) bool { return i < from })
	if len(begins) < 2 {
		return from, from, false
	}
	end = begins[len(begins)-1]
	kept := 0
	for i := len(begins) - 1; i >= 0; i-- {
		next := len(path)
		if i+1 < len(begins) {
			next = begins[i+1]
		}
		for _, m := range path[begins[i]:next] {
			kept += weight(m)
		}
		if kept > keep {
			break
		}
		end = begins[i]
	}
	if end <= begins[0] { // all would fit: half of the turns stay
		end = begins[(len(begins)+1)/2]
	}
	return from, end, true
}

// StartsWithNote says whether the text of a request's message begins with a note.
func StartsWithNote(text string) bool { return strings.HasPrefix(text, noteBegins) }

// CallsIn gives the calls of a branch whose answers go to the model, in the order of a request.
func CallsIn(path []storage.Message) (out []Called) {
	rows := compacted(path)
	for i, m := range rows {
		if m.Role == storage.RoleAssistant {
			out = append(out, Calls(m, rows[i+1:])...)
		}
	}
	return out
}
