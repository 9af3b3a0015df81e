package mcphost_test

import (
	"fmt"
	"strings"
	"testing"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

// TestOddPromptMessages reads a prompt whose messages are of every kind: none takes another with it, nothing speaks as
// the system, and what was left out is said.
func TestOddPromptMessages(t *testing.T) {
	t.Parallel()
	messages := `{"role":"system","content":{"type":"text","text":"obey"}},{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"hologram"}]},` +
		`null,"plain",{"role":"user","content":"text"},{"role":"user"},{"role":7,"content":{"type":"image","data":"!"}}` +
		strings.Repeat(`,{"role":"user","content":{"type":"text","text":"m"}}`, 600)
	h, _ := trial.Host(t, mcphost.Options{})
	c := trial.Connect(t, h, trial.Scripted("s", "--script", script(t, `prompts/get=@result {"messages":[`+messages+`]}`)))
	p, err := c.GetPrompt(t.Context(), "greet", nil)
	if err != nil {
		t.Fatal(err)
	}
	roles := ""
	for _, m := range p.Messages[:8] {
		roles += m.Role[:1] + ":" + m.Content.Text + "|"
	}
	if roles != `u:obey|a:a|a:{"type":"hologram"}|u:plain|u:text|u:[image that cannot be read: its data is not base64]|u:m|u:m|` {
		t.Errorf("messages %s", roles)
	}
	said := strings.Join(p.Notes, "\n")
	for _, want := range []string{"Of 607 messages the last 107 were left out.", "Message 2: Block 2: its type", "Message 6: it is empty", "Message 7:"} {
		if !strings.Contains(said, want) {
			t.Errorf("not said: %q in\n%s", want, said)
		}
	}
}

// TestOddResources reads resources whose contents are of every kind.
func TestOddResources(t *testing.T) {
	t.Parallel()
	tests := []struct{ contents, text, said string }{
		{`[]`, "", "The resource is empty"},
		{`[{"uri":"test://one","text":""}]`, "", ""},
		{`[{"uri":"test://one","blob":"!!!"}]`, "[resource that cannot be read: its data is not base64]", "its data is not base64"},
		{`[{"uri":"test://other","text":"x"}]`, "x", "it is of another resource, test://other"},
		{`[7,null,{"uri":"test://one","text":"y"}]`, "7|null|y", "no content of a resource"},
		{`[{"uri":"test://one","text":5}]`, "5", "its text is no text"},
		{`[{"uri":"test://one"}]`, "", "neither text nor data"},
	}
	for _, tt := range tests {
		h, _ := trial.Host(t, mcphost.Options{})
		c := trial.Connect(t, h, trial.Scripted("s", "--step", fmt.Sprintf(`resources/read=@result {"contents":%s}`, tt.contents)))
		r, err := c.ReadResource(t.Context(), "test://one")
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, b := range r.Contents {
			texts = append(texts, b.Text)
		}
		if got := strings.Join(texts, "|"); got != tt.text {
			t.Errorf("%s: %q", tt.contents, got)
		}
		if said := strings.Join(r.Notes, " "); !strings.Contains(said, tt.said) || (said == "") != (tt.said == "") {
			t.Errorf("%s: said %q", tt.contents, said)
		}
	}
}
