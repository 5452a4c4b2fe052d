package convert

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Operations that move entries are done on a device by way of lists: a tensor becomes a list of
// coordinates, expressions compute with the coordinates as with any other vectors, and
// the list is stored in the format that is wanted. A conversion begins or ends it, which the
// device sorts for.

// coordList is the entries of a tensor as vectors on a device.
type coordList struct {
	*Service
	ctx    context.Context
	name   string
	shape  []int64
	coords []*tensor.Tensor // by axis
	values *tensor.Tensor
	fill   tensor.Scalar
	sorted bool             // in row-major order
	made   []*tensor.Tensor // to be released at the end
	err    error            // the first one
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
		l, err := s.triangleList(ctx, t)
		if err != nil {
			return nil, err
		}
		defer l.release()
		return l.store(format)
	case t.Format().Relaxed():
		return c.sortedList(ctx, t, format)
	case t.Format() == format:
		return t.Share(), nil
	}
	return c.convert(ctx, t, format)
}

// listOf is the entries of a tensor in row-major order. The list must be released.
func (s *Service) listOf(ctx context.Context, t *tensor.Tensor) (*coordList, error) {
	list, err := s.onDevice(ctx, t, tensor.Coordinates(t.Rank()))
	if err != nil {
		return nil, err
	}
	l := &coordList{Service: s, ctx: ctx, name: t.Name(), shape: t.Shape(), fill: t.Fill(), sorted: true, made: []*tensor.Tensor{list}}
	for k := range t.Rank() {
		l.coords = append(l.coords, l.vector(list.LevelAt(k).Crd))
	}
	l.values = l.vector(list.Values())
	return l, nil
}

// triangleList is the entries of a matrix of which one triangle is stored, with those of the
// other one.
func (s *Service) triangleList(ctx context.Context, t *tensor.Tensor) (*coordList, error) {
	levels := make([]tensor.Level, t.Rank())
	for k := range levels {
		levels[k] = t.LevelAt(k)
	}
	l, err := s.listOf(ctx, tensor.NewTrusted(t.Shape(), t.Format(), levels, t.Values(), t.Fill()))
	if err != nil {
		return nil, err
	}
	if l.err == nil {
		other := *l
		other.made, other.coords = nil, slices.Clone(l.coords)
		other.where("i64(r(p)) != i64(c(p))", operands{"r": l.coords[0], "c": l.coords[1]})
		other.coords[0], other.coords[1] = other.coords[1], other.coords[0]
		switch t.Structure() {
		case tensor.HermitianLower, tensor.HermitianUpper:
			other.values = other.map1("R(p) = conj(v(p))", operands{"v": other.values}, t.DType())
		case tensor.SkewSymmetricLower, tensor.SkewSymmetricUpper:
			other.values = other.map1("R(p) = -v(p)", operands{"v": other.values}, t.DType())
		}
		l.add(&other)
	}
	if l.err != nil {
		l.release()
		return nil, l.err
	}
	return l, nil
}

// release ends the use of a list.
func (l *coordList) release() {
	for _, t := range l.made {
		t.Release()
	}
}

// vector is an array as a tensor.
func (l *coordList) vector(a tensor.Array) *tensor.Tensor {
	return l.keep(tensor.NewTrusted([]int64{int64(a.Len())}, tensor.Dense(1), nil, a, tensor.Zero(a.DType())))
}

// keep sees to a tensor's release.
func (l *coordList) keep(t *tensor.Tensor) *tensor.Tensor {
	if t != nil {
		l.made = append(l.made, t)
	}
	return t
}

