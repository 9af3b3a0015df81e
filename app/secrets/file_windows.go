package secrets

// posix says that files have permission bits; on Windows the data folder's
// access list, which only the user is on, covers the file.
const posix = false

// syncDir has nothing to do: NTFS journals the rename.
func syncDir(string) error { return nil }
