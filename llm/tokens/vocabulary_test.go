package tokens

import (
	"bytes"
	"compress/gzip"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/dlclark/regexp2/v2"
	"github.com/tiktoken-go/tokenizer/codec"
)

// The packed vocabulary is that of a well-kept library. With STEWARD_VOCABULARY=write the test
// writes it anew.
func TestTheVocabularyIsTheLibrarys(t *testing.T) {
	t.Parallel()
	reference := codec.NewO200kBase()
	var want bytes.Buffer
	for id := uint(0); ; id++ {
		token, err := reference.Decode([]uint{id})
		if err != nil {
			break
		}
		want.WriteByte(byte(len(token)))
		want.WriteString(token)
	}
	if os.Getenv("STEWARD_VOCABULARY") == "write" {
		var out bytes.Buffer
		z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
		if err == nil {
			_, err = z.Write(want.Bytes())
		}
		if err == nil {
			err = z.Close()
		}
		if err == nil {
			err = os.WriteFile("o200k_base.gz", out.Bytes(), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Skip("written; run the test again")
	}
	v := unpack(packed)
	if v == nil {
		t.Fatal("it cannot be unpacked")
	}
	var got bytes.Buffer
	for rank := range v.begins {
		token := v.token(uint32(rank))
		got.WriteByte(byte(len(token)))
		got.Write(token)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Fatalf("%d tokens of %d bytes, the library has others: %d bytes", len(v.begins), got.Len(), want.Len())
	}
}

// expression is that of o200k_base as tiktoken publishes it. The brackets around it keep the library
// from using the code it has generated for it, which cuts blank lines in another way than the
// expression does.
const expression = `(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|` +
	`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)`

// Pieces are those of the published expression, and each is as many tokens as the library says.
func TestCountingAgreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	reference, cut := codec.NewO200kBase(), regexp2.MustCompile(expression, regexp2.None)
	check := func(text string) {
		t.Helper()
		rest := text
		for m, err := cut.FindStringMatch(text); m != nil || err != nil; m, err = cut.FindNextMatch(m) {
			if err != nil {
				t.Fatal(err)
			}
			want := m.String()
			if got := rest[:piece(rest)]; got != want {
				t.Fatalf("%q: the next piece is %q here, %q by the expression", text, got, want)
			}
			rest = rest[len(want):]
			if strings.TrimSpace(want) == "" {
				continue // see expression
			}
			tokens, err := reference.Count(want)
			if err != nil {
				t.Fatal(err)
			}
			if got := whole(want); got != tokens {
				t.Fatalf("%q is %d tokens here, %d in the library", want, got, tokens)
			}
		}
		if rest != "" {
			t.Fatalf("%q: %q is left", text, rest)
		}
	}
	for _, text := range []string{
		"", " ", "  ", "   x", "\n", " \n", "\n\n  \n x", "a\r\nb", "\t\tif x {\n\t\t\treturn\n\t\t}\n", "Hello, world!", "don't DON'T we'LL I'm they'd you'vé it'ſ x'l 're",
		"HTTPServer parseJSON camelCase ABCdef ABC", "1234567 3.14159 2025-03-17", "https://example.com/a/b?c=d#e", "{\"a\":[1,2,{\"b\":null}]}", "/* c */\n//\n///\n",
		"你好世界", "你好ABC世界abc", "こんにちは、カタカナ", "한국어 문장", "Привет, мир! ПРИВЕТ", "שלום עולם", "हिन्दी में", "e\u0301e\u0301 \u0301x a\u0301B", "👩\u200d👩\u200d👧 🇳🇴 😀😀", "Ⅷ ½ ²³ ٣٤٥٦",
		"\u00a0\u2003x", "a\u200bb", "ǅ ǅa aǅ", strings.Repeat("=", 200), strings.Repeat("ab", 300), "tail   ", "tail \n\n\n",
	} {
		check(text)
	}
	alphabet := []string{"a", "B", "é", "ß", "Ω", "文", "ー", "ʰ", "\u0301", "ǅ", "1", "٣", "½", " ", "  ", "\t", "\n", "\r\n", "\u00a0", "'", "'s", "'LL", "/", "-", ".", "_", "{", "\"", "😀", "the", "Word", "JSON", "\u200d"}
	rng := rand.New(rand.NewPCG(7, 8))
	for range 4000 {
		var b strings.Builder
		for range 1 + rng.IntN(14) {
			b.WriteString(alphabet[rng.IntN(len(alphabet))])
		}
		check(b.String())
	}
}

// Bytes that are no vocabulary are none, and no panic.
func TestUnpackingSomethingElse(t *testing.T) {
	t.Parallel()
	var cut bytes.Buffer
	z := gzip.NewWriter(&cut)
	if _, err := z.Write([]byte{200, 'a'}); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, in := range [][]byte{nil, []byte("x"), packed[:len(packed)/2], cut.Bytes()} {
		if v := unpack(in); v != nil {
			t.Errorf("%d bytes were read as %d tokens", len(in), len(v.begins))
		}
	}
}
