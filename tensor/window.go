package tensor

// Window lists the coordinates of a tensor's stored values a part at a time, where
// [Tensor.ToCoords] lists them all. A Window is used by one goroutine at a time.
type Window struct {
	t         *Tensor
	coords    [][]int64
	positions []int64 // of the level at hand, one for each value
}

// Window returns a window on the tensor's stored values, those of the tensor as it is
// stored: it must be plain, see [Tensor.Canonical], for them to be all that there is.
func (t *Tensor) Window() *Window { return t.window(0) }

// window returns one with room for n values.
func (t *Tensor) window(n int) *Window {
	w := &Window{t: t, coords: make([][]int64, t.Rank()), positions: make([]int64, n)}
	for axis := range w.coords {
		w.coords[axis] = make([]int64, n)
	}
	return w
}

// Coords returns the coordinates of stored values lo to hi-1 in storage order, one
// slice for each logical axis. They are valid until the next call. Bounds are those of
// a slice expression on the values. Of a tensor that was released there are none.
func (w *Window) Coords(lo, hi int) [][]int64 {
	if w.t == nil {
		return nil
	}
	if w.t.Pin() != nil {
		return make([][]int64, w.t.Rank())
	}
	defer w.t.Unpin()
	n := w.t.values.Slice(lo, hi).n // which checks the bounds
	if cap(w.positions) < n {
		w.positions = make([]int64, n)
	}
	w.positions = w.positions[:n]
	for i := range w.positions {
		w.positions[i] = int64(lo + i)
	}
	order := w.t.format.Order()
	for k := len(w.t.levels) - 1; k >= 0; k-- {
		axis := order[k]
		if cap(w.coords[axis]) < n {
			w.coords[axis] = make([]int64, n)
		}
		w.coords[axis] = w.coords[axis][:n]
		if n > 0 {
			w.t.ascend(k, w.positions, w.coords[axis])
		}
	}
	return w.coords
}
