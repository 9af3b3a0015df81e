package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// overwrite changes bytes of the data file in place.
func overwrite(t *testing.T, dir string, at int64, text []byte) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, fileName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(text, at)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, dir string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, fileName), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// What cannot be used is refused with a sentence, and nothing in the folder is
// changed, whether to write or to read was asked for.
func TestRefusedAsItIs(t *testing.T) {
	t.Parallel()
	garbage := make([]byte, 4096)
	for i := range garbage {
		garbage[i] = byte(i*7 + 3)
	}
	for _, c := range []struct {
		name string
		kind error
		make func(t *testing.T, dir string)
	}{
		{"a later version", ErrNewer, func(t *testing.T, dir string) { alter(t, dir, "PRAGMA user_version=999") }},
		{"a later version with other tables", ErrNewer, func(t *testing.T, dir string) {
			alter(t, dir, fmt.Sprintf("PRAGMA user_version=%d", len(released)+1), "CREATE TABLE more(x)", "DROP TABLE rule")
		}},
		{"another program's", ErrForeign, func(t *testing.T, dir string) { alter(t, dir, "PRAGMA application_id=252006674") }},
		{"a database without an owner", ErrForeign, func(t *testing.T, dir string) {
			replace(t, dir, nil)
			alter(t, dir, "CREATE TABLE notes(x)")
		}},
		{"a version that never was", ErrDamaged, func(t *testing.T, dir string) { alter(t, dir, "PRAGMA user_version=0") }},
		{"a foreign trigger", ErrDamaged, func(t *testing.T, dir string) {
			alter(t, dir, "CREATE TRIGGER spy AFTER INSERT ON message BEGIN DELETE FROM grants; END")
		}},
		{"a foreign view", ErrDamaged, func(t *testing.T, dir string) { alter(t, dir, "CREATE VIEW events AS SELECT 1") }},
		{"a table replaced by a view", ErrDamaged, func(t *testing.T, dir string) {
			alter(t, dir, "DROP TABLE rule", "CREATE VIEW rule AS SELECT 1")
		}},
		{"a missing table", ErrDamaged, func(t *testing.T, dir string) { alter(t, dir, "DROP TABLE grants") }},
		{"a text file", ErrDamaged, func(t *testing.T, dir string) { replace(t, dir, []byte(strings.Repeat("this is no database. ", 100))) }},
		{"a short file", ErrDamaged, func(t *testing.T, dir string) { replace(t, dir, []byte("short")) }},
		{"an overwritten header", ErrDamaged, func(t *testing.T, dir string) { overwrite(t, dir, 0, garbage[:100]) }},
		{"an overwritten page", ErrDamaged, func(t *testing.T, dir string) {
			info, err := os.Stat(filepath.Join(dir, fileName))
			if err != nil {
				t.Fatal(err)
			}
			for at := info.Size() / 8192 * 4096; at < info.Size(); at += 4096 {
				overwrite(t, dir, at, garbage)
			}
		}},
		{"half a file", ErrDamaged, func(t *testing.T, dir string) {
			path := filepath.Join(dir, fileName)
			info, err := os.Stat(path)
			if err == nil {
				err = os.Truncate(path, info.Size()/2)
			}
			if err != nil {
				t.Fatal(err)
			}
		}},
		{"a huge empty file", ErrDamaged, func(t *testing.T, dir string) {
			replace(t, dir, nil)
			if err := os.Truncate(filepath.Join(dir, fileName), 4<<30); err != nil {
				t.Skip(err)
			}
		}},
		{"an empty file beside an anchor", ErrDamaged, func(t *testing.T, dir string) {
			replace(t, dir, nil)
			anchorHere(t, dir)
		}},
		{"no file beside an anchor", ErrDamaged, func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, fileName)); err != nil {
				t.Fatal(err)
			}
			anchorHere(t, dir)
		}},
		{"a folder", ErrDamaged, func(t *testing.T, dir string) { swap(t, dir, func(p string) error { return os.Mkdir(p, 0o700) }) }},
		{"a link", ErrDamaged, func(t *testing.T, dir string) {
			swap(t, dir, func(p string) error { return os.Symlink(p+".moved", p) })
		}},
		{"a dangling link", ErrDamaged, func(t *testing.T, dir string) {
			swap(t, dir, func(p string) error { return os.Symlink("/nowhere/at/all", p) })
		}},
		{"a link in place of the log", ErrDamaged, func(t *testing.T, dir string) {
			if err := os.Symlink("elsewhere", filepath.Join(dir, fileName+"-wal")); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := made(t)
			c.make(t, dir)
			refused(t, dir, c.kind)
		})
	}
}

func anchorHere(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, AnchorName), []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
}

// swap moves the data file away and makes something else in its place.
func swap(t *testing.T, dir string, make func(string) error) {
	t.Helper()
	path := filepath.Join(dir, fileName)
	if err := os.Rename(path, path+".moved"); err != nil {
		t.Fatal(err)
	}
	if err := make(path); err != nil {
		t.Skip(err)
	}
}

func refused(t *testing.T, dir string, kind error) {
	t.Helper()
	before := picture(t, dir, lockName)
	for _, readOnly := range []bool{true, false} {
		done := make(chan error, 1)
		go func() {
			db, err := Open(context.Background(), Options{Dir: dir, ReadOnly: readOnly})
			if err == nil {
				err = errors.Join(errors.New("it was opened"), db.Close())
			}
			done <- err
		}()
		select {
		case err := <-done:
			if !errors.Is(err, kind) {
				t.Errorf("read-only %v: want %v, got %v", readOnly, kind, err)
			}
			if err != nil && !strings.Contains(err.Error(), dir) {
				t.Errorf("the error does not say where: %v", err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("opening hangs")
		}
		samePicture(t, before, picture(t, dir, lockName))
	}
	// the folder is not left locked
	if _, err := Open(context.Background(), Options{Dir: dir}); !errors.Is(err, kind) {
		t.Errorf("the second time: %v", err)
	}
}

// A first start that was killed leaves an empty file, or one in WAL mode
// without a table; both are new files.
func TestKilledFirstStart(t *testing.T) {
	t.Parallel()
	for _, prepare := range []func(string){
		func(dir string) { replace(t, dir, nil) },
		func(dir string) { alter(t, dir, "PRAGMA journal_mode=WAL") },
	} {
		dir := t.TempDir()
		prepare(dir)
		if _, err := Open(context.Background(), Options{Dir: dir, ReadOnly: true}); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
		db := openTest(t, dir)
		write(t, db, func(tx *Tx) error { return tx.PutSetting("k", []byte(`1`)) })
	}
}

func TestReadOnlyOfNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, d := range []string{dir, filepath.Join(dir, "missing")} {
		if _, err := Open(context.Background(), Options{Dir: d, ReadOnly: true}); !errors.Is(err, ErrNotFound) {
			t.Error(err)
		}
	}
	if p := picture(t, dir); len(p) != 1 {
		t.Errorf("something was made: %v", p)
	}
}
