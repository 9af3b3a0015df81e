package storage

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func init() {
	children["write"] = func(dir string) error {
		db, err := Open(context.Background(), Options{Dir: dir})
		if err != nil {
			return err
		}
		ctx := context.Background()
		if err := db.Write(ctx, func(tx *Tx) error { return tx.PutConversation(conversation("c", "")) }); err != nil {
			return err
		}
		started := time.Now()
		for i := 0; ; i++ {
			m := message("stream", "c", time.Since(started).String())
			m.State = StateStreaming
			db.Later(func(tx *Tx) error { return tx.PutMessage(m) })
			id := fmt.Sprint("m", started.UnixNano(), "_", i)
			if err := db.Write(ctx, func(tx *Tx) error { return tx.PutMessage(message(id, "c", strings.Repeat(id, i%50))) }); err != nil {
				return err
			}
			fmt.Println(id)
		}
	}
	children["migrate"] = func(dir string) error {
		db, err := open(context.Background(), Options{Dir: dir}, steppedUp(20000))
		if err != nil {
			return err
		}
		fmt.Println("done")
		return db.Close()
	}
}

// runAndKill starts a child, kills it after a while (counted from its first
// line where begun is asked for), and gives the lines it had written out whole.
func runAndKill(t *testing.T, name, dir string, after time.Duration, begun bool) []string {
	t.Helper()
	cmd := child(t, name, dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var complaint strings.Builder
	cmd.Stderr = &complaint
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	wait := after
	if begun {
		wait = time.Minute
	}
	timer := time.AfterFunc(wait, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	var lines []string
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			break
		}
		if begun && len(lines) == 0 {
			timer.Reset(after)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	_ = cmd.Wait() // killed, or done
	if complaint.Len() > 0 {
		t.Errorf("the child says: %s", complaint.String())
	}
	return lines
}

// Whatever moment a writer is killed at: every acknowledged row is there, the
// file is whole, a half message is marked and kept.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	acked := map[string]bool{}
	for range 20 {
		for _, id := range runAndKill(t, "write", dir, time.Duration(rand.IntN(60))*time.Millisecond, true) {
			acked[id] = true
		}
	}
	if len(acked) < 20 {
		t.Errorf("only %d rows were written: this test would not notice a lost one", len(acked))
	}
	db := openTest(t, dir)
	if err := db.Check(ctx); err != nil {
		t.Error(err)
	}
	if _, err := db.InterruptStreaming(ctx); err != nil {
		t.Error(err)
	}
	all, err := db.Messages(ctx, "c", 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]Message{}
	for _, m := range all {
		there[m.ID] = m
	}
	for id := range acked {
		if _, ok := there[id]; !ok {
			t.Errorf("%s was acknowledged and is not there", id)
		}
	}
	if m := there["stream"]; m.State != StateInterrupted || m.Text == "" {
		t.Errorf("%+v", m)
	}
}

// steppedUp is the schema with a later step that has much to do.
func steppedUp(rows int) []migration {
	return append(append([]migration{}, released...), migration{does: "a test", sql: []string{
		"ALTER TABLE setting ADD COLUMN note TEXT NOT NULL DEFAULT 'none'",
		"CREATE TABLE later(n INTEGER PRIMARY KEY, v TEXT) STRICT",
		"WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n < " + strconv.Itoa(rows) + ") INSERT INTO later SELECT n, hex(randomblob(50)) FROM c",
		"CREATE INDEX later_v ON later(v)",
	}})
}

func oldFile(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	db, err := open(context.Background(), Options{Dir: dir}, released)
	if err != nil {
		t.Fatal(err)
	}
	write(t, db, func(tx *Tx) error {
		return errors.Join(tx.PutConversation(conversation("c", "kept")), tx.PutMessage(message("m", "c", "kept")), tx.PutSetting("k", []byte("1")))
	})
	closeTest(t, db)
	return dir
}

func TestMigration(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := oldFile(t)
	if _, err := open(ctx, Options{Dir: dir, ReadOnly: true}, steppedUp(10)); !errors.Is(err, ErrReadOnly) {
		t.Errorf("reading an old file: %v", err)
	}
	db, err := open(ctx, Options{Dir: dir}, steppedUp(10))
	if err != nil {
		t.Fatal(err)
	}
	defer closeTest(t, db)
	if got := titles(t, db); got != "kept;" || db.SchemaVersion() != len(released)+1 {
		t.Error(got, db.SchemaVersion())
	}
	if _, err := Open(ctx, Options{Dir: dir, ReadOnly: true}); !errors.Is(err, ErrNewer) {
		t.Errorf("the older program opens it: %v", err)
	}
	backup := filepath.Join(dir, backupName(len(released)))
	info, err := os.Stat(backup)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	// the backup is a file that the older program can go on with
	restored := t.TempDir()
	if err := copyFile(backup, filepath.Join(restored, fileName)); err != nil {
		t.Fatal(err)
	}
	if got := titles(t, openTest(t, restored)); got != "kept;" {
		t.Errorf("the backup holds %q", got)
	}
}

// A file of each earlier version keeps its content, is searched, and takes more.
func TestEveryStepKeepsWhatWasThere(t *testing.T) {
	t.Parallel()
	dir := oldFile(t)
	alter(t, dir, "DROP TABLE exchange", "DROP TABLE unindexed", "PRAGMA user_version=1")
	db := openTest(t, dir)
	write(t, db, func(tx *Tx) error { return tx.PutMessage(message("m2", "c", "added")) })
	for typed, want := range map[string]string{"kept": "m", "added": "m2"} {
		if got := strings.TrimSpace(searchMessages(t, db, typed)); got != want {
			t.Errorf("%q finds %q, want %q", typed, got, want)
		}
	}
}

// A step that fails, in its statements or in the check after it, leaves the
// file as it was.
func TestFailedMigration(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, statements := range map[string][]string{
		"a faulty statement": {"CREATE TABLE later(n)", "INSERT INTO nowhere VALUES(1)"},
		"orphans":            {"PRAGMA defer_foreign_keys=ON", "INSERT INTO body(event, nonce, bytes, erased) VALUES(77, x'', x'', 0)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := oldFile(t)
			steps := append(append([]migration{}, released...), migration{does: "a test", sql: statements})
			db, err := open(ctx, Options{Dir: dir}, steps)
			if err == nil {
				closeTest(t, db)
				t.Fatal("it was accepted")
			}
			if !strings.Contains(err.Error(), "a test") {
				t.Error(err)
			}
			if got := titles(t, openTest(t, dir)); got != "kept;" {
				t.Error(got)
			}
		})
	}
}

