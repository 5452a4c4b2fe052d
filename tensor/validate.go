package tensor

import (
	"math"
	"sort"

	"github.com/lacuna-sparse/lacuna/internal/parts"
)

// checkWorth is how many elements of an index array are worth a goroutine of their
// own to check.
const checkWorth = 1 << 18

// unsigned is a type that index arrays are read as. Signed arrays are read as
// unsigned ones of the same width, with a limit that refuses negative elements.
type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}

// validate checks everything that kernels rely on: lengths, pointers that
// start at 0 and never fall, coordinates in range, sorted and unique. Each
// array is read once.
func validate(t *Tensor) error {
	parents := int64(1)
	segments := t.format.segments()
	grouped := -1 // the level with pointers to values
	if t.format.grouped() {
		grouped = t.format.sparseRank() - 1
	}
	for k := 0; k < len(t.levels); k++ {
		if t.levels[k].Kind == DenseLevel {
			positions, ok := mulSizes(parents, t.levels[k].Size)
			if !ok {
				return levelError(k, "%d parent positions of %d coordinates each are more than 2^63-1 positions", parents, t.levels[k].Size)
			}
			parents = positions
			if k == grouped {
				var err error
				if parents, err = checkGroup(t.levels[k], k, parents); err != nil {
					return err
				}
			}
			continue
		}
		seg := segments[0]
		segments = segments[1:]
		if err := validateSegment(t, seg, parents); err != nil {
			return err
		}
		parents = int64(t.levels[seg.last].Crd.n)
		k = seg.last
		if k == grouped {
			var err error
			if parents, err = checkGroup(t.levels[k], k, parents); err != nil {
				return err
			}
		}
	}
	if int64(t.values.n) != parents {
		return tensorError("there are %d values for %d stored positions", t.values.n, parents)
	}
	return nil
}

// validateSegment checks a compressed level and its singletons under the given
// number of parent positions.
func validateSegment(t *Tensor, seg segment, parents int64) error {
	n := t.levels[seg.first].Crd.n
	for k := seg.first + 1; k <= seg.last; k++ {
		if got := t.levels[k].Crd.n; got != n {
			return levelError(k, "%s has %d elements and %s has %d: they must have the same number", crdName(k), got, crdName(seg.first), n)
		}
	}
	pos := t.levels[seg.first].Pos
	if int64(pos.n)-1 != parents {
		return levelError(max(seg.first-1, 0), "%s has %d elements: it must have %d, one more than there are positions", posName(seg.first), pos.n, uint64(parents)+1)
	}
	if err := checkPos(pos, seg.first, n, t.levels[max(seg.first-1, 0)].Kind); err != nil {
		return err
	}
	last := t.format.flag(seg.last)
	repeats := last&Duplicates != 0 && !(t.format.grouped() && seg.last == t.format.sparseRank()-1)
	if t.format.flag(seg.first)&Unsorted != 0 {
		return validateUnsorted(t, seg, repeats)
	}
	k, fault := checkSegment(t, seg, repeats)
	if fault.found {
		return fault.describe(t, k)
	}
	return nil
}

// checkSegment checks the coordinates of a sorted segment: in range and ascending under
// each parent, unique unless tuples may repeat. It returns the level of the fault.
func checkSegment(t *Tensor, seg segment, repeats bool) (int, fault) {
	pos := t.levels[seg.first].Pos
	if seg.last == seg.first+1 && pairsAscend(pos, t.levels[seg.first], t.levels[seg.last], repeats) {
		return 0, fault{}
	}
	// Levels before the last may repeat a coordinate; ties marks the positions
	// whose tuple so far equals the one before under the same parent.
	var ties bitset
	if seg.first < seg.last || repeats {
		ties = makeBitset(t.levels[seg.first].Crd.n)
	}
	if fault := checkFibres(pos, t.levels[seg.first], ties); fault.found {
		return seg.first, fault
	}
	for k := seg.first + 1; k <= seg.last; k++ {
		if fault := checkSingleton(t.levels[k], ties, k == seg.last && !repeats); fault.found {
			return k, fault
		}
	}
	return 0, fault{}
}

// bitset is a set of positions.
type bitset []uint64

func makeBitset(n int) bitset   { return make(bitset, (n+63)/64) }
func (b bitset) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }
func (b bitset) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bitset) clear(i int)    { b[i/64] &^= 1 << (i % 64) }

// checkGroup checks the pointers from the positions of level k to the values, and
// returns how many blocks of values they group.
func checkGroup(l Level, k int, positions int64) (int64, error) {
	group := l.Group
	if int64(group.n)-1 != positions {
		return 0, levelError(k, "%s has %d elements: it must have %d, one more than there are positions", posName(k+1), group.n, uint64(positions)+1)
	}
	last := group.At64(group.n - 1)
	if last < 0 || last > math.MaxInt {
		return 0, positionError(k, group.n-1, "%s ends with %s, which is no number of values", posName(k+1), group.Scalar(group.n-1))
	}
	return last, checkPos(group, k+1, int(last), l.Kind)
}

