package text

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/ui/theme"
)

// checkLayout says what holds of any text at any width.
func checkLayout(t *testing.T, blocks []*Block, width float32) {
	t.Helper()
	v := NewView(words())
	v.SetBlocks(blocks)
	v.Resize(fyne.NewSize(width, v.HeightFor(width)))
	test.WidgetRenderer(v).Objects()
	for _, p := range v.paras {
		checkPara(t, p)
	}
	for x := float32(-5); x < width+50; x += width/5 + 10 {
		for y := -20.0; y < v.height+40; y += v.height/6 + 5 {
			at := v.placeAt(x, y)
			if at != v.clamp(at) {
				t.Fatalf("the point %v,%v gives the place %v outside the text", x, y, at)
			}
			v.linkAt(fyne.NewPos(x, float32(y)))
		}
	}
	for _, key := range []fyne.KeyName{fyne.KeyRight, fyne.KeyDown, fyne.KeyEnd, fyne.KeyLeft, fyne.KeyUp, fyne.KeyHome, fyne.KeyDown, fyne.KeyDown, fyne.KeyRight} {
		v.move(key, true)
		if v.sel.caret != v.clamp(v.sel.caret) {
			t.Fatalf("%s moved the caret to %v, outside the text", key, v.sel.caret)
		}
		v.SelectedText()
	}
	v.SelectAll()
}

func checkPara(t *testing.T, p *para) {
	t.Helper()
	next := map[int32]int32{}
	for i := range p.lines {
		l := &p.lines[i]
		h := p.hard[l.hard]
		want, ok := next[l.hard]
		if !ok {
			want = int32(h.start)
		}
		if l.start != want || l.end < l.start || int(l.end) > h.end {
			t.Fatalf("line %d holds bytes %d to %d of %q, want it to begin at %d", i, l.start, l.end, p.plain, want)
		}
		next[l.hard] = l.end
		var drawn strings.Builder
		for _, pc := range p.pieces(l, nil) {
			drawn.WriteString(p.plain[pc.start:pc.end])
		}
		if got, want := drawn.String(), strings.ReplaceAll(p.plain[l.start:l.end], "\t", ""); got != want {
			t.Fatalf("line %d draws %q, want %q", i, got, want)
		}
		for _, o := range []int{int(l.start), (int(l.start) + int(l.end)) / 2, int(l.end)} {
			if at := p.offsetAt(l, p.xAt(l, o)); at < int(l.start) || at > int(l.end) {
				t.Fatalf("byte %d of line %d is found again as %d", o, i, at)
			}
		}
	}
	for i := range p.hard[:p.visibleHard()] {
		if p.b.Object == nil && !p.b.Rule && next[int32(i)] != int32(p.hard[i].end) {
			t.Fatalf("the lines of source line %d end at %d, want %d", i, next[int32(i)], p.hard[i].end)
		}
	}
}

func FuzzLayout(f *testing.F) {
	for _, s := range []string{
		"", "\n", "\n\n a\tb\t\tc \n", "plain words", "混排 mixed 文字，标点。", "👩‍👩‍👧🇳🇴ﷺ العربية हिन्दी", "\xff\xc3\x28 \x00",
		strings.Repeat("x", 5000), strings.Repeat(" ", 3000) + "x", strings.Repeat("a\u0301", 3000), "a\u2028b\u0085c\vd\fe",
	} {
		f.Add(s, uint16(200), uint8(0))
		f.Add(s, uint16(1), uint8(7))
	}
	f.Fuzz(func(t *testing.T, s string, width uint16, shape uint8) {
		if len(s) > 20000 {
			return
		}
		cut := runeStart(s, len(s)/2)
		runs := []Run{{Text: s[:cut]}, {Text: s[cut:], Bold: true, Link: "https://example.com", Ground: theme.CodeGround}}
		b := &Block{Runs: runs, NoWrap: shape&1 != 0, Code: shape&2 != 0, Number: shape&4 != 0, Fold: int(shape & 8)}
		blocks := []*Block{b, {Rule: true}}
		if shape&16 != 0 {
			cell := Cell{{Text: strings.NewReplacer("\n", " ").Replace(s)}}
			blocks = append(blocks, &Block{Table: &Table{Rows: [][]Cell{{cell, nil}, {nil, cell}}, Align: []fyne.TextAlign{1, 2}}})
		}
		checkLayout(t, blocks, float32(width%1500)+1)
	})
}

// What a growing text is worked out to must not depend on how it grew.
func TestGrowingGivesWhatAtOnceGives(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"word ", "两个 ", "\n", "\t", "x", "👩‍👩‍👧", "a\u0301", "\n\n", "长句，", strings.Repeat("y", 80)}
	for range 30 {
		grown := NewView(words())
		s := ""
		for range 40 {
			s += parts[random.IntN(len(parts))]
			grown.SetText(s, Run{})
			grown.HeightFor(130)
		}
		once := NewView(words())
		once.SetText(s, Run{})
		once.HeightFor(130)
		if a, b := strings.Join(lineTexts(grown), "|"), strings.Join(lineTexts(once), "|"); a != b {
			t.Fatalf("grown to %q\nat once  %q", a, b)
		}
	}
}

