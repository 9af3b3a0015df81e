package signinserver

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// Browser makes a program that stands in for the system's browser, in a folder of its own, for PATH. opened returns what
// it was asked to open so far. The test is skipped where the system opens addresses by another program.
func Browser(t *testing.T) (folder string, opened func() []string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the browser is opened by another program here")
	}
	folder = t.TempDir()
	trace := filepath.Join(folder, "opened")
	if err := os.WriteFile(filepath.Join(folder, "xdg-open"), []byte("#!/bin/sh\necho \"$1\" >> '"+trace+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return folder, func() []string {
		t.Helper()
		data, err := os.ReadFile(trace)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return strings.Fields(string(data))
	}
}

// InPlace is [Browser] for a program that runs in the test's own process.
func InPlace(t *testing.T) (opened func() []string) {
	t.Helper()
	folder, opened := Browser(t)
	t.Setenv("PATH", folder+":"+os.Getenv("PATH"))
	return opened
}
