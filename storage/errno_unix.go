//go:build !windows

package storage

import "syscall"

// fullErrno: ENOSPC for the disk, EDQUOT for a quota, EFBIG for RLIMIT_FSIZE
// or a file system that cannot hold so large a file.
func fullErrno(n syscall.Errno) bool {
	return n == syscall.ENOSPC || n == syscall.EDQUOT || n == syscall.EFBIG
}
