package convert

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Path is how a conversion brings entries into the target's order. It depends on
// extents and the number of entries, which kernels do not: a caller chooses it
// for the data at hand, and keeps the kernels of each.
type Path struct {
	// Axes is the number of the target's outermost levels by whose coordinates
	// entries are sorted, stably; the source is in order by the rest.
	Axes int
	// Buckets: one counting pass, with a bucket for each combination of those
	// coordinates.
	Buckets bool
	// Group, when not 0, is for entries that go to places far apart: a pass first
	// brings those together that go to places near each other, by so many of
	// the upper bits of the bucket's number or of the first word. It costs a
	// move and makes almost every access of the others a hit in the cache.
	Group int
	// Words hold the coordinates of an entry while it is moved more than once,
	// the outermost level's first. Without Buckets, the first words, of the
	// Axes, are sorted by; all others are carried.
	Words []Word
	// Rows is for a list that becomes the rows of a matrix: it is sorted by the
	// bits of the column, in the passes of the word, and then by row; if Group is
	// not 0, within groups of rows.
	Rows bool
	// Alone is for one thread, or few entries: passes have one chunk, and so one set
	// of counters, which are the positions of the result where it has such. Entries
	// go where they would without.
	Alone bool
	// Chunks, when not 0, is the most chunks of a pass. Where two chunks write next to each
	// other, threads take lines of the cache from each other, so there are not many more than threads.
	Chunks int
	// Way is the word of a shortcut that needs none of these, "" of all others.
	Way string
}

// Word packs the coordinates of some axes into an integer.
type Word struct {
	Axes int
	Wide bool // 64 bits rather than 32
	// Passes is the number of counting passes that sort by this word, each by
	// Bits of it.
	Passes, Bits int
}

// None reports whether entries need no sorting.
func (p Path) None() bool { return p.Axes == 0 }

// Passes is the number of times that every entry is moved.
func (p Path) Passes() int {
	n := 0
	if p.Buckets || p.Rows {
		n++
	}
	if p.Group > 0 {
		n++
	}
	for _, w := range p.Words {
		n += w.Passes
	}
	return n
}

// String describes the path; equal paths have equal descriptions.
func (p Path) String() string {
	if p.Alone {
		p.Alone = false
		return p.String() + ", by one thread"
	}
	if n := p.Chunks; n > 0 {
		p.Chunks = 0
		return fmt.Sprintf("%s, in up to %d chunks", p.String(), n)
	}
	switch {
	case p.Way != "":
		return p.Way
	case p.None():
		return "in order"
	case p.Buckets && p.Group == 0:
		return fmt.Sprintf("sorted by the coordinates of %d axes in one counting pass", p.Axes)
	}
	what := "sorted by radix: "
	var parts []string
	switch {
	case p.Buckets:
		what = fmt.Sprintf("grouped by %d bits, then sorted by the coordinates of %d axes in one counting pass: ", p.Group, p.Axes)
	case p.Rows:
		what = "sorted by radix, then in one counting pass by row: "
		if p.Group > 0 {
			what = fmt.Sprintf("grouped by %d bits of the row, then within groups ", p.Group) + what
		}
	case p.Group > 0:
		what = fmt.Sprintf("grouped by %d bits, then sorted within groups by radix: ", p.Group)
	}
	for _, w := range p.Words {
		width := 32
		if w.Wide {
			width = 64
		}
		if w.Passes == 0 {
			parts = append(parts, fmt.Sprintf("%d axes carried in %d bits", w.Axes, width))
			continue
		}
		parts = append(parts, fmt.Sprintf("%d axes in %d bits by %d passes of %d", w.Axes, width, w.Passes, w.Bits))
	}
	return what + strings.Join(parts, ", ")
}

// Limits of the counting passes. A pass over more buckets than maxBuckets misses
// the caches and the page tables with every entry it moves, so several passes
// over fewer are faster; so are they when the buckets outnumber the entries.
const (
	maxBuckets    = 1 << 20
	fewBuckets    = 1 << 12
	digitBits     = 10      // of a radix pass: its buckets' ends stay in the first caches
	groupBits     = 8       // of a pass that groups
	groupEntries  = 1 << 12 // of a group that is sorted in the cache
	maxGroupBits  = 11
	localBits     = 10 // of a radix pass over a group
	gridDigitBits = 8  // of a radix pass by tiles
	// So many chunks for each thread even out what slows one of them down.
	chunksPerThread = 4
)

