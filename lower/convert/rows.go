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

// repeatedRows looks for neighbours at the same coordinates. Over row ends too at
// first, which is vector code; where that finds some, row by row.
func (c *converter) repeatedRows(posID, crdID loop.BufferID) loop.BufferID {
	e := c.NewFunc("repeats")
	b := e.B
	pos, crd := e.Read(posID), e.Read(crdID)
	equal := func(p loop.Expr) loop.Expr { return b.Eq(b.Load(crd, p), b.Load(crd, b.Sub(p, loop.Int(1)))) }
	some := func(name string, begin, end loop.Expr, found *loop.Ref) {
		b.For(name, b.Add(begin, loop.Int(1)), end, func(p loop.Expr) { b.Assign(found, b.Or(found, equal(p))) })
	}
	found, maybe := b.Var("repeats", loop.Truth(false)), b.Var("maybe", loop.Truth(false))
	some("p", b.Let("begin", b.LoadIndex(pos, b.Lo())), b.Let("end", b.LoadIndex(pos, b.Hi())), maybe)
	b.If(maybe, func() {
		i := b.Var("i", b.Lo())
		b.While(b.And(b.Lt(i, b.Hi()), b.Not(found)), func() {
			begin := b.Let("begin", b.LoadIndex(pos, i))
			b.Assign(i, b.Add(i, loop.Int(1)))
			some("p", begin, b.Let("end", b.LoadIndex(pos, i)), found)
		})
	}, nil)
	rows := loop.SizeScalar(c.extentOf(c.to.Format.Order()[0]))
	return c.flags(e, c.Partition(rows, posID, c.how.Grain), []*loop.Ref{found})
}

// mergeRows emits the stages that sum neighbours at the same coordinates, where the
// byte found says that there are any, in the order in which they stand. Entries move
// towards the front of the arrays that hold them, one after the other: it is a sweep
// by one thread, but one that allocates nothing.
func (c *converter) mergeRows(found loop.BufferID) {
	rows := c.extentOf(c.to.Format.Order()[0])
	level := c.Result.Levels[1]
	e := c.NewFunc("merge")
	b := e.B
	one := loop.Int(1)
	pos, crd, vals := e.Write(level.Pos), e.Write(level.Crd), e.Write(c.Result.Values)
	b.If(b.Ne(b.Load(e.Read(found), loop.Int(0)), loop.Number(loop.U8, 0)), func() {
		at, begin := b.Var("at", loop.Int(0)), b.Var("begin", loop.Int(0))
		b.For("i", one, b.Add(e.Scalar(rows), one), func(i loop.Expr) {
			end := b.Let("end", b.LoadIndex(pos, i))
			before := b.Var("before", loop.Int(-1))
			zero, back := c.summed(loop.Number(c.elem, 0))
			sum := b.Var("sum", zero)
			// No branch: which entries repeat, nobody can predict.
			b.For("p", begin, end, func(p loop.Expr) {
				j := b.Let("j", b.LoadIndex(crd, p))
				x := b.Let("x", b.Load(vals, p))
				v, _ := c.summed(x)
				v = b.Let("v", v)
				more := b.Add
				if c.from.DType == tensor.Bool {
					more = b.Or
				}
				differs := b.Let("differs", b.Ne(j, before))
				b.Assign(at, b.Add(at, b.Cast(loop.I64, differs)))
				b.Assign(sum, b.Select(differs, v, more(sum, v)))
				to := b.Let("to", b.Sub(at, one))
				b.Store(crd, to, b.Cast(b.Elem(crd), j))
				// What is moved and not added keeps its bits: a choice between floats may
				// be compiled as an addition of 0, which changes signalling NaNs.
				b.Store(vals, to, b.Select(differs, x, back(sum)))
				b.Assign(before, j)
			})
			b.Store(pos, i, b.Cast(c.count, at))
			b.Assign(begin, end)
		})
	}, nil)
	c.AddStage(e.Stage("merge"))
	kept := c.NewScalar("kept", false)
	c.AddStage(loop.Stage{Name: "trim", Partition: -1,
		Lets:  []loop.ScalarLet{{Scalar: kept, Value: &loop.SizeLoad{Buffer: level.Pos, Index: loop.SizeScalar(rows)}}},
		Trims: []loop.Trim{{Buffer: level.Crd, Len: loop.SizeScalar(kept)}, {Buffer: c.Result.Values, Len: loop.SizeScalar(kept)}}})
}

// canSumMoved reports whether values can be summed in the type in which they are
// moved: the half-precision types have no arithmetic on their bits.
func canSumMoved(dt tensor.DType) bool { return dt != tensor.Float16 && dt != tensor.BFloat16 }

// summed is the value of an element in the type in which it is added, and back.
// Floats stay what they are from one addition to the next: to go to integers and
// back would take longer than to add.
func (c *converter) summed(x loop.Expr) (value loop.Expr, back func(loop.Expr) loop.Expr) {
	if dt := c.from.DType; dt == tensor.Float32 || dt == tensor.Float64 {
		return loop.NewUnary(loop.FromBits, x), func(x loop.Expr) loop.Expr { return loop.NewUnary(loop.Bits, x) }
	}
	return x, func(x loop.Expr) loop.Expr { return x } // integers wrap alike with a sign and without
}
