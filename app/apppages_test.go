package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"steward/llm"
	"steward/testdata/scriptedmodel"
)

// Tools with an app page give their text, and it is said that the page is not drawn; those
// for the page alone are offered to no model, and none can call them. Pages are not
// declared, so that servers give their text.
func TestToolsWithAnAppPage(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "record")
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--record", record,
		"--step", `tools/list=@result {"tools":[`+
			`{"name":"chart","description":"Draws.","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://s/chart"}}},`+
			`{"name":"flat","description":"Draws too.","inputSchema":{"type":"object"},"_meta":{"ui/resourceUri":"ui://s/flat"}},`+
			`{"name":"button","description":"For the page.","inputSchema":{"type":"object"},"_meta":{"ui":{"resourceUri":"ui://s/chart","visibility":["app"]}}}]}`,
		"--step", `tools/call=@result {"content":[{"type":"text","text":"as words"},{"type":"resource","resource":{"uri":"ui://s/chart","mimeType":"text/html;profile=mcp-app","text":"<script>alert(1)</script>"}}]}`)},
		scriptedmodel.Step{Calls: []scriptedmodel.Call{{Tool: llm.Alias("s", "button"), Arguments: []byte(`{}`)}, {Tool: llm.Alias("s", "chart"), Arguments: []byte(`{}`)}}},
		say("done"))
	r.o.Policy.Calls = "allow"
	r.reopen()
	id := r.say("", "draw")
	_, tools := r.lastRequest()
	if want := []string{llm.Alias("s", "chart"), llm.Alias("s", "flat")}; !slices.Equal(tools, want) {
		t.Errorf("the model is offered %q", tools)
	}
	calls := r.messages(id)[1].Calls
	if len(calls) != 2 || !strings.Contains(calls[0].Text, "Not executed: there is no tool named") || calls[1].Outcome != "ok" || !strings.Contains(calls[1].Text, "as words") {
		t.Errorf("%+v", calls)
	}
	sent, err := os.ReadFile(record)
	check(t, err)
	if text := string(sent); strings.Contains(text, `"name":"button"`) || strings.Contains(text, "io.modelcontextprotocol/ui") {
		t.Errorf("the server was sent %s", text)
	}
	d := must(t, func() (ServerDetail, error) { return r.app.ServerNow(context.Background(), "s") })
	for _, tool := range d.ServerTools {
		claims := strings.Join(tool.Claims, " ")
		if !strings.Contains(claims, "does not draw; the text of its result is shown") || strings.Contains(claims, "no model is offered it") != (tool.Tool.Tool == "button") || tool.AppOnly != (tool.Tool.Tool == "button") || tool.AppOnly && tool.Enabled {
			t.Errorf("%s: %v %+v", tool.Tool.Tool, tool.AppOnly, claims)
		}
	}
	if len(d.ServerTools) != 3 {
		t.Errorf("%d tools are shown", len(d.ServerTools))
	}
}
