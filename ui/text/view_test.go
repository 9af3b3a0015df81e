package text

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/driver/software"
	"fyne.io/fyne/v2/test"
	"go.uber.org/goleak"

	"steward/ui/theme"
)

// One app for all tests: Fyne keeps it in a global, so tests that draw cannot run beside each other.
func TestMain(m *testing.M) {
	app := test.NewApp()
	app.Settings().SetTheme(theme.New("light"))
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func words() Words {
	return Words{
		Copy: func() string { return "Copy" }, CopyAll: func() string { return "Copy all" },
		CopyLink: func() string { return "Copy address" }, SelectAll: func() string { return "Select all" },
	}
}

// shownIn puts a view in a window of a width and gives it back laid out.
func shownIn(t *testing.T, width, height float32, blocks ...*Block) *View {
	t.Helper()
	v := NewView(words())
	w := test.NewTempWindow(t, container.NewWithoutLayout(v))
	w.SetPadded(false)
	w.Resize(fyne.NewSize(width, height))
	v.SetBlocks(blocks)
	v.Resize(fyne.NewSize(width, v.HeightFor(width)))
	return v
}

func para0(s string) *Block { return &Block{Runs: []Run{{Text: s}}} }

func lineTexts(v *View) []string {
	var out []string
	for _, p := range v.paras {
		for _, l := range p.lines {
			out = append(out, p.plain[l.start:l.end])
		}
	}
	return out
}

func texts(v *View) []*canvas.Text {
	var out []*canvas.Text
	for _, o := range test.WidgetRenderer(v).Objects() {
		if t, ok := o.(*canvas.Text); ok {
			out = append(out, t)
		}
	}
	return out
}

func press(v *View, x, y float32, modifier fyne.KeyModifier) {
	v.MouseDown(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x, y)}, Button: desktop.MouseButtonPrimary, Modifier: modifier})
}

func drag(v *View, x, y float32) {
	v.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x, y)}})
}

func TestLinesBreakWhereUnicodeAllows(t *testing.T) {
	v := shownIn(t, 160, 400, para0("他说：“今天下午三点，我们在会议室讨论测试环境的部署问题。”English words stay whole; 价格是100元（含税）。"))
	lines := lineTexts(v)
	if len(lines) < 4 {
		t.Fatalf("got %d lines, want several", len(lines))
	}
	for _, l := range lines {
		first := []rune(l)[0]
		if strings.ContainsRune("，。”）；：", first) {
			t.Errorf("line %q begins with closing punctuation", l)
		}
		for _, word := range []string{"Englis", "wor", "stay whol"} {
			if strings.HasSuffix(l, word) {
				t.Errorf("line %q ends inside a word", l)
			}
		}
		if last := []rune(strings.TrimRight(l, " ")); strings.ContainsRune("“（", last[len(last)-1]) {
			t.Errorf("line %q ends with an opening mark", l)
		}
	}
}

func TestWordInTwoStylesStaysWhole(t *testing.T) {
	for width := float32(100); width < 300; width += 7 {
		v := shownIn(t, width, 400, &Block{Runs: []Run{{Text: "some words and a half"}, {Text: "bold", Bold: true}, {Text: "word中"}, {Text: "，end"}}})
		for _, l := range lineTexts(v) {
			if s := strings.TrimRight(l, " "); strings.HasSuffix(s, "half") || strings.HasSuffix(s, "halfbold") || strings.HasPrefix(l, "，") {
				t.Errorf("at %v a line is %q", width, l)
			}
		}
	}
}

func TestNoLineIsWiderThanTheView(t *testing.T) {
	text := "short " + strings.Repeat("x", 20000) + " 中文" + strings.Repeat("文", 3000) + "\tafter\ttabs " + strings.Repeat("ab ", 400)
	for _, width := range []float32{120, 333, 900} {
		v := shownIn(t, width, 400, para0(text))
		for _, p := range v.paras {
			for i := range p.lines {
				if w := p.lineWidth(&p.lines[i]); w > width+0.5 {
					t.Fatalf("width %v: line %d is %v wide", width, i, w)
				}
			}
		}
	}
}

