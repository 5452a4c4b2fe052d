package prim

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
)

// Sorting a sparse line sorts its entries. The coordinates that hold the fill, entries
// equal to it included, are one run among them: in the order of their coordinates,
// as a stable sort leaves them.

// Sort lowers the sorting of lines.
func Sort(s *ir.Sort, types emit.OperandTypes, opts Options) (*emit.Kernel, error) {
	x := &lineSort{lines: newLines("sort_"+s.To.Name, s.Pos, s.From, s.Axes, types, opts), step: s}
	x.measure()
	x.typ = emit.ComputeType(s.From.DType)
	if s.Cast.Valid() {
		x.typ = emit.ComputeType(s.Cast)
	}
	size := emit.Product(loop.SizeScalar(x.groups), loop.SizeScalar(x.length))
	total := size
	if x.how == ir.Planes {
		x.cut = x.evenly(loop.SizeScalar(x.groups), loop.SizeScalar(x.length))
	} else {
		total = &loop.SizeLoad{Buffer: x.pos, Index: loop.SizeScalar(x.groups)}
	}
	x.kept, x.room = x.length, x.length
	if s.First > 0 {
		x.kept = x.define("kept", emit.Min(loop.SizeConst(s.First), loop.SizeScalar(x.length)))
		size = emit.Product(loop.SizeScalar(x.groups), loop.SizeScalar(x.kept))
		x.room = x.define("room", emit.Min(x.roomForFirst(s.First), loop.SizeScalar(x.length)))
		if x.how == ir.Planes {
			total = emit.Product(loop.SizeScalar(x.groups), loop.SizeScalar(x.room))
		}
	}
	var blocks func()
	if x.inBlocks() {
		x.byThread, blocks = x.byRadix()
	}
	x.out = x.Buffer(s.To.Name+"_vals", emit.Type(s.To.DType), loop.Output)
	x.sorter = MergeSorter{Carried: [2]loop.BufferID{-1, -1}, Before: x.before}
	allocs := []loop.Alloc{{Buffer: x.out, Len: size}}
	for i, name := range []string{"sorted", "spare"} {
		x.sorter.Keys[i] = x.Buffer(name, x.typ, loop.Temp)
		allocs = append(allocs, loop.Alloc{Buffer: x.sorter.Keys[i], Len: total})
		if s.Positions {
			x.sorter.Carried[i] = x.Buffer(name+"_at", loop.I64, loop.Temp)
			allocs = append(allocs, loop.Alloc{Buffer: x.sorter.Carried[i], Len: total})
		}
	}
	if s.First > 0 {
		x.starts, x.places = x.Buffer(s.To.Name+"_pos", opts.Positions, loop.Output), x.Buffer(s.To.Name+"_crd", opts.Coordinates, loop.Output)
		allocs = append(allocs, loop.Alloc{Buffer: x.starts, Len: &loop.SizeOp{Op: loop.Add, X: loop.SizeScalar(x.groups), Y: loop.SizeConst(1)}, Zero: true},
			loop.Alloc{Buffer: x.places, Len: size})
	}
	x.AddStage(loop.Stage{Name: "size", Partition: -1, Lets: x.lets, Allocs: allocs})
	if blocks != nil {
		blocks()
	}
	x.runStage()
	x.Result.Values = x.out
	if !s.To.Format.IsDense() && !s.From.Format.IsDense() {
		x.Result.Shared, x.Result.SharedLevels = s.From, len(x.above)
	}
	x.Notes = append(x.Notes, fmt.Sprintf("%s: %s: sorts the entries of each line", s.To.Name, s))
	k := x.finish(s.To)
	if s.First > 0 {
		k.Result.Levels[len(x.above)] = emit.ResultLevel{Pos: x.starts, Crd: x.places}
	}
	return k, nil
}

