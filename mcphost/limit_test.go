package mcphost

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestQuestionsStopTheLimit checks that the time in which a person is asked does not count against a request.
func TestQuestionsStopTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &Connection{}
		late := errors.New("late")
		begun := time.Now()
		ctx, end := c.limited(t.Context(), time.Minute, late)
		defer end()
		time.Sleep(20 * time.Second)
		outer, inner := c.pauseLimits(), c.pauseLimits()
		time.Sleep(time.Hour)
		outer()
		time.Sleep(time.Hour)
		if ctx.Err() != nil {
			t.Fatal("the limit ran while a question was open")
		}
		inner()
		<-ctx.Done()
		if took := time.Since(begun); took != 2*time.Hour+time.Minute || !errors.Is(context.Cause(ctx), late) {
			t.Errorf("it ended after %s with %v", took, context.Cause(ctx))
		}
		end()
		if len(c.limits) != 0 {
			t.Error("the limit is kept")
		}
		c.pauseLimits()() // with none it does nothing
	})
}
