package mcphost_test

import (
	"errors"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"steward/mcphost"
	"steward/mcphost/internal/trial"
	"steward/mcphost/send"
	"steward/testdata/scriptedserver"
)

// faulty starts the scripted server over HTTP with faults.
func faulty(t *testing.T, o scriptedserver.Options, faults ...string) (*scriptedserver.Web, mcphost.ServerConfig) {
	t.Helper()
	if o.Protocol == nil {
		o.Protocol = []string{"2025-11-25"}
	}
	web, err := scriptedserver.NewWeb(o, faults...)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(web)
	t.Cleanup(func() {
		_ = web.Close() // ends what hangs
		s.CloseClientConnections()
		s.Close()
	})
	return web, mcphost.ServerConfig{ID: "web", URL: s.URL + "/mcp", StartTimeout: 10 * time.Second, ToolTimeout: 2 * time.Second}
}

// ended is how a call ends: its outcome, and what the reason says.
type ended struct{ outcome, reason string }

var callFaults = map[string]ended{
	"call-html":               {send.Unknown, "text/html"},
	"call-202":                {send.Unknown, "202"},
	"call-204":                {send.Unknown, "204"},
	"call-empty":              {send.Unknown, "empty"},
	"call-no-type":            {send.OK, ""},
	"call-text-plain":         {send.OK, ""},
	"call-stream-as-json":     {send.OK, ""},
	"call-plain-words":        {send.Unknown, "text/plain"},
	"call-utf-16":             {send.Unknown, "utf-16"},
	"call-not-json":           {send.Unknown, "no answer"},
	"call-other-id":           {send.Unknown, "no answer to this request"},
	"call-twice":              {send.OK, ""},
	"call-batch":              {send.OK, ""},
	"call-other-case":         {send.OK, ""},
	"call-duplicate-keys":     {send.OK, ""},
	"call-result-and-error":   {send.ProtocolError, "both a result and an error"},
	"call-large":              {send.Unknown, "larger than 1 MiB"},
	"call-large-declared":     {send.Unknown, "larger than 1 MiB"},
	"call-large-zipped":       {send.Unknown, "larger than 1 MiB"},
	"call-large-event":        {send.Unknown, "larger than 1 MiB"},
	"call-stream-endless":     {send.Unknown, "larger than 1 MiB"},
	"call-comments-endless":   {send.Unknown, "larger than 1 MiB"},
	"call-stream-ends":        {send.Unknown, "closed the stream"},
	"call-stream-trickles":    {send.Timeout, "2s"},
	"call-stream-odd":         {send.OK, ""},
	"call-stream-no-end":      {send.OK, ""},
	"call-stream-resumed":     {send.OK, ""},
	"call-stream-not-resumed": {send.Unknown, "got no answer that counts"},
	"call-packed":             {send.Unknown, `packed as "br"`},
	"call-stream-gone":        {send.Timeout, ""},
	"call-reset":              {send.Unknown, "closed the connection"},
	"call-broken-off":         {send.Unknown, "broke off"},
	"call-hangs":              {send.Timeout, "2s"},
	"call-hangs-later":        {send.Timeout, "2s"},
	"call-302":                {send.Unknown, "302 Found) that would turn them into others"},
	"call-307-elsewhere":      {send.Unknown, "http://127.0.0.1:1/mcp, where"},
	"call-308-loop":           {send.Unknown, "in a circle, on to http"},
	"call-400":                {send.Unknown, "bad luck"},
	"call-401":                {send.Unknown, "sign-in"},
	"call-403":                {send.Unknown, "refuses access"},
	"call-407":                {send.Unknown, "proxy"},
	"call-429":                {send.Unknown, "more than a day"},
	"call-429-soon":           {send.Unknown, "wait for 5s"},
	"call-429-past":           {send.Unknown, "429"},
	"call-500-html":           {send.Unknown, "500"},
	"call-500-answer":         {send.ProtocolError, "full"},
	"call-503":                {send.Unknown, "wait for 1m30s"},
	"call-session-forgotten":  {send.Unknown, "not sent again"},
	"call-session-changed":    {send.OK, ""},
	"call-header-mismatch":    {send.ProtocolError, "not sent again"},
}

// lostWith are the faults in which the server says nothing any more.
var lostWith = map[string]bool{"call-reset": true}

