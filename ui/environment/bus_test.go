package environment

import (
	"net"
	"os"
	"path/filepath"
	"testing"
)

func TestNoBusIsStartedWhereThereIsNone(t *testing.T) {
	t.Parallel()
	empty, own, session := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "a b")
	if err := os.Mkdir(session, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(own, "bus"), filepath.Join(session, "bus")} {
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	plain := t.TempDir() // a file there is no bus
	if err := os.WriteFile(filepath.Join(plain, "bus"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	old := t.TempDir()
	if err := os.WriteFile(filepath.Join(old, "dbus-session"), []byte("DBUS_SESSION_BUS_ADDRESS=unix:abstract=x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, now, own, runtimeDir, want string }{
		{"named", "unix:path=/x", empty, empty, ""},
		{"switched off already", noBus, own, session, ""},
		{"found by the library", "", own, session, ""},
		{"found by the library, old form", "", old, empty, ""},
		{"elsewhere", "", empty, session, "unix:path=" + filepath.Dir(session) + "/a%20b/bus"},
		{"elsewhere, asked to be started", "autolaunch:", empty, session, "unix:path=" + filepath.Dir(session) + "/a%20b/bus"},
		{"none", "", empty, "", noBus},
		{"none, asked to be started", "autolaunch:", empty, empty, noBus},
		{"no socket", "", empty, plain, noBus},
		{"a folder without a root", "", empty, "x", noBus},
	} {
		if got := busAddress(c.now, c.own, c.runtimeDir); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
