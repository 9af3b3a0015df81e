package headless

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rivo/uniseg"
)

// echoAsked starts a call by hand of the scripted server's echo, with a person asked.
func echoAsked(t *testing.T, arguments string, env []string, size ...uint16) (*dialogue, string) {
	t.Helper()
	data := t.TempDir()
	cmd := prepared(t, "call", "s", "echo", arguments, "--data", data, "--servers", serversFile(t, scripted("--only", "echo")))
	cmd.Env = append(cmd.Env, env...)
	return talk(t, cmd, size...), data
}

// An edit that was given up never sends the call as it was: the whole card stands on the
// screen again first. A y confirms an edit as yes does.
func TestAnEditThatIsNotConfirmed(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ confirm, sent string }{{"y", `{"date":"2025-03-10"}`}, {"yes", `{"date":"2025-03-10"}`}, {"sure", ""}, {"", ""}} {
		t.Run(tc.confirm, func(t *testing.T) {
			t.Parallel()
			d, _, data := asked(t, serversFile(t, minimal()), oneCallThen("Done.")...)
			d.waitFor(question)
			d.answer("e")
			d.waitFor("New arguments")
			d.typed(`{"date":"2025-03-10"}` + "\n")
			d.waitFor("Type yes to confirm: ")
			d.answer(tc.confirm)
			if tc.sent == "" {
				d.waitFor("edit discarded")
				d.typed("y\n") // meant for the edit, not for the old call
				card := d.waitFor(question)
				if !strings.Contains(card, "Exactly these bytes: "+weekly) {
					t.Errorf("the old call is asked for without its card: %s", card)
				}
				d.answer("n")
				d.end(0)
				if rec := lastCall(t, data); rec.str("decision") != "denied" {
					t.Errorf("record: %s", rec.text)
				}
				return
			}
			d.end(0)
			if rec := lastCall(t, data); rec.str("arguments") != tc.sent || rec.str("outcome") != "ok" {
				t.Errorf("record: %s", rec.text)
			}
		})
	}
}

// Pasted text answers no question, with the terminal's marks around it or without, however
// often a question is asked again.
func TestPastedTextAllowsNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ env, paste string }{
		"without marks":         {"TERM=dumb", "hello\ny\nyes\ny\n"},
		"yes first":             {"TERM=dumb", "y\nyes\n"},
		"between marks":         {"TERM=xterm", "\x1b[200~y\n\x1b[201~\n"},
		"one line, then Enter":  {"TERM=xterm", "\x1b[200~y\x1b[201~\n"},
		"marks inside the text": {"TERM=xterm", "\x1b[200~a\x1b[200~\ny\n\x1b[201~\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, data := echoAsked(t, `{"n":1}`, []string{tc.env})
			d.waitFor(question)
			time.Sleep(settle + 300*time.Millisecond)
			d.typed(tc.paste)
			d.waitFor("no answer")
			d.waitFor(question)
			d.answer("n")
			d.end(5)
			if rec := lastCall(t, data); rec.str("decision") != "denied" {
				t.Errorf("record: %s", rec.text)
			}
		})
	}
}

// Confirming is guarded as the card is: what comes with the edited arguments confirms
// nothing, and neither does a standing yes that came too early.
func TestAConfirmationIsGuarded(t *testing.T) {
	t.Parallel()
	d, data := echoAsked(t, `{"n":1}`, nil)
	d.waitFor(question)
	d.answer("e")
	d.waitFor("New arguments")
	d.typed("{\"n\":2}\nyes\nyes\n")
	d.waitFor("Type yes to confirm: ")
	d.answer("no")
	d.waitFor("edit discarded")
	d.waitFor(question)
	d.answer("a")
	d.waitFor("Type yes to confirm: ")
	d.typed("yes\n")
	d.waitFor("thrown away")
	d.waitFor("Type yes to confirm: ")
	d.answer("no")
	d.waitFor("not the word yes")
	d.waitFor(question)
	d.answer("n")
	d.end(5)
	if rec := lastCall(t, data); rec.str("decision") != "denied" {
		t.Errorf("record: %s", rec.text)
	}
}

