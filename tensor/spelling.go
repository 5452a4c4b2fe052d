package tensor

import (
	"fmt"
	"slices"
	"strings"
)

// The spelling of levels is that of the binsparse rank-N draft. This file says what spelled levels stand for,
// and which of them make a format; what a level is to the compiler says its schema (level.go).

// LevelKind is how one level of a format is spelled.
type LevelKind uint8

// The level kinds of the binsparse rank-N draft, and D for trailing dense
// dimensions.
const (
	// S (sparse) stores one index for each position of the next level, or for
	// each value.
	S LevelKind = iota + 1
	// C (compressed) has every coordinate of its dimension under each parent
	// and stores only pointers to the next level.
	C
	// DC (doubly compressed) stores the coordinates that occur under each
	// parent, and pointers to the next level.
	DC
	// D (dense) stores nothing: each entry of the levels before is a block.
	D
)

// String returns "S", "C", "DC" or "D".
func (k LevelKind) String() string {
	if k < S || int(k) >= len(levelKindNames) {
		return fmt.Sprintf("LevelKind(%d)", uint8(k))
	}
	return levelKindNames[k]
}

// registered reports whether the kind is one that a program has added.
func (k LevelKind) registered() bool { return k > D }

// LevelKinds returns all kinds that formats spell.
func LevelKinds() []LevelKind {
	kinds := make([]LevelKind, len(levelKindNames)-1)
	for i := range kinds {
		kinds[i] = S + LevelKind(i)
	}
	return kinds
}

// listKind is the kind of a level that is a list of its own, of values if it is the last.
func listKind(last bool) LevelKind {
	if last {
		return S
	}
	return DC
}

// levelKindNames holds the spelling of each kind.
var levelKindNames = []string{0: "?", S: "S", C: "C", DC: "DC", D: "D"}

// Formats of matrices by name.
var (
	CSR  = mustFormat([]LevelKind{C, S}, []int{0, 1})  // compressed rows
	CSC  = mustFormat([]LevelKind{C, S}, []int{1, 0})  // compressed columns
	DCSR = mustFormat([]LevelKind{DC, S}, []int{0, 1}) // compressed nonempty rows
	DCSC = mustFormat([]LevelKind{DC, S}, []int{1, 0}) // compressed nonempty columns
	COO  = mustFormat([]LevelKind{S, S}, []int{0, 1})  // coordinates, sorted by row
	COOC = mustFormat([]LevelKind{S, S}, []int{1, 0})  // coordinates, sorted by column
)

// Dense is the format of tensors of the given rank without sparse levels, in
// row-major order. Ranks outside 0…MaxRank are taken as the nearest of them.
func Dense(rank int) Format {
	rank = max(0, min(rank, MaxRank))
	return mustFormat(slices.Repeat([]LevelKind{D}, rank), nil)
}

// CSF is the compressed sparse fibre tree DC-…-DC-S: DCSR for rank 2, a sparse
// vector for rank 1. Ranks outside 0…MaxRank are taken as the nearest of them.
func CSF(rank int) Format {
	rank = max(0, min(rank, MaxRank))
	levels := slices.Repeat([]LevelKind{DC}, rank)
	if rank > 0 {
		levels[rank-1] = S
	}
	return mustFormat(levels, nil)
}

// Coordinates is the coordinate format S-…-S of the given rank, sorted in
// row-major order. Ranks outside 0…MaxRank are taken as the nearest of them.
func Coordinates(rank int) Format {
	rank = max(0, min(rank, MaxRank))
	return mustFormat(slices.Repeat([]LevelKind{S}, rank), nil)
}

