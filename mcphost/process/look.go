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
}

func (e *NotFoundError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("the program %q cannot be run: %s", e.Command, e.Reason)
	}
	if e.Path == "" && strings.ContainsAny(e.Command, `/\`) {
		return fmt.Sprintf("the program %q does not exist", e.Command)
	}
	return fmt.Sprintf("the program %q was not found in PATH (%s)", e.Command, e.Path)
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
		return "", &NotFoundError{Command: command, Reason: "the server's settings name no command"}
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
		return "", &NotFoundError{Command: command, Reason: "it is a relative path, and nobody can tell relative to what"}
	}
	var reason string
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		for _, name := range candidates(filepath.Join(dir, command)) {
			why, err := runnable(name)
			if err == nil {
				return name, nil
			}
			if why != "" && reason == "" {
				reason = why
			}
		}
	}
	e := &NotFoundError{Command: command, Path: path}
	if reason != "" {
		e.Reason = reason + "; PATH searched: " + path
	}
	return "", e
}

func lookFile(command, file string) (string, error) {
	var reason string
	for _, name := range candidates(file) {
		why, err := runnable(name)
		if err == nil {
			return name, nil
		}
		if reason == "" {
			reason = why
		}
	}
	return "", &NotFoundError{Command: command, Reason: reason}
}

var errNotRunnable = errors.New("not runnable")

// runnable reports whether the file can be run; if it is there and cannot, why says so.
func runnable(file string) (why string, err error) {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return "", err
	case err != nil:
		return err.Error(), err
	case info.IsDir():
		return file + " is a folder", errNotRunnable
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return file + " is not marked executable (chmod +x)", errNotRunnable
	}
	return "", nil
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

// startError says why a program could not be started, with what to do about it.
func startError(s Spec, err error) error {
	var e *fs.PathError
	cause := err
	if errors.As(err, &e) {
		cause = e.Err
	}
	if info, statErr := os.Stat(s.Dir); statErr != nil || !info.IsDir() {
		return fmt.Errorf("the program %s cannot be started: its working folder %s is not there: %w", s.Path, s.Dir, cause)
	}
	if errors.Is(err, syscall.ENOEXEC) {
		return fmt.Errorf("the program %s cannot be started: it is neither a program for this system nor a script with a first line like #!/bin/sh: %w", s.Path, cause)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if _, statErr := os.Stat(s.Path); statErr == nil {
			return fmt.Errorf("the program %s cannot be started: the interpreter named in its first line is not there: %w", s.Path, cause)
		}
	}
	return fmt.Errorf("the program %s cannot be started: %w", s.Path, cause)
}
