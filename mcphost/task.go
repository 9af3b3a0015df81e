package mcphost

import (
	"encoding/json"
	"fmt"
	"time"

	"steward/mcphost/internal/wire"
)

// Limits of tasks.
const (
	// TaskTimeout is the longest time in all that a call which the server works on as
	// a task is followed, where no limit of its own is set for the server's calls. A
	// server that keeps its task for a shorter time (ttl) is followed that long.
	TaskTimeout = 24 * time.Hour
	// taskTTL is how long a server is asked to keep a task and its result (MCP
	// 2025-11-25, basic/utilities/tasks, ttl): as long as it may be followed, so that
	// it is still there when this program was closed meanwhile.
	taskTTL = TaskTimeout

	// The pause between two looks at a task: what the server asks for, within bounds.
	defaultPoll = time.Second
	minPoll     = 50 * time.Millisecond
	maxPoll     = 5 * time.Minute
	// maxTaskRounds is how often a task may ask for input. A task that runs for hours may
	// ask often, yet one that asks for ever would fill the record.
	maxTaskRounds = 100
	// taskTries is how often in a row a server may answer a look at a task with an error.
	taskTries = 5
	// lostTries is how often in a row it may not be reached for one, lostPause the first
	// pause between two tries; each further one is twice as long, so that a network may be
	// away for half a minute.
	lostTries = 9
	lostPause = 100 * time.Millisecond
	// abandonedFor is how long a task that was cancelled here is looked at, to learn
	// whether it was finished all the same.
	abandonedFor = time.Minute
	// taskFrames is how many frames of a followed task are kept.
	taskFrames = 64
)

// The two forms of tasks, by the version of the protocol they came with.
const (
	// TaskCore is that of MCP 2025-11-25: the result is fetched with tasks/result.
	TaskCore = "2025-11-25"
	// TaskExtension is that of io.modelcontextprotocol/tasks 2026-07-28: the answer
	// to tasks/get holds the result.
	TaskExtension = "2026-07-28"
)

// Task is what must be kept of a task to follow it on later, also after a restart.
type Task struct {
	ID   string `json:"taskId"`
	Form string `json:"form"` // TaskCore or TaskExtension
	// TTL is how long the server keeps the task from its creation on, in
	// milliseconds; 0 where it is without limit or not said.
	TTL int64 `json:"ttlMs,omitempty"`
	// Poll is how long the server wants not to be asked, in milliseconds.
	Poll int64 `json:"pollMs,omitempty"`
}

// taskState is what a server says of a task.
type taskState struct {
	Task
	status  string
	message string
	fields  map[string]json.RawMessage
}

func (t taskState) terminal() bool {
	return t.status == "completed" || t.status == "failed" || t.status == "cancelled"
}

// interval is the pause before the next look.
func (t Task) interval() time.Duration {
	if t.Poll <= 0 {
		return defaultPoll
	}
	return min(max(time.Duration(min(t.Poll, int64(maxPoll/time.Millisecond)))*time.Millisecond, minPoll), maxPoll)
}

// keeps is how long the server keeps the task; 0 is without limit.
func (t Task) keeps() time.Duration {
	return time.Duration(min(t.TTL, int64(TaskTimeout/time.Millisecond)+1)) * time.Millisecond
}

// readCreated reads the answer to tools/call where it is a task. What decides is the
// answer's shape, not the version of the protocol: servers mix the two.
func readCreated(result json.RawMessage) (t taskState, ok bool) {
	m, _ := fields(result)
	switch {
	case str(m["resultType"]) == "task":
		t = readTask(m)
		t.Form = TaskExtension
	case object(m["task"]) != nil && absent(m["content"]) && absent(m["structuredContent"]):
		t = readTask(m)
		t.Form = TaskCore
	default:
		return taskState{}, false
	}
	if t.status == "" {
		t.status = "working" // a task begins so
	}
	return t, true
}

// readTask reads the members of a task, also where they stand in a member "task".
func readTask(m map[string]json.RawMessage) taskState {
	if inner, ok := fields(m["task"]); ok && absent(m["taskId"]) {
		m = inner
	}
	t := taskState{status: str(m["status"]), message: short(str(m["statusMessage"]), wire.MaxProgressMessage), fields: m}
	t.ID = str(m["taskId"])
	t.TTL = milliseconds(m["ttlMs"], m["ttl"])
	t.Poll = milliseconds(m["pollIntervalMs"], m["pollInterval"])
	return t
}

// milliseconds reads the first of the values that is there; 0 where it is no duration.
func milliseconds(values ...json.RawMessage) int64 {
	for _, v := range values {
		if absent(v) {
			continue
		}
		if n, ok := number(v); ok && n >= 1 && n < 1<<52 {
			return int64(n)
		}
		return 0
	}
	return 0
}

// asTask reports whether a call is made as a task (MCP 2025-11-25, tool-level
// negotiation): where the tool demands it, and where it allows it as well, because
// only a task goes on when the connection or this program ends before it.
func (c *Connection) asTask(l *live, t Tool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.caps.taskCalls && !l.session.Hello().Modern && t.TaskSupport != ""
}

// taskHint takes notifications/tasks/status (2025-11-25) and notifications/tasks
// (2026-07-28): the task is looked at sooner. What they say is not used, because
// anybody who speaks on the connection could name any task.
func (c *Connection) taskHint(params json.RawMessage) {
	m, _ := fields(params)
	if f := c.taskCall(readTask(m).ID); f != nil {
		select {
		case f.look <- struct{}{}:
		default:
		}
	}
}

// taskProgress takes a progress notification of a call that was answered with a task:
// its token stays valid as long as the task (MCP 2025-11-25, task progress).
func (c *Connection) taskProgress(params json.RawMessage) {
	m, _ := fields(params)
	p, ok := wire.ReadProgress(params)
	if !ok {
		return
	}
	var told func(wire.Progress)
	c.mu.Lock()
	switch f := c.calls[str(m["progressToken"])]; {
	case f == nil:
	case f.task == "":
		f.early = &p // it may have overtaken the news that there is a task
	default:
		told = f.progress
	}
	c.mu.Unlock()
	if told != nil {
		told(p)
	}
}

// taskCall finds the call that a task was made of; nil for none.
func (c *Connection) taskCall(id string) *inflight {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.calls {
		if id != "" && f.task == id {
			return f
		}
	}
	return nil
}

const relatedTask = "io.modelcontextprotocol/related-task"

// related finds the call whose task a request of the server belongs to, and the
// member that the answer must carry (MCP 2025-11-25, associating task-related
// messages).
func (c *Connection) related(params json.RawMessage) (f *inflight, meta json.RawMessage) {
	m, _ := fields(params)
	m, _ = fields(m["_meta"])
	mark, ok := fields(m[relatedTask])
	if !ok {
		return nil, nil
	}
	if f = c.taskCall(str(mark["taskId"])); f == nil {
		return nil, nil
	}
	return f, json.RawMessage(fmt.Sprintf(`{%q:{"taskId":%s}}`, relatedTask, mark["taskId"]))
}
