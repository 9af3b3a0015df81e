package theme

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"image/color"
	"math"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	fynetheme "fyne.io/fyne/v2/theme"
	"go.uber.org/goleak"
)

// grounds are the colours that text may stand on.
var grounds = []fyne.ThemeColorName{Ground, Side, Card, AccentTint, WaitingTint, RefusalTint, GoodTint, CodeGround}

func isDark() bool { return current().effective(appVariant()) == fynetheme.VariantDark }

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// luminance and contrast are the formulas of WCAG 2.2.
func luminance(c color.NRGBA) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func contrast(a, b color.NRGBA) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// over is what is seen of a translucent colour on a ground.
func over(top, ground color.NRGBA) color.NRGBA {
	mix := func(t, g uint8) uint8 {
		a := float64(top.A) / 255
		return uint8(math.Round(float64(t)*a + float64(g)*(1-a)))
	}
	return color.NRGBA{R: mix(top.R, ground.R), G: mix(top.G, ground.G), B: mix(top.B, ground.B), A: 0xff}
}

var palettes = map[string]palette{"light": light, "dark": dark}

func TestContrastFormula(t *testing.T) {
	t.Parallel()
	if got := contrast(rgb(0), rgb(0xffffff)); math.Abs(got-21) > 0.001 {
		t.Errorf("black on white is 21 : 1, not %.3f", got)
	}
	if got := contrast(rgb(0x777777), rgb(0xffffff)); math.Abs(got-4.478) > 0.001 {
		t.Errorf("777777 on white is 4.478 : 1, not %.3f", got)
	}
}

func TestTextIsReadable(t *testing.T) {
	t.Parallel()
	words := []fyne.ThemeColorName{Text, Dim, Accent, Waiting, Refusal, Good}
	syntax := []fyne.ThemeColorName{SynKeyword, SynString, SynNumber, SynComment, SynName, SynType, SynPunct}
	filled := map[fyne.ThemeColorName]fyne.ThemeColorName{OnAccent: Accent, OnWaiting: Waiting, OnRefusal: Refusal, OnGood: Good}
	for name, p := range palettes {
		readable := func(text, ground fyne.ThemeColorName, on color.NRGBA) {
			t.Helper()
			if got := contrast(p[text], on); got < 4.5 {
				t.Errorf("%s: %s on %s has a contrast of %.2f : 1", name, text, ground, got)
			}
		}
		for _, ground := range grounds {
			for _, text := range words {
				readable(text, ground, p[ground])
			}
			readable(Text, "hovered "+ground, over(p[Hover], p[ground]))
			readable(Text, "selected "+ground, over(p[Mark], p[ground]))
		}
		for _, text := range syntax {
			readable(text, CodeGround, p[CodeGround])
			readable(text, Card, p[Card])
		}
		for text, ground := range filled {
			readable(text, ground, p[ground])
		}
		readable(Text, "button", p[fynetheme.ColorNameButton])
		readable(Text, "pressed button", over(p[fynetheme.ColorNamePressed], p[fynetheme.ColorNameButton]))
		readable(Dim, "disabled button", p[fynetheme.ColorNameDisabledButton])
	}
}

// TestColoursAreTheDesigns keeps the palettes on the design's table. Where its text colour is too faint for a ground it
// stands on, ours may be darker, but not by more than the eye notices beside it.
func TestColoursAreTheDesigns(t *testing.T) {
	t.Parallel()
	design := map[fyne.ThemeColorName][2]uint32{
		Ground: {0xF7F7F4, 0x17191C}, Side: {0xEEEEE9, 0x1D2024}, Card: {0xFFFFFF, 0x23272C},
		Text: {0x1E2328, 0xE4E7EA}, Dim: {0x6B737C, 0x98A1AA}, Line: {0xDEDED7, 0x343A41},
		Accent: {0x0F766E, 0x4FC3B5}, AccentTint: {0xE3F1EF, 0x1C3936},
		Waiting: {0xB45309, 0xF0A94A}, WaitingTint: {0xFDF3E2, 0x3A2E1A},
		Refusal: {0xB3261E, 0xF28B82}, RefusalTint: {0xFBE9E7, 0x40211F},
		Good: {0x2E7D32, 0x81C995}, CodeGround: {0xF1F1EC, 0x1B1E22},
	}
	for name, want := range design {
		for i, p := range []palette{light, dark} {
			got, designed := p[name], rgb(want[i])
			if got == designed {
				continue
			}
			faint := false
			for _, ground := range grounds {
				faint = faint || contrast(designed, p[ground]) < 4.5
			}
			off := max(distance(got.R, designed.R), distance(got.G, designed.G), distance(got.B, designed.B))
			if i == 1 || !faint || off > 10 {
				t.Errorf("%s is %v, the design has %v", name, got, designed)
			}
		}
	}
}

