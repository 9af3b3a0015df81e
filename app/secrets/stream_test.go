package secrets

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// What comes in pieces is redacted as the whole is, wherever it is cut.
func TestAStreamIsRedactedAcrossItsPieces(t *testing.T) {
	t.Parallel()
	var r Redactor
	for label, value := range map[string]string{
		"key": "sk-live-7Qp2ZzT9vvX1", "longer": "sk-live-7Qp2ZzT9vvX1-and-more", "pin": "4711x", "again": "abcabcabc", "cn": "密码是很长的一串",
		"words": "correct horse battery staple",
	} {
		r.Learn(label, value)
	}
	texts := []string{
		"Your key is Bearer sk-live-7Qp2ZzT9vvX1.", "sk-live-7Qp2ZzT9vvX1-and-mor", "sk-live-7Qp2ZzT9vvX1-and-more!", "sk-live-7Qp2ZzT9vv",
		"x4711x 4711x, a4711x 4711", "abcabcabcabcabcabcab", "你好,密码是很长的一串。密码是", "correct horse battery staple correct horse",
		`{"a":"sk-live-7Qp2ZzT9vvX1"} c2stbGl2ZS03UXAyWnpUOXZ2WDE=`, "[secret:key] [secret:k sk-live-7Qp2ZzT9vvX1", "plain text\nwithout any\n", "4711x",
	}
	for _, text := range texts {
		want := r.Known(text)
		rng := rand.New(rand.NewPCG(1, uint64(len(text))))
		for round := range 200 {
			s, rest, got := r.Stream(), text, ""
			for rest != "" {
				n := 1
				if round > 0 {
					n += rng.IntN(len(rest))
				}
				got, rest = got+s.Push(rest[:n]), rest[n:]
			}
			if got += s.Rest(); got != want {
				t.Fatalf("%q became %q, as a whole %q", text, got, want)
			}
			if strings.Contains(got, "7Qp2ZzT9vvX1") {
				t.Fatalf("the key is in %q", got)
			}
		}
	}
	s := r.Stream()
	if got := s.Push("Hello."); got != "Hello." {
		t.Errorf("harmless text is held back: %q", got)
	}
	if got := s.Push(" Keep s"); got != " Keep " {
		t.Errorf("what may be a key is shown: %q", got)
	}
}

// The zero Redactor knows nothing and lets everything through at once.
func TestAStreamWithoutSecrets(t *testing.T) {
	t.Parallel()
	var r Redactor
	if s := r.Stream(); s.Push("password=hunter22") != "password=hunter22" || s.Rest() != "" {
		t.Error("text was changed or held back")
	}
}
