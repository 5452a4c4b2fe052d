package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
)

// expr emits the value of a plan expression.
func (e *emitter) expr(st *state, x ir.Expr) loop.Expr { return e.operand(st, x).Expr }

// operand emits the value of a plan expression, with its presence.
func (e *emitter) operand(st *state, x ir.Expr) scalar.Operand {
	switch x := x.(type) {
	case *ir.Literal:
		switch {
		case x.Gap:
			return scalar.Operand{Expr: emit.Constant(x.Value), Presence: scalar.GapUnless(scalar.Never, x)}
		case x.Stored:
			return scalar.Operand{Expr: emit.Constant(x.Value), Presence: scalar.GapUnless(scalar.Always, x)}
		}
		literal := scalar.Uniform
		literal.Value = x
		return scalar.Operand{Expr: emit.Constant(x.Value), Presence: literal}
	case *ir.Access:
		defer e.B.At(emit.Origin(x.Pos))()
		present := st.cursors[x].present
		switch {
		case x.Tensor.Whole:
			present = scalar.Always
		case len(x.Indices) == 0:
			return scalar.Operand{Expr: e.load(st, x), Presence: scalar.Uniform}
		}
		return scalar.Operand{Expr: e.load(st, x), Presence: scalar.GapUnless(present, fillOf(x.Tensor))}
	case *ir.IndexValue:
		return scalar.Operand{Expr: st.index[x.Var], Presence: scalar.Uniform}
	case *ir.Extent:
		return scalar.Operand{Expr: e.Scalar(e.extent(x.Var)), Presence: scalar.Uniform}
	case *ir.TempRef:
		v := st.temps[x.Temp]
		switch {
		case ir.Uniform(x):
			return scalar.Operand{Expr: v.expr, Presence: scalar.Uniform}
		case ir.Gapless(x):
			return scalar.Operand{Expr: v.expr, Presence: scalar.Presence{Stored: scalar.Always, Gap: scalar.Never}}
		}
		return scalar.Operand{Expr: v.expr, Presence: scalar.GapUnless(v.present, v.background)}
	case *ir.Cast:
		y := e.operand(st, x.X)
		if y.Value != nil {
			y.Value, _ = e.alg.Eval.Fold(&ir.Cast{To: x.To, X: y.Value}).(*ir.Literal)
		}
		y.Expr = scalar.Cast(x.To, y.Expr)
		return y
	case *ir.Select:
		return e.operations().Choice(e.operand(st, x.Cond), e.operand(st, x.Then), e.operand(st, x.Else))
	case *ir.Call:
		args := make([]scalar.Operand, len(x.Args))
		for i, a := range x.Args {
			args[i] = e.operand(st, a)
			// Operands are used more than once by some functions.
			args[i].Expr = e.B.Let("v", args[i].Expr)
		}
		return e.operations().Call(x, args)
	}
	panic("BUG: unknown plan expression")
}

// operations emit what an expression does.
func (e *emitter) operations() scalar.Operations {
	return scalar.Operations{B: e.B, Alg: e.alg, Grids: e.opts.Grids}
}
