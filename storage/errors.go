package storage

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"time"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// What callers may ask an error about with errors.Is. The error itself is a
// sentence that says what failed, where, and what to do.
var (
	// ErrNewer: the file was written by a later version of the program.
	ErrNewer = errors.New("the data file is newer than this program")
	// ErrForeign: the file is a database of another program.
	ErrForeign = errors.New("the data file belongs to another program")
	// ErrDamaged: the file cannot be read as what it should be.
	ErrDamaged = errors.New("the data file is damaged")
	// ErrFull: no room on the disk, in the quota, or under the size limit.
	ErrFull = errors.New("the disk is full")
	// ErrReadOnly: the folder, the file or this handle cannot be written.
	ErrReadOnly = errors.New("the data folder is read-only")
	// ErrNotFound: there is no such row, or no data file yet.
	ErrNotFound = errors.New("not found")
	// ErrClosed: the handle has been closed.
	ErrClosed = errors.New("the data file has been closed")
	// ErrBusy: another program holds the file's write lock.
	ErrBusy = errors.New("the data file is held by another program")
)

// LockedError says that another process writes in the folder. Found with
// errors.As. PID is 0 and Since is zero where the holder has left no note yet.
type LockedError struct {
	Dir     string
	PID     int
	Program string
	Since   time.Time
}

func (e *LockedError) Error() string {
	who := "another program"
	if e.Program != "" {
		who = e.Program
	}
	if e.PID > 0 {
		who = fmt.Sprintf("%s (process %d", who, e.PID)
		if !e.Since.IsZero() {
			who += ", since " + e.Since.UTC().Format("2006-01-02 15:04:05 UTC")
		}
		who += ")"
	}
	return fmt.Sprintf("the data folder %s is in use by %s; close it first, or use another folder with --data", e.Dir, who)
}

// failure is an error of one kind with a sentence of its own and, below it,
// what the system said.
type failure struct {
	kind    error
	message string
	cause   error
}

func (f *failure) Error() string {
	if f.cause == nil {
		return f.message
	}
	return f.message + " (" + f.cause.Error() + ")"
}

func (f *failure) Is(target error) bool { return target == f.kind }
func (f *failure) Unwrap() error        { return f.cause }

func refuse(kind error, cause error, format string, args ...any) error {
	return &failure{kind: kind, message: fmt.Sprintf(format, args...), cause: cause}
}

// explain turns an error of the engine into a sentence: doing says what was
// being done ("saving a message"), path which file.
func explain(doing, path string, err error) error {
	if err == nil {
		return nil
	}
	var known *failure
	if errors.As(err, &known) {
		return err
	}
	if errors.Is(err, sql.ErrNoRows) {
		return refuse(ErrNotFound, nil, "%s: there is no such entry", doing)
	}
	if isFull(err) {
		return refuse(ErrFull, err, "%s: no room left for %s; free some space on the disk and try again", doing, path)
	}
	var engine sqlite3.Error
	if !errors.As(err, &engine) {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
			return refuse(ErrReadOnly, err, "%s: %s cannot be written; check the rights of the folder", doing, path)
		}
		return fmt.Errorf("%s (%s): %w", doing, path, err)
	}
	if isDamage(err) {
		return refuse(ErrDamaged, err, "%s: %s is damaged; it has been left as it is. Restore a backup, or move it away to start afresh", doing, path)
	}
	switch engine.Code {
	case sqlite3.ErrReadonly, sqlite3.ErrPerm:
		return refuse(ErrReadOnly, err, "%s: %s cannot be written; check the rights of the folder", doing, path)
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return refuse(ErrBusy, err, "%s: another program holds %s; close it and try again", doing, path)
	}
	return fmt.Errorf("%s (%s): %w", doing, path, err)
}

// isFull tells a lack of room from every other fault. SQLite says SQLITE_FULL
// for ENOSPC alone; a quota and a file size limit come as an I/O error whose
// errno tells (unixWrite in os_unix.c).
func isFull(err error) bool {
	var engine sqlite3.Error
	if errors.As(err, &engine) {
		if engine.Code == sqlite3.ErrFull {
			return true
		}
		if engine.Code == sqlite3.ErrIoErr && fullErrno(engine.SystemErrno) {
			return true
		}
	}
	var number syscall.Errno
	return errors.As(err, &number) && fullErrno(number)
}

// isBusy says that another connection holds a lock that the call needs.
func isBusy(err error) bool {
	var engine sqlite3.Error
	return errors.As(err, &engine) && (engine.Code == sqlite3.ErrBusy || engine.Code == sqlite3.ErrLocked)
}

// isDamage says that the file's structure is wrong. The text is looked at too
// because a virtual table hands its own error up as a plain SQL error.
func isDamage(err error) bool {
	var engine sqlite3.Error
	if !errors.As(err, &engine) {
		return errors.Is(err, ErrDamaged)
	}
	switch engine.Code {
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB, sqlite3.ErrFormat:
		return true
	}
	return strings.Contains(err.Error(), "malformed")
}
