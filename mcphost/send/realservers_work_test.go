package send_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"steward/mcphost"
	"steward/mcphost/send"
)

// TestServerGit works on a repository through git-mcp-server: 28 tools with large schemas, structured results, a
// resource and a prompt.
func TestServerGit(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git here")
	}
	folder := filepath.Join(t.TempDir(), "repo")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	c := npmServer(t, mcphost.ServerConfig{Env: map[string]string{
		"HOME": home, "MCP_LOG_LEVEL": "error", "MCP_TRANSPORT_TYPE": "stdio", "LOGS_DIR": filepath.Join(home, "logs"), "GIT_SIGN_COMMITS": "false",
		"GIT_USERNAME": "A", "GIT_EMAIL": "a@example.com", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.com",
	}}, "@cyanheads/git-mcp-server/dist/index.js")
	if n := len(c.Tools()); n < 25 {
		t.Errorf("%d tools", n)
	}
	for _, p := range c.Problems() {
		t.Errorf("%+v", p)
	}
	if err := os.WriteFile(filepath.Join(folder, "文件.txt"), []byte("one\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := fmt.Sprintf(`"path":%q`, folder)
	for _, r := range []real{
		{tool: "git_init", arguments: `{` + path + `,"initialBranch":"main"}`, says: "main"},
		{tool: "git_set_working_dir", arguments: `{` + path + `}`, says: folder},
		{tool: "git_add", arguments: `{` + path + `,"all":true}`, says: "success"},
		{tool: "git_commit", arguments: `{` + path + `,"message":"第一 \"commit\""}`, says: "success"},
		{tool: "git_log", arguments: `{` + path + `,"maxCount":1}`, says: "第一"},
		{tool: "git_status", arguments: `{` + path + `}`, says: "main"},
		{tool: "git_show", arguments: `{` + path + `,"object":"no-such-thing"}`, outcome: send.ToolError},
	} {
		got := do(t, call(t, c, r.tool, r.arguments))
		if r.outcome == "" {
			r.outcome = send.OK
		}
		if got.Outcome != r.outcome || !strings.Contains(text(got)+string(got.Raw), r.says) || len(got.Notes) > 0 {
			t.Errorf("%s: %s %s %.400s %v", r.tool, got.Outcome, got.Reason, text(got), got.Notes)
		}
	}
	if out, err := exec.Command("git", "-C", folder, "log", "--format=%s").Output(); err != nil || strings.TrimSpace(string(out)) != `第一 "commit"` {
		t.Errorf("git itself says %q, %v", out, err)
	}
	readAll(t, c)
	if prompts, err := c.Prompts(t.Context()); err != nil || len(prompts) == 0 {
		t.Errorf("%+v, %v", prompts, err)
	} else if p, err := c.GetPrompt(t.Context(), prompts[0].Name, nil); err != nil || len(p.Messages) == 0 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestServerPDF is a server with an MCP App: some of its tools are for the page alone, and the page is a resource.
func TestServerPDF(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "one.pdf")
	if err := os.WriteFile(file, onePage(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := npmServer(t, mcphost.ServerConfig{}, "@modelcontextprotocol/server-pdf/dist/index.js", "--stdio", file)
	appOnly := map[string]bool{}
	for _, tool := range c.Tools() {
		appOnly[tool.Name] = tool.AppOnly
	}
	for name, want := range map[string]bool{"list_pdfs": false, "display_pdf": false, "read_pdf_bytes": true, "save_pdf": true} {
		if got, there := appOnly[name]; !there || got != want {
			t.Errorf("%s: there %v, for the page alone %v", name, there, got)
		}
	}
	if r := do(t, call(t, c, "list_pdfs", `{}`)); r.Outcome != send.OK || !strings.Contains(text(r)+string(r.Structured), "one.pdf") {
		t.Errorf("%s %s %s", r.Outcome, r.Reason, text(r))
	}
	if r := do(t, call(t, c, "display_pdf", fmt.Sprintf(`{"url":%q}`, file))); r.Outcome != send.OK || text(r) == "" {
		t.Errorf("the text form of an app: %s %s %s %s", r.Outcome, r.Reason, text(r), r.Structured)
	}
	for _, r := range readAll(t, c) {
		if r.MIMEType != "text/html;profile=mcp-app" || !strings.HasPrefix(r.URI, "ui://") {
			t.Errorf("%+v", r)
		}
	}
}

// onePage is a small PDF file.
func onePage() []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	var at []int
	for i, object := range []string{
		"<</Type/Catalog/Pages 2 0 R>>", "<</Type/Pages/Kids[3 0 R]/Count 1>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>",
	} {
		at = append(at, b.Len())
		fmt.Fprintf(&b, "%d 0 obj%sendobj\n", i+1, object)
	}
	table := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&b, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, table)
	return b.Bytes()
}
