package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// maxName is the longest function name the chat completions API takes.
const maxName = 64

// Alias is the name under which a tool of a server is offered to the model. It
// matches [a-zA-Z][a-zA-Z0-9_-]{0,63}, depends on nothing but the two names,
// and differs for different pairs.
//
// It is "server__tool" where both names are safe, short enough, and the pair
// can be read back from it: "__" stands in it exactly once. Any other pair gets
// its names made safe and shortened and a second "__" with a hash of the exact
// names, so that it can equal no plain alias.
func Alias(server, tool string) string {
	plain := server + "__" + tool
	if len(plain) <= maxName && safe(server) && safe(tool) && letter(server[0]) &&
		!strings.Contains(server, "__") && !strings.HasSuffix(server, "_") &&
		!strings.Contains(tool, "__") && !strings.HasPrefix(tool, "_") {
		return plain
	}
	// The length keeps ("a\x00b", "c") and ("a", "b\x00c") apart.
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s%s", len(server), server, tool))
	suffix := "__h" + hex.EncodeToString(sum[:])[:13]
	room := maxName - len(suffix) - len("__")
	s, t := sanitise(server), sanitise(tool)
	if s == "" || !letter(s[0]) {
		s = "s" + s
	}
	if len(s)+len(t) > room {
		s = s[:min(len(s), max(16, room-len(t)))]
		t = t[:min(len(t), room-len(s))]
	}
	return s + "__" + t + suffix
}

// ValidName reports whether a tool can be offered to the model under this name:
// endpoints take [a-zA-Z0-9_-]{1,64}.
func ValidName(name string) bool { return len(name) <= maxName && safe(name) }

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func safeByte(c byte) bool {
	return letter(c) || c >= '0' && c <= '9' || c == '_' || c == '-'
}

func safe(s string) bool {
	for i := range len(s) {
		if !safeByte(s[i]) {
			return false
		}
	}
	return s != ""
}

// sanitise replaces every run of characters that are not safe by one "_".
func sanitise(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r < 0x80 && safeByte(byte(r)):
			b.WriteByte(byte(r))
		case !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
	}
	return b.String()
}
