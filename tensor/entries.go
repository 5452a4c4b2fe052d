package tensor

import "iter"

// Entries goes over the stored values in storage order, each with its logical coordinates. The slice of coordinates is
// the same one every time: copy what is kept. Nothing is allocated for an entry. The values are converted to T by the
// rules of [Scalar.Convert] if the tensor's elements are of another type.
//
// Every element of a dense block is stored, whatever it equals; each of the values that a multigraph has at one place
// comes by itself; of a tensor with a [Structure] there is the stored triangle. A tensor that was released has
// no entries.
func Entries[T Element](t *Tensor) iter.Seq2[[]int64, T] {
	return func(yield func([]int64, T) bool) {
		if t.pin() != nil {
			return
		}
		defer t.Unpin()
		var edits []edit
		if b := t.overlay.pinnedBase(); b != nil {
			defer b.Unpin()
			t, edits = b, t.overlay.edits
		}
		w := walk[T]{axes: t.format.Order(), coord: make([]int64, t.Rank()), values: valuesOf[T](t.values), yield: yield, edits: edits}
		n := t.values.n
		window := t.window(min(n, listedAtOnce))
		for lo, step := 0, 1<<6; lo < n; lo, step = lo+step, min(2*step, listedAtOnce) { // at first little: who looks for one entry may stop soon
			hi := min(lo+step, n)
			coords := window.Coords(lo, hi)
			for p := lo; p < hi; p++ {
				for axis, list := range coords {
					w.coord[axis] = list[p-lo]
				}
				if !w.at(p) {
					return
				}
			}
		}
		w.added(n)
	}
}

// walk goes over a tensor's entries.
type walk[T Element] struct {
	axes   []int
	coord  []int64
	values values[T]
	yield  func([]int64, T) bool
	edits  []edit // of an overlay, that are still to come
}

// at visits position p, and what edits have before it; false if the loop over entries ended.
func (w *walk[T]) at(p int) bool {
	if len(w.edits) > 0 && w.edits[0].at <= p {
		return w.edited(p)
	}
	return w.yield(w.coord, w.values.at(p))
}

// edited visits what edits have at and before position p.
func (w *walk[T]) edited(p int) bool {
	if !w.added(p) {
		return false
	}
	if len(w.edits) == 0 || w.edits[0].at > p {
		return w.yield(w.coord, w.values.at(p))
	}
	e := w.edits[0]
	w.edits = w.edits[1:]
	return e.drop || w.yield(w.coord, goValue[T](e.value))
}

// added visits the entries that edits add before position p.
func (w *walk[T]) added(p int) bool {
	var at []int64
	for ; len(w.edits) > 0 && w.edits[0].at <= p && !w.edits[0].stored; w.edits = w.edits[1:] {
		if at == nil {
			at = make([]int64, len(w.axes))
		}
		for k, c := range w.edits[0].coord {
			at[w.axes[k]] = c
		}
		if !w.yield(at, goValue[T](w.edits[0].value)) {
			return false
		}
	}
	return true
}

// values reads elements as values of a Go type.
type values[T Element] struct {
	same    []T // where the elements are of that type
	from    Array
	scratch Array // of one T, for conversions
	one     []T
}

func valuesOf[T Element](a Array) values[T] {
	if a.dt == dtypeOf[T]() {
		return values[T]{same: View[T](a)}
	}
	one := make([]T, 1)
	return values[T]{from: a, one: one, scratch: ArrayOf(one)}
}

func (v *values[T]) at(p int) T {
	if v.same != nil {
		return v.same[p]
	}
	v.scratch.SetScalar(0, v.from.Scalar(p))
	return v.one[0]
}

// StoredValues are the stored values of a tensor in storage order, shared, and so not all its elements: those of a
// sparse one that are not stored are missing (see [Elements]). T must be as wide as the element type, as for [View]; else the
// slice is nil.
func StoredValues[T Element](t *Tensor) []T {
	if t == nil {
		return nil
	}
	return View[T](t.Values())
}

// Elements are all elements of a tensor in row-major order, its fill where nothing is stored; shared if the tensor is
// stored so and T is its element type, else converted by the rules of [Scalar.Convert].
func Elements[T Element](t *Tensor) ([]T, error) {
	a, err := t.ToDense()
	if err == nil {
		a, err = a.Convert(dtypeOf[T]())
	}
	return View[T](a), err
}

// At is the element at a coordinate, as [Tensor.At] finds it, in a Go type: converted by the rules of [Scalar.Convert]. A
// coordinate outside the shape is an error.
func At[T Element](t *Tensor, coord ...int64) (T, error) {
	var none T
	if err := t.pin(); err != nil {
		return none, err
	}
	defer t.Unpin()
	x := t.At(coord...)
	if !x.dt.Valid() {
		return none, named(tensorError("there is no element at %v: the shape is %v", coord, t.shape), t.name)
	}
	return goValue[T](x), nil
}

// goValue is a scalar in a Go type.
func goValue[T Element](x Scalar) T {
	one := make([]T, 1)
	ArrayOf(one).SetScalar(0, x)
	return one[0]
}
