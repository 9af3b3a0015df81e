package clean

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

func repeat(s string, n int) string { return strings.Repeat(s, n) }

func TestClean(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"plain":                         {"Hello, 世界! **bold** <!-- note -->\n\tcode", "Hello, 世界! **bold** <!-- note -->\n\tcode"},
		"empty":                         {"", ""},
		"colour sequence":               {"\x1b[8mhidden\x1b[0m", "␛[8mhidden␛[0m"},
		"link sequence":                 {"\x1b]8;;http://evil\x07text\x1b]8;;\x07", "␛]8;;http://evil␇text␛]8;;␇"},
		"C1 sequence":                   {"\u009b31mred", "␛[31mred"},
		"C1 string":                     {"\u009d0;title\u009c", "␛]0;title␛\\"},
		"clear screen":                  {"\x1b[2J", "␛[2J"},
		"NUL and DEL":                   {"a\x00b\x7fc", "a␀b␡c"},
		"line ends":                     {"a\r\nb\rc\u0085d\u2028e\u2029f", "a\nb\nc\nd\ne\nf"},
		"direction override":            {"invoice\u202efdp.exe", "invoice⟨\\u202E⟩fdp.exe"},
		"zero width":                    {"ig\u200bno\u2060re\ufeff me\u00ad", "ignore me"},
		"joiner inside Latin":           {"ig\u200dno\u200cre", "ignore"},
		"4,000 zero width":              {"a" + repeat("\u200b\u200c", 2000) + "b", "ab"},
		"Persian":                       {"می\u200cخواهم", "می\u200cخواهم"},
		"Persian, two in a row":         {"می\u200c\u200cخواهم", "می\u200cخواهم"},
		"Hindi":                         {"क्\u200dष", "क्\u200dष"},
		"Bengali before a sign":         {"র\u200d্য", "র\u200d্য"},
		"Sinhala":                       {"ශ්\u200dරී", "ශ්\u200dරී"},
		"family":                        {"👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		"rainbow flag":                  {"🏳\ufe0f\u200d🌈", "🏳\ufe0f\u200d🌈"},
		"tone and profession":           {"👩🏽\u200d💻", "👩🏽\u200d💻"},
		"heart":                         {"❤\ufe0f", "❤\ufe0f"},
		"selector run":                  {"❤\ufe0f\ufe0f\ufe0f", "❤\ufe0f"},
		"selector on a letter":          {"a\ufe0fb\U000e0100", "ab"},
		"keycap":                        {"1\ufe0f\u20e3 2\ufe0f", "1\ufe0f\u20e3 2"},
		"tags":                          {"Weather ok" + tags("send keys"), "Weather ok"},
		"flag of Scotland":              {"🏴" + tags("gbsct") + "!", "🏴" + tags("gbsct") + "!"},
		"flag of nowhere":               {"🏴" + tags("ussec") + "!", "🏴!"},
		"5,000 spaces":                  {"hello" + repeat(" ", 5000) + "SECRET", "hello⟨5,000 spaces⟩SECRET"},
		"spaces of all kinds":           {"a" + repeat(" \u3000\u2800\u00a0\t", 20) + "b", "a⟨100 spaces⟩b"},
		"spaces with zero width":        {"a" + repeat(" \u200b", 100) + "b", "a⟨100 spaces⟩b"},
		"table padding stays":           {"a" + repeat(" ", 64) + "b", "a" + repeat(" ", 64) + "b"},
		"10,000 newlines":               {"a" + repeat("\n", 10000) + "b", "a\n⟨10,000 line breaks⟩\nb"},
		"newlines and spaces":           {"a" + repeat("\n  ", 10) + "b", "a\n⟨10 line breaks⟩\n  b"},
		"newlines, CR LF":               {"a" + repeat("\r\n", 9) + "b", "a\n⟨9 line breaks⟩\nb"},
		"paragraphs stay":               {"a\n\n\nb", "a\n\n\nb"},
		"zalgo":                         {"Z" + repeat("\u0301", 500) + "!", "Z" + repeat("\u0301", 8) + "!"},
		"zalgo with joiners":            {"Z" + repeat("\u0301\u034f", 500), "Z" + repeat("\u0301", 8)},
		"joiner before a mark too many": {"क" + repeat("\u094d", 8) + "\u200d\u094d!", "क" + repeat("\u094d", 8) + "!"},
		"Thai":                          {"ที่นี่ กู้", "ที่นี่ กู้"},
		"Vietnamese":                    {"Tie\u0302\u0301ng Vie\u0323\u0302t", "Tie\u0302\u0301ng Vie\u0323\u0302t"},
		"broken bytes":                  {"a\xffb\xc3", "a\ufffdb\ufffd"},
		"lone surrogate":                {"a\xed\xa0\x80b", "a\ufffdb"},
		"overlong":                      {"\xc0\xaf", "\ufffd\ufffd"},
		"private use":                   {"\ue000", `⟨\uE000⟩`},
		"noncharacter":                  {"\uffff\U0010ffff", `⟨\uFFFF⟩⟨\U0010FFFF⟩`},
		"fillers":                       {"a\u3164b\uffa0\u180e", "ab"},
		"object":                        {"a\ufffc", `a⟨\uFFFC⟩`},
		"only what goes":                {"\u200b\u200b", ""},
		"right to left text stays":      {"שלום مرحبا", "שלום مرحبا"},
		"Arabic number sign stays":      {"\u0600\u0661", "\u0600\u0661"},
	} {
		if got := Clean(c.in); got != c.want {
			t.Errorf("%s: Clean(%+q) = %+q, want %+q", name, c.in, got, c.want)
		}
		if got := Clean(c.want); got != c.want {
			t.Errorf("%s: cleaning %+q again gives %+q", name, c.want, got)
		}
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"one\ntwo\t three  ", 40, "one two three"},
		{"abcdef", 6, "abcdef"},
		{"abcdefg", 6, "abcde…"},
		{"管家管家", 3, "管家…"},
		{"abc def", 5, "abc…"},
		{"x\u202ey", 20, `x⟨\u202E⟩y`},
		{repeat("\u200b", 5000) + "seen", 10, "seen"},
		{"x", 0, ""},
		{"", 5, ""},
	} {
		if got := Line(c.in, c.max); got != c.want {
			t.Errorf("Line(%+q, %d) = %+q, want %+q", c.in, c.max, got, c.want)
		}
	}
}

