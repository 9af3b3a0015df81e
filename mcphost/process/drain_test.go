//go:build unix

package process

import (
	"context"
	"testing"
	"time"
)

// Too much is told once, and only where it goes on.
func TestAMeterTellsOfAFloodOnce(t *testing.T) {
	t.Parallel()
	now := time.Unix(0, 0)
	told := func(m *meter, each int, seconds int) (n int, rate int64) {
		for range seconds * 10 {
			now = now.Add(100 * time.Millisecond)
			if _, said := m.add(each, now); said > 0 {
				n, rate = n+1, said
			}
		}
		return n, rate
	}
	m := &meter{since: now}
	if n, _ := told(m, 10<<20, 1); n != 0 { // a dump of 100 MB at once
		t.Error("a second of it was told")
	}
	if n, _ := told(m, 10, 5); n != 0 {
		t.Error("a trickle after it was told")
	}
	if n, rate := told(m, 2<<20, 20); n != 1 || rate < 19<<20 || rate > 21<<20 {
		t.Errorf("told %d times, %d bytes a second", n, rate)
	}
}

// A program that writes to standard error for ever is told, and is read on.
func TestAFloodOfStderrIsTold(t *testing.T) {
	t.Parallel()
	said := make(chan int64, 10)
	p, err := Start(context.Background(), Spec{
		Path: "/bin/sh", Args: []string{"-c", `exec cat /dev/zero >&2`}, Env: Environment(nil, ""), Dir: t.TempDir(),
		OnFlood: func(rate int64) { said <- rate },
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case rate := <-said:
		if rate < FloodRate || p.StderrWritten() < 2*FloodRate {
			t.Errorf("%d bytes a second, %d bytes", rate, p.StderrWritten())
		}
	case <-time.After(30 * time.Second):
		t.Error("nothing was told")
	}
	if err := p.Stop(50 * time.Millisecond); err != nil {
		t.Error(err)
	}
}
