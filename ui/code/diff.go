package code

import (
	"fmt"
	"strings"

	"fyne.io/fyne/v2"

	"steward/ui/text"
	"steward/ui/theme"
)

// Kind says what became of a line.
type Kind uint8

// What can become of a line.
const (
	Same Kind = iota
	Removed
	Added
)

// A DiffLine is one line of a comparison. Marks are the parts, in bytes, that differ from the line it replaced.
type DiffLine struct {
	Kind     Kind
	Text     string
	Old, New int // numbers from 1; 0 where the line does not exist
	Marks    [][2]int
}

// context is how many unchanged lines stand around a change.
const context = 3

// Diff compares two texts line by line. It is pure and may be called from any goroutine. Texts that differ in more than
// some thousand lines are told as one removed and one added stretch.
func Diff(before, after string) []DiffLine {
	a, b := splitLines(before), splitLines(after)
	var lines []DiffLine
	i, j := 0, 0
	same := func(n int) {
		for range n {
			lines = append(lines, DiffLine{Same, a[i], i + 1, j + 1, nil})
			i, j = i+1, j+1
		}
	}
	for _, c := range script(a, b) {
		same(c.a0 - i)
		from := len(lines)
		for ; i < c.a1; i++ {
			lines = append(lines, DiffLine{Removed, a[i], i + 1, 0, nil})
		}
		for ; j < c.b1; j++ {
			lines = append(lines, DiffLine{Added, b[j], 0, j + 1, nil})
		}
		markWords(lines[from:], c.a1-c.a0, c.b1-c.b0)
	}
	same(len(a) - i)
	return lines
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}

// markWords compares the words of lines that were replaced one by one.
func markWords(lines []DiffLine, removed, added int) {
	if removed != added || removed > 200 {
		return
	}
	for k := range removed {
		x, y := &lines[k], &lines[removed+k]
		if len(x.Text) > 4000 || len(y.Text) > 4000 {
			continue
		}
		a, b := splitWords(x.Text), splitWords(y.Text)
		changes := script(a, b)
		changed := 0
		for _, c := range changes {
			changed += c.a1 - c.a0 + c.b1 - c.b0
		}
		if 2*changed > len(a)+len(b)+2 { // another line rather than a changed one
			continue
		}
		for _, c := range changes {
			x.Marks = appendMark(x.Marks, a, c.a0, c.a1)
			y.Marks = appendMark(y.Marks, b, c.b0, c.b1)
		}
	}
}

func appendMark(marks [][2]int, words []string, from, to int) [][2]int {
	if from == to {
		return marks
	}
	start := 0
	for _, w := range words[:from] {
		start += len(w)
	}
	end := start
	for _, w := range words[from:to] {
		end += len(w)
	}
	return append(marks, [2]int{start, end})
}

// splitWords cuts a line into words, and single characters that are in no word.
func splitWords(s string) []string {
	var words []string
	start := 0
	inWord := false
	for i, r := range s {
		letter := r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0xc0 && r < 0x2000
		if i > start && !(letter && inWord) {
			words = append(words, s[start:i])
			start = i
		}
		inWord = letter
	}
	if start < len(s) {
		words = append(words, s[start:])
	}
	return words
}

// change says that a[a0:a1] became b[b0:b1].
type change struct{ a0, a1, b0, b1 int }

// furthest is how many single changes are looked for before two texts count as wholly different.
const furthest = 1500

// script finds the shortest way from a to b (Myers, "An O(ND) Difference Algorithm", 1986).
func script(a, b []string) []change {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(x) == 0 && len(y) == 0 {
		return nil
	}
	if len(x) == 0 || len(y) == 0 {
		return []change{{head, head + len(x), head, head + len(y)}}
	}
	trace, ok := explore(x, y)
	if !ok {
		return []change{{head, head + len(x), head, head + len(y)}}
	}
	return retrace(trace, len(x), len(y), head)
}

