package headless

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// settle is how long a question stands before an answer to it counts. What was typed
// before, meant for something else, is thrown away.
const settle = 600 * time.Millisecond

// errNoTerminal says that nobody can be asked.
var errNoTerminal = errors.New("there is no terminal to ask on")

// terminal is where a person reads questions and types answers, line by line. One
// question at a time: ask, hold and printing exclude each other.
type terminal struct {
	in, out *os.File
	piped   bool // answers come from a pipe or a file that a flag says to ask
	close   func()
	mu      sync.Mutex // held by whoever writes or asks
	line    lineReader
}

// openTerminal finds the person. Answers are read from stdin where that is a terminal, and
// where a flag says that somebody is to be asked and stdin is a pipe or a file: then
// whoever writes into it answers, a line for each question. Otherwise, where want says
// that somebody must be asked or that stdin holds the prompt, they are read from the
// process's controlling terminal.
func openTerminal(stdin io.Reader, stderr io.Writer, want asking) (*terminal, error) {
	in, inOK := terminalFile(stdin)
	out, outOK := terminalFile(stderr)
	t := &terminal{in: in, out: out, close: func() {}}
	if !inOK && !want.explicit && !want.stdinTaken {
		return nil, errNoTerminal
	}
	if !inOK && want.explicit && !want.stdinTaken {
		t.piped = fed(in)
		inOK, outOK = t.piped, outOK || t.piped && out != nil
	}
	if !inOK || !outOK {
		tty, err := os.OpenFile(controllingTerminal, os.O_RDWR, 0)
		switch {
		case err == nil:
			t.close = func() { tty.Close() }
			if !inOK {
				t.in = tty
			}
			if !outOK {
				t.out = tty
			}
		case inOK:
			t.out = t.in
		case !want.explicit || want.stdinTaken || in == nil || out == nil:
			return nil, errNoTerminal
		default:
			t.piped = true // nothing can be in it, so its end answers
		}
	}
	t.line.whole = t.piped
	if err := t.line.open(t.in); err != nil {
		t.close()
		return nil, fmt.Errorf("preparing the terminal: %w", err)
	}
	closeFile := t.close
	t.close = func() { t.line.shut(); closeFile() }
	return t, nil
}

// asking says how much it is wanted that a person be asked.
type asking struct {
	explicit   bool // a flag says ask
	stdinTaken bool // stdin holds the prompt
}

func terminalFile(v any) (*os.File, bool) {
	f, ok := v.(*os.File)
	return f, ok && term.IsTerminal(int(f.Fd()))
}

// fed says whether somebody can have written answers into stdin: a device such as /dev/null
// holds none.
func fed(stdin *os.File) bool {
	if stdin == nil {
		return false
	}
	info, err := stdin.Stat()
	return err == nil && info.Mode()&os.ModeDevice == 0
}

// hold keeps other output away until release is called.
func (t *terminal) hold() (release func()) {
	t.mu.Lock()
	return t.mu.Unlock
}

func (t *terminal) print(s string) { io.WriteString(t.out, s) } //nolint:errcheck // a terminal that is gone shows in the next read

// settleDown waits until an answer may count and drops what was typed before: it keeps a
// person at a keyboard from answering what they have not seen. Nobody types into a pipe.
func (t *terminal) settleDown(ctx context.Context) error {
	if t.piped {
		return ctx.Err()
	}
	timer := time.NewTimer(settle)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	return t.line.drop()
}

// ask shows a prompt and reads one line without the white space around it. io.EOF means
// that the person closed the input; ctx's error that the question has gone.
func (t *terminal) ask(ctx context.Context, prompt string) (string, error) {
	s, err := t.askLine(ctx, prompt)
	return strings.TrimSpace(s), err
}

// askLine is ask with the line as it was typed.
func (t *terminal) askLine(ctx context.Context, prompt string) (string, error) {
	t.print(prompt)
	s, err := t.line.read(ctx)
	if err != nil {
		t.print("\n")
		return "", err
	}
	return s, nil
}

// askHidden is ask without showing what is typed.
func (t *terminal) askHidden(ctx context.Context, prompt string) (string, error) {
	if t.piped {
		return t.ask(ctx, prompt)
	}
	restore, err := hideInput(t.in)
	if err != nil {
		return "", fmt.Errorf("the terminal cannot hide what is typed: %w", err)
	}
	defer restore()
	s, err := t.ask(ctx, prompt)
	t.print("\n")
	return s, err
}

// choose asks until the answer is one of the keys of choices (or the word it stands
// for). An empty line is never an answer.
func (t *terminal) choose(ctx context.Context, prompt string, choices map[string]string) (string, error) {
	for {
		s, err := t.ask(ctx, prompt)
		if err != nil {
			return "", err
		}
		word := strings.ToLower(s)
		for key, name := range choices {
			if word == key || word == name {
				return key, nil
			}
		}
		if word != "" {
			t.print("That is none of the choices.\n")
		}
	}
}