// cacheOf is the second-level cache of a processor that nobody has asked.
const cacheOf = 2 << 20

// mostShared is up to how much of a shared cache a thread can count on, however large that is: other processors
// use it too, and no other than those of this machine may be told of them. Where entries go by chance, grouping them pays from about there on.
const mostShared = 8 << 20

// cache is the second-level cache that a thread has.
func (d *Data) cache() int64 {
	if d.Cache > 0 {
		return d.Cache
	}
	return cacheOf
}

// farBuckets is how many of so many buckets in use at a time are too many: where their ends, a line in each of two arrays, take half of the
// cache, or more than a thread has of the one that is shared. Chunks have counters of their own, so that with many threads there are not enough of them.
func (d *Data) farBuckets(buckets int64) int64 {
	const ends = 2 * 64
	room := d.cache() / 2
	if d.Threads == 1 || d.Threads > 1 && d.Entries/(chunksPerThread*int64(d.Threads)) >= buckets {
		room = max(room, min(d.Shared, mostShared))
	}
	return room / ends
}

// nearEntries is how many entries of 12 or 16 bytes, read from one place and written to another,
// stay in the cache or nearly so, and need no groups.
func (d *Data) nearEntries() int64 { return d.cache() / 16 }

// rowGroupEntries is the size of groups, which take a quarter to half of the cache.
func (d *Data) rowGroupEntries() int64 { return d.cache() / 128 }

// Data is what the choice of a path looks at.
type Data struct {
	Shape   []int64 // of the target
	Map     *Map    // as in Options
	Entries int64
	Order   EntryOrder
	DType   tensor.DType
	Threads int   // that the kernel will run on; 0: not known
	Grain   int64 // as in Options
	Cache   int64 // bytes of a thread's second-level cache; 0: not known
	Shared  int64 // bytes that a thread has of the cache behind that; 0: none, or not known
	// Grids: the kernel runs on thousands of threads. Few buckets then matter more
	// than few passes, and groups do not, as no thread's entries stay in a cache.
	Grids bool
	// Spread estimates over how many coordinates of an axis a few consecutive
	// entries spread; nil or a result of 0 where nobody knows.
	Spread func(axis int) int64
}

// alone reports whether one thread does all passes: where there are no others, or too
// few entries for that many threads.
func (d *Data) alone() bool {
	switch {
	case d.Threads == 1:
		return true
	case d.Grain > 0 || d.Grids:
		return false
	}
	return d.Entries < 2*emit.ChunkGrain || d.Threads > 0 && d.Entries <= cost.AloneEntries*2/int64(d.Threads)
}

// aloneInGroups is alone for entries that are grouped and then sorted within groups.
func (d *Data) aloneInGroups() bool {
	return d.alone() && (d.Threads == 1 || d.Entries < cost.AloneGrouped)
}

// fewBuckets reports whether one counting pass sorts by the coordinates of axes.
func (d *Data) fewBuckets(axes []int) bool {
	return bucketsFor(axes, d.Shape) <= max(fewBuckets, min(maxBuckets, 2*d.Entries))
}

// far reports whether entries that are sorted by axes go to places far apart, one after the other.
func (d *Data) far(axes []int) bool {
	return len(axes) == 1 && d.Entries >= cost.GroupedEntries && d.Spread != nil && d.Spread(axes[0]) >= d.farBuckets(d.Shape[axes[0]])
}

// share notes for how many threads the path is.
func (p *Path) share(d *Data, alone bool) {
	if p.Alone = alone; alone || d.Threads == 0 || d.Grids {
		return
	}
	p.Chunks = min(chunksPerThread*d.Threads, maxParts)
}

