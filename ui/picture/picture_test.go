package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"steward/ui/language"
)

// pngOf is a picture; with extra, it holds a part with a wrong checksum that is not needed to see it.
func pngOf(t *testing.T, w, h int, extra bool) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for x := range min(w, 40) {
		img.Set(x, 0, color.RGBA{200, 30, 30, 255})
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	if !extra {
		return b.Bytes()
	}
	const head = len(pngSignature) + 25 // after IHDR
	part := binary.BigEndian.AppendUint32(nil, 3)
	part = append(part, "iCCPabc\x00\x00\x00\x00"...)
	return append(append(bytes.Clone(b.Bytes()[:head]), part...), b.Bytes()[head:]...)
}

// claiming makes a picture claim another size than it has.
func claiming(data []byte, w, h uint32) []byte {
	out := bytes.Clone(data)
	binary.BigEndian.PutUint32(out[16:], w)
	binary.BigEndian.PutUint32(out[20:], h)
	binary.BigEndian.PutUint32(out[29:], crc32.ChecksumIEEE(out[12:29]))
	return out
}

func TestPictures(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		data  []byte
		edge  int // of what is kept; 0: no picture
		wasWX int
	}{
		{"small", pngOf(t, 20, 10, false), 20, 20},
		{"with a broken part that nobody needs", pngOf(t, 20, 10, true), 20, 20},
		{"large", pngOf(t, 3000, 100, false), keptEdge, 3000},
		{"huge by its own claim", claiming(pngOf(t, 20, 10, false), 30000, 30000), 0, 0},
		{"negative by its own claim", claiming(pngOf(t, 20, 10, false), 1<<31, 1<<31), 0, 0},
		{"cut off", pngOf(t, 20, 10, false)[:60], 0, 0},
		{"no picture", []byte("<svg xmlns='http://www.w3.org/2000/svg'><image href='http://127.0.0.1/x'/></svg>"), 0, 0},
		{"nothing", nil, 0, 0},
	} {
		img, was, err := decode(c.data, mostPixels, keptEdge)
		if (err == nil) != (c.edge > 0) {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if err == nil && (max(img.Bounds().Dx(), img.Bounds().Dy()) != c.edge || was.X != c.wasWX) {
			t.Errorf("%s: %v is kept of %v", c.name, img.Bounds(), was)
		}
	}
	if s := fit(image.Pt(1000, 2000), 400); s.Height != mostHigh || s.Width != mostHigh/2 {
		t.Errorf("a high picture is shown as %v", s)
	}
	if s := fit(image.Pt(10, 20), 400); s.Width != 10 || s.Height != 20 {
		t.Errorf("a small picture is shown as %v", s)
	}
}

// A box says what it shows, first that it is coming, then its size or that it is none, and is as high as that takes.
// Nothing is decoded where it was made.
func TestBox(t *testing.T) {
	test.NewTempApp(t)
	if err := language.Load("en"); err != nil {
		t.Fatal(err)
	}
	var work []func(context.Context)
	var queue []func()
	r := NewReader(func(f func()) { queue = append(queue, f) }, func(f func(context.Context)) { work = append(work, f) })
	told := 0
	good, bad := r.Box("image/png", pngOf(t, 200, 100, true), func() { told++ }), r.Box("image/png", []byte("none"), func() { told++ })
	before := good.HeightFor(400)
	if good.shown != nil || !strings.Contains(good.words(), "Loading") {
		t.Fatalf("it is there at once: %q", good.words())
	}
	for _, f := range work {
		f(t.Context())
	}
	for _, f := range queue {
		f()
	}
	if told != 2 || good.shown == nil || bad.shown != nil {
		t.Fatalf("%d were told of, %v and %v are shown", told, good.shown, bad.shown)
	}
	if got := good.HeightFor(400); got < before+100 {
		t.Errorf("the picture makes %v of %v high", got, before)
	}
	if !strings.Contains(good.words(), "200 × 100") || !strings.Contains(bad.words(), "cannot be shown") {
		t.Errorf("they say %q and %q", good.words(), bad.words())
	}
}

// A small picture fills its room once it has been read; where there is none, the room stays empty.
func TestSmallPictures(t *testing.T) {
	t.Parallel()
	r := NewReader(func(f func()) { f() }, func(f func(context.Context)) { f(context.Background()) })
	for name, c := range map[string]struct {
		data []byte
		want int
	}{
		"picture": {pngOf(t, 20, 10, false), 1}, "none": {nil, 0}, "no picture": {[]byte("<svg/>"), 0},
		"large": {pngOf(t, 2000, 2000, false), 1}, "too large for an ornament": {pngOf(t, 2100, 2100, false), 0},
	} {
		room, ok := r.Small(32, func() []byte { return c.data }).(*fyne.Container)
		if !ok || len(room.Objects) != c.want || room.MinSize() != fyne.NewSquareSize(32) {
			t.Errorf("%s: %v", name, room)
			continue
		}
		if c.want == 0 {
			continue
		}
		if img, ok := room.Objects[0].(*canvas.Image); !ok || img.Image.Bounds().Dx() > 32*mostScale {
			t.Errorf("%s: kept is %v", name, img.Image.Bounds())
		}
	}
}
