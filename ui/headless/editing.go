package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"

	"github.com/rivo/uniseg"

	"steward/app"
	"steward/app/clean"
	"steward/app/config"
	"steward/app/consent"
)

// editCall reads new arguments. What will be sent is shown once more before it counts; ok
// is false where the edit was given up, and the caller shows the whole card again.
func (t *terminal) editCall(ctx context.Context, item consent.Item) (a consent.Answer, ok bool, err error) {
	discarded := func(why string) (consent.Answer, bool, error) {
		t.print(why + "edit discarded\n")
		return consent.Answer{}, false, nil
	}
	text, err := t.newArguments(ctx, item.Call.Arguments())
	switch {
	case ctx.Err() != nil || errors.Is(err, io.EOF):
		return consent.Answer{}, false, err
	case err != nil:
		return discarded(sentence(err) + "\n")
	case text == nil:
		return discarded("")
	}
	exact, shown, err := app.EditedArguments(item, string(text))
	switch {
	case err != nil:
		return discarded(sentence(err) + "\n")
	case exact == item.Call.Arguments():
		return discarded("Nothing was changed: ")
	}
	yes, err := t.confirmEdit(ctx, item, exact, shown)
	if err != nil {
		return consent.Answer{}, false, err
	}
	if !yes {
		return discarded("")
	}
	return consent.Answer{Action: consent.Allow, Scope: consent.Once, Arguments: exact}, true, nil
}

// confirmEdit shows the edited call and asks once more.
func (t *terminal) confirmEdit(ctx context.Context, item consent.Item, exact, shown string) (bool, error) {
	c := t.newCard()
	c.rule()
	c.printf("Instead this would be sent:\n")
	c.exact(shown)
	c.printf("\n")
	t.card = c.b.String()
	t.print(t.card)
	if len(c.folded) > 0 {
		if all, err := t.page(ctx, c.folded); err != nil || !all {
			return false, err
		}
	}
	return t.confirm(ctx, fmt.Sprintf("%s, with these %s bytes of arguments, is then sent; the record keeps both.", callName(item), thousands(len(exact))))
}

// newArguments reads what a person makes of the old ones; nil where they make nothing.
func (t *terminal) newArguments(ctx context.Context, old string) ([]byte, error) {
	editor := editorCommand()
	prompt := "New arguments as one line of JSON, or @FILE to read them from a file;"
	if editor != "" && !t.piped {
		prompt += " @ alone opens " + cutShort(clean.Reveal(editor), nameCharacters) + ";"
	}
	prompt += " an empty line keeps the old ones:"
	offer := ""
	columns, rows := t.size()
	if t.mode.keys() && uniseg.StringWidth(old) < max(columns, 80)*max(rows, 24)/2 {
		offer = escaped(old)
		prompt += " (Typing replaces what stands there; the arrow keys change it.)"
	}
	s, err := t.edit(ctx, t.wrapped(prompt)+"\n", offer)
	if err != nil {
		return nil, err
	}
	s = strings.TrimSpace(s)
	name, file := strings.CutPrefix(s, "@")
	switch {
	case s == "":
		return nil, nil
	case file && name == "" && editor != "" && !t.piped:
		return t.inEditor(ctx, editor, old)
	case file:
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, config.Unreadable("the file", name, err)
		}
		return data, nil
	}
	return []byte(s), nil
}

func editorCommand() string {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if s := strings.TrimSpace(os.Getenv(name)); s != "" {
			return s
		}
	}
	return ""
}

// inEditor has the arguments changed in the person's own editor, in a file that nobody
// else can read and that is gone afterwards.
func (t *terminal) inEditor(ctx context.Context, editor, old string) (text []byte, err error) {
	dir, err := os.MkdirTemp("", "steward-edit-")
	if err != nil {
		return nil, fmt.Errorf("no file for the editor can be made: %w", err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // what is left is the person's own text, readable by them alone
	file := filepath.Join(dir, "arguments.json")
	if err := os.WriteFile(file, pretty(old), 0o600); err != nil {
		return nil, fmt.Errorf("the file for the editor cannot be written: %w", err)
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, "sh", file)
	if runtime.GOOS == "windows" {
		cmd = exec.CommandContext(ctx, editor, file)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = t.in, t.out, t.out
	t.mode.pause()
	err = cmd.Run()
	t.mode.resume()
	if err != nil {
		return nil, fmt.Errorf("the editor %s did not end well: %w", clean.Reveal(editor), err)
	}
	text, err = os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("what the editor wrote cannot be read: %w", err)
	}
	return text, nil
}

// pretty sets arguments out for an editor: one line where that is short.
func pretty(arguments string) []byte {
	if len(arguments) <= 60 {
		return []byte(arguments + "\n")
	}
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(arguments), "", "  "); err != nil {
		return []byte(arguments + "\n") // never reached: a call's arguments are JSON
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// escaped writes what a screen does not show in JSON's own way (RFC 8259 section 7), so
// that a line being edited holds nothing that cannot be seen.
func escaped(arguments string) string {
	var b strings.Builder
	for _, r := range arguments {
		switch {
		case r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
