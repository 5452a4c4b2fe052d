package tensor

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// New makes a tensor of existing arrays, which it checks in one pass and then
// shares. Levels stand in storage order; only their Pos, Crd and Group are read, and
// a missing Pos of a compressed level 0 is supplied. Index arrays may have any
// integer type; negative elements are errors. Coordinates must be sorted and
// unique but where flags of the format allow other ones, and values must have one
// element for each position of the last level. The error is a [*FormatError].
func New(shape []int64, format Format, levels []Level, values Array, opts ...Option) (*Tensor, error) {
	o := collect(opts)
	t, err := newTensor(shape, format, levels, values, o)
	return t, named(err, o.name)
}

func newTensor(shape []int64, format Format, levels []Level, values Array, o options) (*Tensor, error) {
	defer runtime.KeepAlive(levels)
	defer runtime.KeepAlive(values.owner)
	if err := checkShape(shape, format); err != nil {
		return nil, err
	}
	if len(levels) != format.Rank() {
		return nil, tensorError("%d levels given, format %v has %d", len(levels), format, format.Rank())
	}
	if err := checkValues(values); err != nil {
		return nil, err
	}
	fill, err := o.fillFor(values.dt)
	if err != nil {
		return nil, err
	}
	if err := checkArrayPresence(format, levels); err != nil {
		return nil, err
	}
	t := NewTrusted(shape, format, levels, values, fill)
	t.name = o.name
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	if err := validate(t); err != nil {
		t.Release()
		return nil, err
	}
	return t, nil
}

// checkArrayPresence reports arrays that are missing, that the format has no
// place for, or that are not integers.
func checkArrayPresence(format Format, levels []Level) error {
	last := format.SparseRank() - 1
	for k, physical := range format.Physical() {
		pos, crd, group := levels[k].Pos, levels[k].Crd, levels[k].Group
		wantGroup := k == last && format.grouped()
		wantPos, wantCrd := physical.HasPos(), physical.HasCrd()
		switch {
		case pos.dt == Invalid && wantPos && k > 0:
			return levelError(k-1, "%s is missing", posName(k))
		case crd.dt == Invalid && wantCrd:
			return levelError(k, "%s is missing", crdName(k))
		case pos.dt != Invalid && !wantPos:
			return levelError(k, "a pointer array is given for a %v level, which has none", physical.Kind)
		case crd.dt != Invalid && !wantCrd:
			return levelError(k, "an index array is given for a %v level, which has none", physical.Kind)
		case group.dt == Invalid && wantGroup:
			return levelError(k, "%s, which groups the values, is missing", posName(k+1))
		case group.dt != Invalid && !wantGroup:
			return levelError(k, "an array that groups values is given for a level that has none: only a last C or DC level has one")
		}
		for _, a := range []Array{pos, crd, group} {
			if a.dt != Invalid && !a.dt.IsInteger() {
				return levelError(k, "an index array has the element type %v: it must be an integer type", a.dt)
			}
		}
	}
	return nil
}

// NewNamed makes a tensor of the arrays of its format's spelling, named
// indices_k and pointers_k for level k. Arrays that the spelling does not
// store must be absent. They are checked as [New] does, and shared.
func NewNamed(shape []int64, format Format, arrays map[string]Array, values Array, opts ...Option) (*Tensor, error) {
	return NewNamedLevels(shape, format.Levels(), format.Order(), arrays, values, append(slices.Clip(opts), WithLevelFlags(format.Flags()...))...)
}

// NewNamedLevels is NewNamed for levels and order as [FormatWith] takes them, with
// the flags that [WithLevelFlags] says. They need not be canonical: the arrays of S levels directly before a C level
// are in the expanded spelling, where each tuple is repeated for every
// coordinate of that C. The tensor stores them canonically, as DC.
func NewNamedLevels(shape []int64, levels []LevelKind, order []int, arrays map[string]Array, values Array, opts ...Option) (*Tensor, error) {
	o := collect(opts)
	t, err := newNamedLevels(shape, levels, order, arrays, values, o)
	return t, named(err, o.name)
}

func newNamedLevels(shape []int64, kinds []LevelKind, order []int, arrays map[string]Array, values Array, o options) (*Tensor, error) {
	defer runtime.KeepAlive(arrays)
	format, err := FormatWith(kinds, order, o.flags)
	if err != nil {
		return nil, tensorError("%v", err)
	}
	if err := checkShape(shape, format); err != nil {
		return nil, err
	}
	levels, err := arrangeArrays(format, kinds, arrays)
	if err != nil {
		return nil, err
	}
	order = format.Order()
	canonical, physical := format.Levels(), format.Physical()
	for _, seg := range format.segments() {
		next := seg.last + 1
		if kinds[seg.last] == canonical[seg.last] || !physical[next].Full() {
			continue
		}
		if err := compactSegment(levels, seg, shape[order[next]]); err != nil {
			return nil, err
		}
	}
	return newTensor(shape, format, levels, values, o)
}

