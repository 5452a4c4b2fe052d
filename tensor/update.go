package tensor

import (
	"cmp"
	"math/cmplx"
	"slices"
	"sort"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// Change is what [Update] does to one element: see [Set] and [Delete].
type Change struct {
	coord []int64
	value Scalar // without a type: nothing is stored there any more
}

// Set stores a value at a coordinate, whatever is stored there. The value is converted to the tensor's element type: a
// number that an integer type or bool does not hold, or that overflows a float, is an error of [Update].
func Set[T Element](v T, coord ...int64) Change {
	return Change{slices.Clone(coord), ArrayOf([]T{v}).Scalar(0)}
}

// Delete stores nothing at a coordinate any more, so that the element is the fill. Where nothing is stored it does nothing.
func Delete(coord ...int64) Change { return Change{coord: slices.Clone(coord)} }

// Update returns the tensor with changes, made in the order in which they are given: of several at one coordinate the last
// counts. The tensor itself stays as it is, and keeps its format, fill and name.
//
// The result is an overlay: the changes beside the arrays of the old tensor, which are not copied. Elements, entries
// and rows ([Tensor.At], [Entries], [FibreAt]) are read from both. The arrays are merged into new ones, once, when something
// needs them as they are: a run of a kernel, a conversion, a file, [StoredValues]. Updates of updates are merged
// as well once there are so many changes that carrying them on costs more. If no change adds or
// removes an entry, index arrays stay those of the old tensor, and all that is known of its pattern holds. All this shows in
// the time that things take only.
//
// Formats that have all their compressed and singleton levels one after the other with no D level behind them (CSR, CSC, COO, sparse vectors,
// C-C-S), and dense ones, have overlays. In others, such as CSF, the arrays are made at once. An element of
// a D level cannot be deleted: set it to the fill. Of a tensor that is not sorted, or stored as one triangle, make
// [Tensor.Canonical] first.
func Update(t *Tensor, changes ...Change) (*Tensor, error) {
	if err := t.pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	out, err := t.update(changes)
	return out, named(err, t.name)
}

func (t *Tensor) update(changes []Change) (*Tensor, error) {
	if !t.IsCanonical() {
		return nil, tensorError("it is %v, in which an element may be stored in several places, or elsewhere: change what Canonical makes of it", t)
	}
	edits, err := t.edits(changes)
	if err != nil {
		return nil, err
	}
	if !t.format.splices() {
		return t.rebuilt(edits)
	}
	base, work := t, 0
	if b := t.overlay.pinnedBase(); b != nil {
		defer b.Unpin()
		if work = t.overlay.work + len(t.overlay.edits); int64(work)*carryingCost < b.Bytes() {
			base, edits = b, overridden(t.overlay.edits, edits)
		} else if err := t.overlay.merge(); err != nil {
			return nil, tensorError("%v", err)
		} else {
			work = 0
		}
	}
	if base.overlay == nil { // else it is merged
		if err := base.fetchArrays(); err != nil {
			return nil, err
		}
	}
	return base.overlaid(edits, work)
}

// carryingCost is how many bytes of arrays are merged in the time that it takes to carry one change over to the next update.
const carryingCost = 256

// edit is what changes at one coordinate of a tensor.
type edit struct {
	coord []int64 // by storage level
	value Scalar
	drop  bool

	// at is the stored position, or the one before which a new one comes; parent is that of the level above the compressed one.
	at, parent int
	stored     bool
	placed     bool // these are known
}

// edits are the changes in storage order, one for each coordinate.
func (t *Tensor) edits(changes []Change) ([]edit, error) {
	edits := make([]edit, len(changes))
	for i, c := range changes {
		if len(c.coord) != t.Rank() {
			return nil, positionError(-1, i, "change %d has %d coordinates: the rank is %d", i, len(c.coord), t.Rank())
		}
		for axis, x := range c.coord {
			if x < 0 || x >= t.shape[axis] {
				return nil, outsideAxis(x, i, axis, t.shape[axis])
			}
		}
		e := edit{coord: make([]int64, len(c.coord)), drop: !c.value.dt.Valid()}
		for k := range e.coord {
			e.coord[k] = c.coord[t.format.order[k]]
		}
		if e.drop && t.format.HasBlocks() {
			return nil, positionError(-1, i, "change %d deletes an element, but format %v stores all elements of its D levels: set it to the fill, %v", i, t.format, t.fill)
		}
		if !e.drop {
			var ok bool
			if e.value, ok = c.value.held(t.DType()); !ok {
				return nil, positionError(-1, i, "change %d sets %v, which type %v does not hold", i, c.value, t.DType())
			}
		}
		edits[i] = e
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return slices.Compare(a.coord, b.coord) })
	last := edits[:0]
	for i, e := range edits {
		if i+1 == len(edits) || slices.Compare(e.coord, edits[i+1].coord) != 0 {
			last = append(last, e)
		}
	}
	return last, nil
}

// held is a number in a type that holds it: floats round, but nothing else is lost.
func (x Scalar) held(dt DType) (Scalar, bool) {
	y := x.Convert(dt)
	switch {
	case x.dt.IsComplex() && !dt.IsComplex() && imag(x.Complex128()) != 0:
		return y, false
	case dt.IsFloat() || dt.IsComplex():
		return y, !overflows(x, y)
	}
	return y, y.Convert(x.dt).Same(x)
}

