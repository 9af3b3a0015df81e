package app

import "testing"

// What was found out of a server's form of the protocol outlives the run, belongs to its configuration,
// and goes with the server.
func TestErasOutliveTheRun(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	again := func() *eras {
		return openEras(t.Context(), r.app.db, func(err error) { t.Error(err) })
	}
	e := again()
	e.Remember("a", "sha256:1", true)
	e.Remember("b", "sha256:2", true)
	e.Remember("b", "sha256:2", false)
	if e := again(); !e.Legacy("a", "sha256:1") || e.Legacy("a", "sha256:2") || e.Legacy("b", "sha256:2") || e.Legacy("", "") {
		t.Errorf("kept: %v", e.older)
	}
	e.Remember("a", "sha256:3", true)
	if e := again(); e.Legacy("a", "sha256:1") || !e.Legacy("a", "sha256:3") {
		t.Errorf("kept: %v", e.older)
	}
	e.forget("a")
	if e := again(); len(e.older) != 0 {
		t.Errorf("kept: %v", e.older)
	}
}

// A server's start leaves behind which form of the protocol it speaks.
func TestAStartRemembersTheEra(t *testing.T) {
	t.Parallel()
	r := newRig(t, map[string]any{"d": self(t, "scripted")})
	check(t, r.app.StartServer(t.Context(), "d"))
	c := r.app.servers.entry("d").started()
	if c == nil {
		t.Fatal("it does not run")
	}
	if !openEras(t.Context(), r.app.db, func(err error) { t.Error(err) }).Legacy("d", c.Config().Hash) {
		t.Errorf("not kept, though it speaks %s", c.Protocol())
	}
}
