package list

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	test.NewApp()
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent())
}

// paper is a row whose height is an area divided by its width, like that of text.
type paper struct {
	canvas.Rectangle
	name string
	area float32
	at   fyne.Position // of the last horizontal movement
	dx   float32
}

func (p *paper) HeightFor(width float32) float32 { return float32(math.Ceil(float64(p.area / width))) }

func (p *paper) ScrolledSideways(at fyne.Position, dx float32) { p.at, p.dx = at, p.dx+dx }

// sheet is a list with the rows it shows.
type sheet struct {
	*List
	t        *testing.T
	areas    []float32
	names    []string
	built    int
	released int
	next     int
}

func (s *sheet) fresh(area float32) (float32, string) {
	s.next++
	return area, fmt.Sprint("row ", s.next)
}

func newSheet(t *testing.T, n int, area func(i int) float32) *sheet {
	s := &sheet{t: t}
	for i := range n {
		a, name := s.fresh(area(i))
		s.areas, s.names = append(s.areas, a), append(s.names, name)
	}
	s.List = New(Source{
		Len: func() int { return len(s.areas) },
		Key: func(i int) string { return s.names[i] },
		Build: func(i int) fyne.CanvasObject {
			s.built++
			return &paper{name: s.names[i], area: s.areas[i]}
		},
		Update: func(o fyne.CanvasObject, i int) bool {
			o.(*paper).name, o.(*paper).area = s.names[i], s.areas[i]
			return true
		},
		Released: func(fyne.CanvasObject) { s.released++ },
	})
	return s
}

func (s *sheet) window(width, height float32) *sheet {
	w := test.NewTempWindow(s.t, s.List)
	w.SetPadded(false)
	w.Resize(fyne.NewSize(width, height))
	s.List.Resize(fyne.NewSize(width, height))
	return s
}

// shown are the rows on the field, top down.
func (s *sheet) shown() []*paper {
	var all []*paper
	for _, o := range s.field.Objects {
		if p, ok := o.(*paper); ok {
			all = append(all, p)
		}
	}
	return all
}

// whole fails unless the visible rows cover the viewport one after the other, each as high as its width asks.
func (s *sheet) whole() {
	s.t.Helper()
	rows := s.shown()
	if len(rows) == 0 {
		s.t.Fatal("no row is visible")
	}
	view := s.Size().Height
	first, last := s.VisibleRows()
	if len(rows) != last-first+1 {
		s.t.Fatalf("%d rows stand for rows %d to %d", len(rows), first, last)
	}
	for i, r := range rows {
		if r.name != s.names[first+i] {
			s.t.Fatalf("%s stands in the place of %s", r.name, s.names[first+i])
		}
		if want := r.HeightFor(r.Size().Width); r.Size().Height != want {
			s.t.Fatalf("%s is %v high, want %v", r.name, r.Size().Height, want)
		}
		if i > 0 {
			bottom := rows[i-1].Position().Y + rows[i-1].Size().Height
			if gap := r.Position().Y - bottom; gap > 0.01 || gap < -0.01 {
				s.t.Fatalf("%s begins %v pixels after the row above it", r.name, gap)
			}
		}
	}
	_, total, _ := s.Offset()
	top, bottom := rows[0].Position().Y, rows[len(rows)-1].Position().Y+rows[len(rows)-1].Size().Height
	if top > 0 || (bottom < view && total >= float64(view)) {
		s.t.Fatalf("the rows cover %v to %v of %v", top, bottom, view)
	}
}

func (s *sheet) y(name string) float32 {
	s.t.Helper()
	for _, r := range s.shown() {
		if r.name == name {
			return r.Position().Y
		}
	}
	s.t.Fatalf("%s is not visible", name)
	return 0
}

func (s *sheet) wheel(dy float32) {
	s.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: dy}, PointEvent: fyne.PointEvent{Position: fyne.NewPos(50, 50)}})
}

func near(a, b float32) bool { return math.Abs(float64(a-b)) < 0.05 }

