package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// NotFoundError says that a program is not there, or cannot be run.
type NotFoundError struct {
	Command string
	// Path is the list of folders searched, "" if the command names a file.
	Path string
	// Reason says what is wrong with the file, if there is one.
	Reason string
	// Needs is the program whose first line asks for Command, "" if none does.
	Needs string

	advice string // what to do; "" is to install it
}

func (e *NotFoundError) Error() string {
	switch {
	case e.Needs != "":
		return fmt.Sprintf("the program %q needs %q, as its first line says, and that was not found in PATH (%s)", e.Needs, e.Command, e.Path)
	case e.Reason != "":
		return fmt.Sprintf("the program %q cannot be run: %s", e.Command, e.Reason)
	case e.Path == "" && strings.ContainsAny(e.Command, `/\`):
		return fmt.Sprintf("the program %q does not exist", e.Command)
	}
	return fmt.Sprintf("the program %q was not found in PATH (%s)", e.Command, e.Path)
}

// Hint says what a person can do.
func (e *NotFoundError) Hint() string {
	if e.advice != "" {
		return e.advice
	}
	if words := strings.Fields(strings.Trim(e.Command, `"'`)); e.Needs == "" && len(words) > 1 && !strings.ContainsAny(words[0], `/\`) {
		return fmt.Sprintf("A command line is not taken apart: give %q alone as the command, and what follows it as args.", words[0])
	}
	if product := productOf(e.Command); product != "" {
		return fmt.Sprintf("Install %s, or give the program's full path as the command.", product)
	}
	return "Install the program, or give its full path as the command."
}

// productOf is what a person installs to get a program that many servers are run with.
func productOf(command string) string {
	name := strings.ToLower(filepath.Base(command))
	for _, ext := range []string{".exe", ".cmd"} {
		name = strings.TrimSuffix(name, ext)
	}
	switch name {
	case "node", "npm", "npx":
		return "Node.js (https://nodejs.org)"
	case "uv", "uvx":
		return "uv (https://docs.astral.sh/uv)"
	case "python", "python3", "pipx", "pip":
		return "Python (https://www.python.org)"
	case "bun", "bunx":
		return "Bun (https://bun.sh)"
	case "deno":
		return "Deno (https://deno.com)"
	case "docker":
		return "Docker (https://docs.docker.com/get-docker)"
	}
	return ""
}

// Is makes errors.Is(err, fs.ErrNotExist) true.
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist }

// Look finds a program and returns its absolute path. A command that is an absolute
// path, or begins with "~/", is that file; a name without separator is searched in
// path (a list as in PATH). A relative path, and a relative or empty folder in path,
// is never used: what it means would depend on our working folder. The error, a
// *NotFoundError, names the command and the PATH searched.
func Look(command, path string) (string, error) {
	if command == "" {
		return "", &NotFoundError{Command: command, Reason: "the server's settings name no command", advice: "Give the program as the command."}
	}
	if rest, ok := strings.CutPrefix(command, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", &NotFoundError{Command: command, Reason: "the home folder is not known"}
		}
		return lookFile(command, filepath.Join(home, rest))
	}
	if filepath.IsAbs(command) {
		return lookFile(command, filepath.Clean(command))
	}
	if strings.ContainsRune(command, '/') || strings.ContainsRune(command, filepath.Separator) {
		return "", &NotFoundError{Command: command, Reason: "it is a relative path, and nobody can tell relative to what", advice: "Give its full path as the command."}
	}
	var bad flaw
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range candidates(filepath.Join(dir, command)) {
			why, err := runnable(name)
			if err == nil {
				return name, nil
			}
			if bad.reason == "" {
				bad = why
			}
		}
	}
	e := &NotFoundError{Command: command, Path: path, advice: bad.advice}
	if bad.reason != "" {
		e.Reason = bad.reason + "; " + fmt.Sprintf("PATH searched: %s", path)
	}
	return "", e
}

func lookFile(command, file string) (string, error) {
	var bad flaw
	for _, name := range candidates(file) {
		why, err := runnable(name)
		if err == nil {
			return name, nil
		}
		if bad.reason == "" {
			bad = why
		}
	}
	return "", &NotFoundError{Command: command, Reason: bad.reason, advice: bad.advice}
}

var errNotRunnable = errors.New("not runnable")

// flaw is what is wrong with a file, and what to do about it.
type flaw struct{ reason, advice string }

// runnable reports whether the file can be run; if it is there and cannot, why says so.
func runnable(file string) (why flaw, err error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return flaw{}, err
	case errors.Is(err, fs.ErrPermission):
		return flaw{fmt.Sprintf("you may not look at %s", file), "Change the permissions of its folder, or give the full path of another program."}, err
	case err != nil:
		return flaw{err.Error(), "Give the full path of the program as the command."}, err
	case info.IsDir():
		return flaw{fmt.Sprintf("%s is a folder", file), "Give the full path of the program inside it as the command."}, errNotRunnable
	case !info.Mode().IsRegular():
		return flaw{fmt.Sprintf("%s is neither a program nor a script", file), "Give the full path of the program as the command."}, errNotRunnable
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return flaw{fmt.Sprintf("%s is not marked executable", file), fmt.Sprintf("Mark it executable with: chmod +x %s", file)}, errNotRunnable
	}
	return flaw{}, nil
}

// candidates are the files a name may stand for: on Windows with each ending of
// PATHEXT, unless it has one already.
func candidates(file string) []string {
	if runtime.GOOS != "windows" {
		return []string{file}
	}
	list := os.Getenv("PATHEXT")
	if list == "" {
		list = ".COM;.EXE;.BAT;.CMD"
	}
	var out []string
	for ext := range strings.SplitSeq(list, ";") {
		if ext == "" {
			continue
		}
		if strings.EqualFold(filepath.Ext(file), ext) {
			return []string{file}
		}
		out = append(out, file+ext)
	}
	return out
}
