package wire

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const benchArguments = `{"text":"a short text, as most are"}`

// BenchmarkStdioCall is one tool call through the whole path: Expect, the library,
// the Tap, a child process and back.
func BenchmarkStdioCall(b *testing.B) {
	s := connect(b, setup{version: "2025-11-25"})
	ctx := context.Background()
	for b.Loop() {
		if a := s.call(b, ctx, "echo", benchArguments); a.Err != nil {
			b.Fatal(a.Err)
		}
	}
}

// BenchmarkSDKCommandTransport is the baseline: the same call to the same server
// through the library's own transport.
func BenchmarkSDKCommandTransport(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "steward", Version: "1"}, nil)
	cs, err := client.Connect(ctx, &mcp.CommandTransport{Command: exec.Command(self, "scripted-server")}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		b.Fatal(err)
	}
	defer cs.Close()
	for b.Loop() {
		if _, err := cs.CallTool(ctx, &mcp.CallToolParams{Name: "echo", Arguments: json.RawMessage(benchArguments)}); err != nil {
			b.Fatal(err)
		}
	}
}

func benchMessage() []byte {
	return []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("some text, with a \\\" now and then; ", 30000) + `"}]}}` + "\n")
}

// BenchmarkFramer takes a message of 1 MB apart.
func BenchmarkFramer(b *testing.B) {
	m := benchMessage()
	b.SetBytes(int64(len(m)))
	f := framer{max: DefaultMaxFrame, emit: func(piece) {}}
	for b.Loop() {
		for rest := m; len(rest) > 0; rest = rest[min(chunkSize, len(rest)):] {
			f.feed(rest[:min(chunkSize, len(rest))])
		}
	}
}

// BenchmarkSDKDecode is the baseline: what the library does with the same message.
func BenchmarkSDKDecode(b *testing.B) {
	m := benchMessage()
	b.SetBytes(int64(len(m)))
	for b.Loop() {
		if _, err := jsonrpc.DecodeMessage(m); err != nil {
			b.Fatal(err)
		}
	}
}

// A message of the largest size is read with less than twice its size in memory, and
// one above it fails its call alone.
func TestMemoryIsBounded(t *testing.T) {
	const size = 16 << 20
	s := connect(t, setup{version: "2025-11-25", options: Options{MaxFrame: size}}, "--step", "tool:big=@big 16700000", "--step", "tool:huge=@big 100000000")
	peak := make(chan uint64)
	stop := make(chan struct{})
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	go func() {
		var top uint64
		for {
			select {
			case <-stop:
				peak <- top
				return
			case <-time.After(5 * time.Millisecond):
			}
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			top = max(top, now.HeapInuse)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	if a := s.call(t, ctx, "big", `{}`); len(a.Result) < 16700000 {
		t.Errorf("%d bytes, %v", len(a.Result), a.Err)
	}
	runtime.GC()
	if a := s.call(t, ctx, "huge", `{}`); a.Err == nil || !strings.Contains(a.Err.Error(), "larger than 16 MiB") {
		t.Errorf("%v", a.Err)
	}
	s.works(t)
	close(stop)
	if top := <-peak; top > before.HeapInuse+2*size+8<<20 {
		t.Errorf("%d MiB were in use", top>>20)
	}
}

// FuzzFrames gives a stream of anything, in pieces, to a Tap with one open request.
// Whatever comes, each message for the library is one it can read, the request is
// answered at most once, and a good answer on a line of its own at the end is found
// if nothing answered before.
func FuzzFrames(f *testing.F) {
	for _, s := range []string{
		one, two, "banner\n" + one, `{"jsonrpc":"2.0","id":"1","error":"x"}`, "{\n" + one + "\n", "\xef\xbb\xbf[" + one + "," + two + "]",
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":NaN}}`,
		`{"jsonrpc":"2.0","method":"elicitation/create","id":5,"params":{}}`, `{"id":1,"result":` + strings.Repeat("[", 1100) + strings.Repeat("]", 1100) + `}`,
		`{"jsonrpc":"2.0","result":{"a":1,},"id":1}`, "{\"a\":\"\x01\xff\\ud800\"}", `{"jsonrpc":"2.0","id":1,"error":{"code":"1e5","message":null,"data":[]}}`,
	} {
		f.Add([]byte(s), 3)
	}
	f.Fuzz(func(t *testing.T, in []byte, n int) {
		if n < 1 || n > 1<<20 || len(in) > 1<<16 {
			return
		}
		tap := NewTap(Options{MaxFrame: 1 << 14})
		defer tap.Close(nil)
		tap.Attach(func([]byte) error { return nil })
		p, err := tap.Expect(Expectation{Token: "t", Progress: func(Progress) {}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Release()
		if _, err := tap.Out([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"t"}}}`)); err != nil {
			t.Fatal(err)
		}
		var frames [][]byte
		fr := framer{max: tap.o.MaxFrame, emit: func(p piece) { frames = append(frames, tap.take(p)...) }}
		const good = "\n" + `{"jsonrpc":"2.0","id":1,"result":{"last":true}}` + "\n"
		all := append(append([]byte(nil), in...), good...)
		all = append(all, good...)
		for rest := all; len(rest) > 0; rest = rest[min(n, len(rest)):] {
			fr.feed(rest[:min(n, len(rest))])
		}
		fr.end()
		if len(frames) != 1 {
			t.Fatalf("%d answers: %q", len(frames), frames)
		}
		theirs, err := jsonrpc.DecodeMessage(frames[0])
		if err != nil {
			t.Fatalf("the library cannot read %q: %v", frames[0], err)
		}
		if ours, err := decode(frames[0]); err != nil || !reflect.DeepEqual(ours, theirs) {
			t.Fatalf("%q is %+v to the library, %+v here, %v", frames[0], theirs, ours, err)
		}
		a, ok := p.Answer()
		if !ok || a.Err == nil && !json.Valid(a.Result) {
			t.Fatalf("%v, %q, %v", ok, a.Result, a.Err)
		}
	})
}