// Killed at any moment of a migration, the file has the schema of one whole
// version, and the next start finishes the work.
func TestKilledWhileMigrating(t *testing.T) {
	t.Parallel()
	for i := range 12 {
		dir := oldFile(t)
		done := runAndKill(t, "migrate", dir, time.Duration(i*9)*time.Millisecond, false)
		for _, steps := range [][]migration{released, steppedUp(20000)} {
			db, err := open(context.Background(), Options{Dir: dir}, steps)
			if errors.Is(err, ErrNewer) {
				continue
			}
			if err != nil {
				t.Fatalf("killed after %d ms (%v): %v", i*9, done, err)
			}
			if got := titles(t, db); got != "kept;" {
				t.Errorf("killed after %d ms: %q", i*9, got)
			}
			if err := db.Check(context.Background()); err != nil {
				t.Error(err)
			}
			closeTest(t, db)
		}
	}
}

// A run that is killed between a deletion and the erasing is finished by the next.
func TestErasingIsFinishedByTheNextRun(t *testing.T) {
	t.Parallel()
	dir := made(t)
	alter(t, dir, "INSERT INTO meta VALUES('erasing', x'01')")
	db := openTest(t, dir)
	for deadline := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		var left int
		if err := db.read.QueryRow("SELECT count(*) FROM meta WHERE key = 'erasing'").Scan(&left); err != nil {
			t.Fatal(err)
		}
		if left == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it was not finished")
		}
	}
}
