package dist

import (
	"encoding/binary"
	"errors"
	"sort"

	"github.com/lacuna-sparse/lacuna/runtime/dist/placement"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// run is a stretch of values of an array, next to each other.
type run struct{ at, n int64 }

// runs are stretches in the order in which their values are sent.
type runs []run

// add appends a stretch.
func (r *runs) add(at, n int64) {
	if n == 0 {
		return
	}
	if k := len(*r) - 1; k >= 0 && (*r)[k].at+(*r)[k].n == at {
		(*r)[k].n += n
		return
	}
	*r = append(*r, run{at, n})
}

// values is how many there are.
func (r runs) values() (n int64) {
	for _, x := range r {
		n += x.n
	}
	return n
}

// pack copies the stretches of an array one after the other.
func (r runs) pack(to, from []byte, size int64) {
	for _, x := range r {
		to = to[copy(to, from[x.at*size:(x.at+x.n)*size]):]
	}
}

// unpack is the inverse of pack.
func (r runs) unpack(to, from []byte, size int64) {
	for _, x := range r {
		from = from[copy(to[x.at*size:(x.at+x.n)*size], from):]
	}
}

// move copies the stretches at of another array to those of this one: as many values, in the same order.
func (r runs) move(to, from []byte, at runs, size int64) {
	k, done := 0, int64(0) // of at
	for _, x := range r {
		for x.n > 0 {
			y := run{at[k].at + done, at[k].n - done}
			n := min(x.n, y.n)
			copy(to[x.at*size:(x.at+n)*size], from[y.at*size:])
			x.at, x.n, done = x.at+n, x.n-n, done+n
			if n == y.n {
				k, done = k+1, 0
			}
		}
	}
}

// within numbers the coordinates of a set as those of one that has them all.
func within(have, some placement.Set) placement.Set {
	lo, hi, isRange := some.Bounds()
	if from, _, ok := have.Bounds(); ok && isRange {
		return placement.Range(lo-from, hi-from)
	}
	list := make([]int64, some.Len())
	for k := range list {
		list[k] = have.Find(some.At(int64(k)))
	}
	return placement.List(list)
}

// withinAll is within by axis.
func withinAll(have, some []placement.Set) []placement.Set {
	local := make([]placement.Set, len(some))
	for k := range some {
		local[k] = within(have[k], some[k])
	}
	return local
}

// intersect is what both have, by axis; ok is false if there is nothing.
func intersect(a, b []placement.Set) (both []placement.Set, ok bool) {
	both = make([]placement.Set, len(a))
	for k := range a {
		if both[k] = a[k].And(b[k]); both[k].Len() == 0 {
			return nil, false
		}
	}
	return both, true
}

// match is what a part has of some coordinates: where the values are, in the order in which they are stored and, of what is sparse, the
// number of their coordinates among those asked for, by axis.
type match struct {
	at     runs
	coords [][]int64
	n      int64
}

// find looks for the values at the coordinates of sets, all of which the part has.
func (t *Tensor) find(sets []placement.Set) *match {
	if t.Format.IsDense() {
		m := &match{at: product(t.Format.Order(), lengths(t.Sets), withinAll(t.Sets, sets))}
		m.n = m.at.values()
		return m
	}
	return t.findEntries(sets)
}

// product are the places of the elements of a dense tensor at the coordinates of sets.
func product(order []int, shape []int64, sets []placement.Set) (at runs) {
	var go_ func(level int, base int64)
	go_ = func(level int, base int64) {
		if level == len(order) {
			at.add(base, 1)
			return
		}
		axis := order[level]
		s, base := sets[axis], base*shape[axis]
		if lo, hi, ok := s.Bounds(); ok && (level == len(order)-1 || whole(order[level+1:], shape, sets)) {
			inner := int64(1)
			for _, a := range order[level+1:] {
				inner *= shape[a]
			}
			at.add((base+lo)*inner, (hi-lo)*inner)
			return
		}
		for k := range s.Len() {
			go_(level+1, base+s.At(k))
		}
	}
	go_(0, 0)
	return at
}

func whole(axes []int, shape []int64, sets []placement.Set) bool {
	for _, a := range axes {
		if !sets[a].IsRange(0, shape[a]) {
			return false
		}
	}
	return true
}

// windowLength is how many entries are looked at at once.
const windowLength = 1 << 14

// findEntries is find for what is sparse.
func (t *Tensor) findEntries(sets []placement.Set) *match {
	m := &match{coords: make([][]int64, len(sets))}
	tables := make([]placement.Table, len(sets))
	for k, s := range sets {
		tables[k] = placement.NewTable(s, t.Shape[k])
	}
	w, place := t.Part.Window(), make([]int64, len(sets))
	from, to := t.stretch(w, sets)
	for lo := from; lo < to; lo += windowLength {
		coords := w.Coords(lo, min(lo+windowLength, to))
	entries:
		for i := range min(windowLength, to-lo) {
			for k := range sets {
				if place[k] = tables[k].Find(t.Sets[k].At(coords[k][i])); place[k] < 0 {
					continue entries
				}
			}
			m.at.add(int64(lo+i), 1)
			for k, p := range place {
				m.coords[k] = append(m.coords[k], p)
			}
			m.n++
		}
	}
	return m
}

// stretch is where the values are whose coordinates along the axis that is stored first lie between the first and the last of a set: entries
// are sorted by them.
func (t *Tensor) stretch(w *tensor.Window, sets []placement.Set) (from, to int) {
	axis, total := t.Format.Order()[0], t.Part.Values().Len()
	s := sets[axis]
	if s.Len() == 0 {
		return 0, 0
	}
	search := func(x int64) int { // of the first value whose coordinate is not before x
		return sort.Search(total, func(i int) bool { return t.Sets[axis].At(w.Coords(i, i+1)[axis][0]) >= x })
	}
	return search(s.At(0)), search(s.At(s.Len()-1) + 1)
}

// stretchLevels are the levels of a tensor at coordinates lo to hi-1 of the axis that is stored first, and where the values are that go with them; ok is
// false of levels that are more than their positions and coordinates.
func stretchLevels(t *tensor.Tensor, lo, hi int64) (levels []tensor.Level, from, to int, ok bool) {
	levels = t.Levels()
	from, to = 0, 1
	for k := range levels {
		l := &levels[k]
		if l.Group.Len() > 0 {
			return nil, 0, 0, false
		}
		first, last := from*int(l.Size), to*int(l.Size)
		switch {
		case l.HasPos():
			first, last = int(l.Pos.At64(from)), int(l.Pos.At64(to))
		case l.HasCrd():
			first, last = from, to
		}
		switch {
		case k == 0 && l.HasCrd():
			first, last = sort.Search(last, func(i int) bool { return l.Crd.At64(i) >= lo }), sort.Search(last, func(i int) bool { return l.Crd.At64(i) >= hi })
			l.Size = hi - lo
			if l.Crd, ok = renamed(l.Crd.Slice(first, last), hi-lo, func(x int64) int64 { return x - lo }); !ok {
				return nil, 0, 0, false
			}
		case k == 0:
			first, last, l.Size = int(lo), int(hi), hi-lo
		case l.HasCrd():
			l.Crd = l.Crd.Slice(first, last)
		}
		if k == 0 && l.HasPos() {
			l.Pos = tensor.Array{} // which is supplied
		} else if l.HasPos() {
			if l.Pos, ok = renamed(l.Pos.Slice(from, to+1), int64(last-first)+1, func(x int64) int64 { return x - int64(first) }); !ok {
				return nil, 0, 0, false
			}
		}
		from, to = first, last
	}
	return levels, from, to, true
}

// build is the structure of a tensor whose entries have the given coordinates; at tells where each is among its values.
func build(shape []int64, format tensor.Format, coords [][]int64, n int64) (t *tensor.Tensor, at []int64, err error) {
	columns := make([]tensor.Array, len(coords))
	for k, c := range coords {
		columns[k] = tensor.ArrayOf(c)
	}
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = int64(i)
	}
	t, err = tensor.FromColumns(shape, format, columns, tensor.ArrayOf(ids), tensor.WithFill(tensor.Int(tensor.Int64, -1)))
	if err != nil {
		return nil, nil, err
	}
	at = make([]int64, n)
	for p, id := range tensor.StoredValues[int64](t) {
		if id >= 0 { // the rest of a block
			at[id] = int64(p)
		}
	}
	return t, at, nil
}

