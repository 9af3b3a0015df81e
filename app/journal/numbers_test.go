package journal

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// TestNumbersAreThoseOfTheList: whatever a filter chooses, the numbers are those of the records that the list gives
// for it, in the same order, and the export has as many.
func TestNumbersAreThoseOfTheList(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var hours atomic.Int64
	clock := func() time.Time { return start.Add(time.Duration(hours.Load()) * time.Hour) }
	j := testJournal(t, Options{Store: testStore(t, t.TempDir()), Now: clock})
	for i := range 30 {
		hours.Add(1)
		p := callOf(`{"date":"2025-03-17"}`)
		p.Server = []string{"travel", "mail-server", "filesystem"}[i%3]
		e := propose(t, j, p)
		if i%5 == 0 {
			continue // waits
		}
		ok(t, e.Decided(t.Context(), Decision{Decision: Denied, By: "person", Reason: "wrong folder"}))
		ok(t, e.Outcome(t.Context(), Outcome{Outcome: Denied, Reason: "wrong folder"}))
	}
	_, err := j.note(t.Context(), Proposal{Kind: KindSettings}, Outcome{}, true) // brings everything to the disk, where the lists look
	ok(t, err)
	for name, f := range map[string]Filter{
		"all": {}, "server": {Server: "travel"}, "outcome": {Outcome: Denied}, "waiting": {Outcome: Waiting}, "decision": {Decision: Denied, Server: "travel"},
		"time": {Since: clock().Add(-10 * time.Hour)}, "search": {Search: "folder"}, "search in open ones": {Search: "2025"}, "both": {Search: "folder", Server: "travel"},
		"none": {Server: "nobody"}, "no word": {Search: "…"},
	} {
		f.Limit = -1
		list, err := j.List(t.Context(), f)
		ok(t, err)
		want := []int64{}
		for _, r := range list {
			want = append(want, r.Record)
		}
		got, err := j.Numbers(t.Context(), f)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v, want %v", name, got, err, want)
		}
		done := int64(0)
		f.Limit = 0
		ok(t, j.ExportWith(t.Context(), io.Discard, FormatCSV, f, func(n, of int64) {
			if n <= done || of != int64(len(want)) {
				t.Errorf("%s: %d of %d after %d", name, n, of, done)
			}
			done = n
		}))
		if done != int64(len(want)) {
			t.Errorf("%s: the export told of %d of %d", name, done, len(want))
		}
	}
	for f, n := range map[Filter]int{{Decision: Denied}: 24, {}: 31} {
		if got, err := j.Numbers(t.Context(), f); err != nil || len(got) != n {
			t.Errorf("%+v chooses %d, %v, want %d", f, len(got), err, n)
		}
	}
}

func TestVerifyTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	j := newJournal(t)
	for range 60 {
		call(t, j, `{"a":1}`, `{}`)
	}
	var told []int64
	last := int64(0)
	v, err := j.VerifyWith(t.Context(), func(done, of int64) { told, last = append(told, done), of })
	if err != nil || !v.OK || len(told) < 3 || !slices.IsSorted(told) || told[len(told)-1] != v.Events || last != v.Events {
		t.Errorf("told %v of %d, %d events, %v", told, last, v.Events, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err = j.VerifyWith(ctx, func(int64, int64) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("a check that was stopped ended with %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	if err := j.ExportWith(ctx, io.Discard, FormatJSONL, Filter{}, func(int64, int64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("an export that was stopped ended with %v", err)
	}
}