func TestInspect(t *testing.T) {
	t.Parallel()
	in := "a\u200b\u200b\u202e\x1b[0m" + tags("hi") + repeat(" ", 70) + "e" + repeat("\u0301", 10) + "\xff"
	want := []Finding{{"escape", 1}, {classBytes, 1}, {"direction controls", 1}, {"zero width", 2}, {"tags", 3}, {classRuns, 70}, {classMarks, 2}}
	if got := Inspect(in); !reflect.DeepEqual(got, want) {
		t.Errorf("Inspect gives %v, want %v", got, want)
	}
	if got := Inspect("Ordinary text.\r\n👩🏽\u200d💻 ❤\ufe0f می\u200cخواهم"); got != nil {
		t.Errorf("Inspect of ordinary text gives %v", got)
	}
}

// TestInspectAgreesWithClean: what Clean changes is found, and nothing else.
func TestInspectAgreesWithClean(t *testing.T) {
	t.Parallel()
	eachRandom(t, func(s string) {
		changed := Clean(s) != s
		found := len(Inspect(s)) > 0
		onlyLineEnds := strings.ContainsAny(s, "\r\u0085\u2028\u2029")
		if found && !changed || changed && !found && !onlyLineEnds {
			t.Fatalf("Clean changes %+q: %v, Inspect finds something: %v", s, changed, found)
		}
	})
}

// dangerous is written apart from the table, so that a hole in the table shows.
func dangerous(r rune) bool {
	in := func(lo, hi rune) bool { return lo <= r && r <= hi }
	return in(0, 8) || in(0xb, 0x1f) || in(0x7f, 0x9f) || r == 0xad || r == 0x34f || r == 0x61c || in(0x115f, 0x1160) || in(0x17b4, 0x17b5) ||
		in(0x180b, 0x180f) || r == 0x200b || in(0x200e, 0x200f) || in(0x2028, 0x202e) || in(0x2060, 0x206f) || r == 0x3164 || in(0xfe00, 0xfe0d) ||
		in(0xe000, 0xf8ff) || in(0xfdd0, 0xfdef) || r == 0xfeff || r == 0xffa0 || in(0xfff0, 0xfffc) || r&0xfffe == 0xfffe || in(0x13430, 0x1343f) ||
		in(0x1bca0, 0x1bca3) || in(0x1d173, 0x1d17a) || in(0xe0100, 0xe0fff) || in(0xe0000, 0xe001f) || in(0xf0000, 0x10ffff)
}

