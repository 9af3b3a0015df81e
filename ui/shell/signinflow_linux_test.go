package shell

import (
	"os"
	"slices"
	"strings"
	"testing"

	"steward/testdata/signinserver"
)

// A server wants a sign-in as the window opens: the page is opened by the keyboard alone, and its tools are there.
func TestFlowSignIn(t *testing.T) {
	t.Parallel()
	s := signinserver.Start(t)
	bin, opened := signinserver.Browser(t)
	w := flow(t, []string{"PATH=" + bin + ":" + os.Getenv("PATH")}, "--servers", serversFile(t, map[string]any{"team": map[string]any{"url": s.URL}}))
	w.waits("server", "")
	w.picture("asked")
	w.key("Return", "space") // what is typed where the question was not asked for opens nothing
	if all := opened(); len(all) != 0 {
		t.Fatalf("opened %q", all)
	}
	w.answer("the page is opened", func() bool { return len(opened()) > 0 }, "ctrl+Return")
	w.picture("browser")
	if _, err := signinserver.Visit(opened()[0]); err != nil {
		t.Fatal(err)
	}
	w.until("the server has started", func() bool {
		return slices.ContainsFunc(w.now(), func(r record) bool {
			return r.Kind == "server" && r.Outcome == "ok" && strings.Contains(w.show(r.Record), `protocol`)
		})
	})
	w.palette("Servers")
	w.until("servers are shown", func() bool { return strings.HasPrefix(w.setting("window.place"), "servers") })
	w.picture("servers")
	if all := opened(); len(all) != 1 {
		t.Errorf("opened %q", all)
	}
	w.leave()
}