// checkPos checks that a Pos array starts at 0, never falls and ends at n. Under a level that stores its
// coordinates it never repeats either: a coordinate with nothing under it is not stored, so that a format has one
// set of arrays for one set of entries. A dense level, and the root of a level 0, have parents with nothing under them.
func checkPos(pos Array, k, n int, parent PhysicalKind) error {
	step := 0
	if k > 0 && parent != DenseLevel {
		step = 1
	}
	var bad int
	switch pos.dt.Size() {
	case 1:
		bad = firstFall(View[uint8](pos), step)
	case 2:
		bad = firstFall(View[uint16](pos), step)
	case 4:
		bad = firstFall(View[uint32](pos), step)
	default:
		bad = firstFall(View[uint64](pos), step)
	}
	level := max(k-1, 0)
	name := posName(k)
	switch last := pos.At64(pos.n - 1); {
	case bad == 0:
		return positionError(level, 0, "%s[0] is %d: pointers start at 0", name, pos.At64(0))
	case bad > 0 && pos.At64(bad) == pos.At64(bad-1):
		return positionError(level, bad, "%s[%d] = %s repeats the pointer before it: a level that stores its coordinates has none with nothing under it, so leave out %s[%d]",
			name, bad, pos.Scalar(bad), crdName(level), bad-1)
	case bad > 0:
		return positionError(level, bad, "%s[%d] = %s is below %s before it: pointers never fall", name, bad, pos.Scalar(bad), pos.Scalar(bad-1))
	case last < 0 || last != int64(n):
		return positionError(level, pos.n-1, "%s ends with %s, but %s has %d elements", name, pos.Scalar(pos.n-1), crdName(k), n)
	}
	return nil
}

// firstFall is 0 if pos does not start at 0, else the first place where it does not
// rise by step, which is 0 or 1, at least, or -1. A negative signed element reads as a large one: either a fall
// follows it, or the end is wrong, which the caller sees.
func firstFall[T unsigned](pos []T, step int) int {
	if pos[0] != 0 {
		return 0
	}
	var falls [parts.Most]int // place of the first in a part, 0 if there is none
	parts.Do(len(pos), checkWorth, func(part, lo, hi int) {
		lo = max(lo, 1)
		last := pos[lo-1]
		for i, p := range pos[lo:hi] {
			if p < last || p == last && step > 0 {
				falls[part] = lo + i
				return
			}
			last = p
		}
	})
	for _, i := range falls {
		if i > 0 {
			return i
		}
	}
	return -1
}

// fault is what is wrong with an element of a Crd array.
type fault struct {
	found    bool
	position int
	kind     faultKind
}

type faultKind uint8

const (
	outOfRange faultKind = iota
	notSorted
	repeated
)

// describe makes the error about a fault in level k's Crd.
func (f fault) describe(t *Tensor, k int) error {
	crd, name, axis := t.levels[k].Crd, crdName(k), t.format.Order()[k]
	got := crd.Scalar(f.position)
	switch f.kind {
	case notSorted:
		return positionError(k, f.position, "%s[%d] = %s follows %s: coordinates must ascend under one parent", name, f.position, got, crd.Scalar(f.position-1))
	case repeated:
		return positionError(k, f.position, "%s[%d] = %s repeats the coordinate before it: coordinates must be unique", name, f.position, got)
	}
	return positionError(k, f.position, "%s[%d] = %s is out of range: axis %d has the size %d", name, f.position, got, axis, t.levels[k].Size)
}

// crdLimit is the first value that elements of a Crd array may not have.
func crdLimit(l Level) uint64 {
	limit := uint64(l.Size)
	if top := l.Crd.dt.maxIndex(); top < limit {
		return top + 1
	}
	return limit
}

// checkFibres checks the coordinates of a compressed level: in range, ascending
// under each parent; unique if ties is nil, else repeats are marked in it.
func checkFibres(pos Array, l Level, ties bitset) fault {
	switch pos.dt.Size() {
	case 1:
		return checkFibresUnder(View[uint8](pos), l, ties)
	case 2:
		return checkFibresUnder(View[uint16](pos), l, ties)
	case 4:
		return checkFibresUnder(View[uint32](pos), l, ties)
	}
	return checkFibresUnder(View[uint64](pos), l, ties)
}

func checkFibresUnder[P unsigned](pos []P, l Level, ties bitset) fault {
	limit := crdLimit(l)
	switch l.Crd.dt.Size() {
	case 1:
		return checkFibreArrays(pos, View[uint8](l.Crd), limit, ties)
	case 2:
		return checkFibreArrays(pos, View[uint16](l.Crd), limit, ties)
	case 4:
		return checkFibreArrays(pos, View[uint32](l.Crd), limit, ties)
	}
	return checkFibreArrays(pos, View[uint64](l.Crd), limit, ties)
}