func ragged(i int) float32 {
	r := rand.New(rand.NewPCG(uint64(i), 7))
	return float32(4000 + r.ExpFloat64()*40_000)
}

func TestTenThousandRowsOfDifferentHeight(t *testing.T) {
	s := newSheet(t, 10_000, ragged).window(800, 600)
	s.whole()
	if s.built > 60 {
		t.Errorf("%d rows were built to show the first ones", s.built)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		switch r.IntN(4) {
		case 0:
			s.ScrollTo(r.IntN(10_000))
		case 1:
			s.scrollTo(r.Float64() * s.at.Total())
		default:
			s.wheel(float32(r.NormFloat64() * 400))
		}
		s.whole()
	}
	if n := len(s.rows.built); n > keep {
		t.Errorf("%d rows are held", n)
	}
	if s.built-s.released != len(s.rows.built) {
		t.Errorf("%d built and %d let go, but %d held", s.built, s.released, len(s.rows.built))
	}
	s.ScrollToEnd()
	s.whole()
	if _, last := s.VisibleRows(); last != 9999 {
		t.Errorf("the end shows row %d", last)
	}
}

func TestScrollToIsExact(t *testing.T) {
	s := newSheet(t, 3000, ragged).window(700, 500)
	for _, i := range []int{0, 1, 1500, 1499, 2700, 3} {
		s.ScrollTo(i)
		if y := s.y(s.names[i]); y != 0 {
			t.Errorf("row %d stands at %v", i, y)
		}
	}
	s.ScrollTo(-4)
	s.whole()
	s.ScrollTo(1 << 40)
	s.whole()
}

// Rows above have never been measured: what is visible must move by the wheel's distance all the same.
func TestScrollingUpMovesWhatIsSeenByTheDistance(t *testing.T) {
	s := newSheet(t, 2000, ragged).window(640, 480)
	s.ScrollTo(1200)
	for range 300 {
		first, _ := s.VisibleRows()
		name, before := s.names[first], s.y(s.names[first])
		s.wheel(37)
		s.whole()
		if after := s.y(name); !near(after, before+37) {
			t.Fatalf("%s moved by %v, want 37", name, after-before)
		}
	}
}

func TestResizeKeepsRowsWholeAndThePlace(t *testing.T) {
	s := newSheet(t, 1000, ragged).window(800, 600)
	for _, start := range []int{0, 400, 999} {
		s.ScrollTo(start)
		s.wheel(-25)
		first, _ := s.VisibleRows()
		for width := float32(300); width <= 1500; width += 60 {
			s.Resize(fyne.NewSize(width, 600))
			s.whole()
			if got, _ := s.VisibleRows(); start != 999 && got != first {
				t.Fatalf("at width %v row %d is at the top, it was %d", width, got, first)
			}
		}
	}
}

func TestNothingIsBuiltWhileNarrowOrHidden(t *testing.T) {
	s := newSheet(t, 50, ragged).window(99, 600)
	if s.built != 0 {
		t.Errorf("%d rows were built at 99 pixels", s.built)
	}
	s.Hide()
	s.Resize(fyne.NewSize(500, 600))
	s.areas, s.names = append(s.areas, 5), append(s.names, "late")
	s.Inserted(50, 1)
	s.Changed(3)
	s.wheel(-100)
	if s.built != 0 {
		t.Errorf("%d rows were built while hidden", s.built)
	}
	s.Show()
	s.whole()
}

