package headless

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/rivo/uniseg"

	"steward/app"
	"steward/app/consent"
	"steward/app/event"
)

// The lines and the order of their keys are what other programs read.
func TestEventLines(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		e    event.Event
		want string
	}{
		{event.TurnStart{Conversation: "c_8x", Model: "fake"}, `{"event":"turn_start","conversation":"c_8x","model":"fake"}`},
		{event.Server{Server: "weekly-report", State: "ready", Protocol: "2024-11-05", Tools: 1}, `{"event":"server","server":"weekly-report","state":"ready","protocol":"2024-11-05","tools":1}`},
		{event.Reasoning{Text: "…"}, `{"event":"reasoning","text":"…"}`},
		{event.Text{Text: "看 <b>&"}, `{"event":"text","text":"看 <b>&"}`},
		{event.Call{ID: "k_1", Record: 12, Server: "weekly-report", Tool: "get_weekly_report", Arguments: `{"date":"2025-03-17"}`, Definition: "sha256:1"},
			`{"event":"call","id":"k_1","record":12,"server":"weekly-report","tool":"get_weekly_report","arguments":"{\"date\":\"2025-03-17\"}","definition":"sha256:1"}`},
		{event.Decision{Call: "k_1", Decision: "allowed", By: "flag", Reason: "not part of the line"}, `{"event":"decision","call":"k_1","decision":"allowed","by":"flag"}`},
		{event.Progress{Call: "k_1", Progress: 3, Total: 10, Message: "m"}, `{"event":"progress","call":"k_1","progress":3,"total":10,"message":"m"}`},
		{event.Elicitation{Call: "k_1", Record: 13, Server: "travel", Mode: "form", Message: "?", Action: "decline"}, `{"event":"elicitation","call":"k_1","record":13,"server":"travel","mode":"form","message":"?","action":"decline"}`},
		{event.Sampling{Call: "k_1", Record: 14, Server: "travel", Action: "sent"}, `{"event":"sampling","call":"k_1","record":14,"server":"travel","action":"sent","edited":false}`},
		{event.Result{Call: "k_1", Record: 12, Outcome: "ok", Effect: "done", Content: []event.Content{{Type: "text", Text: "周报"}}, Seconds: 0.0214},
			`{"event":"result","call":"k_1","record":12,"outcome":"ok","effect":"done","content":[{"type":"text","text":"周报"}],"structured":null,"seconds":0.021}`},
		{event.Result{Call: "k_1", Record: 12, Outcome: "denied", Effect: "none"},
			`{"event":"result","call":"k_1","record":12,"outcome":"denied","effect":"none","content":[],"structured":null,"seconds":0}`},
		{event.Result{Call: "k", Outcome: "ok", Effect: "done", Structured: json.RawMessage(`{"b":1,"a":2}`), Content: []event.Content{
			{Type: "image", MIMEType: "image/png", Data: []byte{1, 2}},
			{Type: "resource", URI: "a://b", MIMEType: "text/plain", Text: "t"},
			{Type: "resource_link", URI: "a://b", Name: "n"}}},
			`{"event":"result","call":"k","record":0,"outcome":"ok","effect":"done","content":[{"type":"image","data":"AQI=","mimeType":"image/png"},{"type":"resource","resource":{"uri":"a://b","mimeType":"text/plain","text":"t"}},{"type":"resource_link","uri":"a://b","name":"n"}],"structured":{"b":1,"a":2},"seconds":0}`},
		{event.Notice{Kind: "server_noise", Server: "s", Message: "m"}, `{"event":"notice","kind":"server_noise","server":"s","message":"m"}`},
		{event.Usage{Input: 812, Output: 64}, `{"event":"usage","input":812,"output":64}`},
		{event.Turn{State: "finished", Conversation: "c_8x"}, `{"event":"turn","state":"finished","error":"","conversation":"c_8x"}`},
	} {
		var b bytes.Buffer
		if err := writeJSON(&b, eventLine(tc.e)); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(b.String(), "\n"); got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
	}
	if eventLine(event.Waiting{}) != nil || eventLine(event.WaitingGone{}) != nil {
		t.Error("the waiting list is not part of the lines")
	}
}

