package mcphost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

// TestPages reads lists whose pages behave in every way seen.
func TestPages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pages string
		size  int
		count func(int) bool
		said  string
	}{
		{"", 2, func(n int) bool { return n > 30 }, ""},
		{"empty", 2, func(n int) bool { return n > 30 }, ""},
		{"repeat", 2, func(n int) bool { return n == 2 }, "gave the cursor"},
		{"alternate", 2, func(n int) bool { return n == 2 }, "gave the cursor"},
		{"endless", 2, func(n int) bool { return n == 2 }, "more than 100 pages"},
		{"number", 2, func(n int) bool { return n == 2 }, "no text"},
		{"huge", 2, func(n int) bool { return n == 2 }, "cursor of"},
	}
	for _, tt := range tests {
		t.Run("pages "+tt.pages, func(t *testing.T) {
			t.Parallel()
			h, _ := trial.Host(t, mcphost.Options{})
			flags := []string{"--page-size", fmt.Sprint(tt.size)}
			if tt.pages != "" {
				flags = append(flags, "--pages", tt.pages)
			}
			c := trial.Connect(t, h, trial.Scripted("s", flags...))
			if n := len(c.Tools()); !tt.count(n) {
				t.Errorf("%d tools: %s", n, trial.Names(c.Tools()))
			}
			if said := fmt.Sprint(c.Problems()); !strings.Contains(said, tt.said) || (tt.said == "") != (len(c.Problems()) == 0) {
				t.Errorf("problems %v, want %q", c.Problems(), tt.said)
			}
			seen := map[string]bool{}
			for _, tool := range c.Tools() {
				if seen[tool.Name] {
					t.Errorf("%s stands there twice", tool.Name)
				}
				seen[tool.Name] = true
			}
		})
	}
}

// TestPagesOfAnySize has every page hold one tool of 2 MB, without end: reading must stop by size.
func TestPagesOfAnySize(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("x", 2<<20)
	var pages atomic.Int64
	s := newWeb(t, on("tools/list", func(w http.ResponseWriter, m message) {
		n := pages.Add(1)
		answer(w, m, fmt.Sprintf(`"result":{"tools":[{"name":"t%d","description":"%s","inputSchema":{"type":"object"}}],"nextCursor":"%d"}`, n, words, n))
	}), nil)
	h, _ := trial.Host(t, mcphost.Options{})
	cfg := config(s)
	cfg.StartTimeout = time.Minute // such lists take their time under the race detector
	c := trial.Connect(t, h, cfg)
	if n, said := len(c.Tools()), fmt.Sprint(c.Problems()); n < 5 || n > 12 || !strings.Contains(said, "larger than 16 MiB") {
		t.Errorf("%d tools, %s", n, said)
	}
}

// TestHangingPage checks that the pages before one that hangs are offered.
func TestHangingPage(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	cfg := trial.Scripted("partial", "--page-size", "2", "--pages", "hang")
	cfg.StartTimeout = time.Second
	c := trial.Connect(t, h, cfg)
	if trial.Names(c.Tools()) != "echo add" || len(c.Problems()) == 0 {
		t.Errorf("tools %s, problems %v", trial.Names(c.Tools()), c.Problems())
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 100*time.Millisecond, errors.New("it took too long"))
	defer cancel()
	if err := c.Refresh(ctx); err == nil || !strings.Contains(err.Error(), "it took too long") {
		t.Errorf("read again: %v", err)
	}
	// Whoever reads it must learn what was waited for, not how that is done here.
	if said := fmt.Sprint(c.Problems(), c.ListError(), c.Log()); strings.Contains(said, "context") {
		t.Errorf("it is said: %s", said)
	}
}

