package tensor

import (
	"cmp"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/lacuna-sparse/lacuna/tensor/internal/column"
)

// overlay is what a tensor that [Update] made is until its arrays are needed: edits of another one. Its arrays wait for
// that as [Remote] ones do.
type overlay struct {
	base  atomic.Pointer[Tensor] // pinned; nil once the arrays are made, or nobody holds them
	was   weak.Pointer[Tensor]   // base
	edits []edit                 // in storage order
	// added and dropped are how many entries there are more, and fewer.
	added, dropped int
	work           int          // edits that were carried over from one update to the next
	waiting        atomic.Int64 // arrays

	mu     sync.Mutex // of what follows
	levels []Level
	values Array
	known  *Statistics // that follow from those of the base, if it had any
}

// overlaid is the tensor, whose format splices, with edits beside it.
func (t *Tensor) overlaid(edits []edit, work int) (*Tensor, error) {
	edits = slices.Clone(edits) // other overlays have those that are carried over
	for i := range edits {
		t.place(&edits[i])
	}
	o := &overlay{work: work, was: weak.Make(t)}
	o.edits, o.added, o.dropped = needed(edits)
	if len(o.edits) == 0 {
		return t.Share(), nil
	}
	if err := t.pin(); err != nil {
		return nil, err
	}
	o.base.Store(t)
	levels, values := t.Levels(), o.array(t.values.dt, t.values.n+o.added-o.dropped, func(o *overlay) Array { return o.values })
	if o.added+o.dropped > 0 {
		for k := range levels {
			if levels[k].HasPos() {
				levels[k].Pos = o.array(posTypeFor(levels[k].Pos.dt, values.n), levels[k].Pos.n, func(o *overlay) Array { return o.levels[k].Pos })
			}
			if levels[k].HasCrd() {
				levels[k].Crd = o.array(levels[k].Crd.dt, values.n, func(o *overlay) Array { return o.levels[k].Crd })
			}
		}
	}
	out := NewTrusted(t.shape, t.format, levels, values, t.fill)
	out.name, out.overlay = t.name, o
	if o.waiting.Load() == 0 { // no array has an element
		o.letGo()
	}
	return out, nil
}

// posTypeFor is the type of pointers to n positions: that of the old ones, if it has room.
func posTypeFor(old DType, n int) DType {
	bits := 8 * old.Size()
	if old.IsSigned() {
		bits--
	}
	if bits < 63 && n >= 1<<bits {
		return positionType(n)
	}
	return old
}

// array is one of the arrays to be made.
func (o *overlay) array(dt DType, n int, made func(*overlay) Array) Array {
	a := RemoteArray(dt, n, &waitingArray{o, made})
	if a.remote != nil {
		o.waiting.Add(1)
	}
	return a
}

// waitingArray is an array of an overlay; it is a [Remote].
type waitingArray struct {
	*overlay
	made func(*overlay) Array
}

// Fetch makes the arrays of the overlay.
func (w *waitingArray) Fetch() (unsafe.Pointer, error) {
	if err := w.merge(); err != nil {
		return nil, err
	}
	return w.made(w.overlay).Pointer(), nil
}

// Free is called when no tensor has the array any more.
func (w *waitingArray) Free() {
	if w.waiting.Add(-1) == 0 {
		w.letGo()
	}
}

// letGo lets go of the base.
func (o *overlay) letGo() {
	if b := o.base.Swap(nil); b != nil {
		b.Unpin()
	}
}

// pinnedBase is what the edits are beside, pinned for the caller; nil if there is no overlay, or its arrays are made.
func (o *overlay) pinnedBase() *Tensor {
	if o == nil {
		return nil
	}
	if b := o.base.Load(); b != nil && b.pin() == nil {
		return b
	}
	return nil
}

// merge makes the arrays, unless they are made.
func (o *overlay) merge() error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	b := o.base.Load()
	if b == nil {
		return nil
	}
	n := b.values.n + o.added - o.dropped
	values, err := splice(b.values, n, o.edits, (*edit).newValue)
	if err != nil {
		return err
	}
	levels := b.Levels()
	for k := range levels {
		if o.added+o.dropped == 0 {
			break
		}
		l := &levels[k]
		if l.HasPos() {
			if l.Pos, err = splicePointers(l.Pos, n, o.edits); err != nil {
				return err
			}
		}
		if l.HasCrd() {
			if l.Crd, err = splice(l.Crd, n, o.edits, coordinate(k)); err != nil {
				return err
			}
		}
	}
	o.levels, o.values = levels, values
	b.statistics.Lock()
	if of := b.statistics.of; of != nil {
		o.known = of.changed(o, b.values.dt)
	}
	b.statistics.Unlock()
	o.letGo()
	return nil
}

