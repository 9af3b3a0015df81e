package scriptedserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// taskTools are the tools that --tasks adds, and what becomes of the task of each.
var taskTools = map[string]string{
	"task":            "done: a text with its arguments",
	"task-tool-error": "done: a result with isError",
	"task-structured": "done: structured content alone",
	"task-input":      "asks for a name first, and greets",
	"task-ask-fails":  "asks for a name first, and fails like task-failed-ok (core)",
	"task-fails":      "fails",
	"task-failed-ok":  "fails, and has a result that is not marked as an error (core)",
	"task-stopped":    "is cancelled by the server",
	"task-odd":        "has the status paused",
	"task-lost":       "is forgotten",
	"task-empty":      "done: an empty object for a result",
	"task-none":       "done: no result",
	"task-no-id":      "has no id",
	"task-forever":    "works until it is cancelled",
	"task-stubborn":   "is finished although it was cancelled",
	"task-hint":       "wants to be asked once an hour, and tells when it is done",
	"task-progress":   "sends progress notifications with the token of its call (core)",
	"task-broken":     "cannot be asked for (-32601)",
}

// task is one task, as it is kept. Its status follows from the clock.
type task struct {
	ID        string
	Tool      string
	Arguments json.RawMessage
	Token     json.RawMessage
	Created   time.Time
	Cancelled bool
	Answer    json.RawMessage `json:",omitempty"` // to task-input
	Answered  time.Time
}

func (s *Server) taskSupport(name string) string {
	if s.o.Tasks != "core" || taskTools[name] == "" {
		return ""
	}
	return `,"execution":{"taskSupport":` + quote(s.o.TaskSupport) + `}`
}

