package mcphost_test

import (
	"strings"
	"testing"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

// TestLargestMessage sets how large a message may be: a larger one fails what it answers,
// says the limit, and leaves the server usable.
func TestLargestMessage(t *testing.T) {
	t.Parallel()
	h, _ := trial.Host(t, mcphost.Options{})
	cfg := trial.Scripted("s", "--tools", "500", "--description", strings.Repeat("d", 4000))
	cfg.MaxFrame = 1 << 20
	c := trial.Connect(t, h, cfg)
	if err := c.ListError(); err == nil || !strings.Contains(err.Error(), "1 MiB") {
		t.Errorf("the list: %v", err)
	}
	if err := c.Ping(t.Context()); err != nil {
		t.Errorf("the server is lost with the message: %v", err)
	}
	cfg.ID, cfg.MaxFrame = "larger", 3<<20
	if c := trial.Connect(t, h, cfg); len(c.Tools()) < 500 || c.ListError() != nil {
		t.Errorf("%d tools, %v", len(c.Tools()), c.ListError())
	}
}
