//go:build !windows

package storage

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder of somebody else's is refused as it is, and so is one that may not be written.
func TestAFolderThatIsNotOurs(t *testing.T) {
	t.Parallel()
	put := func(dir, name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		files []string
		mode  os.FileMode
		kind  error // nil: taken
		after os.FileMode
		says  string
	}{
		"another's":          {[]string{"thesis.odt", "servers.json"}, 0o755, ErrForeign, 0o755, `"thesis.odt"`},
		"many things":        {[]string{"a", "b", "c", "d", "e", "f", "g"}, 0o755, ErrForeign, 0o755, `"a", "b", "c", "d", "e" and 2 more`},
		"read-only":          {nil, 0o555, ErrReadOnly, 0o555, "may not be written"},
		"empty":              {nil, 0o755, nil, 0o700, ""},
		"prepared":           {[]string{"servers.json", "secrets.enc"}, 0o755, nil, 0o700, ""},
		"ours and read-only": {[]string{fileName}, 0o555, ErrReadOnly, 0o555, "may not be written"},
	} {
		dir := filepath.Join(t.TempDir(), "d")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, f := range c.files {
			put(dir, f)
		}
		if err := os.Chmod(dir, c.mode); err != nil {
			t.Fatal(err)
		}
		db, err := Open(context.Background(), Options{Dir: dir, Program: "test"})
		if db != nil {
			closeTest(t, db)
		}
		if !errors.Is(err, c.kind) || c.kind != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != c.after {
			t.Errorf("%s: afterwards its mode is %v (%v)", name, info.Mode(), err)
		}
		if entries, err := os.ReadDir(dir); c.kind != nil && (err != nil || len(entries) != len(c.files)) {
			t.Errorf("%s: something was made in it: %v (%v)", name, entries, err)
		}
		if err := os.Chmod(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Open(context.Background(), Options{Dir: "/", Program: "test"}); !errors.Is(err, ErrForeign) {
		t.Errorf("the root of the system: %v", err)
	}
}
