package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

const (
	fileName = "steward.db"
	// AnchorName is the journal's side file in the same folder. It is named here
	// because its presence is the only sign that an absent or empty data file
	// once had content.
	AnchorName = "steward.anchor"
)

// checkedAtOpen is the size up to which every page of the tables is checked
// when the file is opened, in bytes; a larger one is checked by Check alone.
const checkedAtOpen = 16 << 20

// presence is what stands in the folder under the data file's name.
type presence int

const (
	absent presence = iota
	empty
	filled
)

// look says what is there without opening it: a pipe would block, and closing
// a descriptor of the data file would drop the locks of this process's own
// connections.
func look(dir string) (presence, int64, error) {
	path := filepath.Join(dir, fileName)
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := regularOrMissing(path + suffix); err != nil {
			return absent, 0, err
		}
	}
	info, err := os.Lstat(path)
	if err == nil && info.Size() > 0 {
		return filled, info.Size(), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return absent, 0, explain("looking at the data file", path, err)
	}
	found := absent
	if err == nil {
		found = empty
	}
	// A crash while the file is first made leaves it empty, with its WAL beside
	// it at most; the anchor comes after the first commit.
	if _, e := os.Lstat(filepath.Join(dir, AnchorName)); e == nil {
		state := "empty"
		if found == absent {
			state = "missing"
		}
		return found, 0, refuse(ErrDamaged, nil, "%s is %s, but %s beside it says that the journal had entries. Restore a backup of %s; to start afresh, move %s away too", path, state, AnchorName, fileName, AnchorName)
	}
	return found, 0, nil
}

// reader chooses how a reader without the lock opens the file so that nothing
// in the folder is made or changed.
type reader struct {
	dir string
	// copied is the private folder, "" while none was needed.
	copied string
}

// source, for the next connection:
//
//   - WAL and shared memory are there: a writer was killed, or is at work. With
//     readonly_shm SQLite builds the index of the WAL in its own memory after
//     the one, and joins the other where it can. Where the live writer has left
//     no mark that a reader could share, the reader must set one, in the shared
//     memory that is there.
//   - no WAL, or an empty one: the file is complete; immutable keeps SQLite
//     from making its two side files.
//   - a WAL alone (a copied folder, a read-only medium): the index cannot be
//     made here, so both files are read from a private copy.
//
// What is right changes when a writer comes or goes, so no connection outlives
// its query or snapshot.
func (r *reader) source() origin {
	path := filepath.Join(r.dir, fileName)
	if r.copied != "" {
		return origin{dsn: fileURI(filepath.Join(r.copied, fileName), "mode=ro")}
	}
	if walInUse(path) {
		return origin{dsn: fileURI(path, "mode=ro&readonly_shm=1"), instead: fileURI(path, "mode=ro")}
	}
	return origin{dsn: fileURI(path, "mode=ro&immutable=1")}
}

func walInUse(path string) bool {
	_, wal := os.Lstat(path + "-wal")
	_, shm := os.Lstat(path + "-shm")
	return wal == nil && shm == nil
}

// prepare makes the private copy where one is needed.
func (r *reader) prepare() error {
	path := filepath.Join(r.dir, fileName)
	wal, err := os.Lstat(path + "-wal")
	if err != nil || wal.Size() == 0 || walInUse(path) {
		return nil // no WAL, nothing in it, or it can be read in place
	}
	if r.copied, err = os.MkdirTemp("", "steward-read-"); err != nil {
		return fmt.Errorf("reading the data file needs a temporary folder: %w", err)
	}
	for _, suffix := range []string{"", "-wal"} {
		if err := copyFile(path+suffix, filepath.Join(r.copied, fileName+suffix)); err != nil {
			return errors.Join(explain("copying the data file to read it", path, err), r.close())
		}
	}
	return nil
}

func (r *reader) close() error {
	if r.copied == "" {
		return nil
	}
	dir := r.copied
	r.copied = ""
	return os.RemoveAll(dir)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), in.Close())
}

// findings is what an inspection learnt.
type findings struct {
	version int
	// blank: a valid file without any content, left by a killed first start.
	blank bool
}

