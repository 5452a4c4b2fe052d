package convert

import (
	"context"
	"slices"

	lowerconvert "github.com/lacuna-sparse/lacuna/lower/convert"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Conversions in which entries get other coordinates: of one tensor by one kernel, of several by a list of each, and one of what
// these make together, which is stored.

// mapping is a map, and the numbers that go with it.
type mapping struct {
	*lowerconvert.Map
	extents, shifts []int64 // by axis of the result
}

// shape is the shape of what a conversion of t makes.
func (c *conversion) shape(t *tensor.Tensor) []int64 {
	if c.mapping.Map == nil {
		return t.Dims()
	}
	return c.mapping.extents
}

// mapped stores the entries of a tensor where a map says, by a kernel.
func (c *conversion) mapped(ctx context.Context, t *tensor.Tensor, m mapping, format tensor.Format) (*tensor.Tensor, error) {
	switch {
	case !t.IsCanonical() || t.Format().Extended():
		return nil, fallback("kernels move the entries of sorted tensors, not of %s %s", t.Structure(), t.Format())
	case format.Extended():
		return nil, fallback("kernels convert no levels of kinds that are registered")
	case format.Relaxed(): // what is sorted is one of those that it allows
		sorted, err := c.mapped(ctx, t, m, format.Standard())
		if err != nil {
			return nil, err
		}
		out, err := sorted.Convert(format)
		return replaced(sorted, out), err
	case slices.Contains(t.Dims(), 0) && bytesAway(t) > 0: // positions
		return Empty(m.extents, format, t.DType(), tensor.WithFill(t.Fill()))
	case slices.Contains(t.Dims(), 0):
		return nil, errFallback
	}
	c.mapping, c.options.Resident = m, c.resident
	return c.kernel(ctx, t, format, lowerconvert.Stored)
}

// onDevice converts a tensor on the session's device, or says errFallback. The result is the caller's to release.
func (s *Service) onDevice(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	c := s.remote()
	switch {
	case format.Extended() || t.Format().Extended():
		return nil, fallback("kernels convert no levels of kinds that are registered")
	case format.Relaxed():
		return nil, fallback("%s", flagsReason(format))
	case t.Structure() != tensor.General:
		return c.wholeMatrix(ctx, t, format)
	case t.Format().Relaxed():
		return c.sortedList(ctx, t, format)
	case t.Format() == format:
		return t.Share(), nil
	}
	return c.convert(ctx, t, format)
}

// wholeMatrix stores a matrix of which one triangle is stored, with the other one.
func (c *conversion) wholeMatrix(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	if f := t.Format(); keepsBlocks(f) || f.IsDense() && !c.resident {
		return nil, fallback("kernels do not keep dense blocks")
	}
	levels := make([]tensor.Level, t.Rank())
	for k := range levels {
		levels[k] = t.LevelAt(k)
	}
	stored := tensor.NewTrusted(t.Shape(), t.Format(), levels, t.Values(), t.Fill())
	defer stored.Release()
	other := lowerconvert.Map{Groups: []lowerconvert.Group{{From: []int{0}, To: []int{1}}, {From: []int{1}, To: []int{0}}}, Mirror: lowerconvert.Same}
	switch t.Structure() {
	case tensor.HermitianLower, tensor.HermitianUpper:
		other.Mirror = lowerconvert.Conjugated
	case tensor.SkewSymmetricLower, tensor.SkewSymmetricUpper:
		other.Mirror = lowerconvert.Negated
	}
	out, err := c.appended(ctx, []*tensor.Tensor{stored, stored}, []mapping{{}, {Map: &other}}, t.Shape(), format)
	if err != nil {
		return nil, err
	}
	return renamed(out, t.Name())
}

// list is the entries of a tensor, where a map says if there is one, in the order in which they are stored, as a list
// of coordinates.
func (c *conversion) list(ctx context.Context, t *tensor.Tensor, m mapping) (*tensor.Tensor, error) {
	t, err := c.plainly(ctx, t)
	if err != nil {
		return nil, err
	}
	defer t.Release()
	if !t.IsCanonical() || t.Format().Extended() {
		return nil, fallback("kernels list the entries of sorted tensors, not of %s %s", t.Structure(), t.Format())
	}
	format, err := tensor.Coordinates(t.Rank()).WithOrder(m.Order(t.Format().Order(), nil))
	if err != nil {
		return nil, err
	}
	one := *c
	one.mapping, one.options.Resident = m, c.resident
	var out *tensor.Tensor
	if m.Map == nil && t.Format() == format && narrowlyTyped(t) {
		out = t.Share()
	} else {
		out, err = one.kernel(ctx, t, format, lowerconvert.Stored)
	}
	c.begun = one.begun // what is worth a kernel once is so for all of them
	return out, err
}

// appended stores the entries of several tensors, each where its map says, in one of some shape.
func (c *conversion) appended(ctx context.Context, tensors []*tensor.Tensor, maps []mapping, shape []int64, format tensor.Format) (*tensor.Tensor, error) {
	if !c.resident && c.OnGrids() {
		return nil, errFallback // of lists that would go to the device and back
	}
	first := tensors[0]
	arrays := make([][]tensor.Array, len(shape)+1) // by axis, then values
	for i, t := range tensors {
		if t.NNZ() == 0 {
			continue
		}
		m := maps[i]
		m.extents = shape
		list, err := c.list(ctx, t, m)
		if err != nil {
			return nil, err
		}
		defer list.Release()
		if list.NNZ() == 0 {
			continue
		}
		for l, axis := range list.Format().Order() {
			arrays[axis] = append(arrays[axis], list.LevelAt(l).Crd)
		}
		arrays[len(shape)] = append(arrays[len(shape)], list.Values())
	}
	if len(arrays[len(shape)]) == 0 {
		return Empty(shape, format, first.DType(), tensor.WithFill(first.Fill()))
	}
	joined := make([]tensor.Array, len(arrays))
	for k, list := range arrays {
		var err error
		if joined[k], err = c.joined(ctx, list); err != nil {
			return nil, err
		}
	}
	order, err := tensor.Coordinates(len(shape)).WithOrder(format.Order()) // it will be sorted so
	if err != nil {
		return nil, err
	}
	levels := make([]tensor.Level, len(shape))
	for l, axis := range order.Order() {
		levels[l].Crd = joined[axis]
	}
	all := tensor.NewTrusted(shape, order, levels, joined[len(shape)], first.Fill())
	out, err := c.fromCoords(ctx, all, format)
	if err != nil {
		all.Release()
		return nil, err
	}
	return replaced(all, out), nil
}

// joined copies arrays, which must be of one type, into one, on the device or here.
func (c *conversion) joined(ctx context.Context, arrays []tensor.Array) (tensor.Array, error) {
	dt, n := arrays[0].DType(), 0
	var parts []runtime.Memory
	for _, a := range arrays {
		if a.DType() != dt {
			return tensor.Array{}, fallback("kernels join arrays of one type, not %s and %s", dt, a.DType())
		}
		parts = append(parts, c.Memory(a))
		n += a.Len()
	}
	if c.resident {
		r, err := runtime.Concatenate(ctx, c.Engine, parts, int64(dt.Size()))
		if err != nil {
			return tensor.Array{}, err
		}
		return tensor.RemoteArray(dt, n, r), nil
	}
	if err := runtime.Admits("the entries of all tensors", int64(n), dt, c.Options); err != nil {
		return tensor.Array{}, err
	}
	out, err := tensor.MakeArray(dt, n)
	to := out.Raw()
	for _, a := range arrays {
		to = to[copy(to, a.Raw()):]
	}
	return out, err
}

// unblocking is the map that joins the axes of blocks with those of the elements in them, and leaves out what is
// beyond the shape.
func unblocking(blocks, shape []int64) mapping {
	m := lowerconvert.Map{}
	for axis, n := range shape {
		m.Groups = append(m.Groups, lowerconvert.Group{From: []int{axis, len(shape) + axis}, To: []int{axis}})
		m.Cut = m.Cut || n%blocks[len(shape)+axis] != 0
	}
	return mapping{Map: &m, extents: shape}
}

// shifting is the map that adds a number to the coordinates along an axis.
func shifting(rank, axis int, by int64) mapping {
	m := mapping{Map: &lowerconvert.Map{Shift: []int{axis}}, shifts: make([]int64, rank)}
	for k := range rank {
		m.Groups = append(m.Groups, lowerconvert.Group{From: []int{k}, To: []int{k}})
	}
	m.shifts[axis] = by
	return m
}

// Coordinates are those of the entries of a tensor in any format, in the order of its values, by axis.
func (s *Service) Coordinates(ctx context.Context, t *tensor.Tensor) ([]tensor.Array, error) {
	list := t
	if s.placed(t) && expands(t) {
		var err error
		if list, err = s.remote().expanded(ctx, t); err != nil {
			return nil, err
		}
	}
	arrays := make([]tensor.Array, t.Rank())
	if s.placed(list) && list.Format().IsCoordinates() {
		for l, axis := range list.Format().Order() {
			arrays[axis] = list.LevelAt(l).Crd
		}
		return arrays, nil
	}
	if err := s.onHost("list the coordinates of "+t.Format().String(), "kernels list those of tensors without dense blocks", t); err != nil {
		return nil, err
	}
	coords, _, err := t.ToCoords()
	for axis := range coords {
		arrays[axis] = tensor.ArrayOf(coords[axis])
	}
	return arrays, err
}
