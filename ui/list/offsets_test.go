package list

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// naive is what the tree has to agree with, to the last bit.
type naive []float64

func (n naive) top(i int) float64 {
	sum := 0.0
	for _, h := range n[:i] {
		sum += h
	}
	return sum
}

func (n naive) at(y float64) int {
	top := 0.0
	for i, h := range n {
		if top += h; y < top {
			return i
		}
	}
	return len(n) - 1
}

func agree(t *testing.T, want naive, got offsets, r *rand.Rand) {
	t.Helper()
	if got.Len() != len(want) || got.Total() != want.top(len(want)) {
		t.Fatalf("%d rows of %v pixels, want %d of %v", got.Len(), got.Total(), len(want), want.top(len(want)))
	}
	for range 5 {
		y := (r.Float64()*1.2 - 0.1) * (got.Total() + 1)
		if g, w := got.At(y), want.at(y); g != w {
			t.Fatalf("row at %v is %d, want %d", y, g, w)
		}
		if len(want) == 0 {
			continue
		}
		i := r.IntN(len(want))
		top := want.top(i)
		if got.Top(i) != top || got.Height(i) != want[i] {
			t.Fatalf("row %d at %v of height %v, want %v of %v", i, got.Top(i), got.Height(i), top, want[i])
		}
		if got.At(top) != i || (i > 0 && got.At(math.Nextafter(top, -1)) != i-1) {
			t.Fatalf("row %d does not begin at its top %v", i, top)
		}
	}
}

func TestOffsetsAgreeWithAddingUp(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		var want naive
		got := &tree{}
		height := func(int) float64 { return exact(r.ExpFloat64() * 90) }
		for range 120 {
			switch op := r.IntN(6); {
			case op == 0 || len(want) == 0: // at the end
				n := r.IntN(9)
				var fresh []float64
				got.Insert(len(want), n, func(int) float64 { fresh = append(fresh, height(0)); return fresh[len(fresh)-1] })
				want = append(want, fresh...)
			case op == 1: // anywhere
				i, n := r.IntN(len(want)+1), r.IntN(9)
				var fresh []float64
				got.Insert(i, n, func(int) float64 { fresh = append(fresh, height(0)); return fresh[len(fresh)-1] })
				want = slices.Insert(want, i, fresh...)
			case op == 2:
				i := r.IntN(len(want))
				n := r.IntN(min(6, len(want)-i) + 1)
				got.Remove(i, n)
				want = slices.Delete(want, i, i+n)
			default:
				i, h := r.IntN(len(want)), height(0)
				got.Set(i, h)
				want[i] = h
			}
			agree(t, want, got, r)
		}
	}
}

func TestEqualOffsetsAreArithmetic(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 3))
	for range 50 {
		e := &equal{n: r.IntN(300), h: exact(r.Float64() * 60)}
		want := make(naive, e.n)
		for i := range want {
			want[i] = e.h
		}
		agree(t, want, e, r)
	}
	big := &equal{n: 1 << 40, h: 31}
	for _, i := range []int{0, 1, 400_000, 1<<40 - 1} {
		if big.At(big.Top(i)) != i || big.At(big.Top(i)+30.9) != i {
			t.Errorf("row %d is not found where it begins", i)
		}
	}
	if big.At(math.MaxFloat64) != 1<<40-1 || big.At(-1e300) != 0 {
		t.Error("a place beyond the ends is not the nearest row")
	}
}

func TestHeightsAreAlwaysUsable(t *testing.T) {
	t.Parallel()
	for _, h := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -5, 0, 1e-9, 17.3, 1e300} {
		got := exact(h)
		if !(got >= minHeight && got <= maxHeight) || got*grain != math.Trunc(got*grain) {
			t.Errorf("height %v became %v", h, got)
		}
		if h >= minHeight && h <= maxHeight && (got < h || got-h > 1.0/grain) {
			t.Errorf("height %v became %v", h, got)
		}
	}
}