// arrangeArrays puts the spelled arrays where the physical levels have them.
func arrangeArrays(format Format, kinds []LevelKind, arrays map[string]Array) ([]Level, error) {
	levels := make([]Level, format.Rank())
	physical := format.Physical()
	last := format.SparseRank() - 1
	for _, name := range slices.Sorted(maps.Keys(arrays)) {
		k, isPos, ok := parseArrayName(name)
		if !ok || k >= len(levels) {
			return nil, tensorError("there is no place for an array named %q: arrays are indices_k and pointers_k for the levels k = 0 to %d", name, len(levels)-1)
		}
		if arrays[name].dt == Invalid {
			return nil, levelError(k, "%s has no element type", name)
		}
		if isPos && k == last && format.grouped() {
			levels[k].Group = arrays[name]
			continue
		}
		if isPos {
			if k+1 == len(levels) || !physical[k+1].HasPos() {
				return nil, levelError(k, "%s is given, but level %d is %v before %s and stores no pointers", name, k, kinds[k], nextKind(kinds, k))
			}
			levels[k+1].Pos = arrays[name]
			continue
		}
		if !physical[k].HasCrd() {
			return nil, levelError(k, "%s is given, but level %d is %v and stores no indices", name, k, kinds[k])
		}
		levels[k].Crd = arrays[name]
	}
	return levels, nil
}

// nextKind names the level after k for a message.
func nextKind(kinds []LevelKind, k int) string {
	if k+1 == len(kinds) {
		return "the values"
	}
	return kinds[k+1].String()
}

// parseArrayName reads "indices_3" or "pointers_3".
func parseArrayName(name string) (level int, isPos, ok bool) {
	digits, found := strings.CutPrefix(name, "indices_")
	if !found {
		if digits, isPos = strings.CutPrefix(name, "pointers_"); !isPos {
			return 0, false, false
		}
	}
	level, err := strconv.Atoi(digits)
	return level, isPos, err == nil && level >= 0 && strconv.Itoa(level) == digits
}

// crdName is the spelled name of level k's Crd array.
func crdName(k int) string { return fmt.Sprintf("indices_%d", k) }

// posName is the spelled name of physical level k's Pos array. That of level 0
// has no spelled name.
func posName(k int) string {
	if k == 0 {
		return "the root pointer array"
	}
	return fmt.Sprintf("pointers_%d", k-1)
}

// compactSegment undoes the expanded spelling of a run of S levels before a C
// level of the given size: of every size equal tuples it keeps one, and it
// divides the pointers to them by size.
func compactSegment(levels []Level, seg segment, size int64) error {
	for k := seg.first; k <= seg.last; k++ {
		crd := levels[k].Crd
		if crd.dt == Invalid {
			return levelError(k, "%s is missing", crdName(k))
		}
		if !crd.dt.IsInteger() {
			return levelError(k, "%s has the element type %v: it must be an integer type", crdName(k), crd.dt)
		}
		if size == 0 {
			if crd.n != 0 {
				return levelError(k, "%s has %d elements before a C level of size 0: it must be empty", crdName(k), crd.n)
			}
			continue
		}
		if int64(crd.n)%size != 0 {
			return levelError(k, "%s has %d elements, not a multiple of %d: S before C repeats each index for every coordinate of the C level", crdName(k), crd.n, size)
		}
		compact, err := MakeArray(crd.dt, crd.n/int(size))
		if err != nil {
			return levelError(k, "%v", err)
		}
		for i := range crd.n {
			if j := i - i%int(size); crd.At64(i) != crd.At64(j) {
				return positionError(k, i, "%s[%d] = %d differs from %d, the first of its group: S before C repeats each index %d times", crdName(k), i, crd.At64(i), crd.At64(j), size)
			}
		}
		for i := range compact.n {
			compact.SetScalar(i, crd.Scalar(i*int(size)))
		}
		levels[k].Crd = compact
	}
	return compactPointers(levels, seg, size)
}

// compactPointers divides the pointers to an expanded segment by size.
func compactPointers(levels []Level, seg segment, size int64) error {
	pos := levels[seg.first].Pos
	if pos.dt == Invalid || size <= 1 {
		return nil
	}
	if !pos.dt.IsInteger() {
		return levelError(seg.first-1, "%s has the element type %v: it must be an integer type", posName(seg.first), pos.dt)
	}
	compact, err := MakeArray(pos.dt, pos.n)
	if err != nil {
		return levelError(seg.first-1, "%v", err)
	}
	for i := range pos.n {
		p := pos.At64(i)
		if p%size != 0 {
			return positionError(seg.first-1, i, "%s[%d] = %d is not a multiple of %d: S before C repeats each index %d times", posName(seg.first), i, p, size, size)
		}
		compact.SetScalar(i, Int(Int64, p/size))
	}
	levels[seg.first].Pos = compact
	return nil
}
