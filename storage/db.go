// Package storage keeps everything that lasts in one SQLite file: the
// conversations, what the person reviewed, granted and set, and the rows of the
// journal. It knows no wire format and no widget, and decides nothing: it
// stores what it is given and finds it again.
//
// One process writes in a folder (a lock file), through one goroutine that
// commits the work of many callers together; any number read beside it. Every
// commit is on the disk when Write returns (WAL, synchronous=FULL).
package storage

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Options says which folder to open and how.
type Options struct {
	// Dir is the data folder; it is made with mode 0700 where it is missing,
	// unless ReadOnly. One that exists must be empty or a data folder already.
	Dir string
	// ReadOnly takes no lock and makes or changes nothing in the folder. It
	// works while another process writes there, and on a read-only medium.
	ReadOnly bool
	// Program and its version, for the note in the lock file and the first
	// event of the journal.
	Program string
	// Now is the clock; nil is time.Now.
	Now func() time.Time
	// OnError hears of what no caller waits for: a failed Later, a commit that
	// is delayed by another program, rights that could not be set. It is called
	// from the store's own goroutine and must not call the store. May be nil.
	OnError func(error)
}

// readers is how many connections read beside each other.
const readers = 4

// DB is an open data folder. All methods may be called from any goroutine.
type DB struct {
	dir, path, program string
	now                func() time.Time
	onError            func(error)

	folderID   string
	journalKey []byte
	version    int

	read   *sql.DB
	reader *reader // how a read-only handle opens the file; nil when writing
	writer *writer // nil when read-only
	lock   *folderLock
}

// Open opens the folder, makes the file where there is none, and brings an
// older one up to date. It refuses, without changing a byte: a file of a later
// version (ErrNewer), of another program (ErrForeign), a damaged one or
// something that is no file (ErrDamaged), an empty one although the journal's
// side file says there was content (ErrDamaged), and a folder that another
// process writes in (*LockedError). The caller owns the DB and must close it.
func Open(ctx context.Context, o Options) (*DB, error) {
	return open(ctx, o, released)
}

func open(ctx context.Context, o Options, steps []migration) (*DB, error) {
	if err := checkEngine(); err != nil {
		return nil, err
	}
	if o.Dir == "" {
		return nil, errors.New("opening the data folder: no folder was named")
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("opening the data folder %s: %w", o.Dir, err)
	}
	db := &DB{dir: dir, path: filepath.Join(dir, fileName), program: o.Program, now: o.Now, onError: o.OnError, version: len(steps)}
	if db.now == nil {
		db.now = time.Now
	}
	if db.onError == nil {
		db.onError = func(error) {}
	}
	if o.ReadOnly {
		err = db.openToRead(ctx, steps)
	} else {
		err = db.openToWrite(ctx, steps)
	}
	if err != nil {
		return nil, errors.Join(err, db.closeHandles())
	}
	return db, nil
}

// openToRead looks at the folder as it is.
func (db *DB) openToRead(ctx context.Context, steps []migration) error {
	found, size, err := look(db.dir)
	if err != nil {
		return err
	}
	if found == absent || found == empty {
		return refuse(ErrNotFound, nil, "there is no data in %s yet", db.dir)
	}
	state, err := inspect(ctx, db.dir, size, steps)
	if err != nil {
		return err
	}
	if state.blank {
		return refuse(ErrNotFound, nil, "there is no data in %s yet", db.dir)
	}
	if state.version < len(steps) {
		return refuse(ErrReadOnly, nil, "%s was made by an earlier version of this program and must be brought up to date once; open it without asking for read-only", db.path)
	}
	db.reader = &reader{dir: db.dir}
	if err := db.reader.prepare(); err != nil {
		return err
	}
	if db.read, err = openHandle(ctx, newConnector(db.reader.source), readers, 0); err != nil {
		return explain("opening the data file", db.path, err)
	}
	return db.loadMeta(ctx)
}

