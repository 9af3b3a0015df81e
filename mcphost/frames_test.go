package mcphost_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
)

// TestFramesHoldNoHalfSecret has a server answer with more than is kept of a message, full of a secret: where the
// message was clipped, the beginning of the secret must not be left.
func TestFramesHoldNoHalfSecret(t *testing.T) {
	t.Parallel()
	const secret = "canary-0123456789-abcdefghijklmnop"
	s := newWeb(t, on("tools/call", func(w http.ResponseWriter, m message) {
		answer(w, m, fmt.Sprintf(`"result":{"content":[{"type":"text","text":"%s"}]}`, strings.Repeat(secret, 2000)))
	}), nil)
	h, _ := trial.Host(t, mcphost.Options{Redact: func(s string) string { return strings.ReplaceAll(s, secret, "[secret]") }})
	c := trial.Connect(t, h, config(s))
	r := callEcho(t, c, "echo")
	cut := 0
	for _, f := range r.Frames {
		if strings.Contains(string(f.Bytes), secret[:6]) {
			t.Errorf("a frame of %d bytes holds a part of the secret", f.Size)
		}
		if f.Cut {
			cut++
			if f.Size < 2000*len(secret) {
				t.Errorf("its size is said to be %d", f.Size)
			}
		}
	}
	if cut != 1 {
		t.Errorf("%d frames are cut", cut)
	}
}

// TestNoiseHoldsNoHalfSecret has a server write more on a line that is no message than is kept of it, full of a secret.
func TestNoiseHoldsNoHalfSecret(t *testing.T) {
	t.Parallel()
	const secret = "canary-0123456789-abcdefghijklmnop"
	h, w := trial.Host(t, mcphost.Options{Redact: func(s string) string { return strings.ReplaceAll(s, secret, "[secret]") }})
	c := trial.Connect(t, h, trial.Scripted("s", "--banner", strings.Repeat(strings.Repeat("x", 20)+secret, 500)))
	n := trial.Wait(t, w, func(mcphost.Noise) bool { return true })
	if strings.Contains(n.Line, secret[:6]) || !strings.Contains(n.Line, "x[secret]x") {
		t.Errorf("it is told as %.80q, at the end %q", n.Line, n.Line[max(0, len(n.Line)-40):])
	}
	for _, l := range c.Log() {
		if strings.Contains(l.Text, secret[:6]) {
			t.Errorf("a line of the log holds a part of the secret: %.80q", l.Text)
		}
	}
}