func TestTextsDrawnStayShort(t *testing.T) {
	floods := map[string]string{
		"one word":   strings.Repeat("x", 20000),
		"marks":      "a" + strings.Repeat("\u0301", 50000) + "b",
		"zero width": strings.Repeat("\u200b", 20000) + "x" + strings.Repeat("\u2060", 20000),
		"joined":     strings.Repeat("👩\u200d", 5000),
		"spaces":     strings.Repeat(" ", 100000) + "x" + strings.Repeat(" ", 100000),
		"rtl":        strings.Repeat("العربية ", 3000),
		"invalid":    strings.Repeat("\xff\xfe\x80", 5000),
		"control":    strings.Repeat("\x00\x1b[31m\r", 3000),
		"tabs":       strings.Repeat("\t", 5000),
	}
	for name, s := range floods {
		for _, nowrap := range []bool{false, true} {
			v := shownIn(t, 300, 300, &Block{Runs: []Run{{Text: s}}, NoWrap: nowrap})
			if got := v.Plain(); got != s {
				t.Errorf("%s: the text came back changed", name)
			}
			for _, o := range texts(v) {
				if len(o.Text) > 4*pieceSize || o.MinSize().Width > 8000 {
					t.Errorf("%s: one object draws %d bytes, %v wide", name, len(o.Text), o.MinSize().Width)
				}
			}
			for i, l := range v.paras[0].lines {
				if l.end-l.start > 2*longLine {
					t.Errorf("%s: line %d has %d bytes", name, i, l.end-l.start)
				}
			}
		}
	}
}

func TestDraggingChoosesAcrossBlocksAndCopiesPlainText(t *testing.T) {
	v := shownIn(t, 400, 400,
		&Block{Runs: []Run{{Text: "first\tblock"}}, Source: "first\tblock\n\n", Group: 0},
		&Block{Runs: []Run{{Text: "one"}}, Marker: "•", Indent: 20, Source: "- one\n- two\n\n", Group: 1},
		&Block{Runs: []Run{{Text: "two"}}, Marker: "•", Indent: 20, Group: 1},
		&Block{Runs: []Run{{Text: "last"}}, Source: "**last**", Group: 2})
	w := v.paras[0].baseFace().width("fi")
	press(v, w, 5, 0)
	drag(v, 399, v.Size().Height-1)
	if got, want := v.SelectedText(), "rst\tblock\n\n• one\n• two\n\nlast"; got != want {
		t.Errorf("dragging copied %q, want %q", got, want)
	}
	if len(v.marks) == 0 {
		t.Error("nothing marks what is chosen")
	}
	var copied string
	v.Clipboard = func(s string) { copied = s }
	v.TypedShortcut(&fyne.ShortcutSelectAll{})
	v.TypedShortcut(&fyne.ShortcutCopy{})
	if want := "first\tblock\n\n- one\n- two\n\n**last**"; copied != want {
		t.Errorf("all blocks copied as %q, want their source %q", copied, want)
	}
	press(v, 0, 5, 0)
	drag(v, 399, float32(v.paras[2].y)+10)
	if got, want := v.SelectedText(), "first\tblock\n\n- one\n- two"; got != want {
		t.Errorf("two whole blocks copied as %q, want %q", got, want)
	}
	press(v, 0, 5, 0)
	drag(v, 399, float32(v.paras[1].y)+10)
	if got, want := v.SelectedText(), "first\tblock\n\n• one"; got != want {
		t.Errorf("half a list copied as %q, want %q", got, want)
	}
}

