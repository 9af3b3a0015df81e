package config

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// Hash identifies what would be started or contacted: "sha256:" and 64 hex
// digits over transport, command, arguments, environment, working folder,
// address, headers, roots and what is set about signing in, all as written. Values behind ${…} do not enter,
// so a new key needs no new review; the text of the file does.
func (s Server) Hash() string {
	h := sha256.New()
	put := func(parts ...string) {
		var size [8]byte
		for _, p := range parts {
			binary.BigEndian.PutUint64(size[:], uint64(len(p)))
			h.Write(size[:])
			h.Write([]byte(p))
		}
	}
	list := func(name string, items []string) {
		put(name, fmt.Sprint(len(items)))
		put(items...)
	}
	table := func(name string, m map[string]string) {
		put(name, fmt.Sprint(len(m)))
		for _, k := range slices.Sorted(maps.Keys(m)) {
			put(k, m[k])
		}
	}
	put("steward server 1", s.Transport, s.Command, s.Cwd, s.URL)
	list("args", s.Args)
	table("env", s.Env)
	table("headers", s.Headers)
	list("roots", s.Roots)
	if o := s.OAuth; !o.Empty() { // one that sets nothing keeps the review it had
		put("oauth", o.ClientID, o.ClientSecret, o.MetadataURL, fmt.Sprint(o.CallbackPort))
		list("scopes", o.Scopes)
	}
	if s.Proxy != "" || s.CAFile != "" { // without them the review stays what it was
		put("network", s.Proxy, s.CAFile)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// Expand returns the server as it is to be started: in the values of Env, in
// Cwd, in CAFile and in Roots, ~ or ~/ at the start becomes home, and $VAR, ${VAR} and
// ${env:VAR} become what lookup says (os.LookupEnv for the running program);
// $$ stands for one dollar sign. A variable that is not set stays as written
// and becomes a warning. Everything else stays as written, also
// ${secret:NAME}: secrets are put in afterwards, so that nothing in a secret's
// value is ever expanded. What a variable holds is not expanded again.
func Expand(s Server, lookup func(string) (string, bool), home string) (Server, []Problem) {
	x := expander{lookup: lookup, home: home, server: s.Name}
	env := make(map[string]string, len(s.Env))
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		env[name] = x.text("env."+name, s.Env[name])
	}
	roots := make([]string, len(s.Roots))
	for i, root := range s.Roots {
		roots[i] = x.text("roots", root)
	}
	s.Env, s.Roots, s.Cwd, s.CAFile = env, roots, x.text("cwd", s.Cwd), x.text("caFile", s.CAFile)
	return s, x.problems
}

type expander struct {
	lookup   func(string) (string, bool)
	home     string
	server   string
	problems []Problem
}

func (x *expander) text(field, s string) string {
	if x.home != "" && (s == "~" || strings.HasPrefix(s, "~/") || strings.HasPrefix(s, "~"+string(filepath.Separator))) {
		return x.home + x.variables(field, s[1:])
	}
	return x.variables(field, s)
}

func (x *expander) variables(field, s string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 {
			b.WriteString(s)
			return b.String()
		}
		b.WriteString(s[:i])
		s = s[i:]
		if strings.HasPrefix(s, "$$") {
			b.WriteByte('$')
			s = s[2:]
			continue
		}
		name, size := variable(s)
		value, ok := "", false
		if name != "" {
			if value, ok = x.lookup(name); !ok {
				x.problems = append(x.problems, Problem{x.server, fmt.Sprintf("%s: the variable %s is not set, so %s stays as written", field, name, s[:size]),
					"Set the variable before starting Steward, or write the value; $$ stands for a dollar sign.", false})
			}
		}
		if ok {
			b.WriteString(value)
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
}

// variable reads the reference at the start of s, which begins with '$': its
// name ("" where it is none) and its size in bytes.
func variable(s string) (name string, size int) {
	if strings.HasPrefix(s, "${") {
		end := strings.IndexByte(s, '}')
		if end < 0 {
			return "", 1
		}
		name = strings.TrimPrefix(s[2:end], "env:")
		if identifier(name) != len(name) {
			name = ""
		}
		return name, end + 1
	}
	n := identifier(s[1:])
	return s[1 : 1+n], 1 + n
}

// identifier measures the variable name that s begins with.
func identifier(s string) int {
	for i := range len(s) {
		c := s[i]
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return i
		}
	}
	return len(s)
}
