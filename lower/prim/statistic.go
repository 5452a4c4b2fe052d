package prim

import (
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
)

// An order statistic takes a line's values out of it, sorts them or selects one,
// and looks at one or two ranks. Of a sparse line only the entries are looked at: the
// gap is a run of equal values whose ranks begin behind the values below the fill. The
// work is that of the entries, whatever the length of the line.

const (
	// Up to so many orders, of more than so many values, are selected: for others it
	// is quicker to sort.
	fewOrders, fewValues = 3, 32
	// selectRounds is how often selection may part the values before they are sorted
	// after all. It needs about two rounds for each halving.
	selectRounds = 80
)

// BadOrder is the message of a program that meets an order outside 0 to 1.
const BadOrder = "the order of a quantile lies outside 0 to 1"

// Statistic lowers an order statistic.
func Statistic(s *ir.Statistic, types emit.OperandTypes, opts Options) (*emit.Kernel, error) {
	x := &selector{lines: newLines("statistic_"+s.To.Name, s.Pos, s.From, s.Axes, types, opts), step: s}
	x.number = x.define("number", x.orderCount())
	if !s.Stored {
		x.measure()
	}
	var total loop.SizeExpr
	if x.how != ir.Planes {
		total = &loop.SizeLoad{Buffer: x.pos, Index: loop.SizeScalar(x.groups)}
	} else {
		total = emit.Product(loop.SizeScalar(x.groups), loop.SizeScalar(x.length))
		// Of empty lines there is a result, too.
		x.cut = x.evenly(loop.SizeScalar(x.groups), emit.Max(loop.SizeScalar(x.length), loop.SizeConst(1)))
	}
	workspace := total
	if opts.Grids {
		x.byThread = x.bySelection(total)
		workspace = emit.Product(total, loop.SizeScalar(x.byThread))
	}
	x.out = x.Buffer(s.To.Name+"_vals", emit.Type(s.To.DType), loop.Output)
	x.work = [2]loop.BufferID{x.Buffer("sorted", loop.F64, loop.Temp), x.Buffer("spare", loop.F64, loop.Temp)}
	x.AddStage(loop.Stage{Name: "size", Partition: -1, Lets: x.lets, Allocs: []loop.Alloc{
		{Buffer: x.out, Len: emit.Product(loop.SizeScalar(x.groups), loop.SizeScalar(x.number))},
		{Buffer: x.work[0], Len: workspace}, {Buffer: x.work[1], Len: workspace},
	}})
	if x.selecting != nil {
		x.selecting()
	}
	x.runStage()
	x.Result.Values = x.out
	if !s.To.Format.IsDense() {
		x.Result.Shared, x.Result.SharedLevels = s.From, len(x.above)
	}
	x.Notes = append(x.Notes, fmt.Sprintf("%s: %s: ranks the entries of each line", s.To.Name, s))
	return x.finish(s.To), nil
}

// selector is an order statistic under construction.
type selector struct {
	*lines
	step   *ir.Statistic
	number loop.ScalarID // of orders for each line
	out    loop.BufferID
	work   [2]loop.BufferID
	cut    cutItems // of planes
	// On grids, selecting adds the stage for long lines; byThread is 1 where that of
	// threads runs instead.
	selecting func()
	byThread  loop.ScalarID
}

// orderCount is the number of orders for each line: the product of the extents of
// the axes that are the orders' own.
func (x *selector) orderCount() loop.SizeExpr {
	n := loop.SizeExpr(loop.SizeConst(1))
	if q := x.step.Orders; q != nil {
		for axis := q.Rank - x.step.Own; axis < q.Rank; axis++ {
			n = emit.Product(n, loop.SizeScalar(x.Dim(q, axis)))
		}
	}
	return n
}

// line is a line whose values are sorted.
type line struct {
	begin loop.Expr // of its values in the working memory
	count *loop.Ref // of values
	gaps  *loop.Ref // of coordinates that have the fill
	nan   *loop.Ref // whether there is a NaN among all
	split *loop.Ref // the rank of the first gap: as many values are below the fill
	fill  loop.Expr
	// sorted says that the values are in order.
	sorted *loop.Ref
}

