package app_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The doors test holds the house to its plan (docs/architecture.md): which room may import which, and which
// single room owns each outside library. It reads `go list` for every system Steward is built for, so a file
// behind a build constraint cannot slip past.

const module = "steward"

// listed is what `go list -json` says of one package.
type listed struct {
	ImportPath string
	Name       string
	Imports    []string
}

func (p listed) room() string {
	return strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
}

// doors names, for each outside library, the only rooms that may import it.
var doors = map[string][]string{
	"fyne.io/fyne":                           {"ui"},
	"github.com/sashabaranov/go-openai":      {"llm"},
	"github.com/modelcontextprotocol/go-sdk": {"mcphost"},
	"github.com/mattn/go-sqlite3":            {"storage"},
	"github.com/zalando/go-keyring":          {"app/secrets"},
}

// layers orders the rooms inside app: each may import those of the rows before it, and only the first row's rooms may
// import each other (the compiler refuses circles).
var layers = [][]string{
	{"app/event", "app/clean", "app/secrets", "app/config", "app/opener"},
	{"app/journal"},
	{"app/consent"},
	{"app/chat"},
	{"app"},
}

func layerOf(room string) int {
	for i, rooms := range layers {
		for _, r := range rooms {
			if room == r || r != "app" && within(room, r) {
				return i
			}
		}
	}
	return -1
}

// within reports whether room is root or lies below it.
func within(room, root string) bool { return room == root || strings.HasPrefix(room, root+"/") }

func withinAny(room string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return within(room, root) })
}

// complaint says why one package may not import another, or "" where it may.
func complaint(from, to string) string {
	if strings.HasPrefix(to, module+"/") || to == module {
		return insideComplaint(from, strings.TrimPrefix(strings.TrimPrefix(to, module), "/"))
	}
	for library, rooms := range doors {
		if !strings.HasPrefix(to, library) {
			continue
		}
		if !withinAny(from, rooms...) {
			return fmt.Sprintf("only %s imports %s", strings.Join(rooms, ", "), library)
		}
		if library == "fyne.io/fyne" && within(from, "ui/headless") {
			return "ui/headless runs without a window and imports no Fyne"
		}
		if to == "fyne.io/fyne/v2/app" && !within(from, "ui/shell") {
			return "only ui/shell imports Fyne's own app package"
		}
	}
	return ""
}

func insideComplaint(from, to string) string {
	if within(to, "mcphost/send") && !within(from, "mcphost/send") && !within(from, "app/consent") {
		return "only app/consent imports mcphost/send"
	}
	switch {
	case from == "": // main
		if !withinAny(to, "ui", "app", "assets", "mcphost/demo", "llm/demo") {
			return "main reaches ui, app and the two demos only"
		}
	case within(from, "ui"):
		if !withinAny(to, "ui", "app", "assets") {
			return "ui imports app and assets alone"
		}
	case within(from, "app"):
		return appComplaint(from, to)
	case withinAny(from, "mcphost", "llm", "storage"):
		root, _, _ := strings.Cut(from, "/")
		if !withinAny(to, root, "testdata") { // what links testdata, TestNothingForTestsShips says
			return root + " knows nothing of the other rooms"
		}
	case within(from, "assets"):
		return "assets imports nothing of ours"
	}
	return ""
}

func appComplaint(from, to string) string {
	if !within(to, "app") {
		if withinAny(to, "mcphost", "llm", "storage") {
			return ""
		}
		return "app reaches down to mcphost, llm and storage only"
	}
	if within(to, from) || within(from, to) && to != "app" {
		return ""
	}
	if layerOf(to) > layerOf(from) || layerOf(to) == layerOf(from) && layerOf(to) > 0 {
		return "inside app: event, clean, secrets, config, opener ← journal ← consent ← chat ← app"
	}
	return ""
}

func TestDoors(t *testing.T) {
	t.Parallel()
	for _, system := range []string{"linux", "darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			for _, p := range list(t, system) {
				checkPackage(t, p)
			}
		})
	}
}

