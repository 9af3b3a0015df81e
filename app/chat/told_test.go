package chat

import (
	"fmt"
	"strings"
	"testing"

	"steward/storage"
)

func TestAnAnswerThatBrokeOffIsToldToBeSuch(t *testing.T) {
	t.Parallel()
	for state, want := range map[string]string{
		storage.StateComplete: "part", storage.StateInterrupted: "part\n\n[This answer broke off here.]",
		storage.StateStopped: "part\n\n[The person stopped this answer here.]", storage.StateFailed: "part\n\n[This answer broke off here, because of an error.]",
	} {
		m := callsRow(t, "part")
		m.State = state
		if got := build(userRow("go"), m, userRow("on")).Messages[2].Text; got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
}

// Of a list of calls that is broken in one place the others are read, in our form and in that of the chat completions format.
func TestBrokenAndForeignCallsAreReadAsFarAsTheyGo(t *testing.T) {
	t.Parallel()
	m := storage.Message{Role: storage.RoleAssistant, Calls: raw(`[{"id":"k_1","name":"s__t","arguments":"{}"},7,{"id":"k_2","name":5},null,` +
		`{"id":"c1","type":"function","function":{"name":"s__u","arguments":"{\"a\":1}"}},{"id":"c2","name":"s__v","arguments":{"b": 2}}]`)}
	var got []string
	for _, c := range readCalls(m) {
		got = append(got, fmt.Sprint(c.ID, " ", c.Name, " ", c.Arguments))
	}
	if want := `k_1 s__t {},c1 s__u {"a":1},c2 s__v {"b":2}`; strings.Join(got, ",") != want {
		t.Errorf("%q, want %s", got, want)
	}
}

func TestPicturesOfARequestAreLimitedInBytes(t *testing.T) {
	t.Parallel()
	meta, err := encode(storedMeta{Images: []storedImage{{"image/png", make([]byte, 5<<20)}}})
	if err != nil {
		t.Fatal(err)
	}
	rows := []storage.Message{userRow("go")}
	for i := range 6 {
		id := fmt.Sprint("k_", i)
		row := toolRow(id, "shot")
		row.Meta = meta
		rows = append(rows, callsRow(t, "", call(id, id, "{}")), row)
	}
	var kept []int
	for i, m := range build(rows...).Messages {
		if len(m.Images) > 0 {
			kept = append(kept, i)
		} else if m.CallID != "" && !strings.Contains(m.Text, "[1 picture is left out of this request]") {
			t.Errorf("message %d: %q", i, m.Text)
		}
	}
	if fmt.Sprint(kept) != "[7 9 11 13]" {
		t.Errorf("pictures in the messages %v, want those of the newest 4", kept)
	}
}
