package shell

import (
	"errors"
	"image"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"time"
)

// These tests drive the real program in a real window by its keys.

func TestWindowOpensAndQuits(t *testing.T) {
	t.Parallel()
	d := newScreen(t)
	data := filepath.Join(t.TempDir(), "data")
	w := d.open(data, nil)
	before := w.shot()
	w.key("ctrl+n")
	w.key("ctrl+k")
	w.until("the command palette shows", func() bool { return differ(before, w.shot()) })
	w.write("quit")
	w.key("Return")
	w.mustEnd(0)
	if s := w.said(); s != "" {
		t.Errorf("stderr is not empty:\n%s", s)
	}
	d.journal(data)
	if out, errOut, code := d.headless(nil, "journal", "verify", "--data", data); code != 0 {
		t.Errorf("the journal does not verify: %s%s", out, errOut)
	}
}

func TestWindowIsAsItWasLeft(t *testing.T) {
	t.Parallel()
	d := newScreen(t)
	data := filepath.Join(t.TempDir(), "data")
	w := d.open(data, nil)
	if size := w.shot().Bounds().Size(); size.X != 1280 || size.Y != 800 {
		t.Errorf("the first window is %v, want 1280 x 800", size)
	}
	w.tool("xdotool", "windowsize", "--sync", w.id, "1000", "640")
	w.until("the window has its new size", func() bool { return w.shot().Bounds().Dx() == 1000 })
	wide := w.shot()
	w.key("ctrl+b")
	w.until("the side bar becomes narrow", func() bool { return differ(wide, w.shot()) })
	w.key("ctrl+q")
	w.mustEnd(0)
	w = d.open(data, nil)
	if size := w.shot().Bounds().Size(); size.X != 1000 || size.Y != 640 {
		t.Errorf("the second window is %v, want 1000 x 640", size)
	}
	narrow := w.shot()
	w.key("ctrl+b")
	w.until("the side bar was narrow and becomes wide", func() bool { return differ(narrow, w.shot()) })
	w.key("ctrl+q")
	w.mustEnd(0)
}

func TestWindowEndsWhenTheSystemSaysSo(t *testing.T) {
	t.Parallel()
	d := newScreen(t)
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		data := filepath.Join(t.TempDir(), "data")
		w := d.open(data, nil)
		if err := w.cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		w.mustEnd(0)
		if out, errOut, code := d.headless(nil, "journal", "verify", "--data", data); code != 0 {
			t.Errorf("after %v the journal does not verify: %s%s", signal, out, errOut)
		}
	}
}

func TestClosingTwiceAndWithASignalIsStillOneEnd(t *testing.T) {
	t.Parallel()
	d := newScreen(t)
	data := filepath.Join(t.TempDir(), "data")
	w := d.open(data, nil)
	w.key("ctrl+q", "ctrl+q")
	if err := w.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	w.mustEnd(0)
	if strings.Contains(w.stderr.String(), "panic") {
		t.Error(w.stderr.String())
	}
}

func TestSecondWindowSaysWhoHoldsTheFolder(t *testing.T) {
	t.Parallel()
	d := newScreen(t)
	data := filepath.Join(t.TempDir(), "data")
	first := d.open(data, nil)
	second := d.open(data, nil)
	if size := second.shot().Bounds().Size(); size.X >= 1280 {
		t.Errorf("the sentence stands in a window of %v", size)
	}
	second.key("Escape")
	<-second.ended
	if code := second.cmd.ProcessState.ExitCode(); code != 1 {
		t.Errorf("the second program ended with status %d, want 1", code)
	}
	if s := second.said(); !strings.Contains(s, data) || strings.Count(s, "\n") != 1 {
		t.Errorf("the second program said:\n%s", s)
	}
	first.tool("xdotool", "windowfocus", "--sync", first.id)
	first.key("ctrl+q")
	first.mustEnd(0)
}

func TestDamagedFolderIsSaidAndLeftAlone(t *testing.T) {
	t.Parallel()
	d := newScreen(t)
	data := t.TempDir()
	junk := strings.Repeat("this is no database ", 500)
	file := filepath.Join(data, "steward.db")
	if err := os.WriteFile(file, []byte(junk), 0o600); err != nil {
		t.Fatal(err)
	}
	w := d.open(data, nil)
	w.key("Return")
	w.mustEnd(1)
	if !strings.Contains(w.stderr.String(), "steward.db") {
		t.Errorf("it was said:\n%s", w.stderr.String())
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != junk {
		t.Errorf("the damaged file was touched (%v)", err)
	}
}

func TestWithoutADisplayTheTerminalAsks(t *testing.T) {
	t.Parallel()
	d := newScreen(t)
	for _, env := range [][]string{nil, {"DISPLAY=:65000"}} {
		out, errOut, code := d.headless(env, "--data", filepath.Join(t.TempDir(), "data"), "--consent", "allow")
		if code != 0 || !strings.Contains(out, "2025-03-17") {
			t.Errorf("%v: status %d, stdout %q", env, code, out)
		}
		if !strings.Contains(errOut, "no display was found") {
			t.Errorf("%v: stderr %q", env, errOut)
		}
	}
}

func TestToolkitIsSilentInCommands(t *testing.T) {
	t.Parallel()
	d := newScreen(t)
	for _, locale := range []string{"C", "C.UTF-8", "POSIX", "en_US.UTF-8", "zh_CN.UTF-8", "nonsense", "x_y@z.w", ""} {
		for _, name := range []string{"LANG", "LC_ALL", "LANGUAGE"} {
			out, errOut, code := d.headless([]string{name + "=" + locale}, "version")
			if code != 0 || errOut != "" || !strings.HasPrefix(out, "steward ") {
				t.Errorf("%s=%q: status %d, stdout %q, stderr %q", name, locale, code, out, errOut)
			}
		}
	}
}

// What a place reads in the background is drawn when it is there, and not first with the next movement of the mouse: at
// rest nothing else makes the toolkit draw.
func TestWhatIsReadIsDrawnAtOnce(t *testing.T) {
	t.Parallel()
	d := newScreen(t)
	w := d.open(filepath.Join(t.TempDir(), "data"), nil)
	var last image.Image
	w.until("the window is at rest", func() bool { // what begins with it would make it draw, too
		before := last
		time.Sleep(time.Second)
		last = w.shot()
		return before != nil && reflect.DeepEqual(before, last)
	})
	w.key("ctrl+comma")
	w.until("the settings show their models", func() bool {
		shot := w.shot()
		for y := 60; y < 400; y += 3 {
			for x := 480; x < 900; x += 3 { // "Connect a model" is filled with the accent, in either theme
				r, g, b, _ := shot.At(x, y).RGBA()
				if g>>8 > 100 && g > r+0x3000 && g > b && b > r {
					return true
				}
			}
		}
		return false
	})
	w.key("ctrl+q")
	w.mustEnd(0)
}
