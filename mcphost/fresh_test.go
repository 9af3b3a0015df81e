package mcphost_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
)

// clock is a clock that a test moves.
type clock struct {
	mu   sync.Mutex
	plus time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.plus)
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.plus += d
}

// timed is a server of the newer era whose lists name what was read how often, and for how long that holds.
func timed(t *testing.T, ttl string, announces bool) *web {
	t.Helper()
	var n atomic.Int64
	return newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
		switch m.Method {
		case "server/discover":
			answer(w, m, fmt.Sprintf(`"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":%v},"prompts":{"listChanged":%v}},"_meta":{}}`, announces, announces))
		case "tools/list":
			answer(w, m, fmt.Sprintf(`"result":{"resultType":"complete",%s"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"t%d","inputSchema":{"type":"object"}}]}`, ttl, n.Add(1)))
		case "prompts/list":
			answer(w, m, fmt.Sprintf(`"result":{"resultType":"complete",%s"prompts":[{"name":"p%d"}]}`, ttl, n.Add(1)))
		case "tools/call":
			answer(w, m, `"result":{"resultType":"complete","content":[{"type":"text","text":"called"}]}`)
		case "subscriptions/listen":
			<-r.Context().Done()
		default:
			return false
		}
		return true
	}, nil)
}

// TestHowLongListsHold checks that a list is read again when the time the server gave has passed, not before, and
// whenever somebody asks for that.
func TestHowLongListsHold(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		ttl       string
		announces bool
		pass      time.Duration
		again     bool // the tools by being looked at, and the prompts by being asked for
	}{
		"not yet":                       {`"ttlMs":60000,`, true, 50 * time.Second, false},
		"passed":                        {`"ttlMs":60000,`, true, 61 * time.Second, true},
		"passed, without announcements": {`"ttlMs":60000,`, false, 61 * time.Second, true},
		"none given":                    {``, true, 24 * time.Hour, false},
		"at once, but announced":        {`"ttlMs":0,`, true, 24 * time.Hour, false},
		"negative":                      {`"ttlMs":-60000,`, false, 6 * time.Second, true},
		"endless":                       {`"ttlMs":1e300,`, true, 61 * time.Minute, true},
		"no number":                     {`"ttlMs":"soon",`, true, 24 * time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := timed(t, tt.ttl, tt.announces)
			var now clock
			h, _ := trial.Host(t, mcphost.Options{Now: now.now})
			c := trial.Connect(t, h, config(s))
			prompts := func() string {
				t.Helper()
				p, err := c.Prompts(t.Context())
				if err != nil || len(p) != 1 {
					t.Fatalf("%v, %v", p, err)
				}
				return p[0].Name
			}
			before := prompts()
			now.forward(tt.pass)
			read := s.count("POST tools/list")
			c.Tools()
			if tt.again {
				until(t, "the tools are read again", func() bool { return s.count("POST tools/list") > read })
			} else if time.Sleep(1200 * time.Millisecond); s.count("POST tools/list") != read {
				t.Error("the tools were read again")
			}
			if again := prompts() != before; again != tt.again {
				t.Errorf("the prompts were read again: %v", again)
			}
			tools, last := trial.Names(c.Tools()), prompts()
			if err := c.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			if trial.Names(c.Tools()) == tools || prompts() == last {
				t.Error("a refresh refreshes nothing")
			}
		})
	}
}

// TestACallWithAnExpiredList checks that a call waits for the tools to be read again where their time has passed.
func TestACallWithAnExpiredList(t *testing.T) {
	t.Parallel()
	s := timed(t, `"ttlMs":60000,`, false)
	var now clock
	h, _ := trial.Host(t, mcphost.Options{Now: now.now})
	c := trial.Connect(t, h, config(s))
	now.forward(2 * time.Minute)
	definition := "sha256:of-another"
	r, err := send.Tool(t.Context(), send.Call{
		Conn: c, Owner: "k", Tool: "t1", Definition: definition, Arguments: []byte(`{}`), Spend: func([]byte) error { return nil },
	})
	if err != nil || r.Outcome != send.Withdrawn {
		t.Errorf("%+v, %v", r, err)
	}
	if !strings.Contains(r.Reason, `offers no tool "t1" any more`) {
		t.Errorf("%s: %s", r.Outcome, r.Reason)
	}
}

// TestACursorThatFails checks that a list whose cursor is no longer known is read from its beginning, once.
func TestACursorThatFails(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]int{"once": 1, "always": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var firsts, seconds atomic.Int64
			s := newWeb(t, on("tools/list", func(w http.ResponseWriter, m message) {
				var p struct{ Cursor *string }
				_ = json.Unmarshal(m.Params, &p) // there is always an object
				switch {
				case p.Cursor == nil:
					answer(w, m, fmt.Sprintf(`"result":{"tools":[{"name":"a%d","inputSchema":{"type":"object"}}],"nextCursor":"x"}`, firsts.Add(1)))
				case seconds.Add(1) <= int64(fails):
					answer(w, m, `"error":{"code":-32602,"message":"invalid cursor"}`)
				default:
					answer(w, m, `"result":{"tools":[{"name":"b","inputSchema":{"type":"object"}}]}`)
				}
			}), nil)
			h, _ := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, config(s))
			want := "a2 b"
			if fails > 1 {
				want = "a2" // what could be read is there, and the rest is told
				if len(c.Problems()) == 0 {
					t.Error("nothing is told")
				}
			}
			if got := trial.Names(c.Tools()); got != want || firsts.Load() != 2 {
				t.Errorf("tools %q, first page read %d times", got, firsts.Load())
			}
		})
	}
}

// TestHeaderMismatch has a server refuse a request because of its headers: what is no call is made once more, after the
// tools have been read again.
func TestHeaderMismatch(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]int64{"once": 1, "always": 100} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var reads, lists atomic.Int64
			s := newWeb(t, func(w http.ResponseWriter, r *http.Request, m message) bool {
				switch m.Method {
				case "server/discover":
					answer(w, m, `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{}},"_meta":{}}`)
				case "tools/list":
					lists.Add(1)
					return false
				case "resources/read":
					if reads.Add(1) > fails {
						answer(w, m, `"result":{"resultType":"complete","contents":[{"uri":"test://a","text":"first"}]}`)
						break
					}
					w.Header().Set("Content-Type", "application/json")
					w.WriteHeader(http.StatusBadRequest)
					fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32020,"message":"Header mismatch"}}`, m.ID)
				case "subscriptions/listen":
					<-r.Context().Done()
				default:
					return false
				}
				return true
			}, nil)
			h, _ := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, config(s))
			got, err := c.ReadResource(t.Context(), "test://a")
			if (err == nil) != (fails == 1) || err == nil && got.Contents[0].Text != "first" {
				t.Errorf("%+v, %v", got, err)
			}
			if reads.Load() != 2 || lists.Load() != 2 {
				t.Errorf("read %d times, tools read %d times", reads.Load(), lists.Load())
			}
		})
	}
}
