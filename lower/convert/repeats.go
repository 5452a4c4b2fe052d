package convert

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// repeatsStage looks for entries at the same coordinates.
func (s *sorter) repeatsStage() loop.BufferID {
	e := s.NewFunc("repeats")
	b := e.B
	found := b.Var("repeats", loop.Truth(false))
	b.For("p", b.Max(b.Lo(), loop.Int(1)), b.Hi(), func(p loop.Expr) {
		same := loop.Expr(loop.Truth(true))
		for w := range s.words {
			buf := e.Read(s.words[w].bufs[s.results])
			same = b.And(same, b.Eq(b.Load(buf, p), b.Load(buf, b.Sub(p, loop.Int(1)))))
		}
		b.Assign(found, b.Or(found, same))
	})
	return s.flags(e, s.evenly(loop.SizeScalar(s.entries)), []*loop.Ref{found})
}

// repeats reports whether entries at equal coordinates are to be summed.
func (o EntryOrder) repeats() bool { return o == Repeating || o == PackedRepeating }

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
