package consent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"steward/mcphost"
)

// runs tells which of some tickets may run now.
func runs(tickets []*ticket) string {
	var out []string
	for i, t := range tickets {
		select {
		case <-t.turn:
			out = append(out, strconv.Itoa(i))
		default:
		}
	}
	return strings.Join(out, " ")
}

func TestWhichCallsOfALaneRunBesideEachOther(t *testing.T) {
	t.Parallel()
	type call struct {
		server string
		reads  bool
	}
	tests := []struct {
		name  string
		calls []call
		leave []int
		want  string // which have had their turn, then
	}{
		{"writes to one server", []call{{"a", false}, {"a", false}, {"a", false}}, nil, "0"},
		{"the next write", []call{{"a", false}, {"a", false}, {"a", false}}, []int{0}, "0 1"},
		{"one that gives up before its turn", []call{{"a", false}, {"a", false}, {"a", false}}, []int{1, 0}, "0 2"},
		{"reads of one server", []call{{"a", true}, {"a", true}, {"a", true}}, nil, "0 1 2"},
		{"no more than four", []call{{"a", true}, {"a", true}, {"b", false}, {"c", true}, {"d", false}, {"a", true}}, nil, "0 1 2 3"},
		{"a fifth when one has ended", []call{{"a", true}, {"a", true}, {"b", false}, {"c", true}, {"d", false}, {"a", true}}, []int{1}, "0 1 2 3 4"},
		{"a read behind a write waits", []call{{"a", true}, {"a", false}, {"a", true}}, nil, "0"},
		{"a write behind reads waits for all", []call{{"a", true}, {"a", true}, {"a", false}}, []int{0}, "0 1"},
		{"and runs then", []call{{"a", true}, {"a", true}, {"a", false}}, []int{0, 1}, "0 1 2"},
		{"what waits at one server holds up no other", []call{{"a", false}, {"a", false}, {"b", false}}, nil, "0 2"},
	}
	for _, test := range tests {
		var l Lane
		var tickets []*ticket
		for _, c := range test.calls {
			tickets = append(tickets, l.take(c.server, c.reads))
		}
		for _, i := range test.leave {
			tickets[i].leave()
		}
		if got := runs(tickets); got != test.want {
			t.Errorf("%s: %q have had their turn, want %q", test.name, got, test.want)
		}
	}
}

func TestAStoppedCallWaitsNoMoreForItsTurn(t *testing.T) {
	t.Parallel()
	var l Lane
	l.take("a", false)
	next := l.take("a", false)
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(ErrStopped)
	if err := next.wait(ctx); !errors.Is(err, ErrStopped) {
		t.Errorf("it waited until %v", err)
	}
}

// together runs calls of a tool in one lane and returns the most that the server worked on at once.
func (r *rig) together(conn *mcphost.Connection, tool string, n int) int {
	r.t.Helper()
	lane := &Lane{}
	var outs []<-chan Outcome
	for i := range n {
		outs = append(outs, r.run(context.Background(), r.call(conn, tool, fmt.Sprintf(`{"n":%d}`, i)), conn, Limits{Lane: lane}))
	}
	most := 0
	for _, out := range outs {
		o := wait(r.t, out)
		expect(r.t, o, Allowed, "flag", "ok", "done")
		seen, err := strconv.Atoi(o.Text)
		if err != nil {
			r.t.Fatalf("the server says %q", o.Text)
		}
		most = max(most, seen)
	}
	return most
}

func TestOnlyCallsThatReadRunTogetherAtOneServer(t *testing.T) {
	t.Parallel()
	marked := false
	r := newRig(t, func(o *Options) {
		allow(o)
		o.ReadOnly = func(server, tool, definition string) bool {
			return marked && server == "marked" && tool == "look" && definition != ""
		}
	})
	slow := []string{"--step", "tool:look=@sleep 100ms", "--step", "tool:look=@text ${together}"}
	flags := append([]string{"--step", "tool:look=@gather 4"}, slow...)
	plain, _ := r.server("plain", slow...)
	reads, _ := r.server("reads", slices.Concat(flags, []string{"--reads", "look"})...)
	own, _ := r.server("marked", flags...)
	if n := r.together(plain, "look", 3); n != 1 {
		t.Errorf("%d calls that may change something ran together", n)
	}
	if n := r.together(reads, "look", 7); n != Together {
		t.Errorf("%d calls that the server says only read ran together, want %d", n, Together)
	}
	if marked = true; r.together(own, "look", 7) != Together {
		t.Errorf("calls that the person says only read did not run together")
	}
}

// What a server asks while several calls of one conversation run on it belongs to that conversation, and to none of
// the calls.
func TestAQuestionDuringSeveralCallsBelongsToTheirConversation(t *testing.T) {
	t.Parallel()
	r := newRig(t, allow)
	conn, _ := r.server("s", "--reads", "elicit", "--step", `tool:elicit=@gather 2`,
		"--step", `tool:elicit=@ask elicitation/create {"message":"How old?","requestedSchema":{"type":"object","properties":{}}}`, "--step", "tool:elicit=@text ${answer}")
	lane := &Lane{}
	var outs []<-chan Outcome
	for i := range 2 {
		outs = append(outs, r.run(context.Background(), r.call(conn, "elicit", fmt.Sprintf(`{"n":%d}`, i)), conn, Limits{Lane: lane}))
	}
	if i := r.item(KindElicitation); i.Conversation != "c_1" || len(i.Running) != 2 || i.Presentation.Tool != "" {
		t.Errorf("it belongs to %q, %v", i.Conversation, i.Running)
	}
	r.gate.StopAll()
	for _, out := range outs {
		wait(t, out)
	}
}
