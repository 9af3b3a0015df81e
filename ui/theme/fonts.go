package theme

import (
	"bytes"
	"sync"

	"fyne.io/fyne/v2"
	fynetheme "fyne.io/fyne/v2/theme"
	"github.com/go-text/typesetting/font"

	"steward/assets"
)

// Style is how a run of text is set.
type Style struct{ Bold, Italic, Mono bool }

// Family names one of the embedded fonts; None means that none of them has the character.
type Family string

const (
	None Family = ""
	Sans Family = "Steward Sans"
	Mono Family = "Steward Mono"
)

// face is one embedded font: the resource Fyne draws with, and the characters it has.
type face struct {
	resource fyne.Resource
	family   Family
	cmap     font.Cmap
}

func load(family Family, name string, data []byte) *face {
	f := &face{resource: fyne.NewStaticResource(name, data), family: family}
	if parsed, err := font.ParseTTF(bytes.NewReader(data)); err != nil {
		fyne.LogError("The font "+name+" of this build cannot be read", err)
	} else {
		f.cmap = parsed.Cmap
	}
	return f
}

var (
	regular = sync.OnceValue(func() *face { return load(Sans, "StewardSans-Regular.otf", assets.SansRegular()) })
	bold    = sync.OnceValue(func() *face { return load(Sans, "StewardSans-Bold.otf", assets.SansBold()) })
	italic  = sync.OnceValue(func() *face { return load(Sans, "StewardSans-Italic.otf", assets.SansItalic()) })
	mono    = sync.OnceValue(func() *face { return load(Mono, "StewardMono-Regular.otf", assets.MonoRegular()) })
)

// faceFor picks the embedded font of a style. Code has one weight, and bold wins over italic: a heavier line is what
// makes a name stand out in either script.
func faceFor(s Style) *face {
	switch {
	case s.Mono:
		return mono()
	case s.Bold:
		return bold()
	case s.Italic:
		return italic()
	}
	return regular()
}

// FontFor gives the font in which to draw one character, for canvas.Text.FontSource and fyne.MeasureText. The embedded
// fonts hold Latin, Greek, Cyrillic and simplified Chinese on one baseline. It is nil and None for every other
// character: set no FontSource then, and Fyne finds a font of the system, or draws a box where there is none.
func FontFor(r rune, s Style) (fyne.Resource, Family) {
	f := faceFor(s)
	if f.cmap == nil {
		return nil, None
	}
	if _, ok := f.cmap.Lookup(r); !ok {
		return nil, None
	}
	return f.resource, f.family
}

// Font gives Fyne's own widgets our fonts. They ask for one font and look no further in ours, which is why Latin and
// Chinese share a file.
func (s *steward) Font(style fyne.TextStyle) fyne.Resource {
	if style.Symbol {
		return fynetheme.DefaultTheme().Font(style)
	}
	return faceFor(Style{Bold: style.Bold, Italic: style.Italic, Mono: style.Monospace}).resource
}
