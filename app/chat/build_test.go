package chat

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"steward/app/clean"
	"steward/llm"
	"steward/storage"
)

func userRow(text string) storage.Message {
	return storage.Message{Role: storage.RoleUser, State: storage.StateComplete, Text: text}
}

func callsRow(t testing.TB, text string, calls ...storedCall) storage.Message {
	t.Helper()
	raw, err := encode(calls)
	if err != nil {
		t.Fatal(err)
	}
	return storage.Message{Role: storage.RoleAssistant, State: storage.StateComplete, Text: text, Calls: raw}
}

func toolRow(id, text string) storage.Message {
	return storage.Message{Role: storage.RoleTool, State: storage.StateComplete, CallID: id, Text: text}
}

func call(id, wire, args string) storedCall {
	return storedCall{ID: id, Wire: wire, Name: "s__t", Server: "s", Tool: "t", Arguments: args}
}

// valid checks what a strict endpoint checks.
func valid(t testing.TB, r llm.Request) {
	t.Helper()
	open := map[string]bool{}
	for i, m := range r.Messages {
		if m.Role != llm.RoleTool && len(open) > 0 {
			t.Fatalf("message %d comes before the answers of %v", i, open)
		}
		switch m.Role {
		case llm.RoleAssistant:
			for _, c := range m.Calls {
				if c.ID == "" || open[c.ID] {
					t.Fatalf("message %d: call id %q is empty or taken", i, c.ID)
				}
				if !json.Valid([]byte(c.Arguments)) {
					t.Fatalf("message %d: arguments %q are no JSON", i, c.Arguments)
				}
				open[c.ID] = true
			}
			if m.Text == "" && len(m.Calls) == 0 {
				t.Fatalf("message %d is an empty answer", i)
			}
		case llm.RoleTool:
			if !open[m.CallID] {
				t.Fatalf("message %d answers the call %q that is not open", i, m.CallID)
			}
			if m.Text == "" {
				t.Fatalf("message %d is an empty tool message", i)
			}
			delete(open, m.CallID)
		}
	}
	if len(open) > 0 {
		t.Fatalf("calls without an answer: %v", open)
	}
}

func build(rows ...storage.Message) llm.Request {
	return Build(Input{System: "sys", Messages: rows, Budget: roomy})
}

func TestACallWithoutItsAnswerGetsOneInTheRightPlace(t *testing.T) {
	t.Parallel()
	r := build(userRow("go"), callsRow(t, "", call("k_1", "c1", "{}"), call("k_2", "c2", "{}")), toolRow("k_1", "one"), userRow("next"), userRow("x"))
	valid(t, r)
	if len(r.Messages) != 7 || r.Messages[3].Text != "one" || r.Messages[4].Text != noAnswer || r.Messages[4].CallID != "c2" || r.Messages[6].Text != "x" {
		t.Fatalf("%+v", r.Messages)
	}
}

func TestOldRowsThatNameTheEndpointsIDAreUnderstood(t *testing.T) {
	t.Parallel()
	r := build(userRow("go"), callsRow(t, "", call("k_1", "SAME", "{}"), call("k_2", "SAME", "{}")), toolRow("SAME", "one"), toolRow("SAME", "two"), toolRow("SAME", "three"))
	valid(t, r)
	if len(r.Messages) != 5 || r.Messages[3].Text != "one" || r.Messages[4].Text != "two" {
		t.Fatalf("%+v", r.Messages)
	}
}

func TestOneIDForEveryCallLosesNoResult(t *testing.T) {
	t.Parallel()
	rows := []storage.Message{userRow("go")}
	for i := range 3 {
		id := fmt.Sprintf("k_%d", i)
		rows = append(rows, callsRow(t, "", call(id, "SAME", fmt.Sprintf(`{"n":%d}`, i))), toolRow(id, fmt.Sprint("result ", i)))
	}
	r := build(rows...)
	valid(t, r)
	for i := range 3 {
		if got := r.Messages[3+2*i].Text; got != fmt.Sprint("result ", i) {
			t.Fatalf("result %d is %q", i, got)
		}
	}
}

func TestWhateverTheRowsHoldTheRequestIsValid(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	ids := []string{"k_1", "k_2", "k_3", "c1", "c2", ""}
	for range 3000 {
		var rows []storage.Message
		for range rng.IntN(12) {
			switch rng.IntN(6) {
			case 0:
				rows = append(rows, userRow([]string{"", "hi"}[rng.IntN(2)]))
			case 1, 2:
				var calls []storedCall
				for k := range rng.IntN(4) {
					calls = append(calls, storedCall{ID: fmt.Sprintf("k_%d", k), Wire: ids[rng.IntN(len(ids))], Name: "n", Arguments: []string{"", "{}", `{"a":1}`}[rng.IntN(3)]})
				}
				rows = append(rows, callsRow(t, []string{"", " ", "text"}[rng.IntN(3)], calls...))
			case 3:
				rows = append(rows, storage.Message{Role: storage.RoleAssistant, State: storage.StateInterrupted, Calls: json.RawMessage(`{"broken`), Text: "part"})
			default:
				rows = append(rows, toolRow(ids[rng.IntN(len(ids))], []string{"", "result"}[rng.IntN(2)]))
			}
		}
		valid(t, build(rows...))
	}
}

