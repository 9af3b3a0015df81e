package app

import (
	"context"
	"strings"
	"testing"

	"steward/app/config"
	"steward/app/event"
	"steward/mcphost"
)

func TestWhatCountsAsASecret(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, value string
		want        bool
	}{
		{"API_TOKEN", "abcd", true}, {"TOK", "SENTINEL-q8Zr2Lw7Xk7", true}, {"key", "a1b2c3d4", true}, {"X", strings.Repeat("0123456789abcdef", 2), true},
		{"PWD_OF_DB", "correct-horse-battery", true}, {"DB_DSN", "user:pw1234567890@tcp(db)/x", true},
		{"MAX_TOKENS", "4096", false}, {"MAX_TOKENS_A_DAY", "100000", false}, {"AUTH_MODE", "default", false}, {"MODEL", "claude-3-5-sonnet-20241022", false}, {"PROJECT", "my-project-123456", false},
		{"LANG", "en_US.UTF-8", false}, {"DIR", "/home/me/q8Zr2Lw7Xk/x", false}, {"NAME", "MyProject2024Final", false}, {"ID", "550e8400-e29b-41d4-a716-446655440000", false}, {"V", "1.2.3-beta4", false},
	} {
		if got := isSecret(tc.name, tc.value); got != tc.want {
			t.Errorf("%s=%s: %v, want %v", tc.name, tc.value, got, tc.want)
		}
	}
}

func TestSettingsAreShownWithoutSecrets(t *testing.T) {
	t.Parallel()
	for _, c := range []config.Server{
		{Name: "s", URL: "https://host/mcp?token=CANARY-1&page=2"}, {Name: "s", URL: "https://me:CANARY-2@host/mcp"}, {Name: "s", URL: "https://CANARY-token-3@host/mcp"},
		{Name: "s", Command: "x", Args: []string{"--api-key=CANARY-4", "-v"}}, {Name: "s", Command: "x", Args: []string{"--token", "CANARY-5"}}, {Name: "s", Command: "x", Args: []string{"postgres://u:CANARY-6@db/x"}},
	} {
		if shown := commandLine(c) + found(c, mcphost.Launch{}) + masked(c)(c.URL); strings.Contains(shown, "CANARY") || !strings.Contains(shown, "secret") {
			t.Errorf("shown as %s", shown)
		}
	}
	if shown := commandLine(config.Server{Name: "s", Command: "x", Args: []string{"--token", "${secret:mine}", "--dir", "/srv"}}); shown != "x --token ${secret:mine} --dir /srv" {
		t.Errorf("shown as %s", shown)
	}
}

func TestWhatAVariablePutsInCountsAsASecret(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, tc := range []struct {
		name, value string
		want        bool
	}{
		{"MY_THING", "hunter-two-three", true}, {"X", "correct horse", true}, {"DB", "postgres://u:pw@db/x", true}, {"Q", "https://h/x?id=7788", true}, {"R", "word/word", true},
		{"SHORT", "abcde", false}, {"DIR", dir, false}, {"DIRS", dir + ":" + dir, false}, {"HOST_URL", "https://example.org/x", false}, {"FLAG", "false", false}, {"N", "1234567.5", false}, {"USER", "somebody", false},
	} {
		if got := insertedSecret(tc.name, tc.value); got != tc.want {
			t.Errorf("%s=%s: %v, want %v", tc.name, tc.value, got, tc.want)
		}
	}
	learnt := map[string]string{}
	s := servers{learn: func(label, value string) { learnt[value] = label }, env: func(name string) (string, bool) { return "value-of-" + name, name != "NONE" },
		expand: func(_ context.Context, text string) (string, error) { return text, nil }}
	s.tell = func(event.Event) {}
	if _, err := s.resolve(config.Server{Name: "s", Command: "x", Env: map[string]string{"A": "Basic ${ONE}", "B": "$TWO", "C": "plain-text-here", "D": "$NONE"}}); err != nil {
		t.Fatal(err)
	}
	if len(learnt) != 2 || learnt["value-of-ONE"] == "" || learnt["value-of-TWO"] == "" {
		t.Errorf("learnt %v", learnt)
	}
}

func TestAKeyAmongArgumentsIsFound(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"k3y9x8c7v6b5n4m3a2s1": true, "tok_9f8a7b6c5d4e3f2a1b": true,
		"@modelcontextprotocol/server-filesystem": false, "claude20241022": false, "server-2025-03-17-final": false, "base64encodeddata": false, "550e8400-e29b-41d4-a716-446655440000": false, "mcp-server-sqlite3": false,
	} {
		shown := commandLine(config.Server{Name: "s", Command: "x", Args: []string{value}})
		if strings.Contains(shown, value) == want {
			t.Errorf("%s is shown as %s", value, shown)
		}
	}
}
