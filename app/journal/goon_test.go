package journal

import "testing"

// Once the person has said to go on, later starts go on as well; what is wrong inside the
// chain stays found by the whole check.
func TestGoingOnAfterAFaultInTheChain(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	tampered(t, dir, "UPDATE event SET time = time + 1 WHERE seq = 3")
	open := func() (*Journal, Recovery, func()) {
		db := testStore(t, dir)
		j, r, err := Open(bg, Options{Store: db})
		if err != nil {
			t.Fatal(err)
		}
		return j, r, func() { ok(t, j.Close(bg)); ok(t, db.Close()) }
	}
	j, r, end := open()
	if r.Problem == "" || j.Broken(bg) == nil {
		t.Fatalf("the fault was not found: %+v", r)
	}
	ok(t, j.Acknowledge(bg))
	if err := j.Broken(bg); err != nil {
		t.Error(err)
	}
	end()
	for range 2 {
		j, r, end = open()
		if r.Problem != "" {
			t.Errorf("the next start stops at what was acknowledged: %s", r.Problem)
		}
		call(t, j, `{}`, `{}`)
		end()
	}
	if v, err := verdict(t, dir, nil); err != nil || v.OK || v.BadEvent != 3 {
		t.Errorf("the whole check no longer finds it: %+v, %v", v, err)
	}
	tampered(t, dir, "UPDATE event SET time = time + 1 WHERE seq = (SELECT max(seq) - 2 FROM event)")
	_, r, end = open()
	if r.Problem == "" {
		t.Error("a fault after the acknowledgement is not found")
	}
	end()
}
