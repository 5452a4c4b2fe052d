package cost

import "math"

// Limits decide what leaves the bits of a result as they are: how a workspace stores its entries, whether a table is made, how many threads
// assemble a result, whether a conversion gets a kernel. They follow from times, and those that were measured count.
type Limits struct {
	// DenseKeys is up to how many keys a workspace with a place for each is the fastest: as long as a random access to a value of eight bytes among
	// them takes no more than an insertion into a hash table does.
	DenseKeys int64
	// PlacesPerEntry bounds the places of a table for each entry of the operands. All have to be cleared before an entry is looked up
	// rather than merged.
	PlacesPerEntry int64
	// Galloping bounds the entries of a fibre for each entry of a vector that is in a table: a merge takes the vector's, times what
	// finding each in the fibre costs, and the table all of the fibre's.
	Galloping int64
	// HandOver is how many entries one thread goes through while two are woken.
	HandOver int64
	// CompileEntries is how many entries are converted without a kernel while one is compiled.
	CompileEntries int64
}

// Limits are those that follow from the times.
func (t *Times) Limits() Limits {
	l := Limits{
		DenseKeys:      leastDenseKeys,
		PlacesPerEntry: ratio(t.Merge-t.Step, t.Clear),
		Galloping:      ratio(t.Seek, t.Step),
		HandOver:       ratio(2*t.Wake, t.Step),
		CompileEntries: min(max(ratio(t.Compile, t.Restore-t.Move), fewestCompiled), mostCompiled),
	}
	for l.DenseKeys < mostDenseKeys && t.RandomIn(8*float64(2*l.DenseKeys)) <= t.Insert {
		l.DenseKeys *= 2
	}
	return l
}

// Bounds of DenseKeys: below, everything is in the first cache; above, clearing counts.
const (
	leastDenseKeys = 1 << 12
	mostDenseKeys  = 1 << 24
)

// Bounds of CompileEntries.
const (
	fewestCompiled = 1 << 16
	mostCompiled   = 1 << 24
)

// ratio is how many of one step take the time of another, at least 1.
func ratio(of, by float64) int64 {
	if !(by > 0) || !(of > by) {
		return 1
	}
	return int64(math.Min(of/by, 1<<40))
}

const (
	// GridKeys is DenseKeys on grids, where each of thousands of threads has such a workspace.
	GridKeys = 1 << 12
	// SortEntries is up to how many entries of the operands a sorted list will do for a workspace: it may have as many elements as there are pairs of them.
	SortEntries = 1 << 8
	// SmallRuns is after how many small runs a program of one thread is compiled for them: compiling takes as long as what so many lose without it.
	SmallRuns = 32
	// Guessable is from one of how many on that processors guess right, where all but that are not there.
	Guessable = 32
	// CountedWork is how many times the work of one thread several do that count the entries of a result first.
	CountedWork = 1.8

	// FewEntries are converted, or brought from a device, before a kernel has started.
	FewEntries = 1 << 12
	// EngineEntries is from how many entries on it is worth looking for an engine to convert with.
	EngineEntries = 1 << 20
)

// Limits of the passes of conversions (package lower/convert).
const (
	GroupedEntries = 1 << 16 // from so many on, that go to places far apart, grouping pays
	MostMoves      = 24      // from so many moves of each entry on a conversion is not worth a kernel
	// Up to AloneEntries one thread is done with a pass, of tens of microseconds, before two threads that write next to each other are, and have
	// counters of their own. Groups are sorted by one thread each, which pays from AloneGrouped on.
	AloneEntries = 1 << 17
	AloneGrouped = 1 << 16
)

// Limits of the mappings to a GPU. To start a grid takes as long as to go through some ten thousand entries.
const (
	GridFew       = 1 << 15 // entries: a block that had to fold all of them as one row would need about as long as the grids that are saved
	GridShortRows = 64      // times as many entries, where no row is long
	GridFewPerRow = 256     // entries of a row, of few: fewer long rows are better shared by all blocks
	GridScatter   = 1 << 11 // updates from which on they are sorted: with fewer, the grids that sort take longer to start than owners to look for theirs
)
