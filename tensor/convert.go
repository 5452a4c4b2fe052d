package tensor

import (
	"runtime"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// FromCoords makes a tensor of entries given by their coordinates: coords has
// one slice for each logical axis, each as long as values. They need not be
// sorted. Values at equal coordinates are summed in the order they are given
// (for Bool: or), but in a multigraph kept in that order (with D levels: one
// block, of sums); explicit zeros are stored. Slices are shared where the entries are in
// storage order already and the tensor has its coordinates in that width (see
// [WithIndexTypes]): do not write to them. The error is a
// [*FormatError] whose Level is -1 and whose Position is the entry. A Builder of package from takes entries
// one by one.
func FromCoords[I Index](shape []int64, format Format, coords [][]I, values Array, opts ...Option) (*Tensor, error) {
	arrays := make([]Array, len(coords))
	for axis, list := range coords {
		arrays[axis] = ArrayOf(list)
	}
	return FromColumns(shape, format, arrays, values, opts...)
}

// FromColumns is [FromCoords] for coordinates in arrays, whose integer types are known at run time only.
func FromColumns(shape []int64, format Format, coords []Array, values Array, opts ...Option) (*Tensor, error) {
	defer runtime.KeepAlive(coords)
	defer runtime.KeepAlive(values.owner)
	o := collect(opts)
	t, err := fromColumns(shape, format, coords, values, o)
	return t, named(err, o.name)
}

func fromColumns(shape []int64, format Format, coords []Array, values Array, o options) (*Tensor, error) {
	if err := checkShape(shape, format); err != nil {
		return nil, err
	}
	if len(coords) != len(shape) {
		return nil, tensorError("coordinates for %d axes are given, shape %s has %d", len(coords), shapeString(shape), len(shape))
	}
	if err := checkValues(values); err != nil {
		return nil, err
	}
	fill, err := o.fillFor(values.dt)
	if err != nil {
		return nil, err
	}
	if err := o.memory.admitList(values.n, shape); err != nil {
		return nil, tensorError("%v", err)
	}
	e := entries{n: values.n, cols: make([]column.Column, len(shape)), values: values, block: 1}
	for axis, list := range coords {
		if list.n != values.n {
			return nil, tensorError("axis %d has %d coordinates, there are %d values", axis, list.n, values.n)
		}
		if e.cols[axis], err = coordinateColumn(list, axis, shape[axis]); err != nil {
			return nil, err
		}
	}
	out, err := assembleAny(e, shape, format, fill, &o)
	if err != nil {
		return nil, err
	}
	return out.limited(format, &o)
}

// assembleAny is assemble for entries that need not have the blocks of the format.
func assembleAny(e entries, shape []int64, format Format, fill Scalar, o *options) (*Tensor, error) {
	if !format.Multigraph() || format.SparseRank() == len(shape) {
		return assemble(e, shape, format.unsplit(), fill, o)
	}
	summed, err := assemble(e, shape, format.Standard(), fill, o)
	if err != nil {
		return nil, err
	}
	return summed.stored(format.unsplit(), o)
}

// limited is a tensor with the positions of its levels split as options ask.
func (t *Tensor) limited(format Format, o *options) (*Tensor, error) {
	limit, err := o.fibreLimit(format)
	if err != nil {
		return nil, err
	}
	if t.format != format {
		t = t.relabelled(format)
	}
	if limit == 0 {
		return t, nil
	}
	return t.split(limit)
}

// relabelled is the tensor in a format whose flags allow what the tensor is.
func (t *Tensor) relabelled(format Format) *Tensor {
	return t.with(func(out *Tensor) {
		out.format, out.levels = format, t.Levels()
		for k, physical := range format.Physical() {
			out.levels[k].LevelType = physical
		}
	})
}

// coordinateColumn checks the coordinates of one axis, which are copied only if they
// have the wrong width.
func coordinateColumn(list Array, axis int, size int64) (column.Column, error) {
	switch list.dt {
	case Int8:
		return narrowed(View[int8](list), list, axis, size)
	case Int16:
		return narrowed(View[int16](list), list, axis, size)
	case Int32:
		return narrowed(View[int32](list), list, axis, size)
	case Int64:
		return narrowed(View[int64](list), list, axis, size)
	case Uint8:
		return narrowed(View[uint8](list), list, axis, size)
	case Uint16:
		return narrowed(View[uint16](list), list, axis, size)
	case Uint32:
		return narrowed(View[uint32](list), list, axis, size)
	case Uint64:
		return narrowed(View[uint64](list), list, axis, size)
	}
	return column.Column{}, tensorError("the coordinates of axis %d have the element type %v: it must be an integer type", axis, list.dt)
}

func narrowed[I Index](list []I, a Array, axis int, size int64) (column.Column, error) {
	for i, c := range list {
		if uint64(c) >= uint64(size) { // a negative one is large
			return column.Column{}, outsideAxis(int64(c), i, axis, size)
		}
	}
	if a.dt.Size() == narrowestIndex(maxCoordinate(size)).Size() {
		return widened(a, maxCoordinate(size))
	}
	col, err := column.Make(len(list), maxCoordinate(size))
	if err != nil {
		return column.Column{}, tensorError("%v", err)
	}
	if col.U32 == nil {
		for i, c := range list {
			col.U64[i] = uint64(c)
		}
		return col, nil
	}
	for i, c := range list {
		col.U32[i] = uint32(c)
	}
	return col, nil
}

func outsideAxis(c int64, entry, axis int, size int64) error {
	return positionError(-1, entry, "coordinate %d of entry %d is out of range: axis %d has the size %d", c, entry, axis, size)
}

// FromDense makes a tensor of the elements of a dense array in row-major order.
// Elements that equal the fill are not stored, unless in a dense block with
// others that differ: -0.0 differs from 0, and NaN equals a fill of NaN. For a
// format of D levels in row-major order the values are shared.
func FromDense(shape []int64, format Format, values Array, opts ...Option) (*Tensor, error) {
	defer runtime.KeepAlive(values.owner)
	o := collect(opts)
	t, err := fromDense(shape, format, values, o)
	return t, named(err, o.name)
}

func fromDense(shape []int64, format Format, values Array, o options) (*Tensor, error) {
	if err := checkShape(shape, format); err != nil {
		return nil, err
	}
	dense, err := newTensor(shape, Dense(len(shape)), make([]Level, len(shape)), values, o)
	if err != nil {
		return nil, err
	}
	defer dense.Release()
	return dense.convert(format, o)
}

// Convert stores the tensor in another format. Between sparse formats every
// stored value stays, zeros included; a D target is filled up with the fill;
// from dense blocks that the target does not have, values that equal the fill
// are left out as FromDense does. Where nothing changes the arrays are shared.
//
// The values of one coordinate are summed, in storage order, unless the target is a
// multigraph ([Format.Multigraph]), which keeps them apart in that order. A target
// with flags is given sorted arrays, and split ones with [WithFibreLimit]; but where
// its flags allow the arrays that there are, those are shared.
//
// [WithFill] is an error unless every value is stored (all levels D, no
// [Structure]): another fill would change the tensor's meaning. The structure
// stays: the stored triangle is converted. See [Tensor.Attributes] for those.
func (t *Tensor) Convert(format Format, opts ...Option) (*Tensor, error) {
	return t.derived(opts, func(o options) (*Tensor, error) { return t.convert(format, o) })
}

// derived is what a function makes of the tensor, which is pinned meanwhile, by options. The name is the tensor's
// unless they say another.
func (t *Tensor) derived(opts []Option, of func(o options) (*Tensor, error)) (*Tensor, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	o := collect(opts)
	if o.name == "" {
		o.name = t.name
	}
	out, err := of(o)
	return out, named(err, o.name)
}

func (t *Tensor) convert(format Format, o options) (*Tensor, error) {
	if err := checkShape(t.shape, format); err != nil {
		return nil, err
	}
	source := t.Share()
	source.name = o.name
	if o.fill.dt.Valid() {
		fill, err := o.fillFor(t.DType())
		if err != nil {
			return nil, err
		}
		switch {
		case fill.Same(t.fill):
		case t.structure != General:
			return nil, tensorError("cannot change the fill from %v to %v: one triangle is stored (%v); expand it first", t.fill, fill, t.structure)
		case !t.format.IsDense():
			return nil, tensorError("cannot change the fill from %v to %v: convert to D first, so that every value is stored", t.fill, fill)
		default:
			source.attributes = t.attributes.without(LowerTriangular | UpperTriangular)
		}
		source.fill = fill
	}
	out, err := source.rearranged(format, &o)
	if err != nil {
		return nil, err
	}
	limited, err := out.limited(format, &o)
	if err != nil {
		return nil, err
	}
	limited.structure = source.structure
	result := limited.WithAttributesOf(source)
	for _, temporary := range []*Tensor{source, out, limited} {
		if temporary != result {
			temporary.Release()
		}
	}
	return result, nil
}

// rearranged is the tensor, whose arrays it may share, in a format but for its limit.
func (t *Tensor) rearranged(format Format, o *options) (*Tensor, error) {
	switch {
	case format.Allows(t.format):
		return t.retyped(o)
	case format == t.format.Standard():
		out, err := t.standard()
		if err != nil {
			return nil, err
		}
		return out.retyped(o)
	}
	return t.stored(format.unsplit(), o)
}

// stored stores what the tensor stores in another format, whose levels do not split.
func (t *Tensor) stored(format Format, o *options) (*Tensor, error) {
	sameBlocks := t.hasBlocksOf(format)
	var err error
	switch {
	case format.Multigraph() && !sameBlocks:
		// Which values share a block is known once there is one of each.
		if t, err = t.stored(format.Standard(), &options{name: t.name, memory: o.memory}); err != nil {
			return nil, err
		}
	case !t.format.unique() && !format.Multigraph() && (t.format.HasBlocks() || format.HasBlocks()):
		if t, err = t.standard(); err != nil {
			return nil, err
		}
	}
	if format.IsDense() {
		values, err := scatterDense(t.shape, format.Order(), o.memory, 0, t)
		if err != nil {
			return nil, err
		}
		out := NewTrusted(t.shape, format, nil, values, t.fill)
		out.name = o.name
		return out, nil
	}
	list := t.valueEntries
	if t.hasBlocksOf(format) {
		list = t.blockEntries
	}
	e, err := list()
	if err == nil {
		err = o.memory.admitList(e.n, t.shape) // it is as long as what is stored: how long is known now
	}
	if err != nil {
		return nil, tensorError("%v", err)
	}
	return assemble(e, t.shape, format, t.fill, o)
}

// hasBlocksOf reports whether the trailing D levels are those of a format, so that
// entries can go over with their dense blocks.
func (t *Tensor) hasBlocksOf(format Format) bool {
	sparse := t.format.SparseRank()
	return sparse == format.SparseRank() && slices.Equal(t.format.Order()[sparse:], format.Order()[sparse:])
}

// retyped is the tensor with index arrays of the types that o asks for.
func (t *Tensor) retyped(o *options) (*Tensor, error) {
	if !o.asksIndexTypes() {
		return t, nil
	}
	levels := t.Levels()
	for k, l := range levels {
		if l.Group.dt != Invalid {
			dt, err := o.posType(k+1, uint64(t.blocks()))
			if err != nil {
				return nil, err
			}
			if levels[k].Group, err = l.Group.Convert(dt); err != nil {
				return nil, levelError(k, "%v", err)
			}
		}
		if l.schema().Pack != nil {
			continue // its elements are no coordinates
		}
		if l.HasPos() {
			dt, err := o.posType(k, uint64(l.Crd.n))
			if err != nil {
				return nil, err
			}
			if levels[k].Pos, err = l.Pos.Convert(dt); err != nil {
				return nil, levelError(k, "%v", err)
			}
		}
		if l.HasCrd() {
			dt, err := o.crdType(k, l.Size)
			if err != nil {
				return nil, err
			}
			if levels[k].Crd, err = l.Crd.Convert(dt); err != nil {
				return nil, levelError(k, "%v", err)
			}
		}
	}
	return t.with(func(out *Tensor) { out.levels = levels }), nil
}

// ToCoords returns the coordinates of every stored value, one slice for each
// logical axis, and the values, shared, both in storage order. Every element of
// a dense block is listed, even where it equals the fill.
func (t *Tensor) ToCoords() (coords [][]int64, values Array, err error) {
	if err := t.Pin(); err != nil {
		return nil, Array{}, err
	}
	defer t.Unpin()
	e, err := t.elementEntries()
	if err != nil {
		return nil, Array{}, named(tensorError("%v", err), t.name)
	}
	coords = make([][]int64, t.Rank())
	for axis, col := range e.cols {
		wide, err := typed(col, Int64)
		if err != nil {
			return nil, Array{}, named(tensorError("%v", err), t.name)
		}
		coords[axis] = View[int64](wide)
		if coords[axis] == nil {
			coords[axis] = []int64{}
		}
		e.cols[axis] = column.Column{}
	}
	return coords, t.values, nil
}

// ToDense returns every element in row-major order, of the whole matrix for a
// tensor with a [Structure]. It is an error if there are more than 2^63-1, or more
// than the memory holds. The array is shared with the tensor if it is stored so.
func (t *Tensor) ToDense() (Array, error) {
	if err := t.Pin(); err != nil {
		return Array{}, err
	}
	defer t.Unpin()
	plain, err := t.Canonical()
	if err != nil {
		return Array{}, err
	}
	if plain.format == Dense(t.Rank()) {
		return plain.values, nil
	}
	values, err := scatterDense(t.shape, identity(t.Rank()), nil, 0, plain)
	return values, named(err, t.name)
}