// splicePointers moves the ends of parents by what edits add and drop before them, for n positions in all.
func splicePointers(pos Array, n int, edits []edit) (Array, error) {
	in, err := widened(pos, uint64(n))
	if err != nil {
		return Array{}, err
	}
	out, err := column.Make(pos.n, uint64(n))
	if err != nil {
		return Array{}, err
	}
	shift := 0
	for p := range pos.n - 1 {
		for ; len(edits) > 0 && edits[0].parent == p; edits = edits[1:] {
			switch e := &edits[0]; {
			case e.drop:
				shift--
			case !e.stored:
				shift++
			}
		}
		out.Set(p+1, uint64(int(in.At(p+1))+shift))
	}
	return typed(out, posTypeFor(pos.dt, n))
}

// lookUp is the value at a coordinate if an edit says it.
func (o *overlay) lookUp(t *Tensor, coord []int64) (x Scalar, edited bool) {
	i, found := sort.Find(len(o.edits), func(i int) int { return o.edits[i].compare(t.format, coord, t.Rank()) })
	if !found {
		return Scalar{}, false
	}
	if o.edits[i].drop {
		return t.fill, true
	}
	return o.edits[i].value, true
}

// compare compares a coordinate by axis with that of the edit, in the first levels of a format.
func (e *edit) compare(f Format, coord []int64, levels int) int {
	for k, c := range e.coord[:levels] {
		if d := cmp.Compare(coord[f.order[k]], c); d != 0 {
			return d
		}
	}
	return 0
}

// overlaidFibre is a fibre of the base with the edits in it: the fibre itself if there are none, else a copy.
func overlaidFibre[T Element](o *overlay, base *Tensor, f Fibre[T], coord []int64) Fibre[T] {
	last := base.Rank() - 1
	compare := func(i int) int { return o.edits[i].compare(base.format, coord, last) }
	from, found := sort.Find(len(o.edits), compare)
	if !found {
		return f
	}
	edits := o.edits[from:]
	if to := sort.Search(len(edits), func(i int) bool { return compare(from+i) != 0 }); to < len(edits) {
		edits = edits[:to]
	}
	if !base.levels[last].HasCrd() {
		f.Values = slices.Clone(f.Values)
		for _, e := range edits {
			f.Values[e.coord[last]] = goValue[T](e.value)
		}
		return f
	}
	var values []T
	var coords []int64
	k := 0
	for _, e := range edits {
		for ; k < len(f.Values) && f.Coord(k) < e.coord[last]; k++ {
			values, coords = append(values, f.Values[k]), append(coords, f.Coord(k))
		}
		if e.stored {
			k++
		}
		if !e.drop {
			values, coords = append(values, goValue[T](e.value)), append(coords, e.coord[last])
		}
	}
	for ; k < len(f.Values); k++ {
		values, coords = append(values, f.Values[k]), append(coords, f.Coord(k))
	}
	return Fibre[T]{Values: values, Coords: indicesOf(ArrayOf(coords))}
}

// changed are the statistics of a tensor with edits: exact but for how entries spread, which is for estimates.
func (s *Statistics) changed(o *overlay, dt DType) *Statistics {
	out := *s
	out.Entries = s.Entries + float64(o.added-o.dropped)
	out.Axes = slices.Clone(s.Axes)
	for i := range out.Axes {
		a := &out.Axes[i]
		if a.Longest == 0 && o.added > 0 {
			a.spread(float64(o.added))
			continue
		}
		a.NonEmpty = min(a.Extent, a.NonEmpty+float64(o.added))
		if s.Entries > 0 { // a new entry comes to a coordinate that has many rather than to one that has few
			a.Squares += float64(o.added) * (2*a.Squares/s.Entries + 1)
		}
	}
	if o.added > 0 {
		out.Band = 0 // a new entry may be anywhere
	}
	values, err := MakeArray(dt, len(o.edits))
	if err != nil {
		return nil
	}
	for i, e := range o.edits {
		if !e.drop {
			values.SetScalar(i, e.value)
		}
	}
	finite, exponent, nonNegative := magnitude(values)
	out.Finite, out.Exponent, out.NonNegative = s.Finite && finite, max(s.Exponent, exponent), s.NonNegative && nonNegative
	return out.named()
}

// statistics are those that follow from the base's, nil if there are none.
func (o *overlay) statistics() *Statistics {
	if b := o.pinnedBase(); b != nil {
		defer b.Unpin()
		if s, ok := b.Statistics(); ok {
			return s.changed(o, b.values.dt)
		}
		return nil
	}
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.known
}

// Follow makes the changes by which [Update] made the tensor of base in another one too, such as base in another format: so
// what is known of base need not be made again. It is false if they are not that, or cannot be made there.
func (t *Tensor) Follow(base, other *Tensor) (*Tensor, bool) {
	o := t.overlay
	if o == nil || base == nil || o.was.Value() != base || t.format.HasBlocks() || other.format.HasBlocks() || !other.IsCanonical() {
		return nil, false
	}
	changes := make([]Change, len(o.edits))
	for i, e := range o.edits {
		c := Change{coord: make([]int64, len(e.coord)), value: e.value}
		for k, x := range e.coord {
			c.coord[t.format.order[k]] = x
		}
		changes[i] = c
	}
	out, err := Update(other, changes...)
	if err != nil || out.Fetch() != nil {
		return nil, false
	}
	return out, true
}