// lineSort is a sort under construction.
type lineSort struct {
	*lines
	step   *ir.Sort
	typ    loop.Type // of keys
	out    loop.BufferID
	sorter MergeSorter
	cut    cutItems // of planes
	// kept is how many elements of a line the result has, and room how many are sorted at once (topk.go).
	kept, room loop.ScalarID
	// starts and places are the arrays of the result's last level, if it is sparse.
	starts, places loop.BufferID
	// byThread is 1 where threads sort lines of a dense tensor on grids, not blocks.
	byThread loop.ScalarID
}

// inBlocks reports whether blocks of grids sort lines that are long: all of their elements.
func (x *lineSort) inBlocks() bool { return x.opts.Grids && x.how == ir.Planes && x.step.First == 0 }

// before is the order of keys: NaN comes after all numbers, or first if descending.
func (x *lineSort) before(b *loop.Builder, v, w loop.Expr) loop.Expr {
	if x.step.Descending {
		v, w = w, v
	}
	less := b.Lt(v, w)
	if x.typ.IsFloat() {
		less = b.Or(less, b.And(b.Eq(v, v), b.Ne(w, w)))
	}
	return less
}

// key is a value of the tensor as it is compared.
func (x *lineSort) key(v loop.Expr) loop.Expr {
	if x.step.Cast.Valid() {
		v = scalar.Cast(x.step.Cast, v)
	}
	return v
}

// runStage sorts every line.
func (x *lineSort) runStage() {
	e := x.NewFunc("sort")
	b := e.B
	n := e.Scalar(x.length)
	if x.how == ir.Planes {
		lo, hi := x.cut.bounds(e)
		b.For("line", lo, hi, func(g loop.Expr) {
			begin := b.Let("begin", b.Mul(g, n))
			x.full(e, x.base(e, g), begin, b.Let("end", b.Add(begin, n)), b.Let("list", b.Mul(g, e.Scalar(x.room))))
		})
	} else {
		b.For("line", b.Lo(), b.Hi(), func(g loop.Expr) {
			begin, end := x.segment(e, g)
			x.sparse(e, x.base(e, g), begin, end)
		})
	}
	st := e.Stage("sort")
	switch {
	case x.inBlocks():
		st.Partition = x.cut.partition(loop.SizeScalar(x.byThread))
	case x.how == ir.Planes:
		st.Partition = x.cut.partition(loop.SizeConst(1))
	default:
		st.Partition = x.Partition(loop.SizeScalar(x.groups), x.pos, 0)
	}
	x.AddStage(st)
}

// base is where the result of a line begins; if the result is sparse its coordinates are written.
func (x *lineSort) base(e *emit.Func, g loop.Expr) loop.Expr {
	b := e.B
	kept := e.Scalar(x.kept)
	base := b.Let("base", b.Mul(g, kept))
	if x.step.First == 0 {
		return base
	}
	starts, places := e.Write(x.starts), e.Write(x.places)
	b.Store(starts, b.Add(g, loop.Int(1)), b.Cast(x.opts.Positions, b.Add(base, kept)))
	b.For("i", loop.Int(0), kept, func(i loop.Expr) { b.Store(places, b.Add(base, i), b.Cast(x.opts.Coordinates, i)) })
	return base
}

// put appends a key and its coordinate along the line to those to be sorted.
func (x *lineSort) put(e *emit.Func, begin loop.Expr, count *loop.Ref, v, place loop.Expr) {
	b := e.B
	at := b.Let("to", b.Add(begin, count))
	b.Store(e.Write(x.sorter.Keys[0]), at, v)
	if x.step.Positions {
		b.Store(e.Write(x.sorter.Carried[0]), at, place)
	}
	b.Assign(count, b.Add(count, loop.Int(1)))
}

// take writes sorted element i, of those from begin on, to the result at place at.
func (x *lineSort) take(e *emit.Func, begin, i, at loop.Expr) {
	from := x.sorter.Keys[0]
	if x.step.Positions {
		from = x.sorter.Carried[0]
	}
	e.B.Store(e.Write(x.out), at, e.B.Load(e.Write(from), e.B.Add(begin, i)))
}