// runStage sorts every line and writes its statistics.
func (x *selector) runStage() {
	e := x.NewFunc("statistics")
	b := e.B
	sorter := MergeSorter{Keys: x.work, Carried: [2]loop.BufferID{-1, -1}, Before: (*loop.Builder).Lt}
	each := func(g, begin, end, gaps loop.Expr) {
		l := x.gather(e, begin, end, gaps)
		number := e.Scalar(x.number)
		u := b.Var("u", loop.Int(0))
		sort := b.Var("sort", b.Or(b.Gt(number, loop.Int(fewOrders)), b.Le(l.count, loop.Int(x.few()))))
		b.While(b.Lt(u, number), func() {
			b.If(b.And(sort, b.Not(l.sorted)), func() {
				sorter.Sort(e, l.begin, l.count)
				b.Assign(l.sorted, loop.Truth(true))
			}, nil)
			done := b.Var("done", loop.Truth(true)) // not if selection runs into an order of values that it is slow for
			n := b.Let("n", b.Add(l.count, l.gaps))
			x.statistic(e, g, u, n, l.nan, func(r rank) (low, high loop.Expr) { return x.values(e, l, r, done) })()
			b.If(done, func() { b.Assign(u, b.Add(u, loop.Int(1))) }, func() { b.Assign(sort, loop.Truth(true)) })
		})
	}
	if x.how == ir.Planes {
		lo, hi := x.cut.bounds(e)
		n := e.Scalar(x.length)
		b.For("line", lo, hi, func(g loop.Expr) {
			begin := b.Let("begin", b.Mul(g, n))
			each(g, begin, b.Let("end", b.Add(begin, n)), loop.Int(0))
		})
	} else {
		b.For("line", b.Lo(), b.Hi(), func(g loop.Expr) {
			begin, end := x.segment(e, g)
			gaps := loop.Expr(loop.Int(0))
			if !x.step.Stored {
				gaps = b.Let("gaps", b.Sub(e.Scalar(x.length), b.Sub(end, begin)))
			}
			each(g, begin, end, gaps)
		})
	}
	st := e.Stage("statistics")
	switch {
	case x.how == ir.Planes && x.opts.Grids:
		st.Partition = x.cut.partition(loop.SizeScalar(x.byThread))
	case x.how == ir.Planes:
		st.Partition = x.cut.partition(loop.SizeConst(1))
	case x.opts.Grids:
		n := emit.Product(loop.SizeScalar(x.groups), loop.SizeScalar(x.byThread))
		st.Partition = x.Partition(n, -1, 0)
	default:
		st.Partition = x.Partition(loop.SizeScalar(x.groups), x.pos, 0)
	}
	x.AddStage(st)
}

// few is the number of values up to which a line is sorted; less in tests, whose
// data are small.
func (x *selector) few() int64 {
	if x.opts.Grain > 0 {
		return 1
	}
	return fewValues
}

// number64 is a value of the tensor as the type in which ranks are taken.
func (x *selector) number64(v loop.Expr) loop.Expr {
	if x.step.Cast.Valid() {
		v = scalar.Cast(x.step.Cast, v)
	}
	return loop.NewCast(loop.F64, v)
}

