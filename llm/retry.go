package llm

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	firstPause = 500 * time.Millisecond
	maxPause   = 20 * time.Second
	maxAsked   = 60 * time.Second // longest wait an endpoint may ask for
	maxSpread  = time.Second      // most that is added to a wait an endpoint asked for
)

// backoff decides whether and when to send a request again after the given
// number of failures: as the endpoint asks, else after a growing pause; either
// with a random part, so that many clients do not come back at the same moment,
// and never earlier than asked. random is a number below n.
func backoff(e *Error, failures int, random func(n int64) int64) (time.Duration, bool) {
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
	spread := wait / 2
	if e.after > 0 {
		wait = min(e.after, maxAsked)
		spread = min(wait/10, maxSpread)
	}
	return wait + time.Duration(random(int64(spread)+1)), true
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

// retryAfter is how long the headers of a refusal ask to wait, 0 if they do not say: retry-after-ms, Retry-After
// (RFC 9110 §10.2.3: seconds or a date), or the moment when a limit ends that is used up.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	if v := h.Get("Retry-After"); v != "" {
		if s, err := strconv.ParseFloat(v, 64); err == nil && s >= 0 && s < 1e9 {
			return time.Duration(s * float64(time.Second))
		}
		if t, err := http.ParseTime(v); err == nil {
			return max(0, t.Sub(now))
		}
	}
	return limitEnds(h, now)
}

// limitEnds is the longest time until a limit ends of which nothing remains, or, where none is said to be used up, until
// all of them have ended.
func limitEnds(h http.Header, now time.Time) time.Duration {
	var used, all time.Duration
	for name, values := range h {
		name = strings.ToLower(name)
		if !strings.Contains(name, "ratelimit") || !strings.Contains(name, "reset") || len(values) == 0 {
			continue
		}
		d := untilReset(strings.TrimSpace(values[0]), now)
		all = max(all, d)
		if h.Get(strings.Replace(name, "reset", "remaining", 1)) == "0" {
			used = max(used, d)
		}
	}
	if used > 0 {
		return used
	}
	return all
}

// untilReset reads how such a header is written: a duration ("6m0s"), seconds, a moment in seconds or milliseconds since
// 1970, or a date (RFC 3339). It is 0 for anything else, and for what is past.
func untilReset(v string, now time.Time) time.Duration {
	if d, err := time.ParseDuration(v); err == nil {
		return max(0, d)
	}
	if t, err := time.Parse(time.RFC3339, v); err == nil {
		return max(0, t.Sub(now))
	}
	n, err := strconv.ParseFloat(v, 64)
	switch {
	case err != nil || n < 0 || n > 1e14:
		return 0
	case n >= 1e11:
		return max(0, time.UnixMilli(int64(n)).Sub(now))
	case n >= 1e8:
		return max(0, time.Unix(int64(n), 0).Sub(now))
	}
	return time.Duration(n * float64(time.Second))
}

var (
	inWords  = regexp.MustCompile(`(?i)(?:try again|retry|wait)(?: after| in| for)? (?:about |at least )?((?:[0-9]+(?:\.[0-9]+)? ?(?:milliseconds?|ms|minutes?|mins?|m|hours?|h|seconds?|secs?|s) ?)+)`)
	oneOfIts = regexp.MustCompile(`(?i)([0-9.]+) ?(milliseconds?|ms|minutes?|mins?|m|hours?|h|seconds?|secs?|s)`)
)

// delayInWords finds "Please try again in 1.898s", "Retry after 20 seconds" and the like; 0 if there is none.
func delayInWords(message string) time.Duration {
	m := inWords.FindStringSubmatch(message)
	if m == nil {
		return 0
	}
	var total time.Duration
	for _, part := range oneOfIts.FindAllStringSubmatch(m[1], -1) {
		n, err := strconv.ParseFloat(part[1], 64)
		if err != nil || n > 1e6 {
			return 0
		}
		unit := time.Second
		switch word := strings.ToLower(part[2]); {
		case strings.HasPrefix(word, "ms"), strings.HasPrefix(word, "milli"):
			unit = time.Millisecond
		case word[0] == 'm':
			unit = time.Minute
		case word[0] == 'h':
			unit = time.Hour
		}
		total += time.Duration(n * float64(unit))
	}
	return total
}
