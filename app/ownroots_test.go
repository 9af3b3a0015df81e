package app

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A folder that must not be shared is refused wherever it is named: on the command line, in
// a server's entry, which then runs without it, and in the form.
func TestFoldersAreCheckedWhereverTheyAreNamed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	base := t.TempDir()
	keys, good, plain, data := filepath.Join(base, "k", ".ssh"), filepath.Join(base, "good place"), filepath.Join(base, "file"), filepath.Join(base, "data")
	check(t, os.MkdirAll(filepath.Join(keys, "below"), 0o700), os.MkdirAll(good, 0o700))
	write(t, plain, "x")
	bad := []string{keys, filepath.Join(keys, "below"), filepath.Dir(keys), plain, filepath.Join(base, "none"), "/", data, base, "file://" + keys, "file://elsewhere" + good}
	for _, root := range bad[:8] {
		if _, err := Open(ctx, Options{Data: data, Roots: []string{good, root}}); Explain(err).Key != "root_refused" {
			t.Errorf("--root %s: %v", root, err)
		}
	}
	if _, err := os.Stat(data); err == nil {
		t.Error("the data folder was made for a command that was refused")
	}

	entry := self(t, "scripted")
	entry["roots"] = append(slices.Clone(bad), (&url.URL{Scheme: "file", Path: good}).String())
	raw, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"s": entry}})
	check(t, err)
	r := &rig{t: t, o: Options{Data: data, ServersFile: filepath.Join(base, "given.json")}}
	write(t, r.o.ServersFile, string(raw))
	r.open()
	t.Cleanup(r.close)
	found := must(t, func() ([]Diagnosis, error) { return r.app.Doctor(ctx, "s") })[0]
	said := found.Checks[0].Message
	for _, root := range bad {
		if !strings.Contains(said, "the folder "+root+" is not shared") {
			t.Errorf("doctor says nothing of %s: %s", root, said)
		}
	}
	conn := r.app.servers.entry("s").started()
	if got := conn.Config().Roots; !slices.Equal(got, []string{good}) {
		t.Errorf("shared are %q", got)
	}
	if n := len(r.app.RefusedRoots("s")); n != len(bad) {
		t.Errorf("%d are refused", n)
	}
	if s := r.server("s"); s.Roots != 1 || len(s.Problems) < len(bad) {
		t.Errorf("%d folders, %q", s.Roots, s.Problems)
	}
}

// An entry is not written with such a folder, and is with another.
func TestTheFormRefusesFolders(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := newRig(t, nil)
	e := entryOf(t, "s", "scripted")
	e.Roots = []string{filepath.Dir(r.app.DataDir())}
	if err := r.app.AddServer(ctx, e); Explain(err).Key != "server_entry" || !strings.Contains(err.Error(), "Steward's own data") {
		t.Errorf("%v", err)
	}
	e.Roots = []string{t.TempDir()}
	check(t, r.app.AddServer(ctx, e))
	e.Roots = []string{filepath.Join(e.Roots[0], "none")}
	if err := r.app.EditServer(ctx, "s", e); Explain(err).Key != "server_entry" {
		t.Errorf("%v", err)
	}
}
