package tensor

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// standard stores the tensor in the standard format of its own: sorted, with the values of
// equal coordinates summed in storage order (for Bool: or). Arrays that are so already
// are shared.
func (t *Tensor) standard() (*Tensor, error) {
	if !t.format.Relaxed() {
		return t, nil
	}
	format := t.format.Standard()
	if !t.format.grouped() {
		out := NewTrusted(t.shape, format, t.levels, t.values, t.fill)
		out.name = t.name
		if validate(out) == nil {
			out.structure, out.attributes = t.structure, t.attributes
			return out, nil
		}
	}
	list := t.blockEntries
	if t.block() != 1 && !t.format.unique() {
		list = t.elementEntries
	}
	e, err := list()
	if err != nil {
		return nil, tensorError("%v", err)
	}
	o := options{name: t.name}
	o.keepIndexTypes(format, t.shape, e.n, t)
	out, err := assemble(e, t.shape, format, t.fill, &o)
	if err != nil {
		return nil, err
	}
	out.structure = t.structure
	return out.WithAttributesOf(t), nil
}

// lookUpAll is lookUp in a tensor whose format has flags: it looks at every position
// that may have the coordinate.
func (t *Tensor) lookUpAll(coord []int64) (Scalar, bool) {
	sparse := t.format.SparseRank()
	at := []int{0} // the positions found so far
	for k, l := range t.levels {
		c := coord[t.format.order[k]]
		if k == sparse && t.format.grouped() {
			at = underEach(at, t.levels[k-1].Group)
		}
		switch {
		case l.Full():
			for i := range at {
				at[i] = at[i]*int(l.Size) + int(c)
			}
			continue
		case l.Ranges():
			at = underEach(at, l.Pos)
		}
		at = slices.DeleteFunc(at, func(p int) bool { return l.Crd.At64(p) != c })
	}
	if sparse == len(t.levels) && t.format.grouped() {
		at = underEach(at, t.levels[sparse-1].Group)
	}
	switch len(at) {
	case 0:
		return t.fill, false
	case 1:
		return t.values.Scalar(at[0]), true
	}
	places := make([]uint64, len(at))
	for i, p := range at {
		places[i] = uint64(p)
	}
	out, err := MakeArray(t.values.dt, 1)
	if err != nil {
		panic("BUG: no room for one element: " + err.Error())
	}
	b := &assembler{entries: entries{values: t.values}, perm: column.Permutation{Column: column.Column{U64: places}}}
	b.sum(out, 0, 0, len(places))
	return out.Scalar(0), true
}

// underEach lists the positions under each of some parents.
func underEach(parents []int, pos Array) []int {
	var out []int
	for _, p := range parents {
		for q := pos.At64(p); q < pos.At64(p+1); q++ {
			out = append(out, int(q))
		}
	}
	return out
}

// validateUnsorted checks the coordinates of a segment in any order: in range, and unique
// under each parent unless tuples may repeat. Those that are not in order are sorted to
// see that.
func validateUnsorted(t *Tensor, seg segment, repeats bool) error {
	if _, fault := checkSegment(t, seg, repeats); !fault.found {
		return nil
	}
	for k := seg.first; k <= seg.last; k++ {
		if fault := checkRange(t.levels[k]); fault.found {
			return fault.describe(t, k)
		}
	}
	if repeats {
		return nil
	}
	pos, n := t.levels[seg.first].Pos, t.levels[seg.first].Crd.n
	parents, err := column.Make(n, uint64(pos.n))
	if err != nil {
		return levelError(seg.first, "%v", err)
	}
	for p := range pos.n - 1 {
		for q := pos.At64(p); q < pos.At64(p+1); q++ {
			parents.Set(int(q), uint64(p))
		}
	}
	keys := []column.Column{parents}
	for k := seg.first; k <= seg.last; k++ {
		key, err := widened(t.levels[k].Crd, maxCoordinate(t.levels[k].Size))
		if err != nil {
			return levelError(k, "%v", err)
		}
		keys = append(keys, key)
	}
	a, b, err := column.Repeated(n, keys)
	if err != nil {
		return levelError(seg.first, "%v", err)
	}
	if a != b {
		name := crdName(seg.last)
		return positionError(seg.last, b, "%s[%d] = %s repeats the coordinate of position %d: coordinates must be unique", name, b, t.levels[seg.last].Crd.Scalar(b), a)
	}
	return nil
}

// checkRange checks that coordinates are within the level's size.
func checkRange(l Level) fault {
	for i := range l.Crd.n {
		if uint64(l.Crd.At64(i)) >= uint64(l.Size) {
			return fault{true, i, outOfRange}
		}
	}
	return fault{}
}

// fibreLimit is the number of positions that WithFibreLimit allows, or 0.
func (o *options) fibreLimit(format Format) (int, error) {
	switch {
	case !o.limited:
		return 0, nil
	case o.limit < 1:
		return 0, tensorError("the fibre limit is %d: it must be 1 or more", o.limit)
	case format.unsplit() == format:
		return 0, tensorError("format %v has no level that can be split at a fibre limit: flag a DC level before the last, such as DC(duplicates)-S", format)
	}
	return int(min(o.limit, math.MaxInt)), nil
}

// split splits the positions of levels that allow it until none has more than limit
// positions under it. Inner levels come first, so that the pieces count above them.
func (t *Tensor) split(limit int) (*Tensor, error) {
	levels := t.Levels()
	for _, seg := range slices.Backward(t.format.segments()) {
		if !t.format.splits(seg.last) || !levels[seg.last+1].Ranges() {
			continue
		}
		if err := splitSegment(levels, seg, limit); err != nil {
			return nil, levelError(seg.last, "%v", err)
		}
	}
	return t.with(func(out *Tensor) { out.levels = levels }), nil
}

// splitSegment splits the positions of one segment.
func splitSegment(levels []Level, seg segment, limit int) error {
	below := levels[seg.last+1].Pos
	n := 0
	pieces := func(p int) int {
		children := int(below.At64(p+1) - below.At64(p))
		return max(1, (children-1)/limit+1)
	}
	for p := range below.n - 1 {
		n += pieces(p)
	}
	if n == below.n-1 {
		return nil
	}
	cuts, err := MakeArray(below.dt, n+1)
	if err != nil {
		return err
	}
	from, err := column.Make(n, uint64(below.n)) // the position each piece is of
	if err != nil {
		return err
	}
	q := 0
	for p := range below.n - 1 {
		for i := range pieces(p) {
			setIndex(cuts, q, uint64(below.At64(p))+uint64(i)*uint64(limit))
			from.Set(q, uint64(p))
			q++
		}
	}
	setIndex(cuts, n, uint64(below.At64(below.n-1)))
	levels[seg.last+1].Pos = cuts
	for k := seg.first; k <= seg.last; k++ {
		if levels[k].Crd, err = gather(levels[k].Crd, column.Permutation{Column: from}); err != nil {
			return err
		}
	}
	if seg.first == 0 {
		levels[0].Pos = rootPos(n)
		return nil
	}
	pos := levels[seg.first].Pos
	dt := pos.dt
	if uint64(n) > dt.maxIndex() {
		dt = narrowestIndex(uint64(n))
	}
	moved, err := countBelow(column.Permutation{Column: from}, pos)
	if err != nil {
		return err
	}
	levels[seg.first].Pos, err = typed(moved, dt)
	return err
}
