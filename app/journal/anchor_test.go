package journal

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"steward/storage"
)

// ring is a keyring that a test can look into, slow it down or break.
type ring struct {
	mu          sync.Mutex
	text        string
	loads, save int
	block       chan struct{}
	fail        error
}

func (r *ring) Load(ctx context.Context) (string, error) {
	if r.block != nil {
		select {
		case <-r.block:
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.loads++
	return r.text, r.fail
}

func (r *ring) Save(_ context.Context, text string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.save++
	r.text = text
	return r.fail
}

func (r *ring) get() (string, int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text, r.save
}

func TestKeyringCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &ring{}
	db := testStore(t, dir)
	j := testJournal(t, Options{Store: db, Anchor: r})
	for range 20 {
		call(t, j, `{}`, `{}`)
	}
	ok(t, j.Close(bg))
	text, saves := r.get()
	file, err := os.ReadFile(filepath.Join(dir, storage.AnchorName))
	if err != nil {
		t.Fatal(err)
	}
	a, err := parseAnchor(text)
	head := headOf(t, db)
	if err != nil || a.Seq != head.Seq || a.Hash != hex.EncodeToString(head.Hash) || strings.TrimSpace(string(file)) != text {
		t.Errorf("%s\n%s", text, file)
	}
	if saves > 4 {
		t.Errorf("saved %d times", saves)
	}
	ok(t, db.Close())
	v, err := verdict(t, dir, r)
	if err != nil || !v.OK || v.AnchorChecked != checkedBoth || v.Notice != "" {
		t.Errorf("%+v %v", v, err)
	}
	// without the side file the keyring still tells
	ok(t, os.Remove(filepath.Join(dir, storage.AnchorName)))
	if v, err := verdict(t, dir, r); err != nil || !v.OK || v.AnchorChecked != checkedKeyring || v.Notice == "" {
		t.Errorf("%+v %v", v, err)
	}
	tampered(t, dir, "DELETE FROM body WHERE event > 51", "DELETE FROM event WHERE seq > 51", "DELETE FROM record WHERE n > 10")
	if v, err := verdict(t, dir, r); err != nil || v.OK {
		t.Errorf("%+v %v", v, err)
	}
	// and a writer learns it soon after opening, and keeps it
	told := make(chan error, 5)
	db = testStore(t, dir)
	j, _, err = Open(bg, Options{Store: db, Anchor: r, OnDegraded: func(err error) { told <- err }})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-told:
		if !errors.Is(err, ErrBroken) {
			t.Error(err)
		}
	case <-time.After(5 * time.Second):
		t.Error("nobody was told")
	}
	if _, err := j.Propose(bg, callOf(`{}`)); !errors.Is(err, ErrBroken) {
		t.Error(err)
	}
	ok(t, j.Close(bg))
	if now, _ := r.get(); now != text {
		t.Error("the evidence in the keyring was overwritten")
	}
	r.fail = errors.New("the keyring is locked")
	if v, err := verdict(t, dir, r); err != nil || v.AnchorChecked != checkedNone {
		t.Errorf("%+v %v", v, err)
	}
}

// A keyring that hangs holds nothing up.
func TestSlowKeyring(t *testing.T) {
	t.Parallel()
	r := &ring{block: make(chan struct{})}
	j := testJournal(t, Options{Store: testStore(t, t.TempDir()), Anchor: r})
	start := time.Now()
	for range 5 {
		call(t, j, `{}`, `{}`)
	}
	short, cancel := context.WithTimeout(bg, 50*time.Millisecond)
	defer cancel()
	ok(t, j.Close(short))
	if took := time.Since(start); took > ringPatience {
		t.Errorf("it took %v", took)
	}
}

// The side file: a damaged one is a finding, one that is behind is none.
func TestSideFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		good bool
	}{
		"empty":   {"", false},
		"garbage": {"hello", false},
		"ahead":   {`{"folder":"FOLDER","seq":28,"hash":"` + strings.Repeat("0", 64) + `"}`, false},
		"other":   {`{"folder":"f_other","seq":27,"hash":"HASH"}`, false},
		"behind":  {`{"folder":"FOLDER","seq":2,"hash":"HASH2"}`, true},
		"exact":   {`{"folder":"FOLDER","seq":27,"hash":"HASH"}`, true},
	} {
		dir := filled(t)
		db, err := storage.Open(bg, storage.Options{Dir: dir, ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		var second []storage.Event
		ok(t, db.Read(bg, func(s *storage.Snapshot) (err error) { second, err = s.Events(1, 1); return err }))
		text := strings.NewReplacer("FOLDER", db.FolderID(), "HASH2", hex.EncodeToString(second[0].Hash), "HASH", hex.EncodeToString(headOf(t, db).Hash)).Replace(c.text)
		ok(t, db.Close())
		ok(t, os.WriteFile(filepath.Join(dir, storage.AnchorName), []byte(text), 0o600))
		if v, err := verdict(t, dir, nil); err != nil || v.OK != c.good {
			t.Errorf("%s: %+v %v", name, v, err)
		}
	}
}

// A side file that has gone is told at the start after it, before it is written anew.
func TestAMissingSideFileIsTold(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	reopen := func(want bool) {
		t.Helper()
		db := testStore(t, dir)
		j, recovery, err := Open(bg, Options{Store: db})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(recovery.Notice, storage.AnchorName); got != want || recovery.Problem != "" {
			t.Errorf("told %q, %q", recovery.Notice, recovery.Problem)
		}
		call(t, j, `{}`, `{}`)
		ok(t, j.Close(bg))
		ok(t, db.Close())
	}
	reopen(false)
	reopen(false)
	ok(t, os.Remove(filepath.Join(dir, storage.AnchorName)))
	reopen(true)
	reopen(false)
}