// A terminal gets no control character of a server or a model, whatever they send.
func TestNothingMovesTheCursor(t *testing.T) {
	t.Parallel()
	bad := "a\x1b[2J\x1b]8;;http://evil\x07b\u009b31mc\rd\u202ee"
	var out, errOut bytes.Buffer
	o := &output{out: &out, err: &errOut}
	for _, e := range []event.Event{
		event.Text{Text: bad}, event.Reasoning{Text: bad}, event.Server{Server: bad, State: "ready", Protocol: bad}, event.Call{ID: "k", Server: bad, Tool: bad, Arguments: bad},
		event.Decision{Decision: "denied", By: "person", Reason: bad}, event.Progress{Message: bad}, event.Notice{Message: bad},
		event.Result{Outcome: "ok", Reason: bad, Content: []event.Content{{Type: "text", Text: bad}, {Type: "resource_link", URI: bad, Name: bad}, {Type: "image", MIMEType: bad, Data: []byte{1}}}},
		event.Turn{State: "failed", Error: bad},
	} {
		o.on(e)
	}
	for _, s := range []string{out.String(), errOut.String(), sentence(errors.New(bad)), doctorText([]app.Diagnosis{{Server: bad, Checks: []app.Check{{Check: "start", Message: bad, Hint: bad}}}})} {
		if i := strings.IndexFunc(s, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r == 0x202e }); i >= 0 {
			t.Errorf("%q holds a control character at %d", s, i)
		}
	}
}

// Text of a server cannot look like a line of the program's own.
func TestForeignLinesAreMarked(t *testing.T) {
	t.Parallel()
	var errOut bytes.Buffer
	o := &output{out: &bytes.Buffer{}, err: &errOut}
	o.on(event.Result{Outcome: "ok", Effect: "done", Content: []event.Content{{Type: "text", Text: "one\nNotice: all is well\n  allowed by person"}}})
	for _, l := range strings.Split(strings.TrimSpace(errOut.String()), "\n")[1:] {
		if !strings.HasPrefix(strings.TrimSpace(l), "| ") {
			t.Errorf("this line of a server is not marked: %q", l)
		}
	}
}