func TestFollowingTheEnd(t *testing.T) {
	s := newSheet(t, 40, ragged).window(600, 400)
	var told []bool
	below := 0
	s.OnFollow = func(f bool) { told = append(told, f) }
	s.OnBelow = func() { below++ }
	s.SetFollow(true)
	atEnd := func() bool {
		offset, total, view := s.Offset()
		return offset == total-view
	}
	grow := func() {
		s.areas[len(s.areas)-1] += 9000
		s.Changed(len(s.areas) - 1)
		s.whole()
	}
	for range 50 {
		if grow(); !atEnd() {
			t.Fatal("the end ran away")
		}
	}
	s.wheel(1) // the smallest movement up ends it
	first, _ := s.VisibleRows()
	y := s.y(s.names[first])
	for range 50 {
		grow()
		if !near(s.y(s.names[first]), y) {
			t.Fatal("the view was pulled away from who scrolled up")
		}
	}
	if below != 50 || len(told) != 2 || told[1] {
		t.Errorf("told of %d changes below, and following %v", below, told)
	}
	s.areas, s.names = append(s.areas, 5000), append(s.names, "new")
	s.Inserted(len(s.areas)-1, 1)
	if below != 51 {
		t.Error("a new row below was not told")
	}
	s.wheel(-1e6)
	if !s.Following() || !atEnd() {
		t.Error("coming back to the end does not follow it")
	}
	s.scrollTo(100) // the bar
	if grow(); s.Following() {
		t.Error("dragging the bar up does not end following")
	}
	s.ScrollToEnd()
	if grow(); !s.Following() || !atEnd() {
		t.Error("the way back to the end does not lead there")
	}
}

func TestTheEndIsReachedWithoutBuildingWhatIsAboveIt(t *testing.T) {
	s := newSheet(t, 1000, func(int) float32 { return 120_000 }) // much higher than an unseen row is thought to be
	s.SetFollow(true)
	s.window(600, 400)
	s.whole()
	if s.built > 4 {
		t.Errorf("%d rows were built to show two", s.built)
	}
}

func TestShortContentKeepsFollowing(t *testing.T) {
	s := newSheet(t, 1, func(int) float32 { return 1000 }).window(600, 400)
	s.SetFollow(true)
	s.wheel(30)
	if !s.Following() {
		t.Error("where nothing can be scrolled, scrolling up ended following")
	}
}

func TestThePlaceIsKeptWhileRowsComeGoAndGrow(t *testing.T) {
	s := newSheet(t, 500, ragged).window(640, 480)
	s.ScrollTo(250)
	s.wheel(-13)
	first, _ := s.VisibleRows()
	name := s.names[first]
	y := s.y(name)
	r := rand.New(rand.NewPCG(9, 9))
	for range 300 {
		first, last := s.VisibleRows()
		above := r.IntN(first - 5)
		switch r.IntN(4) {
		case 0:
			s.areas = append(s.areas[:above], append([]float32{ragged(r.IntN(1e6))}, s.areas[above:]...)...)
			_, fresh := s.fresh(0)
			s.names = append(s.names[:above], append([]string{fresh}, s.names[above:]...)...)
			s.Inserted(above, 1)
		case 1:
			if first > 100 {
				s.areas = append(s.areas[:above], s.areas[above+1:]...)
				s.names = append(s.names[:above], s.names[above+1:]...)
				s.Removed(above, 1)
			}
		case 2:
			i := max(0, first-1-r.IntN(5))
			s.areas[i] = ragged(r.IntN(1e6))
			s.Changed(i)
		case 3:
			s.areas[last] = ragged(r.IntN(1e6))
			s.Changed(last)
		}
		s.whole()
		if got := s.y(name); !near(got, y) {
			t.Fatalf("%s went from %v to %v", name, y, got)
		}
	}
}

func TestNewRowsAtTheVeryTopAreShown(t *testing.T) {
	s := newSheet(t, 100, ragged).window(640, 480)
	s.areas, s.names = append([]float32{9000}, s.areas...), append([]string{"newest"}, s.names...)
	s.Inserted(0, 1)
	if s.y("newest") != 0 {
		t.Error("the newest row came in above the viewport")
	}
}

func TestResetFindsThePlaceAndTheChoiceAgain(t *testing.T) {
	s := newSheet(t, 300, ragged).window(640, 480)
	s.Selectable = true
	s.ScrollTo(120)
	s.wheel(-7)
	first, _ := s.VisibleRows()
	name, y := s.names[first], s.y(s.names[first])
	s.Select(first + 1)
	s.areas, s.names = s.areas[40:], s.names[40:]
	built := s.built
	s.Reset()
	s.whole()
	if s.built > built+1 {
		t.Errorf("%d rows that stayed were built anew", s.built-built)
	}
	if !near(s.y(name), y) || s.Selected() != first+1-40 {
		t.Errorf("%s at %v (was %v), row %d chosen", name, s.y(name), y, s.Selected())
	}
	s.areas, s.names = nil, nil
	s.Reset()
	if len(s.shown()) != 0 || s.Selected() != -1 {
		t.Error("an empty list shows something")
	}
}

