package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// backupName is the copy made before a file of that version is changed.
func backupName(version int) string { return fmt.Sprintf("%s.before-v%d", fileName, version+1) }

// migrate brings the file from its version to the last step, each step in one
// transaction: killed at any point, the file has the schema of one whole
// version. A file with content is copied first.
func migrate(ctx context.Context, db *DB, version int, steps []migration) (err error) {
	if version == len(steps) {
		return nil
	}
	dsn := fileURI(db.path, "mode=rw")
	handle, err := openHandle(ctx, newConnector(fixed(dsn)), 1, 1)
	if err != nil {
		return explain("opening the data file", db.path, err)
	}
	defer func() { err = errors.Join(err, handle.Close()) }()
	if version > 0 {
		if err := backUp(ctx, db, handle, version); err != nil {
			return err
		}
	}
	for v := version; v < len(steps); v++ {
		if err := stepUp(ctx, db, handle, v, steps[:v+1]); err != nil {
			return err
		}
	}
	return nil
}

// backUp writes a checked copy of the file beside it. It appears under its
// name only when it is whole; an earlier, half-made one is made anew.
func backUp(ctx context.Context, db *DB, handle *sql.DB, version int) error {
	final := filepath.Join(db.dir, backupName(version))
	half := final + ".part"
	const doing = "making a backup before bringing the data file up to date"
	if err := os.Remove(half); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain(doing, half, err)
	}
	f, err := os.OpenFile(half, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close() // VACUUM INTO takes an empty file and keeps its mode
	}
	if err == nil {
		_, err = handle.ExecContext(ctx, "VACUUM INTO ?", half)
	}
	if err == nil {
		err = checkBackup(ctx, half, version)
	}
	if err == nil {
		err = os.Rename(half, final)
	}
	if err != nil {
		if e := os.Remove(half); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
		return explain(doing, final, err)
	}
	return nil
}

func checkBackup(ctx context.Context, path string, version int) (err error) {
	dsn := fileURI(path, "mode=ro&immutable=1")
	handle, err := openHandle(ctx, newConnector(fixed(dsn)), 1, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, handle.Close()) }()
	var got int
	if err := handle.QueryRowContext(ctx, "PRAGMA user_version").Scan(&got); err != nil {
		return err
	}
	if got != version {
		return fmt.Errorf("the backup has schema version %d in place of %d", got, version)
	}
	return checkOne(ctx, handle, path, "PRAGMA quick_check(1)")
}

// stepUp makes one step and checks the result before committing it; whatever
// fails leaves the file at the version before.
func stepUp(ctx context.Context, db *DB, handle *sql.DB, version int, steps []migration) (err error) {
	step := steps[version]
	doing := fmt.Sprintf("bringing the data file to schema version %d (%s)", version+1, step.does)
	if version == 0 {
		doing = "making the data file"
		if _, err := handle.ExecContext(ctx, "PRAGMA journal_mode=WAL"); err != nil {
			return explain(doing, db.path, err)
		}
	}
	conn, err := handle.Conn(ctx)
	if err != nil {
		return explain(doing, db.path, err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return explain(doing, db.path, err)
	}
	if err := inStep(ctx, db, conn, version, steps); err != nil {
		_, back := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK")
		if back != nil && isFull(err) {
			back = nil // SQLite has already rolled back
		}
		return errors.Join(explain(doing, db.path, err), back)
	}
	if _, err := conn.ExecContext(ctx, "COMMIT"); err != nil {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // the commit's error says more
		return explain(doing, db.path, err)
	}
	return nil
}

func inStep(ctx context.Context, db *DB, conn *sql.Conn, version int, steps []migration) error {
	for _, statement := range steps[version].sql {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if version == 0 {
		meta, err := newMeta()
		if err != nil {
			return err
		}
		for key, value := range meta {
			if _, err := conn.ExecContext(ctx, "INSERT INTO meta(key, value) VALUES(?, ?)", key, value); err != nil {
				return err
			}
		}
		if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id=%d", applicationID)); err != nil {
			return err
		}
	}
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version=%d", version+1)); err != nil {
		return err
	}
	if version == 0 {
		return nil // nothing older to have been hurt
	}
	if err := compareSchema(ctx, conn, db.path, steps); err != nil {
		return err
	}
	if err := checkReferences(ctx, conn, db.path); err != nil {
		return err
	}
	return checkOne(ctx, conn, db.path, "PRAGMA quick_check(1)")
}

// removeBackups takes away the copies made by migrations: a text that was
// erased from the data file must not live on in them.
func removeBackups(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return explain("looking for old backups", dir, err)
	}
	var failed []error
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), fileName+".before-v") {
			continue
		}
		path := filepath.Join(dir, entry.Name())
		if err := os.Remove(path); err != nil {
			failed = append(failed, explain("removing an old backup", path, err))
		}
	}
	return errors.Join(failed...)
}
