package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// stmt emits a statement of the plan.
func (e *emitter) stmt(st *state, s ir.Stmt) {
	switch s := s.(type) {
	case *ir.Forall:
		e.forall(st, s)
	case *ir.Where:
		acc := e.open(s.Temp.Reduce)
		e.produceFold(st, s.Producer, acc)
		st.temps[s.Temp] = e.value(acc)
		e.stmt(st, s.Consumer)
	case *ir.Workspace:
		e.workspace(st, s)
	case *ir.Tabulate:
		e.tabulate(st, s)
	case *ir.Sequence:
		for _, x := range s.Stmts {
			e.stmt(st, x)
		}
	case *ir.Assign:
		e.assign(st, s)
	}
}

// assign emits a leaf: a fold's step, an accumulation into memory, a store, or
// an append.
func (e *emitter) assign(st *state, s *ir.Assign) {
	b := e.B
	defer b.At(emit.Origin(s.Value.Position()))()
	if s.LHS != nil {
		defer b.At(emit.Origin(s.LHS.Pos))()
	}
	switch {
	case s.Temp != nil:
		r := s.Temp.Reduce
		if r.In != nil && st.cursors[r.In].present != nil {
			// What the guard computes stays inside it.
			inner := st.clone()
			b.If(st.cursors[r.In].present, func() { e.foldStep(inner, s) }, nil)
			return
		}
		e.foldStep(st, s)
	case s.LHS.Tensor.Work != nil:
		e.insert(st, s)
	case e.step.Result.Format.IsDense():
		values := e.Result.Values
		p := e.densePosition(st, s.LHS)
		if e.private != nil {
			values, p = e.private.Copies, b.Add(e.private.Base, p)
		}
		vals := e.Write(values)
		x := e.expr(st, s.Value)
		if e.step.Scatter {
			p = b.Let("at", p)
			x = fold.Step(e.B, e.step.Fold, b.Load(vals, p), x)
			if e.step.Gap != nil && e.gapRows == nil {
				e.scatter.Count(e.Func, p)
			}
		}
		b.Store(vals, p, x)
	default:
		e.out.leaf(e, st, s)
	}
}

// densePosition is the element of a dense result that the bound indices name.
func (e *emitter) densePosition(st *state, lhs *ir.Access) loop.Expr {
	t := e.step.Result
	var p loop.Expr
	for _, axis := range t.Format.Order() {
		c := e.place(st, lhs.Indices[axis], e.Dim(t, axis))
		if p == nil {
			p = c
			continue
		}
		p = e.B.Add(e.B.Mul(p, e.Scalar(e.Dim(t, axis))), c)
	}
	if p == nil {
		return loop.Int(0)
	}
	return p
}

// place is the coordinate on an axis of n that an index of the left side names. One
// that is taken from a tensor is checked.
func (e *emitter) place(st *state, x ir.IndexExpr, n loop.ScalarID) loop.Expr {
	c, ok := e.coordinate(st, x)
	if !ok {
		panic("BUG: the result is written before its loops")
	}
	if x.Gather != nil {
		b := e.B
		b.If(b.Or(b.Lt(c, loop.Int(0)), b.Ge(c, e.Scalar(n))), func() {
			b.Fail("the value of %s, which says where %s is updated, %s", ir.ExprString(x.Gather), e.step.Result.Name, OutsideAxis)
		}, nil)
	}
	return c
}

// counting reports whether this function only counts the entries of a sparse
// result: then no values are computed.
func (e *emitter) counting() bool { return e.symbolic }
