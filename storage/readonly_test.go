package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func titles(t testing.TB, db *DB) string {
	t.Helper()
	list, err := db.Conversations(context.Background(), ConversationFilter{})
	if err != nil {
		t.Fatal(err)
	}
	var all string
	for _, c := range list {
		all += c.Title + ";"
	}
	return all
}

// Readers work beside a writer, see what it commits, and change nothing.
func TestReadBesideAWriter(t *testing.T) {
	t.Parallel()
	dir := made(t)
	early := openWith(t, Options{Dir: dir, ReadOnly: true}) // before there is a writer
	if got := titles(t, early); got != "first;" {
		t.Error(got)
	}
	writer := openTest(t, dir)
	write(t, writer, func(tx *Tx) error { return tx.PutConversation(conversation("c_2", "second")) })
	before := picture(t, dir, lockName, fileName+"-shm") // where reader marks live
	late := openWith(t, Options{Dir: dir, ReadOnly: true})
	for _, db := range []*DB{early, late} {
		if got := titles(t, db); got != "second;first;" {
			t.Error(got)
		}
	}
	write(t, writer, func(tx *Tx) error { return tx.PutConversation(conversation("c_3", "third")) })
	if got := titles(t, late); got != "third;second;first;" {
		t.Error(got)
	}
	if err := late.Write(context.Background(), func(*Tx) error { return nil }); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	closeTest(t, late)
	after := picture(t, dir, lockName, fileName+"-shm")
	delete(before, fileName+"-wal")
	delete(after, fileName+"-wal")
	samePicture(t, before, after)
	if _, err := Open(context.Background(), Options{Dir: dir}); !errors.As(err, new(*LockedError)) {
		t.Errorf("a reader took the lock away: %v", err)
	}
	write(t, writer, func(tx *Tx) error { return tx.PutConversation(conversation("c_4", "fourth")) })
	closeTest(t, writer)
	if got := titles(t, early); got != "fourth;third;second;first;" {
		t.Errorf("after the writer has gone: %s", got)
	}
}

func TestReadClosedFolderChangesNothing(t *testing.T) {
	t.Parallel()
	dir := made(t)
	before := picture(t, dir)
	db := openWith(t, Options{Dir: dir, ReadOnly: true})
	if got := titles(t, db); got != "first;" {
		t.Error(got)
	}
	samePicture(t, before, picture(t, dir))
	closeTest(t, db)
	samePicture(t, before, picture(t, dir))
}

// killed gives a folder as a killed writer leaves it: what was committed last
// stands in the log alone.
func killed(t *testing.T) string {
	t.Helper()
	dir := made(t)
	db := openTest(t, dir)
	write(t, db, func(tx *Tx) error { return tx.PutConversation(conversation("c_2", "in the log")) })
	copied := t.TempDir()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := copyFile(filepath.Join(dir, fileName+suffix), filepath.Join(copied, fileName+suffix)); err != nil {
			t.Fatal(err)
		}
	}
	return copied
}

func TestReadWhatAKilledWriterLeft(t *testing.T) {
	t.Parallel()
	for _, lost := range []string{"", "-shm"} {
		t.Run("without "+lost, func(t *testing.T) {
			t.Parallel()
			dir := killed(t)
			if lost != "" {
				if err := os.Remove(filepath.Join(dir, fileName+lost)); err != nil {
					t.Fatal(err)
				}
			}
			before := picture(t, dir)
			db := openWith(t, Options{Dir: dir, ReadOnly: true})
			if got := titles(t, db); got != "in the log;first;" {
				t.Errorf("read %q", got)
			}
			samePicture(t, before, picture(t, dir))
			copied := db.reader.copied
			closeTest(t, db)
			samePicture(t, before, picture(t, dir))
			if _, err := os.Stat(copied); copied != "" && err == nil {
				t.Error("the private copy is still there")
			}
			// and a writer takes it all over
			w := openTest(t, dir)
			if got := titles(t, w); got != "in the log;first;" {
				t.Errorf("a writer reads %q", got)
			}
		})
	}
}

func TestALogOfAnotherFile(t *testing.T) {
	t.Parallel()
	dir, other := killed(t), killed(t)
	mine := openWith(t, Options{Dir: dir, ReadOnly: true}).FolderID()
	if err := os.Rename(filepath.Join(other, fileName+"-wal"), filepath.Join(dir, fileName+"-wal")); err != nil {
		t.Fatal(err)
	}
	db, err := Open(context.Background(), Options{Dir: dir, ReadOnly: true})
	if err != nil {
		return // refused: as good
	}
	defer db.Close()
	if id := db.FolderID(); id != mine {
		t.Logf("the other file's log was taken in (folder %s, was %s); the anchor must tell", id, mine)
	}
	if err := db.Check(context.Background()); err != nil {
		t.Log(err)
	}
}

func TestSecondProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := child(t, "hold", dir)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscanln(out, &pid); err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), Options{Dir: dir})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != pid || locked.Program != "the holder" || locked.Since.IsZero() || locked.Dir != dir {
		t.Errorf("%v: %+v", err, locked)
	}
	if db := openWith(t, Options{Dir: dir, ReadOnly: true}); db.FolderID() == "" {
		t.Error("nothing read")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	db := openTest(t, dir)
	if got := titles(t, db); got != "held;" {
		t.Error(got)
	}
}

func init() {
	children["hold"] = func(dir string) error {
		db, err := Open(context.Background(), Options{Dir: dir, Program: "the holder"})
		if err != nil {
			return err
		}
		if err := db.Write(context.Background(), func(tx *Tx) error { return tx.PutConversation(conversation("c", "held")) }); err != nil {
			return err
		}
		fmt.Println(os.Getpid())
		select {}
	}
}

func TestLockNote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := openTest(t, dir)
	if _, err := Open(context.Background(), Options{Dir: dir}); err == nil || !errors.As(err, new(*LockedError)) {
		t.Fatal(err)
	}
	closeTest(t, db)
	if n, err := readNote(filepath.Join(dir, lockName)); err == nil {
		t.Errorf("the note says %+v although nobody holds the folder", n)
	}
	link := t.TempDir()
	target := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(link, lockName)); err != nil {
		t.Skip(err)
	}
	if _, err := Open(context.Background(), Options{Dir: link}); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if text, err := os.ReadFile(target); err != nil || string(text) != "precious" {
		t.Errorf("a link in place of the lock was followed: %q %v", text, err)
	}
}
