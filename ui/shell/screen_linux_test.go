package shell

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patient bounds every wait of these tests. Nothing is decided by it but how long a failure takes.
const patient = 60 * time.Second

// program is the real binary as it is released, but without the tag that trusts the window with its threads: this way
// the toolkit complains of every call from the wrong one.
var program = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "steward-window-")
	if err != nil {
		return "", err
	}
	programDir = dir
	path := filepath.Join(dir, "steward")
	if out, err := exec.Command("go", "build", "-tags", "no_animations", "-o", path, "steward").CombinedOutput(); err != nil {
		return "", fmt.Errorf("building: %w\n%s", err, out)
	}
	return path, nil
})

// screen is an X server of its own with a window manager.
type screen struct {
	t       *testing.T
	display string
	home    string
	program string // the real program under a name of this screen's own, so that its processes can be told from others'
}

// newScreen starts one, or skips where the programs for it are missing and this is no run that must have them.
func newScreen(t *testing.T) *screen {
	t.Helper()
	return newScreenOf(t, "1400x900")
}

// newScreenOf is newScreen with as many pixels as said.
func newScreenOf(t *testing.T, pixels string) *screen {
	t.Helper()
	for _, need := range []string{"Xvfb", "dbus-daemon", "openbox", "xdotool", "import"} {
		if _, err := exec.LookPath(need); err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("%s is missing; .ci/need test installs it", need)
			}
			t.Skipf("%s is missing, so no window can be driven; .ci/need test installs it", need)
		}
	}
	d := &screen{t: t, home: t.TempDir()}
	d.build()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", pixels+"x24", "-nolisten", "tcp",
		"-noreset", // it would begin anew, and refuse who comes then, whenever the last program has gone
		"-r")       // on a busy machine a key seems to be held, and would repeat itself
	x.ExtraFiles = []*os.File{write}
	d.run(x)
	write.Close()
	defer read.Close()
	number, err := bufio.NewReader(read).ReadString('\n')
	if err != nil {
		t.Fatalf("Xvfb found no free display: %v", err)
	}
	d.display = ":" + strings.TrimSpace(number)
	// Without a bus of its own the toolkit would have one started, which nobody would end.
	d.run(exec.Command("dbus-daemon", "--session", "--nofork", "--nopidfile", "--nosyslog", "--address=unix:path="+d.bus()))
	manager := exec.Command("openbox", "--sm-disable")
	manager.Env = d.env()
	d.run(manager)
	return d
}

// build gives the screen its program.
func (d *screen) build() {
	d.t.Helper()
	path, err := program()
	if err != nil {
		d.t.Fatal(err)
	}
	own, err := os.MkdirTemp(filepath.Dir(path), "screen-")
	if err != nil {
		d.t.Fatal(err)
	}
	d.program = filepath.Join(own, "steward")
	if err := os.Link(path, d.program); err != nil {
		d.t.Fatal(err)
	}
}

// bus is where the session bus of this screen listens.
func (d *screen) bus() string { return filepath.Join(d.home, "bus") }

// run starts a program that ends with the test.
func (d *screen) run(cmd *exec.Cmd) {
	d.t.Helper()
	if err := cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}

// env is a person's with nothing of ours in it: a home and a session bus of its own.
func (d *screen) env(more ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + d.home, "XDG_CONFIG_HOME=" + filepath.Join(d.home, "config"),
		"XDG_CACHE_HOME=" + filepath.Join(d.home, "cache"), "XDG_DATA_HOME=" + filepath.Join(d.home, "data"), "XDG_RUNTIME_DIR=" + d.home,
		"DBUS_SESSION_BUS_ADDRESS=unix:path=" + d.bus(),
		"DISPLAY=" + d.display, "FYNE_PLATFORM=x11", "FYNE_SCALE=1", "LANG=en_US.UTF-8",
	}, more...)
}

// tool runs one of the programs that play the person.
func (d *screen) tool(name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = d.env()
	out, err := cmd.Output()
	return string(out), err
}

// seen is one run of the program with its window.
type seen struct {
	*screen
	cmd    *exec.Cmd
	data   string
	id     string
	stderr spoken
	ended  chan struct{}
}

// spoken is what a program writes to stderr, readable while it runs.
type spoken struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (e *spoken) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.b.Write(p)
}

func (e *spoken) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.b.String()
}

// open starts the program and waits for its window.
func (d *screen) open(data string, env []string, args ...string) *seen {
	d.t.Helper()
	w := &seen{screen: d, data: data, ended: make(chan struct{})}
	w.cmd = exec.Command(d.program, append([]string{"--data", data}, args...)...)
	w.cmd.Env = d.env(env...)
	w.cmd.Stderr = &w.stderr
	before := d.windows()
	if err := w.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	go func() { // ends with the program, which Cleanup ends
		w.cmd.Wait()
		close(w.ended)
	}()
	d.t.Cleanup(func() {
		w.cmd.Process.Kill()
		<-w.ended
	})
	w.until("the window opens", func() bool {
		for _, id := range d.windows() {
			if !slices.Contains(before, id) {
				w.id = id
				return true
			}
		}
		return false
	})
	w.tool("xdotool", "windowfocus", "--sync", w.id)
	w.until("the window is drawn", func() bool { return colours(w.shot()) > 8 })
	return w
}

// windows are the program's windows that show.
func (d *screen) windows() []string {
	out, _ := d.tool("xdotool", "search", "--onlyvisible", "--name", "^(Steward|管家)$") // it fails where there is none
	return strings.Fields(out)
}