func TestClicksChooseWordsAndLines(t *testing.T) {
	v := shownIn(t, 400, 100, para0("alpha beta_gamma delta\nsecond 你好世界"))
	now := time.Unix(0, 0)
	v.Now = func() time.Time { return now }
	x := v.paras[0].baseFace().width("alpha be")
	for clicks, want := range []string{"", "beta_gamma", "alpha beta_gamma delta", ""} {
		press(v, x, 8, 0)
		v.Tapped(&fyne.PointEvent{Position: fyne.NewPos(x, 8)})
		now = now.Add(100 * time.Millisecond)
		if got := v.SelectedText(); got != want {
			t.Errorf("click %d chose %q, want %q", clicks+1, got, want)
		}
	}
	now = now.Add(time.Second)
	press(v, x, 8, 0)
	press(v, x, 8, 0)
	drag(v, v.paras[0].baseFace().width("alpha beta_gamma de"), 8)
	if got, want := v.SelectedText(), "beta_gamma delta"; got != want {
		t.Errorf("dragging after a double click chose %q, want %q", got, want)
	}
	now = now.Add(time.Second)
	press(v, 0, 8, 0)
	now = now.Add(time.Second)
	press(v, x, 8, fyne.KeyModifierShift)
	if got, want := v.SelectedText(), "alpha be"; got != want {
		t.Errorf("Shift and a click chose %q, want %q", got, want)
	}
}

func TestKeysExtendTheSelection(t *testing.T) {
	v := shownIn(t, 400, 100, para0("ab👩‍👩‍👧c\nsecond"), para0("third"))
	press(v, 0, 5, 0)
	key := func(names ...fyne.KeyName) {
		for _, n := range names {
			v.TypedKey(&fyne.KeyEvent{Name: n})
		}
	}
	key(fyne.KeyRight)
	if v.chosen() {
		t.Error("an arrow without Shift chose something")
	}
	v.KeyDown(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	steps := []struct {
		key  fyne.KeyName
		want string
	}{
		{fyne.KeyRight, "a"}, {fyne.KeyRight, "ab"}, {fyne.KeyRight, "ab👩‍👩‍👧"}, {fyne.KeyLeft, "ab"},
		{fyne.KeyEnd, "ab👩‍👩‍👧c"}, {fyne.KeyRight, "ab👩‍👩‍👧c\n"}, {fyne.KeyEnd, "ab👩‍👩‍👧c\nsecond"},
		{fyne.KeyDown, "ab👩‍👩‍👧c\nsecond\nthird"}, {fyne.KeyUp, ""}, {fyne.KeyHome, "ab👩‍👩‍👧c\n"},
	}
	for i, s := range steps {
		key(s.key)
		if got := v.SelectedText(); s.want != "" && got != s.want {
			t.Errorf("step %d (%s): chosen %q, want %q", i, s.key, got, s.want)
		}
	}
	handed := fyne.KeyName("")
	v.OnKey = func(ev *fyne.KeyEvent) { handed = ev.Name }
	key(fyne.KeyEscape)
	if v.chosen() || handed != "" {
		t.Error("Escape did not just let go of the selection")
	}
	key(fyne.KeyEscape)
	if handed != fyne.KeyEscape {
		t.Error("Escape with nothing chosen was not handed on")
	}
}

func TestOnlyWebLinksOpen(t *testing.T) {
	for _, c := range []struct {
		link string
		web  bool
	}{
		{"https://example.com/a", true}, {"HTTP://example.com", true}, {"javascript:alert(1)", false}, {"file:///etc/passwd", false},
		{"data:text/html,x", false}, {"//example.com", false}, {"https://", false}, {"mailto:a@b.c", false},
		{"https://bank.com@evil.org/", false}, {"steward://x", false}, {"http://[::1", false}, {" https://x.org", false},
	} {
		v := shownIn(t, 400, 100, &Block{Runs: []Run{{Text: "see "}, {Text: "the link", Link: c.link}}})
		var opened, hovered []string
		v.OnLink = func(u string) { opened = append(opened, u) }
		v.OnHover = func(u string) { hovered = append(hovered, u) }
		pos := fyne.NewPos(v.paras[0].baseFace().width("see the"), 10)
		v.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: pos}})
		press(v, pos.X, pos.Y, 0)
		v.Tapped(&fyne.PointEvent{Position: pos})
		v.MouseOut()
		if got := len(opened) == 1 && opened[0] == c.link; got != c.web || len(opened) > 1 {
			t.Errorf("%s: opened %q, want opening %v", c.link, opened, c.web)
		}
		if got := len(hovered) == 2 && hovered[0] == c.link && hovered[1] == ""; got != c.web {
			t.Errorf("%s: hover told %q", c.link, hovered)
		}
	}
}

