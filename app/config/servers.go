// Package config reads what the person has written down: the settings, and
// the list of MCP servers in the mcpServers form that other hosts share. It
// starts nothing, changes no file but through EditFile, and turns every fault into a sentence that
// names the place and what to do.
package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tailscale/hujson"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Transports of a server as [Server.Transport] names them.
const (
	Stdio = "stdio" // a local program, spoken to over its stdin and stdout
	HTTP  = "http"  // Streamable HTTP (MCP 2025-03-26 and later)
	SSE   = "sse"   // HTTP with server-sent events (MCP 2024-11-05)
)

const (
	maxFile    = 4 << 20 // bytes of a servers file
	maxDepth   = 64      // nested values; the parser below us has no limit of its own
	maxServers = 1000
	// maxProblems is how many problems of one file are listed.
	maxProblems = 2000
)

// Server is one entry of a servers file, as written: nothing is expanded, so
// ${secret:NAME}, ${VAR} and ~ stand as the person wrote them. See [Expand].
type Server struct {
	Name      string
	Command   string // program of a stdio server; never split at spaces, never given to a shell
	Args      []string
	Env       map[string]string
	Cwd       string
	URL       string // of an HTTP server
	Headers   map[string]string
	Transport string // Stdio, HTTP or SSE
	Disabled  bool
	Roots     []string // folders, or file:// URIs, always shared with this server
	// ToolTimeout and StartTimeout are 0 where the file sets none.
	ToolTimeout, StartTimeout time.Duration
	Sampling                  bool // the server may ask for model answers
	AllowHTTP                 bool // plain http beyond this computer is accepted
	OAuth                     OAuth
	// Proxy and CAFile say how an address is reached; "" is what the settings say. See
	// [CheckProxy].
	Proxy, CAFile string
	// MaxMessage is the largest message accepted from it, in bytes; 0 where the file sets none.
	MaxMessage int
}

// Problem is something about a servers file that the person should know. If
// no Server of that name was returned, the entry cannot be used until it is
// mended; otherwise the problem is a warning and the entry works.
type Problem struct {
	Server  string // "" where it concerns the file
	Message string // begins with the line
	Hint    string // what to do
	Secret  bool   // a secret stands in the open; [MoveSecrets] may help
}

func (p Problem) String() string {
	s := p.Message
	if p.Server != "" {
		s = fmt.Sprintf("server %q: %s", p.Server, s)
	}
	if p.Hint != "" {
		s = sentence(s) + " " + p.Hint
	}
	return s
}

// sentence ends a text with a full stop unless it has an end already.
func sentence(s string) string {
	if strings.HasSuffix(s, ".") || strings.HasSuffix(s, "?") || strings.HasSuffix(s, "!") || s == "" {
		return s
	}
	return s + "."
}

// ReadServers reads a servers file. Entries that cannot be used become
// problems and the others are returned; the error is for a file that cannot be
// read as a whole, and wraps fs.ErrNotExist where there is none. The file is
// never changed.
func ReadServers(path string) ([]Server, []Problem, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, nil, err
	}
	return ParseServers(path, data)
}

// readFile looks before it opens, because opening a pipe would wait for a writer.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, Unreadable("the servers file", path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file; name a file in mcpServers form", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, Unreadable("the servers file", path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, Unreadable("the servers file", path, err)
	}
	return data, nil
}

// ParseServers is [ReadServers] for text already in memory; name stands for
// the file in messages.
func ParseServers(name string, data []byte) ([]Server, []Problem, error) {
	short := filepath.Base(name)
	data, err := decodeText(short, data)
	if err != nil {
		return nil, nil, err
	}
	if err := checkDepth(short, data); err != nil {
		return nil, nil, err
	}
	root, err := hujson.Parse(data)
	if err != nil {
		return nil, nil, syntaxError(short, data, err)
	}
	top, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, nil, fmt.Errorf("%s: expected an object such as {\"mcpServers\": {…}}, found %s", short, kind(root.Value))
	}
	r := newReader(data)
	lists, err := r.lists(short, top)
	if err != nil {
		return nil, nil, err
	}
	for _, list := range lists {
		r.list(list)
	}
	return r.servers, r.problems, nil
}

// decodeText removes a byte order mark, turns UTF-16 with one into UTF-8, and
// refuses what is no text, by line.
func decodeText(name string, data []byte) ([]byte, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d MB; a servers file is a few kB, so this is probably another file", name, maxFile>>20)
	}
	data, _, err := transform.Bytes(unicode.BOMOverride(encoding.Nop.NewDecoder()), data)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be decoded: %w", name, err)
	}
	if i := invalidUTF8(data); i >= 0 {
		line, column := position(data, i)
		return nil, fmt.Errorf("%s: line %d, column %d: this byte (%#02x) is not UTF-8 text; save the file as UTF-8", name, line, column, data[i])
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, fmt.Errorf("%s is empty; expected {\"mcpServers\": {}}", name)
	}
	return data, nil
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

// checkDepth counts brackets outside strings and comments.
func checkDepth(name string, data []byte) error {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			for i++; i < len(data) && data[i] != '"'; i++ {
				if data[i] == '\\' {
					i++
				}
			}
		case '/':
			i = skipComment(data, i)
		case '[', '{':
			if depth++; depth > maxDepth {
				line, column := position(data, i)
				return fmt.Errorf("%s: line %d, column %d: more than %d values inside one another; this is no list of servers", name, line, column, maxDepth)
			}
		case ']', '}':
			depth--
		}
	}
	return nil
}

