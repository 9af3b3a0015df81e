package storage

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// childEnv names what this test binary does when it is started as a child.
const childEnv = "STEWARD_STORAGE_CHILD"

var children = map[string]func(dir string) error{}

func TestMain(m *testing.M) {
	if name := os.Getenv(childEnv); name != "" {
		if err := children[name](os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// child is this test binary as another process.
func child(t *testing.T, name, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, dir)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	return cmd
}

func openTest(t testing.TB, dir string) *DB {
	t.Helper()
	return openWith(t, Options{Dir: dir})
}

func openWith(t testing.TB, o Options) *DB {
	t.Helper()
	o.Program = "steward test"
	if o.OnError == nil {
		o.OnError = func(err error) { t.Error(err) }
	}
	db, err := Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeTest(t, db) })
	return db
}

func closeTest(t testing.TB, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func write(t testing.TB, db *DB, fn func(*Tx) error) {
	t.Helper()
	if err := db.Write(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 123456789, time.UTC)

func conversation(id, title string) Conversation {
	return Conversation{ID: id, Title: title, Created: noon, Updated: noon}
}

func message(id, conversation, text string) Message {
	return Message{ID: id, Conversation: conversation, Role: RoleUser, State: StateComplete, Text: text, Time: noon}
}

// picture is every file of a folder with its mode and content; the lock file
// and what only its holder changes are left out on request.
func picture(t testing.TB, dir string, ignore ...string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		for _, i := range ignore {
			if name == i {
				return nil
			}
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[name] = info.Mode().String()
		if info.Mode().IsRegular() && info.Size() < 64<<20 {
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			all[name] += fmt.Sprintf(" %x", sha256.Sum256(content))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func samePicture(t testing.TB, before, after map[string]string) {
	t.Helper()
	for name := range after {
		if _, there := before[name]; !there {
			t.Errorf("%s was made", name)
		}
	}
	for name, was := range before {
		if after[name] != was {
			t.Errorf("%s was changed or removed: %s, now %s", name, was, after[name])
		}
	}
}

// raw opens the file as another program would.
func rawSQL(t testing.TB, dir string, statements ...string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", filepath.Join(dir, fileName))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

func alter(t testing.TB, dir string, statements ...string) {
	t.Helper()
	if err := rawSQL(t, dir, statements...).Close(); err != nil {
		t.Fatal(err)
	}
}

// made is a folder with a little content, closed properly.
func made(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	db, err := Open(context.Background(), Options{Dir: dir, Program: "steward test"})
	if err != nil {
		t.Fatal(err)
	}
	write(t, db, func(tx *Tx) error {
		if err := tx.PutConversation(conversation("c_1", "first")); err != nil {
			return err
		}
		for i := range 200 {
			if err := tx.PutMessage(message(fmt.Sprintf("m_%d", i), "c_1", strings.Repeat("words to fill a page ", 20))); err != nil {
				return err
			}
		}
		return nil
	})
	closeTest(t, db)
	return dir
}

// Every connection has the settings, whichever pool it is from and however
// many there are; the driver's own default for synchronous would lose commits.
func TestEveryConnectionHasTheSettings(t *testing.T) {
	t.Parallel()
	dir := made(t)
	ctx := context.Background()
	path := filepath.Join(dir, fileName)
	for _, mode := range []string{"mode=rw", "mode=ro", "mode=ro&immutable=1"} {
		handle := sql.OpenDB(newConnector(fixed(fileURI(path, mode))))
		for range 20 {
			conn, err := handle.Conn(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for _, s := range []struct {
				name string
				want int64
			}{{"synchronous", 2}, {"busy_timeout", 5000}, {"foreign_keys", 1}, {"trusted_schema", 0}, {"cell_size_check", 1}, {"secure_delete", 1}, {"temp_store", 2}} {
				var got int64
				if err := conn.QueryRowContext(ctx, "PRAGMA "+s.name).Scan(&got); err != nil || got != s.want {
					t.Errorf("%s: %s is %d, want %d (%v)", mode, s.name, got, s.want, err)
				}
			}
		}
		defer handle.Close()
	}
	bare := rawSQL(t, dir)
	defer bare.Close()
	var got int64
	if err := bare.QueryRow("PRAGMA synchronous").Scan(&got); err != nil || got == 2 {
		t.Errorf("without the settings synchronous is %d (%v): this test would not notice", got, err)
	}
}

func TestOddPaths(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with space", "数据", "a?b#c%41", "quote'\"", "line\nbreak", ":memory:"} {
		dir := filepath.Join(t.TempDir(), name, "deeper")
		db := openTest(t, dir)
		write(t, db, func(tx *Tx) error { return tx.PutSetting("k", []byte(`1`)) })
		if _, err := os.Stat(filepath.Join(dir, fileName)); err != nil {
			t.Error(err)
		}
	}
}

func TestNothingReadableByOthers(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := child(t, "umask", dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	loose := made(t)
	for _, path := range []string{loose, filepath.Join(loose, fileName)} {
		if err := os.Chmod(path, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	openTest(t, loose)
	for _, d := range []string{dir, loose} {
		err := filepath.WalkDir(d, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			if info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %s", path, info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestAFolderOfOthersIsNotClosed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	openTest(t, dir)
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o777 {
		t.Errorf("a shared folder now has mode %v (%v)", info.Mode(), err)
	}
}

func TestReopenKeepsEverything(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	dir := t.TempDir()
	first := openTest(t, dir)
	id, key := first.FolderID(), first.JournalKey()
	c := Conversation{ID: "c_1", Title: "部署", Model: "m", Created: noon, Updated: noon.Add(time.Hour), Pinned: true, Temporary: true, Meta: []byte(`{"a":1}`)}
	m := Message{ID: "m_1", Conversation: "c_1", Parent: "m_0", Role: RoleTool, State: StateFailed, Text: "a\x00b\xffc", Reasoning: "r", Model: "m", CallID: "k_1", Calls: []byte(`[1]`), Meta: []byte(`{}`), Time: noon}
	p := Pin{Server: "s", Kind: "tool", Name: "n", Hash: "h", Text: "t", Reviewed: noon}
	g := Grant{ID: "g_1", Server: "s", Tool: "t", Definition: "d", ServerHash: "h", Created: noon}
	r := Rule{ID: "r_1", Effect: "deny", Server: "*", Tool: "", Condition: []byte(`{"x":1}`), Created: noon}
	write(t, first, func(tx *Tx) error {
		return errors.Join(tx.PutConversation(c), tx.PutMessage(m), tx.PutPin(p), tx.PutGrant(g), tx.PutRule(r), tx.PutSetting("s", []byte(`"v"`)))
	})
	closeTest(t, first)
	db := openTest(t, dir)
	if db.FolderID() != id || id == "" || string(db.JournalKey()) != string(key) || len(key) != 32 {
		t.Error("the folder has another id or key")
	}
	m.Seq = 1
	got := []any{}
	want := []any{c, []Message{m}, []Pin{p}, []Grant{g}, []Rule{r}, `"v"`}
	gotC, err := db.Conversation(ctx, "c_1")
	gotM, err2 := db.Messages(ctx, "c_1", 0, 0)
	gotP, err3 := db.Pins(ctx, "s")
	gotG, err4 := db.Grants(ctx)
	gotR, err5 := db.Rules(ctx)
	gotS, err6 := db.Setting(ctx, "s")
	if err := errors.Join(err, err2, err3, err4, err5, err6); err != nil {
		t.Fatal(err)
	}
	got = append(got, gotC, gotM, gotP, gotG, gotR, string(gotS))
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if _, err := db.Setting(ctx, "none"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if _, err := db.Conversation(ctx, "none"); !errors.Is(err, ErrNotFound) {
		t.Error(err)
	}
	if err := db.Check(ctx); err != nil {
		t.Error(err)
	}
}

func TestClosedHandle(t *testing.T) {
	t.Parallel()
	db := openTest(t, t.TempDir())
	closeTest(t, db)
	closeTest(t, db)
	if err := db.Write(context.Background(), func(*Tx) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}
