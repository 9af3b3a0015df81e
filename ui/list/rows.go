package list

import (
	"container/list"

	"fyne.io/fyne/v2"
)

// keep is how many built rows a list holds on to, visible or not, unless more are visible.
const keep = 60

// row is a built row.
type row struct {
	index   int
	key     string
	object  fyne.CanvasObject
	width   float32 // at which it was measured; 0: not yet
	stale   bool    // shows an old state
	repaint bool    // was away while the theme changed
	use     *list.Element
}

// rows are the built rows of a list: the ones used last are kept.
type rows struct {
	source *Source
	built  map[int]*row
	used   list.List // of *row, last used in front
	spare  []fyne.CanvasObject
}

func (r *rows) init(source *Source) {
	r.source, r.built = source, map[int]*row{}
}

// get returns row i built and up to date. When it is to be reused, another row's object serves.
func (r *rows) get(i int, reuse bool) *row {
	if b := r.built[i]; b != nil {
		r.used.MoveToFront(b.use)
		r.bring(b)
		return b
	}
	b := &row{index: i}
	if r.source.Key != nil {
		b.key = r.source.Key(i)
	}
	if n := len(r.spare); reuse && n > 0 {
		b.object = r.spare[n-1]
		r.spare = r.spare[:n-1]
		b.stale = true
	} else {
		b.object = r.source.Build(i)
	}
	b.use = r.used.PushFront(b)
	r.built[i] = b
	r.bring(b)
	return b
}

// bring brings a row up to date.
func (r *rows) bring(b *row) {
	if b.stale {
		b.stale, b.width = false, 0
		if r.source.Update == nil || !r.source.Update(b.object, b.index) {
			r.release(b.object)
			b.object = r.source.Build(b.index)
		}
	}
	if b.repaint {
		b.repaint = false
		b.object.Refresh()
	}
}

func (r *rows) release(object fyne.CanvasObject) {
	if r.source.Released != nil {
		r.source.Released(object)
	}
}

func (r *rows) stale(i int) {
	if b := r.built[i]; b != nil {
		b.stale, b.width = true, 0
	}
}

// repaintAll makes every row draw and measure itself anew when it is next shown.
func (r *rows) repaintAll() {
	for _, b := range r.built {
		b.repaint, b.width = true, 0
	}
}

// trim lets go of the rows used least recently, beyond limit.
func (r *rows) trim(limit int, reuse bool) {
	for r.used.Len() > limit {
		b := r.used.Back().Value.(*row)
		r.forget(b)
		if reuse && r.source.Update != nil {
			r.spare = append(r.spare, b.object)
		} else {
			r.release(b.object)
		}
	}
}

func (r *rows) forget(b *row) {
	r.used.Remove(b.use)
	delete(r.built, b.index)
}

// reindex gives every built row the number that to says; a negative one lets it go.
func (r *rows) reindex(to func(b *row) int) {
	old := r.built
	r.built = make(map[int]*row, len(old))
	for _, b := range old {
		if b.index = to(b); b.index >= 0 && r.built[b.index] == nil {
			r.built[b.index] = b
			continue
		}
		r.used.Remove(b.use)
		r.release(b.object)
	}
}

func (r *rows) shift(i, n int) {
	r.reindex(func(b *row) int { return shifted(b.index, i, n) })
}

func (r *rows) drop(i, n int) {
	r.reindex(func(b *row) int { return without(b.index, i, n) })
}

// rename finds the built rows again by their keys; what they show may have changed.
func (r *rows) rename(index map[string]int) {
	r.reindex(func(b *row) int {
		b.stale = true
		if i, ok := index[b.key]; ok && r.source.Key != nil {
			return i
		}
		return -1
	})
}

// key is the key of row i if it is built, "" otherwise.
func (r *rows) key(i int) string {
	if b := r.built[i]; b != nil {
		return b.key
	}
	return ""
}