// openToWrite takes the lock first, so that nothing is looked at while another
// process may still change it.
func (db *DB) openToWrite(ctx context.Context, steps []migration) error {
	if err := prepareFolder(db.dir, db.onError); err != nil {
		return err
	}
	lock, err := lockFolder(db.dir, filepath.Join(db.dir, lockName), db.program, db.now())
	if err != nil {
		return err
	}
	db.lock = lock
	found, size, err := look(db.dir)
	if err != nil {
		return err
	}
	version := 0
	if found == filled {
		state, err := inspect(ctx, db.dir, size, steps)
		if err != nil {
			return err
		}
		version = state.version
	}
	if err := db.claimFiles(found); err != nil {
		return err
	}
	if err := migrate(ctx, db, version, steps); err != nil {
		return err
	}
	if db.writer, err = startWriter(ctx, db); err != nil {
		return err
	}
	dsn := fileURI(db.path, "mode=ro")
	db.read, err = openHandle(ctx, newConnector(fixed(dsn)), readers, readers)
	if err != nil {
		return explain("opening the data file", db.path, err)
	}
	return db.loadMeta(ctx)
}

// loadMeta reads what was made together with the file.
func (db *DB) loadMeta(ctx context.Context) error {
	for _, m := range []struct {
		key  string
		into any
	}{{"folder", &db.folderID}, {"journal_key", &db.journalKey}} {
		err := db.read.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", m.key).Scan(m.into)
		if errors.Is(err, sql.ErrNoRows) {
			return refuse(ErrDamaged, nil, "%s lacks its %s; it has been left as it is. Restore a backup", db.path, m.key)
		}
		if err != nil {
			return explain("reading the data file", db.path, err)
		}
	}
	return nil
}

// newMeta is what a new file gets: an id of its own, so that names in a keyring
// never meet those of another folder, and the key of the journal's keyed hashes.
func newMeta() (map[string][]byte, error) {
	id, key := make([]byte, 8), make([]byte, 32)
	for _, b := range [][]byte{id, key} {
		if _, err := rand.Read(b); err != nil {
			return nil, fmt.Errorf("making the data file's id: %w", err)
		}
	}
	return map[string][]byte{"folder": []byte("f_" + hex.EncodeToString(id)), "journal_key": key}, nil
}

// Close waits for queued work, commits it, folds the WAL into the file and
// gives the lock back. The DB cannot be used afterwards.
func (db *DB) Close() error {
	return db.closeHandles()
}

func (db *DB) closeHandles() error {
	var failed []error
	if db.read != nil {
		failed = append(failed, db.read.Close())
	}
	if db.writer != nil {
		failed = append(failed, db.writer.close())
	}
	if db.reader != nil {
		failed = append(failed, db.reader.close())
	}
	if db.lock != nil {
		failed = append(failed, db.lock.release())
		db.lock = nil
	}
	return errors.Join(failed...)
}

// FolderID is the random id made with the file ("f_…").
func (db *DB) FolderID() string { return db.folderID }

// Dir is the data folder, absolute.
func (db *DB) Dir() string { return db.dir }

// Program is what Options said.
func (db *DB) Program() string { return db.program }

// SchemaVersion is the version of the file's schema.
func (db *DB) SchemaVersion() int { return db.version }

// ReadOnly tells whether the handle can only read.
func (db *DB) ReadOnly() bool { return db.writer == nil }

// JournalKey is the 32-byte key of the journal's keyed hashes. It stays in the
// file: who holds the file can test a guess about recorded bytes, nobody else.
func (db *DB) JournalKey() []byte { return append([]byte(nil), db.journalKey...) }

// Check reads the whole file and says what is wrong with it: structure,
// indices and references. It takes long on a large file.
func (db *DB) Check(ctx context.Context) error {
	if err := checkOne(ctx, db.read, db.path, "PRAGMA integrity_check(1)"); err != nil {
		return err
	}
	return checkReferences(ctx, db.read, db.path)
}

func checkReferences(ctx context.Context, q queryer, path string) error {
	rows, err := q.QueryContext(ctx, "PRAGMA foreign_key_check")
	if err != nil {
		return explain("checking the data file", path, err)
	}
	orphans := 0
	if err := each(rows, func() error { orphans++; return nil }); err != nil {
		return explain("checking the data file", path, err)
	}
	if orphans > 0 {
		return refuse(ErrDamaged, nil, "%s is damaged: %d rows belong to something that is not there", path, orphans)
	}
	return nil
}
