package servers

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
)

// Another tool is read from its name on, however far down the one before was read; the filter keeps those that fit.
func TestToolsAreFilteredAndReadFromTheTop(t *testing.T) {
	d := newDesk(t, "light", "en", map[string]any{"scripted": entry(t)}, true)
	d.started("scripted")
	d.place.Goto("scripted")
	tools := d.place.detail.tools
	d.place.detail.choose(tabTools)
	d.until("its tools are known", func() bool { return tools.index("echo") >= 0 && len(tools.tools) > 3 })
	tools.page.scroll.Resize(fyne.NewSize(600, 120))
	for _, at := range []int{1, 0, 2} {
		tools.page.scrollTo(60)
		if tools.page.scroll.Offset.Y == 0 {
			t.Fatal("the page does not scroll")
		}
		tools.select1(at)
		if got := tools.page.scroll.Offset.Y; got != 0 {
			t.Errorf("tool %d begins %v above what is seen", at, got)
		}
	}
	all := len(tools.tools)
	tools.filter.SetText("ECHO")
	if len(tools.tools) == 0 || len(tools.tools) == all || tools.index("echo") < 0 || tools.index(tools.chosen) < 0 {
		t.Errorf("%d of %d tools fit, %q is chosen", len(tools.tools), all, tools.chosen)
	}
	d.picture("tools-filter")
	tools.filter.SetText("no such tool")
	if len(tools.tools) != 0 || !strings.Contains(d.shown(), "No tool fits the filter.") {
		t.Errorf("%d tools fit", len(tools.tools))
	}
	tools.filter.SetText("")
	if len(tools.tools) != all {
		t.Errorf("%d of %d tools are back", len(tools.tools), all)
	}
}
