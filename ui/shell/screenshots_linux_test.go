package shell

import (
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"steward/app"
	"steward/assets"
	"steward/ui/place"
	"steward/ui/theme"
)

// TestScreenshots makes the pictures of the documentation: it goes through every screen of the real window as a person
// would and writes what it sees into the folder that STEWARD_SCREENSHOTS names (make screenshots). Otherwise it is skipped.
// "-run TestScreenshots/light-en" makes a part of them.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("STEWARD_SCREENSHOTS")
	if dir == "" {
		t.Skip("make screenshots runs this")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// The folder's name can be read in some pictures, so it must not change from run to run.
	folder := filepath.Join(os.TempDir(), "steward-screenshots")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatalf("%v; remove it if no other run of this makes pictures", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(folder, "none")) // keyrings are not pictured
	look := func(variant, tongue string, scale int) {
		name := variant + "-" + strings.TrimSuffix(tongue, "-Hans")
		if scale > 1 {
			name += fmt.Sprintf("-%d00", scale)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &album{t: t, d: newScreenOf(t, fmt.Sprintf("%dx%d", 1320*scale, 840*scale)), dir: dir, name: name,
				folder: filepath.Join(folder, name), scale: scale, theme: variant, tongue: tongue}
			if scale > 1 {
				a.large()
				a.signIn()
				return
			}
			a.first()
			a.whole()
			a.signIn()
		})
	}
	for _, variant := range []string{theme.AlwaysLight, theme.AlwaysDark} {
		for _, tongue := range assets.Languages() {
			look(variant, tongue, 1)
		}
	}
	look(theme.AlwaysLight, "en", 2)
	look(theme.AlwaysDark, "zh-Hans", 2)
}

// album is one way through the window in one look.
type album struct {
	*seen
	t             *testing.T
	d             *screen
	dir, name     string // where the pictures go, and what their names end with
	scale         int
	folder        string // for data folders
	theme, tongue string
}

// done closes the window.
func (a *album) done() {
	a.key("ctrl+q")
	a.mustEnd(0)
}

// show opens the window on a folder that has the album's look.
func (a *album) show(data string, servers string) {
	a.prepare(data, servers)
	a.open(data, []string{"PATH=" + a.path()})
}

// prepare makes the folder.
func (a *album) prepare(data string, servers string) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		a.t.Fatal(err)
	}
	if servers != "" {
		if err := os.WriteFile(filepath.Join(data, "servers.json"), []byte(servers), 0o600); err != nil {
			a.t.Fatal(err)
		}
	}
	ctx := context.Background()
	core, err := app.Open(ctx, app.Options{Data: data, Hooks: app.Hooks{Version: "0.1.0"}})
	if err != nil {
		a.t.Fatal(err)
	}
	for key, value := range map[string]string{place.PreferTheme: a.theme, place.PreferLanguage: a.tongue} {
		if err := core.SetPreference(ctx, key, value); err != nil {
			a.t.Fatal(err)
		}
	}
	if servers != "" {
		a.furnish(core)
	}
	if err := core.Close(ctx); err != nil {
		a.t.Fatal(err)
	}
	if servers != "" {
		if _, errOut, code := a.d.headless([]string{"PATH=" + a.path()}, "servers", "trust", "office", "--data", data); code != 0 {
			a.t.Fatal(errOut)
		}
	}
}

func (a *album) open(data string, env []string, args ...string) {
	a.seen = a.d.open(data, append([]string{"FYNE_SCALE=" + strconv.Itoa(a.scale), "LIBGL_ALWAYS_SOFTWARE=1", "TZ=UTC"}, env...), args...)
	a.until("the folder is open and everything shows", func() bool { return colours(a.shot()) > 300 })
	a.away()
}

// furnish stores what a person has set up in the settings.
func (a *album) furnish(core *app.App) {
	ctx := context.Background()
	for _, r := range []app.Rule{
		{Effect: app.PermissionAllow, Server: "office", Tool: "calculator_arithmetic"},
		{Effect: app.PermissionDeny, Server: "files", Tool: "write_file", Condition: []byte(`{"arguments":{"path":{"prefix":"/home/me/archive/"}}}`)},
	} {
		if _, err := core.SaveRule(ctx, r); err != nil {
			a.t.Fatal(err)
		}
	}
	if _, err := core.SaveEndpoint(ctx, app.ModelEndpoint{Name: "Ollama", BaseURL: "http://127.0.0.1:11434/v1", Model: "qwen3"}, ""); err != nil {
		a.t.Fatal(err)
	}
	if err := core.ChooseEndpoint(ctx, app.DemoEndpoint, ""); err != nil {
		a.t.Fatal(err)
	}
}

