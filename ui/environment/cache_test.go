package environment

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestTheFolderOfCachesIsMade(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the system makes it")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	t.Setenv("XDG_CACHE_HOME", dir)
	forCache()
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
}
