package list

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/ui/theme"
)

// loop stands for Fyne's goroutine: what is handed to do waits until the test runs it.
type loop struct {
	mu    sync.Mutex
	queue []func()
	came  chan struct{}
}

func newLoop() *loop { return &loop{came: make(chan struct{}, 1000)} }

func (l *loop) do(f func()) {
	l.mu.Lock()
	l.queue = append(l.queue, f)
	l.mu.Unlock()
	l.came <- struct{}{}
}

// next waits for a function and runs all there are.
func (l *loop) next(t *testing.T) {
	t.Helper()
	select {
	case <-l.came:
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came back from a load")
	}
	l.mu.Lock()
	queue := l.queue
	l.queue = nil
	l.mu.Unlock()
	for _, f := range queue {
		f()
	}
}

func numbers(_ context.Context, from, count int) ([]int, error) {
	rows := make([]int, count)
	for i := range rows {
		rows[i] = from + i
	}
	return rows, nil
}

func TestPagesComeWhenTheyAreSeen(t *testing.T) {
	l := newLoop()
	var changed [][2]int
	p := NewPager(numbers, l.do, func(from, count int) { changed = append(changed, [2]int{from, count}) })
	defer p.Wait()
	defer p.Close()
	if _, ok := p.Get(1000); ok {
		t.Fatal("a row is there before it was loaded")
	}
	p.Visible(990, 1010)
	for len(changed) < 2 {
		l.next(t)
	}
	for _, i := range []int{800, 990, 1010, 1199} {
		if row, ok := p.Get(i); !ok || row != i {
			t.Errorf("row %d is %d, %v", i, row, ok)
		}
	}
	if _, ok := p.Get(-1); ok {
		t.Error("there is a row -1")
	}
	for i := range 60 {
		p.Visible(i*200, i*200+20)
		for {
			if _, ok := p.Get(i * 200); ok {
				break
			}
			l.next(t)
		}
	}
	if len(p.pages) > pagesKept+2 {
		t.Errorf("%d pages are held", len(p.pages))
	}
}

func TestLoadsNobodyWaitsForAreCancelled(t *testing.T) {
	l := newLoop()
	started, ended := make(chan int, 10), make(chan int, 10)
	p := NewPager(func(ctx context.Context, from, count int) ([]int, error) {
		if from >= 100_000 {
			return numbers(ctx, from, count)
		}
		started <- from
		<-ctx.Done()
		ended <- from
		return numbers(ctx, from, count) // late, and of no use any more
	}, l.do, func(from, count int) {
		if from < 100_000 {
			t.Errorf("rows from %d on came although nobody waited", from)
		}
	})
	p.Visible(10, 30)
	<-started
	p.Visible(100_000, 100_020)
	if from := <-ended; from != 0 {
		t.Errorf("the load of rows from %d on was cancelled", from)
	}
	l.next(t)
	l.next(t)
	p.Reset()
	p.Close()
	p.Visible(5, 9)
	p.Wait()
	select {
	case from := <-started:
		t.Errorf("rows from %d on are loaded after the end", from)
	default:
	}
}

func TestAFailedLoadIsToldAndTriedAgain(t *testing.T) {
	l := newLoop()
	broken, got := true, 0
	p := NewPager(func(ctx context.Context, from, count int) ([]int, error) {
		if broken {
			return nil, errors.New("the journal cannot be read")
		}
		return numbers(ctx, from, count)
	}, l.do, func(int, int) { got++ })
	defer p.Wait()
	defer p.Close()
	var told []error
	p.OnError = func(err error) { told = append(told, err) }
	p.Visible(0, 20)
	l.next(t)
	p.Visible(1, 21)
	if len(told) != 1 || len(p.running) != 0 {
		t.Fatalf("%d errors told, %d loads tried again at once", len(told), len(p.running))
	}
	broken = false
	p.Retry()
	l.next(t)
	if row, ok := p.Get(7); !ok || row != 7 || got != 1 {
		t.Error("the second try brought nothing")
	}
}

func auditTable(t *testing.T, loaded func(i int) bool) *Table {
	table := NewTable([]Column{
		{Title: "#", Width: 80, Right: true}, {Title: "Server", Width: 60, Flex: 1}, {Title: "Tool", Width: 100, Flex: 3}, {Title: "Took", Width: 70},
	}, TableSource{
		Len: func() int { return 1_000_000 },
		Row: func(i int) ([]Cell, bool) {
			if !loaded(i) {
				return nil, false
			}
			return []Cell{{Text: fmt.Sprint(i)}, {Text: "mail", Bold: true}, {Text: strings.Repeat("长 name ", 40)}, {Text: "ok", Color: theme.Good}}, true
		},
	})
	w := test.NewTempWindow(t, table)
	w.SetPadded(false)
	table.Resize(fyne.NewSize(710, 400))
	return table
}