func (w *seen) until(what string, holds func() bool) {
	w.t.Helper()
	for end := time.Now().Add(patient); !holds(); time.Sleep(50 * time.Millisecond) {
		select {
		case <-w.ended:
			if !holds() {
				w.t.Fatalf("the program ended before this: %s\n%s", what, w.stderr.String())
			}
			return
		default:
		}
		if time.Now().After(end) {
			w.picture("failed")
			w.t.Fatalf("this did not come about: %s\n%s", what, w.stderr.String())
		}
	}
}

// key presses keys as the person would: "ctrl+n", "Return".
func (w *seen) key(keys ...string) {
	w.t.Helper()
	if _, err := w.tool("xdotool", append([]string{"key", "--delay", "40"}, keys...)...); err != nil {
		w.t.Fatalf("pressing %v: %v", keys, err)
	}
}

// write types text.
func (w *seen) write(text string) {
	w.t.Helper()
	if _, err := w.tool("xdotool", "type", "--delay", "30", text); err != nil {
		w.t.Fatalf("typing %q: %v", text, err)
	}
}

// picture writes what the whole screen shows where STEWARD_PICTURES names a folder, for a person to look at.
func (w *seen) picture(name string) {
	w.t.Helper()
	if dir := os.Getenv("STEWARD_PICTURES"); dir != "" {
		path := filepath.Join(dir, strings.ReplaceAll(w.t.Name(), "/", "-")+"-"+name+".png")
		if _, err := w.tool("import", "-window", "root", path); err != nil {
			w.t.Logf("no picture: %v", err)
		}
	}
}

// shot is what the window shows now.
func (w *seen) shot() image.Image {
	w.t.Helper()
	out, err := w.tool("import", "-window", w.id, "png:-")
	if err != nil {
		w.t.Fatalf("the window cannot be pictured: %v\n%s", err, w.stderr.String())
	}
	picture, err := png.Decode(strings.NewReader(out))
	if err != nil {
		w.t.Fatal(err)
	}
	return picture
}

// colours counts different colours on a grid over a picture.
func colours(p image.Image) int {
	found := map[[3]uint32]bool{}
	for y := p.Bounds().Min.Y; y < p.Bounds().Max.Y; y += 2 {
		for x := p.Bounds().Min.X; x < p.Bounds().Max.X; x += 2 {
			r, g, b, _ := p.At(x, y).RGBA()
			found[[3]uint32{r >> 8, g >> 8, b >> 8}] = true
		}
	}
	return len(found)
}

// differ says whether two pictures show different things.
func differ(a, b image.Image) bool {
	if a.Bounds() != b.Bounds() {
		return true
	}
	for y := a.Bounds().Min.Y; y < a.Bounds().Max.Y; y++ {
		for x := a.Bounds().Min.X; x < a.Bounds().Max.X; x++ {
			if a.At(x, y) != b.At(x, y) {
				return true
			}
		}
	}
	return false
}

// said is what the program wrote to stderr, without what the toolkit says of this build: its thread checks are on.
func (w *seen) said() string {
	var kept []string
	for line := range strings.Lines(w.stderr.String()) {
		notice := strings.Contains(line, "has not been migrated to the fyne.Do") || strings.Contains(line, "The next major Fyne release will") ||
			strings.Contains(line, "Read more at https://docs.fyne.io")
		if !notice {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// mustEnd waits for the program's end and checks what it leaves behind.
func (w *seen) mustEnd(code int) {
	w.t.Helper()
	select {
	case <-w.ended:
	case <-time.After(patient):
		w.cmd.Process.Signal(syscall.SIGQUIT)
		<-w.ended
		w.t.Fatalf("the program did not end\n%s", w.stderr.String())
	}
	if got := w.cmd.ProcessState.ExitCode(); got != code {
		w.t.Errorf("the program ended with status %d, want %d\n%s", got, code, w.stderr.String())
	}
	if strings.Contains(w.stderr.String(), "*** Error in Fyne call thread") {
		w.t.Errorf("a widget was touched on the wrong thread:\n%s", w.stderr.String())
	}
	if left := processes(w.t, w.cmd.Path); len(left) > 0 {
		w.t.Errorf("processes are left: %v", left)
	}
}

// processes are those that run a program's file.
func processes(t *testing.T, path string) []string {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && target == path {
			found = append(found, filepath.Base(filepath.Dir(link)))
		}
	}
	return found
}

// processesOf are those of a program that belong to a screen, by its home.
func processesOf(t *testing.T, path, home string) []string {
	t.Helper()
	return slices.DeleteFunc(processes(t, path), func(id string) bool {
		environment, err := os.ReadFile(filepath.Join("/proc", id, "environ"))
		return err != nil || !bytes.Contains(environment, []byte("HOME="+home+"\x00"))
	})
}

// headless runs a command of the same program, without a display.
func (d *screen) headless(env []string, args ...string) (stdout, stderr string, code int) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patient)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.program, args...)
	cmd.Env = append(slices.DeleteFunc(d.env(), func(v string) bool { return strings.HasPrefix(v, "DISPLAY=") }), env...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		d.t.Fatal(err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

// record is the part of a journal's record that these tests look at.
type record struct {
	Record          int64
	Kind            string
	Server, Tool    string
	Decision, By    string
	Outcome, Effect string
	Conversation    string
}

// journal reads a folder's record with the program's own command, newest first.
func (d *screen) journal(data string) []record {
	d.t.Helper()
	out, errOut, code := d.headless(nil, "journal", "list", "--data", data, "--json")
	if code != 0 {
		d.t.Fatalf("journal list: status %d\n%s", code, errOut)
	}
	var records []record
	if err := json.Unmarshal([]byte(out), &records); err != nil {
		d.t.Fatalf("journal list: %v\n%s", err, out)
	}
	return records
}
