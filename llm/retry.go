package llm

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	firstPause = 500 * time.Millisecond
	maxPause   = 20 * time.Second
	maxAsked   = 60 * time.Second // longest wait an endpoint may ask for
)

// backoff decides whether and when to send a request again after the given
// number of failures: as the endpoint asks, else after a growing pause with a
// random part, so that many clients do not come back at the same moment.
func backoff(e *Error, failures int) (time.Duration, bool) {
	most := 0
	switch {
	case !e.Retryable:
	case e.Kind == KindRateLimit:
		most = 5
	case e.Kind == KindServer && e.Status == 500:
		most = 2
	case e.Kind == KindServer:
		most = 4
	case e.Kind == KindNetwork:
		most = 2
	}
	if failures > most {
		return 0, false
	}
	wait := min(firstPause<<(failures-1), maxPause)
	wait += time.Duration(rand.Int64N(int64(wait / 2)))
	if e.after > 0 {
		wait = min(e.after, maxAsked)
	}
	return wait, true
}

// pause waits, or returns the context's error when that ends first.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}
