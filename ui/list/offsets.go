package list

import (
	"math"
	"math/bits"
)

// Heights are multiples of 1/grain pixels: sums of such numbers are exact in float64 up to 2^47 pixels, whatever the
// order of addition. A row is drawn as high as it counts, so no gap comes of the rounding.
const grain = 64

const (
	minHeight = 1       // a row without height would let a viewport hold any number of rows
	maxHeight = 1 << 22 // beyond it a float32 on screen could not tell single pixels apart
)

// exact rounds a height up to the grain.
func exact(h float64) float64 {
	if !(h > minHeight) { // also NaN
		return minHeight
	}
	return math.Ceil(math.Min(h, maxHeight)*grain) / grain
}

// offsets knows where each row of a list begins. Row numbers out of range are the caller's fault, except in At.
type offsets interface {
	Len() int
	Total() float64
	Top(i int) float64 // Top(Len()) is Total()
	Height(i int) float64
	At(y float64) int // the row that covers y, or the nearest; -1 when there is none
	Set(i int, h float64)
	Insert(i, n int, height func(k int) float64)
	Remove(i, n int)
}

// equal is the exact arithmetic of rows that are all equally high.
type equal struct {
	n int
	h float64
}

func (e *equal) Len() int           { return e.n }
func (e *equal) Total() float64     { return float64(e.n) * e.h }
func (e *equal) Top(i int) float64  { return float64(i) * e.h }
func (e *equal) Height(int) float64 { return e.h }
func (e *equal) Set(int, float64)   {}
func (e *equal) Remove(_, n int)    { e.n -= n }

func (e *equal) Insert(_, n int, _ func(int) float64) { e.n += n }

func (e *equal) At(y float64) int {
	if e.n == 0 {
		return -1
	}
	// The comparison is made before the conversion: a float out of int's range converts to anything.
	if y >= e.Total() {
		return e.n - 1
	}
	return max(0, int(y/e.h))
}

// tree is a Fenwick tree (P. Fenwick, A New Data Structure for Cumulative Frequency Tables, 1994) over the heights:
// Top, At, Set and appending cost O(log n); inserting elsewhere and removing cost O(n).
type tree struct {
	heights []float64
	sums    []float64 // sums[i-1] is the sum of the lowbit(i) heights that end with the i-th
}

func (t *tree) Len() int             { return len(t.heights) }
func (t *tree) Total() float64       { return t.Top(len(t.heights)) }
func (t *tree) Height(i int) float64 { return t.heights[i] }

func (t *tree) Top(i int) float64 {
	sum := 0.0
	for ; i > 0; i &= i - 1 {
		sum += t.sums[i-1]
	}
	return sum
}

func (t *tree) At(y float64) int {
	n := len(t.heights)
	if n == 0 {
		return -1
	}
	row := 0
	for step := 1 << (bits.Len(uint(n)) - 1); step > 0; step >>= 1 {
		if next := row + step; next <= n && t.sums[next-1] <= y {
			row = next
			y -= t.sums[next-1]
		}
	}
	return min(row, n-1)
}

func (t *tree) Set(i int, h float64) {
	d := h - t.heights[i]
	if d == 0 {
		return
	}
	t.heights[i] = h
	for k := i + 1; k <= len(t.sums); k += k & -k {
		t.sums[k-1] += d
	}
}

func (t *tree) Insert(i, n int, height func(k int) float64) {
	if i == len(t.heights) {
		for k := range n {
			t.push(height(i + k))
		}
		return
	}
	fresh := make([]float64, 0, len(t.heights)+n)
	fresh = append(fresh, t.heights[:i]...)
	for k := range n {
		fresh = append(fresh, height(i+k))
	}
	fresh = append(fresh, t.heights[i:]...)
	t.rebuild(fresh)
}

func (t *tree) Remove(i, n int) {
	t.rebuild(append(t.heights[:i], t.heights[i+n:]...))
}

func (t *tree) rebuild(heights []float64) {
	t.heights, t.sums = heights[:0], t.sums[:0]
	for _, h := range heights {
		t.push(h)
	}
}

func (t *tree) push(h float64) {
	t.heights = append(t.heights, h)
	i := len(t.heights)
	sum := h
	for k, stop := i-1, i-i&-i; k > stop; k &= k - 1 {
		sum += t.sums[k-1]
	}
	t.sums = append(t.sums, sum)
}
