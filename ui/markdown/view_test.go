package markdown

import (
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/ui/code"
	"steward/ui/text"
)

// thread is Fyne's thread as a test sees it: what is done on it waits until the test lets it.
type thread struct {
	mu    sync.Mutex
	queue []func()
}

func (q *thread) do(f func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = append(q.queue, f)
}

func (q *thread) run() {
	q.mu.Lock()
	all := q.queue
	q.queue = nil
	q.mu.Unlock()
	for _, f := range all {
		f()
	}
}

func pooled(t *testing.T) (*thread, *code.Pool) {
	q := &thread{}
	pool := code.NewPool(q.do)
	t.Cleanup(pool.Close)
	return q, pool
}

func TestStreamingKeepsWhatIsFinal(t *testing.T) {
	v := NewView(Config{Words: words()})
	v.SetSource("first\n\n```go\nx := 1\n```\n\nsec", false)
	first, listing := v.shown[0].block, v.shown[1].listing
	v.SetSource("first\n\n```go\nx := 1\n```\n\nsecond\n\nthird", false)
	v.SetSource("first\n\n```go\nx := 1\n```\n\nsecond\n\nthird", true)
	if v.shown[0].block != first || v.shown[1].listing != listing {
		t.Error("a block that had not changed was made anew")
	}
	if len(v.shown) != 4 {
		t.Errorf("%d parts are shown, want 4", len(v.shown))
	}
}

func TestDefinitionAtTheEndMakesTheLinkAboveIt(t *testing.T) {
	v := NewView(Config{Words: words()})
	src := "see [docs]\n\nmiddle\n\nlast\n\n[docs]: https://x.org\n"
	for i := range src {
		v.SetSource(src[:i], false)
	}
	middle := v.shown[1].block
	v.SetSource(src, true)
	if got := runs(v.shown[0].part.Block.Runs); got != "see {→https://x.org:docs}" {
		t.Errorf("the link came out as %s", got)
	}
	if v.shown[1].block != middle {
		t.Error("the paragraph between was replaced too")
	}
}

func TestLongSourceIsParsedOffTheThread(t *testing.T) {
	q, pool := pooled(t)
	heights := 0
	v := NewView(Config{Words: words(), Pool: pool, OnHeight: func() { heights++ }})
	src := "# head\n\n" + strings.Repeat("- item **bold** and more\n", 1500)
	v.SetSource(src, true)
	if len(v.shown) != 1 || v.Plain() != src {
		t.Fatal("until it is parsed the source is not shown as it is")
	}
	pool.Wait()
	q.run()
	if len(v.shown) != 1501 || heights != 1 {
		t.Fatalf("%d parts are shown and the height changed %d times", len(v.shown), heights)
	}
}

// A short source that takes long, as nested quotes do, is parsed on Fyne's thread once at most.
func TestASlowSourceIsParsedOffTheThread(t *testing.T) {
	q, pool := pooled(t)
	v := NewView(Config{Words: words(), Pool: pool})
	v.SetSource("a", false)
	if v.slow || v.parsed != 1 {
		t.Fatalf("a short source: %d bytes are parsed, slow %v", v.parsed, v.slow)
	}
	src := strings.Repeat(">", 12_000)
	v.SetSource(src, false)
	if v.parsed != len(src) || !v.slow {
		t.Skipf("nested quotes are parsed quickly by now (%d bytes at once)", v.parsed)
	}
	v.SetSource(src+strings.Repeat(">", 4_000), false) // still short
	if v.parsed != len(src) || !v.parsing {
		t.Fatalf("%d bytes are parsed on the thread", v.parsed)
	}
	for end := time.Now().Add(10 * time.Second); v.parsing; time.Sleep(time.Millisecond) {
		if q.run(); time.Now().After(end) {
			t.Fatal("it is never parsed")
		}
	}
}

func TestLongTailGrowsWithoutParsingItEachTime(t *testing.T) {
	q, pool := pooled(t)
	v := NewView(Config{Words: words(), Pool: pool})
	src := ""
	for range 150 {
		src += strings.Repeat("- item **bold** and more\n", 10)
		v.SetSource(src, false)
		if got := v.Plain(); !strings.HasSuffix(got, "more") && !strings.HasSuffix(got, "more\n") {
			t.Fatalf("the end of the source is not shown but %q", got[max(0, len(got)-30):])
		}
		pool.Wait()
		q.run()
	}
	v.SetSource(src, true)
	pool.Wait()
	q.run()
	if len(v.shown) != 1500 {
		t.Errorf("%d parts are shown", len(v.shown))
	}
}