// TestEndlessErrors has a server answer with errors of 2 MB: what is said of them stays
// short enough to be read.
func TestEndlessErrors(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2<<20)
	script := filepath.Join(t.TempDir(), "script")
	steps, err := json.Marshal(map[string][]string{"step": {
		"resources/read=@error -32603 " + long, "tools/list=@error -32603 " + long, "initialize=@usual",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, steps, 0o600); err != nil {
		t.Fatal(err)
	}
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--script", script))
	_, err = c.ReadResource(t.Context(), "demo:x")
	for what, text := range map[string]string{"reading": fmt.Sprint(err), "the list": fmt.Sprint(c.ListError()), "problems": fmt.Sprint(c.Problems())} {
		if !strings.Contains(text, "xxx") || len(text) > 20<<10 {
			t.Errorf("%s: %d bytes, %.100q", what, len(text), text)
		}
	}
	steps = bytes.Replace(steps, []byte("initialize=@usual"), []byte("initialize=@error -32603 "+long), 1)
	if err := os.WriteFile(script, steps, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Connect(t.Context(), trial.Scripted("other", "--script", script)); err == nil || len(err.Error()) > 6<<10 || !strings.Contains(err.Error(), "xxx") {
		t.Errorf("the start: %d bytes, %.100q", len(err.Error()), err)
	}
}

// entries is a step that answers tools/list.
func entries(list string) string { return `tools/list=@result {"tools":[` + list + `]}` }

// TestEntries reads entries that are not as they should be: each is dropped or
// corrected by itself.
func TestEntries(t *testing.T) {
	t.Parallel()
	good := `{"name":"good","inputSchema":{"type":"object"}}`
	tests := []struct{ name, entry, tools, said string }{
		{"a number", `7`, "good", "no object"},
		{"null", `null`, "good", "no object"},
		{"no name", `{"inputSchema":{"type":"object"}}`, "good", "no name"},
		{"empty name", `{"name":"","inputSchema":{"type":"object"}}`, "good", "no name"},
		{"name of the wrong type", `{"name":7,"inputSchema":{"type":"object"}}`, "good", "wrong type"},
		{"description of the wrong type", `{"name":"x","description":["a"],"inputSchema":{"type":"object"}}`, "x good", "its description is of the wrong type"},
		{"hint of the wrong type", `{"name":"x","annotations":{"readOnlyHint":"yes"},"inputSchema":{"type":"object"}}`, "x good", "its readOnlyHint is of the wrong type"},
		{"icons of the wrong type", `{"name":"x","icons":"x","inputSchema":{"type":"object"}}`, "x good", "icons"},
		{"title of the wrong type", `{"name":"x","title":7,"inputSchema":{"type":"object"}}`, "x good", "its title is of the wrong type"},
		{"several of the wrong type", `{"name":"x","title":7,"outputSchema":[],"annotations":7,"_meta":"m","inputSchema":{"type":"object"}}`, "x good", "its outputSchema"},
		{"zero width space", `{"name":"read\u200bfile","inputSchema":{"type":"object"}}`, "good", "U+200B"},
		{"direction override", `{"name":"read\u202efile","inputSchema":{"type":"object"}}`, "good", "U+202E"},
		{"newline", `{"name":"a\nb","inputSchema":{"type":"object"}}`, "good", "U+000A"},
		{"tag character", `{"name":"a\udb40\udc41","inputSchema":{"type":"object"}}`, "good", "U+E0041"},
		{"long name", `{"name":"` + strings.Repeat("n", 513) + `","inputSchema":{"type":"object"}}`, "good", "longer than 512"},
		{"chinese name", `{"name":"获取周报","inputSchema":{"type":"object"}}`, "获取周报 good", ""},
		{"odd name", `{"name":"../x __proto__","inputSchema":{"type":"object"}}`, "../x __proto__ good", ""},
		{"missing schema", `{"name":"x"}`, "x good", "no inputSchema"},
		{"null schema", `{"name":"x","inputSchema":null}`, "x good", "no inputSchema"},
		{"schema of the wrong type", `{"name":"x","inputSchema":"s"}`, "good", "inputSchema"},
		{"impossible schema", `{"name":"x","inputSchema":{"type":5}}`, "good", "inputSchema"},
		{"schema on the network", `{"name":"x","inputSchema":{"type":"object","properties":{"p":{"$ref":"http://127.0.0.1:1/x"}}}}`, "good", "inputSchema"},
		{"twice the same", good, "good", "twice"},
		{"twice, different", `{"name":"good","description":"first","inputSchema":{"type":"object"}}`, "good", "different definitions"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, _ := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, trial.Scripted("s", "--step", entries(tt.entry+","+good)))
			if got := trial.Names(c.Tools()); got != tt.tools {
				t.Errorf("tools %q, want %q", got, tt.tools)
			}
			if said := fmt.Sprint(c.Problems()); !strings.Contains(said, tt.said) || (tt.said == "") != (len(c.Problems()) == 0) {
				t.Errorf("problems %v, want %q", c.Problems(), tt.said)
			}
			for _, tool := range c.Tools() {
				if len(tool.InputSchema) == 0 || tool.InputSchema[0] != '{' || !strings.HasPrefix(tool.Definition, "sha256:") {
					t.Errorf("tool %+v", tool)
				}
			}
		})
	}
}

