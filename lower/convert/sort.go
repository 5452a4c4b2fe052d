package convert

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// Entries are sorted by stable counting passes, from the least significant digit
// of their keys (D. E. Knuth, The Art of Computer Programming, vol. 3, §5.2.5).
// A pass cuts the entries into chunks; every chunk counts how many of its
// entries fall into each bucket; a prefix sum over the buckets, and over the
// chunks within each, gives every chunk a place of its own in every bucket; and
// every chunk moves its entries there. The first pass reads the source, the last
// writes what the target needs.

// sorter emits the passes.
type sorter struct {
	*converter
	axes  []int // by which entries are sorted, then those carried along
	words []word
	// payload holds what is moved with the coordinates: the value or, of a
	// block, its position.
	payload [2]loop.BufferID
	out     map[int]loop.BufferID // by axis: the column that the last pass writes
	values  loop.BufferID         // that the last pass writes
	// starts, when not -1, receives where the buckets of the only pass begin:
	// they are the positions array of the target.
	starts loop.BufferID
	kept   loop.ScalarID // the number of entries after filter
	// packed: passes write words and no coordinates. The set of buffers that the
	// last of them writes is handed to the caller.
	packed  bool
	results int
}

// digit is what a pass sorts by: Bits of a word from shift on, or the number of a
// bucket, or its upper bits.
type digit struct{ word, shift int }

// Words of digits that are not of a word.
const (
	bucketNumber = -1 - iota
	bucketGroup
	wordGroup // the upper bits of the first word
)

// sorter starts a sort.
func (c *converter) sorter() *sorter {
	axes, carried := sortedAxes(c.from.Format, c.to.Format, c.how.Entries, c.how.Map)
	axes = append(append([]int(nil), axes...), carried...)
	return &sorter{converter: c, axes: axes, words: wordsOf(c.how.Path, axes),
		payload: [2]loop.BufferID{-1, -1}, out: map[int]loop.BufferID{}, starts: -1, kept: c.entries}
}

// sort emits the passes. It returns the sorted entries and which of the
// target's arrays they are; or that the target is complete.
func (c *converter) sort() (sorted columns, has stored, done bool) {
	s := c.sorter()
	has, done = s.targets()
	s.passes()
	c.entries = s.kept
	return columns(s.out), has, done
}

// passes emits all passes.
func (s *sorter) passes() {
	steps := s.digits()
	for i, d := range steps {
		s.pass(i, d, i == len(steps)-1)
	}
}

// digits are the digits from the least significant one.
func (s *sorter) digits() []digit {
	switch {
	case s.how.Path.Buckets && s.how.Path.Group > 0:
		return []digit{{word: bucketGroup}, {word: bucketNumber}}
	case s.how.Path.Buckets:
		return []digit{{word: bucketNumber}}
	}
	var list []digit
	for w := len(s.words) - 1; w >= 0; w-- {
		for i := range s.words[w].Passes {
			list = append(list, digit{w, i * s.words[w].Bits})
		}
	}
	if s.how.Path.Rows {
		list = append(list, digit{word: bucketNumber})
	}
	return list
}

// targets decides what the last pass writes: arrays of the target where entries
// are its positions, else columns from which its levels are cut.
func (s *sorter) targets() (has stored, done bool) {
	order := s.to.Format.Order()
	segs := s.targetSegments()
	last := segs[len(segs)-1]
	has = stored{crd: map[int]loop.BufferID{}, values: -1, from: -1, sorted: true}
	if s.scatter {
		for l, axis := range order {
			s.out[axis] = s.Buffer(fmt.Sprintf("sorted%d", l), s.indexType(l, emit.Coordinates), loop.Temp)
		}
		s.values = s.Buffer("sorted_vals", s.elem, loop.Temp)
		has.from = s.values
		return has, false
	}
	s.values = s.Buffer(s.to.Name+"_vals", s.elem, loop.Output)
	has.values = s.values
	for l := last.first; l <= last.last; l++ {
		has.crd[l] = s.crdBuffer(l)
		s.out[order[l]] = has.crd[l]
	}
	if (s.how.Path.Buckets || s.how.Path.Rows) && len(segs) == 1 && last.first == len(s.bucketAxes()) {
		s.starts = s.Buffer(fmt.Sprintf("%s%d_pos", s.to.Name, last.first), s.count, loop.Output)
		s.Result.Values = s.values
		s.Result.Levels = emit.NoArrays(s.to.Rank)
		for l, crd := range has.crd {
			s.Result.Levels[l].Crd = crd
		}
		s.Result.Levels[last.first].Pos = s.starts
		return has, true
	}
	for l := 0; l < last.first; l++ {
		s.out[order[l]] = s.Buffer(fmt.Sprintf("sorted%d", l), s.indexType(l, emit.Coordinates), loop.Temp)
	}
	return has, false
}