// store stores the entries in a format.
func (l *coordList) store(format tensor.Format) (*tensor.Tensor, error) {
	if l.err != nil {
		return nil, l.err
	}
	rank := len(l.shape)
	if l.values.Shape()[0] == 0 {
		return Empty(l.shape, format, l.values.DType(), tensor.WithFill(l.fill))
	}
	order := tensor.Coordinates(rank)
	if !l.sorted { // it will be sorted in the order of the format
		var err error
		if order, err = order.WithOrder(format.Order()); err != nil {
			return nil, err
		}
	}
	levels := make([]tensor.Level, rank)
	for k, axis := range order.Order() {
		levels[k].Crd = l.coords[axis].Values()
	}
	list := tensor.NewTrusted(l.shape, order, levels, l.values.Values(), l.fill)
	c := l.remote()
	store := c.fromCoords
	if l.sorted {
		store = c.fromSorted
	}
	out, err := store(l.ctx, list, format)
	if err != nil {
		list.Release()
		return nil, err
	}
	return renamed(replaced(list, out), l.name)
}

// evaluate runs a program whose results are vectors of some types.
func (l *coordList) evaluate(program string, args operands, results map[string]tensor.DType) map[string]*tensor.Tensor {
	if l.err != nil {
		return nil
	}
	out, err := l.Evaluate(l.ctx, program, args, results)
	l.err = err
	for _, t := range out {
		l.keep(t)
	}
	return out
}

// operands are those of a program, by name.
type operands = map[string]tensor.Operand

// compute runs a program whose results R0, R1, … are vectors of i64, as many as n.
func (l *coordList) compute(n int, program []string, args operands) []*tensor.Tensor {
	types := map[string]tensor.DType{}
	for k := range n {
		types[fmt.Sprintf("R%d", k)] = tensor.Int64
	}
	out := l.evaluate(strings.Join(program, "; "), args, types)
	if l.err != nil {
		return nil
	}
	list := make([]*tensor.Tensor, n)
	for k := range list {
		list[k] = out[fmt.Sprintf("R%d", k)]
	}
	return list
}

// pick takes the elements of a vector at some places.
func (l *coordList) pick(v, places *tensor.Tensor) *tensor.Tensor {
	if l.err != nil {
		return nil // of which the type is not known
	}
	return l.map1("R(q) = v(k(q))", operands{"v": v, "k": places}, v.DType())
}

// map1 runs a program whose result R is a vector of a type.
func (l *coordList) map1(program string, args operands, dt tensor.DType) *tensor.Tensor {
	return l.evaluate(program, args, map[string]tensor.DType{"R": dt})["R"]
}

// unequal are the places at which a vector does not have a value, as for [tensor.FromDense].
func (l *coordList) unequal(v *tensor.Tensor, value tensor.Scalar) *tensor.Tensor {
	if l.err != nil {
		return nil
	}
	given := l.keep(tensor.NewTrusted(v.Shape(), tensor.Dense(1), nil, v.Values(), value))
	kept, err := l.onDevice(l.ctx, given, tensor.Coordinates(1))
	if err != nil {
		l.err = err
		return nil
	}
	l.keep(kept)
	return l.vector(kept.LevelAt(0).Crd)
}

// choose keeps the entries at some places.
func (l *coordList) choose(places *tensor.Tensor) {
	if l.err != nil {
		return
	}
	for axis, c := range l.coords {
		l.coords[axis] = l.pick(c, places)
	}
	l.values = l.pick(l.values, places)
}

// where keeps the entries for whose places p a predicate holds.
func (l *coordList) where(predicate string, args operands) {
	holds := l.map1("R(p) = where("+predicate+", 1, 0)", args, tensor.Int64)
	l.choose(l.unequal(holds, tensor.Zero(tensor.Int64)))
}

// add appends the entries of another list.
func (l *coordList) add(other *coordList) {
	l.made = append(l.made, other.made...)
	other.made = nil
	if l.err == nil {
		l.err = other.err
	}
	if l.err != nil {
		return
	}
	l.sorted = false
	for axis := range l.coords {
		l.coords[axis] = l.joined(l.coords[axis], other.coords[axis])
	}
	l.values = l.joined(l.values, other.values)
}

