package code

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"fyne.io/fyne/v2"
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
	}
}

func joined(runs []text.Run) string {
	var b strings.Builder
	for _, r := range runs {
		b.WriteString(r.Text)
	}
	return b.String()
}

func TestHighlightKeepsEveryByte(t *testing.T) {
	for _, c := range []struct{ lang, src string }{
		{"go", "package x\n\nfunc f(a int) string { return \"你好\" } // end"},
		{"json", "{\"a\": [1, true, null]}\n\n"}, {"python", "def f():\n\treturn 1\n"}, {"sql", "select 1;"},
		{"html", "<a href='x'>y</a>\r\n"}, {"bash", "for i in 1; do echo $i; done"}, {"yaml", "a: 1\nb:\n  - c"}, {"diff", "-a\n+b\n"},
	} {
		runs := Highlight(c.lang, c.src)
		if runs == nil {
			t.Errorf("%s: not read", c.lang)
			continue
		}
		if got := joined(runs); got != c.src {
			t.Errorf("%s: %q came back as %q", c.lang, c.src, got)
		}
		coloured := false
		for _, r := range runs {
			coloured = coloured || r.Color != ""
		}
		if !coloured {
			t.Errorf("%s: nothing is coloured", c.lang)
		}
	}
}

func FuzzHighlight(f *testing.F) {
	f.Add("go", "package x // \xff\r\n\x00")
	f.Add("json", "{\"a\": \"\\u12")
	f.Add("html", "<!--")
	f.Fuzz(func(t *testing.T, lang, src string) {
		if len(src) > 2000 {
			return
		}
		if runs := Highlight(lang, src); runs != nil && joined(runs) != src {
			t.Fatalf("%s: %q came back as %q", lang, src, joined(runs))
		}
	})
}

func TestLongAndUnknownCodeStaysPlain(t *testing.T) {
	for _, c := range []struct{ lang, src string }{{"", "x"}, {"no-such-language", "x"}, {"go", strings.Repeat("x\n", maxHighlight)}} {
		if Highlight(c.lang, c.src) != nil {
			t.Errorf("%q of %d bytes was highlighted", c.lang, len(c.src))
		}
	}
}

func TestHighlightedCodeIsKnownTheSecondTime(t *testing.T) {
	pool := NewPool(func(f func()) { f() })
	defer pool.Close()
	src := "package known // " + t.Name()
	asked := 0
	if runs := highlight(pool, "go", src, func([]text.Run) { asked++ }); runs != nil {
		t.Fatal("it was known before")
	}
	pool.Wait()
	if runs := highlight(pool, "go", src, func([]text.Run) { asked++ }); runs == nil || asked != 1 {
		t.Errorf("the second time it gave %d runs, and asked %d times", len(runs), asked)
	}
	for i := range 60 {
		keep(keyOf("go", fmt.Sprint(i, strings.Repeat("x", 100<<10))), nil)
	}
	if cache.bytes > maxCached {
		t.Errorf("the cache stands for %d bytes", cache.bytes)
	}
}

func TestPoolOutlivesAPanicAndEnds(t *testing.T) {
	var done atomic.Int32
	pool := NewPool(func(f func()) { f() })
	for i := range 20 {
		pool.Run(func() {
			if i%2 == 0 {
				panic("a lexer's fault")
			}
		}, func() { done.Add(1) })
	}
	pool.Wait()
	if done.Load() != 20 {
		t.Errorf("%d of 20 jobs came back", done.Load())
	}
	pool.Close()
	pool.Run(func() { t.Error("a closed pool works") }, func() {})
}

func TestPretty(t *testing.T) {
	for in, want := range map[string]string{
		`{"b":1.50,"a":[1e400,"\u00e9"],"b":2}`: "{\n  \"b\": 1.50,\n  \"a\": [\n    1e400,\n    \"\\u00e9\"\n  ],\n  \"b\": 2\n}",
		`{"a":`:                                 `{"a":`,
		"plain":                                 "plain",
		`"<&>"`:                                 `"<&>"`,
		strings.Repeat("[", 9000) + strings.Repeat("]", 9000): strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
		strings.Repeat("[", 20000):                            strings.Repeat("[", 20000),
	} {
		if got := Pretty(in); got != want {
			t.Errorf("%.40q became %.80q", in, got)
		}
	}
}