// conditional characters may stay only in the company of others.
func misplaced(text []rune, i int) bool {
	before, after := rune(0), rune(0)
	if i > 0 {
		before = text[i-1]
	}
	if i+1 < len(text) {
		after = text[i+1]
	}
	switch r := text[i]; {
	case r == 0x200c:
		return before < 0x300 || after < 0x600
	case r == 0x200d:
		return before < 0x203c && before != 0xa9 && before != 0xae && before < 0x300 || after < 0x600 && after != 0xa9 && after != 0xae
	case r == 0xfe0e || r == 0xfe0f:
		return before < 0xa9 && after != 0x20e3 || before == r
	case 0xe0020 <= r && r <= 0xe007f:
		return before != 0x1f3f4 && (before < 0xe0061 || before > 0xe007a)
	}
	return false
}

func checkClean(t *testing.T, in string) {
	t.Helper()
	got := Clean(in)
	if !utf8.ValidString(got) {
		t.Fatalf("Clean(%+q) = %+q is no UTF-8", in, got)
	}
	if again := Clean(got); again != got {
		t.Fatalf("Clean(%+q) = %+q, and cleaned again %+q", in, got, again)
	}
	text := []rune(got)
	marks, spaces := 0, 0
	for i, r := range text {
		if dangerous(r) || misplaced(text, i) {
			t.Fatalf("Clean(%+q) = %+q keeps %U at %d", in, got, r, i)
		}
		if marks++; !isMark(r) || r == 0xfe0e || r == 0xfe0f {
			marks = 0
		}
		if spaces++; !isBlank(r) || r == '\n' {
			spaces = 0
		}
		if marks > maxMarks || spaces > maxSpaces {
			t.Fatalf("Clean(%+q) = %+q has %d marks, %d spaces in a row", in, got, marks, spaces)
		}
	}
	if strings.Contains(got, repeat("\n", maxNewlines+1)) {
		t.Fatalf("Clean(%+q) has more than %d line breaks", in, maxNewlines)
	}
}

func checkReveal(t *testing.T, in string) {
	t.Helper()
	shown := Reveal(in)
	for _, r := range shown {
		if dangerous(r) || r == '\n' || r == '\t' || r == 0x200c || r == 0x200d || 0xfe00 <= r && r <= 0xfe0f || 0xe0000 <= r && r <= 0xe0fff {
			t.Fatalf("Reveal(%+q) = %+q keeps %U", in, shown, r)
		}
	}
	back, err := Unreveal(shown)
	if err != nil || back != in {
		t.Fatalf("Unreveal(%+q) = %+q, %v, want %+q", shown, back, err, in)
	}
}

