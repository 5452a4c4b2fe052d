package placement

import (
	"math/bits"
	"slices"
	"sort"
)

// Set is a set of coordinates along one axis: a range, or an ascending list. Sets are values, which nobody changes.
type Set struct {
	lo, hi int64
	list   []int64 // nil: all of lo to hi-1
}

// Range is the set of lo to hi-1.
func Range(lo, hi int64) Set { return Set{lo: lo, hi: max(lo, hi)} }

// List is the set of ascending coordinates, which it keeps.
func List(coords []int64) Set {
	n := len(coords)
	if n == 0 {
		return Range(0, 0)
	}
	if coords[n-1]-coords[0] == int64(n-1) {
		return Range(coords[0], coords[n-1]+1)
	}
	return Set{list: coords}
}

// Unsorted is the set of coordinates in any order, repeated or not.
func Unsorted(coords []int64) Set {
	sorted := slices.Clone(coords)
	slices.Sort(sorted)
	return List(slices.Compact(sorted))
}

// Len is how many coordinates there are.
func (s Set) Len() int64 {
	if s.list != nil {
		return int64(len(s.list))
	}
	return s.hi - s.lo
}

// At is the coordinate that k others are before.
func (s Set) At(k int64) int64 {
	if s.list != nil {
		return s.list[k]
	}
	return s.lo + k
}

// Find is how many coordinates of the set are before one of it; -1 if it is not of it.
func (s Set) Find(x int64) int64 {
	if s.list == nil {
		if x < s.lo || x >= s.hi {
			return -1
		}
		return x - s.lo
	}
	k, found := slices.BinarySearch(s.list, x)
	if !found {
		return -1
	}
	return int64(k)
}

// IsRange reports whether the set is that of lo to hi-1.
func (s Set) IsRange(lo, hi int64) bool {
	return s.list == nil && (s.lo == lo && s.hi == hi || s.Len() == 0 && lo >= hi)
}

// Bounds are those of a range; ok is false of other sets.
func (s Set) Bounds() (lo, hi int64, ok bool) { return s.lo, s.hi, s.list == nil }

// Equal reports whether two sets have the same coordinates.
func (s Set) Equal(t Set) bool {
	if s.list == nil || t.list == nil {
		return s.list == nil && t.list == nil && (s.lo == t.lo && s.hi == t.hi || s.Len() == 0 && t.Len() == 0)
	}
	return slices.Equal(s.list, t.list)
}

// And is the set of what both have.
func (s Set) And(t Set) Set {
	if s.list == nil && t.list == nil {
		return Range(max(s.lo, t.lo), min(s.hi, t.hi))
	}
	if s.list == nil || t.list != nil && len(t.list) < len(s.list) {
		s, t = t, s
	}
	if t.list == nil {
		from := sort.Search(len(s.list), func(i int) bool { return s.list[i] >= t.lo })
		to := sort.Search(len(s.list), func(i int) bool { return s.list[i] >= t.hi })
		return List(s.list[from:max(from, to)])
	}
	var both []int64
	for _, x := range s.list {
		if t.Find(x) >= 0 {
			both = append(both, x)
		}
	}
	return List(both)
}

// With is the set with all of lo to hi-1 added.
func (s Set) With(lo, hi int64) Set {
	n := max(0, hi-lo)
	if s.And(Range(lo, hi)).Len() == n {
		return s
	}
	list := make([]int64, 0, s.Len()+n)
	for k := range s.Len() {
		if x := s.At(k); x < lo {
			list = append(list, x)
		}
	}
	for x := lo; x < hi; x++ {
		list = append(list, x)
	}
	for k := range s.Len() {
		if x := s.At(k); x >= hi {
			list = append(list, x)
		}
	}
	return List(list)
}

// Marks gather coordinates of an axis, in any order and again and again.
type Marks struct {
	bits []uint64 // nil: nothing was added, or the axis is too long
	list []int64
}

// Add adds a coordinate of an axis of the given extent.
func (m *Marks) Add(x, extent int64) {
	if extent > maxMarks {
		if n := len(m.list); n == 0 || m.list[n-1] != x {
			m.list = append(m.list, x)
		}
		return
	}
	if m.bits == nil {
		m.bits = make([]uint64, (extent+63)/64)
	}
	m.bits[x/64] |= 1 << (x % 64)
}

// maxMarks is the longest axis of which each coordinate has a bit.
const maxMarks = 1 << 32

// Set is the set of what was added.
func (m *Marks) Set() Set {
	if m.bits == nil {
		return Unsorted(m.list)
	}
	n := 0
	for _, word := range m.bits {
		n += bits.OnesCount64(word)
	}
	list := make([]int64, 0, n)
	for k, word := range m.bits {
		for ; word != 0; word &= word - 1 {
			list = append(list, int64(64*k+bits.TrailingZeros64(word)))
		}
	}
	return List(list)
}

// Table finds coordinates in a set again and again: by an array where the axis is short for that.
type Table struct {
	set   Set
	place []int32 // by coordinate, -1 for those not of the set; nil: ask the set
}

// maxTable is the longest axis that Table makes an array for.
const maxTable = 1 << 24

// NewTable is the table of a set of an axis of the given extent, which holds what is looked up.
func NewTable(s Set, extent int64) Table {
	if s.list == nil || extent > maxTable || extent > 64*s.Len()+1024 {
		return Table{set: s}
	}
	place := make([]int32, extent)
	for i := range place {
		place[i] = -1
	}
	for k, x := range s.list {
		place[x] = int32(k)
	}
	return Table{s, place}
}

// Find is Set.Find.
func (t Table) Find(x int64) int64 {
	if t.place == nil {
		return t.set.Find(x)
	}
	return int64(t.place[x])
}
