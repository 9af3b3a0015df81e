package chat

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"steward/app/consent"
	sm "steward/testdata/scriptedmodel"
)

func TestAModelThatGoesInACircleIsTold(t *testing.T) {
	t.Parallel()
	var steps []sm.Step
	for range 11 {
		steps = append(steps, sm.CallTool("echo", `{"text":"x"}`))
	}
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(append(steps, sm.Say("ok"))...)})
	r.server("s")
	res := r.ask("go")
	r.want(res, Finished)
	got := r.tools(12)
	for i, text := range got {
		want := "x"
		if i >= 2 {
			want = fmt.Sprintf("x\n[This is the same call as before with the same result, %d times in this turn by now. Do something else, or tell the person what keeps you from going on.]", i+1)
		}
		if text != want {
			t.Errorf("result %d is %q", i+1, text)
		}
	}
	if told := strings.Count(r.notices(), "repeated_call: The model has made the same call of echo 10 times in this turn."); told != 1 {
		t.Errorf("the person was told %d times", told)
	}
	for _, m := range r.messages(res.Conversation) {
		if strings.Contains(m.Text, "same call") {
			t.Errorf("stored as the result: %q", m.Text)
		}
	}
}

func TestACallThatWaitsForSomethingGoesInNoCircle(t *testing.T) {
	t.Parallel()
	var steps []sm.Step
	for range 5 {
		steps = append(steps, sm.CallTool("status", `{}`))
	}
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(append(steps, sm.Say("ok"))...)})
	r.server("s", "--step", "tool:status=@text ${n} % done")
	r.want(r.ask("go"), Finished)
	if got := r.tools(6); !slices.Equal(got, []string{"1 % done", "2 % done", "3 % done", "4 % done", "5 % done"}) {
		t.Errorf("the model got %q", got)
	}
}

func TestARefusedCallThatComesAgainAndAgainIsTold(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{policy: consent.Policy{Calls: consent.Deny}, script: strict(
		calls("echo", 1), calls("echo", 1), calls("echo", 1), sm.Say("ok"),
	)})
	r.server("s")
	r.want(r.ask("go"), Finished)
	if got := r.tools(4); strings.Contains(got[1], "same call") || !strings.Contains(got[2], "the same call as before") || !strings.HasPrefix(got[2], "Not executed.") {
		t.Errorf("the model got %q", got)
	}
}