// checkFibreArrays is checkFibres for one pair of widths.
func checkFibreArrays[P, K unsigned](pos []P, crd []K, limit uint64, ties bitset) fault {
	var faults [parts.Most]fault
	parts.Do(len(crd), checkWorth, func(part, lo, hi int) {
		faults[part] = checkFibrePart(pos, crd, limit, ties, lo, hi)
	})
	return firstFault(&faults)
}

// firstFault is the first of the faults of parts.
func firstFault(faults *[parts.Most]fault) fault {
	for _, f := range faults {
		if f.found {
			return f
		}
	}
	return fault{}
}

// checkFibrePart is checkFibreArrays for positions begin to end-1. Since coordinates
// ascend, only the last of a fibre needs its range checked.
func checkFibrePart[P, K unsigned](pos []P, crd []K, limit uint64, ties bitset, begin, end int) fault {
	// The fibre that position begin is in.
	p := sort.Search(len(pos)-1, func(p int) bool { return int(pos[p+1]) > begin })
	for lo := begin; lo < end; p++ {
		fibre := int(pos[p+1])
		hi := min(fibre, end)
		if lo == hi {
			continue
		}
		i := lo
		if lo == int(pos[p]) {
			i++ // nothing comes before the first
		}
		for last := crd[i-1]; i < hi; i++ {
			c := crd[i]
			if c <= last {
				if c < last {
					return fault{true, i, notSorted}
				}
				if ties == nil {
					return fault{true, i, repeated}
				}
				ties.set(i)
			}
			last = c
		}
		if hi == fibre && uint64(crd[hi-1]) >= limit {
			return fault{true, hi - 1, outOfRange}
		}
		lo = hi
	}
	return fault{}
}

// checkSingleton checks the coordinates of a singleton level: in range, and
// ascending where the tuple of the levels before is the same; unique there in
// the last level of a run. It takes from ties what this level tells apart.
func checkSingleton(l Level, ties bitset, last bool) fault {
	limit := crdLimit(l)
	switch l.Crd.dt.Size() {
	case 1:
		return checkSingletonArray(View[uint8](l.Crd), limit, ties, last)
	case 2:
		return checkSingletonArray(View[uint16](l.Crd), limit, ties, last)
	case 4:
		return checkSingletonArray(View[uint32](l.Crd), limit, ties, last)
	}
	return checkSingletonArray(View[uint64](l.Crd), limit, ties, last)
}

func checkSingletonArray[K unsigned](crd []K, limit uint64, ties bitset, last bool) fault {
	var faults [parts.Most]fault
	parts.Do(len(crd), checkWorth, func(part, lo, hi int) {
		faults[part] = checkSingletonPart(crd, limit, ties, last, lo, hi)
	})
	f := firstFault(&faults)
	if last || f.found {
		return f
	}
	parts.Do(len(crd), checkWorth, func(_, lo, hi int) { // parts share no word of ties
		for i := lo; i < hi; i++ {
			if ties.has(i) && crd[i] != crd[i-1] {
				ties.clear(i)
			}
		}
	})
	return fault{}
}

// checkSingletonPart is checkSingletonArray for positions lo to hi-1.
func checkSingletonPart[K unsigned](crd []K, limit uint64, ties bitset, last bool, lo, hi int) fault {
	for i := lo; i < hi; i++ {
		c := crd[i]
		if uint64(c) >= limit {
			return fault{true, i, outOfRange}
		}
		if !ties.has(i) || c > crd[i-1] {
			continue
		}
		if c < crd[i-1] {
			return fault{true, i, notSorted}
		}
		if last {
			return fault{true, i, repeated}
		}
	}
	return fault{}
}

// pairsAscend reports whether the coordinates of a run of two levels are in range, and
// their pairs ascend under each parent, or repeat if they may: the same as checkFibres and checkSingleton say, in
// one pass, for arrays of one width. It says false of others, and of those with a fault,
// which the two then find.
func pairsAscend(pos Array, first, last Level, repeats bool) bool {
	if first.Crd.dt.Size() != last.Crd.dt.Size() {
		return false
	}
	switch first.Crd.dt.Size() {
	case 4:
		return pairsAscendUnder(pos, View[uint32](first.Crd), View[uint32](last.Crd), crdLimit(first), crdLimit(last), repeats)
	case 8:
		return pairsAscendUnder(pos, View[uint64](first.Crd), View[uint64](last.Crd), crdLimit(first), crdLimit(last), repeats)
	}
	return false
}

func pairsAscendUnder[K uint32 | uint64](pos Array, first, last []K, firstLimit, lastLimit uint64, repeats bool) bool {
	if len(last) != len(first) {
		return false
	}
	lo := 0
	for p := 1; p < pos.n; p++ {
		hi := int(pos.At64(p))
		if lo == hi {
			continue
		}
		a, b := first[lo], last[lo]
		most := b
		for i := lo + 1; i < hi; i++ {
			c, d := first[i], last[i]
			if (c < a || c == a && d <= b) && (c < a || d < b || !repeats) {
				return false
			}
			most = max(most, d)
			a, b = c, d
		}
		if uint64(a) >= firstLimit || uint64(most) >= lastLimit {
			return false
		}
		lo = hi
	}
	return true
}