// joined puts two vectors into one; coordinates may differ in type.
func (l *coordList) joined(a, b *tensor.Tensor) *tensor.Tensor {
	if l.err != nil {
		return nil
	}
	if a.DType() != b.DType() {
		a, b = l.wide(a), l.wide(b)
	}
	out, err := l.concatVectors(l.ctx, a.DType(), a.Values(), b.Values())
	if err != nil {
		l.err = err
		return nil
	}
	return l.vector(out)
}

// wide is a vector of coordinates as i64.
func (l *coordList) wide(v *tensor.Tensor) *tensor.Tensor {
	return l.map1("R(q) = i64(v(q))", operands{"v": v}, tensor.Int64)
}

// reshape computes the coordinates of the entries in another shape with as many elements, which
// are below 2^63. The entries stay in row-major order.
func (l *coordList) reshape(shape []int64) {
	args := operands{}
	place := "i64(0)"
	for axis, n := range l.shape {
		c, extent := fmt.Sprintf("c%d", axis), fmt.Sprintf("n%d", axis)
		place = fmt.Sprintf("(%s)*%s + i64(%s(p))", place, extent, c)
		args[c], args[extent] = l.coords[axis], number(n)
	}
	program := []string{"place(p) = " + place}
	stride := int64(1)
	for axis := len(shape) - 1; axis >= 0; axis-- {
		program = append(program, fmt.Sprintf("R%[1]d(p) = mod(floordiv(place(p), s%[1]d), m%[1]d)", axis))
		args[fmt.Sprintf("s%d", axis)], args[fmt.Sprintf("m%d", axis)] = number(stride), number(shape[axis])
		stride *= shape[axis]
	}
	l.coords, l.shape = l.compute(len(shape), program, args), shape
}

// shift adds a number to the coordinates along an axis.
func (l *coordList) shift(axis int, by int64) {
	if by == 0 {
		return
	}
	l.coords[axis] = l.map1("R(p) = i64(c(p)) + n", operands{"c": l.coords[axis], "n": number(by)}, tensor.Int64)
}

// unblock joins the axes of blocks with those of the elements in them, and leaves out what is
// beyond the shape.
func (l *coordList) unblock(shape []int64) {
	var program, inside []string
	args := operands{}
	beyond := false
	for axis, n := range shape {
		size := l.shape[len(shape)+axis]
		beyond = beyond || n%size != 0
		program = append(program, fmt.Sprintf("R%[1]d(p) = i64(I%[1]d(p))*b%[1]d + i64(i%[1]d(p))", axis))
		inside = append(inside, fmt.Sprintf("c%[1]d(p) < n%[1]d", axis))
		args[fmt.Sprintf("I%d", axis)], args[fmt.Sprintf("i%d", axis)] = l.coords[axis], l.coords[len(shape)+axis]
		args[fmt.Sprintf("b%d", axis)] = number(size)
	}
	l.coords, l.shape, l.sorted = l.compute(len(shape), program, args), shape, false
	if !beyond || l.err != nil {
		return
	}
	args = operands{}
	for axis, n := range shape {
		args[fmt.Sprintf("c%d", axis)], args[fmt.Sprintf("n%d", axis)] = l.coords[axis], number(n)
	}
	l.where(strings.Join(inside, " and "), args)
}

// number is an operand that is a number.
func number(n int64) *tensor.Tensor { return tensor.ScalarTensor(tensor.Int(tensor.Int64, n)) }

// concatVectors copies arrays of one type into one on the device.
func (s *Service) concatVectors(ctx context.Context, dt tensor.DType, arrays ...tensor.Array) (tensor.Array, error) {
	var parts []runtime.Memory
	n := 0
	for _, a := range arrays {
		parts = append(parts, s.Memory(a))
		n += a.Len()
	}
	r, err := runtime.Concatenate(ctx, s.Engine, parts, int64(dt.Size()))
	if err != nil {
		return tensor.Array{}, err
	}
	return tensor.RemoteArray(dt, n, r), nil
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
