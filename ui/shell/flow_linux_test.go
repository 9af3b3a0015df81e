package shell

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	fynetheme "fyne.io/fyne/v2/theme"

	"steward/ui/theme"
)

// What the tests of whole flows share: what a person would see is taken from the folder as it changes, and from the
// colours of the window's parts.

// side is where the side bar is in a new window, beside where the places are, above their heads.
var (
	side   = image.Rect(0, 0, 240, 800)
	beside = image.Rect(250, 0, 1280, 800)
	above  = image.Rect(250, 0, 1280, 60)
)

// flow opens the window on a new folder and waits until it can be used.
func flow(t *testing.T, env []string, args ...string) *seen {
	t.Helper()
	return newScreen(t).usable(filepath.Join(t.TempDir(), "data"), env, args...)
}

// usable opens the window and waits until the person can begin.
func (d *screen) usable(data string, env []string, args ...string) *seen {
	d.t.Helper()
	w := d.open(data, append([]string{"FYNE_THEME=dark"}, env...), args...)
	w.until("the window can be used", func() bool { return w.count(theme.Accent, side) > 1000 })
	return w
}

// count counts the pixels of an area that have one of the theme's colours.
func (w *seen) count(name fyne.ThemeColorName, area image.Rectangle) int {
	w.t.Helper()
	return countIn(w.shot(), name, area)
}

func countIn(p image.Image, name fyne.ThemeColorName, area image.Rectangle) int {
	want, n := color.NRGBAModel.Convert(theme.New(theme.AlwaysDark).Color(name, fynetheme.VariantDark)).(color.NRGBA), 0
	area = area.Intersect(p.Bounds())
	for y := area.Min.Y; y < area.Max.Y; y++ {
		for x := area.Min.X; x < area.Max.X; x++ {
			// The edges of letters come close to their colour and seldom reach it.
			if r, g, b, _ := p.At(x, y).RGBA(); off(r, want.R)+off(g, want.G)+off(b, want.B) <= 12 {
				n++
			}
		}
	}
	return n
}

// off is how far a part of a colour, as a picture gives it, is from another.
func off(is uint32, want uint8) int {
	return max(int(is>>8)-int(want), int(want)-int(is>>8))
}

// dialog says whether something lies over the whole window and has the keyboard: the rest is dimmed.
func (w *seen) dialog() bool { return w.count(theme.Accent, side) == 0 }

// query reads from the folder's file while the program uses it.
func (w *seen) query(each func(rows *sql.Rows) error, query string, args ...any) {
	w.t.Helper()
	path := (&url.URL{Scheme: "file", Path: filepath.Join(w.data, "steward.db"), RawQuery: "mode=ro&_busy_timeout=10000"}).String()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(query, args...)
	if err != nil {
		w.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); err != nil {
			w.t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		w.t.Fatal(err)
	}
}

// now are the records as they are now, newest first.
func (w *seen) now() []record {
	w.t.Helper()
	var all []record
	w.query(func(rows *sql.Rows) error {
		var r record
		err := rows.Scan(&r.Record, &r.Kind, &r.Server, &r.Tool, &r.Decision, &r.By, &r.Outcome, &r.Effect, &r.Conversation)
		all = append(all, r)
		return err
	}, "SELECT n, kind, server, tool, decision, decided_by, outcome, effect, conversation FROM record ORDER BY n DESC")
	return all
}

// last is the newest record of a kind and, where that is named, a tool; the zero record where there is none.
func (w *seen) last(kind, tool string) record {
	w.t.Helper()
	for _, r := range w.now() {
		if r.Kind == kind && (tool == "" || r.Tool == tool) {
			return r
		}
	}
	return record{}
}

// setting is a stored choice.
func (w *seen) setting(key string) string {
	w.t.Helper()
	value := ""
	w.query(func(rows *sql.Rows) error {
		var raw string
		if err := rows.Scan(&raw); err != nil {
			return err
		}
		return json.Unmarshal([]byte(raw), &value)
	}, "SELECT value FROM setting WHERE key = 'preference.' || ?", key)
	return value
}

// message is the text of the newest message of a role.
func (w *seen) message(role string) string {
	w.t.Helper()
	text := ""
	w.query(func(rows *sql.Rows) error { return rows.Scan(&text) }, "SELECT text FROM message WHERE role = ? AND state = 'complete' ORDER BY seq", role)
	return text
}

