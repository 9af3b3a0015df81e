package shell

import (
	"testing"

	"steward/ui/place"
)

// TestEveryCommandIsListed: also those of places that have not been shown; and asking shows none of them.
func TestEveryCommandIsListed(t *testing.T) {
	b := newBench(t, "light", "en", memory{place: place.Audit + "/"})
	if len(b.spots) != 1 {
		t.Fatalf("%d places were made for one that is shown", len(b.spots))
	}
	ids := map[string]int{}
	for _, c := range b.everyCommand() {
		ids[c.ID]++
	}
	for _, c := range b.commands.own {
		if ids[c.ID] != 1 {
			t.Errorf("%s is listed %d times", c.ID, ids[c.ID])
		}
	}
	if len(b.spots) != len(b.makers) || b.current != place.Audit {
		t.Errorf("%d of %d places were asked, %s is shown", len(b.spots), len(b.makers), b.current)
	}
	b.spots[place.Servers].more = []place.Command{{ID: "servers.some"}}
	if all := b.everyCommand(); all[len(all)-1].ID != "servers.some" {
		t.Error("a command of a place that is not shown is missing")
	}
	for _, told := range b.spots[place.Servers].told {
		t.Errorf("a place that was only asked was told %q", told)
	}
}
