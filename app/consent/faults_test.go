package consent

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"steward/app/event"
	"steward/app/journal"
)

func TestAFaultOnTheWayEndsOneCallOnly(t *testing.T) {
	t.Parallel()
	broken := true
	r := newRig(t, func(o *Options) {
		allow(o)
		o.Disabled = func(_, _, _, _ string) bool {
			if broken {
				panic("SENTINEL")
			}
			return false
		}
		o.Redact = func(s string) string { return strings.ReplaceAll(s, "SENTINEL", "[secret]") }
	})
	conn, received := r.server("s")
	o, err := r.gate.Run(context.Background(), r.call(conn, "echo", `{}`), conn, Limits{})
	if err == nil || o.Outcome != "withdrawn" || o.Effect != "none" || len(received()) != 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	broken = false
	expect(t, r.now(r.call(conn, "echo", `{}`), conn), Allowed, "flag", "ok", "done")
}

func TestAJournalThatFailsOnTheWayStopsTheCall(t *testing.T) {
	t.Parallel()
	var r *rig
	r = newRig(t, func(o *Options) {
		allow(o)
		o.Disabled = func(_, _, _, _ string) bool { // asked after the call was proposed, before it is sent
			if err := r.journal.Close(context.Background()); err != nil {
				t.Error(err)
			}
			return false
		}
	})
	conn, received := r.server("s")
	o, err := r.gate.Run(context.Background(), r.call(conn, "echo", `{}`), conn, Limits{})
	if err == nil || o.Effect != "none" || !strings.HasPrefix(o.Text, "Not executed.") || o.Record == 0 {
		t.Fatalf("%+v, %v", o, err)
	}
	if got := received(); len(got) != 0 {
		t.Fatalf("the server received %q", got)
	}
}

func TestPromptsCountAsReviewedLikeTools(t *testing.T) {
	t.Parallel()
	for _, listed := range []bool{true, false} {
		r := newRig(t, func(o *Options) { o.Listed = func(string) bool { return listed } })
		conn, _ := r.server("s")
		ctx := context.Background()
		prompts, err := conn.Prompts(ctx)
		if err != nil || len(prompts) == 0 {
			t.Fatalf("the server offers no prompt: %v", err)
		}
		check := func(change string, want bool) {
			t.Helper()
			p := prompts[0]
			p.Definition += change
			if ok, err := r.gate.PromptReviewed(ctx, conn, p); err != nil || ok != want {
				t.Fatalf("listed %v, changed %q: reviewed %v (%v)", listed, change, ok, err)
			}
		}
		check("", listed)
		if !listed {
			if err := r.gate.Trust(ctx, conn, ""); err != nil {
				t.Fatal(err)
			}
		}
		check("", true)
		check("changed", false)
	}
}

// A fault while a task is followed on ends that call with its record, and not the program.
func TestAFaultWhileATaskIsFollowedEndsItsCallOnly(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	r := newRig(t, func(o *Options) {
		allow(o)
		o.Redact = func(s string) string {
			if broken.CompareAndSwap(true, false) {
				panic("SENTINEL")
			}
			return s
		}
	})
	conn, _ := r.server("s", "--tasks", "core", "--task-file", filepath.Join(t.TempDir(), "tasks"), "--task-ms", "300")
	ctx, closing := context.WithCancelCause(context.Background())
	defer r.bus.Subscribe(func(e event.Event) {
		if p, ok := e.(event.Progress); ok && p.Task {
			closing(ErrClosed)
		}
	})()
	if o, err := r.gate.Run(ctx, r.call(conn, "task", `{}`), conn, Limits{}); err != nil || o.Outcome != journal.Running {
		t.Fatalf("left as %+v, %v", o, err)
	}
	if err := r.journal.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	j, found, err := journal.Open(context.Background(), journal.Options{Store: r.store, Dir: t.TempDir()})
	if err != nil || len(found.Tasks) != 1 {
		t.Fatalf("%+v, %v", found, err)
	}
	r.journal = j
	broken.Store(true)
	o, err := r.gate.Resume(context.Background(), found.Tasks[0], conn, Limits{}, nil)
	if err == nil || o.Outcome != "unknown" || o.Effect != "unknown" {
		t.Errorf("%+v, %v", o, err)
	}
	if d, err := j.Show(context.Background(), o.Record); err != nil || d.Outcome != "unknown" {
		t.Errorf("the record says %+v, %v", d.Record, err)
	}
}