// apply checks a difference by making both texts out of it.
func apply(t *testing.T, before, after string) []DiffLine {
	t.Helper()
	var a, b []string
	lines := Diff(before, after)
	for _, l := range lines {
		if l.Kind != Added {
			a = append(a, l.Text)
			if l.Old != len(a) {
				t.Fatalf("line %q has the old number %d, want %d", l.Text, l.Old, len(a))
			}
		}
		if l.Kind != Removed {
			b = append(b, l.Text)
			if l.New != len(b) {
				t.Fatalf("line %q has the new number %d, want %d", l.Text, l.New, len(b))
			}
		}
		for _, m := range l.Marks {
			if m[0] < 0 || m[1] <= m[0] || m[1] > len(l.Text) {
				t.Fatalf("mark %v in %q", m, l.Text)
			}
		}
	}
	if x, y := strings.Join(a, "\n"), strings.Join(b, "\n"); x != before || y != after {
		t.Fatalf("from %q to %q reads as %q to %q", before, after, x, y)
	}
	return lines
}

func TestDiff(t *testing.T) {
	lines := apply(t, "a\nkeep this word\nc\nd", "a\nkeep that word\nc\nnew\nd")
	var got []string
	for _, l := range lines {
		marked := ""
		for _, m := range l.Marks {
			marked += "[" + l.Text[m[0]:m[1]] + "]"
		}
		got = append(got, string(" -+"[l.Kind])+l.Text+marked)
	}
	if s, want := strings.Join(got, "|"), " a|-keep this word[this]|+keep that word[that]| c|+new| d"; s != want {
		t.Errorf("got %s, want %s", s, want)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		make1 := func() string {
			var b strings.Builder
			for range random.IntN(12) {
				b.WriteString(string(rune('a'+random.IntN(4))) + strings.Repeat("\n", random.IntN(2)))
			}
			return b.String()
		}
		apply(t, make1(), make1())
	}
	big := strings.Repeat("x\n", 50000)
	apply(t, big, strings.ReplaceAll(big, "x", "y"))
	apply(t, big, big+"z")
}

func TestDiffViewShowsSignsAndContext(t *testing.T) {
	same := strings.Repeat("same\n", 20)
	blocks := diffBlocks(Diff(same+"old\n"+same, same+"new\n"+same))
	b := blocks[0]
	if n := len(b.Lines); n != 2*context+3 {
		t.Errorf("%d lines are shown, want the change, its context and where it stands", n)
	}
	signs := ""
	for _, l := range b.Lines {
		signs += l.Sign
	}
	if signs != "-+" {
		t.Errorf("the signs are %q", signs)
	}
	v := NewDiff(same+"old", same+"new", Config{Words: words()})
	v.Resize(fyne.NewSize(300, v.HeightFor(300)))
	if !strings.Contains(v.Plain(), "old") {
		t.Error("the view does not show what was removed")
	}
}

func TestViewerTakesAnySize(t *testing.T) {
	src := strings.Repeat("{\"key\": [1,2,3]},", 60000)
	p := NewViewer("json", src, Config{Words: words()})
	p.Resize(fyne.NewSize(400, 300))
	p.View().SelectAll()
	if p.View().SelectedText() != src {
		t.Error("one line of a megabyte is not copied as it is")
	}
}

func TestCopyButtonSaysThatItCopied(t *testing.T) {
	var copied string
	l := NewListing("", "a\tb\n", false, text.Block{}, Config{Words: words(), Clipboard: func(s string) { copied = s }}, func() {})
	l.copy.FocusGained()
	l.copy.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	if copied != "a\tb\n" || labelOf(l.copy) != "Copied" {
		t.Errorf("copied %q, and the button says %q", copied, labelOf(l.copy))
	}
	l.copy.FocusLost()
	if labelOf(l.copy) != "Copy" {
		t.Errorf("afterwards the button says %q", labelOf(l.copy))
	}
}

func labelOf(b *button) string { return b.caption }
