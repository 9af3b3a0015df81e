//go:build !windows

package storage

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func init() {
	children["umask"] = func(dir string) error {
		syscall.Umask(0)
		db, err := Open(context.Background(), Options{Dir: dir, Program: "child"})
		if err != nil {
			return err
		}
		// killed while open, so that the side files stay to be looked at
		if err := db.Write(context.Background(), func(tx *Tx) error { return tx.PutSetting("k", []byte(`1`)) }); err != nil {
			return err
		}
		os.Exit(0)
		return nil
	}
}

func TestAPipeDoesNotBlock(t *testing.T) {
	t.Parallel()
	for _, name := range []string{fileName, fileName + "-wal"} {
		dir := made(t)
		path := filepath.Join(dir, name)
		if err := os.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Skip(err)
		}
		refused(t, dir, ErrDamaged)
	}
}
