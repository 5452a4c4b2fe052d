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
	axes, carried := sortedAxes(c.from.Format, c.to.Format, c.how.Entries)
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
		s.Result.Levels = make([]emit.ResultLevel, s.to.Rank)
		for l := range s.Result.Levels {
			s.Result.Levels[l] = emit.ResultLevel{Pos: -1, Crd: -1}
			if crd, ok := has.crd[l]; ok {
				s.Result.Levels[l].Crd = crd
			}
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
	if p.tiled() {
		p.countTiles()
		p.placeAll()
		p.moveTiles()
		return
	}
	p.countStage()
	switch {
	case s.how.Path.Alone:
		p.placeAlone()
	case s.how.Grids:
		p.placeAll()
	default:
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
	if p.how.Grids {
		bucket = e.B.Mul(bucket, e.Scalar(p.chunks))
	}
	return e.B.Let(name, e.B.Add(row, bucket))
}

// row is the first counter of the chunk.
func (p *countingPass) row(e *emit.Func) loop.Expr {
	if p.how.Path.Alone {
		return loop.Int(0)
	}
	if p.how.Grids {
		return e.B.Chunk() // counters of a bucket lie side by side
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

// maxParts bounds the chunks of a pass, each of which has counters of its own.
const maxParts = 64

// passGrain is how many entries a chunk of a pass has at least.
const passGrain = 1 << 14

// Between the counters of two chunks there is room for rowGap at least, and they begin at
// multiples of it: processors fetch neighbouring lines of the cache along with those that are
// asked for, and take them from each other where both write.
const rowGap = 64

// bucketGrain is how many buckets a chunk of the prefix sum has: their sums stay in the
// first cache.
const bucketGrain = 1 << 13

// On grids a chunk is that of a warp.
const (
	gridParts = 1 << 12
	gridGrain = 1 << 10
)

// lets are the scalars of the pass. Chunks are so large that counters take less
// time than entries.
func (p *countingPass) lets() []loop.ScalarLet {
	op := func(op loop.BinaryOp, x, y loop.SizeExpr) loop.SizeExpr { return &loop.SizeOp{Op: op, X: x, Y: y} }
	n, one := loop.SizeScalar(p.n), loop.SizeConst(1)
	grain, most := loop.SizeConst(passGrain), loop.SizeConst(maxParts)
	if n := p.how.Path.Chunks; n > 0 {
		most = loop.SizeConst(n)
	}
	if p.how.Grids {
		grain, most = loop.SizeConst(gridGrain), loop.SizeConst(gridParts)
	}
	least := op(loop.Max, grain, op(loop.Mul, loop.SizeConst(2), loop.SizeScalar(p.buckets)))
	// An even number: two threads then have the same to do.
	parts := op(loop.Mul, op(loop.Div, op(loop.Div, n, least), loop.SizeConst(2)), loop.SizeConst(2))
	if p.how.Grain > 0 {
		parts = op(loop.Div, n, loop.SizeConst(p.how.Grain))
	}
	parts = op(loop.Max, one, op(loop.Min, most, parts))
	if p.how.Path.Alone {
		parts = one
	}
	chunks := loop.SizeScalar(p.chunks)
	up := func(n loop.SizeExpr, by loop.SizeExpr) loop.SizeExpr { // n / by, rounded up
		return op(loop.Div, op(loop.Sub, op(loop.Add, n, by), one), by)
	}
	lets := []loop.ScalarLet{
		{Scalar: p.buckets, Value: p.bucketCount()},
		{Scalar: p.chunks, Value: parts},
		{Scalar: p.per, Value: up(n, chunks)},
	}
	if p.ownCounters() {
		gap, buckets := loop.SizeConst(rowGap), loop.SizeScalar(p.buckets)
		lets = append(lets,
			loop.ScalarLet{Scalar: p.stride, Value: op(loop.Mul, op(loop.Add, up(buckets, gap), one), gap)},
			loop.ScalarLet{Scalar: p.ranges, Value: up(buckets, loop.SizeConst(p.rangeSize()))})
	}
	return lets
}

// rangeSize is how many buckets a range has.
func (p *countingPass) rangeSize() int64 {
	if p.how.Grain > 0 {
		return p.how.Grain
	}
	return bucketGrain
}

// eachBucket runs body for the buckets of a range.
func (p *countingPass) eachBucket(e *emit.Func, number loop.Expr, body func(first, last loop.Expr)) {
	b := e.B
	first := b.Let("first", b.Mul(number, loop.Int(p.rangeSize())))
	body(first, b.Let("last", b.Min(e.Scalar(p.buckets), b.Add(first, loop.Int(p.rangeSize())))))
}

// item is an entry as a pass sees it.
type item struct {
	entry entry                    // in the first pass
	word  func(w int) loop.Expr    // a word, U64
	value func() loop.Expr         // the payload
	coord func(axis int) loop.Expr // a coordinate
	group loop.Expr                // how far the bits of a group are from the lowest
}

// eachItem emits the loop of a chunk of the pass. The words say which the body
// uses; in the pass that has none, and in the last, it may use coordinates.
func (p *countingPass) eachItem(e *emit.Func, words []int, coords bool, body func(it item)) {
	b := e.B
	lo, hi := loop.Expr(loop.Int(0)), e.Scalar(p.n)
	if !p.how.Path.Alone {
		lo = b.Let("begin", b.Min(e.Scalar(p.n), b.Mul(b.Chunk(), e.Scalar(p.per))))
		hi = b.Let("end", b.Min(e.Scalar(p.n), b.Add(lo, e.Scalar(p.per))))
	}
	var want axisSet
	if p.digit.word == bucketNumber || p.digit.word == bucketGroup {
		want = axesOf(p.bucketAxes())
	}
	for _, w := range words {
		want |= axesOf(p.words[w].axes)
	}
	if coords {
		for axis := range p.out {
			want |= 1 << axis
		}
	}
	pack := p.packing(e, p.words, want)
	var group loop.Expr
	switch p.digit.word {
	case wordGroup:
		first := p.words[0].axes[0]
		width := b.Let("width", b.Add(pack.shift[first], pack.width[first]))
		bits := loop.Number(loop.U64, int64(p.how.Path.Group))
		group = b.Let("shift", b.Sub(b.Max(width, bits), bits))
	case bucketGroup:
		group = p.groupShift(e)
	}
	if p.number > 0 {
		from := (p.number - 1) % 2
		b.For("p", lo, hi, func(at loop.Expr) {
			it := item{}
			it.word = func(w int) loop.Expr { return b.Cast(loop.U64, b.Load(e.Read(p.words[w].bufs[from]), at)) }
			it.value = func() loop.Expr { return b.Load(e.Read(p.payload[from]), at) }
			loaded := map[int]loop.Expr{}
			it.coord = func(axis int) loop.Expr {
				w := wordWith(p.words, axis)
				if loaded[w] == nil {
					loaded[w] = b.Let("word", it.word(w))
				}
				return pack.coordinate(b, loaded[w], axis)
			}
			body(it)
		})
		return
	}
	var differs func(loop.Expr) loop.Expr
	if p.filter {
		differs = p.differs(e)
	}
	p.source.each(e, lo, hi, want, func(en entry) {
		it := item{entry: en, group: group}
		it.coord = func(axis int) loop.Expr { return en.coords[axis] }
		it.word = func(w int) loop.Expr { return pack.word(b, p.words[w].axes, en) }
		it.value = func() loop.Expr {
			if p.blocks {
				return b.Cast(p.count, en.pos)
			}
			return b.Load(e.Read(p.vals), en.pos)
		}
		if differs == nil {
			body(it)
			return
		}
		b.If(differs(b.Let("v", b.Load(e.Read(p.vals), en.pos))), func() { body(it) }, nil)
	})
}

// bucket is the number of the bucket that an item falls into.
func (p *countingPass) bucket(e *emit.Func, it item) loop.Expr {
	b := e.B
	if p.digit.word == wordGroup {
		return b.Let("bucket", b.Cast(loop.I64, loop.NewBinary(loop.Shr, it.word(0), it.group)))
	}
	if d := p.digit; d.word >= 0 {
		x := loop.NewBinary(loop.Shr, it.word(d.word), loop.Number(loop.U64, int64(d.shift)))
		mask := loop.Number(loop.U64, 1<<p.words[d.word].Bits-1)
		return b.Let("bucket", b.Cast(loop.I64, b.And(x, mask)))
	}
	var at loop.Expr
	for _, axis := range p.bucketAxes() {
		c := it.coord(axis)
		if at != nil {
			c = b.Add(b.Mul(at, e.Scalar(p.extentOf(axis))), c)
		}
		at = c
	}
	if p.digit.word == bucketGroup {
		at = loop.NewBinary(loop.Shr, at, it.group)
	}
	return b.Let("bucket", at)
}

// countStage counts the entries of each bucket in each chunk.
func (p *countingPass) countStage() {
	e := p.NewFunc("count")
	b := e.B
	counts := e.Write(p.counts)
	row := p.row(e)
	var words []int
	switch {
	case p.digit.word >= 0:
		words = []int{p.digit.word}
	case p.digit.word == wordGroup:
		words = []int{0}
	}
	if p.ownCounters() {
		b.ForIndependent("bucket", row, b.Add(row, e.Scalar(p.buckets)), func(at loop.Expr) { b.Store(counts, at, loop.Number(p.count, 0)) })
	}
	p.eachItem(e, words, false, func(it item) {
		at := p.counter(e, "at", row, p.bucket(e, it))
		b.Store(counts, at, b.Add(b.Load(counts, at), loop.Number(p.count, 1)))
	})
	if p.ownCounters() {
		p.sumRanges(e, row)
	}
	p.part = p.Partition(loop.SizeScalar(p.chunks), -1, 1)
	st := e.Stage("count")
	st.Partition = p.part
	st.Lets = p.lets()
	size := emit.Times(loop.SizeScalar(p.chunks), loop.SizeScalar(p.buckets))
	if p.inPlace() {
		size = &loop.SizeOp{Op: loop.Add, X: loop.SizeScalar(p.buckets), Y: loop.SizeConst(1)}
	}
	st.Allocs = []loop.Alloc{{Buffer: p.counts, Zero: true, Len: size}}
	if p.ownCounters() {
		st.Allocs = []loop.Alloc{{Buffer: p.counts, Len: emit.Times(loop.SizeScalar(p.chunks), loop.SizeScalar(p.stride))},
			{Buffer: p.sums, Len: emit.Times(loop.SizeScalar(p.chunks), loop.SizeScalar(p.ranges))}}
	}
	p.AddStage(st)
}

// sumRanges ends the counting of a chunk: it adds its counters up by ranges of buckets,
// while they are in the cache.
func (p *countingPass) sumRanges(e *emit.Func, row loop.Expr) {
	b := e.B
	counts, sums := e.Write(p.counts), e.Write(p.sums)
	own := b.Let("own", b.Mul(b.Chunk(), e.Scalar(p.ranges)))
	b.For("range", loop.Int(0), e.Scalar(p.ranges), func(r loop.Expr) {
		sum := b.Var("sum", loop.Number(p.count, 0))
		p.eachBucket(e, r, func(first, last loop.Expr) {
			b.For("bucket", b.Add(row, first), b.Add(row, last), func(at loop.Expr) { b.Assign(sum, b.Add(sum, b.Load(counts, at))) })
		})
		b.Store(sums, b.Add(own, r), sum)
	})
}

// firstOfRanges puts into the first chunk's sums how many entries are in the buckets of all ranges before.
func (p *countingPass) firstOfRanges() {
	e := p.NewFunc("place_ranges")
	b := e.B
	sums, chunks, ranges := e.Write(p.sums), e.Scalar(p.chunks), e.Scalar(p.ranges)
	place := b.Var("place", loop.Number(p.count, 0))
	b.For("range", loop.Int(0), ranges, func(r loop.Expr) {
		n := b.Var("n", loop.Number(p.count, 0))
		b.For("part", loop.Int(0), chunks, func(c loop.Expr) {
			b.Assign(n, b.Add(n, b.Load(sums, b.Add(b.Mul(c, ranges), r))))
		})
		b.Store(sums, r, place)
		b.Assign(place, b.Add(place, n))
	})
	p.AddStage(e.Stage("place_ranges"))
}

// placeRanges turns counts into places, range by range. All entries in the buckets of ranges
// before come first. Within a range rows are added to
// each other, which is vector code; only the sum of the buckets of the last, which then
// are those of all chunks, goes from one to the next.
func (p *countingPass) placeRanges() {
	e := p.NewFunc("place")
	b := e.B
	counts, sums := e.Write(p.counts), e.Read(p.sums)
	one := loop.Int(1)
	chunks, stride, ranges := e.Scalar(p.chunks), e.Scalar(p.stride), e.Scalar(p.ranges)
	places, total := p.starts, loop.BufferID(-1)
	st := loop.Stage{}
	size := &loop.SizeOp{Op: loop.Add, X: loop.SizeScalar(p.buckets), Y: loop.SizeConst(1)}
	if p.wanted() {
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: p.starts, Len: size})
	} else {
		places = p.Buffer(fmt.Sprintf("places%d", p.number), p.count, loop.Temp)
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: places, Len: size})
	}
	if p.number == 0 && p.filter {
		total = p.Buffer("total", p.count, loop.Temp)
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: total, Len: loop.SizeConst(1)})
	}
	out := e.Write(places)
	b.For("range", b.Lo(), b.Hi(), func(r loop.Expr) {
		place := b.Var("place", b.Load(sums, r))
		p.eachBucket(e, r, func(first, last loop.Expr) {
			// rows visits the counters of a chunk and, as far back as by, those of another.
			rows := func(c loop.Expr, body func(bucket, at, before loop.Expr)) {
				row := b.Let("row", b.Mul(c, stride))
				b.ForIndependent("bucket", first, last, func(bucket loop.Expr) {
					at := b.Let("at", b.Add(row, bucket))
					body(bucket, at, b.Sub(at, stride))
				})
			}
			b.For("part", one, chunks, func(c loop.Expr) {
				rows(c, func(_, at, before loop.Expr) {
					b.Store(counts, at, b.Add(b.Load(counts, at), b.Load(counts, before)))
				})
			})
			all := b.Let("all", b.Mul(b.Sub(chunks, one), stride))
			b.For("bucket", first, last, func(bucket loop.Expr) {
				n := b.Let("n", b.Load(counts, b.Add(all, bucket)))
				b.Store(out, bucket, place)
				b.Assign(place, b.Add(place, n))
			})
			b.For("part", one, chunks, func(c loop.Expr) {
				rows(b.Sub(chunks, c), func(bucket, at, before loop.Expr) {
					b.Store(counts, at, b.Add(b.Load(counts, before), b.Load(out, bucket)))
				})
			})
			b.ForIndependent("bucket", first, last, func(bucket loop.Expr) { b.Store(counts, bucket, b.Load(out, bucket)) })
		})
		b.If(b.Eq(r, b.Sub(ranges, one)), func() {
			b.Store(out, e.Scalar(p.buckets), place)
			if total >= 0 {
				b.Store(e.Write(total), loop.Int(0), place)
			}
		}, nil)
	})
	done := e.Stage("place")
	done.Allocs = st.Allocs
	done.Partition = p.Partition(loop.SizeScalar(p.ranges), -1, 1)
	p.AddStage(done)
	if total >= 0 {
		p.keep(total)
	}
}