// overflows reports whether a finite number has become an infinite one.
func overflows(x, y Scalar) bool {
	finite := func(x Scalar) bool {
		z := x.Complex128()
		return !cmplx.IsInf(z) && !cmplx.IsNaN(z)
	}
	return finite(x) && !finite(y)
}

// overridden are the edits of two lists, those of the later one where both have one.
func overridden(earlier, later []edit) []edit {
	out := make([]edit, 0, len(earlier)+len(later))
	for len(earlier) > 0 && len(later) > 0 {
		switch c := slices.Compare(earlier[0].coord, later[0].coord); {
		case c < 0:
			out, earlier = append(out, earlier[0]), earlier[1:]
		case c > 0:
			out, later = append(out, later[0]), later[1:]
		default:
			earlier = earlier[1:]
		}
	}
	return append(append(out, earlier...), later...)
}

// splices reports whether an overlay knows how long all arrays will be: all sparse levels are one segment, and the last ones,
// or there are none.
func (f Format) splices() bool {
	if f.IsDense() {
		return true
	}
	segments := f.segments()
	return !f.Extended() && !f.HasBlocks() && len(segments) == 1 && segments[0].last == f.Rank()-1
}

// place finds where an edit is among the positions of a tensor whose format splices.
func (t *Tensor) place(e *edit) {
	if e.placed {
		return // in an earlier overlay of the same tensor
	}
	e.placed = true
	first := 0
	if t.format.IsDense() {
		first = t.Rank()
	} else {
		first = t.format.segments()[0].first
	}
	e.parent = 0
	for k := range first {
		e.parent = e.parent*int(t.levels[k].Size) + int(e.coord[k])
	}
	if first == t.Rank() {
		e.at, e.stored = e.parent, true
		return
	}
	pos := t.levels[first].Pos
	lo, hi := int(pos.At64(e.parent)), int(pos.At64(e.parent+1))
	n, found := sort.Find(hi-lo, func(i int) int {
		for k := first; k < len(t.levels); k++ {
			if c := cmp.Compare(e.coord[k], t.levels[k].Crd.At64(lo+i)); c != 0 {
				return c
			}
		}
		return 0
	})
	e.at, e.stored = lo+n, found
}

// needed are the edits that change something, and how many entries they add and drop.
func needed(edits []edit) (some []edit, added, dropped int) {
	some = edits[:0]
	for _, e := range edits {
		switch {
		case e.drop && !e.stored:
			continue
		case e.drop:
			dropped++
		case !e.stored:
			added++
		}
		some = append(some, e)
	}
	return some, added, dropped
}

// splice is an array of what stands at each position, after edits: n elements, those at edits as given.
func splice(a Array, n int, edits []edit, element func(e *edit) Scalar) (Array, error) {
	out, err := MakeArray(a.dt, n)
	if err != nil {
		return out, err
	}
	from, to, size := a.Raw(), out.Raw(), a.dt.Size()
	src, dst := 0, 0
	for i := range edits {
		e := &edits[i]
		dst += copy(to[dst*size:], from[src*size:e.at*size]) / size
		src = e.at
		if !e.drop {
			out.SetScalar(dst, element(e))
			dst++
		}
		if e.stored {
			src++
		}
	}
	copy(to[dst*size:], from[src*size:])
	return out, nil
}

func (e *edit) newValue() Scalar { return e.value }

// coordinate reads an edit's coordinate of a storage level.
func coordinate(k int) func(e *edit) Scalar {
	return func(e *edit) Scalar { return Int(Int64, e.coord[k]) }
}

// rebuilt is the tensor with edits, by way of a list of all entries.
func (t *Tensor) rebuilt(edits []edit) (*Tensor, error) {
	e, err := t.elementEntries()
	if err != nil {
		return nil, tensorError("%v", err)
	}
	order := t.format.Order()
	for i := range edits {
		edit := &edits[i]
		edit.at, edit.stored = sort.Find(e.n, func(p int) int {
			for k, axis := range order {
				if c := cmp.Compare(uint64(edit.coord[k]), e.cols[axis].At(p)); c != 0 {
					return c
				}
			}
			return 0
		})
	}
	edits, added, dropped := needed(edits)
	if len(edits) == 0 {
		return t.Share(), nil
	}
	out := entries{n: e.n + added - dropped, cols: make([]column.Column, len(e.cols)), block: 1, order: order, distinct: true}
	for k, axis := range order {
		a, err := splice(arrayOf(e.cols[axis]), out.n, edits, coordinate(k))
		if err != nil {
			return nil, tensorError("%v", err)
		}
		out.cols[axis] = columnOf(a)
	}
	if out.values, err = splice(t.values, out.n, edits, (*edit).newValue); err != nil {
		return nil, tensorError("%v", err)
	}
	o := options{name: t.name}
	o.keepIndexTypes(t.format, t.shape, out.n, t)
	return assemble(out, t.shape, t.format, t.fill, &o)
}