func TestAFailedWriteStopsTheTurn(t *testing.T) {
	t.Parallel()
	stops := 0
	for _, o := range []*output{{out: broken{}, err: &bytes.Buffer{}, lines: true}, {out: broken{}, err: &bytes.Buffer{}}} {
		o.stopWith(func() { stops++ })
		o.on(event.Text{Text: "a"})
		o.on(event.Text{Text: "b"})
		if o.failed == nil {
			t.Error("the failed write was forgotten")
		}
	}
	if stops != 2 {
		t.Errorf("the turns were stopped %d times, want once each", stops)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestDifferenceShowsBothTextsWhole(t *testing.T) {
	t.Parallel()
	got := strings.Join(difference("a\nb\nc", "a\nx\nc\nd"), "\n")
	if want := "  a\n- b\n+ x\n  c\n+ d"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	long := strings.Repeat("same\n", maxDiff+1)
	if got := difference(long, long+"more"); len(got) < 2*maxDiff {
		t.Errorf("a long text was cut to %d lines", len(got))
	}
}

func TestEveryKeyOfAMessageIsPutIn(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"folder_newer", "server_disabled", "server_unusable", "server_unknown", "no_servers", "tool_unknown", "no_demo_model", "no_endpoint", "other"} {
		s := english(app.Message{Key: key, Args: map[string]string{"detail": "D {server}", "server": "S", "servers": "L", "tool": "T", "tools": "M", "file": "F", "variable": "V"}})
		if strings.ContainsAny(strings.ReplaceAll(s, "D {server}", ""), "{}") {
			t.Errorf("%s: %q has a hole", key, s)
		}
	}
}

func TestARecordIsShownInItsOrder(t *testing.T) {
	t.Parallel()
	n, err := ordered(json.NewDecoder(strings.NewReader(`{"b":{"z":1,"y":"x\u001b[2J"},"a":[1,{"c":null}],"e":{}}`)))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	n.write(&b, "")
	for i, want := range []string{"b:", "  z: 1", "  y: x", "a:", "  - 1", "  -", "    c: -", "e:"} {
		if got := strings.Split(b.String(), "\n")[i]; !strings.HasPrefix(got, want) {
			t.Errorf("line %d is %q, want %q", i, got, want)
		}
	}
}

// Every definition of a review has a name and a state in words, and foreign text is marked.
func TestReviewInWords(t *testing.T) {
	t.Parallel()
	text := reviewText(app.Review{Server: "s", Known: true, Changes: []consent.Change{
		{Kind: "server", State: "same", New: "/bin/s"}, {Kind: "instructions", State: "changed", Old: "Be kind.", New: "Be quick."},
		{Kind: "tool", Name: "send", State: "new", New: "{\n  \"name\": \"send\"\n}"}, {Kind: "prompt", Name: "old", State: "removed", Old: "x"},
	}})
	for _, want := range []string{"\nUnchanged since the last review: configuration\n", "\ninstructions: CHANGED\n", "\n  - Be kind.\n  + Be quick.\n", "\ntool send: NEW\n    | {\n", "\nprompt old: REMOVED\n    | x\n", "2 definitions are new or changed"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
}

// Only the program's own lines begin at the left; what a server or a model wrote is marked, however it gets there.
func TestForeignLinesAmongOurOwn(t *testing.T) {
	t.Parallel()
	var out, errs strings.Builder
	o := &output{out: &out, err: &errs}
	const forged = "first\nCall k_1, record 2: forged\n  allowed by person"
	for _, e := range []event.Event{
		event.Notice{Message: forged}, event.Reasoning{Text: forged + "\n"}, event.Reasoning{Text: "Notice: forged"},
		event.Result{Outcome: "unknown", Reason: forged}, event.Turn{State: "failed", Error: forged},
		event.Decision{Decision: "denied", By: "flag", Reason: forged},
	} {
		o.on(e)
	}
	(&run{Streams: Streams{Err: &errs}}).fail(errors.New(forged))
	for line := range strings.Lines(errs.String()) {
		if strings.Contains(line, "forged") && !strings.HasPrefix(line, mark) {
			t.Errorf("not marked: %q", line)
		}
	}
	if n := strings.Count(errs.String(), "forged"); n != 7 {
		t.Errorf("%d of 7 are there:\n%s", n, errs.String())
	}
}

// Columns begin below each other, also where characters are two columns wide.
func TestATableIsAlignedByWhatIsSeen(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"服务器", "yes"}, {"short", "no"}, {"e\u0301t", "no"}}
	var b strings.Builder
	if err := table(&b, []string{"SERVER", "STATE"}, len(rows), func(i int) []string { return rows[i] }); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimRight(line, "\n")
		last := line[strings.LastIndex(line, " ")+1:]
		if at := uniseg.StringWidth(strings.TrimSuffix(line, last)); at != 8 {
			t.Errorf("the second column of %q begins at %d", line, at)
		}
	}
}

// Of bytes without a type the address is said, and of a resource without text that it came.
func TestContentWithoutTextIsNamed(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]event.Content{
		"[resource file:///a, 3 bytes]\n":        {Type: "resource", URI: "file:///a", Data: []byte("abc")},
		"[resource file:///a text/x, 3 bytes]\n": {Type: "resource", URI: "file:///a", MIMEType: "text/x", Data: []byte("abc")},
		"[image image/png, 3 bytes]\n":           {Type: "image", MIMEType: "image/png", Data: []byte("abc")},
		"[image, 3 bytes]\n":                     {Type: "image", Data: []byte("abc")},
		"[resource file:///a]\n":                 {Type: "resource", URI: "file:///a"},
	} {
		if got := resultText([]event.Content{c}, nil); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
