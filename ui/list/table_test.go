package list

import (
	"fmt"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"steward/ui/theme"
)

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
