package journal

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"steward/storage"
)

// filled is a folder with a small journal of every kind of event, closed.
func filled(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	db, err := storage.Open(bg, storage.Options{Dir: dir, Program: "steward test"})
	if err != nil {
		t.Fatal(err)
	}
	j, _, err := Open(bg, Options{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		call(t, j, fmt.Sprintf(`{"n":%d}`, i), fmt.Sprintf(`{"answer":%d}`, i))
	}
	if _, err := j.Note(bg, Proposal{Kind: KindGrant, Server: "s", Detail: "detail"}, Outcome{}); err != nil {
		t.Fatal(err)
	}
	e := propose(t, j, callOf(`{"no":1}`))
	ok(t, e.Shown(bg, "h"))
	ok(t, e.Decided(bg, Decision{Decision: Denied, By: "person", Reason: "because"}))
	ok(t, e.Outcome(bg, Outcome{Outcome: Denied}))
	e, _ = intended(t, j, `{"late":1}`)
	e.Frames([]Frame{{Direction: "out", Bytes: []byte("frame")}})
	ok(t, e.Outcome(bg, Outcome{Outcome: Timeout, Seconds: 60}))
	ok(t, e.Late(bg, []byte("late")))
	ok(t, j.Close(bg))
	ok(t, db.Close())
	return dir
}

// tampered changes the file as another program would.
func tampered(t testing.TB, dir string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, "steward.db"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	guards := []string{}
	rows, err := db.Query("SELECT sql FROM sqlite_schema WHERE type = 'trigger'")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var s string
		ok(t, rows.Scan(&s))
		guards = append(guards, s)
	}
	ok(t, rows.Close())
	all := append([]string{"PRAGMA ignore_check_constraints=ON", "DROP TRIGGER event_fixed", "DROP TRIGGER event_kept"}, statements...)
	for _, s := range append(all, guards...) {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	ok(t, db.Close())
}

// verdict opens the folder to read, as "journal verify" does.
func verdict(t testing.TB, dir string, ring AnchorStore) (Verification, error) {
	t.Helper()
	db, err := storage.Open(bg, storage.Options{Dir: dir, ReadOnly: true})
	if err != nil {
		return Verification{}, err
	}
	defer func() { ok(t, db.Close()) }()
	j, err := OpenReadOnly(bg, Options{Store: db, Anchor: ring})
	if err != nil {
		t.Fatal(err)
	}
	return j.Verify(bg)
}

func detected(t testing.TB, dir, what string) Verification {
	t.Helper()
	v, err := verdict(t, dir, nil)
	if err == nil && v.OK {
		t.Errorf("%s: not noticed", what)
	}
	if err == nil && v.Problem == "" {
		t.Errorf("%s: nothing is said", what)
	}
	return v
}

func TestNoFalseAlarm(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	v, err := verdict(t, dir, nil)
	if err != nil || !v.OK || v.Events != 27 || v.AnchorChecked != checkedFile || v.Notice == "" {
		t.Errorf("%+v %v", v, err)
	}
	// a change that changes nothing is none
	tampered(t, dir)
	if v, err := verdict(t, dir, nil); err != nil || !v.OK {
		t.Errorf("%+v %v", v, err)
	}
}

func TestTampering(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sql           []string
		record, event int64 // 0: not asked
	}{
		"a changed word":                       {sql: []string{"UPDATE event SET meta = replace(meta, 'denied', 'allowed') WHERE kind = 'decided' AND meta LIKE '%denied%'"}, record: 5, event: 20},
		"a changed time":                       {sql: []string{"UPDATE event SET time = time + 1 WHERE seq = 3"}, event: 3},
		"a changed number":                     {sql: []string{"UPDATE event SET record = 2 WHERE seq = 3"}, event: 3},
		"a changed monotonic time":             {sql: []string{"UPDATE event SET mono = 1 WHERE seq = 3"}, event: 3},
		"a changed run":                        {sql: []string{"UPDATE event SET run = 'x' WHERE seq = 3"}, event: 3},
		"a changed hash":                       {sql: []string{"UPDATE event SET hash = randomblob(32) WHERE seq = 3"}, event: 3},
		"an empty hash":                        {sql: []string{"UPDATE event SET hash = x'' WHERE seq = 3"}, event: 3},
		"a changed text":                       {sql: []string{"UPDATE body SET bytes = cast(replace(cast(bytes AS TEXT), 'answer', 'anSwer') AS BLOB) WHERE event = 6"}, record: 1, event: 6},
		"a changed nonce":                      {sql: []string{"UPDATE body SET nonce = randomblob(16) WHERE event = 6"}, event: 6},
		"a deleted text":                       {sql: []string{"DELETE FROM body WHERE event = 6"}, event: 6},
		"a text said to be erased":             {sql: []string{"UPDATE body SET bytes = x'', nonce = x'', erased = 1 WHERE event = 6"}, event: 6},
		"a text erased with a forged deletion": {sql: []string{"UPDATE body SET bytes = x'', nonce = x'', erased = 1 WHERE event IN (SELECT e.seq FROM event e JOIN record r ON r.n = e.record WHERE r.conversation = 'c_1')", "UPDATE record SET arguments = '' WHERE conversation = 'c_1'", "DELETE FROM conversation", "INSERT INTO erasure VALUES('c_1', 1)"}, record: 1, event: 2},
		"an added text":                        {sql: []string{"INSERT INTO body VALUES(1, x'', x'', 0)"}, event: 1},
		"a text of no event":                   {sql: []string{"INSERT INTO body VALUES(999, x'', x'', 0)"}},
		"swapped texts":                        {sql: []string{"UPDATE body SET event = -1 WHERE event = 2", "UPDATE body SET event = 2 WHERE event = 6", "UPDATE body SET event = 6 WHERE event = -1"}, event: 2},
		"a deleted event":                      {sql: []string{"DELETE FROM body WHERE event = 4", "DELETE FROM event WHERE seq = 4"}, event: 5},
		"a deleted first event":                {sql: []string{"DELETE FROM event WHERE seq = 1"}, event: 2},
		"swapped events":                       {sql: []string{"UPDATE event SET seq = -1 WHERE seq = 3", "UPDATE event SET seq = 3 WHERE seq = 4", "UPDATE event SET seq = 4 WHERE seq = -1"}, event: 3},
		"a repeated event":                     {sql: []string{"INSERT INTO event SELECT 28, record, kind, time, mono, run, meta, body_hash, prev, hash FROM event WHERE seq = 5"}, event: 28},
		"a removed end":                        {sql: []string{"DELETE FROM body WHERE event > 20", "DELETE FROM event WHERE seq > 20", "DELETE FROM record WHERE n > 5"}},
		"a removed end, bent to fit":           {sql: []string{"DELETE FROM body WHERE event > 16", "DELETE FROM event WHERE seq > 16", "DELETE FROM record WHERE n > 3"}},
		"everything removed":                   {sql: []string{"DELETE FROM body", "DELETE FROM event", "DELETE FROM record"}},
		"a changed line of the list":           {sql: []string{"UPDATE record SET decision = 'allowed' WHERE n = 5"}, record: 5},
		"changed arguments":                    {sql: []string{"UPDATE record SET arguments = '{}' WHERE n = 2"}, record: 2},
		"emptied arguments":                    {sql: []string{"UPDATE record SET arguments = '' WHERE n = 2"}, record: 2},
		"a changed duration":                   {sql: []string{"UPDATE record SET seconds = 1 WHERE n = 2"}, record: 2},
		"a removed line of the list":           {sql: []string{"DELETE FROM record WHERE n = 2"}, record: 2},
		"a removed last line":                  {sql: []string{"DELETE FROM record WHERE n = 6"}, record: 6},
		"an added line of the list":            {sql: []string{"INSERT INTO record SELECT 99, kind, parent, time, conversation, server, tool, arguments, decision, decided_by, outcome, effect, seconds, model FROM record WHERE n = 1"}},
		"another folder's id":                  {sql: []string{"UPDATE meta SET value = cast('f_0000000000000000' AS BLOB) WHERE key = 'folder'"}},
		"a broken meta":                        {sql: []string{"UPDATE event SET meta = '{' WHERE seq = 9"}, event: 9},
		"an event of an unknown kind":          {sql: []string{"UPDATE event SET kind = 'thing' WHERE seq = 9"}, event: 9},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filled(t)
			tampered(t, dir, c.sql...)
			v := detected(t, dir, name)
			if (c.event != 0 && v.BadEvent != c.event) || (c.record != 0 && v.BadRecord != c.record) {
				t.Errorf("found in event %d, record %d; want %d, %d: %s", v.BadEvent, v.BadRecord, c.event, c.record, v.Problem)
			}
		})
	}
}