// TestEveryFaultOfACall makes a call that goes wrong in every way there is. It is sent once, its end says what happened
// and shows nothing it should not, and the session goes on.
func TestEveryFaultOfACall(t *testing.T) {
	t.Parallel()
	for _, name := range scriptedserver.Faults() {
		if !strings.HasPrefix(name, "call-") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, ok := callFaults[name]
			if !ok {
				t.Fatal("nobody says what is right")
			}
			s, cfg := faulty(t, scriptedserver.Options{}, name)
			if strings.HasPrefix(name, "call-large") || strings.HasSuffix(name, "endless") {
				cfg.ToolTimeout, cfg.MaxFrame = time.Minute, 1<<20 // TestHTTPLimits is about the limit that holds otherwise
			}
			h, _ := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, cfg)
			r := callEcho(t, c, "echo")
			if r.Outcome != want.outcome || !strings.Contains(r.Reason, want.reason) {
				t.Errorf("%s: %s; want %s: %s", r.Outcome, r.Reason, want.outcome, want.reason)
			}
			if strings.Contains(r.Reason, "connection was lost") && !lostWith[name] {
				t.Errorf("there was an answer, though another one: %s", r.Reason)
			}
			status, err := strconv.Atoi(strings.Split(name, "-")[1])
			if turned := err == nil && status >= 300 && status < 500 || name == "call-session-forgotten"; send.MostLikelyUnrun(r.Reason) != turned {
				t.Errorf("it is to be said as refused: %t, but: %s", turned, r.Reason)
			}
			for _, secret := range []string{"<html", "token=", "stack trace", "forged"} {
				if strings.Contains(r.Reason, secret) {
					t.Errorf("%q is in %s", secret, r.Reason)
				}
			}
			if r.Outcome == send.OK && (len(r.Content) != 1 || r.Content[0].Text != "called") {
				t.Errorf("content %+v", r.Content)
			}
			if n := s.Count("POST tools/call"); n != 1 && name != "call-308-loop" {
				t.Errorf("the call was sent %d times", n)
			}
			if err := c.Ping(t.Context()); err != nil {
				t.Errorf("afterwards: %v", err)
			}
			if c.State() != mcphost.StateReady {
				t.Errorf("afterwards it is %s", c.State())
			}
		})
	}
}

var startFaults = map[string]struct {
	stage string // "" where the start succeeds
	says  string
}{
	"start-hangs":          {mcphost.StageStart, "did not answer within"},
	"start-hangs-later":    {mcphost.StageStart, "did not answer within"},
	"start-trickles":       {mcphost.StageStart, "did not answer within"},
	"start-trickles-json":  {mcphost.StageStart, "did not answer within"},
	"start-html":           {mcphost.StageHandshake, "not an MCP server"},
	"start-empty":          {mcphost.StageHandshake, "empty"},
	"start-204":            {mcphost.StageHandshake, "204"},
	"start-401":            {mcphost.StageSignIn, "sign-in"},
	"start-429":            {mcphost.StageHandshake, "wait for 30s"},
	"start-500":            {mcphost.StageHandshake, "500"},
	"start-301":            {mcphost.StageHandshake, "301 Moved Permanently"},
	"start-308-loop":       {mcphost.StageHandshake, "in a circle"},
	"start-session-long":   {mcphost.StageHandshake, "session id is longer"},
	"start-session-odd":    {mcphost.StageHandshake, "session id holds characters"},
	"start-discover-hangs": {"", ""},
	"start-discover-reset": {"", ""},
	"start-discover-403":   {"", ""}, // something before the server that knows the older methods alone
	"start-403":            {mcphost.StageHandshake, "your plan does not include this"},
	"start-discover-503":   {"", ""},
	"start-lists-hang":     {mcphost.StageList, "tools/list"},
}