func TestAnotherWidthBreaksAnewAndTheSameDoesNot(t *testing.T) {
	v := shownIn(t, 200, 100, para0(strings.Repeat("some words ", 40)))
	narrowLines := len(v.paras[0].lines)
	first := texts(v)[0]
	v.Resize(fyne.NewSize(200, 700))
	if texts(v)[0] != first {
		t.Error("another height made the texts anew")
	}
	v.Resize(fyne.NewSize(600, 700))
	if n := len(v.paras[0].lines); n >= narrowLines {
		t.Errorf("%d lines at 600, %d at 200", n, narrowLines)
	}
}

func TestTableKeepsNaturalWidthsUntilItMustShare(t *testing.T) {
	cell := func(s string) Cell { return Cell{{Text: s}} }
	b := &Block{Table: &Table{Rows: [][]Cell{{cell("#"), cell("Risk")}, {cell("1"), cell(strings.Repeat("a long description ", 8))}}}}
	v := shownIn(t, 2000, 200, b)
	p := v.paras[0]
	if total := p.columns[0] + p.columns[1]; total > 1500 || len(p.lines) != 4 {
		t.Errorf("with room enough the table is %v wide and has %d lines", total, len(p.lines))
	}
	natural := p.columns[0]
	v.Resize(fyne.NewSize(300, v.HeightFor(300)))
	if total := p.columns[0] + p.columns[1]; total > 300.5 || p.columns[0] != natural || len(p.lines) < 6 {
		t.Errorf("at 300 the columns are %v and there are %d lines", p.columns, len(p.lines))
	}
	press(v, 0, 3, 0)
	drag(v, 299, v.Size().Height-2)
	if got, want := v.SelectedText(), p.plain; got != want {
		t.Errorf("the whole table copies as %q, want %q", got, want)
	}
}

func TestWidthsAreBoundedAndExact(t *testing.T) {
	f := NewView(words()).faceForTest()
	for i := range 3 * cacheSize {
		f.young[fmt.Sprint(i)] = 1
		if i%100 == 0 {
			f.width(string(rune('一' + i/100)))
		}
	}
	if n := len(f.young) + len(f.old); n > 2*cacheSize {
		t.Errorf("%d widths are kept", n)
	}
	for _, s := range []string{"Hello", "测试", "W"} {
		want := fyne.MeasureText(s, f.size, f.style).Width
		if f.source != nil {
			size, _ := fyne.CurrentApp().Driver().RenderedTextSize(s, f.size, f.style, f.source)
			want = size.Width
		}
		if got := f.width(s); got != want {
			t.Errorf("%q is %v wide, want %v", s, got, want)
		}
	}
}

func (v *View) faceForTest() *face { return newPara(&Block{}, nil).baseFace() }

func TestPaneShowsAnyLineOfFiveMegabytes(t *testing.T) {
	var b strings.Builder
	lines := 0
	for b.Len() < 5<<20 {
		b.WriteString("a line of a long log 日志\n")
		lines++
	}
	p := NewPane(words())
	w := test.NewTempWindow(t, p)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(500, 300))
	p.SetBlocks([]*Block{{Runs: []Run{{Text: b.String() + "the last"}}, Code: true, NoWrap: true, Number: true}})
	if n := len(texts(p.View())); n > 100 {
		t.Errorf("%d texts for a pane of 300 pixels", n)
	}
	p.ScrollTo(0, p.Height())
	var last []string
	for _, o := range texts(p.View()) {
		last = append(last, o.Text)
	}
	if got := strings.Join(last, "|"); !strings.Contains(got, "the last") {
		t.Errorf("at the end it shows %q", got)
	}
	beyond := 0
	p.OnBeyond = func(*fyne.ScrollEvent) { beyond++ }
	p.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -30)})
	p.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, 30)})
	if beyond != 1 {
		t.Errorf("the wheel went beyond %d times, want once: at the end, not on the way back", beyond)
	}
	p.ScrollToLine(lines / 2)
	if p.Top() < p.Height()*0.45 || p.Top() > p.Height()*0.55 {
		t.Errorf("the middle line is at %v of %v", p.Top(), p.Height())
	}
	p.View().SelectAll()
	if p.View().SelectedText() != b.String()+"the last" {
		t.Error("the text came back changed")
	}
}

// A text full of characters that no font has must not have Fyne search the system's fonts for each of them.
func TestCharactersWithoutAGlyphAreNotAllSearchedFor(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		b.WriteRune(rune(0x100000 + i)) // private use, plane 16
		b.WriteRune(rune(0x40000 + i))  // assigned to nothing
	}
	v := shownIn(t, 500, 100, para0(b.String()))
	searched := 0
	for _, s := range v.paras[0].spans {
		if !s.face.blank && s.face.source == nil {
			searched += len([]rune(v.paras[0].plain[s.start:s.end]))
		}
	}
	if limit := 3000/256*rowProbes + 2*rowProbes; searched > limit {
		t.Errorf("%d characters were left to Fyne's search, want at most %d", searched, limit)
	}
	for _, o := range texts(v)[5:] {
		if strings.ContainsRune(o.Text, 0x100000+2000) {
			t.Errorf("%q is drawn although it has no glyph", o.Text)
		}
	}
	v.SelectAll()
	if v.SelectedText() != b.String() {
		t.Error("they are not copied as they are")
	}
}

func TestColoursFollowTheTheme(t *testing.T) {
	v := shownIn(t, 300, 100, para0("text"))
	light := texts(v)[0].Color
	defer fyne.CurrentApp().Settings().SetTheme(theme.New("light"))
	fyne.CurrentApp().Settings().SetTheme(theme.New("dark"))
	v.Refresh()
	if texts(v)[0].Color == light {
		t.Error("the text kept the colour of the theme before")
	}
}