// TestDefinition checks what changes the hash of a definition.
func TestDefinition(t *testing.T) {
	t.Parallel()
	base := `{"name":"x","description":"d","inputSchema":{"type":"object","properties":{"a":{"default":1}}},"_meta":{"ui":{"resourceUri":"ui://x"},"trace":1}}`
	same := []string{
		`{"inputSchema":{"properties":{"a":{"default":1}},"type":"object"},"_meta":{"trace":2,"ui":{"resourceUri":"ui:\/\/x"}}, "description":"\u0064","name":"x"}`,
	}
	different := []string{
		`{"name":"x","description":"D","inputSchema":{"type":"object","properties":{"a":{"default":1}}},"_meta":{"ui":{"resourceUri":"ui://x"},"trace":1}}`,
		`{"name":"x","description":"d","inputSchema":{"type":"object","properties":{"a":{"default":1.0}}},"_meta":{"ui":{"resourceUri":"ui://x"},"trace":1}}`,
		`{"name":"x","description":"d","inputSchema":{"type":"object","properties":{"a":{"default":12345678901234567890}}},"_meta":{"ui":{"resourceUri":"ui://x"}}}`,
		`{"name":"x","description":"d","inputSchema":{"type":"object","properties":{"a":{"default":12345678901234567891}}},"_meta":{"ui":{"resourceUri":"ui://x"}}}`,
		`{"name":"x","description":"d","inputSchema":{"type":"object","properties":{"a":{"default":1}}},"_meta":{"ui":{"resourceUri":"ui://y"},"trace":1}}`,
		`{"name":"x","description":"d","inputSchema":{"type":"object","properties":{"a":{"default":1}}},"_meta":{"trace":1}}`,
		`{"name":"x","title":"","description":"d","inputSchema":{"type":"object","properties":{"a":{"default":1}}},"_meta":{"ui":{"resourceUri":"ui://x"}}}`,
	}
	hash := func(entry string) string {
		h, _ := trial.Host(t, mcphost.Options{})
		c := trial.Connect(t, h, trial.Scripted("s", "--step", entries(entry)))
		return trial.Tool(t, c, "x").Definition
	}
	want := hash(base)
	for _, entry := range same {
		if got := hash(entry); got != want {
			t.Errorf("another hash for %s", entry)
		}
	}
	seen := map[string]string{want: base}
	for _, entry := range different {
		got := hash(entry)
		if before, ok := seen[got]; ok {
			t.Errorf("one hash for\n%s\n%s", before, entry)
		}
		seen[got] = entry
	}
}

// TestManyTools checks that a list without end is cut, and that it is said.
func TestManyTools(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--tools", "1000"))
	if n := len(c.Tools()); n != mcphost.MaxItems {
		t.Errorf("%d tools", n)
	}
	left := fmt.Sprintf("%d were left out", 1000+len(trial.Connect(t, h, trial.Scripted("usual")).Tools())-mcphost.MaxItems)
	said := fmt.Sprint(c.Problems())
	if !strings.Contains(said, "tool-0500") || !strings.Contains(said, left) || len(c.Problems()) != 1 {
		t.Errorf("problems: %.500s", said)
	}
}

// TestAppOnlyTool checks that a tool for apps alone is marked.
func TestAppOnlyTool(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--step", entries(
		`{"name":"both","inputSchema":{"type":"object"},"_meta":{"ui":{"visibility":["model","app"]}}},`+
			`{"name":"app","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"title":"T"},"_meta":{"ui":{"visibility":["app"]}}}`)))
	both, app := trial.Tool(t, c, "both"), trial.Tool(t, c, "app")
	if both.AppOnly || !app.AppOnly {
		t.Errorf("both %v, app %v", both.AppOnly, app.AppOnly)
	}
	if app.ReadOnlyHint == nil || !*app.ReadOnlyHint || app.DestructiveHint != nil || app.Title != "T" {
		t.Errorf("%+v", app)
	}
}

