package config

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestExpand(t *testing.T) {
	t.Parallel()
	host := map[string]string{"MY_TOKEN": "t0k", "HOME": "/home/me", "NESTED": "$MY_TOKEN ${secret:x}", "E": ""}
	lookup := func(name string) (string, bool) { v, ok := host[name]; return v, ok }
	s := Server{Name: "s", Command: "$MY_TOKEN", Args: []string{"~/x", "$MY_TOKEN"}, Cwd: "~", Roots: []string{"~/docs", "$HOME/pics"}, Headers: map[string]string{"A": "$MY_TOKEN"},
		Env: map[string]string{"TOKEN": "$MY_TOKEN", "P": "~/data", "EMPTY": "", "BRACES": "a${MY_TOKEN}b", "CODE": "${env:MY_TOKEN}", "MISSING": "x$NOPE-y", "MISSING2": "${NOPE}", "SECRET": "${secret:k}",
			"DOLLAR": "pa$$word$", "NESTED": "$NESTED", "OTHER": "~bob/x", "MID": "a~/b", "OPEN": "${MY_TOKEN", "SET": "[$E]", "DIGIT": "$1"}}
	got, problems := Expand(s, lookup, "/home/me")
	want := map[string]string{"TOKEN": "t0k", "P": "/home/me/data", "EMPTY": "", "BRACES": "at0kb", "CODE": "t0k", "MISSING": "x$NOPE-y", "MISSING2": "${NOPE}", "SECRET": "${secret:k}",
		"DOLLAR": "pa$word$", "NESTED": "$MY_TOKEN ${secret:x}", "OTHER": "~bob/x", "MID": "a~/b", "OPEN": "${MY_TOKEN", "SET": "[]", "DIGIT": "$1"}
	for name, value := range want {
		if got.Env[name] != value {
			t.Errorf("%s: %q became %q, want %q", name, s.Env[name], got.Env[name], value)
		}
	}
	if got.Cwd != "/home/me" || !reflect.DeepEqual(got.Roots, []string{"/home/me/docs", "/home/me/pics"}) {
		t.Errorf("cwd %q, roots %q", got.Cwd, got.Roots)
	}
	if got.Command != s.Command || !reflect.DeepEqual(got.Args, s.Args) || !reflect.DeepEqual(got.Headers, s.Headers) {
		t.Errorf("command, arguments or headers changed: %+v", got)
	}
	if len(problems) != 2 || !strings.Contains(problems[0].Message, "NOPE is not set") {
		t.Errorf("problems %q", problems)
	}
	if s.Env["TOKEN"] != "$MY_TOKEN" || s.Roots[0] != "~/docs" {
		t.Error("the server as written was changed")
	}
}

