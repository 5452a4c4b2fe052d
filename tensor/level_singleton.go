package tensor

import "github.com/lacuna-sparse/lacuna/internal/parts"

// SingletonLevel has one position under each parent position, the same number, with coordinates Crd.
const SingletonLevel PhysicalKind = 3

var singleton = LevelProperties{
	Name: "singleton", TACO: [2]byte{'q', 'c'},
	Branchless: true, Relaxes: true, HasCrd: true,
}

var singletonSchema = LevelSchema{
	LevelProperties: singleton,
	Locate:          func(l *Level, lo, hi int, c int64) (first, end int) { return searchRange(l.Crd, lo, hi, c) },
	Ascend:          func(l *Level, positions, coords []int64) { readCoordinates(l.Crd, positions, coords) },
	Positions:       func(l *Level, _ int64) (int64, bool) { return int64(l.Crd.n), true },
	// The level that begins the list has checked it with all of its levels.
	Check: func(*Tensor, int, int64) error { return nil },
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