// path finds the program by its name, so that the pictures show a command as a person writes it.
func (a *album) path() string {
	file, err := program()
	if err != nil {
		a.t.Fatal(err)
	}
	return filepath.Dir(file) + ":" + os.Getenv("PATH")
}

// someServers are one of each kind: reviewed, not reviewed, not there, off.
const someServers = `{
	"mcpServers": {
		"office": {"command": "steward", "args": ["demo-server"], "sampling": true},
		"archive": {"command": "steward", "args": ["demo-server"]},
		"notes": {"command": "notes-server", "args": ["--folder", "~/Notes"]},
		"team": {"url": "https://mcp.example.com/mcp", "disabled": true}
	}
}
`

// first is what a person sees at first: nothing is set up.
func (a *album) first() {
	a.show(filepath.Join(a.folder, "new"), "")
	a.take("start")
	a.done()
}

// furnished is a folder with servers, of which one was reviewed.
func (a *album) furnished() {
	data := filepath.Join(a.folder, "data")
	a.show(data, someServers)
}

// whole goes through every screen.
func (a *album) whole() {
	defer a.done()
	a.furnished()
	a.ask("12.5 * 8 = ?") // a rule allows it
	a.ask("Search flights from London to Oslo on 2026-05-04")
	a.answer("Escape")
	a.questions()
	a.composing()
	a.places()
	a.settings()
}

// questions are the three cards, and what they lead to.
func (a *album) questions() {
	a.try(report)
	a.take("approval")
	a.key("ctrl+q")
	a.take("quit")
	a.key("Escape")
	a.try(trip)
	a.tap(100, 673)
	a.take("waiting")
	a.answer("ctrl+Return")
	a.answer("ctrl+Return")
	a.chat(1)
	a.take("form")
	a.answer("Escape")
	a.try(flight)
	a.answer("ctrl+Return")
	a.chat(0)
	a.take("sampling")
	a.answer("ctrl+Return")
	a.chat(0)
	a.take("sampling-answer")
	a.answer("ctrl+Return")
	a.chat(2)
	a.tap(760, 138)
	a.take("chat")
}

// composing is what the composer and the palette offer.
func (a *album) composing() {
	a.key("ctrl+n", "ctrl+l")
	a.still()
	a.write("/")
	a.take("prompts")
	a.key("BackSpace")
	a.write("@")
	a.take("resources")
	a.key("BackSpace")
	a.write("/plan")
	a.still()
	a.key("Return")
	a.take("prompt-form")
	a.key("Escape")
	a.tap(1120, 26)
	a.take("tools")
	a.key("Escape")
	a.key("ctrl+k")
	a.take("palette")
	a.key("Escape")
}

// places are the servers and the audit.
func (a *album) places() {
	a.tap(100, 706)
	a.take("servers")
	log, wire := 850, 885
	if a.tongue != "en" {
		log, wire = 787, 843
	}
	a.tap(log, 151)
	a.take("servers-log")
	a.tap(wire, 151)
	a.take("servers-wire")
	a.tap(350, 145)
	a.take("servers-review")
	a.tap(1200, 26)
	a.take("servers-add")
	a.key("Escape")
	a.tap(100, 739)
	a.tap(500, 223)
	a.take("audit")
}

func (a *album) settings() {
	a.key("ctrl+comma")
	time.Sleep(8 * time.Second) // "Loading…" looks at rest, too; a keyring that does not answer takes its time
	for i, section := range []string{"models", "permissions", "limits", "network", "privacy", "appearance", "secrets", "shortcuts", "data", "about"} {
		if i > 0 {
			a.tap(322, 95+34*i)
		}
		a.take("settings-" + section)
		if i == 0 {
			a.connect()
		}
	}
}

// connect is the way to a model: a list of where it may run, and then what is asked.
func (a *album) connect() {
	a.tap(530, 351)
	a.key("Down", "Down", "Down", "Down", "Down", "Down", "Down", "Down", "Down", "Return")
	a.take("connect")
	a.key("Escape")
	a.still()
}

// large is the same with twice as many pixels, a few of it.
func (a *album) large() {
	defer a.done()
	a.furnished()
	a.try(report)
	a.take("approval")
	a.key("ctrl+q")
	a.take("quit")
	a.key("Escape")
	a.answer("ctrl+Return")
	a.chat(0)
	a.tap(760, 138)
	a.take("chat")
	a.key("ctrl+comma")
	time.Sleep(8 * time.Second) // as in settings
	a.tap(322, 95+34*3)
	a.take("settings-network")
}