func TestReasoningIsKeptApart(t *testing.T) {
	t.Parallel()
	m := callsRow(t, "Answer", call("k_1", "c1", "{}"))
	m.Reasoning = "THOUGHT"
	r := build(userRow("go"), m, toolRow("k_1", "one"))
	if r.Messages[2].Reasoning != "THOUGHT" || strings.Contains(r.Messages[2].Text, "THOUGHT") {
		t.Fatalf("%+v", r.Messages[2])
	}
}

func TestLongResultsAreCutToHeadAndTail(t *testing.T) {
	t.Parallel()
	long := "HEAD" + strings.Repeat("你", 7<<20) + "TAIL"
	r := build(userRow("go"), callsRow(t, "", call("k_1", "c1", "{}")), toolRow("k_1", long))
	got := r.Messages[3].Text
	if len(got) > roomy.Result+200 || !strings.HasPrefix(got, "HEAD") || !strings.HasSuffix(got, "TAIL") || !strings.Contains(got, "left out") || strings.ContainsRune(got, '\uFFFD') {
		t.Fatalf("%d bytes: %.100q … %.100q", len(got), got, got[len(got)-100:])
	}
	r = Build(Input{Messages: []storage.Message{
		userRow("go"), callsRow(t, "", call("k_1", "c1", "{}")), toolRow("k_1", long), callsRow(t, "", call("k_2", "c2", "{}")), toolRow("k_2", long),
	}, Budget: tight})
	if old, last := len(r.Messages[2].Text), len(r.Messages[4].Text); old > tight.Old+200 || last > tight.Result+200 || last < tight.Result/2 {
		t.Fatalf("old %d, last %d", old, last)
	}
}

func TestAttachmentsAndPictures(t *testing.T) {
	t.Parallel()
	meta, err := encode(storedMeta{Attachments: []Attachment{
		{Kind: KindFile, Name: "a\n.txt", Text: "body"}, {Kind: KindImage, Name: "p.png", MIMEType: "image/png", Data: []byte("x")},
		{Kind: KindResource, Name: "cal://1", Server: "cal", Text: "event"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	u := userRow("look")
	u.Meta = meta
	r := build(u)
	text := r.Messages[1].Text
	for _, want := range []string{"look", "[attached file: a .txt]\nbody", "[attached picture: p.png]", "[attached resource from the server cal: cal://1]\nevent"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in %q", want, text)
		}
	}
	if len(r.Messages[1].Images) != 1 {
		t.Fatal("the picture is missing")
	}
	var rows []storage.Message
	for range 20 {
		rows = append(rows, u)
	}
	n := 0
	for _, m := range build(rows...).Messages {
		n += len(m.Images)
	}
	if n != roomy.Images {
		t.Fatalf("%d pictures in a request", n)
	}
}

func TestModelTextIsCleanedAndThePersonsIsNot(t *testing.T) {
	t.Parallel()
	r := build(userRow("a\u202eb"), callsRow(t, "c\u202ed"))
	if r.Messages[1].Text != "a\u202eb" || strings.Contains(r.Messages[2].Text, "\u202e") {
		t.Fatalf("%q %q", r.Messages[1].Text, r.Messages[2].Text)
	}
}

func TestPiecesCleanedAddUpToTheWholeCleaned(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	parts := []string{"a", "Z ", "\n\n", "   ", "\x1b[8m", "\u202e", "\u200b", "你好", "。", "👩\u200d👩\u200d👧", "🇳🇴", "e\u0301\u0301", "\u2028", "ok.", "\t", "क्\u200dष", "שלום", "\U000E0041", "‼\ufe0f", strings.Repeat(" ", 50)}
	for range 3000 {
		var whole strings.Builder
		for range rng.IntN(20) {
			whole.WriteString(parts[rng.IntN(len(parts))])
		}
		text := whole.String()
		var c cleaner
		var got strings.Builder
		for rest := text; rest != ""; {
			n := 1 + rng.IntN(len(rest))
			for n < len(rest) && rest[n]&0xC0 == 0x80 { // an endpoint's pieces are whole characters
				n++
			}
			got.WriteString(c.push(rest[:n]))
			rest = rest[n:]
		}
		got.WriteString(c.rest())
		if got.String() != clean.Clean(text) {
			t.Fatalf("%q in pieces became\n%q, as a whole\n%q", text, got.String(), clean.Clean(text))
		}
	}
}

func TestBlanksWithoutEndAreNotHeldBackForEver(t *testing.T) {
	t.Parallel()
	var c cleaner
	shown := 0
	for range 10 * maxHeld {
		shown += len(c.push("\n"))
		if len(c.held) > maxHeld+1 {
			t.Fatalf("%d bytes are held back", len(c.held))
		}
	}
	if shown == 0 {
		t.Fatal("nothing was shown")
	}
}