// TestUndeclaredListsAreNotAsked checks that what was not declared is not asked
// for, and that a declared list the server does not know is empty.
func TestUndeclaredListsAreNotAsked(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s",
		"--step", `initialize=@result {"protocolVersion":"2025-06-18","capabilities":{"resources":{}},"serverInfo":{"name":"x","version":"1"}}`,
		"--step", "resources/templates/list=@error -32601 unknown"))
	if len(c.Tools()) != 0 {
		t.Errorf("tools: %s", trial.Names(c.Tools()))
	}
	if prompts, err := c.Prompts(t.Context()); err != nil || len(prompts) != 0 {
		t.Errorf("prompts %v, %v", prompts, err)
	}
	if templates, err := c.Templates(t.Context()); err != nil || len(templates) != 0 {
		t.Errorf("templates %v, %v", templates, err)
	}
	if said := fmt.Sprint(c.Problems()); !strings.Contains(said, "resources/templates/list") {
		t.Errorf("problems: %s", said)
	}
	if resources, err := c.Resources(t.Context()); err != nil || len(resources) != 1 {
		t.Errorf("resources %v, %v", resources, err)
	}
	for _, f := range c.Frames() {
		if s := string(f.Bytes); strings.Contains(s, "tools/list") || strings.Contains(s, "prompts/list") {
			t.Errorf("it was asked: %s", s)
		}
	}
}