// TestEveryFaultOfAStart begins with servers that go wrong in every way there is. A start ends within its limit, and
// says at which stage, and why.
func TestEveryFaultOfAStart(t *testing.T) {
	t.Parallel()
	for _, name := range scriptedserver.Faults() {
		if !strings.HasPrefix(name, "start-") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, ok := startFaults[name]
			if !ok {
				t.Fatal("nobody says what is right")
			}
			_, cfg := faulty(t, scriptedserver.Options{}, name)
			if strings.Contains(want.says, "within") || want.stage == mcphost.StageList {
				cfg.StartTimeout = time.Second
			}
			h, _ := trial.Host(t, mcphost.Options{})
			done := make(chan error, 1)
			var c *mcphost.Connection
			go func() {
				var err error
				c, err = h.Connect(t.Context(), cfg)
				done <- err
			}()
			var err error
			select {
			case err = <-done:
			case <-time.After(30 * time.Second):
				t.Fatal("the start does not end")
			}
			var se *mcphost.StartError
			switch {
			case want.stage == "" && err != nil:
				t.Fatal(err)
			case want.stage == "":
				if r := callEcho(t, c, "echo"); r.Outcome != send.OK {
					t.Errorf("%s: %s", r.Outcome, r.Reason)
				}
			case !errors.As(err, &se):
				t.Fatalf("err = %v", err)
			case se.Stage != want.stage || !strings.Contains(err.Error(), want.says) || strings.Contains(err.Error(), "<html"):
				t.Errorf("at %s: %v; want at %s: %s", se.Stage, err, want.stage, want.says)
			}
		})
	}
}

// opened is how often the channel may be opened within a second and a half; net/http itself repeats a GET that is reset.
var opened = map[string]int{
	"get-404": 1, "get-406": 1, "get-400": 1, "get-405": 1, "get-501": 1, "get-words": 1, "get-hangs": 1,
	"get-500": 3, "get-ends": 3, "get-ends-without-pause": 3, "get-ends-after-messages": 3, "get-reset": 9,
}

// TestEveryFaultOfTheChannel opens the channel for unasked messages in every way there is: nothing waits for it, it is
// not opened again and again, and its end is not that of the session.
func TestEveryFaultOfTheChannel(t *testing.T) {
	t.Parallel()
	for _, name := range scriptedserver.Faults() {
		if !strings.HasPrefix(name, "get-") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most, ok := opened[name]
			if !ok {
				t.Fatal("nobody says what is right")
			}
			s, cfg := faulty(t, scriptedserver.Options{}, name)
			h, _ := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, cfg)
			for end := time.Now().Add(20 * time.Second); s.Count("GET ") == 0 && time.Now().Before(end); {
				time.Sleep(5 * time.Millisecond)
			}
			time.Sleep(1500 * time.Millisecond)
			if n := s.Count("GET "); n > most || n == 0 {
				t.Errorf("the channel was opened %d times", n)
			}
			if r := callEcho(t, c, "echo"); r.Outcome != send.OK {
				t.Errorf("%s: %s", r.Outcome, r.Reason)
			}
			if n := s.Count("POST initialize"); n != 1 {
				t.Errorf("initialize was sent %d times", n)
			}
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
			if n := s.Count("DELETE "); n != 1 {
				t.Errorf("the session was ended %d times", n)
			}
		})
	}
}

// TestEveryFaultOfAListen breaks the stream of changes of the newer era in every way there is.
func TestEveryFaultOfAListen(t *testing.T) {
	t.Parallel()
	again := map[string]bool{"listen-404": false, "listen-hangs": false, "listen-drops": true, "listen-ends": true, "listen-503": true}
	for _, name := range scriptedserver.Faults() {
		if !strings.HasPrefix(name, "listen-") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, ok := again[name]
			if !ok {
				t.Fatal("nobody says what is right")
			}
			s, cfg := faulty(t, scriptedserver.Options{Discover: "answer"}, name)
			h, _ := trial.Host(t, mcphost.Options{})
			c := trial.Connect(t, h, cfg)
			if c.Protocol() != "2026-07-28" {
				t.Fatalf("protocol %s", c.Protocol())
			}
			asked := func() int { return s.Count("POST subscriptions/listen") }
			for end := time.Now().Add(20 * time.Second); want && asked() < 2 && time.Now().Before(end); {
				time.Sleep(5 * time.Millisecond)
			}
			if !want {
				time.Sleep(1500 * time.Millisecond)
			}
			if n := asked(); (n > 1) != want || n > 4 {
				t.Errorf("it was asked for %d times", n)
			}
			if name == "listen-drops" { // what changed meanwhile nobody has said
				for end := time.Now().Add(20 * time.Second); s.Count("POST tools/list") < 2 && time.Now().Before(end); {
					time.Sleep(5 * time.Millisecond)
				}
				if s.Count("POST tools/list") < 2 {
					t.Error("the tools were not read again after the gap")
				}
			}
			if r := callEcho(t, c, "echo"); r.Outcome != send.OK {
				t.Errorf("%s: %s", r.Outcome, r.Reason)
			}
		})
	}
}
