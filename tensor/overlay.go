package tensor

import "slices"

// Overlay returns the elements of part inside a region and those of base outside
// it, stored in the given format with base's fill. The two must have one shape, one
// element type and one fill. What is stored in the result is what base stores
// outside the region and part inside it. inside is called with the coordinates of
// stored elements, one for each axis, in a slice that it must not keep; what part
// stores outside the region is left out.
func Overlay(base, part *Tensor, inside func(coords []int64) bool, format Format) (*Tensor, error) {
	if !slices.Equal(base.shape, part.shape) || base.values.dt != part.values.dt {
		return nil, tensorError("a part with shape %s of %s does not fit a tensor with shape %s of %s",
			shapeString(part.shape), part.values.dt, shapeString(base.shape), base.values.dt)
	}
	if !base.fill.Same(part.fill) {
		return nil, tensorError("a part with fill %s does not fit a tensor with fill %s", part.fill, base.fill)
	}
	outer, err := base.selected(func(c []int64) bool { return !inside(c) })
	if err != nil {
		return nil, err
	}
	inner, err := part.selected(inside)
	if err != nil {
		return nil, err
	}
	coords := make([][]int64, base.Rank())
	for axis := range coords {
		coords[axis] = append(outer.coords[axis], inner.coords[axis]...)
	}
	n := outer.values.n + inner.values.n
	values, err := MakeArray(base.values.dt, n)
	if err != nil {
		return nil, tensorError("%v", err)
	}
	copy(values.Raw()[copy(values.Raw(), outer.values.Raw()):], inner.values.Raw())
	return FromCoords(base.shape, format, coords, values, WithFill(base.fill), WithName(base.name))
}

// selection is some of the stored elements of a tensor.
type selection struct {
	coords [][]int64
	values Array
}

// selected lists the stored elements whose coordinates keep accepts.
func (t *Tensor) selected(keep func(coords []int64) bool) (selection, error) {
	coords, values, err := t.ToCoords()
	if err != nil {
		return selection{}, err
	}
	at := make([]int64, t.Rank())
	var kept []uint64
	for p := range values.n {
		for axis, list := range coords {
			at[axis] = list[p]
		}
		if keep(at) {
			kept = append(kept, uint64(p))
		}
	}
	s := selection{coords: coords}
	for axis, list := range coords {
		for i, p := range kept {
			list[i] = list[p]
		}
		s.coords[axis] = list[:len(kept):len(kept)]
	}
	if len(kept) == 0 {
		s.values, err = MakeArray(values.dt, 0)
		return s, err
	}
	s.values, err = gather(values, permutation{column{u64: kept}})
	return s, err
}