func TestResultForAnotherSourceIsDropped(t *testing.T) {
	q, pool := pooled(t)
	v := NewView(Config{Words: words(), Pool: pool})
	v.SetSource(strings.Repeat("- an old item of a list\n", 1500), true)
	v.SetSource("new", true)
	pool.Wait()
	q.run()
	if v.Plain() != "new" {
		t.Errorf("shown is %.40q", v.Plain())
	}
}

func TestCodeIsColouredLaterAndCopiedWhole(t *testing.T) {
	q, pool := pooled(t)
	var copied string
	v := NewView(Config{Words: words(), Pool: pool, Clipboard: func(s string) { copied = s }})
	src := "```go\nfunc main() {\n\treturn // done\n}\n```\n"
	v.SetSource(src, true)
	v.Resize(fyne.NewSize(400, v.HeightFor(400)))
	if n := len(v.shown[0].block.Runs); n != 1 {
		t.Fatalf("the code has %d colours before it was read", n)
	}
	pool.Wait()
	q.run()
	if n := len(v.shown[0].block.Runs); n < 4 {
		t.Fatalf("the code has %d runs, want several colours", n)
	}
	v.SelectAll()
	v.Copy()
	if copied != src {
		t.Errorf("all copied as %q", copied)
	}
	button := v.shown[0].block.Head.(*fyne.Container).Objects[1].(fyne.Tappable)
	test.Tap(button)
	if copied != "func main() {\n\treturn // done\n}" {
		t.Errorf("the button copied %q", copied)
	}
}

func TestLongCodeFoldsAndOpens(t *testing.T) {
	v := NewView(Config{Words: words()})
	v.SetSource("```\n"+strings.Repeat("line\n", 240)+"```\nafter", true)
	closed := v.HeightFor(400)
	b := v.shown[0].block
	if b.Fold != 60 || b.Foot == nil {
		t.Fatalf("240 lines fold at %d", b.Fold)
	}
	test.Tap(b.Foot.(*fyne.Container).Objects[0].(fyne.Tappable))
	b = v.shown[0].block
	if b.Object == nil {
		t.Fatal("the button opened nothing")
	}
	if got := b.Object.(*text.Pane).View().Plain(); strings.Count(got, "\n") != 239 {
		t.Errorf("the viewer holds %d lines", strings.Count(got, "\n")+1)
	}
	if open := v.HeightFor(400); open == closed {
		t.Error("the height did not change")
	}
	test.Tap(b.Foot.(*fyne.Container).Objects[0].(fyne.Tappable))
	if v.HeightFor(400) != closed {
		t.Error("folding it again did not give the height back")
	}
}

func TestMegabyteMessageShowsItsBeginning(t *testing.T) {
	v := NewView(Config{Words: words()})
	src := strings.Repeat("Some *marked* line 中文\t.\n", 40000)
	start := time.Now()
	v.SetSource(src, true)
	v.Resize(fyne.NewSize(720, v.HeightFor(720)))
	t.Logf("opened in %v", time.Since(start)) // told, not judged: machines differ
	if n := strings.Count(v.Plain(), "\n"); n > 100 {
		t.Errorf("%d lines are laid out", n)
	}
	v.SelectAll()
	if v.SelectedText() != src {
		t.Error("copying it gives something else")
	}
	foot := v.shown[len(v.shown)-1].block.Foot.(fyne.Tappable)
	test.Tap(foot)
	last := v.shown[len(v.shown)-1].block
	if last.Object == nil || last.Object.(*text.Pane).View().Plain() != src {
		t.Error("the viewer does not hold the source")
	}
}

func TestHostileSourcesEnd(t *testing.T) {
	q, pool := pooled(t)
	for name, src := range map[string]string{
		"quotes":   strings.Repeat(">", 10000),
		"nested":   nestedList(500),
		"brackets": strings.Repeat("[a](", 3000),
		"stars":    strings.Repeat("*a **a ", 5000),
		"fence":    "```go\n" + strings.Repeat("x := \"\n", 9000),
		"rows":     "a|b\n-|-\n" + strings.Repeat("1|2\n", 1900),
		"columns":  "|" + strings.Repeat("a|", 2000) + "\n|" + strings.Repeat("-|", 2000) + "\n",
		"one word": strings.Repeat("x", 150000),
		"bidi":     strings.Repeat("العربية ", 5000),
	} {
		v := NewView(Config{Words: words(), Pool: pool})
		for i := 1; i <= 5; i++ {
			v.SetSource(src[:len(src)*i/5], false)
			pool.Wait()
			q.run()
		}
		v.SetSource(src, true)
		pool.Wait()
		q.run()
		v.Resize(fyne.NewSize(600, v.HeightFor(600)))
		test.WidgetRenderer(v).Objects()
		v.SelectAll()
		if v.Plain() != "" && v.SelectedText() != src {
			t.Errorf("%s: copying gives something else", name)
		}
	}
}

func nestedList(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i) + "- x\n")
	}
	return b.String()
}
