package theme

import (
	"bytes"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	"golang.org/x/text/encoding/simplifiedchinese"

	"steward/assets"
)

var styles = map[string]Style{"regular": {}, "bold": {Bold: true}, "italic": {Italic: true}, "mono": {Mono: true}}

// gb2312 is every character of that standard, in the two-byte form that its codes give.
func gb2312(t *testing.T) []rune {
	t.Helper()
	var all []rune
	decoder := simplifiedchinese.GBK.NewDecoder()
	for row := byte(0xb0); row <= 0xf7; row++ {
		for cell := byte(0xa1); cell <= 0xfe; cell++ {
			text, err := decoder.Bytes([]byte{row, cell})
			if err != nil {
				t.Fatal(err)
			}
			r := []rune(string(text))
			if len(r) == 1 && r[0] >= 0x4e00 && r[0] <= 0x9fff {
				all = append(all, r[0])
			}
		}
	}
	if len(all) < 6763 {
		t.Fatalf("GB 2312 has 6,763 characters, %d were found", len(all))
	}
	return all
}

func TestChineseIsInEveryFont(t *testing.T) {
	t.Parallel()
	texts, err := assets.Texts("zh-Hans")
	if err != nil {
		t.Fatal(err)
	}
	wanted := append(gb2312(t), []rune("，。、；：？！“”‘’（）《》「」『』【】〈〉…—·～￥％＋０９ＡＺａｚ　")...)
	// Characters of the table of 8,105 that GB 2312 lacks, of each of its three parts; the last is outside the BMP.
	wanted = append(wanted, []rune("镕瞭啰哐祎珺喆堃翀昇犇垚𬱖湜赟燊䶮𬭛")...)
	for _, text := range texts {
		wanted = append(wanted, []rune(text)...)
	}
	for name, style := range styles {
		missing := 0
		for _, r := range wanted {
			if resource, family := FontFor(r, style); resource == nil || family == None {
				missing++
				t.Logf("%s lacks %c (%U)", name, r, r)
			}
		}
		if missing > 0 {
			t.Errorf("%s lacks %d characters", name, missing)
		}
	}
}

func TestOtherCharactersAreLeftToTheSystem(t *testing.T) {
	t.Parallel()
	for _, r := range "한हิ👩\u202e\ue000" {
		if resource, family := FontFor(r, Style{}); resource != nil || family != None {
			t.Errorf("%U is drawn by %s", r, family)
		}
	}
}

// TestWidgetsGetTheSameFont: what Fyne's widgets ask for is what FontFor gives, so both look alike and share caches.
func TestWidgetsGetTheSameFont(t *testing.T) {
	t.Parallel()
	for _, style := range []fyne.TextStyle{{}, {Bold: true}, {Italic: true}, {Bold: true, Italic: true}, {Monospace: true}, {Monospace: true, Bold: true}} {
		ours := Style{Bold: style.Bold, Italic: style.Italic, Mono: style.Monospace}
		for _, r := range "a国" {
			if got, _ := FontFor(r, ours); got != New(AlwaysLight).Font(style) {
				t.Errorf("%+v: %c is drawn by %v, the widgets use %v", style, r, got, New(AlwaysLight).Font(style))
			}
		}
	}
	if New(AlwaysLight).Font(fyne.TextStyle{Symbol: true}) == nil {
		t.Error("there is no font of symbols")
	}
}

func shape(t *testing.T, s Style, text string) shaping.Output {
	t.Helper()
	parsed, err := font.ParseTTF(bytes.NewReader(faceFor(s).resource.Content()))
	if err != nil {
		t.Fatal(err)
	}
	runes := []rune(text)
	var shaper shaping.HarfbuzzShaper
	return shaper.Shape(shaping.Input{
		Text: runes, RunEnd: len(runes), Direction: di.DirectionLTR, Face: parsed,
		Size: fixed.I(1000), Script: language.Latin, Language: "en",
	})
}

// TestNoTextIsShownAsAnother: a person decides over what is seen, so signs are neither joined nor exchanged.
func TestNoTextIsShownAsAnother(t *testing.T) {
	t.Parallel()
	for name, style := range styles {
		for _, text := range []string{"!=", "->", "=>", "===", "<=", "fi", "ffi", "10x20", "(c)", "1:2", "www", "|>", "::", "--", "0x1F", "<!--"} {
			out := shape(t, style, text)
			if len(out.Glyphs) != len([]rune(text)) {
				t.Errorf("%s draws %q with %d signs", name, text, len(out.Glyphs))
				continue
			}
			for i, r := range []rune(text) {
				if own, _ := out.Face.NominalGlyph(r); out.Glyphs[i].GlyphID != own {
					t.Errorf("%s draws the %q of %q as another sign", name, r, text)
				}
			}
		}
	}
}

func TestCodeStandsInColumns(t *testing.T) {
	t.Parallel()
	letter := shape(t, Style{Mono: true}, "a").Advance
	for _, r := range "iW0.|éЖΩ─│—…“" {
		if got := shape(t, Style{Mono: true}, string(r)).Advance; got != letter {
			t.Errorf("%q is %v wide, a letter %v", r, got, letter)
		}
	}
	for _, r := range "国，。（Ａ「あ" {
		if got := shape(t, Style{Mono: true}, string(r)).Advance; got != 2*letter {
			t.Errorf("%q is %v wide, two letters %v", r, got, 2*letter)
		}
	}
}

// TestLinesStandStill: no style and no script changes the height of a line or its baseline.
func TestLinesStandStill(t *testing.T) {
	app := test.NewTempApp(t)
	app.Settings().SetTheme(New(AlwaysLight))
	driver := fyne.CurrentApp().Driver()
	measure := func(text string, style fyne.TextStyle) (float32, float32) {
		size, baseline := driver.RenderedTextSize(text, TextSize, style, nil)
		return size.Height, baseline
	}
	height, baseline := measure("Latin", fyne.TextStyle{})
	if height < 1.2*TextSize || height > 1.4*TextSize {
		t.Errorf("a line of %v is %v high", TextSize, height)
	}
	for _, style := range []fyne.TextStyle{{}, {Bold: true}, {Italic: true}} {
		for _, text := range []string{"Latin", "汉字", "mixed 汉字 g"} {
			if h, b := measure(text, style); h != height || b != baseline {
				t.Errorf("%q in %+v is %v high with its baseline at %v, not %v and %v", text, style, h, b, height, baseline)
			}
		}
	}
}
