package storage

import (
	"os"
	"syscall"
)

// reserve gives f size bytes of disk, without writing them where the file
// system can (fallocate(2)).
func reserve(f *os.File, size int64) error {
	switch err := syscall.Fallocate(int(f.Fd()), 0, 0, size); err {
	case syscall.EOPNOTSUPP, syscall.ENOSYS:
		return fill(f, size)
	default:
		return err
	}
}
