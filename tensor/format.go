package tensor

import (
	"fmt"
	"slices"
	"strings"
)

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
	if k < S || k > D {
		return fmt.Sprintf("LevelKind(%d)", uint8(k))
	}
	return levelKindNames[k]
}

// levelKindNames holds the spelling of each kind.
var levelKindNames = [...]string{0: "?", S: "S", C: "C", DC: "DC", D: "D"}

// MaxRank is the largest number of dimensions of a tensor, NumPy's limit.
const MaxRank = 64

// Format is how a tensor is stored: one level kind per dimension, the order
// in which levels store the logical axes, and [LevelFlags], which most formats do
// without. A Format is immutable and always
// canonical, so formats that store the same arrays are == . The zero Format is
// that of scalars (rank 0).
type Format struct {
	levels string // one LevelKind per byte
	order  string // one logical axis per byte
	flags  string // one LevelFlags per byte, without trailing zeros
}

// Formats of matrices by name.
var (
	CSR  = mustFormat([]LevelKind{C, S}, []int{0, 1})  // compressed rows
	CSC  = mustFormat([]LevelKind{C, S}, []int{1, 0})  // compressed columns
	DCSR = mustFormat([]LevelKind{DC, S}, []int{0, 1}) // compressed nonempty rows
	DCSC = mustFormat([]LevelKind{DC, S}, []int{1, 0}) // compressed nonempty columns
	COO  = mustFormat([]LevelKind{S, S}, []int{0, 1})  // coordinates, sorted by row
	COOC = mustFormat([]LevelKind{S, S}, []int{1, 0})  // coordinates, sorted by column
)

// mustFormat is FormatOf for formats known to be valid.
func mustFormat(levels []LevelKind, order []int) Format {
	f, err := FormatOf(levels, order)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f
}

// FormatOf makes a format from its levels and the logical axis that each level
// stores; a nil order is 0, 1, 2, …. "S directly before C", an expanded
// spelling of "DC before C", becomes the latter. It is an error if order is not
// a permutation, if a D level stands before another kind, or if the last level
// before the D levels is not S: see [FormatWith].
func FormatOf(levels []LevelKind, order []int) (Format, error) {
	return FormatWith(levels, order, nil)
}

// formatOf is the format without its flags, of which it looks at that which a
// last C or DC level needs.
func formatOf(levels []LevelKind, order []int, flags []LevelFlags) (Format, error) {
	rank := len(levels)
	if rank > MaxRank {
		return Format{}, fmt.Errorf("a format of %d levels: a tensor has at most %d dimensions", rank, MaxRank)
	}
	if order == nil {
		order = identity(rank)
	}
	if err := checkOrder(order, rank); err != nil {
		return Format{}, err
	}
	axes := make([]byte, rank)
	for k, axis := range order {
		axes[k] = byte(axis)
	}
	kinds, err := canonicalLevels(levels, flags)
	return Format{levels: string(kinds), order: string(axes)}, err
}