// placeAll turns counts into places where those of a bucket lie side by side: by one
// running sum.
func (p *countingPass) placeAll() {
	total := p.Buffer(fmt.Sprintf("total%d", p.number), p.count, loop.Temp)
	all := emit.Times(loop.SizeScalar(p.chunks), loop.SizeScalar(p.buckets))
	e := p.NewFunc("place")
	b := e.B
	counts := e.Write(p.counts)
	sum := b.Var("sum", loop.Number(p.count, 0))
	b.For("at", loop.Int(0), b.Mul(e.Scalar(p.chunks), e.Scalar(p.buckets)), func(at loop.Expr) {
		n := b.Let("n", b.Load(counts, at))
		b.Store(counts, at, sum)
		b.Assign(sum, b.Add(sum, n))
	})
	b.Store(e.Write(total), loop.Int(0), sum)
	st := e.Stage("place")
	st.Allocs = []loop.Alloc{{Buffer: total, Len: loop.SizeConst(1)}}
	st.Prefixes = []loop.Prefix{{Buffer: p.counts, Stride: 1, N: all, Total: total}}
	p.AddStage(st)
	if p.wanted() {
		e := p.NewFunc("starts")
		b := e.B
		starts := e.Write(p.starts)
		b.ForIndependent("bucket", b.Lo(), b.Hi(), func(bucket loop.Expr) {
			at := b.Let("at", b.Mul(bucket, e.Scalar(p.chunks)))
			b.Store(starts, bucket, b.Load(e.Read(p.counts), at))
		})
		b.If(b.Eq(b.Hi(), e.Scalar(p.buckets)), func() { b.Store(starts, b.Hi(), b.Load(e.Read(total), loop.Int(0))) }, nil)
		st := e.Stage("starts")
		st.Partition = p.Partition(loop.SizeScalar(p.buckets), -1, 0)
		st.Allocs = []loop.Alloc{{Buffer: p.starts,
			Len: &loop.SizeOp{Op: loop.Add, X: loop.SizeScalar(p.buckets), Y: loop.SizeConst(1)}}}
		p.AddStage(st)
	}
	p.keep(total)
}

