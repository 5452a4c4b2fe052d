package tensor

import (
	"math"

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
	positions := int64(1)
	for k := range t.levels {
		l, parents := &t.levels[k], positions
		s := l.schema()
		err := s.Check(t, k, parents)
		if err != nil {
			return err
		}
		var ok bool
		if positions, ok = s.Positions(l, parents); !ok {
			return levelError(k, "%d parent positions of %d coordinates each are more than 2^63-1 positions", parents, l.Size)
		}
		if l.Group.dt != Invalid {
			if positions, err = checkGroup(*l, k, positions); err != nil {
				return err
			}
		}
	}
	if int64(t.values.n) != positions {
		return tensorError("there are %d values for %d stored positions", t.values.n, positions)
	}
	return nil
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
	return last, checkPos(group, k+1, int(last), l.LevelType)
}

// checkPos checks that a Pos array starts at 0, never falls and ends at n. Under a level that stores its
// coordinates it never repeats either: a coordinate with nothing under it is not stored, so that a format has one
// set of arrays for one set of entries. A dense level, and the root of a level 0, have parents with nothing under them.
func checkPos(pos Array, k, n int, parent LevelType) error {
	step := 0
	if k > 0 && !parent.Full() {
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

// firstFault is the first of the faults of parts.
func firstFault(faults *[parts.Most]fault) fault {
	for _, f := range faults {
		if f.found {
			return f
		}
	}
	return fault{}
}
