package tensor

import (
	"sort"

	"github.com/lacuna-sparse/lacuna/internal/parts"
)

// CompressedLevel has positions Pos[p]…Pos[p+1]-1 under parent position p, with coordinates Crd.
const CompressedLevel PhysicalKind = 2

var compressed = LevelProperties{
	Name: "compressed", TACO: [2]byte{'s', 'u'},
	Ranges: true, Relaxes: true, HasPos: true, HasCrd: true,
}

var compressedSchema = LevelSchema{
	LevelProperties: compressed,
	Locate: func(l *Level, lo, _ int, c int64) (first, end int) {
		return searchRange(l.Crd, int(l.Pos.At64(lo)), int(l.Pos.At64(lo+1)), c)
	},
	Ascend: func(l *Level, positions, coords []int64) {
		readCoordinates(l.Crd, positions, coords)
		parentsUnder(l.Pos, positions)
	},
	Positions: func(l *Level, _ int64) (int64, bool) { return int64(l.Crd.n), true },
	Check: func(t *Tensor, k int, parents int64) error {
		seg := segment{k, k}
		for seg.last+1 < len(t.levels) && t.levels[seg.last+1].Branchless() {
			seg.last++
		}
		return validateSegment(t, seg, parents)
	},
}

// parentsUnder replaces positions, which ascend, by those of the parents that pos says they are under.
func parentsUnder(pos Array, positions []int64) {
	first := positions[0]
	parent := searchIndex(0, pos.n-1, func(p int) bool { return pos.At64(p+1) > first })
	if narrow := View[uint32](pos); narrow != nil && pos.dt == Uint32 {
		for i, p := range positions {
			for int64(narrow[parent+1]) <= p {
				parent++
			}
			positions[i] = int64(parent)
		}
		return
	}
	for i, p := range positions {
		for pos.At64(parent+1) <= p {
			parent++
		}
		positions[i] = int64(parent)
	}
}

// readCoordinates sets coords to the coordinates of positions.
func readCoordinates(crd Array, positions, coords []int64) {
	if narrow := View[uint32](crd); narrow != nil && crd.dt == Uint32 {
		for i, p := range positions {
			coords[i] = int64(narrow[p])
		}
		return
	}
	for i, p := range positions {
		coords[i] = crd.At64(int(p))
	}
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
	if err := checkPos(pos, seg.first, n, t.levels[max(seg.first-1, 0)].LevelType); err != nil {
		return err
	}
	last := t.format.flag(seg.last)
	repeats := last&Duplicates != 0 && !(t.format.grouped() && seg.last == t.format.SparseRank()-1)
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
