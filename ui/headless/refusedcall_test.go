package headless

import (
	"strings"
	"testing"

	"steward/app/event"
)

// A call that the server turned away is not told as one that may have happened.
func TestARefusedCallIsToldAsOne(t *testing.T) {
	t.Parallel()
	refused := event.Result{Outcome: "unknown", Effect: "unknown", Reason: "The server refused the call and most likely did not run it: the server http://x wants a sign-in."}
	if s := resultSummary(refused, ""); strings.Contains(s, "may or may not") || !strings.Contains(s, "most likely nothing was done: The server refused") {
		t.Error(s)
	}
	lost := event.Result{Outcome: "unknown", Effect: "unknown", Reason: "The connection was lost before the answer came: EOF."}
	if s := resultSummary(lost, ""); !strings.Contains(s, "it may or may not have happened: The connection") {
		t.Error(s)
	}
}
