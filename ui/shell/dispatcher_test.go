package shell

import (
	"context"
	"sync"
	"testing"
	"time"
)

// thread is a window's thread that a test holds still or lets run.
type thread struct {
	mu    sync.Mutex
	queue []func()
	calls []time.Time
}

func (th *thread) do(f func()) {
	th.mu.Lock()
	defer th.mu.Unlock()
	th.queue = append(th.queue, f)
	th.calls = append(th.calls, time.Now())
}

func (th *thread) run() int {
	th.mu.Lock()
	queue := th.queue
	th.queue = nil
	th.mu.Unlock()
	for _, f := range queue {
		f()
	}
	return len(queue)
}

func (th *thread) runUntil(t *testing.T, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Second); !holds(); time.Sleep(time.Millisecond) {
		th.run()
		if time.Now().After(end) {
			t.Fatal("it did not come about in time")
		}
	}
}

func TestDispatcherKeepsTheOrderAndRarelyCallsTheWindow(t *testing.T) {
	var th thread
	d := NewDispatcher(th.do, nil)
	var got []int
	for i := range 5000 {
		d.Do(func() { got = append(got, i) })
		if i%1000 == 0 {
			time.Sleep(10 * time.Millisecond)
			th.run()
		}
	}
	th.runUntil(t, func() bool { return len(got) == 5000 })
	for i, n := range got {
		if n != i {
			t.Fatalf("place %d holds %d", i, n)
		}
	}
	d.Close()
	<-d.done
	for i := 1; i < len(th.calls); i++ {
		if gap := th.calls[i].Sub(th.calls[i-1]); gap < time.Second/perSecond {
			t.Errorf("two calls of the window's thread lie %s apart", gap)
		}
	}
}

func TestDispatcherNeverBlocksAndWaitsForASlowWindow(t *testing.T) {
	var th thread
	d := NewDispatcher(th.do, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100_000 {
			d.Do(func() {})
		}
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("Do waited for a window that does nothing")
	}
	time.Sleep(3 * time.Second / perSecond)
	th.mu.Lock()
	if n := len(th.queue); n > 1 {
		t.Errorf("%d batches lie before a window that does nothing", n)
	}
	th.mu.Unlock()
	d.Close()
	<-d.done
}

func TestDispatcherDropsWhatComesAfterTheEnd(t *testing.T) {
	var th thread
	d := NewDispatcher(th.do, nil)
	ran := false
	d.Do(func() { ran = true })
	d.Do(func() { d.Close() })
	d.Do(func() { t.Error("work queued behind the end ran") })
	th.runUntil(t, d.isClosed)
	if !ran {
		t.Error("work before the end did not run")
	}
	d.Do(func() { t.Error("work after the end ran") })
	<-d.done
	th.run()
	d.Close()
}

func TestAPanicEndsOnlyItsOwnWork(t *testing.T) {
	var th thread
	var problem any
	d := NewDispatcher(th.do, func(p any) { problem = p })
	after := false
	d.Do(func() { panic("broken") })
	d.Do(func() { after = true })
	th.runUntil(t, func() bool { return after })
	if problem != "broken" {
		t.Errorf("the panic was told as %v", problem)
	}
	d.Close()
	<-d.done
}

func TestRunnerEndsWhatItStarted(t *testing.T) {
	told := make(chan any, 1)
	r := NewRunner(func(p any) { told <- p })
	began := make(chan struct{})
	var ended bool
	r.Go(func(ctx context.Context) {
		close(began)
		<-ctx.Done()
		ended = true
	})
	r.Go(func(context.Context) { panic("broken") })
	<-began
	if p := <-told; p != "broken" {
		t.Errorf("the panic was told as %v", p)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if !r.Close(ctx) || !ended {
		t.Fatal("Close did not wait for what runs")
	}
	r.Go(func(context.Context) { t.Error("work was begun after the end") })
}

func TestRunnerLeavesWhatDoesNotEnd(t *testing.T) {
	r := NewRunner(nil)
	hold := make(chan struct{})
	r.Go(func(context.Context) { <-hold })
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	if r.Close(ctx) {
		t.Error("work that still runs was said to have ended")
	}
	close(hold)
	r.wg.Wait()
}
