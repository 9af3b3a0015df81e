package headless

import (
	"encoding/json"
	"strings"
	"testing"

	"steward/testdata/scriptedmodel"
)

// On a terminal a turn at its limit asks, whoever answers approvals; the answer holds for as many rounds again.
func TestATurnAtItsLimitAsksOnATerminal(t *testing.T) {
	t.Parallel()
	m := scriptedmodel.StartScript(t, scriptedmodel.Script{Strict: true, Rounds: &scriptedmodel.Rounds{N: 100, Tool: "echo", Arguments: json.RawMessage(`{"text":"{{n}}"}`)}})
	d := talk(t, prepared(t, "ask", "go", "--base-url", m.URL(), "--model", "fake", "--data", t.TempDir(), "--servers", serversFile(t, scripted("--only", "echo")), "--consent", "allow", "--max-rounds", "2"))
	if card := d.waitFor(question); !strings.Contains(card, "asked 2 times for this one message") {
		t.Errorf("the question is:\n%s", card)
	}
	if n := len(m.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
	d.answer("y")
	d.waitFor("asked 4 times")
	d.waitFor(question)
	d.answer("n")
	if said := d.end(3); !strings.Contains(said, "the limit of 4 rounds for one turn was reached; send another message to go on") {
		t.Errorf("it ended with:\n%s", said)
	}
	if n := len(m.Requests()); n != 4 {
		t.Errorf("the model was asked %d times", n)
	}
}