func visibleRows(table *Table) []*tableRow {
	var rows []*tableRow
	for _, o := range table.List.field.Objects[2:] {
		rows = append(rows, o.(*tableRow))
	}
	return rows
}

func TestTableColumns(t *testing.T) {
	table := auditTable(t, func(int) bool { return true })
	if fmt.Sprint(table.widths) != "[80 157.5 392.5 70]" {
		t.Errorf("the columns are %v wide", table.widths)
	}
	table.List.ScrollTo(700_000)
	row := visibleRows(table)[0]
	if row.texts[0].Text != "700000" || row.texts[3].Color != theme.Color(theme.Good) || !row.texts[1].TextStyle.Bold {
		t.Errorf("row 700000 shows %q", row.texts[0].Text)
	}
	if right := row.texts[0].Position().X + row.texts[0].Size().Width; !near(right, 70) {
		t.Errorf("numbers end at %v", right)
	}
	if got := row.texts[2]; !strings.HasSuffix(got.Text, "…") || got.MinSize().Width > 372.5 {
		t.Errorf("a long cell shows %q", got.Text)
	}
	drag := func(x, dx float32) {
		table.head.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(x, 9)}, Dragged: fyne.Delta{DX: dx}})
	}
	drag(280, 43) // takes hold half a pixel left of the border
	drag(1300, 1020)
	table.head.DragEnd()
	if w := table.widths[1]; !near(w, 1220.5) {
		t.Errorf("dragged, the column is %v wide", w)
	}
	table.List.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DX: -5000}})
	if end := table.wide - table.shift; !near(end, 700) {
		t.Errorf("scrolled to the right end, the columns end at %v", end)
	}
	if !row.texts[0].Hidden || row.texts[3].Hidden {
		t.Error("what is out of sight is drawn, or what is in sight is not")
	}
	heads := []int{}
	table.OnHead = func(i int) { heads = append(heads, i) }
	table.head.Tapped(&fyne.PointEvent{Position: fyne.NewPos(650, 9)})
	if fmt.Sprint(heads) != "[3]" {
		t.Errorf("taps on heads %v", heads)
	}
}

func TestTableShowsBarsUntilRowsAreThere(t *testing.T) {
	there := false
	table := auditTable(t, func(int) bool { return there })
	table.List.ScrollTo(5000)
	row := visibleRows(table)[3]
	if row.bars[0].Hidden || !row.texts[0].Hidden {
		t.Error("a row that is being fetched does not say so")
	}
	there = true
	table.Changed(5000, 200)
	row = visibleRows(table)[3]
	if !row.bars[0].Hidden || row.texts[0].Hidden || row.texts[0].Text != "5003" {
		t.Errorf("after it came, the row shows %q", row.texts[0].Text)
	}
}

func TestCellsAreCutWhole(t *testing.T) {
	measure := func(s string) float32 { return fyne.MeasureText(s, 13, fyne.TextStyle{}).Width }
	for _, text := range []string{
		"", "short", "two\nlines", "tab\there", strings.Repeat("x", 5<<20), strings.Repeat("字", 900),
		strings.Repeat("👩‍👩‍👧", 80), "e" + strings.Repeat("\u0301", 100_000), strings.Repeat("\u0301", 9000) + "\xff",
	} {
		for _, width := range []float32{-1, 3, 40, 200} {
			got := fit(text, 13, fyne.TextStyle{}, width)
			if got != "" && got != "…" && measure(got) > width {
				t.Errorf("%.20q is %v wide in %v", text, measure(got), width)
			}
			if strings.ContainsAny(got, "\n\r\t") || len(got) > cellBytes+3 {
				t.Errorf("%.20q became %.40q", text, got)
			}
			kept := strings.TrimSuffix(got, "…")
			if kept == got && got != "" && got != strings.ReplaceAll(text, "\t", " ") {
				t.Errorf("%.20q was cut to %.40q without a sign", text, got)
			}
			if strings.HasPrefix(text, "👩") && strings.ReplaceAll(kept, "👩‍👩‍👧", "") != "" {
				t.Errorf("a family was torn apart: %q", kept)
			}
		}
	}
}
