package app

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"steward/app/event"
)

// asked counts the requests of a method that went to a server.
func (r *rig) asked(server, method string) int {
	n := 0
	for _, f := range r.app.ServerFrames(server) {
		if f.Direction == "out" && strings.Contains(string(f.Bytes), `"method":"`+method+`"`) {
			n++
		}
	}
	return n
}

// What a server offers is asked for once, whoever looks and however often; a change that it
// announces, and a person's wish, have it asked again.
func TestAServerIsNotAskedWithEachLook(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--step", "tool:change=@notify notifications/prompts/list_changed {}", "--step", "tool:change=@text done")})
	check(t, r.app.StartServer(ctx, "s"), r.app.SetPermission(ctx, "s", "change", PermissionAllow))
	lists := []string{"prompts/list", "resources/list", "resources/templates/list"}
	count := func() (n []int) {
		for _, l := range lists {
			n = append(n, r.asked("s", l))
		}
		return n
	}
	look := func() {
		t.Helper()
		for range 5 {
			d := must(t, func() (ServerDetail, error) { return r.app.Server(ctx, "s") })
			r.server("s")
			if !d.Known || len(d.PromptList) != 1 || len(d.ResourceList) != 1 || len(d.TemplateList) != 1 || d.OfferError != "" {
				t.Fatalf("it offers %+v", d.ServerOffers)
			}
		}
	}
	look()
	if n := count(); !slices.Equal(n, []int{1, 1, 1}) {
		t.Errorf("five looks asked %v times", n)
	}
	must(t, func() (Outcome, error) { return r.app.Call(ctx, "s", "change", "{}") })
	r.until("the announced change is read", func() bool { r.server("s"); return count()[0] > 1 })
	before := count()
	check(t, r.app.RefreshServer(ctx, "s"))
	r.until("a person's wish is met", func() bool { r.server("s"); n := count(); return n[0] > before[0] && n[1] > before[1] })
	r.until("nothing is being asked", func() bool {
		r.app.desk.facts.mu.Lock()
		defer r.app.desk.facts.mu.Unlock()
		return len(r.app.desk.facts.asking) == 0
	})
	before = count()
	look()
	if n := count(); !slices.Equal(n, before) {
		t.Errorf("looking asked again: %v became %v", before, n)
	}
	check(t, r.app.StopServer(ctx, "s"))
	if err := r.app.RefreshServer(ctx, "s"); Explain(err).Key != "server_not_running" {
		t.Errorf("a server that does not run was asked: %v", err)
	}
}

// What changes while a server is being asked is not lost: it is asked again.
func TestAChangeWhileAskingIsNotLost(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"s": self(t, "scripted", "--step", "prompts/list=@sleep 300ms", "--step", "prompts/list=@usual")})
	check(t, r.app.StartServer(ctx, "s"))
	r.server("s") // begins to ask
	r.until("it is asked", func() bool { return r.asked("s", "prompts/list") == 1 })
	r.app.changedServer("s")
	r.until("it is asked again", func() bool { r.server("s"); return r.asked("s", "prompts/list") == 2 })
}

// A server that does not answer holds up who looks at it once, and nobody else.
func TestAServerThatDoesNotAnswerHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, map[string]any{"mute": self(t, "scripted", "--step", "prompts/list=@wait never"), "s": self(t, "scripted")})
	check(t, r.app.StartServer(ctx, "mute"), r.app.StartServer(ctx, "s"))
	within := func(limit time.Duration, what func() (ServerDetail, error)) ServerDetail {
		t.Helper()
		start := time.Now()
		d := must(t, what)
		if took := time.Since(start); took > limit {
			t.Errorf("it took %v", took)
		}
		return d
	}
	if d := within(offersWait/2, func() (ServerDetail, error) { return r.app.ServerNow(ctx, "mute") }); d.Known || len(d.ServerTools) == 0 || d.State != "ready" {
		t.Errorf("at once it is %+v", d)
	}
	within(offersWait*3, func() (ServerDetail, error) { return r.app.Server(ctx, "mute") })
	within(offersWait/2, func() (ServerDetail, error) { return r.app.Server(ctx, "mute") })
	if d := within(offersWait*3, func() (ServerDetail, error) { return r.app.Server(ctx, "s") }); !d.Known || len(d.PromptList) != 1 {
		t.Errorf("the other is %+v", d.ServerOffers)
	}
	start := time.Now()
	r.close()
	if took := time.Since(start); took > factWait/2 {
		t.Errorf("the program's end waited %v for it", took)
	}
}

// Whoever shows the list of servers hears of every start, end and review, and then finds
// the count of what waits for one brought up to date.
func TestStartsEndsAndReviewsAreTold(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil)
	told := func() int {
		n := 0
		r.heard(func(e event.Event) bool {
			if c, ok := e.(event.ServersChanged); ok && c.Server == "s" {
				n++
			}
			return false
		})
		return n
	}
	step := func(what string, do func()) {
		t.Helper()
		before := told()
		do()
		r.until(what+" is told", func() bool { return told() > before })
	}
	check(t, r.app.AddServer(ctx, entryOf(t, "s", "scripted", "--only", "echo")))
	r.server("s")
	step("the start for a review", func() { must(t, func() (Review, error) { return r.app.Review(ctx, "s") }) })
	r.until("what waits is counted", func() bool { return r.server("s").Pending > 0 })
	step("the review", func() { r.trust("s") })
	r.until("nothing waits any more", func() bool { s := r.server("s"); return s.Pending == 0 && s.Reviewed })
	step("the end", func() { check(t, r.app.StopServer(ctx, "s")) })
	step("the start", func() { check(t, r.app.StartServer(ctx, "s")) })
	step("its being switched off", func() { check(t, r.app.EnableServer(ctx, "s", false)) })
}