// canonicalLevels checks the kinds and spells them canonically, one per byte.
func canonicalLevels(levels []LevelKind, flags []LevelFlags) ([]byte, error) {
	kinds := make([]byte, len(levels))
	sparse := 0 // levels before the trailing dense ones
	for k, kind := range levels {
		switch {
		case kind < S || kind > D:
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
		if levels[k] == S && levels[k+1] == C {
			kinds[k] = byte(DC)
		}
	}
	if sparse > 0 && levels[sparse-1] != S && flags[sparse-1]&Duplicates == 0 {
		return nil, fmt.Errorf("level %d is %v: the last level before the dense ones must be S, or be flagged as having several values per coordinate, such as %v(duplicates)",
			sparse-1, levels[sparse-1], levels[sparse-1])
	}
	return kinds, nil
}

// identity is the order 0, 1, …, rank-1.
func identity(rank int) []int {
	order := make([]int, rank)
	for k := range order {
		order[k] = k
	}
	return order
}

// checkOrder reports an order that is not a permutation of 0…rank-1.
func checkOrder(order []int, rank int) error {
	if len(order) != rank {
		return fmt.Errorf("axis order %v has %d axes for %d levels", order, len(order), rank)
	}
	var seen [MaxRank]bool
	for _, axis := range order {
		if axis < 0 || axis >= rank || seen[axis] {
			return fmt.Errorf("axis order %v is not a permutation of 0 to %d", order, rank-1)
		}
		seen[axis] = true
	}
	return nil
}

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

// Rank is the number of levels, one for each dimension.
func (f Format) Rank() int { return len(f.levels) }

// Levels returns the level kinds in storage order.
func (f Format) Levels() []LevelKind {
	levels := make([]LevelKind, len(f.levels))
	for k := range levels {
		levels[k] = LevelKind(f.levels[k])
	}
	return levels
}

// Order returns the logical axis that each level stores.
func (f Format) Order() []int {
	order := make([]int, len(f.order))
	for k := range order {
		order[k] = int(f.order[k])
	}
	return order
}

// sparseRank is the number of levels before the trailing D levels.
func (f Format) sparseRank() int {
	return len(strings.TrimRight(f.levels, string(rune(D))))
}

// IsDense reports whether every level is D; rank 0 is dense.
func (f Format) IsDense() bool { return f.sparseRank() == 0 }

// Equal reports whether f and g are the same format; it is the same as f == g.
func (f Format) Equal(g Format) bool { return f == g }

// WithOrder returns the format with the same levels, and flags, storing the axes
// in another order.
func (f Format) WithOrder(order []int) (Format, error) {
	return FormatWith(f.Levels(), order, f.Flags())
}

// PhysicalKind is what a level is to the compiler.
type PhysicalKind uint8

// The physical level kinds.
const (
	// DenseLevel has every coordinate; position = parent*size + coordinate.
	DenseLevel PhysicalKind = iota + 1
	// CompressedLevel has positions Pos[p]…Pos[p+1]-1 under parent position p,
	// with coordinates Crd.
	CompressedLevel
	// SingletonLevel has one position under each parent position, the same
	// number, with coordinates Crd.
	SingletonLevel
)

// String returns "dense", "compressed" or "singleton".
func (k PhysicalKind) String() string {
	switch k {
	case DenseLevel:
		return "dense"
	case CompressedLevel:
		return "compressed"
	case SingletonLevel:
		return "singleton"
	}
	return fmt.Sprintf("PhysicalKind(%d)", uint8(k))
}

// LevelType is a physical level: its kind and properties.
type LevelType struct {
	Kind PhysicalKind
	// Unique says that no coordinate repeats under one parent. The levels of a
	// run but its last are not unique: only their tuples are.
	Unique bool
	// Ordered says that coordinates, or the tuples of a run of which this is the
	// first level, ascend under each parent.
	Ordered bool
}

// String writes the level as MLIR does, such as "compressed(nonunique)".
func (t LevelType) String() string {
	var properties []string
	if !t.Unique {
		properties = append(properties, "nonunique")
	}
	if !t.Ordered {
		properties = append(properties, "nonordered")
	}
	if properties == nil {
		return t.Kind.String()
	}
	return t.Kind.String() + "(" + strings.Join(properties, ",") + ")"
}

// Physical returns the levels as the compiler sees them: C and D are dense; a
// run of S levels closed by a DC level or by the last S is one compressed
// level, not unique if the run is longer than one, followed by singletons. Flags make
// levels not unique or not ordered; those of a last C or DC are told apart by the
// pointers to values alone.
func (f Format) Physical() []LevelType {
	types := make([]LevelType, len(f.levels))
	inRun := false
	sparse := f.sparseRank()
	for k := range types {
		kind := LevelKind(f.levels[k])
		if kind == C || kind == D {
			types[k] = LevelType{DenseLevel, true, true}
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

// segment is a run of physical levels that share positions: one compressed
// level and its singletons.
type segment struct{ first, last int }

// segments returns the sparse segments in storage order.
func (f Format) segments() []segment {
	var out []segment
	for k, t := range f.Physical() {
		switch t.Kind {
		case CompressedLevel:
			out = append(out, segment{k, k})
		case SingletonLevel:
			out[len(out)-1].last = k
		}
	}
	return out
}
