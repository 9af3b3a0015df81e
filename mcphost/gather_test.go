package mcphost

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestGather has everything come faster than it is told: what is held back is told once,
// what is left out is counted, and nothing comes after the end.
func TestGather(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []heldBack
		g := &gather{now: time.Now, flush: func(b heldBack) { told = append(told, b) }}
		if !g.update("uri:first") {
			t.Error("the first change is held back")
		}
		for range 2 {
			for i := range mostUpdated + 7 {
				if g.update(fmt.Sprint("uri:", i)) {
					t.Error("a change in a storm is told at once")
				}
			}
			g.message()
		}
		for i := range mostLogged + 3 {
			if g.line() != (i < mostLogged) {
				t.Errorf("line %d", i)
			}
		}
		time.Sleep(2 * gatherPause)
		synctest.Wait()
		if len(told) != 1 || len(told[0].uris) != mostUpdated || told[0].uris[0] != "uri:0" || told[0].changes != 14 || told[0].messages != 2 || told[0].lines != 3 {
			t.Fatalf("told %+v", told)
		}
		if !g.update("uri:0") || !g.line() {
			t.Error("it is held back although the storm is over")
		}
		g.message()
		g.stop()
		g.message()
		time.Sleep(2 * gatherPause)
		synctest.Wait()
		if len(told) != 1 {
			t.Errorf("told after the end: %+v", told[1:])
		}
	})
}

// A text block without its text is shown as it came, not as nothing.
func TestATextBlockWithoutTextIsKept(t *testing.T) {
	t.Parallel()
	c, note := readContent([]byte(`{"type":"text"}`))
	if c.Text != `{"type":"text"}` || note == "" {
		t.Errorf("%q, %q", c.Text, note)
	}
}