// skipComment returns the last byte of the comment that begins at i, or i.
func skipComment(data []byte, i int) int {
	rest := data[i:]
	end := -1
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if end = bytes.IndexByte(rest, '\n'); end < 0 {
			return len(data)
		}
	case bytes.HasPrefix(rest, []byte("/*")):
		if end = bytes.Index(rest[2:], []byte("*/")); end < 0 {
			return len(data)
		}
		end += 3
	default:
		return i
	}
	return i + end
}

// position counts lines and columns (in characters) from 1.
func position(data []byte, offset int) (line, column int) {
	before := data[:min(offset, len(data))]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// syntaxError words the parser's error; its text is "hujson: line L, column C: why".
func syntaxError(name string, data []byte, err error) error {
	text := strings.TrimPrefix(err.Error(), "hujson: ")
	var line, column int
	if _, scanErr := fmt.Sscanf(text, "line %d, column %d:", &line, &column); scanErr != nil {
		return fmt.Errorf("%s is not JSON: %s; correct it and start again", name, text)
	}
	_, why, _ := strings.Cut(text, ": ")
	// The parser counts columns in bytes; people count characters.
	lines := bytes.Split(data, []byte("\n"))
	if line <= len(lines) {
		column = 1 + utf8.RuneCount(lines[line-1][:min(column-1, len(lines[line-1]))])
	}
	return fmt.Errorf("%s: line %d, column %d: %s", name, line, column, expectation(why))
}

// expectation says what should have stood there, in a person's words.
func expectation(why string) string {
	switch {
	case strings.Contains(why, "unexpected EOF"):
		return "the file ends here, but a quote, a bracket or a brace is still open; is the end of the file missing?"
	case strings.Contains(why, "at start of value"), strings.Contains(why, "parsing value"), strings.Contains(why, "invalid literal"):
		return "expected a value (\"text\", a number, true, false, null, […] or {…}): " + why
	case strings.Contains(why, "after object name"):
		return "expected a colon after the name: " + why
	case strings.Contains(why, "object name"):
		return "expected a name in double quotes: " + why
	case strings.Contains(why, "after object value"):
		return "expected a comma or } after this value; is a comma missing at the end of the line before? " + why
	case strings.Contains(why, "after array value"):
		return "expected a comma or ] after this value: " + why
	case strings.Contains(why, "top-level"):
		return "expected the end of the file after the closing }: " + why
	}
	return why
}

// list is one object of servers in the file.
type list struct {
	key string
	obj *hujson.Object
}

// lists finds the objects that hold servers: mcpServers (most hosts), servers
// (VS Code's mcp.json), or mcp.servers (VS Code's settings.json).
func (r *reader) lists(name string, top *hujson.Object) ([]list, error) {
	var found []list
	add := func(key string, v hujson.Value) error {
		obj, ok := v.Value.(*hujson.Object)
		if !ok {
			line, column := position(r.data, v.StartOffset)
			return fmt.Errorf("%s: line %d, column %d: %q must be an object of servers, {\"name\": {…}}, but is %s", name, line, column, key, kind(v.Value))
		}
		found = append(found, list{key, obj})
		return nil
	}
	for _, m := range top.Members {
		switch key := memberName(m); key {
		case "mcpServers", "servers":
			if err := add(key, m.Value); err != nil {
				return nil, err
			}
		case "mcp":
			if inner, ok := m.Value.Value.(*hujson.Object); ok {
				for _, im := range inner.Members {
					if memberName(im) == "servers" {
						if err := add("mcp.servers", im.Value); err != nil {
							return nil, err
						}
					}
				}
			}
		}
	}
	if len(found) == 0 {
		return nil, errors.New(name + ": " + r.missingList(top))
	}
	return found, nil
}

// missingList explains a file without a list of servers by what it holds instead.
func (r *reader) missingList(top *hujson.Object) string {
	const want = `expected "mcpServers" at the top, as in {"mcpServers": {"name": {"command": "…"}}}`
	var keys []string
	for _, m := range top.Members {
		key := memberName(m)
		if inner, ok := m.Value.Value.(*hujson.Object); ok {
			for _, im := range inner.Members {
				if n := memberName(im); n == "command" || n == "url" {
					return fmt.Sprintf("%s; %q looks like a server, so put {\"mcpServers\": … } around it", want, key)
				}
			}
		}
		if key == "command" || key == "url" {
			return want + "; this looks like a single server without its name"
		}
		if key == "context_servers" || key == "mcp_servers" {
			return fmt.Sprintf("%s; rename %q, which another program uses", want, key)
		}
		keys = append(keys, fmt.Sprintf("%q", shorten(key)))
	}
	if len(keys) == 0 {
		return want + "; the object is empty"
	}
	return want + "; found " + strings.Join(keys[:min(len(keys), 5)], ", ")
}

// list reads every server of one list. A name that comes twice is used from
// its first place only, so that an entry further down cannot take over a
// reviewed name.
func (r *reader) list(l list) {
	for _, m := range l.obj.Members {
		name := memberName(m)
		line := r.line(m.Name.StartOffset)
		if first, dup := r.seen[name]; dup {
			r.problem(name, line, fmt.Sprintf("the name stands on line %d already, and only that entry is used", first), "Rename or remove one of the two.")
			continue
		}
		if len(r.seen) >= maxServers {
			r.problem("", line, fmt.Sprintf("there are more than %d servers; those from here on are left out", maxServers), "Remove what you do not use.")
			return
		}
		r.seen[name] = line
		r.server(name, line, m.Value)
	}
}

// Find returns the server of that name.
func Find(servers []Server, name string) (Server, bool) {
	i := slices.IndexFunc(servers, func(s Server) bool { return s.Name == name })
	if i < 0 {
		return Server{}, false
	}
	return servers[i], true
}