// Stack is the format that has the levels of each part above those of the next. What ends a part gives way to what follows it:
// D levels become C above sparse ones, and an S becomes DC, so that Dense(1) above Coordinates(1) is [CSR], and
// Coordinates(n) above Coordinates(n) HiCOO(n). The order is the logical axis that each level stores; a nil order keeps
// that of each part, whose axes follow those of the parts before. It is an error if the order is not a permutation, or there are more than
// MaxRank levels.
func Stack(order []int, parts ...Format) (Format, error) {
	var levels []LevelKind
	var flags []LevelFlags
	var axes []int
	for _, part := range parts {
		if !part.IsDense() {
			for k := range levels {
				if levels[k] == D {
					levels[k] = C
				}
			}
			if len(levels) > 0 && levels[len(levels)-1] == S {
				levels[len(levels)-1] = DC
			}
		}
		for _, axis := range part.Order() {
			axes = append(axes, len(levels)+axis)
		}
		levels, flags = append(levels, part.Levels()...), append(flags, part.Flags()...)
	}
	if order == nil {
		order = axes
	}
	return FormatWith(levels, order, flags)
}

// Outer is the format of the first n levels, and Inner that of those behind them, with [Format.Keep]'s rules.
func (f Format) Outer(n int) Format { return f.keep(func(k int) bool { return k < n }) }

// Inner is the format of the levels behind the first n.
func (f Format) Inner(n int) Format { return f.keep(func(k int) bool { return k >= n }) }

// Keep is the format without the levels of the axes that are not kept, with the others renumbered, and without flags. Its last level before the
// dense ones is S where it was C or DC.
func (f Format) Keep(kept []bool) Format {
	return f.keep(func(k int) bool { return int(f.order[k]) < len(kept) && kept[f.order[k]] })
}

func (f Format) keep(level func(k int) bool) Format {
	var kinds []LevelKind
	var order []int
	for k := range len(f.levels) {
		if level(k) {
			kinds, order = append(kinds, LevelKind(f.levels[k])), append(order, int(f.order[k]))
		}
	}
	sorted := slices.Sorted(slices.Values(order))
	for k, axis := range order {
		order[k] = slices.Index(sorted, axis)
	}
	sparse := len(kinds)
	for sparse > 0 && kinds[sparse-1] == D {
		sparse--
	}
	if sparse > 0 && !kinds[sparse-1].registered() {
		kinds[sparse-1] = S
	}
	return mustFormat(kinds, order)
}

// IsCoordinates reports whether the format is a list of coordinates, in some order of the axes: all its levels are S.
func (f Format) IsCoordinates() bool { return strings.Trim(f.levels, string(rune(S))) == "" }

// canonicalLevels checks the kinds and spells them canonically, one per byte.
func canonicalLevels(levels []LevelKind, flags []LevelFlags) ([]byte, error) {
	kinds := make([]byte, len(levels))
	sparse := 0 // levels before the trailing dense ones
	for k, kind := range levels {
		switch {
		case kind < S || int(kind) >= len(levelKindNames):
			return nil, fmt.Errorf("level %d is %v: levels are S, C, DC and D", k, kind)
		case kind == D:
		case sparse < k:
			return nil, fmt.Errorf("level %d is %v but level %d before it is D: D levels must be the last ones (a leading dense dimension is C)", k, kind, k-1)
		default:
			sparse = k + 1
		}
		kinds[k] = byte(kind)
	}
	for k := 0; k+1 < sparse; k++ {
		if levels[k] == S && (levels[k+1] == C || levels[k+1].registered()) {
			kinds[k] = byte(DC)
		}
	}
	if sparse > 0 && (levels[sparse-1] == C || levels[sparse-1] == DC) && flags[sparse-1]&Duplicates == 0 {
		return nil, fmt.Errorf("level %d is %v: the last level before the dense ones must be S, or be flagged as having several values per coordinate, such as %v(duplicates)",
			sparse-1, levels[sparse-1], levels[sparse-1])
	}
	return kinds, nil
}

// SparseRank is the number of levels before the trailing D levels.
func (f Format) SparseRank() int {
	return len(strings.TrimRight(f.levels, string(rune(D))))
}

