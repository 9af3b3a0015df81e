package app

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"steward/app/config"
)

// This file keeps folders that must not be shared out of what the command line and the
// entries of servers share. See [App.CheckRoot].

// absolute are the folders of the command line with their full paths. One that must not be
// shared is an error.
func absolute(ctx context.Context, data string, dirs []string) ([]string, error) {
	out := make([]string, 0, len(dirs))
	for _, d := range dirs {
		abs, err := checkRoot(ctx, data, d)
		if err != nil {
			return nil, err
		}
		out = append(out, abs)
	}
	return out, nil
}

// ownRoots are the folders of a server's entry, expanded, that may be shared, with their
// full paths, and a problem for each of the others.
func ownRoots(ctx context.Context, data, server string, roots []string) (kept []string, refused []config.Problem) {
	for _, root := range roots {
		path, err := rootPath(root)
		if err == nil {
			path, err = checkRoot(ctx, data, path)
		}
		if err != nil {
			refused = append(refused, config.Problem{Server: server, Message: "roots: the folder " + root + " is not shared with it: " + err.Error(),
				Hint: "Take it out of roots, or name the folders in it that the server needs."})
			continue
		}
		kept = append(kept, path)
	}
	return kept, refused
}

// rootPath is the path that a root names, which may be a file: URI of this computer
// (RFC 8089).
func rootPath(root string) (string, error) {
	if !strings.HasPrefix(strings.ToLower(root), "file:") {
		return root, nil
	}
	u, err := url.Parse(root)
	if err != nil || u.Path == "" || u.Host != "" && !strings.EqualFold(u.Host, "localhost") {
		return "", errors.New("that is no file: address of a folder on this computer; write file:///path, or the path alone")
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	return filepath.FromSlash(path), nil
}

// lookAtRoots adds to a list's problems those of the folders that its servers share.
func (l *serverList) lookAtRoots(ctx context.Context, data string) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // ~ then stays as written, and no such folder is found
	}
	l.refused = map[string][]config.Problem{}
	for _, c := range l.servers {
		if len(c.Roots) == 0 {
			continue
		}
		x, _ := config.Expand(c, os.LookupEnv, home) // its problems are told when the server starts
		_, refused := ownRoots(ctx, data, c.Name, x.Roots)
		if len(refused) > 0 {
			l.refused[c.Name] = refused
			l.problems = append(l.problems, refused...)
		}
	}
}

// RefusedRoots says which folders of a server's entry are not shared with it, and why, as
// sentences. It reads what was found when the list was read.
func (a *App) RefusedRoots(server string) []string {
	var out []string
	for _, p := range a.servers.now().refused[server] {
		p.Server = "" // who asks knows it
		out = append(out, reveal(p.String()))
	}
	return out
}

// refusedRoot is why an entry that a person writes shares a folder that must not be; nil
// where all may be shared.
func (a *App) refusedRoot(ctx context.Context, e ServerEntry) error {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	x, _ := config.Expand(e, os.LookupEnv, home)
	_, refused := ownRoots(ctx, a.dir, e.Name, x.Roots)
	if len(refused) == 0 {
		return nil
	}
	words := make([]string, len(refused))
	for i, p := range refused {
		p.Server = ""
		words[i] = p.String()
	}
	return &Message{Key: "server_entry", Args: args("server", reveal(e.Name), "detail", reveal(strings.Join(words, " ")))}
}

// shareable keeps the folders of an entry that may be shared as it is started, and tells
// what was not known when the list was read.
func (s *servers) shareable(server string, roots []string) []string {
	kept, refused := ownRoots(s.ctx, s.data, server, roots)
	known := s.now().refused[server]
	for _, p := range refused {
		if !slices.Contains(known, p) {
			s.tellConfig(server, p)
		}
	}
	return kept
}