// titled waits until the model has named the newest conversation, which it is asked for after the first answer.
func (w *seen) titled(title string) {
	w.t.Helper()
	w.until("the conversation is named "+title, func() bool {
		got := ""
		w.query(func(rows *sql.Rows) error { return rows.Scan(&got) }, "SELECT title FROM conversation ORDER BY n")
		return got == title
	})
}

// ask begins a chat with a question.
func (w *seen) ask(question string) {
	w.t.Helper()
	w.key("ctrl+n")
	w.write(question)
	w.key("Return")
}

// palette takes the first thing that the command palette finds.
func (w *seen) palette(words string) {
	w.t.Helper()
	w.key("ctrl+k")
	w.write(words)
	w.key("Return")
}

// letters are the keys that write a text.
func letters(text string) []string {
	var keys []string
	for _, r := range text {
		if r == ' ' {
			keys = append(keys, "space")
		} else {
			keys = append(keys, string(r))
		}
	}
	return keys
}

// answer goes to what waits and presses keys there, until something holds. Keys that are pressed again then do nothing:
// nothing that waits is left, or it does not have the keyboard.
func (w *seen) answer(what string, holds func() bool, keys ...string) {
	w.t.Helper()
	w.until(what, func() bool {
		if holds() {
			return true
		}
		w.key("ctrl+j")
		time.Sleep(800 * time.Millisecond) // a card can be answered only once it could be read
		w.key(keys...)
		for range 40 {
			if holds() {
				return true
			}
			time.Sleep(50 * time.Millisecond)
		}
		return false
	})
}

// allow says yes to the call that waits, and waits until it has ended.
func (w *seen) allow(tool string) record {
	w.t.Helper()
	var r record
	w.answer(tool+" is allowed", func() bool { r = w.last("call", tool); return r.Decision == "allowed" }, "ctrl+Return")
	w.until(tool+" has ended", func() bool { r = w.last("call", tool); return r.Outcome != "running" && r.Outcome != "waiting" })
	return r
}

// waits waits until a record of a kind waits for an answer.
func (w *seen) waits(kind, tool string) record {
	w.t.Helper()
	var r record
	w.until(fmt.Sprintf("%s %s waits", kind, tool), func() bool { r = w.last(kind, tool); return r.Outcome == "waiting" })
	return r
}

// leave closes the window by its keys and checks what is left: nothing on stderr, no process, and a record that holds and
// that the program's own command tells as these tests read it.
func (w *seen) leave() {
	w.t.Helper()
	w.key("ctrl+q")
	w.mustEnd(0)
	if s := w.said(); s != "" {
		w.t.Errorf("stderr is not empty:\n%s", s)
	}
	w.verifies()
	mine, told := w.now(), w.journal(w.data)
	if !slices.EqualFunc(mine, told, func(a, b record) bool { return a == b }) {
		w.t.Errorf("the folder holds\n%+v\nand journal list tells\n%+v", mine, told)
	}
}

func (w *seen) verifies() {
	w.t.Helper()
	if out, errOut, code := w.headless(nil, "journal", "verify", "--data", w.data); code != 0 {
		w.t.Errorf("the journal does not verify: %s%s", out, errOut)
	}
}

// show is everything that the program's own command tells of a record.
func (w *seen) show(n int64) string {
	w.t.Helper()
	out, errOut, code := w.headless(nil, "journal", "show", fmt.Sprint(n), "--data", w.data, "--json")
	if code != 0 {
		w.t.Fatalf("journal show %d: %s", n, errOut)
	}
	return out
}

// scripted is the test server that does as it is told.
var scripted = sync.OnceValues(func() (string, error) {
	path, err := program()
	if err != nil {
		return "", err
	}
	file := filepath.Join(filepath.Dir(path), "scriptedserver")
	if out, err := exec.Command("go", "build", "-o", file, "steward/testdata/scriptedserver/cmd").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building: %w\n%s", err, out)
	}
	return file, nil
})

// serversFile writes a file of servers in the usual form.
func serversFile(t *testing.T, entries map[string]any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"mcpServers": entries})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(file, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// sent says whether a server that notes what it is sent has been sent a call.
func sent(t *testing.T, file string) bool {
	t.Helper()
	seen, err := os.ReadFile(file)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return strings.Contains(string(seen), `"tools/call"`)
}
