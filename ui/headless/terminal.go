package headless

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// settle is how long a question stands before an answer to it counts. What was typed
// before, meant for something else, is thrown away.
const settle = 600 * time.Millisecond

// errNoTerminal says that nobody can be asked.
var errNoTerminal = errors.New("there is no terminal to ask on")

// errResumed says that the program was stopped and goes on: what stood on the screen may
// be gone.
var errResumed = errors.New("the program was stopped and goes on")

// terminal is where a person reads questions and types answers, line by line. One
// question at a time: ask, hold and printing exclude each other.
type terminal struct {
	in, out *os.File
	piped   bool // answers come from a pipe or a file that a flag says to ask
	colour  bool
	close   func()
	mu      sync.Mutex // held by whoever writes or asks
	mode    mode
	src     source
	pending []byte // read and not used
	pasting bool   // between the marks of a paste
	card    string // what the open question is about, to be shown again
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
	if err := t.src.open(t.in); err != nil {
		t.close()
		return nil, fmt.Errorf("preparing the terminal: %w", err)
	}
	known := os.Getenv("TERM") != "" && os.Getenv("TERM") != "dumb"
	t.mode = mode{in: t.in, out: t.out, paste: known}
	_, screen := terminalFile(t.out)
	t.colour = known && screen && os.Getenv("NO_COLOR") == ""
	unwatch := func() {}
	if !t.piped {
		unwatch = t.watchStops()
	}
	closeFile := t.close
	t.close = func() { unwatch(); t.src.shut(); closeFile() }
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

// size is the screen's, in columns and rows; 0 where it is not known.
func (t *terminal) size() (columns, rows int) {
	columns, rows, err := term.GetSize(int(t.out.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, rows
}

// settleDown returns once nothing has been typed for settle; what was typed is thrown
// away, and early says that there was some. It keeps a person at a keyboard from
// answering what they have not seen, and pasted text from answering at all. Nobody types
// into a pipe.
func (t *terminal) settleDown(ctx context.Context) (early bool, err error) {
	if t.piped {
		return false, ctx.Err()
	}
	for {
		t.pending, t.pasting = nil, false
		if err := t.src.flush(); err != nil {
			return early, err
		}
		b, err := t.src.next(ctx, settle)
		if err != nil || b == nil {
			return early, err
		}
		early = true
	}
}

// ask shows a prompt and reads one line without the white space around it: text, which
// allows nothing. io.EOF means that the person closed the input; ctx's error that the
// question has gone.
func (t *terminal) ask(ctx context.Context, prompt string) (string, error) {
	s, err := t.askLine(ctx, prompt)
	return strings.TrimSpace(s), err
}

// askLine is ask with the line as it was typed. Pasted text may hold several lines.
func (t *terminal) askLine(ctx context.Context, prompt string) (string, error) {
	return t.edit(ctx, prompt, "")
}

// edit is askLine with a text that is there already: Enter takes it, typing replaces it,
// and the cursor's keys change it.
func (t *terminal) edit(ctx context.Context, prompt, text string) (string, error) {
	defer t.mode.enter()()
	head, last := t.split(prompt)
	t.print(head)
	line := &lineEdit{prompt: last, text: []rune(text), at: len([]rune(text)), offer: text != ""}
	for {
		s, err := t.readLine(ctx, line)
		if !errors.Is(err, errResumed) {
			return s, err
		}
		line.row, line.after = "", ""
		t.print("\n" + t.card + head)
	}
}

// decision reads the answer to a question that can allow something: typed after the
// question has stood for settle without anything else, a line by itself. "" is no answer;
// the person has then been told why.
func (t *terminal) decision(ctx context.Context, prompt string) (string, error) {
	defer t.mode.enter()()
	head, last := t.split(prompt)
	t.print(head)
	for {
		t.print(last)
		early, err := t.settleDown(ctx)
		if err == nil && early {
			t.print("\nWhat was typed before this question stood still was thrown away. Please answer now.\n" + last)
		}
		line := &lineEdit{prompt: last, row: last}
		var s string
		if err == nil {
			s, err = t.readLine(ctx, line)
		} else if !errors.Is(err, errResumed) {
			t.print("\n")
		}
		switch {
		case errors.Is(err, errResumed):
			t.print("\n" + t.card + head)
		case err != nil:
			return "", err
		case line.pasted:
			t.print("Pasted text is no answer; type it.\n")
		case t.more(ctx):
			t.print("This came together with more, as pasted text does; it is no answer. Type it.\n")
		default:
			return strings.TrimSpace(s), nil
		}
	}
}

// together is how soon after a line something else counts as having come with it.
const together = 50 * time.Millisecond

// more says whether something came together with the line that was just read.
func (t *terminal) more(ctx context.Context) bool {
	if t.piped {
		return false
	}
	if len(t.pending) > 0 {
		return true
	}
	b, _ := t.src.next(ctx, together) //nolint:errcheck // an end shows again in the next read
	return b != nil
}

// split parts a prompt into the text before and a last line that leaves room to type.
func (t *terminal) split(prompt string) (head, last string) {
	at := strings.LastIndexByte(prompt, '\n') + 1
	head, last = prompt[:at], prompt[at:]
	if columns, _ := t.size(); columns > 0 && uniseg.StringWidth(last)+8 > columns {
		rows := wrap(strings.TrimRight(last, " "), columns-1)
		head, last = head+strings.Join(rows, "\n")+"\n", "> "
	}
	return head, last
}

// readLine reads one line. What is typed is shown where the terminal leaves that to us.
func (t *terminal) readLine(ctx context.Context, line *lineEdit) (string, error) {
	if t.piped {
		t.print(strings.TrimPrefix(line.prompt, line.row))
		s, err := t.pipedLine(ctx)
		if err != nil {
			t.print("\n")
		}
		return s, err
	}
	line.width, _ = t.size()
	line.show = t.print
	if !t.mode.keys() {
		line.show = func(string) {}
		line.text, line.offer = nil, false
		t.print(strings.TrimPrefix(line.prompt, line.row))
	}
	line.draw()
	for {
		k, err := t.key(ctx)
		if err != nil {
			t.print("\n")
			return "", err
		}
		line.pasted = line.pasted || k.pasted && k.press != nothing
		switch {
		case k.press == enter && !k.pasted:
			line.draw()
			line.show("\n")
			return string(line.text), nil
		case k.press == closeInput && len(line.text) == 0:
			t.print("\n")
			return "", io.EOF
		}
		if line.take(k); len(line.text) > maxLine {
			t.print("\n")
			return "", errLongAnswer
		}
		if len(t.pending) == 0 {
			line.draw()
		}
	}
}

// pipedLine takes one line from a pipe; what stands before its end without a line break is
// a line too.
func (t *terminal) pipedLine(ctx context.Context) (string, error) {
	for {
		if i := bytes.IndexByte(t.pending, '\n'); i >= 0 {
			line := string(t.pending[:i])
			t.pending = t.pending[i+1:]
			return strings.TrimSuffix(line, "\r"), nil
		}
		b, err := t.src.next(ctx, -1)
		switch {
		case errors.Is(err, io.EOF) && len(t.pending) > 0:
			line := string(t.pending)
			t.pending = nil
			return line, nil
		case err != nil:
			return "", err
		}
		if t.pending = append(t.pending, b...); len(t.pending) > maxLine {
			return "", errLongAnswer
		}
	}
}

// maxLine is the length of the longest answer, in bytes: what is read may have no end.
const maxLine = 1 << 20

var errLongAnswer = fmt.Errorf("the answer is longer than %d MiB", maxLine>>20)

// askHidden is ask without showing what is typed.
func (t *terminal) askHidden(ctx context.Context, prompt string) (string, error) {
	if t.piped {
		return t.ask(ctx, prompt)
	}
	defer t.mode.enter()()
	if !t.mode.keys() {
		return "", errors.New("the terminal cannot hide what is typed")
	}
	head, last := t.split(prompt)
	for {
		t.print(head)
		s, err := t.readLine(ctx, &lineEdit{prompt: last, hidden: true})
		if !errors.Is(err, errResumed) {
			return strings.TrimSpace(s), err
		}
	}
}

// confirm asks for a yes to something that is about to happen.
func (t *terminal) confirm(ctx context.Context, sentence string) (bool, error) {
	s, err := t.decision(ctx, t.wrapped(sentence)+"\nType yes to confirm: ")
	return strings.EqualFold(s, "yes") || strings.EqualFold(s, "y"), err
}

// confirmWord is confirm for what goes on for long: the whole word is needed.
func (t *terminal) confirmWord(ctx context.Context, sentence string) (bool, error) {
	s, err := t.decision(ctx, t.wrapped(sentence)+"\nType yes to confirm: ")
	return strings.EqualFold(s, "yes"), err
}

func (t *terminal) wrapped(sentence string) string {
	columns, _ := t.size()
	var rows []string
	for _, line := range strings.Split(sentence, "\n") {
		rows = append(rows, wrap(line, columns)...)
	}
	return strings.Join(rows, "\n")
}

// choice is one key that a question can be answered with.
type choice struct {
	key, word string
	says      string // what it does; it stands beside the key
	allows    bool   // closed while parts of the card are folded
}

// choose asks until the answer is one of the choices, its key or its word. An empty line
// is never an answer.
func (t *terminal) choose(ctx context.Context, prompt string, choices []choice) (string, error) {
	for {
		s, err := t.decision(ctx, prompt)
		if err != nil {
			return "", err
		}
		word := strings.ToLower(s)
		for _, c := range choices {
			if word == c.key || word == c.word {
				return c.key, nil
			}
		}
		if word != "" {
			t.print("That is none of the choices.\n")
		}
	}
}
