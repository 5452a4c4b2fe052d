package convert

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/prim"
)

// How a counting pass is cut, and how it counts.

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

// lets are the scalars of the pass. Chunks are so large that counters take less
// time than entries.
func (p *countingPass) lets() []loop.ScalarLet {
	op := func(op loop.BinaryOp, x, y loop.SizeExpr) loop.SizeExpr { return &loop.SizeOp{Op: op, X: x, Y: y} }
	n, one := loop.SizeScalar(p.n), loop.SizeConst(1)
	grain, most := loop.SizeConst(passGrain), loop.SizeConst(maxParts)
	if n := p.how.Path.Chunks; n > 0 {
		most = loop.SizeConst(n)
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
	keep := p.converter.kept(e, p.filter)
	p.source.each(e, lo, hi, want, func(en entry) {
		it := item{entry: en, group: group}
		it.coord = func(axis int) loop.Expr { return en.coords[axis] }
		it.word = func(w int) loop.Expr { return pack.word(b, p.words[w].axes, en) }
		it.value = func() loop.Expr {
			if p.blocks {
				return b.Cast(p.count, en.pos)
			}
			return p.converter.value(e, en.pos)
		}
		keep(en, func() { body(it) })
	})
}

// bucket is the number of the bucket that an item falls into.
func (p *countingPass) bucket(e *emit.Func, it item) loop.Expr {
	b := e.B
	if p.digit.word == wordGroup {
		return b.Let("bucket", b.Cast(loop.I64, loop.NewBinary(loop.Shr, it.word(0), it.group)))
	}
	if d := p.digit; d.word >= 0 {
		return b.Let("bucket", p.digitOf(b, d, it.word(d.word)))
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
		prim.ClearCounters(b, counts, row, b.Add(row, e.Scalar(p.buckets)))
	}
	p.eachItem(e, words, false, func(it item) {
		prim.Count(b, counts, p.counter(e, "at", row, p.bucket(e, it)))
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