// Somebody who knows how hashes are made can bend the whole chain; the anchor
// shows it.
func TestRehashedFromSomewhereOn(t *testing.T) {
	t.Parallel()
	for _, from := range []int64{1, 3, 27} {
		dir := filled(t)
		rehash(t, dir, from, 1000)
		v := detected(t, dir, fmt.Sprintf("rehashed from %d on", from))
		if !strings.Contains(v.Problem, "rewritten") {
			t.Errorf("%+v", v)
		}
		if err := os.Remove(filepath.Join(dir, storage.AnchorName)); err != nil {
			t.Fatal(err)
		}
		if v, err := verdict(t, dir, nil); err != nil || !v.OK {
			t.Errorf("the chain was bent badly, so this test proves nothing: %+v %v", v, err)
		}
	}
}

// An event that fits itself still has to fit the one after it.
func TestRehashedAlone(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	rehash(t, dir, 10, 10)
	if v := detected(t, dir, "one event rehashed"); v.BadEvent != 11 {
		t.Errorf("%+v", v)
	}
}

// rehash changes an event's time and makes every hash from there on fit, up to
// an event.
func rehash(t *testing.T, dir string, from, to int64) {
	t.Helper()
	db, err := storage.Open(bg, storage.Options{Dir: dir, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var events []storage.Event
	ok(t, db.Read(bg, func(s *storage.Snapshot) (err error) { events, err = s.Events(0, 1000); return err }))
	ok(t, db.Close())
	var statements []string
	var prev []byte
	for _, e := range events {
		if e.Seq >= from && e.Seq <= to {
			if e.Seq == from {
				e.Mono++
			}
			e.Prev = prev
			e.Hash = eventHash(e)
			statements = append(statements, fmt.Sprintf("UPDATE event SET mono = %d, prev = x'%x', hash = x'%x' WHERE seq = %d", e.Mono, e.Prev, e.Hash, e.Seq))
		}
		prev = e.Hash
	}
	tampered(t, dir, statements...)
}

func TestOlderCopyPutBack(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	file := filepath.Join(dir, "steward.db")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	db := testStore(t, dir)
	j := testJournal(t, Options{Store: db})
	call(t, j, `{}`, `{}`)
	ok(t, j.Close(bg))
	ok(t, db.Close())
	if v, err := verdict(t, dir, nil); err != nil || !v.OK {
		t.Fatal(v, err)
	}
	ok(t, os.WriteFile(file, old, 0o600))
	if v := detected(t, dir, "an older copy"); !strings.Contains(v.Problem, "older copy") {
		t.Error(v.Problem)
	}
	// a writer says so, records nothing, and leaves the evidence
	anchorBefore, err := os.ReadFile(filepath.Join(dir, storage.AnchorName))
	if err != nil {
		t.Fatal(err)
	}
	db = testStore(t, dir)
	j, recovery, err := Open(bg, Options{Store: db})
	if err != nil || recovery.Problem == "" {
		t.Fatal(recovery, err)
	}
	if _, err := j.Propose(bg, callOf(`{}`)); !errors.Is(err, ErrBroken) {
		t.Error(err)
	}
	if _, err := j.List(bg, Filter{}); err != nil {
		t.Error(err)
	}
	ok(t, j.Close(bg))
	if now, err := os.ReadFile(filepath.Join(dir, storage.AnchorName)); err != nil || !bytes.Equal(now, anchorBefore) {
		t.Error("the evidence was overwritten")
	}
	// until the person has been told
	j, _, err = Open(bg, Options{Store: db})
	if err != nil {
		t.Fatal(err)
	}
	ok(t, j.Acknowledge(bg))
	call(t, j, `{"after":1}`, `{}`)
	holds(t, j)
	l, err := j.List(bg, Filter{Kind: "settings"})
	if err != nil || len(l) != 1 {
		t.Fatal(l, err)
	}
	if d := show(t, j, l[0].Record); !strings.Contains(string(d.Events[0].Data), "older copy") {
		t.Errorf("%s", d.Events[0].Data)
	}
	ok(t, j.Close(bg))
	ok(t, db.Close())
	if v, err := verdict(t, dir, nil); err != nil || !v.OK {
		t.Error(v, err)
	}
}

func TestEmptiedOrReplacedFile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(file string) error{
		"emptied": func(f string) error { return os.Truncate(f, 0) },
		"removed": os.Remove,
		"another": func(f string) error {
			other, err := os.ReadFile(filepath.Join(filled(t), "steward.db"))
			if err != nil {
				return err
			}
			return os.WriteFile(f, other, 0o600)
		},
	} {
		dir := filled(t)
		ok(t, change(filepath.Join(dir, "steward.db")))
		detected(t, dir, name)
		db, err := storage.Open(bg, storage.Options{Dir: dir})
		if err != nil {
			continue
		}
		j, recovery, err := Open(bg, Options{Store: db})
		if err == nil && recovery.Problem == "" {
			t.Errorf("%s: opened as if nothing had happened", name)
		}
		if err == nil {
			ok(t, j.Close(bg))
		}
		ok(t, db.Close())
	}
}

// contentOf is what the journal says: all that a flipped bit must not change
// unnoticed.
func contentOf(dir string) (string, error) {
	db, err := storage.Open(bg, storage.Options{Dir: dir, ReadOnly: true})
	if err != nil {
		return "", err
	}
	defer db.Close()
	var all strings.Builder
	err = db.Read(bg, func(s *storage.Snapshot) error {
		events, err := s.Events(-1<<62, 10000)
		if err != nil {
			return err
		}
		for _, e := range events {
			body := e.Body
			e.Body = nil
			fmt.Fprintf(&all, "%+v %+v\n", e, body)
		}
		records, err := s.Records(storage.RecordFilter{Limit: -1})
		fmt.Fprintf(&all, "%+v", records)
		return err
	})
	return all.String(), err
}

// A byte flipped anywhere in the pages of events, texts and records is noticed,
// unless it changes nothing that the journal says.
func TestFlippedBytes(t *testing.T) {
	t.Parallel()
	dir := filled(t)
	file := filepath.Join(dir, "steward.db")
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, err := contentOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	pages := pagesOf(t, file, "event", "body", "record")
	const step = 29
	var wg sync.WaitGroup
	work := make(chan int)
	var mu sync.Mutex
	noticed, harmless := 0, 0
	for range 2 {
		mine := t.TempDir()
		ok(t, os.CopyFS(mine, os.DirFS(dir)))
		wg.Go(func() {
			for at := range work {
				changed := append([]byte(nil), whole...)
				changed[at] ^= 1
				if err := os.WriteFile(filepath.Join(mine, "steward.db"), changed, 0o600); err != nil {
					t.Error(err)
					continue
				}
				v, err := verdict(t, mine, nil)
				if err != nil || !v.OK {
					mu.Lock()
					noticed++
					mu.Unlock()
					continue
				}
				if after, err := contentOf(mine); err != nil || after != before {
					t.Errorf("byte %d of page %d: not noticed (%v)", at%4096, at/4096+1, err)
				}
				mu.Lock()
				harmless++
				mu.Unlock()
			}
		})
	}
	for _, page := range pages {
		for at := (page - 1) * 4096; at < page*4096; at += step {
			if at < len(whole) {
				work <- at
			}
		}
	}
	for _, page := range pages { // the types in every row's header
		for _, at := range typesOf(whole[(page-1)*4096 : page*4096]) {
			work <- (page-1)*4096 + at
		}
	}
	close(work)
	wg.Wait()
	t.Logf("%d noticed, %d in unused bytes", noticed, harmless)
	if noticed < 100 {
		t.Error("too few were noticed for this test to mean anything")
	}
}

// typesOf gives the places of the serial types of the rows in a table leaf
// (file format, section 2.1), whose lowest bit tells a text from a blob.
func typesOf(p []byte) []int {
	if p[0] != 13 {
		return nil
	}
	varint := func(at int) (value, next int) {
		for ; p[at] >= 128; at++ {
			value = value<<7 | int(p[at]&127)
		}
		return value<<7 | int(p[at]), at + 1
	}
	var all []int
	for i := range int(p[3])<<8 | int(p[4]) {
		at := int(p[8+2*i])<<8 | int(p[9+2*i])
		_, at = varint(at) // size
		_, at = varint(at) // rowid
		size, header := varint(at)
		for end := at + size; header < end; {
			_, header = varint(header)
			all = append(all, header-1) // the last byte of the type
		}
	}
	return all
}

// pagesOf finds the pages of tables by following their b-trees (file format,
// section 1.6).
func pagesOf(t *testing.T, file string, tables ...string) []int {
	t.Helper()
	db, err := sql.Open("sqlite3", file+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []int
	var follow func(page int)
	follow = func(page int) {
		all = append(all, page)
		p := content[(page-1)*4096 : page*4096]
		if p[0] != 5 {
			return
		}
		for i := range int(p[3])<<8 | int(p[4]) {
			cell := int(p[12+2*i])<<8 | int(p[13+2*i])
			follow(int(p[cell])<<24 | int(p[cell+1])<<16 | int(p[cell+2])<<8 | int(p[cell+3]))
		}
		follow(int(p[8])<<24 | int(p[9])<<16 | int(p[10])<<8 | int(p[11]))
	}
	for _, table := range tables {
		var root int
		if err := db.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?", table).Scan(&root); err != nil {
			t.Fatal(err)
		}
		follow(root)
	}
	return all
}