// explore keeps, for each number of changes d, how far each diagonal from -d to d reaches.
func explore(a, b []string) ([][]int32, bool) {
	limit := min(len(a)+len(b), furthest)
	v := make([]int32, 2*limit+3)
	mid := limit + 1
	var trace [][]int32
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			x := v[mid+k-1] + 1
			if k == -d || k != d && v[mid+k-1] < v[mid+k+1] {
				x = v[mid+k+1]
			}
			for int(x) < len(a) && int(x)-k < len(b) && a[x] == b[int(x)-k] {
				x++
			}
			v[mid+k] = x
			if int(x) >= len(a) && int(x)-k >= len(b) {
				return append(trace, append([]int32(nil), v[mid-d:mid+d+1]...)), true
			}
		}
		trace = append(trace, append([]int32(nil), v[mid-d:mid+d+1]...))
	}
	return nil, false
}

func retrace(trace [][]int32, x, y, head int) []change {
	var back []change
	for d := len(trace) - 1; d > 0; d-- {
		before := trace[d-1] // diagonals -(d-1) to d-1
		at := func(k int) int32 {
			if k < -(d-1) || k > d-1 {
				return -1
			}
			return before[k+d-1]
		}
		k := x - y
		down := k == -d || k != d && at(k-1) < at(k+1)
		from := k - 1
		if down {
			from = k + 1
		}
		px := int(at(from))
		py := px - from
		c := change{px, px + 1, py, py}
		if down {
			c = change{px, px, py, py + 1}
		}
		if n := len(back) - 1; n >= 0 && back[n].a0 == c.a1 && back[n].b0 == c.b1 {
			back[n].a0, back[n].b0 = c.a0, c.b0
		} else {
			back = append(back, c)
		}
		x, y = px, py
	}
	out := make([]change, 0, len(back))
	for i := len(back) - 1; i >= 0; i-- {
		c := back[i]
		out = append(out, change{c.a0 + head, c.a1 + head, c.b0 + head, c.b1 + head})
	}
	return out
}

// NewDiff makes a view of what changed, with three unchanged lines around each change.
func NewDiff(before, after string, cfg Config) *text.View {
	v := text.NewView(cfg.Words)
	v.Clipboard = cfg.Clipboard
	v.SetBlocks(diffBlocks(Diff(before, after)))
	return v
}

func diffBlocks(lines []DiffLine) []*text.Block {
	near := make([]bool, len(lines))
	for i, l := range lines {
		if l.Kind != Same {
			for k := max(i-context, 0); k <= min(i+context, len(lines)-1); k++ {
				near[k] = true
			}
		}
	}
	d := &drawer{block: &text.Block{Code: true, Ground: theme.CodeGround}}
	for i, l := range lines {
		if !near[i] || i == len(lines)-1 && l.Kind == Same && l.Text == "" { // both end in a newline
			continue
		}
		if i > 0 && !near[i-1] {
			d.line(text.LineLook{}, text.Run{Text: fmt.Sprintf("@@ %d · %d @@", l.Old, l.New), Color: theme.Dim})
		}
		switch l.Kind {
		case Removed:
			d.line(text.LineLook{Ground: theme.RefusalTint, Sign: "-"}, marked(l, theme.Refusal)...)
		case Added:
			d.line(text.LineLook{Ground: theme.GoodTint, Sign: "+"}, marked(l, theme.Good)...)
		default:
			d.line(text.LineLook{}, text.Run{Text: l.Text})
		}
	}
	return []*text.Block{d.block}
}

// drawer puts lines into one block.
type drawer struct{ block *text.Block }

func (d *drawer) line(look text.LineLook, runs ...text.Run) {
	if n := len(d.block.Runs); n > 0 {
		d.block.Runs[n-1].Text += "\n"
	}
	d.block.Lines = append(d.block.Lines, look)
	if len(runs) == 0 {
		runs = []text.Run{{}}
	}
	d.block.Runs = append(d.block.Runs, runs...)
}

// marked sets off the words that changed: in colour and underlined.
func marked(l DiffLine, name fyne.ThemeColorName) []text.Run {
	var runs []text.Run
	at := 0
	for _, m := range l.Marks {
		if m[0] > at {
			runs = append(runs, text.Run{Text: l.Text[at:m[0]]})
		}
		runs = append(runs, text.Run{Text: l.Text[m[0]:m[1]], Color: name, Underline: true})
		at = m[1]
	}
	if at < len(l.Text) {
		runs = append(runs, text.Run{Text: l.Text[at:]})
	}
	return runs
}
