package send_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// Real servers from npm, on the Node.js that testdata/npm locks. What is asked for is asked for of each kind: tools,
// prompts, resources; and nothing that is offered is left out.

// real is one call of a tool of a real server.
type real struct {
	tool, arguments, says string
	outcome               string // "" is ok
}

// callAll makes the calls in order, and fails where a tool is offered that none of them calls.
func callAll(t *testing.T, c *mcphost.Connection, calls []real) {
	t.Helper()
	left := map[string]bool{}
	for _, tool := range c.Tools() {
		left[tool.Name] = true
	}
	for _, r := range calls {
		delete(left, r.tool)
		k := call(t, c, r.tool, r.arguments)
		k.Timeout = 0 // the usual one
		got := do(t, k)
		outcome := r.outcome
		if outcome == "" {
			outcome = send.OK
		}
		if said := text(got) + string(got.Raw); got.Outcome != outcome || !strings.Contains(said, r.says) {
			t.Errorf("%s %s: %s %s %.600s", r.tool, r.arguments, got.Outcome, got.Reason, said)
		}
	}
	for name := range left {
		t.Errorf("the tool %s is offered, and no test calls it", name)
	}
	for _, p := range c.Problems() {
		t.Errorf("a real server's offer has a problem: %+v", p)
	}
}

// npmServer connects to a real server over stdio.
func npmServer(t *testing.T, cfg mcphost.ServerConfig, script string, args ...string) *mcphost.Connection {
	t.Helper()
	h, _ := trial.Host(t, mcphost.Options{})
	cfg.ID, cfg.Command, cfg.Args = "s", trial.Node(t), append([]string{trial.NPM(t, script)}, args...)
	return trial.Connect(t, h, cfg)
}

// readAll reads every resource.
func readAll(t *testing.T, c *mcphost.Connection) []mcphost.Resource {
	t.Helper()
	resources, err := c.Resources(t.Context())
	if err != nil || len(resources) == 0 {
		t.Fatalf("%d resources: %v", len(resources), err)
	}
	for _, r := range resources {
		got, err := c.ReadResource(t.Context(), r.URI)
		if err != nil || len(got.Contents) == 0 || got.Contents[0].Text == "" && len(got.Contents[0].Data) == 0 {
			t.Errorf("%s: %+v, %v", r.URI, got, err)
		}
	}
	return resources
}

// TestServerEverything uses all that server-everything offers, over each transport.
func TestServerEverything(t *testing.T) {
	t.Parallel()
	const script = "@modelcontextprotocol/server-everything/dist/index.js"
	for name, cfg := range map[string]func(t *testing.T) mcphost.ServerConfig{
		"stdio": func(t *testing.T) mcphost.ServerConfig {
			return mcphost.ServerConfig{Command: trial.Node(t), Args: []string{trial.NPM(t, script), "stdio"}}
		},
		"http": func(t *testing.T) mcphost.ServerConfig {
			return mcphost.ServerConfig{URL: trial.Serve(t, script, "streamableHttp") + "/mcp"}
		},
		"sse": func(t *testing.T) mcphost.ServerConfig {
			return mcphost.ServerConfig{URL: trial.Serve(t, script, "sse") + "/sse", Transport: mcphost.TransportSSE}
		},
		"sse, found out": func(t *testing.T) mcphost.ServerConfig {
			return mcphost.ServerConfig{URL: trial.Serve(t, script, "sse") + "/sse"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serverEverything(t, cfg(t))
		})
	}
}