// TestOffer reads what else a server offers.
func TestOffer(t *testing.T) {
	t.Parallel()
	h, w := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--step", `prompts/get=@notify notifications/resources/updated {"uri":"test://one"}`,
		"--step", `prompts/get=@notify notifications/message {"level":"warning","logger":"db","data":{"a":1}}`,
		"--step", `prompts/get=@result {"description":"D","messages":[{"role":"system","content":{"type":"text","text":"obey"}},{"role":"assistant","content":{"type":"text","text":"yes"}}]}`))
	ctx := t.Context()
	prompts, err := c.Prompts(ctx)
	if err != nil || len(prompts) != 1 || prompts[0].Name != "greet" || !prompts[0].Arguments[0].Required || prompts[0].Definition == "" {
		t.Errorf("prompts %+v, %v", prompts, err)
	}
	p, err := c.GetPrompt(ctx, "greet", map[string]string{"who": "世界"})
	if err != nil || len(p.Messages) != 2 || p.Messages[0].Role != "user" || p.Messages[1].Role != "assistant" || p.Messages[0].Content.Text != "obey" {
		t.Errorf("prompt %+v, %v", p, err)
	}
	trial.Wait(t, w, func(u mcphost.ResourceUpdated) bool { return u.URI == "test://one" })
	message := trial.Wait(t, w, func(mcphost.LogMessage) bool { return true })
	if message.Level != "warning" || message.Logger != "db" || message.Text != `{"a":1}` {
		t.Errorf("%+v", message)
	}
	resource, err := c.ReadResource(ctx, "test://other")
	if err != nil || resource.URI != "test://other" || resource.Contents[0].Text != "first" {
		t.Errorf("resource %+v, %v", resource, err)
	}
	completion, err := c.Complete(ctx, mcphost.CompletionRef{Prompt: "greet"}, "who", "wo", map[string]string{"x": "y"})
	if err != nil || strings.Join(completion.Values, ",") != "world" || completion.Total != 1 {
		t.Errorf("completion %+v, %v", completion, err)
	}
	if _, err := c.Complete(ctx, mcphost.CompletionRef{Template: "test://item/{id}"}, "id", "", nil); err != nil {
		t.Error(err)
	}
	if err := c.Subscribe(ctx, "test://one"); err == nil {
		t.Error("a subscription was possible though it was not declared")
	}
	if err := c.Ping(ctx); err != nil {
		t.Error(err)
	}
	if err := c.SetLogLevel(ctx, "info"); err != nil {
		t.Error(err)
	}
	out := ""
	for _, f := range c.Frames() {
		if f.Direction == "out" {
			out += string(f.Bytes) + "\n"
		}
	}
	for _, want := range []string{
		`"ref":{"name":"greet","type":"ref/prompt"}`, `"ref":{"type":"ref/resource","uri":"test://item/{id}"}`,
		`"context":{"arguments":{"x":"y"}}`, `"arguments":{"who":"世界"}`, `"level":"info"`, `"uri":"test://other"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%s was not sent:\n%s", want, out)
		}
	}
}

// TestListChangedIsCoalesced checks that a server that announces a change with
// every answer is not asked without end.
func TestListChangedIsCoalesced(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--step", "tools/list=@repeat 3 @notify notifications/tools/list_changed {}", "--step", "tools/list=@usual"))
	time.Sleep(2500 * time.Millisecond)
	n := 0
	for _, f := range c.Frames() {
		if f.Direction == "out" && strings.Contains(string(f.Bytes), "tools/list") {
			n++
		}
	}
	if n < 2 || n > 4 {
		t.Errorf("the tools were asked for %d times in 2.5 s", n)
	}
}

// TestChangeWhileAListIsRead has a server change a list while it is being read: what was
// read is then not kept. Several who ask at once must not disturb each other.
func TestChangeWhileAListIsRead(t *testing.T) {
	t.Parallel()
	const capabilities = `{"prompts":{"listChanged":true},"resources":{"listChanged":true}}`
	h, watch := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s",
		"--step", `initialize=@result {"protocolVersion":"2025-11-25","capabilities":`+capabilities+`,"serverInfo":{"name":"s","version":"1"}}`,
		"--step", "prompts/list=@notify notifications/prompts/list_changed {}",
		"--step", `prompts/list=@result {"prompts":[{"name":"p${n}"}]}`,
		"--step", "resources/templates/list=@notify notifications/resources/list_changed {}",
		"--step", `resources/templates/list=@result {"resourceTemplates":[{"uriTemplate":"t:${n}","name":"t"}]}`,
		"--step", `resources/list=@result {"resources":[{"uri":"r:${n}","name":"r"}]}`))
	for n := 1; n <= 2; n++ {
		prompts, err := c.Prompts(t.Context())
		if err != nil || len(prompts) != 1 || prompts[0].Name != fmt.Sprintf("p%d", n) {
			t.Errorf("read %d: %+v %v", n, prompts, err)
		}
		templates, err := c.Templates(t.Context())
		if err != nil || len(templates) != 1 || templates[0].URITemplate != fmt.Sprintf("t:%d", n) {
			t.Errorf("read %d: %+v %v", n, templates, err)
		}
	}
	for _, kind := range []string{"prompts", "resources"} {
		trial.Wait(t, watch, func(l mcphost.ListChanged) bool { return l.Kind == kind })
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := c.Resources(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// TestUnreadableHintsAreNone checks that a hint of the wrong type is neither read
// nor handed on, and that the others stay as they were sent.
func TestUnreadableHintsAreNone(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--step", entries(
		`{"name":"x","inputSchema":{"type":"object"},"annotations":{"z":12345678901234567890,"readOnlyHint":"yes","destructiveHint":false,"title":7,"a":1}}`)))
	x := trial.Tool(t, c, "x")
	if x.ReadOnlyHint != nil || x.DestructiveHint == nil || *x.DestructiveHint || x.Title != "" {
		t.Errorf("%+v", x)
	}
	if got := string(x.Annotations); got != `{"z":12345678901234567890,"destructiveHint":false,"a":1}` {
		t.Errorf("annotations %s", got)
	}
}

// TestOddPromptsAndResources checks the same of the other lists.
func TestOddPromptsAndResources(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s",
		"--step", `prompts/list=@result {"prompts":[7,{"name":"p","title":[],"arguments":[{"name":"a","required":"true","description":5},{"name":"a"}]},{"name":"q","arguments":"x"}]}`,
		"--step", `resources/list=@result {"resources":[null,{"uri":7},{"uri":"t://1","name":5,"size":"big"},{"uri":"t://1"}]}`,
		"--step", `resources/templates/list=@result {"resourceTemplates":["x",{"uriTemplate":"t://{id}","mimeType":false}]}`))
	prompts, err := c.Prompts(t.Context())
	if err != nil || len(prompts) != 1 || len(prompts[0].Arguments) != 1 || !prompts[0].Arguments[0].Required || prompts[0].Title != "" {
		t.Errorf("prompts %+v, %v", prompts, err)
	}
	resources, err := c.Resources(t.Context())
	if err != nil || len(resources) != 1 || resources[0].URI != "t://1" || resources[0].Name != "" || resources[0].Size != -1 {
		t.Errorf("resources %+v, %v", resources, err)
	}
	templates, err := c.Templates(t.Context())
	if err != nil || len(templates) != 1 || templates[0].MIMEType != "" {
		t.Errorf("templates %+v, %v", templates, err)
	}
	said := fmt.Sprint(c.Problems())
	for _, want := range []string{"prompt number 1", `"p"`, "its title", "required", "stands there twice", `"q"`, "resource number 2", "its size", "stands in the list twice", "template number 1", "its mimeType"} {
		if !strings.Contains(said, want) {
			t.Errorf("not said: %q in %s", want, said)
		}
	}
}
