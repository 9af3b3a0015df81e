package storage

import "syscall"

// fullErrno: ERROR_HANDLE_DISK_FULL and ERROR_DISK_FULL.
func fullErrno(n syscall.Errno) bool {
	return n == 39 || n == 112
}