// full sorts a line of a dense tensor, begin to end, into the result from base on. What is to be sorted is in the
// sorter's buffers from list on.
func (x *lineSort) full(e *emit.Func, base, begin, end, list loop.Expr) {
	b := e.B
	x.gather(e, list, begin, end, func(p loop.Expr, put func(v, place loop.Expr)) {
		put(b.Let("v", x.key(b.Load(e.Read(x.vals), p))), b.Sub(p, begin))
	})
	b.For("i", loop.Int(0), e.Scalar(x.kept), func(i loop.Expr) { x.take(e, list, i, b.Add(base, i)) })
}

// signs stores the entries that count for the fill at their places in the run of it, from split on: they may be zeros of the
// other sign. Before each are the coordinates before its own, but for those of entries elsewhere in the order.
func (x *lineSort) signs(e *emit.Func, base, begin, end, split, run loop.Expr, like, key func(loop.Expr) loop.Expr) {
	fill := x.from.Fill
	if x.step.Cast.Valid() {
		fill = fill.Convert(x.step.Cast)
	}
	if !fill.IsZero() {
		return
	}
	b := e.B
	others := b.Var("others", loop.Int(0))
	b.For("p", begin, end, func(p loop.Expr) {
		v := key(p)
		b.If(like(v), func() {
			at := b.Let("at", b.Add(split, b.Sub(x.place(e, p), others)))
			b.If(b.Lt(at, run), func() { b.Store(e.Write(x.out), b.Add(base, at), v) }, nil)
		}, func() { b.Assign(others, b.Add(others, loop.Int(1))) })
	})
}

// sparse sorts the entries of a line, begin to end, into the result from base on.
func (x *lineSort) sparse(e *emit.Func, base, begin, end loop.Expr) {
	b := e.B
	fill := b.Let("fill", x.key(emit.Constant(x.from.Fill)))
	key := func(p loop.Expr) loop.Expr { return b.Let("v", x.key(b.Load(e.Read(x.vals), p))) }
	like := func(v loop.Expr) loop.Expr { return b.Not(b.Or(x.before(b, v, fill), x.before(b, fill, v))) }
	count, split := b.Var("count", loop.Int(0)), b.Var("split", loop.Int(0))
	x.gather(e, begin, begin, end, func(p loop.Expr, put func(v, place loop.Expr)) {
		v := key(p)
		b.If(b.Not(like(v)), func() {
			b.Assign(count, b.Add(count, loop.Int(1)))
			b.Assign(split, b.Add(split, b.Cast(loop.I64, x.before(b, v, fill))))
			put(v, x.place(e, p))
		}, nil)
	})
	n, kept := e.Scalar(x.length), e.Scalar(x.kept)
	behind := b.Let("behind", b.Sub(n, count))
	run := b.Let("run", b.Min(kept, b.Add(split, behind))) // where the run of the fill ends
	b.For("i", loop.Int(0), b.Min(split, kept), func(i loop.Expr) { x.take(e, begin, i, b.Add(base, i)) })
	b.For("at", b.Add(split, behind), kept, func(at loop.Expr) { x.take(e, begin, b.Sub(at, behind), b.Add(base, at)) })
	out := e.Write(x.out)
	if !x.step.Positions {
		b.For("at", split, run, func(at loop.Expr) { b.Store(out, b.Add(base, at), fill) })
		if x.typ.IsFloat() {
			x.signs(e, base, begin, end, split, run, like, key)
		}
		return
	}
	p, j, at := b.Var("p", begin), b.Var("j", loop.Int(0)), b.Var("at", split)
	b.While(b.Lt(at, run), func() {
		inRun := b.Var("inRun", loop.Truth(true))
		b.If(b.Lt(p, end), func() {
			b.If(b.Eq(x.place(e, p), j), func() {
				b.Assign(inRun, like(key(p)))
				b.Assign(p, b.Add(p, loop.Int(1)))
			}, nil)
		}, nil)
		b.If(inRun, func() {
			b.Store(out, b.Add(base, at), j)
			b.Assign(at, b.Add(at, loop.Int(1)))
		}, nil)
		b.Assign(j, b.Add(j, loop.Int(1)))
	})
}
