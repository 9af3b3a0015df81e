package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// beforehand are names that may stand in a folder before it is a data folder: what a
// person puts there for Steward, what Steward itself leaves where a start broke off, and
// what file managers leave everywhere.
var beforehand = map[string]bool{
	"servers.json": true, "secrets.enc": true, "secrets.enc.bak": true,
	fileName: true, fileName + "-wal": true, fileName + "-shm": true, fileName + "-journal": true,
	AnchorName: true, lockName: true, ballastName: true,
	".DS_Store": true, "desktop.ini": true, "Thumbs.db": true, ".directory": true,
}

// prepareFolder makes the folder, or takes one that is empty or a data folder already,
// and closes it to others. Nothing is changed in a folder of somebody else's: it is
// refused. The rights of a folder that is shared or holds the person's home, and of one
// that may not be written, stay as they are.
func prepareFolder(dir string, onError func(error)) error {
	if filepath.Dir(dir) == dir {
		return refuse(ErrForeign, nil, "%s cannot be the data folder, because it holds the whole system; choose a folder of its own", dir)
	}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return explain("making the data folder", dir, os.MkdirAll(dir, 0o700))
	}
	if err != nil {
		return explain("looking at the data folder", dir, err)
	}
	if !info.IsDir() {
		return refuse(ErrForeign, nil, "%s cannot be the data folder, because it is no folder; choose another", dir)
	}
	if err := refuseForeign(dir); err != nil {
		return err
	}
	perm := info.Mode().Perm()
	if perm&0o200 == 0 {
		return refuse(ErrReadOnly, nil, "the data folder %s may not be written (its mode is %04o), so nothing can be kept there; choose another, or change its rights", dir, perm)
	}
	if perm&0o077 == 0 || info.Mode()&fs.ModeSticky != 0 || holdsHome(dir) {
		return nil
	}
	if err := os.Chmod(dir, perm&^0o077); err != nil {
		onError(fmt.Errorf("the data folder %s may be readable by others, and its rights could not be changed: %w", dir, err))
	}
	return nil
}

// refuseForeign refuses a folder that holds other things and no data file of ours.
func refuseForeign(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return explain("looking at the data folder", dir, err)
	}
	var others []string
	for _, e := range entries {
		if e.Name() == fileName {
			return nil // whose it is, is looked at when it is opened
		}
		if !beforehand[e.Name()] {
			others = append(others, e.Name())
		}
	}
	if len(others) == 0 {
		return nil
	}
	const most = 5
	names := fmt.Sprintf("%q", others[:min(len(others), most)])
	names = strings.ReplaceAll(names[1:len(names)-1], `" "`, `", "`)
	if more := len(others) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return refuse(ErrForeign, nil, "%s cannot be the data folder, because it is not one of Steward's and holds other things (%s); choose another folder, or an empty one", dir, names)
}

// holdsHome tells whether dir is the person's home folder or above it.
func holdsHome(dir string) bool {
	home, err := os.UserHomeDir()
	if err != nil {
		return false
	}
	up, err := filepath.Rel(dir, home)
	return err == nil && filepath.IsLocal(up)
}

// claimFiles makes the data file where it is missing and closes it to others.
// SQLite gives its side files the data file's mode.
func (db *DB) claimFiles(found presence) error {
	if found == absent {
		f, err := os.OpenFile(db.path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if err == nil {
			err = f.Close() // no connection of ours is open on it yet
		}
		if err != nil {
			return explain("making the data file", db.path, err)
		}
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(db.path + suffix)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return explain("looking at the data file", db.path+suffix, err)
		}
		perm := info.Mode().Perm()
		if perm&0o200 == 0 {
			return refuse(ErrReadOnly, nil, "%s may not be written (its mode is %04o); choose another data folder, or change its rights", db.path+suffix, perm)
		}
		if perm&0o077 == 0 {
			continue
		}
		if err := os.Chmod(db.path+suffix, perm&^0o077); err != nil {
			if suffix == "" && errors.Is(err, fs.ErrPermission) {
				return explain("setting the rights of the data file", db.path, err)
			}
			db.onError(fmt.Errorf("setting the rights of %s: %w", db.path+suffix, err))
		}
	}
	return nil
}
