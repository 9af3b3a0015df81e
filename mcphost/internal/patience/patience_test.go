package patience

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errOver = errors.New("over")

// TestStandsStill checks that a limit does not run while a person is waited for,
// also one further out, and runs on for what was left of it.
func TestStandsStill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		outer, cancel := WithTimeoutCause(t.Context(), 10*time.Second, errOver)
		defer cancel()
		inner, cancelInner := WithTimeoutCause(context.WithoutCancel(outer), time.Minute, errors.New("inner"))
		defer cancelInner()
		time.Sleep(4 * time.Second)
		first, second := Pause(inner), Pause(inner)
		time.Sleep(time.Hour)
		first()
		first() // counts once
		time.Sleep(time.Hour)
		if outer.Err() != nil || inner.Err() != nil {
			t.Fatalf("it ran on: %v, %v", context.Cause(outer), context.Cause(inner))
		}
		second()
		time.Sleep(5 * time.Second)
		if outer.Err() != nil {
			t.Fatal("it ended before what was left had passed")
		}
		time.Sleep(2 * time.Second)
		if context.Cause(outer) != errOver {
			t.Fatalf("cause %v", context.Cause(outer))
		}
		if inner.Err() != nil {
			t.Fatal("the inner limit ended with the outer")
		}
	})
}

// TestEnds checks that cancelling ends it, and that what comes then does nothing.
func TestEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told atomic.Int32
		ctx := Notify(t.Context(), func(on bool) {
			if on {
				told.Add(1)
			} else {
				told.Add(10)
			}
		})
		ctx, cancel := WithTimeoutCause(ctx, time.Second, errOver)
		resume := Pause(ctx)
		cancel()
		resume()
		time.Sleep(time.Minute)
		if !errors.Is(context.Cause(ctx), context.Canceled) || told.Load() != 11 {
			t.Fatalf("cause %v, told %d", context.Cause(ctx), told.Load())
		}
		Pause(t.Context())() // nothing to tell
	})
}
