package journal

import (
	"testing"

	"steward/storage"
)

// chainOf makes events that follow each other.
func chainOf(n int64) []storage.Event {
	var all []storage.Event
	var prev []byte
	for seq := int64(1); seq <= n; seq++ {
		e := storage.Event{Seq: seq, Record: 1, Kind: evSent, Meta: "{}", Prev: prev}
		e.Hash = eventHash(e)
		prev = e.Hash
		all = append(all, e)
	}
	return all
}

func newExportWalk() *exportWalk {
	return &exportWalk{hashes: map[int64]string{}, prevs: map[int64]string{}, seen: map[int64]uint64{}}
}

// TestNeighboursAreComparedInAnyOrder: the events of a record stand together, so the later of two neighbours may come
// first. Of a whole chain nothing is kept but the first event's missing predecessor and the last one's hash.
func TestNeighboursAreComparedInAnyOrder(t *testing.T) {
	t.Parallel()
	for _, order := range [][]int{{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, {0, 1, 5, 2, 3, 4}, {3, 0, 5, 1, 4, 2}} {
		chain := chainOf(6)
		x := newExportWalk()
		for _, i := range order {
			if bad := x.event(chain[i]); bad != nil {
				t.Errorf("%v: %v", order, bad)
			}
		}
		if len(x.hashes) != 1 || len(x.prevs) != 1 {
			t.Errorf("%v: %d hashes and %d predecessors are kept", order, len(x.hashes), len(x.prevs))
		}
		if x.event(chain[2]) == nil {
			t.Error("an event came twice unnoticed")
		}
		// One event was made anew, its hash with it: its neighbours do not fit any more.
		forged := chain[3]
		forged.Meta = `{"tool":"other"}`
		forged.Hash = eventHash(forged)
		chain[3] = forged
		x = newExportWalk()
		found := false
		for _, i := range order {
			found = x.event(chain[i]) != nil || found
		}
		if !found {
			t.Errorf("%v: a forged event was not noticed", order)
		}
	}
}
