package journal

// steps is how often progress is told, at most: a person sees no more.
const steps = 200

// report has progress told, nil for not.
func (w *walk) report(progress func(done, of int64)) error {
	if progress == nil {
		return nil
	}
	head, err := w.s.Head()
	w.progress, w.of = progress, head.Seq
	return err
}

func (w *walk) tell() {
	if w.progress != nil && w.seq > w.told && ((w.seq-w.told)*steps >= w.of || w.seq == w.of) {
		w.told = w.seq
		w.progress(w.seq, w.of)
	}
}