func serverEverything(t *testing.T, cfg mcphost.ServerConfig) {
	root := filepath.Join(t.TempDir(), "shared-folder")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	cfg.ID, cfg.Sampling, cfg.Roots = "s", true, []string{root}
	h, _ := trial.Host(t, mcphost.Options{Asker: asker{
		elicit: func(_ context.Context, e mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
			if e.Mode == "url" {
				return mcphost.ElicitAnswer{Action: "decline"}, nil
			}
			return mcphost.ElicitAnswer{Action: "accept", Content: json.RawMessage(`{"name":"Ada"}`)}, nil
		},
		sample: func(context.Context, mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
			return mcphost.SamplingAnswer{Model: "m", Text: "Forty-two."}, nil
		},
	}})
	c := trial.Connect(t, h, cfg)
	if c.Protocol() != "2025-11-25" {
		t.Errorf("protocol %s", c.Protocol())
	}
	// Some tools come only when the server knows what this host can do.
	for until := time.Now().Add(time.Minute); !strings.Contains(trial.Names(c.Tools()), "get-roots-list") && time.Now().Before(until); {
		time.Sleep(20 * time.Millisecond)
	}
	callAll(t, c, []real{
		{tool: "echo", arguments: `{"message":"你好 <b>&"}`, says: `Echo: 你好 <b>&`},
		{tool: "get-annotated-message", arguments: `{"messageType":"error","includeImage":true}`, says: `"image"`},
		{tool: "get-env", arguments: `{}`, says: `PATH`},
		{tool: "get-resource-links", arguments: `{"count":2}`, says: `demo://resource/dynamic/text/2`},
		{tool: "get-resource-reference", arguments: `{"resourceType":"Text","resourceId":1}`, says: `demo://resource/dynamic/text/1`},
		{tool: "get-structured-content", arguments: `{"location":"Chicago"}`, says: `"structuredContent":{"temperature":`},
		{tool: "get-sum", arguments: `{"a":2,"b":3.5}`, says: `5.5`},
		{tool: "get-tiny-image", arguments: `{}`, says: `image/png`},
		{tool: "gzip-file-as-resource", arguments: `{"name":"a.gz","data":"data:text/plain,hello","outputType":"resource"}`, says: `application/gzip`},
		{tool: "toggle-simulated-logging", arguments: `{}`, says: `Started simulated`},
		{tool: "toggle-subscriber-updates", arguments: `{}`, says: `Started simulated`},
		{tool: "trigger-long-running-operation", arguments: `{"duration":0.2,"steps":4}`, says: `Steps: 4`},
		{tool: "get-roots-list", arguments: `{}`, says: `shared-folder`},
		{tool: "trigger-elicitation-request", arguments: `{}`, says: `Ada`},
		{tool: "trigger-url-elicitation", arguments: `{"url":"https://example.com/x","message":"m"}`, says: `declined`},
		{tool: "trigger-sampling-request", arguments: `{"prompt":"hello","maxTokens":50}`, says: `Forty-two.`},
		{tool: "simulate-research-query", arguments: `{"topic":"x"}`, says: `Stage 4: Generating report`},
	})
	everythingPrompts(t, c)
	if n := len(readAll(t, c)); n < 8 {
		t.Errorf("%d resources, with the one that a tool made", n)
	}
	templates, err := c.Templates(t.Context())
	if err != nil || len(templates) != 2 {
		t.Errorf("templates %+v, %v", templates, err)
	}
	for _, uri := range []string{"demo://resource/dynamic/text/7", "demo://resource/dynamic/blob/7"} {
		if r, err := c.ReadResource(t.Context(), uri); err != nil || len(r.Contents) != 1 {
			t.Errorf("%s: %+v, %v", uri, r, err)
		}
	}
	if _, err := c.ReadResource(t.Context(), "demo://nowhere"); err == nil {
		t.Error("a resource that is not there was read")
	}
	if err := c.Subscribe(t.Context(), "demo://resource/dynamic/text/1"); err != nil {
		t.Error(err)
	}
	if err := c.SetLogLevel(t.Context(), "debug"); err != nil {
		t.Error(err)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

func everythingPrompts(t *testing.T, c *mcphost.Connection) {
	prompts, err := c.Prompts(t.Context())
	if err != nil || len(prompts) != 4 {
		t.Errorf("prompts %+v, %v", prompts, err)
	}
	arguments := map[string]map[string]string{
		"args-prompt": {"city": "Zürich", "state": "ZH"}, "completable-prompt": {"department": "Sales", "name": "Eve"},
		"resource-prompt": {"resourceType": "Text", "resourceId": "1"},
	}
	for _, p := range prompts {
		if got, err := c.GetPrompt(t.Context(), p.Name, arguments[p.Name]); err != nil || len(got.Messages) == 0 {
			t.Errorf("%s: %+v, %v", p.Name, got, err)
		}
	}
	got, err := c.Complete(t.Context(), mcphost.CompletionRef{Prompt: "completable-prompt"}, "name", "", map[string]string{"department": "Sales"})
	if err != nil || !slices.Contains(got.Values, "Eve") {
		t.Errorf("names in Sales: %+v, %v", got, err)
	}
}

// TestServerFilesystem gives server-filesystem its folders as roots alone.
func TestServerFilesystem(t *testing.T) {
	t.Parallel()
	root, other := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "笔记.txt"), []byte("第一行\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := npmServer(t, mcphost.ServerConfig{Roots: []string{root}}, "@modelcontextprotocol/server-filesystem/dist/index.js")
	if r := do(t, call(t, c, "list_allowed_directories", `{}`)); !strings.Contains(text(r), root) {
		t.Errorf("%+v", r)
	}
	if r := do(t, call(t, c, "read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(root, "笔记.txt")))); text(r) != "第一行\n" {
		t.Errorf("%+v", r)
	}
	if r := do(t, call(t, c, "list_directory", fmt.Sprintf(`{"path":%q}`, other))); r.Outcome != send.ToolError {
		t.Errorf("a folder that is no root: %+v", r)
	}
}

// TestServerMemory makes a graph, changes it and takes it apart.
func TestServerMemory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "memory.jsonl")
	c := npmServer(t, mcphost.ServerConfig{Env: map[string]string{"MEMORY_FILE_PATH": file}}, "@modelcontextprotocol/server-memory/dist/index.js")
	callAll(t, c, []real{
		{tool: "create_entities", arguments: `{"entities":[{"name":"李雷","entityType":"person","observations":["likes tea"]},{"name":"Han","entityType":"person","observations":[]}]}`, says: "李雷"},
		{tool: "create_relations", arguments: `{"relations":[{"from":"李雷","to":"Han","relationType":"knows"}]}`, says: "knows"},
		{tool: "add_observations", arguments: `{"observations":[{"entityName":"Han","contents":["reads"]}]}`, says: "reads"},
		{tool: "search_nodes", arguments: `{"query":"tea"}`, says: "李雷"},
		{tool: "open_nodes", arguments: `{"names":["Han"]}`, says: "reads"},
		{tool: "delete_observations", arguments: `{"deletions":[{"entityName":"Han","observations":["reads"]}]}`, says: "success"},
		{tool: "delete_relations", arguments: `{"relations":[{"from":"李雷","to":"Han","relationType":"knows"}]}`, says: "success"},
		{tool: "delete_entities", arguments: `{"entityNames":["Han"]}`, says: "success"},
		{tool: "read_graph", arguments: `{}`, says: "likes tea"},
	})
	readAll(t, c)
	if kept, err := os.ReadFile(file); err != nil || !bytes.Contains(kept, []byte("李雷")) || bytes.Contains(kept, []byte("Han")) {
		t.Errorf("%s, %v", kept, err)
	}
}

// TestServerSequentialThinking thinks twice; its schema has a type that is a list.
func TestServerSequentialThinking(t *testing.T) {
	t.Parallel()
	c := npmServer(t, mcphost.ServerConfig{}, "@modelcontextprotocol/server-sequential-thinking/dist/index.js")
	callAll(t, c, []real{
		{tool: "sequentialthinking", arguments: `{"thought":"一","nextThoughtNeeded":true,"thoughtNumber":1,"totalThoughts":2}`, says: `"thoughtHistoryLength":1`},
		{tool: "sequentialthinking", arguments: `{"thought":"二","nextThoughtNeeded":false,"thoughtNumber":2,"totalThoughts":2}`, says: `"thoughtHistoryLength":2`},
	})
}
