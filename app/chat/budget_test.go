package chat

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"steward/app/journal"
	sm "steward/testdata/scriptedmodel"
)

func TestHowResultsShareTheirRoom(t *testing.T) {
	t.Parallel()
	tests := []struct {
		sizes []int
		each  int
		round int
		want  []int
	}{
		{[]int{10, 20}, 100, 100, []int{10, 20}},
		{[]int{10, 500}, 100, 1000, []int{10, 100}},
		{[]int{500, 10, 500}, 400, 210, []int{100, 10, 100}},
		{[]int{90, 90, 90, 30}, 400, 210, []int{60, 60, 60, 30}},
		{[]int{500, 500}, 0, 100, []int{500, 500}},
		{[]int{usualRound, usualRound}, usualRound, 0, []int{usualRound / 2, usualRound / 2}},
		{nil, 10, 10, nil},
	}
	for _, test := range tests {
		if got := (Budget{Round: test.round}).shares(test.sizes, test.each); !slices.Equal(got, test.want) {
			t.Errorf("%v, each %d, together %d: %v, want %v", test.sizes, test.each, test.round, got, test.want)
		}
	}
}

func TestACutResultSaysWhatIsMissingAndHowToHaveIt(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&lines, "line %d\n", i+1)
	}
	got := cutResult(lines.String(), 8<<10, 12)
	head, rest, _ := strings.Cut(got, "\n[… ")
	note, tail, _ := strings.Cut(rest, " …]\n")
	var left, all, from, to, of int
	if n, err := fmt.Sscanf(note, "%d of %d bytes are left out here, lines %d to %d of %d.", &left, &all, &from, &to, &of); n != 5 {
		t.Fatalf("%q: %v", note, err)
	}
	if len(got) > 8<<10 || all != lines.Len() || left+len(head)+len(tail) != all || of != 20_001 {
		t.Errorf("%d bytes, %q", len(got), note)
	}
	if !strings.HasSuffix(head, fmt.Sprintf("\nline %d", from-1)) || !strings.HasPrefix(tail, fmt.Sprintf("line %d\n", to+1)) {
		t.Errorf("cut between %q and %q: %q", head[len(head)-20:], tail[:20], note)
	}
	if !strings.Contains(note, "kept as record 12") || !strings.Contains(note, "call the tool again and ask for less") {
		t.Errorf("%q", note)
	}
	one := strings.Repeat("你好🌍", 10_000)
	for limit := range 4000 {
		got := cutResult(one, limit+200, 0)
		if !utf8.ValidString(got) || limit >= 400 && len(got) > limit+200 || strings.Contains(got, "lines") {
			t.Fatalf("limit %d: %d bytes, %q", limit+200, len(got), got)
		}
	}
	if got := cutResult(one, 0, 3); got != one {
		t.Error("cut without a limit")
	}
}

// The results of one answer have room together, whatever each may have; the short ones stay whole, and the same ones are
// cut the same way in every later request, so that endpoints can keep what they have read.
func TestTheResultsOfOneAnswerHaveRoomTogether(t *testing.T) {
	t.Parallel()
	var parts []sm.Part
	for i := range 8 {
		parts = append(parts, sm.CallDelta(i, fmt.Sprintf("c%d", i), "s__much", fmt.Sprintf(`{"n":%d}`, i)))
	}
	parts = append(parts, sm.CallDelta(8, "c8", "s__echo", `{"text":"short"}`), sm.Finish("tool_calls"), sm.Done())
	r := newRig(t, rigOptions{policy: allowAll(), script: strict(sm.Reply(parts...), sm.CallTool("echo", `{"text":"x"}`), sm.Say("ok"))})
	r.server("s", "--step", "tool:much=@big 60000")
	r.want(r.ask("go"), Finished)
	got, total := r.tools(2), 0
	for _, text := range got {
		total += len(text)
	}
	if total > usualRound || total < usualRound*9/10 || got[8] != "short" {
		t.Errorf("the results take %d bytes, the last is %q", total, got[8])
	}
	if later := r.tools(3); !slices.Equal(later[:9], got) {
		t.Error("a later request cuts them in another way")
	}
	if m := r.messages(r.records(journal.KindCall)[0].Conversation); len(m[2].Text) != 60000 {
		t.Errorf("%d bytes of a result are kept", len(m[2].Text))
	}
}

// Where an endpoint refuses many results that are each short enough, they share less room in the request that is sent
// once more.
func TestManyShortResultsShareLessRoomAfterARefusal(t *testing.T) {
	t.Parallel()
	var parts []sm.Part
	for i := range 10 {
		parts = append(parts, sm.CallDelta(i, fmt.Sprintf("c%d", i), "s__much", fmt.Sprintf(`{"n":%d}`, i)))
	}
	full := func(q sm.Request) (int, string) {
		if len(q.Body) > 50_000 {
			return 400, `{"error":{"code":"context_length_exceeded","message":"too long"}}`
		}
		return 0, ""
	}
	r := newRig(t, rigOptions{policy: allowAll(), script: sm.Script{Strict: true, Check: full, Steps: []sm.Step{
		sm.Reply(append(parts, sm.Finish("tool_calls"), sm.Done())...), sm.Say("ok"),
	}}})
	r.server("s", "--only", "much", "--step", "tool:much=@big 7000")
	r.want(r.ask("go"), Finished)
	total := 0
	for _, text := range r.tools(3) {
		total += len(text)
	}
	if total > tight.Round || r.ran() != 10 {
		t.Errorf("the results take %d bytes, %d calls ran", total, r.ran())
	}
}
