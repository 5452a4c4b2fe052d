package convert

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A list of coordinates in no order that becomes the rows of a matrix (or its
// columns) needs no sort of all bits. Passes over digits of the column bring it into
// the order of the columns, and a last one deals it out to the rows, which then are
// in order: the counters of that pass are the positions of the result. Where there
// are more entries than the caches hold, a pass before brings groups of consecutive
// rows together, and the others go over one group at a time.

// hasRows reports whether a format is a matrix of rows or columns with all
// positions: CSR or CSC.
func hasRows(f tensor.Format) bool {
	levels := f.Physical()
	return len(levels) == 2 && levels[0].Full() && levels[1].Ranges()
}

// sortRows emits the stages that make a matrix of a list.
func (c *converter) sortRows() {
	s := c.sorter()
	if s.how.Path.Group > 0 {
		s.packed, s.results = true, -1
		s.starts = c.Buffer("groups", c.count, loop.Temp)
		s.pass(0, digit{word: bucketGroup}, false)
		s.groupRows()
	} else {
		s.targets()
		s.passes()
	}
	if c.how.Entries != Unordered {
		return // there are no repeats
	}
	levels := c.Result.Levels[1]
	c.mergeRows(c.repeatedRows(levels.Pos, levels.Crd))
}

// groupRows emits the stage that sorts every group: from the first set of buffers to
// the second and back by digits of the column, then to the result by row.
func (s *sorter) groupRows() {
	c := s.converter
	outPos := c.Buffer(fmt.Sprintf("%s1_pos", c.to.Name), c.count, loop.Output)
	outCrd, outVals := c.crdBuffer(1), c.Buffer(c.to.Name+"_vals", c.elem, loop.Output)
	row, column := s.axes[0], s.axes[1]
	passes, buckets := s.words[0].Passes, int64(1)<<s.words[0].Bits
	counters := loop.BufferID(-1) // of the digits
	if passes > 0 {
		counters = s.Buffer("counters", s.count, loop.Scratch)
		s.moved(1)
	}
	word := s.words[0]

	e := s.NewFunc("sort_rows")
	b := e.B
	pack := s.packing(e, s.words, allAxes(2))
	shift := s.groupShift(e)
	n := e.Scalar(s.extentOf(row))
	starts := e.Read(s.starts)
	var counts loop.BufID
	if passes > 0 {
		counts = e.Write(counters)
	}
	pos, crd, vals := e.Write(outPos), e.Write(outCrd), e.Write(outVals)
	one, none := loop.Int(1), loop.Number(s.count, 0)
	increment := func(buf loop.BufID, at loop.Expr) {
		b.Store(buf, at, b.Add(b.Load(buf, at), loop.Number(s.count, 1)))
	}
	// next is where the counter of a bucket says that an entry goes.
	next := func(buf loop.BufID, at loop.Expr) loop.Expr {
		to := b.Let("to", b.LoadIndex(buf, at))
		b.Store(buf, at, b.Cast(s.count, b.Add(to, one)))
		return to
	}
	place := func(buf loop.BufID, first, last, begin loop.Expr) {
		sum := b.Var("sum", b.Cast(s.count, begin))
		b.For("i", first, last, func(i loop.Expr) {
			count := b.Let("n", b.Load(buf, i))
			b.Store(buf, i, sum)
			b.Assign(sum, b.Add(sum, count))
		})
	}
	load := func(set int, p loop.Expr) loop.Expr {
		return b.Let("word", b.Cast(loop.U64, b.Load(e.Write(word.bufs[set]), p)))
	}
	bucket := func(k int, w loop.Expr) loop.Expr {
		d := loop.NewBinary(loop.Shr, w, loop.Number(loop.U64, int64(k*word.Bits)))
		at := b.Cast(loop.I64, b.And(d, loop.Number(loop.U64, buckets-1)))
		return b.Let("bucket", b.Add(at, loop.Int(int64(k)*buckets)))
	}
	inGroup := b.Let("rows", b.Sub(loop.NewBinary(loop.Shl, one, shift), one))

	b.If(b.Eq(b.Lo(), loop.Int(0)), func() { b.Store(pos, loop.Int(0), none) }, nil)
	b.For("group", b.Lo(), b.Hi(), func(g loop.Expr) {
		begin := b.Let("begin", b.LoadIndex(starts, g))
		end := b.Let("end", b.LoadIndex(starts, b.Add(g, one)))
		first := b.Let("first", b.Add(b.Min(n, loop.NewBinary(loop.Shl, g, shift)), one))
		last := b.Let("last", b.Add(b.Min(n, loop.NewBinary(loop.Shl, b.Add(g, one), shift)), one))
		// Row i counts in element i+1, which becomes where the row begins and
		// then where it ends. A word need not hold the bits that tell the group.
		slot := func(w loop.Expr) loop.Expr {
			return b.Let("slot", b.Add(b.And(pack.coordinate(b, w, row), inGroup), first))
		}
		b.ForIndependent("i", first, last, func(i loop.Expr) { b.Store(pos, i, none) })
		b.If(b.Lt(begin, end), func() {
			if passes > 0 {
				b.ForIndependent("bucket", loop.Int(0), loop.Int(int64(passes)*buckets), func(i loop.Expr) { b.Store(counts, i, none) })
			}
			b.For("p", begin, end, func(p loop.Expr) {
				w := load(0, p)
				increment(pos, slot(w))
				for k := range passes {
					increment(counts, bucket(k, w))
				}
			})
		}, nil)
		place(pos, first, last, begin)
		b.If(b.Lt(begin, end), func() {
			for k := range passes {
				from, to := k%2, (k+1)%2
				place(counts, loop.Int(int64(k)*buckets), loop.Int(int64(k+1)*buckets), begin)
				b.For("p", begin, end, func(p loop.Expr) {
					w := load(from, p)
					at := next(counts, bucket(k, w))
					out := e.Write(word.bufs[to])
					b.Store(out, at, b.Cast(b.Elem(out), w))
					b.Store(e.Write(s.payload[to]), at, b.Load(e.Write(s.payload[from]), p))
				})
			}
			from := passes % 2
			b.For("p", begin, end, func(p loop.Expr) {
				w := load(from, p)
				at := next(pos, slot(w))
				b.Store(crd, at, b.Cast(b.Elem(crd), pack.coordinate(b, w, column)))
				b.Store(vals, at, b.Load(e.Write(s.payload[from]), p))
			})
		}, nil)
	})
	st := e.Stage("sort_rows")
	entries := loop.SizeScalar(s.kept)
	st.Allocs = []loop.Alloc{
		{Buffer: outPos, Len: &loop.SizeOp{Op: loop.Add, X: loop.SizeScalar(s.extentOf(row)), Y: loop.SizeConst(1)}},
		{Buffer: outCrd, Len: entries}, {Buffer: outVals, Len: entries},
	}
	if passes > 0 {
		st.Allocs = append(st.Allocs, loop.Alloc{Buffer: word.bufs[1], Len: entries}, loop.Alloc{Buffer: s.payload[1], Len: entries})
		st.PartitionAllocs = []loop.Alloc{{Buffer: counters, Len: loop.SizeConst(passes << word.Bits)}}
	}
	st.Partition = s.Partition(loop.SizeConst(1<<s.how.Path.Group), s.starts, s.how.Grain)
	s.AddStage(st)
	c.Result.Levels = []emit.ResultLevel{{Pos: -1, Crd: -1}, {Pos: outPos, Crd: outCrd}}
	c.Result.Values = outVals
}
