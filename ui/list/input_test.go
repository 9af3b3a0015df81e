package list

import (
	"fmt"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
)

func TestKeysChoose(t *testing.T) {
	s := newSheet(t, 300, func(int) float32 { return 30_000 }).window(610, 400)
	s.Selectable = true
	var chosen, opened []int
	s.OnSelected = func(i int) { chosen = append(chosen, i) }
	s.OnOpened = func(i int) { opened = append(opened, i) }
	for _, k := range []fyne.KeyName{fyne.KeyDown, fyne.KeyDown, fyne.KeyUp, fyne.KeyUp, fyne.KeyEnd, fyne.KeyPageUp, fyne.KeyHome, fyne.KeyPageDown, fyne.KeyReturn} {
		s.TypedKey(&fyne.KeyEvent{Name: k})
		s.whole()
		i := s.Selected()
		if first, last := s.VisibleRows(); i < first || i > last {
			t.Fatalf("after %s the chosen row %d is out of sight", k, i)
		}
		if y := s.y(s.names[i]); y < 0 || y+50 > 400.05 {
			t.Fatalf("after %s the chosen row shows only in part, at %v", k, y)
		}
	}
	if fmt.Sprint(chosen) != "[0 1 0 299 293 0 6]" || fmt.Sprint(opened) != "[6]" {
		t.Errorf("chosen %v, opened %v", chosen, opened)
	}
}

func TestPointerChoosesAndOpens(t *testing.T) {
	s := newSheet(t, 300, func(int) float32 { return 30_000 }).window(610, 400)
	s.Selectable = true
	var opened, menu []int
	s.OnOpened = func(i int) { opened = append(opened, i) }
	s.OnSecondary = func(i int, _ *fyne.PointEvent) { menu = append(menu, i) }
	s.wheel(-20)
	at := &fyne.PointEvent{Position: fyne.NewPos(30, 95)} // 50 high, shifted by 20
	s.Tapped(at)
	if s.Selected() != 2 || opened != nil {
		t.Errorf("row %d was chosen, %v opened", s.Selected(), opened)
	}
	s.Tapped(at)
	s.TappedSecondary(at)
	if fmt.Sprint(opened, menu) != "[2] [2]" {
		t.Errorf("opened %v, menu on %v", opened, menu)
	}
	s.MouseMoved(&desktop.MouseEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(9, 45)}})
	if !s.hoverMark.Visible() || s.hoverMark.Position().Y != 30 || s.hoverMark.Size().Height != 50 {
		t.Error("the row under the pointer is not marked")
	}
	if s.selectedMark.Position().Y != 80 || !s.selectedMark.Visible() {
		t.Error("the chosen row is not marked")
	}
	s.MouseOut()
	if s.hoverMark.Visible() {
		t.Error("the mark stays when the pointer is gone")
	}
}

func TestTheScrollBar(t *testing.T) {
	s := newSheet(t, 4000, ragged).window(640, 480)
	b := s.bar
	drag := func(y, dy float32) {
		b.Dragged(&fyne.DragEvent{PointEvent: fyne.PointEvent{Position: fyne.NewPos(5, y)}, Dragged: fyne.Delta{DY: dy}})
		s.whole()
	}
	drag(12, 2) // taken hold of ten pixels below its top
	if top, _, _ := b.span(); !near(top, 2) {
		t.Errorf("dragged by 2, the thumb is at %v", top)
	}
	drag(2000, 1988)
	if _, last := s.VisibleRows(); last != 3999 {
		t.Errorf("dragged to the end, row %d is last", last)
	}
	drag(-50, -2050)
	if offset, _, _ := s.Offset(); offset != 0 {
		t.Errorf("dragged to the start, the offset is %v", offset)
	}
	drag(240, 290)
	top, length, _ := b.span()
	if mid := top + length/2; mid < 180 || mid > 300 {
		t.Errorf("dragged to the middle, the thumb is at %v", mid)
	}
	b.DragEnd()
	first, last := s.VisibleRows()
	b.Tapped(&fyne.PointEvent{Position: fyne.NewPos(5, 479)})
	if f, _ := s.VisibleRows(); f <= first || f > last {
		t.Errorf("a page from rows %d to %d led to %d", first, last, f)
	}
	b.Tapped(&fyne.PointEvent{Position: fyne.NewPos(5, 1)})
	if f, _ := s.VisibleRows(); f != first {
		t.Errorf("a page back led to %d, not %d", f, first)
	}
}

func TestHorizontalMovementGoesToTheRow(t *testing.T) {
	s := newSheet(t, 300, func(int) float32 { return 30_000 }).window(610, 400)
	s.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DX: -30, DY: 4}, PointEvent: fyne.PointEvent{Position: fyne.NewPos(60, 70)}})
	if row := s.shown()[1]; row.dx != -30 || row.at != fyne.NewPos(60, 20) {
		t.Errorf("row 1 was moved by %v at %v", row.dx, row.at)
	}
	if offset, _, _ := s.Offset(); offset != 0 {
		t.Error("the list moved too")
	}
}

// TestWhatMarksTheWindowForPaintingIsAlwaysDrawn: Fyne finds an object's window only while the object is drawn, so the
// marks, which are hidden where nothing is chosen, cannot ask for painting.
func TestWhatMarksTheWindowForPaintingIsAlwaysDrawn(t *testing.T) {
	s := newSheet(t, 300, func(int) float32 { return 30_000 }).window(610, 400)
	s.Selectable = true
	drawn := func(when string) {
		t.Helper()
		if !slices.Contains(test.WidgetRenderer(s.List).Objects(), fyne.CanvasObject(s.paper)) || !s.paper.Visible() || s.paper.Size().IsZero() {
			t.Errorf("%s: what asks for painting is not drawn", when)
		}
	}
	drawn("at first")
	s.Select(3)
	s.Select(-1)
	drawn("nothing is chosen any more")
	s.Reset()
	drawn("after Reset")
	s.ScrollToEnd()
	drawn("at the end")
	s.areas, s.names = nil, nil
	s.Reset()
	drawn("without rows")
}
