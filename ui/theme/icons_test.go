package theme

import (
	"image"
	"image/color"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"

	"steward/assets"
)

// render draws an icon at 48 pixels on the ground colour, with the painter that works without a screen.
func render(t *testing.T, icon fyne.Resource) image.Image {
	t.Helper()
	picture := canvas.NewImageFromResource(icon)
	picture.SetMinSize(fyne.NewSquareSize(48))
	c := software.NewCanvas()
	c.SetPadded(false)
	c.SetContent(picture)
	c.Resize(fyne.NewSquareSize(48))
	return software.RenderCanvas(c, New(AlwaysLight))
}

// inked counts the pixels that are closer to the colour than to the ground.
func inked(picture image.Image, ink, ground color.NRGBA) (count int, box image.Rectangle) {
	bounds := picture.Bounds()
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c := color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)
			if apart(c, ink) < apart(c, ground) {
				count++
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return count, box
}

func apart(a, b color.NRGBA) int {
	return distance(a.R, b.R) + distance(a.G, b.G) + distance(a.B, b.B)
}

// wanted are the icons that the window's places ask for by name.
var wanted = []string{
	"plus", "search", "clock", "servers", "audit", "settings", "chat", "pin", "archive", "trash", "copy", "edit",
	"branch", "retry", "stop", "send", "attach", "slash", "at", "folder", "check", "cross", "warning", "question",
	"chevron-right", "chevron-down", "more", "menu", "key", "wire", "tool", "model", "eye", "eye-off", "refresh",
	"play", "download", "upload", "filter", "link", "lock", "unlock", "user",
}

func TestIconsAreDrawn(t *testing.T) {
	test.NewTempApp(t).Settings().SetTheme(New(AlwaysLight))
	unknown := Icon("no-such-icon")
	for _, name := range wanted {
		if name != "question" && Icon(name) == unknown {
			t.Errorf("there is no icon %s", name)
		}
	}
	seen := make(map[string]string)
	for _, name := range assets.IconNames() {
		for _, c := range []fyne.ThemeColorName{Text, Waiting} {
			icon := Icon(name)
			if c != Text {
				icon = IconIn(name, c)
			}
			picture := render(t, icon)
			count, box := inked(picture, light[c], light[Ground])
			if count < 30 || count > 48*48/3 {
				t.Errorf("%s in %s covers %d of %d pixels", name, c, count, 48*48)
			}
			if max(box.Dx(), box.Dy()) < 22 {
				t.Errorf("%s in %s is only %d by %d pixels", name, c, box.Dx(), box.Dy())
			}
			if box.Min.X == 0 || box.Min.Y == 0 || box.Max.X == 48 || box.Max.Y == 48 {
				t.Errorf("%s touches its edge and may be cut", name)
			}
			key := string(c) + string(picture.(*image.NRGBA).Pix)
			if other, ok := seen[key]; ok {
				t.Errorf("%s and %s look the same", name, other)
			}
			seen[key] = name
		}
	}
}

func TestIconsAreKept(t *testing.T) {
	t.Parallel()
	if Icon("plus") != Icon("plus") || IconIn("plus", Dim) != IconIn("plus", Dim) {
		t.Error("an icon is made anew each time, which fills Fyne's caches")
	}
	for fynes, ours := range replaced {
		if Icon(ours) == Icon("question") && ours != "question" {
			t.Errorf("the icon %s for Fyne's %s is not there", ours, fynes)
		}
		if New(AlwaysDark).Icon(fynes) != Icon(ours) {
			t.Errorf("Fyne's %s does not show %s", fynes, ours)
		}
	}
	if New(AlwaysDark).Icon("broken-image") == nil {
		t.Error("an icon we do not replace is lost")
	}
}

// TestEmptyControlsAreSeen: the rim of an empty box or ring reaches the 3 : 1 of WCAG 2.2, 1.4.11.
func TestEmptyControlsAreSeen(t *testing.T) {
	rim := rgb(0x7E848C)
	for name, p := range palettes {
		for _, ground := range grounds {
			if got := contrast(rim, p[ground]); got < 3 {
				t.Errorf("%s: the rim on %s has a contrast of %.2f : 1", name, ground, got)
			}
		}
	}
	test.NewTempApp(t).Settings().SetTheme(New(AlwaysLight))
	for _, name := range []string{"controls/box", "controls/ring"} {
		// Fyne recolours the empty control to the colour of an input's border; the rim must stay.
		if count, _ := inked(render(t, IconIn(name, Line)), rim, light[Ground]); count < 100 {
			t.Errorf("%s shows %d pixels of its rim", name, count)
		}
	}
}