// keep notes how many entries the first pass has kept.
func (p *countingPass) keep(total loop.BufferID) {
	if p.number == 0 && p.filter {
		p.kept = p.NewScalar("kept", false)
		p.AddStage(loop.Stage{Name: "kept", Partition: -1, Lets: []loop.ScalarLet{
			{Scalar: p.kept, Value: &loop.SizeLoad{Buffer: total, Index: loop.SizeConst(0)}}}})
	}
}

// placeAlone turns the counts of the only chunk into places, in one sweep.
func (p *countingPass) placeAlone() {
	e := p.NewFunc("place")
	b := e.B
	counts := e.Write(p.counts)
	size := e.Scalar(p.buckets)
	var starts loop.BufID
	if p.wanted() {
		starts = e.Write(p.starts)
	}
	sum := b.Var("sum", loop.Number(p.count, 0))
	b.For("bucket", loop.Int(0), size, func(bucket loop.Expr) {
		at := p.counter(e, "at", loop.Int(0), bucket)
		n := b.Let("n", b.Load(counts, at))
		b.Store(counts, at, sum)
		if p.wanted() {
			b.Store(starts, bucket, sum)
		}
		b.Assign(sum, b.Add(sum, n))
	})
	if p.wanted() {
		b.Store(starts, size, sum)
	}
	total := p.Buffer(fmt.Sprintf("total%d", p.number), p.count, loop.Temp)
	b.Store(e.Write(total), loop.Int(0), sum)
	st := e.Stage("place")
	st.Allocs = []loop.Alloc{{Buffer: total, Len: loop.SizeConst(1)}}
	if p.wanted() {
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: p.starts,
			Len: &loop.SizeOp{Op: loop.Add, X: loop.SizeScalar(p.buckets), Y: loop.SizeConst(1)}})
	}
	p.AddStage(st)
	p.keep(total)
}

