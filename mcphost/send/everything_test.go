package send_test

import (
	"context"
	"encoding/json"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// TestEverything calls every tool of the SDK's own test server, in the newer
// era, over stdio and over HTTP.
func TestEverything(t *testing.T) {
	t.Parallel()
	bin := filepath.Join(t.TempDir(), "everything-server")
	build := exec.Command("go", "build", "-o", bin, "github.com/modelcontextprotocol/go-sdk/conformance/everything-server")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Run("stdio", func(t *testing.T) {
		everything(t, mcphost.ServerConfig{ID: "everything", Command: bin})
	})
	t.Run("http", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		address := listener.Addr().String()
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		server := exec.Command(bin, "-http", address)
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = server.Process.Kill() // it does not end by itself
			_ = server.Wait()
		})
		for range 100 {
			if conn, err := net.Dial("tcp", address); err == nil {
				_ = conn.Close()
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		everything(t, mcphost.ServerConfig{ID: "everything", URL: "http://" + address + "/mcp"})
	})
}

func everything(t *testing.T, cfg mcphost.ServerConfig) {
	h, w := trial.Host(t, mcphost.Options{Asker: asker{
		elicit: func(context.Context, mcphost.Elicitation) (mcphost.ElicitAnswer, error) {
			return mcphost.ElicitAnswer{Action: "accept", Content: json.RawMessage(`{"name":"n","confirm":true,"ok":true,"step1":"a","step2":"b","color":"red"}`)}, nil
		},
		sample: func(context.Context, mcphost.SamplingRequest) (mcphost.SamplingAnswer, error) {
			return mcphost.SamplingAnswer{Model: "m", Text: "Paris"}, nil
		},
	}})
	cfg.Sampling = true
	c := trial.Connect(t, h, cfg)
	if c.Protocol() != "2026-07-28" {
		t.Fatalf("protocol %s", c.Protocol())
	}
	arguments := map[string]string{
		"test_sampling": `{"prompt":"p"}`, "test_elicitation": `{"message":"m"}`, "test_x_mcp_header": `{"region":"eu","query":"q","priority":1,"verbose":true}`,
	}
	want := map[string]string{
		"test_error_handling":                    "tool_error",
		"test_input_required_result_elicitation": "ok", "test_input_required_result_sampling": "ok",
		"test_input_required_result_list_roots": "ok", "test_input_required_result_request_state": "ok",
		"test_input_required_result_multi_round": "ok", "test_input_required_result_multiple_inputs": "ok",
		"test_simple_text": "ok", "test_image_content": "ok", "test_audio_content": "ok", "test_embedded_resource": "ok",
		"test_multiple_content_types": "ok", "test_tool_with_progress": "ok", "test_x_mcp_header": "ok",
	}
	for _, tool := range c.Tools() {
		args := arguments[tool.Name]
		if args == "" {
			args = `{}`
		}
		k := call(t, c, tool.Name, args)
		var progress []float64
		k.Progress = func(done, _ float64, _ string) { progress = append(progress, done) }
		r := do(t, k)
		t.Logf("%s: %s %s %s %v", tool.Name, r.Outcome, r.Reason, text(r), r.Notes)
		if w := want[tool.Name]; w != "" && r.Outcome != w {
			t.Errorf("%s: %s %s %s", tool.Name, r.Outcome, r.Reason, text(r))
		}
		switch tool.Name {
		case "test_image_content", "test_audio_content":
			if len(r.Content) != 1 || len(r.Content[0].Data) == 0 {
				t.Errorf("%s: %+v", tool.Name, r.Content)
			}
		case "test_embedded_resource":
			if r.Content[0].Type != "resource" || r.Content[0].URI == "" || r.Content[0].Text == "" {
				t.Errorf("%+v", r.Content)
			}
		}
	}
	if r := do(t, call(t, c, "test_trigger_tool_change", `{}`)); r.Outcome != send.OK {
		t.Errorf("%+v", r)
	}
	trial.Wait(t, w, func(l mcphost.ListChanged) bool { return l.Kind == "tools" || strings.HasPrefix(l.Kind, "t") })
	prompts, err := c.Prompts(t.Context())
	if err != nil || len(prompts) == 0 {
		t.Errorf("prompts: %v", err)
	}
	if p, err := c.GetPrompt(t.Context(), "test_input_required_result_prompt", nil); err != nil || len(p.Messages) == 0 {
		t.Errorf("a prompt that asks: %+v, %v", p, err)
	}
	if resources, err := c.Resources(t.Context()); err != nil || len(resources) == 0 {
		t.Errorf("resources: %v", err)
	}
	if err := c.Subscribe(t.Context(), "test://watched-resource"); err != nil {
		t.Error(err)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}