func TestASourceThatForgotToTellIsSurvived(t *testing.T) {
	s := newSheet(t, 300, ragged).window(640, 480)
	s.ScrollToEnd()
	s.areas, s.names = s.areas[:20], s.names[:20]
	s.wheel(-10)
	s.whole()
	s.Changed(250)
	s.Removed(19, 5)
	s.Inserted(400, 1)
	s.whole()
}

func TestAPlaceIsFoundAgain(t *testing.T) {
	s := newSheet(t, 900, ragged).window(640, 480)
	s.SetFollow(true)
	s.ScrollTo(500)
	s.wheel(-21)
	p := s.Place()
	first, _ := s.VisibleRows()
	y := s.y(s.names[first])
	s.ScrollToEnd()
	s.SetPlace(p)
	if f, _ := s.VisibleRows(); f != first || !near(s.y(s.names[first]), y) || s.Following() {
		t.Errorf("row %d is at the top, it was %d", f, first)
	}
}

func TestARowThatGrowsByItselfIsMeasuredAgain(t *testing.T) {
	s := newSheet(t, 100, func(int) float32 { return 30_000 }).window(610, 400)
	s.shown()[1].area = 60_000
	s.field.Layout.Layout(s.field.Objects, s.field.Size()) // Fyne does this when a smallest size changed
	s.whole()
	if s.y(s.names[2]) != 150 {
		t.Errorf("the row below stands at %v", s.y(s.names[2]))
	}
}

func TestWideListsKeepRowsInTheMiddle(t *testing.T) {
	s := newSheet(t, 100, ragged)
	s.MaxWidth = 720
	s.window(1010, 400)
	if r := s.shown()[0]; r.Size().Width != 720 || r.Position().X != 140 {
		t.Errorf("a row is %v wide at %v", r.Size().Width, r.Position().X)
	}
}

func TestAMillionRowsAreExact(t *testing.T) {
	built, shown := 0, map[*canvas.Rectangle]int{}
	l := NewEqual(Source{
		Len:    func() int { return 1_000_000 },
		Build:  func(i int) fyne.CanvasObject { built++; r := canvas.NewRectangle(nil); shown[r] = i; return r },
		Update: func(o fyne.CanvasObject, i int) bool { shown[o.(*canvas.Rectangle)] = i; return true },
	}, 39)
	w := test.NewTempWindow(t, l)
	w.SetPadded(false)
	l.Resize(fyne.NewSize(600, 500))
	check := func() {
		t.Helper()
		first, _ := l.VisibleRows()
		for k, o := range l.field.Objects[2:] {
			if shown[o.(*canvas.Rectangle)] != first+k {
				t.Fatalf("row %d stands in the place of %d", shown[o.(*canvas.Rectangle)], first+k)
			}
			if k > 0 && o.Position().Y-l.field.Objects[1+k].Position().Y != 39 {
				t.Fatal("rows are not 39 pixels apart")
			}
		}
	}
	for _, i := range []int{400_000, 999_900, 31, 777_777} {
		l.ScrollTo(i)
		if first, _ := l.VisibleRows(); first != i || l.field.Objects[2].Position().Y != 0 {
			t.Errorf("row %d is at the top, asked for %d", first, i)
		}
		check()
		l.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.Delta{DY: 1}})
		check()
		if l.field.Objects[3].Position().Y != 1 {
			t.Error("a movement of one pixel is lost")
		}
	}
	if built > 80 {
		t.Errorf("%d objects were built", built)
	}
	l.ScrollToEnd()
	check()
	if _, last := l.VisibleRows(); last != 999_999 {
		t.Errorf("the end shows row %d", last)
	}
}
