package trial

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"steward/mcphost/internal/session"
	"steward/testdata/costs"
)

// Allowed is how much longer than the bare library our way may take: Share of the library's time, or Least,
// whichever is more.
type Allowed struct {
	Share float64
	Least time.Duration
}

// Size is one size of message, and what is allowed for it.
type Size struct {
	Name    string
	Bytes   int
	Pairs   int // measured at least
	Allowed Allowed
}

// Sizes are the sizes at which our way is compared with the bare library.
var Sizes = []Size{
	{"100B", 100, 2000, Allowed{0.15, 30 * time.Microsecond}},
	{"10kB", 10_000, 800, Allowed{0.15, 30 * time.Microsecond}},
	{"1MB", 1_000_000, 40, Allowed{0.5, 0}},
}

// tries is how often a comparison is made before it counts as lost: what else the computer does can only add to
// the times.
const tries = 3

// Compare measures two ways of doing the same, by turns, so that whatever else happens happens to both, and compares
// the medians. It fails the benchmark where ours takes longer than is allowed.
func Compare(b *testing.B, s Size, bare, ours func() error) {
	b.Helper()
	for range 5 {
		if err := errors.Join(bare(), ours()); err != nil {
			b.Fatal(err)
		}
	}
	theirs, our := make([]time.Duration, 0, s.Pairs), make([]time.Duration, 0, s.Pairs)
	pair := func() {
		t, o := bare, ours
		a, c := &theirs, &our
		if len(theirs)%2 == 1 { // who is first finds the caches and the collector in another state
			t, o, a, c = ours, bare, &our, &theirs
		}
		*a = append(*a, timed(b, t))
		*c = append(*c, timed(b, o))
	}
	for b.Loop() {
		pair()
	}
	var base, mine time.Duration
	for range tries {
		for len(theirs) < s.Pairs {
			pair()
		}
		base, mine = median(theirs), median(our)
		if mine-base <= s.Allowed.of(base) {
			break
		}
		theirs, our = theirs[:0], our[:0]
	}
	b.ReportMetric(0, "ns/op") // of a pair, which says nothing
	b.ReportMetric(ms(base), "bare-ms")
	b.ReportMetric(ms(mine), "steward-ms")
	b.ReportMetric(float64(mine)/float64(base), "ratio")
	if most := s.Allowed.of(base); mine-base > most {
		costs.TooHigh(b, "%v with the library alone, %v through this program: %v more, of which %v are allowed", base, mine, mine-base, most)
	}
}

func timed(b *testing.B, f func() error) time.Duration {
	start := time.Now()
	err := f()
	took := time.Since(start)
	if err != nil {
		b.Fatal(err)
	}
	return took
}

func (a Allowed) of(base time.Duration) time.Duration {
	return max(a.Least, time.Duration(a.Share*float64(base)))
}

func median(d []time.Duration) time.Duration {
	d = slices.Sorted(slices.Values(d))
	return d[len(d)/2]
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// EchoServer is a server made of the protocol library alone, whose tool "echo" answers with the text it is given.
func EchoServer() *mcp.Server {
	type in struct {
		Text string `json:"text"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, i in) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: i.Text}}}, nil, nil
	})
	return s
}

// echo is the role of a test binary that runs the EchoServer on its standard input and output.
func echo() int {
	if err := EchoServer().Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		return 1
	}
	return 0
}

// EchoCommand is how the EchoServer is started as a program, and what its environment needs besides.
func EchoCommand() (path string, env []string) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	return self, []string{role + "=echo"}
}

// Bare is a session of the library alone. It declares what this program declares to a server, because that stands in
// every request of the newer era (MCP 2026-07-28, basic, _meta), and the server's work with it counts on both sides.
func Bare(b *testing.B, transport mcp.Transport) *mcp.ClientSession {
	b.Helper()
	caps := &mcp.ClientCapabilities{}
	caps.AddExtension(session.TasksExtension, nil)
	s, err := mcp.NewClient(&mcp.Implementation{Name: "bare", Version: "1"}, &mcp.ClientOptions{Capabilities: caps}).
		Connect(b.Context(), transport, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() }) // it ends with the server
	return s
}

// BareCall calls the tool "echo" with the library alone. It asks for progress and, in the newer era, for log messages,
// as this program does with every call: the server answers the same request then.
func BareCall(ctx context.Context, s *mcp.ClientSession, arguments []byte) error {
	meta := mcp.Meta{"progressToken": "bare-1"}
	if s.InitializeResult().ProtocolVersion >= session.Modern {
		meta["io.modelcontextprotocol/logLevel"] = "info"
	}
	_, err := s.CallTool(ctx, &mcp.CallToolParams{Meta: meta, Name: "echo", Arguments: json.RawMessage(arguments)})
	return err
}

// EchoArguments are arguments for the tool "echo" of about so many bytes: prose, with what JSON must escape now and then.
func EchoArguments(bytes int) []byte {
	const words = `some words of a text, 一些字, with \"quotes\" and\nlines; `
	text := strings.Repeat(words, bytes/len(words)+1)
	return []byte(`{"text":"` + text[:max(0, bytes/len(words))*len(words)] + strings.Repeat("x", bytes%len(words)) + `"}`)
}