// capabilities are what the server declares.
func (s *Server) capabilities() string {
	switch s.o.Tasks {
	case "core":
		return strings.TrimSuffix(capabilities, "}") + `,"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`
	case "extension":
		return strings.TrimSuffix(capabilities, "}") + `,"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	}
	return capabilities
}

// createTask answers a call with a task; false where it is no call for one.
func (s *Server) createTask(m message) bool {
	var p struct {
		Name      string
		Arguments json.RawMessage
		Task      json.RawMessage
		Meta      struct {
			ProgressToken json.RawMessage
			Capabilities  struct{ Extensions map[string]json.RawMessage } `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil || taskTools[p.Name] == "" || s.o.Tasks == "" {
		return false
	}
	if s.o.Tasks == "core" && p.Task == nil {
		if s.o.TaskSupport == "required" {
			s.failure(m, -32601, "the tool "+p.Name+" requires task augmentation")
			return true
		}
		return false
	}
	if s.o.Tasks == "extension" && p.Meta.Capabilities.Extensions["io.modelcontextprotocol/tasks"] == nil {
		s.failure(m, -32021, "the client does not declare io.modelcontextprotocol/tasks")
		return true
	}
	t := &task{ID: fmt.Sprintf("task-%d", time.Now().UnixNano()), Tool: p.Name, Arguments: p.Arguments, Token: p.Meta.ProgressToken, Created: time.Now()}
	if err := s.changeTasks(func(all map[string]*task) { all[t.ID] = t }); err != nil {
		s.failure(m, -32603, err.Error())
		return true
	}
	shown := s.showTask(t, "working")
	if p.Name == "task-no-id" {
		shown = `"status":"working"`
	}
	if s.o.Tasks == "core" {
		s.result(m, `{"task":{`+shown+`}}`)
	} else {
		s.result(m, `{"resultType":"task",`+shown+`}`)
	}
	go s.pushTask(t)
	return true
}

// pushTask sends the notifications of a task.
func (s *Server) pushTask(t *task) {
	switch t.Tool {
	case "task-hint":
		time.Sleep(s.o.taskTime())
		method := "notifications/tasks"
		if s.o.Tasks == "core" {
			method = "notifications/tasks/status"
		}
		s.line(`{"jsonrpc":"2.0","method":"` + method + `","params":{` + s.showTask(t, "completed") + `}}`)
	case "task-progress":
		s.line(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(t.Token) + `,"progress":3,"total":4,"message":"three of four"}}`)
	}
}

func (o Options) taskTime() time.Duration { return time.Duration(o.TaskMS) * time.Millisecond }

// showTask writes the members of a task.
func (s *Server) showTask(t *task, status string) string {
	ttl, poll, every := "ttlMs", "pollIntervalMs", s.o.TaskPoll
	if s.o.Tasks == "core" {
		ttl, poll = "ttl", "pollInterval"
	}
	if t.Tool == "task-hint" {
		every = 3600_000
	}
	at := t.Created.UTC().Format(time.RFC3339Nano)
	return fmt.Sprintf(`"taskId":%s,"status":%q,"statusMessage":%s,"createdAt":%q,"lastUpdatedAt":%q,%q:3600000,%q:%d`,
		quote(t.ID), status, quote("The task is "+status+"."), at, at, ttl, poll, every)
}

// status is what the server says of a task now.
func (s *Server) status(t *task) string {
	over := time.Since(t.Created) >= s.o.taskTime()
	switch {
	case t.Cancelled && t.Tool != "task-stubborn":
		return "cancelled"
	// An answer shows a moment later, so that the same question is seen again.
	case (t.Tool == "task-input" || t.Tool == "task-ask-fails") && (t.Answer == nil || s.o.Tasks == "extension" && time.Since(t.Answered) < s.o.taskTime()):
		return "input_required"
	case t.Tool == "task-forever", !over:
		return "working"
	case t.Tool == "task-fails", t.Tool == "task-failed-ok", t.Tool == "task-ask-fails":
		return "failed"
	case t.Tool == "task-stopped":
		return "cancelled"
	case t.Tool == "task-odd":
		return "paused"
	}
	return "completed"
}

// outcome is the result of a task that has ended, or its error.
func (s *Server) outcome(t *task) (result, failure string) {
	text := func(text string) string { return `{"content":[{"type":"text","text":` + quote(text) + `}]` }
	switch t.Tool {
	case "task-tool-error":
		return text("it failed") + `,"isError":true}`, ""
	case "task-structured":
		return `{"content":[],"structuredContent":{"total":36}}`, ""
	case "task-input":
		return text("answered "+string(t.Answer)) + "}", ""
	case "task-fails":
		return "", `{"code":-32050,"message":"out of paper"}`
	case "task-failed-ok", "task-ask-fails":
		return text("half of it") + "}", ""
	case "task-empty":
		return `{}`, ""
	case "task-none":
		return "", ""
	}
	return text("done "+string(t.Arguments)) + "}", ""
}

// askTask answers a request about a task; false where it is none.
func (s *Server) askTask(m message) bool {
	if s.o.Tasks == "" || !strings.HasPrefix(m.Method, "tasks/") {
		return false
	}
	var p struct {
		TaskID         string
		InputResponses map[string]json.RawMessage
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		s.failure(m, -32602, err.Error())
		return true
	}
	all, err := s.readTasks()
	t := all[p.TaskID]
	switch {
	case err != nil:
		s.failure(m, -32603, err.Error())
	case t == nil || t.Tool == "task-lost":
		s.failure(m, -32602, "Failed to retrieve task: Task not found")
	case t.Tool == "task-broken":
		s.failure(m, -32601, "method not found: "+m.Method)
	case m.Method == "tasks/get":
		s.getTask(m, t)
	case m.Method == "tasks/cancel":
		s.cancelTask(m, t)
	case m.Method == "tasks/result" && s.o.Tasks == "core":
		go s.taskResult(m, t)
	case m.Method == "tasks/update" && s.o.Tasks == "extension":
		err := s.changeTasks(func(all map[string]*task) {
			all[t.ID].Answer, all[t.ID].Answered = p.InputResponses["who"], time.Now()
		})
		if err != nil {
			s.failure(m, -32603, err.Error())
			return true
		}
		s.result(m, `{"resultType":"complete"}`)
	default:
		return false
	}
	return true
}

func (s *Server) getTask(m message, t *task) {
	status := s.status(t)
	shown := s.showTask(t, status)
	if s.o.Tasks == "core" {
		s.result(m, "{"+shown+"}")
		return
	}
	result, failure := s.outcome(t)
	switch {
	case status == "input_required":
		shown += `,"inputRequests":{"who":{"method":"elicitation/create","params":` + askName + `}}`
	case status == "completed" && result != "":
		shown += `,"result":` + result
	case status == "failed" && failure != "":
		shown += `,"error":` + failure
	}
	s.result(m, `{"resultType":"complete",`+shown+"}")
}

const askName = `{"mode":"form","message":"Who?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}`

func (s *Server) cancelTask(m message, t *task) {
	if status := s.status(t); status == "completed" || status == "failed" || status == "cancelled" {
		s.failure(m, -32602, "Cannot cancel task in terminal status: "+status)
		return
	}
	if err := s.changeTasks(func(all map[string]*task) { all[t.ID].Cancelled = true; t = all[t.ID] }); err != nil {
		s.failure(m, -32603, err.Error())
		return
	}
	if s.o.Tasks == "core" {
		s.result(m, "{"+s.showTask(t, s.status(t))+"}")
		return
	}
	s.result(m, `{"resultType":"complete"}`)
}

// taskResult waits until a task has ended, asking for input meanwhile, and answers with
// its result.
func (s *Server) taskResult(m message, t *task) {
	asked := false
	for {
		all, err := s.readTasks()
		if t = all[t.ID]; err != nil || t == nil {
			s.failure(m, -32603, "the task has gone")
			return
		}
		switch status := s.status(t); {
		case status == "input_required" && !asked:
			asked = true
			meta := `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":` + quote(t.ID) + `}}}`
			answer := <-(&running{s: s}).ask("elicitation/create", strings.TrimSuffix(askName, "}")+meta)
			if err := s.changeTasks(func(all map[string]*task) { all[t.ID].Answer = answer }); err != nil {
				s.failure(m, -32603, err.Error())
				return
			}
		case status == "completed" || status == "failed" || status == "cancelled":
			s.endTask(m, t)
			return
		}
		select {
		case <-s.done:
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func (s *Server) endTask(m message, t *task) {
	result, failure := s.outcome(t)
	switch {
	case failure != "":
		s.line(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":` + failure + `}`)
	case result == "" || s.status(t) == "cancelled":
		s.failure(m, -32603, "the task has no result")
	default:
		result = strings.TrimSuffix(result, "}")
		if result != "{" {
			result += ","
		}
		s.result(m, result+`"_meta":{"io.modelcontextprotocol/related-task":{"taskId":`+quote(t.ID)+`}}}`)
	}
}

// readTasks and changeTasks keep the tasks in memory, or in --task-file, where they
// outlive the program.
func (s *Server) readTasks() (map[string]*task, error) {
	s.tasking.Lock()
	defer s.tasking.Unlock()
	return s.loadTasks()
}

func (s *Server) changeTasks(change func(map[string]*task)) error {
	s.tasking.Lock()
	defer s.tasking.Unlock()
	all, err := s.loadTasks()
	if err != nil {
		return err
	}
	change(all)
	raw, err := json.Marshal(all)
	if err != nil {
		return err
	}
	if s.o.TaskFile == "" {
		s.tasks = raw
		return nil
	}
	part := filepath.Join(filepath.Dir(s.o.TaskFile), fmt.Sprintf("%s.%d", filepath.Base(s.o.TaskFile), os.Getpid()))
	if err := os.WriteFile(part, raw, 0o600); err != nil {
		return err
	}
	return os.Rename(part, s.o.TaskFile)
}

func (s *Server) loadTasks() (map[string]*task, error) {
	raw := s.tasks
	if s.o.TaskFile != "" {
		var err error
		if raw, err = os.ReadFile(s.o.TaskFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	all := map[string]*task{}
	if len(raw) == 0 {
		return all, nil
	}
	return all, json.Unmarshal(raw, &all)
}