func TestDraggingOverALinkDoesNotOpenIt(t *testing.T) {
	v := shownIn(t, 400, 100, &Block{Runs: []Run{{Text: "the link", Link: "https://example.com"}}})
	v.OnLink = func(u string) { t.Errorf("opened %s", u) }
	press(v, 2, 10, 0)
	drag(v, 40, 10)
	v.Tapped(&fyne.PointEvent{Position: fyne.NewPos(40, 10)})
	v.Tapped(&fyne.PointEvent{Position: fyne.NewPos(390, 90)})
}

func TestContextMenuSaysWhatItWasGiven(t *testing.T) {
	v := shownIn(t, 400, 100, para0("some text"))
	labels := func(link string) string {
		var all []string
		for _, i := range v.menu(link).Items {
			all = append(all, i.Label)
		}
		return strings.Join(all, ",")
	}
	if got := labels(""); got != "Copy all,Select all" {
		t.Errorf("menu with nothing chosen: %s", got)
	}
	v.SelectAll()
	if got := labels("https://x.org"); got != "Copy,Copy address,Copy all,Select all" {
		t.Errorf("menu with all chosen over a link: %s", got)
	}
	v.TappedSecondary(&fyne.PointEvent{Position: fyne.NewPos(5, 5)})
	if fyne.CurrentApp().Driver().CanvasForObject(v).Overlays().Top() == nil {
		t.Error("no menu came up")
	}
}

func TestMegabyteHasObjectsOnlyForWhatIsSeen(t *testing.T) {
	s := strings.Repeat("Some ordinary line of text with 中文 in it.\n", 24000)
	v := NewView(words())
	v.SetText(s, Run{})
	scroll := container.NewVScroll(v)
	w := test.NewTempWindow(t, scroll)
	w.Resize(fyne.NewSize(500, 400))
	v.Resize(fyne.NewSize(500, v.HeightFor(500)))
	scroll.Content.Refresh()
	software.RenderCanvas(w.Canvas(), theme.New("light"))
	if n := len(texts(v)); n == 0 || n > 300 {
		t.Fatalf("%d texts exist for a screen of some twenty lines", n)
	}
	scroll.Offset.Y = v.Size().Height / 2
	scroll.Content.Move(fyne.NewPos(0, -scroll.Offset.Y))
	software.RenderCanvas(w.Canvas(), theme.New("light"))
	seen := 0
	for _, o := range texts(v) {
		if y := o.Position().Y - v.Size().Height/2; y >= 0 && y < 400 {
			seen++
		}
	}
	if seen < 15 {
		t.Errorf("in the middle of the text only %d lines are drawn", seen)
	}
	v.SelectAll()
	if v.SelectedText() != s {
		t.Error("a megabyte came back changed")
	}
}

func TestSelectionStaysWhileTextGrows(t *testing.T) {
	v := shownIn(t, 400, 100, para0("first"), para0("sec"))
	press(v, 0, 5, 0)
	drag(v, 399, 10)
	first := v.paras[0].b
	v.SetBlocks([]*Block{first, para0("second grows")})
	if got := v.SelectedText(); got != "first" {
		t.Errorf("the selection became %q", got)
	}
}

func TestLabelCutsToItsWidth(t *testing.T) {
	l := NewLabel("一个 very long title\nwith a second line", Run{Bold: true}, Cut)
	test.NewTempWindow(t, container.NewWithoutLayout(l))
	for _, width := range []float32{20, 60, 100, 150, 1000} {
		l.Resize(fyne.NewSize(width, 21))
		var shown strings.Builder
		var right float32
		for _, o := range test.WidgetRenderer(l).Objects() {
			txt := o.(*canvas.Text)
			shown.WriteString(txt.Text)
			right = max(right, txt.Position().X+txt.MinSize().Width)
		}
		if right > width {
			t.Errorf("at %v it reaches to %v: %q", width, right, shown.String())
		}
		if whole := width == 1000; whole == strings.Contains(shown.String(), "…") {
			t.Errorf("at %v it shows %q", width, shown.String())
		}
	}
}
