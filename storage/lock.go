package storage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// lockName is the file whose lock makes a process the folder's only writer.
// It is not the data file: closing any descriptor of that one would drop
// SQLite's own locks (POSIX, fcntl(2)).
const lockName = "steward.lock"

// noteSize is the fixed size of the note in the lock file, so that writing it
// never needs to truncate.
const noteSize = 512

// note tells a second process who holds the lock. Its first byte is a space
// that nobody reads: Windows forbids others to read the locked byte, and
// flock locks the first one.
type note struct {
	PID     int       `json:"pid"`
	Program string    `json:"program"`
	Since   time.Time `json:"since"`
}

type folderLock struct {
	flock *flock.Flock
	path  string
}

// lockFolder takes the lock or fails with a *LockedError. The system drops it
// when the process ends, however it ends.
func lockFolder(dir, path, program string, now time.Time) (*folderLock, error) {
	if err := regularOrMissing(path); err != nil {
		return nil, err
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	held, err := lock.TryLock()
	if err != nil {
		return nil, explain("locking the data folder", path, err)
	}
	if !held {
		return nil, lockedBy(dir, path)
	}
	l := &folderLock{flock: lock, path: path}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(explain("setting the rights of the lock file", path, err), l.release())
	}
	if err := l.write(note{PID: os.Getpid(), Program: program, Since: now.UTC().Truncate(time.Second)}); err != nil {
		if !isFull(err) { // a full disk must not keep anyone from deleting
			return nil, errors.Join(explain("writing the lock file", path, err), l.release())
		}
	}
	return l, nil
}

func (l *folderLock) write(n note) error {
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if len(text) > noteSize-2 {
		n.Program = ""
		if text, err = json.Marshal(n); err != nil {
			return err
		}
	}
	return l.fill(text)
}

// fill writes everything but the first byte.
func (l *folderLock) fill(text []byte) error {
	block := bytes.Repeat([]byte{' '}, noteSize-1)
	copy(block, text)
	block[len(block)-1] = '\n'
	f, err := os.OpenFile(l.path, os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(block, 1)
	return errors.Join(err, f.Close())
}

// release clears the note and gives the lock back. The file stays: removing it
// would let two processes lock two files of one name.
func (l *folderLock) release() error {
	err := l.fill(nil)
	if isFull(err) {
		err = nil
	}
	return errors.Join(err, l.flock.Unlock())
}

// lockedBy reads the holder's note. The holder writes it just after taking the
// lock, so an empty one is looked at again for a moment.
func lockedBy(dir, path string) error {
	e := &LockedError{Dir: dir}
	for range 10 {
		if n, err := readNote(path); err == nil && n.PID > 0 {
			e.PID, e.Program, e.Since = n.PID, n.Program, n.Since
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	return e
}

func readNote(path string) (note, error) {
	f, err := os.Open(path)
	if err != nil {
		return note{}, err
	}
	block := make([]byte, noteSize-1)
	count, err := f.ReadAt(block, 1)
	if e := f.Close(); e != nil {
		return note{}, e
	}
	if count == 0 {
		return note{}, err
	}
	var n note
	err = json.Unmarshal(bytes.Trim(block[:count], " \n\x00"), &n)
	return n, err
}

// regularOrMissing refuses what is no plain file under one of our names: a
// link would let somebody else choose which file is written, and a pipe would
// block for ever.
func regularOrMissing(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return explain("looking at the data folder", path, err)
	}
	if info.Mode().IsRegular() {
		return nil
	}
	return refuse(ErrDamaged, nil, "%s is %s, not a plain file; it has been left as it is. Move it away and start again", path, describe(info.Mode()))
}

func describe(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeSymlink != 0:
		return "a symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return fmt.Sprintf("of kind %s", m.Type())
}
