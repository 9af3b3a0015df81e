package markdown

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"fyne.io/fyne/v2/test"
	"go.uber.org/goleak"

	"steward/ui/text"
	"steward/ui/theme"
)

func TestMain(m *testing.M) {
	app := test.NewApp()
	app.Settings().SetTheme(theme.New("light"))
	code := m.Run()
	// The lexers' regexp library keeps a clock for a while after its last match.
	if err := goleak.Find(goleak.IgnoreAnyFunction("github.com/dlclark/regexp2/v2.runClock")); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func words() text.Words {
	return text.Words{
		Copy: func() string { return "Copy" }, Copied: func() string { return "Copied" },
		ShowAll:  func(n int) string { return fmt.Sprintf("Show all %d lines", n) },
		ShowLess: func() string { return "Show less" },
		Image:    func(host, alt string) string { return "[" + host + "|" + alt + "]" },
	}
}

// outline writes what a source became, one part a line.
func outline(src string) string {
	var out strings.Builder
	for _, b := range Parse(src, words()) {
		for _, p := range b.Parts {
			out.WriteString(describe(p) + "\n")
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func describe(p Part) string {
	b := p.Block
	s := strings.Repeat("| ", len(b.Bars)) + strings.Repeat("  ", int((b.Indent-barStep*float32(len(b.Bars)))/indent))
	s += [...]string{"", "[ ]", "[x]"}[b.Task] + b.Marker
	switch {
	case p.Code != nil:
		return s + fmt.Sprintf("code(%s) %q", p.Code.Lang, p.Code.Source)
	case b.Rule:
		return s + "rule"
	case b.Table != nil:
		var rows []string
		for _, r := range b.Table.Rows {
			var cells []string
			for _, c := range r {
				cells = append(cells, runs(c))
			}
			rows = append(rows, strings.Join(cells, "¦"))
		}
		return s + fmt.Sprintf("table %v %s", b.Table.Align, strings.Join(rows, " / "))
	case b.Size != 0:
		return s + fmt.Sprintf("h%v %s", b.Size, runs(b.Runs))
	}
	return s + runs(b.Runs)
}

func runs(rs []text.Run) string {
	var out strings.Builder
	for _, r := range rs {
		marks := ""
		for _, m := range []struct {
			on   bool
			mark string
		}{{r.Bold, "B"}, {r.Italic, "I"}, {r.Mono, "M"}, {r.Strike, "S"}} {
			if m.on {
				marks += m.mark
			}
		}
		if r.Link != "" {
			marks += "→" + r.Link
		}
		if marks != "" {
			fmt.Fprintf(&out, "{%s:%s}", marks, r.Text)
		} else {
			out.WriteString(r.Text)
		}
	}
	return strings.ReplaceAll(out.String(), "\n", "⏎")
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"emphasis", "a *b* **c ~~d~~** `e  f`", "a {I:b} {B:c }{BS:d} {M:e  f}"},
		{"Chinese emphasis keeps no gaps", "你好**世界**和*人*", "你好{B:世界}和{I:人}"},
		{"headings", "# A\nB\n===\n### `c`\n###### d", "h20 {B:A}\nh20 {B:B}\nh16 {BM:c}\nh14 {B:d}"},
		{"lists", "1. a\n2. b\n   - c\n     d\n   - [x] e\n   - [ ] f\n3) g", "  1.a\n  2.b\n    •c⏎d\n    [x]e\n    [ ]f\n  3)g"},
		{"empty item", "-\n- a", "  •\n  •a"},
		{"item with two paragraphs", "- a\n\n  b", "  •a\n  b"},
		{"quote", "> a\n>\n> > b\n> - c", "| a\n| | b\n|   •c"},
		{"code", "```go x\na\n\tb\n```\n\n    c\n\n~~~\nopen", "code(go) \"a\\n\\tb\"\ncode() \"c\"\ncode() \"open\""},
		{"table", "|a|b|c|\n|-|:-:|-:|\n|1|`x`|\n|1|2|3|4|", "table [0 1 2] a¦b¦c / 1¦{M:x}¦ / 1¦2¦3"},
		{"rule", "***", "rule"},
		{"links", "[a](https://x.org \"t\") <https://y.org> https://z.org. www.w.org me@x.org", "{→https://x.org:a} {→https://y.org:https://y.org} {→https://z.org:https://z.org}. {→http://www.w.org:www.w.org} {→me@x.org:me@x.org}"},
		{"entities in addresses", `[a](https://x.org/?a=1&amp;b=2\_c "t") ![p](https://h&#46;org/)`, "{→https://x.org/?a=1&b=2_c:a} {→https://h.org/:[h.org|p]}"},
		{"references", "[a][r] [r]\n\n[r]: https://x.org", "{→https://x.org:a} {→https://x.org:r}"},
		{"pictures", "![al *t*](https://h.org/i.png) ![](data:image/png;base64,AAAA) ![x](i.png)", "{→https://h.org/i.png:[h.org|al t]} {→data:image/png;base64,AAAA:[|]} {→i.png:[|x]}"},
		{"html", "<script>alert(1)</script>\n\na <b onclick=x>c</b><br/>d", "<script>alert(1)</script>\na <b onclick=x>c</b>⏎d"},
		{"entities and escapes", `&amp; &lt;b&gt; \*a\* &copy; &#x41; &unknown; & \& &amp;lt;`, "& <b> *a* © A &unknown; & & &lt;"},
		{"code keeps entities", "`&amp; \\*`", `{M:&amp; \*}`},
		{"hard break", "a  \nb\\\nc\nd", "a⏎b⏎c⏎d"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := outline(c.src); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestEntitiesCannotBringBackWhatCleaningRemoved(t *testing.T) {
	for _, entity := range []string{"&#x202E;", "&#8238;", "&#x200B;", "&ZeroWidthSpace;", "&#x1b;", "&#0;", "&#xE0041;"} {
		for _, src := range []string{"a" + entity + "b", "[x](https://e.org/" + entity + ")", "```" + entity + "\nx\n```", "![" + entity + "](https://e.org)"} {
			got := outline(src)
			for _, r := range got {
				if r == 0x202e || r == 0x200b || r == 0x1b || r == 0 || r >= 0xe0000 && r < 0xe0080 {
					t.Errorf("%q shows %q", src, got)
				}
			}
		}
	}
}

// sources joins what the blocks say they came from.
func sources(blocks []Block) string {
	var all strings.Builder
	for _, b := range blocks {
		all.WriteString(b.Source)
	}
	return all.String()
}

var samples = []string{
	"", " ", "\n\n\n", "a", "\n\na\n\n\nb\n\n", "# h\ntext\n- a\n- b\n\n  c\n\n\nend", "[x]: https://a.org\n\n[x]\n\n[y]\n\n[y]: https://b.org\n",
	"```\nopen\n\nfence", "    code\n\n\n    code\nx", "| a |\n|---|\n| b |\n\n<div>\n\nx\n\n</div>\n***\nSetext\n---\n",
	"> a\nlazy\n\n> b\n\n1. x\n\n\n   y\n- z\n* w\n", "a\r\nb\r\n\r\n- c\r\n", "\tx\n - y\n\t- z\n", "para\n#\n#x\n-\n--\n---\n",
	"text\n```go\ncode\n```\nmore\n~~~\n```\n~~~\n", "* * *\n- - x\n+\n\n  y", "\x00\xff\n- \xfe", "<!-- a\n\nb --> c\n\n<pre>\n\n</pre>",
	strings.Repeat("- a\n", 30) + strings.Repeat("> ", 40) + "deep\n" + strings.Repeat(" - x\n", 3),
}

func TestSourcesTogetherAreTheSource(t *testing.T) {
	for _, src := range samples {
		if got := sources(Parse(src, words())); got != src {
			t.Errorf("%q came back as %q", src, got)
		}
	}
}

// stream shows a source step by step and at its end, and checks that the result does not depend on the steps.
func stream(t *testing.T, src string, steps func(int) int) {
	t.Helper()
	v := NewView(Config{Words: words()})
	for at := 0; at < len(src); {
		at = min(at+max(steps(at), 1), len(src))
		v.SetSource(src[:at], false)
		var settled string
		for _, s := range v.shown[:v.kept] {
			settled += s.part.Block.Source
		}
		if !strings.HasPrefix(src, settled) {
			t.Fatalf("of %q the final blocks hold %q", src[:at], settled)
		}
	}
	v.SetSource(src, true)
	once := NewView(Config{Words: words()})
	once.SetSource(src, true)
	if a, b := partsOf(v), partsOf(once); !reflect.DeepEqual(a, b) {
		t.Fatalf("%q streamed gives\n%+v\nat once\n%+v", src, a, b)
	}
	if v.Plain() != once.Plain() {
		t.Fatalf("%q streamed reads %q, at once %q", src, v.Plain(), once.Plain())
	}
	if v.SelectAll(); src != "" && len(v.shown) > 0 && v.SelectedText() != src && v.Plain() != "" {
		t.Fatalf("%q is copied as %q", src, v.SelectedText())
	}
}

func partsOf(v *View) []Part {
	var out []Part
	for _, s := range v.shown {
		out = append(out, s.part)
	}
	return out
}

func TestStreamedIsWhatIsShownAtOnce(t *testing.T) {
	for _, src := range samples {
		for _, step := range []int{1, 3, 7} {
			stream(t, src, func(int) int { return step })
		}
	}
}

func FuzzStream(f *testing.F) {
	for i, src := range samples {
		f.Add(src, uint8(i))
	}
	f.Fuzz(func(t *testing.T, src string, step uint8) {
		if len(src) > 400 {
			return
		}
		blocks := Parse(src, words())
		if got := sources(blocks); got != src {
			t.Fatalf("%q came back as %q", src, got)
		}
		stream(t, src, func(at int) int { return int(step)%5 + 1 + at%3 })
	})
}

// Blocks that were called final must be those that the whole source has there, as long as no link definition follows.
func TestFinalBlocksStay(t *testing.T) {
	src := "para\n# head\npara two\ngoes on\n#no head\n-no item\n1.2\n\n- a\n- b\n\n  c\n1. x\n\n```go\nfunc\n\n# no head\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> q\n> r\n\nText\n---\nSetext\n===\n***\nend\n"
	want := Parse(src, words())
	v := NewView(Config{Words: words()})
	for at := 1; at <= len(src); at++ {
		v.SetSource(src[:at], false)
		i := 0
		for _, b := range want {
			for k, p := range b.Parts {
				if i >= v.kept {
					break
				}
				got := v.shown[i].part
				p.Block.Group = got.Block.Group
				if k == 0 {
					p.Block.Source = b.Source
				}
				if !reflect.DeepEqual(got, p) {
					t.Fatalf("after %q the final part %d is %s, want %s", src[:at], i, describe(got), describe(p))
				}
				i++
			}
		}
	}
	if v.kept < 10 {
		t.Errorf("only %d parts became final", v.kept)
	}
}
