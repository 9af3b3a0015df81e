package storage

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ballastName is a file of no content that can be given up: SQLite needs room
// in its WAL even to delete, so on a full disk nothing could be pruned.
const ballastName = "steward.ballast"

// ballastSize is what deleting a conversation of ordinary length needs, in bytes.
const ballastSize = 4 << 20

// placeBallast makes the file where it is missing. Without room for it there
// is none; the next opening tries again.
func placeBallast(dir string) error {
	path := filepath.Join(dir, ballastName)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == ballastSize {
		return nil
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return explain("reserving some space", path, err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return explain("reserving some space", path, err)
	}
	err = errors.Join(reserve(f, ballastSize), f.Chmod(0o600), f.Close())
	if err == nil {
		return nil
	}
	return errors.Join(explain("reserving some space", path, err), os.Remove(path))
}

// dropBallast frees the space and says whether there was any.
func dropBallast(dir string) (bool, error) {
	path := filepath.Join(dir, ballastName)
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, explain("freeing reserved space", path, err)
}

// fill writes zeros where the system cannot reserve blocks.
func fill(f *os.File, size int64) error {
	block := make([]byte, 1<<16)
	for ; size > 0; size -= int64(len(block)) {
		if _, err := f.Write(block[:min(size, int64(len(block)))]); err != nil {
			return err
		}
	}
	return nil
}