// pass is one counting pass under construction.
type countingPass struct {
	*sorter
	number int
	digit  digit
	last   bool

	n, chunks, per loop.ScalarID // entries, chunks of them, entries in a chunk
	buckets        loop.ScalarID
	stride, ranges loop.ScalarID // where chunks have counters of their own: see lets
	counts         loop.BufferID // chunks × stride: the count, then the place
	sums           loop.BufferID // chunks × ranges: how many entries a chunk has in a range of buckets
	part           int
}

func (s *sorter) pass(i int, d digit, last bool) {
	name := func(what string) string { return fmt.Sprintf("%s%d", what, i) }
	p := &countingPass{sorter: s, number: i, digit: d, last: last,
		n: s.kept, chunks: s.NewScalar(name("parts"), false), per: s.NewScalar(name("per"), false),
		buckets: s.NewScalar(name("buckets"), false)}
	if p.ownCounters() {
		p.stride, p.ranges = s.NewScalar(name("stride"), false), s.NewScalar(name("ranges"), false)
		p.sums = s.Buffer(name("sums"), s.count, loop.Temp)
	}
	if p.inPlace() {
		p.counts = s.starts
	} else {
		p.counts = s.Buffer(name("counts"), s.count, loop.Temp)
	}
	if s.how.Grids && !s.how.Path.Alone {
		p.countTiles()
		p.placeAll()
		p.moveTiles()
		return
	}
	p.countStage()
	if s.how.Path.Alone {
		p.placeAlone()
	} else {
		p.firstOfRanges()
		p.placeRanges()
	}
	p.moveStage()
}

// ownCounters reports whether every chunk has a row of counters, all buckets side by
// side, so that threads do not write to the same cache lines.
func (p *countingPass) ownCounters() bool { return !p.how.Path.Alone && !p.how.Grids }

// inPlace reports whether the positions array of the target serves as counters:
// element b+1 counts bucket b, then is where it begins, and as entries are moved
// there becomes where it ends, which is what the array is to hold.
func (p *countingPass) inPlace() bool {
	return p.how.Path.Alone && p.last && p.starts >= 0
}

// wanted reports whether starts is to receive where the buckets of this pass begin.
func (p *countingPass) wanted() bool {
	return p.starts >= 0 && (p.last || p.packed) && !p.inPlace()
}

// counter names the element that counts a bucket, given the first of the chunk's.
func (p *countingPass) counter(e *emit.Func, name string, row, bucket loop.Expr) loop.Expr {
	if p.inPlace() {
		return e.B.Let(name, e.B.Add(bucket, loop.Int(1)))
	}
	return e.B.Let(name, e.B.Add(row, bucket))
}

// row is the first counter of the chunk.
func (p *countingPass) row(e *emit.Func) loop.Expr {
	if p.how.Path.Alone {
		return loop.Int(0)
	}
	return e.B.Let("row", e.B.Mul(e.B.Chunk(), e.Scalar(p.stride)))
}

// bucketAxes are the axes whose coordinates number the buckets.
func (s *sorter) bucketAxes() []int {
	if s.how.Path.Rows {
		return s.axes[:1]
	}
	return s.axes[:s.how.Path.Axes]
}

// groupShift is how many of the lower bits of a bucket's number do not tell its
// group.
func (s *sorter) groupShift(e *emit.Func) loop.Expr {
	b := e.B
	n := s.extentsIn(e, s.bucketAxes())
	shift := b.Var("shift", loop.Int(0))
	b.While(b.Gt(n, loop.NewBinary(loop.Shl, loop.Int(1<<s.how.Path.Group), shift)), func() {
		b.Assign(shift, b.Add(shift, loop.Int(1)))
	})
	return b.Let("shift", shift)
}

// bucketCount is how many buckets the pass has.
func (p *countingPass) bucketCount() loop.SizeExpr {
	switch p.digit.word {
	case bucketNumber:
		return p.sizeOf(p.bucketAxes())
	case bucketGroup, wordGroup:
		return loop.SizeConst(1 << p.how.Path.Group)
	}
	return loop.SizeConst(1 << p.words[p.digit.word].Bits)
}
