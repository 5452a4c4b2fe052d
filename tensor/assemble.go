package tensor

import (
	"math"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// entries is a list of coordinates with a value, or a dense block of values,
// each: what every conversion goes through.
type entries struct {
	n      int
	cols   []column.Column // by logical axis; unset for the axes within the block
	values Array           // n*block elements
	block  int
	// order is the axes by which the entries are sorted, the most significant
	// first, once they are stably sorted by the first ones of them, of which unsorted is the
	// number; nil if nothing is known.
	order    []int
	unsorted int
	// distinct says that no coordinates occur twice.
	distinct bool
}

// assembler makes the arrays of one format from entries.
type assembler struct {
	shape  []int64
	format Format
	order  []int
	opts   *options
	fill   Scalar

	entries
	scatter []int           // dense axes that have columns: values go to places in a block
	keys    []column.Column // columns in storage order, sorted: sparse levels, then scatter axes
	perm    column.Permutation
	// kept is the level from which on every entry has a position of its own though
	// coordinates repeat, for multigraphs; beyond all levels for other formats.
	kept int
	// differs holds, for each sorted entry, the first key in which it differs
	// from the entry before: len(keys) if there is none, 0 for the first entry.
	differs []uint8
}

// assemble stores entries in a format. The entries' columns and values may end up
// in the tensor. The shape has been checked. A multigraph keeps entries of equal
// coordinates, which need to come with the blocks that it has.
func assemble(e entries, shape []int64, format Format, fill Scalar, opts *options) (*Tensor, error) {
	if format.Extended() {
		t, err := assemble(e, shape, format.Listed(), fill, opts)
		if err != nil {
			return nil, err
		}
		return t.packed(format, opts.memory)
	}
	b := &assembler{kept: math.MaxInt, shape: shape, format: format, order: format.Order(), opts: opts, fill: fill, entries: e}
	sparse := format.SparseRank()
	for _, axis := range b.order[sparse:] {
		if e.n > 0 && e.cols[axis].Len() == e.n && e.block == 1 {
			b.scatter = append(b.scatter, axis)
		}
	}
	if format.Multigraph() {
		if b.kept = sparse; !format.grouped() {
			b.kept = sparse - 1
		}
	}
	if err := b.sort(); err != nil {
		return nil, tensorError("%v", err)
	}
	b.compare()
	levels, err := b.levels()
	if err != nil {
		return nil, err
	}
	values, err := b.place()
	if err != nil {
		return nil, tensorError("%v", err)
	}
	t := NewTrusted(shape, format, levels, values, fill)
	t.name = opts.name
	if t.Released() {
		return nil, t.releasedError()
	}
	return t, nil
}

// sort finds the storage order of the entries and puts the columns in it.
func (b *assembler) sort() error {
	sparse := b.format.SparseRank()
	axes := b.order[:sparse:sparse]
	if !b.distinct {
		// Equal coordinates must meet, so the place in the block counts too.
		axes = append(axes, b.scatter...)
	}
	unsorted := len(axes)
	for _, axis := range axes {
		b.keys = append(b.keys, b.cols[axis])
	}
	if b.entries.order != nil {
		unsorted = unsortedPrefix(axes, b.entries.order, b.entries.unsorted)
	} else if column.Ascending(b.n, b.keys) {
		unsorted = 0
	}
	var sorted []column.Column // the leading keys that are in order already
	if unsorted > 0 {
		err := b.opts.memory.admitList(b.n, b.shape)
		if err != nil {
			return err
		}
		if b.perm, sorted, err = column.Sort(b.n, b.keys[:unsorted]); err != nil {
			return err
		}
		copy(b.keys, sorted)
	}
	if b.distinct {
		for _, axis := range b.scatter {
			b.keys = append(b.keys, b.cols[axis])
		}
	}
	b.cols = nil
	for k := len(sorted); k < len(b.keys); k++ {
		var err error
		if b.keys[k], err = b.keys[k].Permuted(b.perm); err != nil {
			return err
		}
	}
	return nil
}

// unsortedPrefix is the number of leading axes by which entries that are sorted by
// source, but for its first ones, have to be stably sorted to be in order by axes: those must be among them, and the rest of axes must
// be how source goes on once they are left out.
func unsortedPrefix(axes, source []int, unsorted int) int {
	for m := range axes {
		moved := uint64(0) // bit set of the axes sorted by; MaxRank is 64
		for _, axis := range axes[:m] {
			moved |= 1 << axis
		}
		rest := axes[m:]
		i := 0
		for k, axis := range source {
			if i == len(rest) {
				break
			}
			if moved>>axis&1 == 0 {
				if axis != rest[i] || k < unsorted {
					break
				}
				i++
			}
		}
		if i == len(rest) {
			return m
		}
	}
	return len(axes)
}

// compare fills differs.
func (b *assembler) compare() {
	if b.n == 0 || b.distinct && b.format.IsDense() {
		return
	}
	b.differs = make([]uint8, b.n)
	for i := range b.differs {
		b.differs[i] = uint8(len(b.keys))
	}
	b.differs[0] = 0
	for k := len(b.keys) - 1; k >= 0; k-- {
		key := b.keys[k]
		for i := 1; i < len(key.U32); i++ {
			if key.U32[i] != key.U32[i-1] {
				b.differs[i] = uint8(k)
			}
		}
		for i := 1; i < len(key.U64); i++ {
			if key.U64[i] != key.U64[i-1] {
				b.differs[i] = uint8(k)
			}
		}
	}
}

// starts reports whether sorted entry i is the first of its tuple of levels 0
// to last, or has a position of its own there. Every first entry starts the
// root, last = -1.
func (b *assembler) starts(i, last int) bool {
	return i == 0 || last >= b.kept || int(b.differs[i]) <= last
}

// levels builds the index arrays.
func (b *assembler) levels() ([]Level, error) {
	levels := make([]Level, b.format.Rank())
	parents, previous, lead := int64(1), -1, 0
	for _, seg := range b.format.segments() {
		for k := lead; k < seg.first; k++ {
			var ok bool
			if parents, ok = mulSizes(parents, b.shape[b.order[k]]); !ok {
				return nil, levelError(k, "format %v of shape %s has more than 2^63-1 positions: use DC or S instead of C", b.format, shapeString(b.shape))
			}
		}
		n := 0
		for i := range b.n {
			if b.starts(i, seg.last) {
				n++
			}
		}
		var err error
		if levels[seg.first].Pos, err = b.pos(seg, previous, parents, n); err != nil {
			return nil, err
		}
		for k := seg.first; k <= seg.last; k++ {
			if levels[k].Crd, err = b.crd(k, seg.last, n); err != nil {
				return nil, err
			}
		}
		parents, previous, lead = int64(n), seg.last, seg.last+1
	}
	if !b.format.grouped() {
		return levels, nil
	}
	sparse := b.format.SparseRank()
	for k := lead; k < sparse; k++ {
		var ok bool
		if parents, ok = mulSizes(parents, b.shape[b.order[k]]); !ok {
			return nil, levelError(k, "format %v of shape %s has more than 2^63-1 positions: use DC or S instead of C", b.format, shapeString(b.shape))
		}
	}
	// The values are like the positions of a level after the last.
	var err error
	levels[sparse-1].Group, err = b.pos(segment{sparse, sparse}, previous, parents, b.n)
	return levels, err
}

// pos builds the Pos array of a segment with n positions. The segment before
// ends with level previous; the levels between are dense.
func (b *assembler) pos(seg segment, previous int, parents int64, n int) (Array, error) {
	dt, err := b.opts.posType(seg.first, uint64(n))
	if err != nil {
		return Array{}, err
	}
	if parents > maxElements {
		return Array{}, levelError(seg.first, "format %v of shape %s needs %d pointers: use DC or S instead of C", b.format, shapeString(b.shape), parents)
	}
	err = b.opts.memory.admit(parents+1, positionType(n).Size())
	if err != nil {
		return Array{}, levelError(seg.first, "%v: use DC or S instead of C", err)
	}
	a, err := MakeArray(positionType(n), int(parents)+1)
	if err != nil {
		return Array{}, levelError(seg.first, "%v: use DC or S instead of C", err)
	}
	counts := columnOf(a)
	dense := b.keys[previous+1 : seg.first]
	sizes := make([]uint64, len(dense))
	for j := range dense {
		sizes[j] = uint64(b.shape[b.order[previous+1+j]])
	}
	parent := -1
	for i := range b.n {
		if b.starts(i, previous) {
			parent++
		}
		if !b.starts(i, seg.last) {
			continue
		}
		p := uint64(parent)
		for j, key := range dense {
			p = p*sizes[j] + key.At(i)
		}
		counts.Set(int(p)+1, counts.At(int(p)+1)+1)
	}
	column.Cumulate(counts)
	out, err := typed(counts, dt)
	if err != nil {
		return Array{}, levelError(seg.first, "%v", err)
	}
	return out, nil
}

// maxElements bounds the length of an index array so that its size in bytes
// cannot overflow.
const maxElements = 1 << 58

// crd builds the Crd array of level k in a segment that ends with level last
// and has n positions.
func (b *assembler) crd(k, last, n int) (Array, error) {
	size := b.shape[b.order[k]]
	dt, err := b.opts.crdType(k, size)
	if err != nil {
		return Array{}, err
	}
	key := b.keys[k]
	if n < b.n {
		if err := b.opts.memory.admit(int64(n), dt.Size()); err != nil {
			return Array{}, levelError(k, "%v", err)
		}
		kept, err := column.Make(n, maxCoordinate(size))
		if err != nil {
			return Array{}, levelError(k, "%v", err)
		}
		j := 0
		for i := range b.n {
			if b.starts(i, last) {
				kept.Set(j, key.At(i))
				j++
			}
		}
		key = kept
	}
	if b.n == 0 {
		return MakeArray(dt, 0)
	}
	out, err := typed(key, dt)
	if err != nil {
		return Array{}, levelError(k, "%v", err)
	}
	return out, nil
}