// inspect decides whether the file is ours and whole, changing nothing.
func inspect(ctx context.Context, dir string, size int64, steps []migration) (found findings, err error) {
	path := filepath.Join(dir, fileName)
	r := &reader{dir: dir}
	if err := r.prepare(); err != nil {
		return found, err
	}
	handle, err := openHandle(ctx, newConnector(r.source), 1, 1)
	if err != nil {
		return found, errors.Join(explain("opening the data file", path, err), r.close())
	}
	defer func() { err = errors.Join(err, handle.Close(), r.close()) }()

	var id, version, objects int64
	for _, q := range []struct {
		query string
		into  *int64
	}{
		{"PRAGMA application_id", &id},
		{"PRAGMA user_version", &version},
		{"SELECT count(*) FROM sqlite_schema", &objects},
	} {
		if err := handle.QueryRowContext(ctx, q.query).Scan(q.into); err != nil {
			return found, explain("reading the data file", path, err)
		}
	}
	if id == 0 && version == 0 && objects == 0 {
		return findings{blank: true}, nil
	}
	// A later version of the program may have changed anything but its id.
	if id != applicationID {
		return found, refuse(ErrForeign, nil, "%s is a database of another program (application id %#x); it has been left as it is. Choose another folder with --data", path, uint32(id))
	}
	if version > int64(len(steps)) {
		return found, refuse(ErrNewer, nil, "%s has schema version %d, and this program knows versions up to %d; it has been left as it is. Use the newer program, or another folder with --data", path, version, len(steps))
	}
	if version < 1 {
		return found, refuse(ErrDamaged, nil, "%s has schema version %d, which never existed; it has been left as it is. Restore a backup", path, version)
	}
	if err := compareSchema(ctx, handle, path, steps[:version]); err != nil {
		return found, err
	}
	if size <= checkedAtOpen {
		if err := checkTables(ctx, handle, path); err != nil {
			return found, err
		}
	}
	return findings{version: int(version)}, nil
}

// compareSchema refuses a file with other tables, triggers or views than the
// steps make: a trigger of somebody else's would act in our name.
func compareSchema(ctx context.Context, file queryer, path string, steps []migration) (err error) {
	memory, err := openHandle(ctx, newConnector(fixed(":memory:")), 1, 1)
	if err != nil {
		return fmt.Errorf("comparing the data file's schema: %w", err)
	}
	defer func() { err = errors.Join(err, memory.Close()) }()
	for _, step := range steps {
		for _, statement := range step.sql {
			if _, err := memory.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("comparing the data file's schema: %w", err)
			}
		}
	}
	want, err := schemaOf(ctx, memory)
	if err != nil {
		return fmt.Errorf("comparing the data file's schema: %w", err)
	}
	got, err := schemaOf(ctx, file)
	if err != nil {
		return explain("reading the data file's schema", path, err)
	}
	var wrong []string
	for name, sql := range got {
		if want[name] != sql {
			wrong = append(wrong, name)
		}
	}
	for name := range want {
		if _, there := got[name]; !there {
			wrong = append(wrong, name+" (missing)")
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	sort.Strings(wrong)
	return refuse(ErrDamaged, nil, "%s has parts that this program did not make, or lacks some that it did: %s. It has been left as it is; restore a backup", path, strings.Join(wrong, ", "))
}

// schemaOf maps "type name" to the statement that made it. Statistics tables
// are SQLite's own affair.
func schemaOf(ctx context.Context, q queryer) (map[string]string, error) {
	rows, err := q.QueryContext(ctx, `SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat*'`)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	err = each(rows, func() error {
		var name, statement string
		if err := rows.Scan(&name, &statement); err != nil {
			return err
		}
		all[name] = statement
		return nil
	})
	return all, err
}

// plainTables are those whose every page is checked at opening; the search
// tables can be made anew from them.
var plainTables = []string{"meta", "setting", "conversation", "message", "pin", "grants", "rule", "event", "body", "erasure", "record"}

func checkTables(ctx context.Context, q queryer, path string) error {
	for _, table := range plainTables {
		if err := checkOne(ctx, q, path, "PRAGMA quick_check('"+table+"')"); err != nil {
			return err
		}
	}
	return nil
}

// checkOne runs a checking pragma and turns its first finding into an error.
func checkOne(ctx context.Context, q queryer, path, statement string) error {
	var finding string
	if err := q.QueryRowContext(ctx, statement).Scan(&finding); err != nil {
		return explain("checking the data file", path, err)
	}
	if finding != "ok" {
		return refuse(ErrDamaged, nil, "%s is damaged: %s. It has been left as it is; restore a backup, or move it away to start afresh", path, strings.TrimSpace(finding))
	}
	return nil
}

// queryer is what a pool, a connection and a transaction share.
type queryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// each calls fn for every row and closes the rows.
func each(rows *sql.Rows, fn func() error) error {
	for rows.Next() {
		if err := fn(); err != nil {
			return errors.Join(err, rows.Close())
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}