// TestHash changes one thing at a time.
func TestHash(t *testing.T) {
	t.Parallel()
	base := func() Server {
		return Server{Name: "n", Command: "c", Args: []string{"a", "b"}, Env: map[string]string{"K": "v", "L": "w"}, Cwd: "/d", URL: "u", Headers: map[string]string{"H": "x"}, Transport: Stdio, Roots: []string{"/r"}}
	}
	seen := map[string]string{base().Hash(): "base"}
	if !strings.HasPrefix(base().Hash(), "sha256:") || len(base().Hash()) != 71 {
		t.Errorf("the hash is %q", base().Hash())
	}
	for name, change := range map[string]func(*Server){
		"command": func(s *Server) { s.Command = "d" }, "arg": func(s *Server) { s.Args[1] = "c" }, "args joined": func(s *Server) { s.Args = []string{"ab"} },
		"args moved": func(s *Server) { s.Args = []string{"b", "a"} }, "no args": func(s *Server) { s.Args = nil }, "env value": func(s *Server) { s.Env["K"] = "V" },
		"env name": func(s *Server) { delete(s.Env, "K"); s.Env["k"] = "v" }, "env more": func(s *Server) { s.Env["M"] = "" }, "cwd": func(s *Server) { s.Cwd = "" },
		"url": func(s *Server) { s.URL = "v" }, "header": func(s *Server) { s.Headers["H"] = "y" }, "header name": func(s *Server) { s.Headers = map[string]string{"I": "x"} },
		"transport": func(s *Server) { s.Transport = SSE }, "roots": func(s *Server) { s.Roots = nil }, "root": func(s *Server) { s.Roots[0] = "/s" },
		"env becomes header": func(s *Server) { s.Headers["K"] = "v"; delete(s.Env, "K") },
	} {
		s := base()
		change(&s)
		if other, dup := seen[s.Hash()]; dup {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[s.Hash()] = name
	}
	same := base()
	same.Name, same.Disabled, same.ToolTimeout, same.Sampling = "m", true, time.Hour, true
	if same.Hash() != base().Hash() {
		t.Error("what starts nothing else changes the hash")
	}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	half := 0.5
	s := Settings{BaseURL: "https://h/v1", Model: "m", KeyName: "k", Profile: "p", AllowHTTP: true, MaxRounds: 7, ToolTimeout: time.Second, StartTimeout: 2 * time.Second, Expiry: time.Hour, MaxTokens: 9, Temperature: &half, System: "管家"}
	back, err := LoadSettings(s.Encode())
	back.unknown = nil
	if err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("written and read: %+v, %v", back, err)
	}
	for _, empty := range []string{"", "null", "{}"} {
		got, err := LoadSettings(json.RawMessage(empty))
		got.unknown = nil
		if err != nil || !reflect.DeepEqual(got, DefaultSettings()) {
			t.Errorf("%q gives %+v, %v", empty, got, err)
		}
	}
	newer, err := LoadSettings(json.RawMessage(`{"model":"m","later":{"a":[1]},"keyName":"old"}`))
	if err != nil {
		t.Fatal(err)
	}
	newer.KeyName = ""
	if text := string(newer.Encode()); !strings.Contains(text, `"later":{"a":[1]}`) || strings.Contains(text, "old") {
		t.Errorf("written again: %s", text)
	}
	for _, bad := range []string{"[", `{"maxRounds":"x"}`, `{"maxRounds":-1}`, `{"toolTimeout":"soon"}`, `{"toolTimeout":"1ns"}`, `{"baseURL":"ftp://h"}`, `{"baseURL":"https://u:p@h/"}`, `{"maxTokens":-1}`} {
		if _, err := LoadSettings(json.RawMessage(bad)); err == nil || strings.Contains(err.Error(), "u:p") {
			t.Errorf("%s gives %v", bad, err)
		}
	}
}

func TestDataDir(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		system string
		env    map[string]string
		want   string
	}{
		{"linux", map[string]string{"HOME": "/home/a b"}, "/home/a b/.local/share/steward"},
		{"linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "/x"}, "/x/steward"},
		{"linux", map[string]string{"HOME": "/h", "XDG_DATA_HOME": "rel"}, "/h/.local/share/steward"},
		{"linux", map[string]string{"XDG_DATA_HOME": "rel"}, ""},
		{"linux", map[string]string{"HOME": "rel"}, ""},
		{"linux", nil, ""},
		{"darwin", map[string]string{"HOME": "/Users/a", "XDG_DATA_HOME": "/x"}, "/Users/a/Library/Application Support/Steward"},
		{"darwin", nil, ""},
		{"windows", map[string]string{"LOCALAPPDATA": "/c/l", "APPDATA": "/c/r"}, "/c/l/Steward"},
		{"windows", map[string]string{"APPDATA": "/c/r"}, "/c/r/Steward"},
		{"windows", nil, ""},
	} {
		got, err := dataDir(c.system, func(name string) string { return c.env[name] })
		if got != filepath.FromSlash(c.want) || (err == nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), "--data") {
			t.Errorf("%s %v gives %q, %v", c.system, c.env, got, err)
		}
	}
}
