package tensor

import (
	"fmt"
	"slices"
	"strings"
)

// PhysicalKind is what a level is to the compiler: one of the schemas of levels. Nothing but
// the file of a kind's schema, and the file of lower/level that emits its code, names it;
// all others ask for its properties.
type PhysicalKind uint8

// LevelSchema states what a kind of level is: the level formats, properties and functions of
// Chou, Kjolstad and Amarasinghe, Format Abstraction for Sparse Tensor Algebra Compilers,
// OOPSLA 2018. What a property says holds of every level of the kind; whether coordinates are
// ordered and unique is said of each level ([LevelType]), where the kind allows other ones.
type LevelSchema struct {
	LevelProperties

	// Locate returns those of the positions under parents lo to hi-1 that have coordinate c, in a level
	// whose coordinates are ordered. Parents are one, or equal coordinates of the level above.
	Locate func(l *Level, lo, hi int, c int64) (first, end int)
	// Ascend sets coords to the coordinates of positions, which ascend, and replaces
	// each position by that of its parent.
	Ascend func(l *Level, positions, coords []int64)
	// Positions is how many positions there are under so many parents: false if that is past 2^63-1.
	Positions func(l *Level, parents int64) (n int64, ok bool)
	// Length is how many elements Crd has where the list does not say it: false if that is past 2^63-1.
	// List makes the Pos and Crd of a compressed level that is the same as l, and Pack makes the Crd of l, whose
	// Pos and Crd are those of such a level. Only kinds that are registered have these.
	Length func(l *Level, parents int64) (n int64, ok bool)
	List   func(l *Level, parents int64) (pos, crd Array, err error)
	Pack   func(l *Level, parents int64) (crd Array, err error)
	// Check checks the arrays of level k under so many parents, before anything else reads them.
	Check func(t *Tensor, k int, parents int64) error
}

// LevelProperties are what holds of all levels of a kind.
type LevelProperties struct {
	// Name is that of MLIR, if it has the kind.
	Name string
	// Spelling is how formats spell the kind, if it is registered: in capital letters.
	Spelling string
	// TACO has TACO's letters, for a level whose coordinates are unique and for one in which they repeat; 0 for none.
	TACO [2]byte

	// Full says that every coordinate is there under each parent, in order: the position of
	// coordinate c under parent p is p*Size + c.
	Full bool
	// Branchless says that there is one position under each parent, the same number: the level goes on with the
	// list that a level above it has begun.
	Branchless bool
	// Ranges says that the positions under parent p are Pos[p] to Pos[p+1]-1, with coordinates Crd: the level begins a list.
	Ranges bool
	// Relaxes says that levels may be flagged as not unique or not ordered.
	Relaxes bool
	// HasPos and HasCrd say which index arrays a level has.
	HasPos, HasCrd bool
}

// levelSchemas has the schema of each kind, and levelProperties its properties, which functions of schemas may ask for.
var (
	levelSchemas    = []*LevelSchema{{}, &denseSchema, &compressedSchema, &singletonSchema}
	levelProperties = []LevelProperties{{}, dense, compressed, singleton}
)

// schema is that of a level's kind.
func (t LevelType) schema() *LevelSchema { return levelSchemas[t.Kind] }

// properties are those of the kind; a number that stands for none has none.
func (k PhysicalKind) properties() *LevelProperties {
	if int(k) < len(levelProperties) {
		return &levelProperties[k]
	}
	return &LevelProperties{}
}

// Properties are those of the kind; a number that stands for none has none, not even a name.
func (k PhysicalKind) Properties() LevelProperties { return *k.properties() }

// kindNamed is the kind of a name, 0 for none.
func kindNamed(name string) PhysicalKind {
	for k, s := range levelProperties {
		if k > 0 && s.Name == name {
			return PhysicalKind(k)
		}
	}
	return 0
}

// String returns the name of the kind, such as "dense".
func (k PhysicalKind) String() string {
	if name := k.properties().Name; name != "" {
		return name
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

// Full reports whether every coordinate is there under each parent: see [LevelProperties].
func (t LevelType) Full() bool { return t.Kind.properties().Full }

// Branchless reports whether there is one position under each parent: see [LevelProperties].
func (t LevelType) Branchless() bool { return t.Kind.properties().Branchless }

// Ranges reports whether the positions under each parent are a range that Pos has: see [LevelProperties].
func (t LevelType) Ranges() bool { return t.Kind.properties().Ranges }

// Walked reports whether loops go through the positions under a parent one after the other; in other levels they
// look for coordinates.
func (t LevelType) Walked() bool { return t.Ranges() || t.Branchless() }

// HasPos reports whether the level has a Pos array.
func (t LevelType) HasPos() bool { return t.Kind.properties().HasPos }

// HasCrd reports whether the level has a Crd array.
func (t LevelType) HasCrd() bool { return t.Kind.properties().HasCrd }

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

// RegisterLevel adds a kind of level and returns how formats spell it, and what it is to the compiler. All functions of the schema must be there. It is for
// the start of a program, before there are formats: one goroutine may call it while no other uses the package. It panics if the name or
// the spelling is that of another kind.
func RegisterLevel(s LevelSchema) (LevelKind, PhysicalKind) {
	if kindNamed(s.Name) != 0 || slices.Contains(levelKindNames, s.Spelling) {
		panic("tensor: a level kind named " + s.Name + ", spelled " + s.Spelling + ", is registered twice")
	}
	levelSchemas = append(levelSchemas, &s)
	levelProperties = append(levelProperties, s.LevelProperties)
	levelKindNames = append(levelKindNames, s.Spelling)
	return LevelKind(len(levelKindNames) - 1), PhysicalKind(len(levelSchemas) - 1)
}
