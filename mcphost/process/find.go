package process

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Find finds a program as [Look] does, and returns the PATH it is to run with: one on
// which it, and the interpreter that its first line asks env(1) for, are found. That is
// own, the PATH among the variables set for the program ("" for none), where it is enough;
// else what is known besides comes after it. The login shell is asked where nothing else
// knows them. The error is a *NotFoundError.
func (p *Paths) Find(ctx context.Context, command, own string) (file, path string, err error) {
	if own != "" {
		if file, err = lookWhole(command, own); err == nil {
			return file, withFolder(own, file), nil
		}
	}
	path = listed(own, p.Path(ctx))
	if file, err = lookWhole(command, path); err != nil {
		path = listed(own, p.Ask(ctx))
		file, err = lookWhole(command, path)
	}
	if err != nil {
		return "", path, err
	}
	return file, withFolder(path, file), nil
}

// listed joins two PATHs; the first may be "".
func listed(first, second string) string {
	if first == "" {
		return second
	}
	return first + string(os.PathListSeparator) + second
}

// lookWhole is Look for a program and its interpreter.
func lookWhole(command, path string) (string, error) {
	file, err := Look(command, path)
	if err != nil {
		return "", err
	}
	if engine := interpreter(file); engine != "" {
		if _, err := Look(engine, withFolder(path, file)); err != nil {
			return "", &NotFoundError{Command: engine, Path: path, Needs: command}
		}
	}
	return file, nil
}

// withFolder adds the folder of a program to a PATH: what stands beside npx is the node
// that it needs.
func withFolder(path, file string) string {
	dir := filepath.Dir(file)
	if slices.Contains(filepath.SplitList(path), dir) {
		return path
	}
	if path == "" {
		return dir
	}
	return path + string(os.PathListSeparator) + dir
}

// interpreter returns the name that the first line of a script asks env(1) for, as in
// "#!/usr/bin/env node"; "" where there is none, or it cannot be told.
func interpreter(file string) string {
	line := firstLine(file)
	if runtime.GOOS == "windows" || !strings.HasPrefix(line, "#!") {
		return ""
	}
	words := strings.Fields(line[2:])
	if len(words) < 2 || filepath.Base(words[0]) != "env" {
		return ""
	}
	words = words[1:]
	if words[0] == "-S" && len(words) > 1 {
		words = words[1:]
	}
	if strings.HasPrefix(words[0], "-") || strings.ContainsAny(words[0], "=/") {
		return ""
	}
	return words[0]
}

// firstLine returns the first line of a file, at most 256 bytes (what Linux looks at;
// see execve(2)), with a carriage return at its end where there is one; "" where the file
// cannot be read.
func firstLine(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && n == 0 {
		return ""
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return string(line)
}
