package tensor

import (
	"math/big"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// Transpose returns the tensor with its axes in another order: axis k of the result is axis
// perm[k] of t, and a nil perm reverses them. The arrays are shared; what changes is the
// axis that each level stores, so that a matrix in CSR becomes its transpose in CSC.
func (t *Tensor) Transpose(perm []int) (*Tensor, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	rank := t.Rank()
	if perm == nil {
		perm = identity(rank)
		slices.Reverse(perm)
	}
	if err := checkOrder(perm, rank); err != nil {
		return nil, named(tensorError("cannot transpose a tensor of shape %s: %v", shapeString(t.shape), err), t.name)
	}
	to := make([]int, rank) // where each axis of t goes
	shape := make([]int64, rank)
	for k, axis := range perm {
		to[axis], shape[k] = k, t.shape[axis]
	}
	order := t.format.Order()
	for k, axis := range order {
		order[k] = to[axis]
	}
	format, err := t.format.WithOrder(order)
	if err != nil {
		return nil, named(tensorError("%v", err), t.name)
	}
	return t.with(func(out *Tensor) {
		out.shape, out.format = shape, format
		if !slices.IsSorted(perm) { // a matrix with its axes swapped
			out.structure, out.attributes = t.structure.Transposed(), t.attributes.transposed()
		}
	}), nil
}

// Reshape returns the elements in row-major order as a tensor of another shape with as many
// elements, stored in the given format. What is stored is as after [Tensor.Convert]: between
// sparse formats every stored value stays; from dense blocks that the target does not have,
// values that equal the fill are left out; a D target is filled up. Axes that stay
// what they are cost nothing: where only dense levels are split or merged, or
// levels of size 1 that store nothing come and go, the arrays are shared.
//
// The options are those of [Tensor.Convert]. Without them, index arrays keep their type
// where all of them have the same one and it holds what it must.
func (t *Tensor) Reshape(shape []int64, format Format, opts ...Option) (*Tensor, error) {
	return t.derived(opts, func(o options) (*Tensor, error) {
		// Flags are for Convert, which knows how the values of one coordinate are grouped.
		out, err := t.reshape(shape, format.Standard(), o)
		if err != nil {
			return nil, err
		}
		return out.Convert(format, opts...)
	})
}

// Reshaped is [Tensor.Reshape] if that only shares arrays: it reads none of them, wherever they are.
func (t *Tensor) Reshaped(shape []int64, format Format) (*Tensor, bool) {
	if checkShape(shape, format) != nil || format.Relaxed() || !t.IsCanonical() || t.Pin() != nil {
		return nil, false
	}
	defer t.Unpin()
	groups, err := reshapeGroups(t.shape, shape)
	if err != nil {
		return nil, false
	}
	if t.format == Dense(t.Rank()) && format == Dense(len(shape)) {
		out := NewTrusted(shape, format, nil, t.values, t.fill)
		out.name = t.name
		return out, true
	}
	r := &reshaping{from: t, shape: shape, format: format, groups: groups, blocks: blocksSurvive(t, format, groups)}
	out := r.shared()
	if out == nil || format.IsDense() {
		return nil, false
	}
	out.name = t.name
	return out, true
}

// ReshapeGroups are the axes of one shape and those of another that stand for them when [Tensor.Reshape] gives a tensor that and a format, in
// runs as small as there are: elements keep their numbers, in row-major order, in each. An axis of size 1 has no counterpart. The error is
// that of Reshape. There are no groups if there are no elements.
func ReshapeGroups(from, to []int64, format Format) ([][2][]int, error) {
	if err := checkShape(to, format); err != nil {
		return nil, err
	}
	groups, err := reshapeGroups(from, to)
	list := make([][2][]int, len(groups))
	for i, g := range groups {
		list[i] = [2][]int{g.from, g.to}
	}
	return list, err
}

func (t *Tensor) reshape(shape []int64, format Format, o options) (*Tensor, error) {
	if err := checkShape(shape, format); err != nil {
		return nil, err
	}
	groups, err := reshapeGroups(t.shape, shape)
	if err != nil {
		return nil, err
	}
	if t, err = t.Canonical(); err != nil {
		return nil, err
	}
	if format.IsDense() {
		return t.reshapeDense(shape, format, o)
	}
	r := &reshaping{from: t, shape: shape, format: format, groups: groups, blocks: blocksSurvive(t, format, groups)}
	if out := r.shared(); out != nil {
		out.name = o.name
		return out, nil
	}
	e, err := r.entries()
	if err == nil {
		err = o.memory.admitList(e.n, shape)
	}
	if err != nil {
		return nil, tensorError("%v", err)
	}
	o.keepIndexTypes(format, shape, e.n, t)
	return assemble(e, shape, format, t.fill, &o)
}

// reshapeDense is reshape to a format of D levels.
func (t *Tensor) reshapeDense(shape []int64, format Format, o options) (*Tensor, error) {
	values := t.values
	if t.format != Dense(t.Rank()) {
		var err error
		if values, err = scatterDense(t.shape, identity(t.Rank()), o.memory, 0, t); err != nil {
			return nil, err
		}
	}
	out := NewTrusted(shape, Dense(len(shape)), nil, values, t.fill)
	return out.convert(format, options{name: o.name, memory: o.memory})
}

// reshapeGroups divides the axes of two shapes into groups, as small as there are. Their
// elements, and so positions in row-major order within, are at most 2^63-1. There
// are none if the shapes have no elements.
func reshapeGroups(from, to []int64) ([]axisGroup, error) {
	if a, b := elements(from), elements(to); a.Cmp(b) != 0 {
		return nil, tensorError("cannot reshape %s, of %v elements, to %s, of %v elements: the numbers must be the same",
			shapeString(from), a, shapeString(to), b)
	}
	if slices.Contains(from, 0) {
		return nil, nil
	}
	var groups []axisGroup
	var before, after []int // the axes that are not of size 1
	for axis, size := range from {
		if size == 1 {
			groups = append(groups, axisGroup{from: []int{axis}})
		} else {
			before = append(before, axis)
		}
	}
	for axis, size := range to {
		if size == 1 {
			groups = append(groups, axisGroup{to: []int{axis}})
		} else {
			after = append(after, axis)
		}
	}
	for len(before) > 0 {
		// There are as many elements before and after, so neither side runs out first.
		i, j, ok := 1, 1, true
		a, b := from[before[0]], to[after[0]]
		for a != b && ok {
			if a < b {
				a, ok = mulSizes(a, from[before[i]])
				i++
			} else {
				b, ok = mulSizes(b, to[after[j]])
				j++
			}
		}
		if !ok {
			return nil, tensorError("cannot reshape %s to %s: axes that are split or merged must have at most 2^63-1 elements",
				shapeString(from), shapeString(to))
		}
		groups = append(groups, axisGroup{before[:i:i], after[:j:j]})
		before, after = before[i:], after[j:]
	}
	return groups, nil
}

// elements is the number of elements of a shape.
func elements(shape []int64) *big.Int {
	n := big.NewInt(1)
	for _, size := range shape {
		n.Mul(n, big.NewInt(size))
	}
	return n
}

// reshaping is one reshape to a format with sparse levels.
type reshaping struct {
	from   *Tensor
	shape  []int64
	format Format
	groups []axisGroup
	blocks bool // blocks survive: see blocksSurvive
}

// blocksSurvive reports whether the blocks of trailing dense levels hold the same values in
// the same order before and after: the levels store whole groups, in one order, each
// row-major. Those of a dense tensor do not: there, nothing says what is worth storing.
func blocksSurvive(t *Tensor, format Format, groups []axisGroup) bool {
	if t.format.IsDense() {
		return false
	}
	before, ok1 := blockGroups(t.format, groups, func(g axisGroup) []int { return g.from })
	after, ok2 := blockGroups(format, groups, func(g axisGroup) []int { return g.to })
	return ok1 && ok2 && slices.Equal(before, after)
}

// blockGroups are the groups that the trailing dense levels of a format store, in
// their order, without those of size 1. It is not ok if that is not whole groups, row-major.
func blockGroups(f Format, groups []axisGroup, side func(axisGroup) []int) (list []int, ok bool) {
	order := f.Order()[f.SparseRank():]
	for len(order) > 0 {
		g := slices.IndexFunc(groups, func(g axisGroup) bool { return slices.Contains(side(g), order[0]) })
		if g < 0 || !slices.Equal(side(groups[g]), order[:min(len(order), len(side(groups[g])))]) {
			return nil, false
		}
		order = order[len(side(groups[g])):]
		if len(groups[g].from) > 0 && len(groups[g].to) > 0 {
			list = append(list, g)
		}
	}
	return list, true
}

// shared is the result if its index arrays are those of the source: if the levels, but for
// dense ones of size 1 and the trailing dense ones, are the same and store the same
// axes. Else it is nil.
func (r *reshaping) shared() *Tensor {
	if !r.blocks {
		return nil
	}
	from := storing(r.from.format, r.from.shape)
	to := storing(r.format, r.shape)
	if len(from) != len(to) {
		return nil
	}
	levels := make([]Level, len(r.shape))
	before, after := r.from.format.Order(), r.format.Order()
	types := r.format.Physical()
	for i, k := range from {
		l := to[i]
		kept := slices.ContainsFunc(r.groups, func(g axisGroup) bool {
			return slices.Equal(g.from, before[k:k+1]) && slices.Equal(g.to, after[l:l+1])
		})
		if !kept || r.from.levels[k].LevelType != types[l] {
			return nil
		}
		levels[l] = r.from.levels[k]
	}
	return NewTrusted(r.shape, r.format, levels, r.from.values, r.from.fill)
}

// storing are the levels before the trailing dense ones that are not dense of size 1.
func storing(f Format, shape []int64) []int {
	var list []int
	order := f.Order()
	for k, l := range f.Physical()[:f.SparseRank()] {
		if !l.Full() || shape[order[k]] != 1 {
			list = append(list, k)
		}
	}
	return list
}

// entries are those of the source at their new coordinates.
func (r *reshaping) entries() (entries, error) {
	t := r.from
	if t.Rank() == 0 { // the one element of a scalar is a dense block
		t = NewTrusted([]int64{1}, Dense(1), nil, t.values, t.fill)
	}
	list := t.valueEntries
	if r.blocks {
		list = t.blockEntries
	}
	e, err := list()
	if err != nil {
		return entries{}, err
	}
	if len(r.groups) == 0 { // no elements
		e.n = 0
	}
	if e.n == 0 {
		e.cols, e.order = make([]column.Column, len(r.shape)), nil
		return e, nil
	}
	stored := r.format.Order()
	if r.blocks {
		stored = stored[:r.format.SparseRank()]
	}
	e.order = r.order(e.order)
	return e, e.regroup(r.groups, r.from.shape, r.shape, stored)
}

// order is the order of the new axes in which entries are sorted that were sorted by old
// axes; nil unless each group was sorted in row-major order.
func (r *reshaping) order(old []int) []int {
	var order []int
	for len(old) > 0 {
		g := slices.IndexFunc(r.groups, func(g axisGroup) bool { return slices.Contains(g.from, old[0]) })
		if g < 0 {
			return nil
		}
		from := r.groups[g].from
		if len(old) < len(from) || !slices.Equal(old[:len(from)], from) {
			return nil
		}
		order = append(order, r.groups[g].to...)
		old = old[len(from):]
	}
	// New axes of size 1 are in order wherever they stand.
	sparse := r.format.Order()[:r.format.SparseRank()]
	var others []int
	for _, axis := range sparse {
		if r.shape[axis] != 1 {
			others = append(others, axis)
		}
	}
	if len(others) <= len(order) && slices.Equal(others, order[:len(others)]) {
		return sparse
	}
	return order
}

// keepIndexTypes asks for index arrays of the types that all those of the sources have,
// unless the options ask for others or they do not hold n positions and all coordinates.
func (o *options) keepIndexTypes(format Format, shape []int64, n int, sources ...*Tensor) {
	if o.asksIndexTypes() {
		return
	}
	var pos, crd []DType
	for _, t := range sources {
		for k, l := range t.levels {
			if k > 0 && l.HasPos() && !slices.Contains(pos, l.Pos.dt) {
				pos = append(pos, l.Pos.dt)
			}
			if l.Walked() && !slices.Contains(crd, l.Crd.dt) {
				crd = append(crd, l.Crd.dt)
			}
		}
	}
	if len(pos) == 1 && uint64(n) <= pos[0].maxIndex() {
		o.pos = pos[0]
	}
	if len(crd) != 1 {
		return
	}
	for k, l := range format.Physical() {
		if l.Walked() && maxCoordinate(shape[format.order[k]]) > crd[0].maxIndex() {
			return
		}
	}
	o.crd = crd[0]
}