// moveAllocs allocates what the pass moves entries to: packed, with all words, or to the
// arrays of the result, for which it needs the word of the digit.
func (p *countingPass) moveAllocs(to int) (list []loop.Alloc, words []int, pack bool) {
	kept := loop.SizeScalar(p.kept)
	if pack = !p.last || p.packed; pack {
		p.moved(to)
		for w := range p.words {
			words = append(words, w)
			list = p.allocate(list, p.words[w].bufs[to], kept)
		}
		return p.allocate(list, p.payload[to], kept), words, pack
	}
	if p.digit.word >= 0 {
		words = []int{p.digit.word}
	}
	for _, axis := range p.axes {
		if id, ok := p.out[axis]; ok {
			list = append(list, loop.Alloc{Buffer: id, Len: kept})
		}
	}
	return append(list, loop.Alloc{Buffer: p.values, Len: emit.Times(kept, p.sizeOf(p.blockAxes()))}), words, pack
}

// blockAxes are the axes of the dense blocks that are moved.
func (s *sorter) blockAxes() []int {
	if !s.blocks {
		return nil
	}
	return s.to.Format.Order()[sparseRank(s.to.Format):]
}

// moveStage moves every entry to its place.
func (p *countingPass) moveStage() {
	e := p.NewFunc("move")
	b := e.B
	counts := e.Write(p.counts)
	row := p.row(e)
	to := p.number % 2
	allocs, words, pack := p.moveAllocs(to)
	var size loop.Expr
	if p.last && p.blocks {
		size = p.extentsIn(e, p.blockAxes())
	}
	p.eachItem(e, words, !pack, func(it item) {
		slot := p.counter(e, "slot", row, p.bucket(e, it))
		at := b.Let("to", b.LoadIndex(counts, slot))
		b.Store(counts, slot, b.Cast(p.count, b.Add(at, loop.Int(1))))
		if pack {
			for w := range p.words {
				buf := e.Write(p.words[w].bufs[to])
				b.Store(buf, at, b.Cast(b.Elem(buf), it.word(w)))
			}
			b.Store(e.Write(p.payload[to]), at, it.value())
			return
		}
		for _, axis := range p.axes {
			if id, ok := p.out[axis]; ok {
				buf := e.Write(id)
				b.Store(buf, at, b.Cast(b.Elem(buf), it.coord(axis)))
			}
		}
		values := e.Write(p.values)
		if !p.blocks {
			b.Store(values, at, it.value())
			return
		}
		in := e.Read(p.vals)
		from := b.Let("from", b.Mul(b.Cast(loop.I64, it.value()), size))
		dest := b.Let("dest", b.Mul(at, size))
		b.ForIndependent("k", loop.Int(0), size, func(k loop.Expr) {
			b.Store(values, b.Add(dest, k), b.Load(in, b.Add(from, k)))
		})
	})
	st := e.Stage("move")
	st.Allocs = allocs
	st.Partition = p.part
	p.AddStage(st)
}

// moved makes a set of buffers of words and payload, if it is not there.
func (s *sorter) moved(set int) {
	if s.payload[set] >= 0 {
		return
	}
	role := loop.Temp
	if s.packed && set == s.results {
		role = loop.Output
	}
	for i := range s.words {
		w := &s.words[i]
		w.bufs[set] = s.Buffer(fmt.Sprintf("word%d_%d", i, set), w.elem(), role)
	}
	elem := s.elem
	if s.blocks {
		elem = s.count
	}
	s.payload[set] = s.Buffer(fmt.Sprintf("moved%d", set), elem, role)
}

// allocate adds the allocation of a buffer, unless an earlier pass has made it.
func (s *sorter) allocate(list []loop.Alloc, id loop.BufferID, n loop.SizeExpr) []loop.Alloc {
	for _, stage := range s.Program.Stages {
		for _, a := range stage.Allocs {
			if a.Buffer == id {
				return list
			}
		}
	}
	return append(list, loop.Alloc{Buffer: id, Len: n})
}
