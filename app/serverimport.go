package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"steward/app/clean"
	"steward/app/config"
)

// maxImport is the size of a text that servers are read from, in bytes.
const maxImport = 4 << 20

// ParseImport reads servers from a text in the form of Claude Desktop, VS Code or any
// mcpServers file, from a single entry, or from a piece of such a file. It touches
// nothing. The error is about the text as it was given.
func ParseImport(data []byte) (Import, error) {
	servers, problems, err := config.ParseServers("the text", data)
	if err != nil {
		for _, whole := range wrappings(data) {
			again, more, wrapErr := config.ParseServers("the text", whole)
			if wrapErr == nil && len(again) > 0 {
				servers, problems, err = again, more, nil
				break
			}
		}
	}
	if err != nil {
		return Import{}, &Message{Key: "import", Args: args("detail", clean.Clean(err.Error())), Err: err}
	}
	out := Import{Servers: servers}
	for _, p := range problems {
		if e, ok := config.Find(servers, p.Server); ok && p.Secret && !keepsSecrets(e) {
			continue // it is moved when the server is added
		}
		out.Problems = append(out.Problems, clean.Clean(p.String()))
	}
	return out, nil
}

// wrappings makes whole texts of what people copy out of one: the object of servers, some
// of its members, or what is inside one server.
func wrappings(data []byte) [][]byte {
	text := bytes.TrimRight(bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff"))), ", \t\r\n")
	if len(text) == 0 || len(text) > maxImport {
		return nil
	}
	wrap := func(before, after string) []byte { return slices.Concat([]byte(before), text, []byte(after)) }
	name, err := json.Marshal(nameFor(text))
	if err != nil {
		return nil // never: it is text
	}
	return [][]byte{
		wrap("{", "\n}"), // "mcpServers": {…}
		wrap(`{"mcpServers":{`, "\n}}"),
		wrap(`{"mcpServers":`, "\n}"),
		wrap(`{"mcpServers":{`+string(name)+":", "\n}}"),
		wrap(`{"mcpServers":{`+string(name)+":{", "\n}}}"),
	}
}

// nameFor names a server that was given without a name, after its program or address.
func nameFor(text []byte) string {
	for _, key := range []string{`"command"`, `"url"`} {
		_, rest, ok := bytes.Cut(text, []byte(key))
		if !ok {
			continue
		}
		if parts := strings.SplitN(string(rest), `"`, 3); len(parts) == 3 {
			name := strings.TrimSuffix(filepath.Base(strings.ReplaceAll(hostOr(parts[1]), `\`, "/")), ".exe")
			if name = clean.Line(name, 40); name != "" && name != "." && name != "/" {
				return name
			}
		}
	}
	return "server"
}

func hostOr(s string) string {
	if h := hostOf(s); h != "" {
		return h
	}
	return s
}

// ImportPlaces lists the files of other programs that are there.
func ImportPlaces() []ImportPlace {
	home, err := os.UserHomeDir()
	if err != nil {
		return nil // without a home there are no such files
	}
	return importPlaces(runtime.GOOS, home, os.Getenv)
}

func importPlaces(system, home string, env func(string) string) []ImportPlace {
	base := filepath.Join(home, ".config")
	switch system {
	case "darwin":
		base = filepath.Join(home, "Library", "Application Support")
	case "windows":
		base = env("APPDATA")
	default:
		if dir := env("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			base = dir
		}
	}
	out := []ImportPlace{}
	for _, p := range []ImportPlace{
		{"Claude Desktop", filepath.Join(base, "Claude", "claude_desktop_config.json")},
		{"VS Code", filepath.Join(base, "Code", "User", "mcp.json")},
		{"VS Code", filepath.Join(base, "Code", "User", "settings.json")},
		{"Claude Code", filepath.Join(home, ".claude.json")},
		{"Cursor", filepath.Join(home, ".cursor", "mcp.json")},
		{"Windsurf", filepath.Join(home, ".codeium", "windsurf", "mcp_config.json")},
	} {
		if info, err := os.Stat(p.Path); err == nil && info.Mode().IsRegular() {
			out = append(out, p)
		}
	}
	return out
}

// ReadImport is [ParseImport] for a file.
func ReadImport(path string) (Import, error) {
	info, err := os.Stat(path) // before opening: to open a named pipe waits for its writer
	switch {
	case err != nil:
		return Import{}, fmt.Errorf("the file cannot be read: %w", err)
	case !info.Mode().IsRegular():
		return Import{}, fmt.Errorf("%s is not a plain file", path)
	case info.Size() > maxImport:
		return Import{}, fmt.Errorf("%s is larger than %d MB, so it is probably no list of servers", path, maxImport>>20)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Import{}, fmt.Errorf("the file cannot be read: %w", err)
	}
	return ParseImport(data)
}