// grouped reports whether the last level before the D levels is C or DC, with pointers to
// the values.
func (f Format) grouped() bool {
	n := f.SparseRank()
	return n > 0 && (LevelKind(f.levels[n-1]) == C || LevelKind(f.levels[n-1]) == DC)
}

// Standard is the format without flags; a last C or DC becomes S. Every tensor can be
// stored so: see [Tensor.Canonical].
func (f Format) Standard() Format {
	if !f.Relaxed() {
		return f
	}
	if f.grouped() {
		kinds := []byte(f.levels)
		kinds[f.SparseRank()-1] = byte(S)
		f.levels = string(kinds)
	}
	f.flags = ""
	return f
}

// Repeating is the format with the values of one coordinate told apart by repeating it, where pointers of the last level group them.
func (f Format) Repeating() (Format, error) {
	if !f.grouped() {
		return f, nil
	}
	kinds := f.Levels()
	kinds[f.SparseRank()-1] = S
	return FormatWith(kinds, f.Order(), f.Flags())
}

// Physical returns the levels as the compiler sees them: C and D are dense; a
// run of S levels closed by a DC level or by the last S is one compressed
// level, not unique if the run is longer than one, followed by singletons. Flags make
// levels not unique or not ordered; those of a last C or DC are told apart by the
// pointers to values alone.
func (f Format) Physical() []LevelType {
	types := make([]LevelType, len(f.levels))
	inRun := false
	sparse := f.SparseRank()
	for k := range types {
		kind := LevelKind(f.levels[k])
		if kind == C || kind == D {
			types[k] = denseType
			continue
		}
		if kind.registered() {
			types[k] = LevelType{SingletonLevel + PhysicalKind(kind-D), true, true}
			continue
		}
		physical := CompressedLevel
		if inRun {
			physical = SingletonLevel
		}
		// Only an S that is followed by a further level of its run keeps the
		// run open; a canonical format has S or DC after it, never C.
		inRun = kind == S && k+1 < sparse
		// Duplicates of a last DC are grouped by its pointers: it does not repeat.
		repeats := inRun || f.flag(k)&Duplicates != 0 && (kind == S || k+1 < sparse)
		types[k] = LevelType{physical, !repeats, f.flag(k)&Unsorted == 0}
	}
	return types
}

// FormatOfPhysical is the format whose physical levels are these: the inverse of
// [Format.Physical]. Dense levels after the last sparse one are D, others C; a
// compressed level and the singletons after it are a run of S, closed by DC if levels
// other than D follow. A compressed level that says it is unique, though singletons
// follow it, is taken as any other.
func FormatOfPhysical(types []LevelType, order []int) (Format, error) {
	kinds := make([]LevelKind, len(types))
	flags := make([]LevelFlags, len(types))
	sparse := 0
	for k, l := range types {
		if !l.Full() {
			sparse = k + 1
		}
	}
	first := -1 // of the run
	for k, l := range types {
		switch {
		case l.Full():
			if !l.Unique || !l.Ordered {
				return Format{}, fmt.Errorf("level %d is %v: a dense level is unique and ordered", k, l)
			}
			if kinds[k] = C; k >= sparse {
				kinds[k] = D
			}
			first = -1
			continue
		case l.Ranges():
			first = k
		case l.Branchless():
			if first < 0 {
				return Format{}, fmt.Errorf("level %d is singleton: it must follow a compressed level or a singleton", k)
			}
		default:
			return Format{}, fmt.Errorf("level %d is %v: levels are dense, compressed and singleton", k, l)
		}
		if !l.Ordered {
			flags[first] |= Unsorted
		}
		kinds[k] = S
		if k+1 < len(types) && types[k+1].Branchless() {
			continue
		}
		if k+1 < sparse {
			kinds[k] = DC
		}
		if !l.Unique {
			flags[k] |= Duplicates
		}
	}
	return FormatWith(kinds, order, flags)
}
