package chat

import (
	"strings"
	"testing"

	sm "steward/testdata/scriptedmodel"
)

// A request that is refused for its size, and holds nothing that could be shortened, is not sent a second time.
func TestWhereNothingCanBeShortenedNothingIsSentAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: allowAll(), script: sm.Script{Strict: true, Steps: []sm.Step{
		sm.Fail(400, `{"error":{"code":"context_length_exceeded","message":"maximum context length is 1000 tokens"}}`), sm.Say("never"),
	}}})
	r.want(r.ask("go"), Failed)
	if n := len(r.model.Requests()); n != 1 {
		t.Errorf("the model was asked %d times", n)
	}
	if strings.Contains(r.notices(), "shortened") {
		t.Errorf("it is said that something was shortened: %s", r.notices())
	}
}