// grab is what the window shows now, three bytes a pixel.
func (a *album) grab() sight {
	a.t.Helper()
	out, err := a.tool("import", "-window", a.id, "-depth", "8", "ppm:-")
	if err != nil {
		a.t.Fatalf("the window cannot be pictured: %v\n%s", err, a.stderr.String())
	}
	var f sight
	var most int
	if _, err := fmt.Sscanf(out, "P6\n%d %d\n%d\n", &f.width, &f.height, &most); err != nil || most != 255 || len(out) < 3*f.width*f.height {
		a.t.Fatalf("this is no picture: %.20q (%v)", out, err)
	}
	f.pixels = []byte(out[len(out)-3*f.width*f.height:])
	return f
}

type sight struct {
	width, height int
	pixels        []byte
}

// changed counts the pixels in which two pictures of one size differ.
func (f sight) changed(other sight) int {
	if len(f.pixels) != len(other.pixels) {
		return len(f.pixels)
	}
	n := 0
	for i := 0; i < len(f.pixels); i += 3 {
		if f.pixels[i] != other.pixels[i] || f.pixels[i+1] != other.pixels[i+1] || f.pixels[i+2] != other.pixels[i+2] {
			n++
		}
	}
	return n
}

// colour is the one of a pixel, as its number.
func (f sight) colour(i int) int {
	return int(f.pixels[3*i])<<16 | int(f.pixels[3*i+1])<<8 | int(f.pixels[3*i+2])
}

// still is what the window shows once it rests: a cursor that blinks is no unrest, a clock that counts is little.
func (a *album) still() sight {
	a.t.Helper()
	last := a.grab()
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); {
		time.Sleep(300 * time.Millisecond)
		now := a.grab()
		if now.changed(last) < 400*a.scale*a.scale {
			return now
		}
		last = now
	}
	return last
}

// take writes a picture of what the window shows.
func (a *album) take(screen string) {
	a.t.Helper()
	p := a.still()
	f, err := os.Create(filepath.Join(a.dir, screen+"-"+a.name+".png"))
	if err != nil {
		a.t.Fatal(err)
	}
	defer f.Close()
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(f, reduced(p)); err != nil {
		a.t.Fatal(err)
	}
}

// shades is how many colours a picture has.
const shades = 128

// reduced is a picture in a few colours: one after the other, that by which most is gained. Each other becomes the nearest
// of these; what is lost is within the edges of letters.
func reduced(f sight) *image.Paletted {
	count := map[int]int{}
	for i := range f.width * f.height {
		count[f.colour(i)]++
	}
	all := slices.Sorted(maps.Keys(count))
	far := make([]int, len(all))       // how far each colour is from the nearest of the palette
	nearest := make([]uint8, len(all)) // and which that is
	for i := range far {
		far[i] = math.MaxInt32
	}
	var palette color.Palette
	for len(palette) < shades {
		best := 0
		for i, c := range all {
			if far[i]*count[c] > far[best]*count[all[best]] {
				best = i
			}
		}
		if far[best] == 0 {
			break
		}
		chosen := all[best]
		for i, c := range all {
			if d := distance(c, chosen); d < far[i] {
				far[i], nearest[i] = d, uint8(len(palette))
			}
		}
		palette = append(palette, color.RGBA{uint8(chosen >> 16), uint8(chosen >> 8), uint8(chosen), 255})
	}
	index := map[int]uint8{}
	for i, c := range all {
		index[c] = nearest[i]
	}
	out := image.NewPaletted(image.Rect(0, 0, f.width, f.height), palette)
	for i := range out.Pix {
		out.Pix[i] = index[f.colour(i)]
	}
	return out
}

// distance is the square of that between two colours.
func distance(a, b int) int {
	red, green, blue := a>>16-b>>16, a>>8&255-b>>8&255, a&255-b&255
	return red*red + green*green + blue*blue
}

// tap clicks at a place of the window, in its own units.
func (a *album) tap(x, y int) {
	a.t.Helper()
	before := a.grab()
	for range 3 { // on a busy machine a click can get lost
		a.click(x, y)
		if a.still().changed(before) > 0 {
			return
		}
	}
	a.t.Errorf("nothing came of the click at %d, %d", x, y)
}

func (a *album) click(x, y int) {
	a.t.Helper()
	a.point(x, y)
	time.Sleep(150 * time.Millisecond) // the toolkit takes a click where it last saw the pointer
	if _, err := a.tool("xdotool", "click", "1"); err != nil {
		a.t.Fatalf("clicking at %d, %d: %v", x, y, err)
	}
	time.Sleep(150 * time.Millisecond)
	a.away()
}

// away puts the pointer where nothing lights up under it.
func (a *album) away() {
	a.point(1278, 798)
}

func (a *album) point(x, y int) {
	a.t.Helper()
	if _, err := a.tool("xdotool", "mousemove", "--window", a.id, strconv.Itoa(x*a.scale), strconv.Itoa(y*a.scale)); err != nil {
		a.t.Fatalf("pointing at %d, %d: %v", x, y, err)
	}
}
