package shell

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
)

// npmFile is a path below testdata/npm/node_modules, where `make servers` installs real servers and the Node.js that runs
// them.
func npmFile(t *testing.T, path string) string {
	t.Helper()
	full, err := filepath.Abs(filepath.Join("../../testdata/npm/node_modules", path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(full); err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("the real servers are not installed; make servers installs them")
		}
		t.Fatalf("the real servers are not installed; make servers installs them: %v", err)
	}
	return full
}

// realCalls are all tools that server-everything offers this host, in the order they are called, with a part of what each
// answers. The second echo is not asked for: the first is allowed for the whole chat.
var realCalls = []struct{ tool, arguments, says, outcome string }{
	{tool: "echo", arguments: `{"message":"你好 <b>&"}`, says: `你好`},
	{tool: "echo", arguments: `{"message":"once more"}`, says: `once more`},
	{tool: "get-annotated-message", arguments: `{"messageType":"error","includeImage":true}`, says: `image`},
	{tool: "get-env", arguments: `{}`, says: `PATH`},
	{tool: "get-resource-links", arguments: `{"count":2}`, says: `demo://resource/dynamic/text/2`},
	{tool: "get-resource-reference", arguments: `{"resourceType":"Text","resourceId":1}`, says: `demo://resource/dynamic/text/1`},
	{tool: "get-structured-content", arguments: `{"location":"Chicago"}`, says: `temperature`},
	{tool: "get-sum", arguments: `{"a":2,"b":3.5}`, says: `5.5`},
	{tool: "get-tiny-image", arguments: `{}`, says: `image/png`},
	{tool: "gzip-file-as-resource", arguments: `{"name":"a.gz","data":"data:text/plain,hello","outputType":"resource"}`, says: `application/gzip`},
	{tool: "toggle-simulated-logging", arguments: `{}`, says: `Started simulated`},
	{tool: "toggle-subscriber-updates", arguments: `{}`, says: `Started simulated`},
	{tool: "trigger-long-running-operation", arguments: `{"duration":1,"steps":4}`, says: `Steps: 4`},
	{tool: "get-roots-list", arguments: `{}`, says: `shared-folder`},
	{tool: "trigger-elicitation-request", arguments: `{}`, says: `Ada`},
	{tool: "trigger-url-elicitation", arguments: `{"url":"https://example.com/x","message":"m"}`, says: `declined`},
	{tool: "trigger-sampling-request", arguments: `{"prompt":"hello","maxTokens":50}`, says: `Forty-two.`},
	{tool: "simulate-research-query", arguments: `{"topic":"x"}`, says: `# Research Report: x`}, // as a task
}

// Every tool of a real server, called by a model and allowed by keys, with the questions that some of them ask.
func TestFlowEveryToolOfServerEverything(t *testing.T) {
	t.Parallel()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	node, script := npmFile(t, "node-linux-"+arch+"/bin/node"), npmFile(t, "@modelcontextprotocol/server-everything/dist/index.js")
	root := filepath.Join(t.TempDir(), "shared-folder")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	var steps []scriptedmodel.Step
	for _, c := range realCalls {
		steps = append(steps, scriptedmodel.CallTool(c.tool, c.arguments))
		if c.tool == "trigger-sampling-request" {
			steps = append(steps, scriptedmodel.Say("Forty-two."))
		}
	}
	m := scriptedmodel.Start(t, append(steps, scriptedmodel.Say("That was all."), scriptedmodel.Say("Trying everything out"))...)
	list := serversFile(t, map[string]any{"everything": map[string]any{"command": node, "args": []string{script, "stdio"}, "sampling": true}})
	w := flow(t, nil, "--servers", list, "--base-url", m.URL(), "--model", "fake", "--root", root)
	w.ask("Try everything")
	done := func() bool { return w.message("assistant") == "That was all." }
	for !done() {
		w.until("something waits, or all is done", func() bool { return w.next() || done() })
	}
	w.titled("Trying everything out")
	checkReal(w, m)
	w.leave()
}

// next answers the newest of what waits, and says whether anything did.
func (w *seen) next() bool {
	w.t.Helper()
	all := w.now()
	i := slices.IndexFunc(all, func(r record) bool {
		// A request to the model that was let go waits for its second review as soon as the model has answered.
		return r.Outcome == "waiting" || r.Kind == "sampling" && r.Outcome == "running"
	})
	if i < 0 {
		return false
	}
	r := all[i]
	answered := func() bool {
		for _, now := range w.now() {
			if now.Record == r.Record {
				return now.Outcome != r.Outcome || now.Decision != r.Decision
			}
		}
		return false
	}
	switch {
	case r.Kind == "call" && r.Tool == "echo": // more than once: in this chat
		w.answer("echo is allowed in this chat", answered, "Tab", "Tab", "space", "space")
	case r.Kind == "elicitation" && r.Tool == "trigger-url-elicitation":
		w.answer("the address is declined", answered, "Tab", "space")
	case r.Kind == "elicitation":
		w.answer("the form is accepted", answered, fieldKeys(1, append(letters("Ada"), "ctrl+Return")...)...)
	default:
		w.answer(r.Kind+" of "+r.Tool+" is allowed", answered, "ctrl+Return")
	}
	return true
}

func checkReal(w *seen, m *scriptedmodel.Server) {
	w.t.Helper()
	var calls []record
	for _, r := range w.now() {
		if r.Kind == "call" {
			calls = append([]record{r}, calls...)
		}
	}
	if len(calls) != len(realCalls) {
		w.t.Fatalf("%d calls stand in the record, want %d: %+v", len(calls), len(realCalls), calls)
	}
	offered := map[string]bool{}
	for _, name := range toolNames(w.t, m.Requests()[0].Body) {
		offered[strings.TrimPrefix(name, "everything__")] = true
	}
	for i, c := range realCalls {
		r, outcome := calls[i], c.outcome
		delete(offered, c.tool)
		if outcome == "" {
			outcome = "ok"
		}
		if r.Tool != c.tool || r.Outcome != outcome || r.Decision != "allowed" || (r.By == "person") == (i == 1) {
			w.t.Errorf("call %d is %+v, want %s %s", i, r, c.tool, outcome)
		}
		if shown := w.show(r.Record); !strings.Contains(shown, c.says) {
			w.t.Errorf("the result of %s lacks %q:\n%s", c.tool, c.says, shown)
		}
	}
	for name := range offered {
		w.t.Errorf("the tool %s is offered, and was not called", name)
	}
	if p := m.Problems(); len(p) > 0 {
		w.t.Errorf("the endpoint complains: %v", p)
	}
}

// toolNames are the tools that a request to the model offers.
func toolNames(t *testing.T, body []byte) []string {
	t.Helper()
	var request struct {
		Tools []struct{ Function struct{ Name string } }
	}
	if err := json.Unmarshal(body, &request); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range request.Tools {
		names = append(names, tool.Function.Name)
	}
	return names
}
