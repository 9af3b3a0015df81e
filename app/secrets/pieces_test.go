package secrets

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// assembled puts the strings under a name together, as a reader of the stream would.
func assembled(t *testing.T, stream, name string) string {
	t.Helper()
	var out strings.Builder
	for line := range strings.Lines(stream) {
		if _, object, ok := strings.Cut(line, "data:"); ok && strings.HasPrefix(strings.TrimSpace(object), "{") {
			var v any
			if err := json.Unmarshal([]byte(object), &v); err != nil {
				t.Fatalf("%s: %v", object, err)
			}
			collect(v, name, &out)
		}
	}
	return out.String()
}

func collect(v any, name string, out *strings.Builder) {
	switch v := v.(type) {
	case map[string]any:
		for k, w := range v {
			if s, ok := w.(string); ok && k == name {
				out.WriteString(s)
			} else {
				collect(w, name, out)
			}
		}
	case []any:
		for _, w := range v {
			collect(w, name, out)
		}
	}
}

func TestAValueInPiecesIsMasked(t *testing.T) {
	t.Parallel()
	const secret = `Qm7-"key"-31337/ü`
	var r Redactor
	r.Learn("endpoint key", secret)
	quoted, _ := json.Marshal(secret)
	for size := 1; size < len(secret); size++ {
		var stream strings.Builder
		stream.WriteString(": OPENROUTER PROCESSING\r\n\r\n")
		text := []rune("It is " + secret + ", yes. " + secret)
		for i := 0; i < len(text); i += size {
			piece, _ := json.Marshal(string(text[i:min(i+size, len(text))]))
			fmt.Fprintf(&stream, "data: {\"id\" : \"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\": %s}}]}\r\n\r\n", piece)
		}
		// two calls whose pieces come by turns, the index behind the piece
		arguments := []rune(`{"k":` + string(quoted) + `}`)
		for i := 0; i < len(arguments); i += size {
			piece, _ := json.Marshal(string(arguments[i:min(i+size, len(arguments))]))
			for call := range 2 {
				fmt.Fprintf(&stream, "data:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":%s},\"index\":%d,\"call%d\":%s}]}}]}\n\n", piece, call, call, piece)
			}
		}
		stream.WriteString("data: {\"broken\ndata: [DONE]\n")
		got := string(r.Pieces([]byte(stream.String())))
		whole := strings.Replace(got, "data: {\"broken\n", "", 1)
		if said := assembled(t, whole, "content"); said != "It is [secret:endpoint key], yes. [secret:endpoint key]" && size < len("It is ") {
			t.Errorf("in pieces of %d the text is %q", size, said)
		}
		for call := range 2 {
			if args := called(t, whole, call); strings.Contains(args, "31337") && size < len([]rune(secret))/2 {
				t.Errorf("in pieces of %d the arguments are %q", size, args)
			}
		}
		if !strings.HasPrefix(got, ": OPENROUTER PROCESSING\r\n\r\ndata: {\"id\" : \"c1\",") || !strings.HasSuffix(got, "data: {\"broken\ndata: [DONE]\n") {
			t.Errorf("what is no secret was changed:\n%s", got)
		}
	}
}

// called puts the arguments of one call together.
func called(t *testing.T, stream string, index int) string {
	t.Helper()
	var own strings.Builder
	for line := range strings.Lines(stream) {
		if strings.Contains(line, fmt.Sprintf(`"index":%d,"call`, index)) {
			own.WriteString(line)
		}
	}
	return assembled(t, own.String(), "arguments")
}

func TestPiecesLeavesTheRest(t *testing.T) {
	t.Parallel()
	var r Redactor
	r.Learn("k", "SENTINEL-value-1")
	for _, s := range []string{"", "<html>{}</html>", `{"error":{"message":"no"}}`, "data: {\"a\":[[[\"x\"]]]}\n\ndata: {\"a\":[[[\"y\"]]]}\n\n", strings.Repeat("[", 10000), "{" + strings.Repeat(`"a":{`, 10000)} {
		if got := string(r.Pieces([]byte(s))); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func BenchmarkPieces(b *testing.B) {
	var r Redactor
	r.Learn("k", "SENTINEL-value-1")
	stream := []byte(strings.Repeat("data: {\"id\":\"chatcmpl-123456\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\" word\"},\"finish_reason\":null}]}\n\n", 4000))
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		r.Pieces(stream)
	}
}