// ChoosePath chooses the path of a conversion. It is not ok if there would be so
// many passes that a kernel is of no use.
func ChoosePath(from, to tensor.Format, d Data) (p Path, ok bool) {
	for _, s := range shortcuts {
		if p, ok := s.path(from, to, &d); ok {
			return p, true
		}
	}
	axes, carried := sortedAxes(from, to, d.Order, d.Map)
	if len(axes) == 0 {
		return Path{}, true
	}
	p.Axes = len(axes)
	p.share(&d, d.alone())
	if d.Order == Unordered {
		if d.Grids {
			p.Words = wordsFor(axes, d.Shape, gridDigitBits, 0)
			return p, p.Passes() > 0 && p.Passes() <= cost.MostMoves
		}
		p.Group = min(max(bits.Len64(uint64(d.Entries/groupEntries)), 1), maxGroupBits)
		p.Words = wordsFor(axes, d.Shape, localBits, p.Group)
		return p, p.Passes() <= cost.MostMoves
	}
	digit := digitBits
	if d.Grids {
		digit = gridDigitBits
	}
	if d.Grids || !d.fewBuckets(axes) {
		p.Words = append(wordsFor(axes, d.Shape, digit, 0), wordsFor(carried, d.Shape, 0, 0)...)
		if p.Passes() == 0 { // of axes of extent 1: what writes the result is a pass
			p.Words[0].Passes, p.Words[0].Bits = 1, 1
		}
		return p, p.Passes() <= cost.MostMoves
	}
	p.Buckets = true
	if d.far(axes) {
		p.Group = groupBits
		p.Words = wordsFor(append(append([]int(nil), axes...), carried...), d.Shape, 0, 0)
	}
	return p, true
}

// sortedAxes are the axes of the target that entries are sorted by, and the
// others that it has an order for or keeps in blocks.
func sortedAxes(from, to tensor.Format, entries EntryOrder, moved *Map) (sorted, carried []int) {
	sparse := to.SparseRank()
	axes := to.Order()
	blocks := moved == nil && from.SparseRank() == sparse && sameAxes(from.Order()[sparse:], axes[sparse:])
	source := moved.Order(from.Order(), axes)
	if blocks {
		axes, source = axes[:sparse], source[:sparse]
	}
	m := sparse
	if entries != Unordered {
		m = unsortedPrefix(axes[:sparse], source)
	}
	return axes[:m], axes[m:]
}

// unsortedPrefix is the number of leading axes by which entries sorted by source
// have to be sorted, stably, to be in order by axes: the rest of axes must be
// how source goes on once those are left out.
func unsortedPrefix(axes, source []int) int {
	for m := range axes {
		moved, rest := axesOf(axes[:m]), axes[m:]
		for _, axis := range source {
			if len(rest) == 0 {
				break
			}
			if moved.has(axis) {
				continue
			}
			if axis != rest[0] {
				break
			}
			rest = rest[1:]
		}
		if len(rest) == 0 {
			return m
		}
	}
	return len(axes)
}

// bucketsFor is the product of the extents of axes, or a large number.
func bucketsFor(axes []int, shape []int64) int64 {
	const large = 1 << 62
	n := int64(1)
	for _, axis := range axes {
		hi, lo := bits.Mul64(uint64(n), uint64(shape[axis]))
		if hi != 0 || lo > large {
			return large
		}
		n = int64(lo)
	}
	return n
}

// wordsFor packs axes into words, as many into each as fit. A digit of 0 bits is
// for words that are only carried. By the uppermost bits, known of them, entries
// are in order.
func wordsFor(axes []int, shape []int64, digit, known int) []Word {
	var words []Word
	for len(axes) > 0 {
		n, width := 0, 0
		for n < len(axes) {
			w := bits.Len64(uint64(max(shape[axes[n]], 1) - 1))
			if width+w > 64 {
				break
			}
			n, width = n+1, width+w
		}
		axes = axes[n:]
		w := Word{Axes: n, Wide: width > 32}
		if width = max(width-known, 0); digit > 0 && width > 0 {
			w.Passes = (width + digit - 1) / digit
			w.Bits = (width + w.Passes - 1) / w.Passes
		}
		words, known = append(words, w), 0
	}
	return words
}
