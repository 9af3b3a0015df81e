package text

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"github.com/rivo/uniseg"
)

// Bounds of what is ever measured or drawn in one piece. Shaping costs more than linear time, a texture wider than
// 16,384 pixels is drawn as a black box, and a flood of combining marks is one character to Unicode.
const (
	longLine  = 2000 // runes in one drawn line
	longUnit  = 200  // bytes measured at once; more is summed up by character
	longChar  = 64   // bytes of one character with its marks
	cacheSize = 1 << 14
)

type faceKey struct {
	source fyne.Resource
	size   float32
	style  fyne.TextStyle
	blank  bool // every character is drawn as U+FFFD
}

// A face is one font in one size with the widths already measured in it. Widths live in two generations: when the
// young one is full it becomes the old one, so memory stays bounded and words in use are not measured again.
type face struct {
	faceKey
	ascent, height float32
	ascii          [128]float32 // width + 1, 0 meaning not measured
	young, old     map[string]float32
}

// faces is only touched on Fyne's thread, as measuring is: Fyne's shaper has no lock.
var faces = map[faceKey]*face{}

func faceOf(key faceKey) *face {
	f := faces[key]
	if f == nil {
		if len(faces) > 256 { // sizes come from a few constants; this only guards against a caller that computes them
			clear(faces)
		}
		f = &face{faceKey: key, young: map[string]float32{}}
		size, base := fyne.CurrentApp().Driver().RenderedTextSize("x", key.size, key.style, key.source)
		f.ascent, f.height = base, size.Height
		faces[key] = f
	}
	return f
}

func (f *face) measure(s string) float32 {
	size, _ := fyne.CurrentApp().Driver().RenderedTextSize(s, f.size, f.style, f.source)
	return size.Width
}

// width is how far s reaches; s holds no tab and no newline.
func (f *face) width(s string) float32 {
	switch {
	case s == "":
		return 0
	case len(s) == 1 && s[0] < 128:
		w := f.ascii[s[0]]
		if w == 0 {
			w = f.measure(s) + 1
			f.ascii[s[0]] = w
		}
		return w - 1
	case len(s) > longUnit:
		var sum float32
		for s != "" {
			n := firstChar(s)
			sum += f.width(s[:n])
			s = s[n:]
		}
		return sum
	}
	if w, ok := f.young[s]; ok {
		return w
	}
	w, ok := f.old[s]
	if !ok {
		w = f.measure(f.drawable(s))
	}
	if len(f.young) >= cacheSize {
		f.old, f.young = f.young, make(map[string]float32, cacheSize/4)
	}
	f.young[strings.Clone(s)] = w // a clone: a word must not hold on to its megabyte
	return w
}

// fit gives how many bytes of s, in whole characters, stay within room, and how wide they are.
func (f *face) fit(s string, room float32) (n int, width float32) {
	for n < len(s) {
		c := firstChar(s[n:])
		w := f.width(s[n : n+c])
		if width+w > room {
			break
		}
		n, width = n+c, width+w
	}
	return n, width
}

// firstChar is the length of the first character as people count them (a grapheme cluster, UAX #29), cut when it is a
// flood of marks.
func firstChar(s string) int {
	if len(s) == 0 {
		return 0
	}
	if s[0] < 128 && (len(s) == 1 || s[1] < 128) {
		return 1
	}
	head := s
	if len(head) > longChar {
		head = head[:runeStart(head, longChar)]
	}
	c, _, _, _ := uniseg.FirstGraphemeClusterInString(head, -1)
	return max(len(c), 1)
}

// lastChar is the length of the last character of s.
func lastChar(s string) int {
	from := 0
	if len(s) > 2*longChar {
		from = runeStart(s, len(s)-2*longChar)
	}
	n := 0
	for from < len(s) {
		n = firstChar(s[from:])
		from += n
	}
	return n
}

// runeStart is the start of the rune that holds byte i; it gives up looking after the four bytes a rune can have.
func runeStart(s string, i int) int {
	for k := i; k > 0 && k > i-utf8.UTFMax; k-- {
		if k == len(s) || utf8.RuneStart(s[k]) {
			return k
		}
	}
	return i
}

// drawable makes what Fyne may draw out of any bytes: it would drop carriage returns and misplace control characters.
func drawable(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] >= 0x7f {
			return strings.Map(visible, strings.ToValidUTF8(s, "\uFFFD"))
		}
	}
	return s
}

func (f *face) drawable(s string) string {
	if f.blank {
		return strings.Map(func(rune) rune { return utf8.RuneError }, s)
	}
	return drawable(s)
}

func visible(r rune) rune {
	if r < ' ' {
		return 0x2400 + r // the picture of the control character
	}
	if r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 {
		return 0xFFFD
	}
	return r
}
