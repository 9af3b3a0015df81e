//go:build !linux

package storage

import "os"

// reserve gives f size bytes of disk.
func reserve(f *os.File, size int64) error { return fill(f, size) }