// gather copies a line's values, but NaN, to the working memory.
func (x *selector) gather(e *emit.Func, begin, end, gaps loop.Expr) line {
	b := e.B
	l := line{begin: begin, count: b.Var("count", loop.Int(0)), gaps: b.Var("gaps", gaps), nan: b.Var("nan", loop.Truth(false))}
	l.sorted, l.split = b.Var("sorted", loop.Truth(false)), b.Var("split", loop.Int(0))
	l.fill = loop.Float(loop.F64, 0)
	if !x.gapless() {
		l.fill = b.Let("fill", x.number64(emit.Constant(x.from.Fill)))
	}
	work := e.Write(x.work[0])
	b.For("p", begin, end, func(p loop.Expr) {
		v := b.Let("v", x.number64(b.Load(e.Read(x.vals), p)))
		b.If(b.Eq(v, v), func() {
			b.Store(work, b.Add(begin, l.count), v)
			b.Assign(l.count, b.Add(l.count, loop.Int(1)))
			if !x.gapless() {
				b.Assign(l.split, b.Add(l.split, b.Cast(loop.I64, b.Lt(v, l.fill))))
			}
		}, func() { b.Assign(l.nan, loop.Truth(true)) })
	})
	if x.gapless() {
		return l
	}
	b.If(b.And(b.Ne(l.fill, l.fill), b.Gt(l.gaps, loop.Int(0))), func() {
		b.Assign(l.nan, loop.Truth(true))
		b.Assign(l.gaps, loop.Int(0))
	}, nil)
	return l
}

// gapless reports whether lines have no gaps.
func (x *selector) gapless() bool { return x.how == ir.Planes || x.step.Stored }

// statistic computes statistic u of a line with n elements, of which nan says whether one is NaN, from the values of the two
// ranks. What it returns writes it.
func (x *selector) statistic(e *emit.Func, group, u, n, nan loop.Expr, values func(r rank) (low, high loop.Expr)) (put func()) {
	b := e.B
	q := x.orderAt(e, group, u)
	b.If(b.Not(b.And(b.Ge(q, loop.Float(loop.F64, 0)), b.Le(q, loop.Float(loop.F64, 1)))), func() { b.Fail(BadOrder) }, nil)
	result := b.Var("result", loop.Float(loop.F64, math.NaN()))
	some := b.Gt(n, loop.Int(0))
	if !x.step.SkipNaN {
		some = b.And(some, b.Not(nan))
	}
	b.If(some, func() {
		r := x.rank(e, q, n)
		low, high := values(r)
		b.Assign(result, x.between(e, low, high, r.weight))
	}, nil)
	at := b.Add(b.Mul(group, e.Scalar(x.number)), u)
	if x.step.OrdersFirst {
		at = b.Add(b.Mul(u, e.Scalar(x.groups)), group)
	}
	out := e.Write(x.out)
	return func() { b.Store(out, at, b.Cast(b.Elem(out).Compute(), result)) }
}

// orderAt is order u of a line.
func (x *selector) orderAt(e *emit.Func, group, u loop.Expr) loop.Expr {
	b := e.B
	if x.step.Orders == nil {
		return loop.Float(loop.F64, x.step.Order)
	}
	at := u
	if x.step.PerLine {
		at = b.Add(b.Mul(group, e.Scalar(x.number)), u)
	}
	return b.Let("q", b.Load(e.Read(x.Input(x.step.Orders, 0, emit.Values)), at))
}

// between interpolates on the extended reals: without weight it is exactly the one
// end, and an infinity swallows a number on the other.
func (x *selector) between(e *emit.Func, low, high, weight loop.Expr) loop.Expr {
	b := e.B
	half := loop.Float(loop.F64, 0.5)
	one := loop.Float(loop.F64, 1)
	distance := b.Let("distance", b.Sub(high, low))
	// From the nearer end, as NumPy does, so that both ends are met exactly.
	near := b.Select(b.Lt(weight, half), b.Add(low, b.Mul(distance, weight)), b.Sub(high, b.Mul(distance, b.Sub(one, weight))))
	finite := func(v loop.Expr) loop.Expr {
		return b.Lt(loop.NewUnary(loop.Abs, v), loop.Float(loop.F64, math.Inf(1)))
	}
	// The distance of large numbers overflows, their parts do not.
	parts := b.Add(b.Mul(low, b.Sub(one, weight)), b.Mul(high, weight))
	inside := b.Select(finite(distance), near, parts)
	mixed := b.Select(b.And(finite(low), finite(high)), inside, b.Add(low, high))
	exact := b.Or(b.Eq(weight, loop.Float(loop.F64, 0)), b.Eq(low, high))
	return b.Select(exact, low, mixed)
}
