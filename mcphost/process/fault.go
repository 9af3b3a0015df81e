package process

import (
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// StartError says why the system would not start a program that was found.
type StartError struct {
	Path   string
	Reason string // begins with "it" or "its"
	Advice string
	Err    error
}

func (e *StartError) Error() string {
	return fmt.Sprintf("the program %s cannot be started: %s", e.Path, e.Reason)
}

// Hint says what a person can do.
func (e *StartError) Hint() string { return e.Advice }

// Unwrap returns the system's error.
func (e *StartError) Unwrap() error { return e.Err }

// startError makes a sentence of an error of the system, with what to do about it.
func startError(s Spec, err error) error {
	out := &StartError{Path: s.Path, Err: err}
	cause := err
	if e := new(fs.PathError); errors.As(err, &e) {
		cause = e.Err
	}
	line := firstLine(s.Path)
	engine, script := strings.CutPrefix(line, "#!")
	engine = strings.TrimLeft(engine, " \t")
	switch info, statErr := os.Stat(s.Dir); {
	case statErr != nil || !info.IsDir():
		out.Reason, out.Advice = fmt.Sprintf("its working folder %s is not there", s.Dir), "Make that folder, or give another one as cwd."
	case script && strings.HasSuffix(line, "\r"):
		out.Reason = "its first line ends in a carriage return, because it was saved with the line ends of Windows"
		out.Advice = "Save it with the line ends of Unix; dos2unix does that."
	case gone(s.Path):
		out.Reason, out.Advice = "the file is not there any more", "Install it again."
	case errors.Is(err, fs.ErrNotExist) && script:
		name, _, _ := strings.Cut(engine, " ")
		out.Reason = fmt.Sprintf("the interpreter %q that its first line names is not there", name)
		out.Advice = "Install that interpreter, or correct the first line."
	case errors.Is(err, fs.ErrNotExist):
		out.Reason = "a file that it needs to be loaded is not there, so it may be made for another system"
		out.Advice = "Install the version of it that is made for this system."
	case errors.Is(err, syscall.ENOEXEC):
		out.Reason, out.Advice = noProgram(s.Path)
	case errors.Is(err, fs.ErrPermission):
		out.Reason = "the system does not permit it, perhaps because it lies on a disk from which nothing may be run"
		out.Advice = "Move it to a folder from which programs may be run, and check its permissions and those of its interpreter."
	case errors.Is(err, syscall.E2BIG):
		out.Reason, out.Advice = "its arguments and environment are too large for the system", "Give it less in args and env."
	default:
		out.Reason, out.Advice = cause.Error(), "Try to run it in a terminal."
	}
	return out
}

func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// noProgram says what a file is that the system does not know as a program.
func noProgram(path string) (reason, advice string) {
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		return "the file is empty", "Install it again."
	}
	if f, err := elf.Open(path); err == nil {
		machine := strings.TrimPrefix(f.Machine.String(), "EM_")
		_ = f.Close()
		return fmt.Sprintf("it is made for another kind of processor (%s)", machine), "Install the version of it that is made for this computer."
	}
	return "it is neither a program for this system nor a script with a first line like #!/bin/sh",
		"If it is a script, write its interpreter into its first line, or give the interpreter as the command and the script as its first argument."
}
