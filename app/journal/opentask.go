package journal

import (
	"encoding/json"
	"fmt"
	"time"

	"steward/storage"
)

// AttemptTask is the word of an attempt that says: the server works on the call as a
// task. Its detail is what is needed to follow that on.
const AttemptTask = "task"

// OpenTask is a call whose record a start found open because the server works on it as
// a task, so that its end can still be learned. Its record stays as it is.
type OpenTask struct {
	Record
	// Entry goes on with the record.
	Entry *Entry
	// Call is the call's id, Edits that of the one it took the place of; Turn the turn's.
	Call, Edits, Turn string
	ServerHash        string // of the server's settings as it was called
	Definition        string
	Task              json.RawMessage // the attempt's detail
	Begun             time.Time       // when the server made the task
}

// openTask reads the record of a call that is running; false where no task was made of
// it, or what was kept of that is gone or cannot be read.
func (j *Journal) openTask(s *storage.Snapshot, row storage.Record) (t OpenTask, ok bool, err error) {
	if Kind(row.Kind) != KindCall || row.Outcome != Running {
		return t, false, nil
	}
	events, err := s.EventsOf(row.N)
	if err != nil {
		return t, false, fmt.Errorf("reading record %d: %w", row.N, err)
	}
	t = OpenTask{Record: recordOf(row), Entry: &Entry{j: j, n: row.N, kind: KindCall, decision: Allowed, intended: true}}
	for _, e := range events {
		m, unread := readMeta(e)
		c, odd := readContent(e)
		if unread != nil || odd != nil {
			return t, false, nil // the check of the journal tells of it; nobody is kept from starting
		}
		switch {
		case e.Kind == evProposed:
			var d struct {
				Call, Turn, Edits string
				ServerHash        string `json:"server_hash"`
			}
			if len(c.Detail) > 0 && json.Unmarshal(c.Detail, &d) != nil {
				return t, false, nil
			}
			t.Call, t.Turn, t.Edits, t.ServerHash, t.Definition = d.Call, d.Turn, d.Edits, d.ServerHash, m.Definition
		case e.Kind == evAttempt && m.What == AttemptTask:
			t.Task, t.Begun = c.Detail, e.Time
		}
	}
	return t, t.Call != "" && len(t.Task) > 0, nil
}
