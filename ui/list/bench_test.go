package list

import (
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"steward/ui/theme"
)

// The benchmarks compare a step of scrolling, without painting, with Fyne's own widgets over the same rows.

const (
	benchRows = 5000
	benchFrom = 4000
)

func benchText(i int) string { return strings.Repeat("some words of a message ", i%9+1) }

// line is a row whose height does not depend on a text engine.
func benchRow(i int) fyne.CanvasObject {
	text := canvas.NewText(benchText(i)[:20], theme.Color(theme.Text))
	text.SetMinSize(fyne.NewSize(50, float32(30+i*7%90)))
	return container.NewStack(text)
}

func wheelBench(b *testing.B, object fyne.CanvasObject, scroll func(dy float32)) {
	w := test.NewTempWindow(b, object)
	w.Resize(fyne.NewSize(800, 600))
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		dy := float32(-60)
		if i/400%2 == 1 {
			dy = 60
		}
		scroll(dy)
	}
}

func BenchmarkScrollRowsOfDifferentHeight(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		l := New(Source{Len: func() int { return benchRows }, Build: benchRow})
		l.Resize(fyne.NewSize(800, 600))
		l.ScrollTo(benchFrom)
		wheelBench(b, l, func(dy float32) { l.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: dy}}) })
	})
	b.Run("baseline", func(b *testing.B) {
		l := widget.NewList(func() int { return benchRows },
			func() fyne.CanvasObject { return container.NewStack(canvas.NewText("", theme.Color(theme.Text))) },
			func(i int, o fyne.CanvasObject) {
				text := o.(*fyne.Container).Objects[0].(*canvas.Text)
				text.Text = benchText(i)[:20]
				text.Refresh()
			})
		for i := range benchRows {
			l.SetItemHeight(i, float32(30+i*7%90))
		}
		offset := float32(0)
		for i := range benchFrom {
			offset += float32(30+i*7%90) + 4 // the list's own distance between rows
		}
		l.Resize(fyne.NewSize(800, 600))
		wheelBench(b, l, func(dy float32) {
			offset = max(0, offset-dy)
			l.ScrollToOffset(offset)
		})
	})
}

func BenchmarkScrollAMillionTableRows(b *testing.B) {
	cell := func(i, column int) string { return benchText(i + column)[:12] }
	const rows, columns, from = 1_000_000, 7, 900_000
	b.Run("ours", func(b *testing.B) {
		var heads []Column
		for range columns {
			heads = append(heads, Column{Title: "head", Width: 110})
		}
		t := NewTable(heads, TableSource{
			Len: func() int { return rows },
			Row: func(i int) ([]Cell, bool) {
				cells := make([]Cell, columns)
				for c := range cells {
					cells[c].Text = cell(i, c)
				}
				return cells, true
			},
		})
		t.Resize(fyne.NewSize(800, 600))
		t.List.ScrollTo(from)
		wheelBench(b, t, func(dy float32) { t.List.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: dy}}) })
	})
	b.Run("baseline", func(b *testing.B) {
		t := widget.NewTable(func() (int, int) { return rows, columns },
			func() fyne.CanvasObject { return widget.NewLabel("") },
			func(id widget.TableCellID, o fyne.CanvasObject) { o.(*widget.Label).SetText(cell(id.Row, id.Col)) })
		for c := range columns {
			t.SetColumnWidth(c, 110)
		}
		row := float32(from)
		t.Resize(fyne.NewSize(800, 600))
		wheelBench(b, t, func(dy float32) {
			row -= dy / 31
			t.ScrollTo(widget.TableCellID{Row: int(row)})
		})
	})
}