// The arguments are there to be changed: the arrow keys and Backspace edit them, typing
// replaces them, and a pasted text of several lines is one answer.
func TestEditingTheArguments(t *testing.T) {
	t.Parallel()
	long := `{"n":"` + strings.Repeat("x", 6000) + `"}`
	for name, tc := range map[string]struct{ keys, want string }{
		"Backspace":          {"\x7f\x7f23}\n", `{"n":23}`},
		"arrows":             {"\x1b[D2\n", `{"n":12}`},
		"home, delete":       {"\x1b[H\x1b[3~\x1b[3~{\"m\n", `{"mn":1}`},
		"typing replaces":    {"{\"m\":0}\n", `{"m":0}`},
		"pasted":             {"\x1b[200~{\n  \"m\":\n7}\n\x1b[201~\n", `{"m":7}`},
		"longer than 4,095":  {long + "\n", long},
		"keys of no meaning": {"\x1b[A\x1bOP\x1b[15~{\"m\":0}\n", `{"m":0}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, data := echoAsked(t, `{"n":1}`, []string{"TERM=xterm"}, 80, 24)
			d.waitFor(question)
			d.answer("e")
			d.waitFor(`{"n":1}`)
			d.typed(tc.keys)
			if tc.want == long {
				d.waitFor("Enter goes on")
				d.typed("a\n")
			}
			d.waitFor("Type yes to confirm: ")
			d.answer("y")
			d.end(0)
			if rec := lastCall(t, data); rec.str("arguments") != tc.want {
				t.Errorf("arguments: %s, want %s", rec.str("arguments"), tc.want)
			}
		})
	}
}

// A person's own editor gets the arguments set out, in a file that is gone afterwards.
func TestEditingInAnEditor(t *testing.T) {
	t.Parallel()
	trace := filepath.Join(t.TempDir(), "seen")
	script := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho \"$1\" > '"+trace+"'\nstat -c %a \"$1\" >> '"+trace+"'\ncat \"$1\" >> '"+trace+"'\necho '{\"n\": 9}' > \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	d, data := echoAsked(t, `{"n":1,"text":"`+strings.Repeat("word ", 20)+`end"}`, []string{"VISUAL=" + script})
	d.waitFor(question)
	d.answer("e")
	d.waitFor("@ alone opens " + script)
	d.typed("@\n")
	d.waitFor(`{"n":9}`)
	d.waitFor("Type yes to confirm: ")
	d.answer("y")
	d.end(0)
	if rec := lastCall(t, data); rec.str("arguments") != `{"n":9}` {
		t.Errorf("record: %s", rec.text)
	}
	seen, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitN(string(seen), "\n", 3)
	if parts[1] != "600" || !strings.Contains(parts[2], "\n  \"n\": 1,\n") {
		t.Errorf("the editor saw %q", seen)
	}
	if _, err := os.Stat(parts[0]); !os.IsNotExist(err) {
		t.Errorf("the file is still there: %v", err)
	}
}

// However long the arguments and the description are, the card stays readable, and what is
// folded must have been shown before it can be allowed.
func TestALongCardIsFolded(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	big := strings.Repeat("lorem ipsum ", 10_000) + "curl evil.example"
	description := strings.Repeat("Line of a description.\n", 3000) + "The end of it."
	servers := map[string]any{"s": map[string]any{"command": binaries.scripted, "args": []string{"--only", "echo", "--description", description}}}
	cmd := prepared(t, "call", "s", "echo", "-", "--consent", "ask", "--data", data, "--servers", serversFile(t, servers))
	cmd.Stdin = strings.NewReader(`{"text":"` + big + `"}`)
	d := talk(t, cmd, 80, 24)
	card := d.waitFor(question)
	if rows := strings.Count(card, "\n"); rows > 80 || len(card) > 10_000 {
		t.Errorf("the card has %d rows, %d bytes:\n%s", rows, len(card), card)
	}
	tail := card[strings.LastIndex(card, "echo on s"):]
	if !strings.HasPrefix(tail, "echo on s, with 120,028 bytes of arguments: may this be sent?\r\ne, n, r or v, ") {
		t.Errorf("next to the prompt stands %q", tail)
	}
	d.answer("y")
	d.waitFor("cannot be allowed yet")
	d.waitFor(question)
	d.answer("v")
	d.waitFor("Enter goes on")
	d.typed("q\n")
	d.waitFor("Not everything was shown")
	d.waitFor(question)
	d.answer("a")
	d.waitFor("cannot be allowed yet")
	d.waitFor(question)
	d.answer("v")
	d.waitFor("of 6,") // lines in all
	d.typed("\n")
	d.waitFor("Enter goes on")
	d.typed("a\n")
	all := d.waitFor("y, a, e, n, r or v, then Enter: ")
	all, _, _ = strings.Cut(all, "A tool call waits")
	if !strings.Contains(all, "The end of it.") || strings.Count(strings.ReplaceAll(all, "\r\n  ", ""), "curl evil.example") != 2 {
		t.Error("not all of it was shown")
	}
	d.answer("y")
	d.end(0)
	if rec := lastCall(t, data); rec.str("outcome") != "ok" {
		t.Errorf("record: %s", rec.text[:200])
	}
}

// Words are kept together, wide characters count two, and no row is wider than the screen.
func TestTheCardFitsTheScreen(t *testing.T) {
	t.Parallel()
	for _, columns := range []uint16{40, 120} {
		t.Run(fmt.Sprint(columns), func(t *testing.T) {
			t.Parallel()
			d, _ := echoAsked(t, `{"text":"`+strings.Repeat("获取指定日期所在周的周报 ", 8)+strings.Repeat("several words ", 8)+`end"}`, []string{"TERM=xterm"}, columns, 24)
			card := d.waitFor(question)
			ruled := false
			for _, row := range strings.Split(card, "\r\n") {
				row = strings.NewReplacer("\x1b[1m", "", "\x1b[2m", "", "\x1b[0m", "").Replace(row)
				width := uniseg.StringWidth(row)
				ruled = ruled || row == strings.Repeat("─", int(columns))
				if width > int(columns) && !strings.Contains(row, "Exactly these bytes") && !strings.HasPrefix(row, "Call ") && !strings.HasPrefix(row, "Server ") {
					t.Errorf("%d columns: %q", width, row)
				}
				if strings.HasSuffix(row, "sever") || strings.HasSuffix(row, "wor") {
					t.Errorf("a word is torn: %q", row)
				}
			}
			if !ruled || !strings.Contains(card, "\x1b[1m") {
				t.Errorf("no rule as wide as the screen, or no bold name: %q", card)
			}
			d.answer("n")
			d.end(5)
		})
	}
}

// Without a terminal that knows them, or where a person wants no colours, nothing but text
// is written.
func TestNoColour(t *testing.T) {
	t.Parallel()
	for _, env := range [][]string{{"TERM=xterm", "NO_COLOR=1"}, {"TERM=dumb"}, nil} {
		d, _ := echoAsked(t, `{"n":1}`, env)
		if card := d.waitFor(question); strings.Contains(strings.ReplaceAll(strings.ReplaceAll(card, pasteOn, ""), pasteOff, ""), "\x1b") {
			t.Errorf("%v: %q", env, card)
		}
		d.answer("n")
		d.end(5)
	}
}

// A program that was stopped shows the open card again when it goes on.
func TestTheCardComesBack(t *testing.T) {
	t.Parallel()
	d, _ := echoAsked(t, `{"n":1}`, nil)
	d.waitFor(question)
	for _, sig := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := d.cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if card := d.waitFor(question); !strings.Contains(card, `Exactly these bytes: {"n":1}`) {
		t.Errorf("the card does not stand there again: %s", card)
	}
	d.answer("n")
	d.end(5)
}

// A number described as none is no secret; what is needed cannot be passed over, and an
// empty text is sent only on a word.
func TestAFormIsFilledInKnowingly(t *testing.T) {
	t.Parallel()
	form := `{"mode":"form","message":"Some things","requestedSchema":{"type":"object","properties":{"count":{"type":"integer","description":"How many; do not give us your bank pin","default":3},"note":{"type":"string"},"word":{"type":"string","minLength":1}},"required":["count","note","word"]}}`
	servers := scripted("--step", "tool:form=@ask elicitation/create "+form, "--step", "tool:form=@result {\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}")
	d := talk(t, prepared(t, "call", "s", "form", "{}", "--consent", "allow", "--data", t.TempDir(), "--servers", serversFile(t, servers)))
	d.waitFor(question)
	d.answer("y")
	if field := d.waitFor("> "); !strings.Contains(field, "Enter keeps 3") || strings.Contains(field, "secret") {
		t.Errorf("the number: %s", field)
	}
	d.typed("\n")
	d.waitFor("required] > ")
	d.typed("\n")
	d.waitFor("This one is needed")
	d.waitFor("Send an empty text?")
	d.answer("y")
	d.waitFor("word")
	d.waitFor("required] > ")
	d.typed("\n")
	d.waitFor("This one is needed")
	d.waitFor("required] > ")
	d.typed("w\n")
	d.waitFor(`{"count":3,"note":"","word":"w"}`)
	d.waitFor(question)
	d.answer("y")
	d.end(0)
}
