package scatter

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/level"
)

// A reduction whose loops run outside those of the result, as that of the columns of
// a matrix stored by rows, cannot tell what it left out of an element when it is done
// with it: it is done with all of them at once. So visits are counted beside the
// values, and what is missing is folded afterwards in closed form.
//
// Where it does not matter how much is missing, as for min and max, and the loops go
// through the entries of one matrix row by row, nothing is counted: what is not stored
// is folded beforehand into all elements but those of columns that are full. A full
// column has an entry in each row, so the shortest of a few rows says which columns may
// be full, and hardly any of those has an entry in the next row as well. Each search
// but the last of a column finds an entry, so there are no more of them than entries.

// sampledRows is how many rows, evenly spread, the shortest is chosen from. The first
// rows of many matrices are their longest.
const sampledRows = 8

// Count counts a visit to element p of the result.
func (k *Result) Count(f *emit.Func, p loop.Expr) {
	counts := f.Write(k.Visits())
	f.B.Store(counts, p, f.B.Add(f.B.Load(counts, p), loop.Int(1)))
}

// Visits is the buffer of counts, made when it is first asked for.
func (k *Result) Visits() loop.BufferID {
	if k.visits == nil {
		id := k.Buffer(k.Step.Result.Name+"_visits", loop.I64, loop.Temp)
		k.visits = &id
	}
	return *k.visits
}

// GapStage folds what the loops of a scatter did not visit into each element.
func (k *Result) GapStage() {
	e := k.NewFunc("gaps_" + k.Step.Result.Name)
	b := e.B
	r := &ir.Reduce{Fold: k.Step.Fold, Typ: ir.ComputeType(k.Step.Result.DType)}
	vals, counts, n := e.Write(k.Kernel.Result.Values), e.Read(k.Visits()), e.Scalar(k.Extent(k.Step.Over))
	x := b.Cast(emit.ComputeType(k.Step.Result.DType), emit.Constant(k.Step.Gap.Value))
	b.ForIndependent("p", b.Lo(), b.Hi(), func(p loop.Expr) {
		missing := b.Let("missing", b.Sub(n, b.Load(counts, p)))
		acc := fold.Of(b, r, k.Grids, []*loop.Ref{b.Var("acc", b.Load(vals, p))}, nil)
		b.If(b.Gt(missing, loop.Int(0)), func() { acc.FoldCopies(x, []loop.Expr{missing}) }, nil)
		b.Store(vals, p, acc.Vars[0])
	})
	s := e.Stage("gaps")
	s.Partition = k.Partition(k.Size(k.Step.Result, 0), -1, 0)
	k.AddStage(s)
}

// FullStage gives the elements of the result whose columns in rows have no gap the
// identity of the fold; the others have the gap's value.
func (k *Result) FullStage(rows *ir.Access) {
	e := k.NewFunc("full_" + k.Step.Result.Name)
	b := e.B
	vals, n := e.Write(k.Kernel.Result.Values), e.Scalar(k.Extent(k.Step.Over))
	identity := emit.Constant(k.Step.Fold.Identity(ir.ComputeType(k.Step.Result.DType)))
	b.If(b.Eq(n, loop.Int(0)), func() {
		b.For("p", loop.Int(0), e.Scalar(k.Dim(k.Step.Result, 0)), func(p loop.Expr) { b.Store(vals, p, identity) })
	}, func() {
		crd := e.Read(k.Input(rows.Tensor, 1, emit.Coordinates))
		from, first, last := k.shortRow(e, rows, n)
		b.For("p_"+rows.Tensor.Name, first, last, func(p loop.Expr) {
			j := b.Let("j", b.LoadIndex(crd, p))
			at, left, full := b.Var("at", from), b.Var("left", b.Sub(n, loop.Int(1))), b.Var("full", loop.Truth(true))
			b.While(b.And(full, b.Gt(left, loop.Int(0))), func() {
				b.Assign(at, b.Select(b.Eq(at, b.Sub(n, loop.Int(1))), loop.Int(0), b.Add(at, loop.Int(1))))
				begin, end := k.rowEntries(e, rows, b.Let("i", at))
				q := level.LowerBound(e.B, crd, begin, end, j)
				b.Assign(full, b.Lt(q, end))
				b.If(full, func() { b.Assign(full, b.Eq(b.LoadIndex(crd, q), j)) }, nil)
				b.Assign(left, b.Sub(left, loop.Int(1)))
			})
			b.If(full, func() { b.Store(vals, j, identity) }, nil)
		})
	})
	k.AddStage(e.Stage("full"))
}

// shortRow is the shortest of sampledRows of the n rows of a matrix, n > 0, and the range
// of positions of its entries.
func (k *Result) shortRow(e *emit.Func, rows *ir.Access, n loop.Expr) (row, begin, end loop.Expr) {
	b := e.B
	samples := b.Let("samples", b.Min(n, loop.Int(sampledRows)))
	apart := b.Let("apart", b.Div(n, samples))
	begin, end = k.rowEntries(e, rows, loop.Int(0))
	least := [3]*loop.Ref{b.Var("least", loop.Int(0)), b.Var("first", begin), b.Var("last", end)}
	b.For("sample", loop.Int(1), samples, func(s loop.Expr) {
		i := b.Let("i", b.Mul(s, apart))
		begin, end := k.rowEntries(e, rows, i)
		b.If(b.Lt(b.Sub(end, begin), b.Sub(least[2], least[1])), func() {
			for q, x := range []loop.Expr{i, begin, end} {
				b.Assign(least[q], x)
			}
		}, nil)
	})
	return b.Let("least", least[0]), b.Let("first", least[1]), b.Let("last", least[2])
}

// rowEntries is the range of positions of the entries of row i of a matrix stored by
// rows like CSR, or as coordinates.
func (k *Result) rowEntries(e *emit.Func, rows *ir.Access, i loop.Expr) (begin, end loop.Expr) {
	b := e.B
	if rows.Tensor.Format.Physical()[0].Full() {
		pos := e.Read(k.Input(rows.Tensor, 1, emit.Positions))
		return b.Let("begin", b.LoadIndex(pos, i)), b.Let("end", b.LoadIndex(pos, b.Add(i, loop.Int(1))))
	}
	pos, crd := e.Read(k.Input(rows.Tensor, 0, emit.Positions)), e.Read(k.Input(rows.Tensor, 0, emit.Coordinates))
	limit := b.Let("limit", b.LoadIndex(pos, loop.Int(1)))
	begin = level.LowerBound(e.B, crd, b.LoadIndex(pos, loop.Int(0)), limit, i)
	return begin, level.LowerBound(e.B, crd, begin, limit, b.Let("next", b.Add(i, loop.Int(1))))
}