// Messages of the inspector. Numbers are varints, of lists the differences.

func appendSets(b []byte, sets []placement.Set) []byte {
	for _, s := range sets {
		if lo, hi, ok := s.Bounds(); ok {
			b = append(b, 0)
			b = binary.AppendUvarint(b, uint64(lo))
			b = binary.AppendUvarint(b, uint64(hi-lo))
			continue
		}
		b = append(b, 1)
		b = binary.AppendUvarint(b, uint64(s.Len()))
		last := int64(0)
		for k := range s.Len() {
			b = binary.AppendUvarint(b, uint64(s.At(k)-last))
			last = s.At(k)
		}
	}
	return b
}

// reader reads what append functions write; err is set when there is less, or something else.
type reader struct {
	b   []byte
	err error
}

var errMessage = errors.New("a rank has sent a message that cannot be read")

func (r *reader) number() int64 {
	x, n := binary.Uvarint(r.b)
	if n <= 0 || int64(x) < 0 {
		r.err, r.b = errMessage, nil
		return 0
	}
	r.b = r.b[n:]
	return int64(x)
}

// sets reads sets of coordinates of axes of a shape.
func (r *reader) sets(shape []int64) []placement.Set {
	sets := make([]placement.Set, len(shape))
	for k, extent := range shape {
		kind, n := r.number(), r.number()
		if kind == 0 {
			length := r.number()
			if n > extent || length > extent-n {
				r.err = errMessage
				return nil
			}
			sets[k] = placement.Range(n, n+length)
			continue
		}
		if n > int64(len(r.b)) {
			r.err = errMessage
			return nil
		}
		list, last := make([]int64, n), int64(0)
		for i := range list {
			d := r.number()
			if last += d; last >= extent || d == 0 && i > 0 {
				r.err = errMessage
				return nil
			}
			list[i] = last
		}
		sets[k] = placement.List(list)
	}
	return sets
}

// appendCoords writes coordinates, axis by axis.
func appendCoords(b []byte, m *match) []byte {
	b = binary.AppendUvarint(b, uint64(m.n))
	for _, column := range m.coords {
		last := int64(0)
		for _, x := range column {
			b = binary.AppendVarint(b, x-last)
			last = x
		}
	}
	return b
}

// coords reads coordinates of a shape.
func (r *reader) coords(shape []int64) *match {
	m := &match{n: r.number(), coords: make([][]int64, len(shape))}
	if m.n > int64(len(r.b)) {
		r.err = errMessage
		return m
	}
	for k, extent := range shape {
		column, last := make([]int64, m.n), int64(0)
		for i := range column {
			d, n := binary.Varint(r.b)
			if n <= 0 || last+d < 0 || last+d >= extent {
				r.err = errMessage
				return m
			}
			r.b = r.b[n:]
			last += d
			column[i] = last
		}
		m.coords[k] = column
	}
	return m
}