func checkPackage(t *testing.T, p listed) {
	t.Helper()
	if slices.Contains([]string{"util", "utils", "common", "helpers", "types", "models"}, p.Name) {
		t.Errorf("package %s is named after nothing", p.ImportPath)
	}
	if within(p.room(), "app") && layerOf(p.room()) < 0 {
		t.Errorf("package %s has no place in the order inside app", p.ImportPath)
	}
	for _, imported := range p.Imports {
		if why := complaint(p.room(), imported); why != "" {
			t.Errorf("%s imports %s: %s", p.ImportPath, imported, why)
		}
	}
}

// TestDoorsNoticeABreach keeps the rules above from passing because they match nothing.
func TestDoorsNoticeABreach(t *testing.T) {
	t.Parallel()
	for _, breach := range [][2]string{
		{"ui/headless", "fyne.io/fyne/v2"},
		{"ui/chat", "fyne.io/fyne/v2/app"},
		{"ui/chat", "steward/storage"},
		{"app/chat", "github.com/mattn/go-sqlite3"},
		{"app/chat", "steward/mcphost/send"},
		{"app/chat", "github.com/sashabaranov/go-openai"},
		{"app", "github.com/zalando/go-keyring"},
		{"app/journal", "steward/app/consent"},
		{"app/event", "steward/app/journal"},
		{"app/event", "steward/app"},
		{"mcphost", "steward/llm"},
		{"llm", "steward/app/event"},
		{"storage", "github.com/modelcontextprotocol/go-sdk/mcp"},
		{"", "steward/mcphost"},
		{"app", "steward/ui/headless"},
	} {
		if complaint(breach[0], breach[1]) == "" {
			t.Errorf("%q importing %q should be refused", breach[0], breach[1])
		}
	}
	for _, fine := range [][2]string{
		{"app/consent", "steward/mcphost/send"},
		{"app/secrets", "github.com/zalando/go-keyring"},
		{"", "steward/llm/demo"},
		{"ui/headless", "steward/app/event"},
		{"app/chat", "steward/app/consent"},
		{"app/config", "steward/app/clean"},
		{"mcphost/send", "steward/mcphost/internal/wire"},
	} {
		if why := complaint(fine[0], fine[1]); why != "" {
			t.Errorf("%q importing %q should be fine, but: %s", fine[0], fine[1], why)
		}
	}
}

// TestNothingForTestsShips looks at all that the program links: no counterpart of the tests, and not testing itself.
func TestNothingForTestsShips(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-deps", ".")
	cmd.Dir = moduleRoot(t)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list -deps: %v", err)
	}
	linked := strings.Fields(string(out))
	if !slices.Contains(linked, module+"/mcphost/send") {
		t.Fatalf("the program does not link mcphost/send, so this test looks at the wrong thing:\n%s", out)
	}
	for _, path := range linked {
		if path == "testing" || strings.HasPrefix(path, module+"/testdata") {
			t.Errorf("the program links %s", path)
		}
	}
}

// TestTopLevel keeps the top of the tree to the names that were agreed.
func TestTopLevel(t *testing.T) {
	t.Parallel()
	agreed := []string{"go.mod", "go.sum", "README.md", "main.go", "app", "ui", "mcphost", "llm", "storage", "assets",
		"FyneApp.toml", "Makefile", "LICENSE", "CHANGELOG.md", "docs", "testdata"}
	out, err := exec.Command("git", "-C", moduleRoot(t), "ls-files").Output()
	if err != nil {
		t.Skipf("not a git checkout: %v", err)
	}
	for file := range strings.Lines(string(out)) {
		top, _, _ := strings.Cut(strings.TrimSpace(file), "/")
		if !strings.HasPrefix(top, ".") && !slices.Contains(agreed, top) {
			t.Errorf("%s stands at the top level, where only the agreed names do", top)
		}
	}
}

func list(t *testing.T, system string) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Name,Imports", "./...")
	cmd.Dir = moduleRoot(t)
	cmd.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
	if system == "linux" {
		cmd.Env = append(os.Environ(), "GOOS=linux")
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list for %s: %v\n%s", system, err, stderr.String())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
	if len(packages) < 5 {
		t.Fatalf("go list for %s found only %d packages", system, len(packages))
	}
	return packages
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