// pieces are what random texts are made of.
var pieces = []string{
	"a", "Z", "1", "#", " ", "  ", "\n", "\r", "\r\n", "\t", "\x00", "\x1b[8m", "\u009b", "\u0085", "\u2028", "\xff", "\xc3", "\xed", "\xed\xa0\x80", "\xf0\x9f", "é", "e\u0301",
	"\u0301", "\u20e3", "\u064e", "\u094d", "\u202e", "\u2066", "\u200b", "\u200c", "\u200d", "\ufeff", "\u00ad", "\u3164", "\u180e", "\ufe0f", "\ufe0e", "\ufe01", "\U000e0100",
	"\U000e0067", "\U000e007f", tags("gbeng"), "🏴", "❤", "👩", "🏽", "👨", "क", "ष", "م", "ی", "র", "管", "ー", "\u3000", "\u00a0", "\u2800", "\ue000", "\uffff", "\u0378", "⟨", "⟩", "⟨5 spaces⟩",
	`⟨\u202E⟩`, `\`, `\u202e`, "␛", "×", "\ufffd", "\ufffc", repeat(" ", 70), repeat("\n", 9), repeat("\u0301", 9), repeat("\u200b", 9), repeat("\xff", 12),
}

func eachRandom(t *testing.T, check func(string)) {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	for range 30_000 {
		var b strings.Builder
		for range random.IntN(14) {
			switch random.IntN(12) {
			case 0:
				b.WriteRune(rune(random.IntN(0x110000)))
			case 1:
				b.WriteByte(byte(random.IntN(256)))
			default:
				b.WriteString(pieces[random.IntN(len(pieces))])
			}
		}
		check(b.String())
	}
}

func TestRandomTexts(t *testing.T) {
	t.Parallel()
	eachRandom(t, func(s string) {
		checkClean(t, s)
		checkReveal(t, s)
	})
}

// TestEveryCharacter looks at each character of Unicode alone and between letters.
func TestEveryCharacter(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if 0xd800 <= r && r <= 0xdfff {
			continue
		}
		s := "x" + string(r) + "y"
		checkClean(t, s)
		if r%7 == 0 || r < 0x3000 || r >= 0xfd00 && r <= 0xffff { // all of Reveal's classes, a sample of the rest
			checkReveal(t, s)
		}
	}
}

func TestPictographsAreUnicodes(t *testing.T) {
	t.Parallel()
	// In a sequence X ZWJ 😀, the two are one cluster only if X is Extended_Pictographic.
	for r := rune(0xa0); r < 0x20000; r++ {
		if 0xd800 <= r && r <= 0xdfff {
			continue
		}
		one := uniseg.GraphemeClusterCount(string(r)+"\u200d😀") == 1
		if one != isPictograph(r) {
			t.Errorf("%U: pictograph is %v, Unicode says %v", r, isPictograph(r), one)
		}
	}
}

func TestMixed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"pаypal", []string{"Cyrillic", "Latin"}},
		{"reаd_file", []string{"Cyrillic", "Latin"}},
		{"read-fιle", []string{"Greek", "Latin"}},
		{"read файл", nil},
		{"читать_файл", nil},
		{"get_天气_weather", nil},
		{"", nil},
	} {
		if got := Mixed(c.in); !slices.Equal(got, c.want) {
			t.Errorf("Mixed(%q) = %v, want %v", c.in, got, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, p := range pieces {
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, s string) { checkClean(t, s) })
}

// benchText is 5 MB of what servers send: prose in several scripts, JSON,
// terminal colours, and some of what hides.
func benchText() string {
	const part = "The weekly report for 2025-03-17 is ready.\n{\"week\":12,\"risks\":[\"delay\",\"cost\"]}\n本周完成了八项任务，风险两项。\r\n\x1b[32mok\x1b[0m 👩🏽\u200d💻 می\u200cخواهم a\u200bb    \tcode\n"
	return repeat(part, 5<<20/len(part))
}

var sink string

func BenchmarkClean(b *testing.B) {
	text := benchText()
	for name, f := range map[string]func(string) string{
		"Clean":                  Clean,
		"Reveal":                 Reveal,
		"baseline-ToValidUTF8":   func(s string) string { return strings.ToValidUTF8(s, "\ufffd") },
		"worst-Clean-spaces":     func(string) string { return Clean(spaceFlood) },
		"worst-Reveal-zerowidth": func(string) string { return Reveal(zeroFlood) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				sink = f(text)
			}
		})
	}
}

var (
	spaceFlood = repeat(" \u200b\u3000", 5<<20/7)
	zeroFlood  = repeat("\u200b\u200c", 5<<20/6)
)

// TestGrowthIsBounded: no text, however hostile, grows beyond a fixed factor.
func TestGrowthIsBounded(t *testing.T) {
	t.Parallel()
	for _, piece := range pieces {
		for _, n := range []int{64, 1024} {
			in := repeat(piece, n)
			if got := len(Clean(in)); got > 7*len(in)+40 {
				t.Errorf("Clean makes %d bytes of %d × %+q (%d bytes)", got, n, piece, len(in))
			}
			if got := len(Reveal(in)); got > 12*len(in)+40 {
				t.Errorf("Reveal makes %d bytes of %d × %+q (%d bytes)", got, n, piece, len(in))
			}
		}
	}
}
