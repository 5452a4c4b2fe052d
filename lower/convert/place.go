package convert

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/prim"
)

// How counts become places.

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
	sum := prim.Starts(b, counts, loop.Int(0), b.Mul(e.Scalar(p.chunks), e.Scalar(p.buckets)), loop.Int(0), nil)
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
	first := p.counter(e, "first", loop.Int(0), loop.Int(0))
	sum := prim.Starts(b, counts, first, b.Add(first, size), loop.Int(0), func(bucket, start loop.Expr) {
		if p.wanted() {
			b.Store(starts, bucket, start)
		}
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