func distance(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }

func TestEveryColourNameIsDefined(t *testing.T) {
	for _, variant := range []string{FollowSystem, AlwaysLight, AlwaysDark} {
		test.AssertAllColorNamesDefined(t, New(variant), variant)
	}
	ours := constants(t, ".", "fyne.ThemeColorName")
	if len(ours) < 25 {
		t.Fatalf("only %d names of our own were found", len(ours))
	}
	for name := range ours {
		for variant, p := range palettes {
			if _, ok := p[fyne.ThemeColorName(name)]; !ok {
				t.Errorf("%s has no colour %s", variant, name)
			}
		}
	}
}

// constants reads the string constants of a type from a package's source, so that a name added there is missed here.
func constants(t *testing.T, dir, typ string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Type == nil || typeName(spec.Type) != typ || len(spec.Values) == 0 {
				return true
			}
			if value, ok := spec.Values[0].(*ast.BasicLit); ok {
				found[strings.Trim(value.Value, `"`)] = true
			}
			return true
		})
	}
	return found
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return fmt.Sprintf("%v.%s", e.X, e.Sel.Name)
	}
	return ""
}

func TestEverySizeNameIsDefined(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "fyne.io/fyne/v2/theme").Output()
	if err != nil {
		t.Fatalf("Fyne's theme package is not found: %v", err)
	}
	names := constants(t, strings.TrimSpace(string(out)), "fyne.ThemeSizeName")
	if len(names) < 25 {
		t.Fatalf("only %d sizes of Fyne were found", len(names))
	}
	for name := range names {
		if _, ok := sizes[fyne.ThemeSizeName(name)]; !ok {
			t.Errorf("the size %s is left to Fyne", name)
		}
	}
}

func TestVariants(t *testing.T) {
	app := test.NewTempApp(t)
	for _, c := range []struct {
		choice string
		system fyne.ThemeVariant
		dark   bool
	}{
		{AlwaysLight, fynetheme.VariantDark, false},
		{AlwaysDark, fynetheme.VariantLight, true},
		{FollowSystem, fynetheme.VariantLight, false},
		{FollowSystem, fynetheme.VariantDark, true},
		{"nonsense", fynetheme.VariantDark, true},
	} {
		want := light
		if c.dark {
			want = dark
		}
		if got := New(c.choice).Color(fynetheme.ColorNameBackground, c.system); got != color.Color(want[Ground]) {
			t.Errorf("%s while the system is %d: the ground is %v", c.choice, c.system, got)
		}
	}

	app.Settings().SetTheme(New(AlwaysDark))
	if !isDark() || Color(Text) != color.Color(dark[Text]) {
		t.Error("Color does not follow the theme in use")
	}
	quiet := Quiet()
	if quiet.Color(fynetheme.ColorNameForeground, fynetheme.VariantLight) != color.Color(dark[Text]) {
		t.Error("a quiet input changes its colours")
	}
	if _, _, _, alpha := quiet.Color(fynetheme.ColorNameInputBorder, 0).RGBA(); alpha != 0 {
		t.Error("a quiet input has a border")
	}
	if quiet.Size(fynetheme.SizeNameInputBorder) != 0 || New(AlwaysDark).Size(fynetheme.SizeNameInputBorder) == 0 {
		t.Error("only a quiet input goes without a border")
	}
	app.Settings().SetTheme(New(AlwaysLight))
	if isDark() || Color(Text) != color.Color(light[Text]) {
		t.Error("Color does not follow a change of the theme")
	}
}
