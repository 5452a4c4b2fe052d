package gpu

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// fold is a variable that a loop folds values into.
type fold struct {
	variable loop.VarID
	op       loop.BinaryOp
	typ      loop.Type
}

// foldsOf finds out whether a team of threads may share the iterations of a loop: it
// does nothing but fold values into variables from outside, v = v op x, by operators
// for which order and grouping do not matter but for rounding, and nothing in it
// reads those variables otherwise. Loops inside may be part of that.
func foldsOf(f *loop.Func, s *loop.For) ([]fold, bool) {
	a := folding{f: f, inside: map[loop.VarID]bool{s.Var: true}, ops: map[loop.VarID]loop.BinaryOp{}}
	if !a.declare(s.Body) || !a.statements(s.Body) || len(a.order) == 0 {
		return nil, false
	}
	for _, e := range a.read {
		if loop.HasExpr(e, func(e loop.Expr) bool {
			r, is := e.(*loop.Ref)
			return is && a.ops[r.Var] != loop.InvalidBinary
		}) {
			return nil, false
		}
	}
	var list []fold
	for _, id := range a.order {
		list = append(list, fold{id, a.ops[id], f.Vars[id].Type})
	}
	return list, true
}

// folding is the analysis of a loop.
type folding struct {
	f      *loop.Func
	inside map[loop.VarID]bool // declared in the loop
	ops    map[loop.VarID]loop.BinaryOp
	order  []loop.VarID
	read   []loop.Expr // in which no folded variable may occur
}

// declare notes what the loop declares; it reports whether there is nothing in it
// that threads cannot share.
func (a *folding) declare(body []loop.Stmt) bool {
	ok := true
	loop.WalkStmts(body, func(s loop.Stmt) {
		switch s := s.(type) {
		case *loop.Let:
			a.inside[s.Var] = true
		case *loop.For:
			a.inside[s.Var] = true
		case *loop.Assign, *loop.If, *loop.Comment:
		default:
			ok = false
		}
	})
	return ok
}

func (a *folding) statements(body []loop.Stmt) bool {
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Let:
			a.read = append(a.read, s.Value)
		case *loop.Assign:
			if a.inside[s.Var] {
				a.read = append(a.read, s.Value)
			} else if !a.assign(s) {
				return false
			}
		case *loop.For:
			a.read = append(a.read, s.Lo, s.Hi)
			if !a.statements(s.Body) {
				return false
			}
		case *loop.If:
			a.read = append(a.read, s.Cond)
			if !a.statements(s.Then) || !a.statements(s.Else) {
				return false
			}
		}
	}
	return true
}

// assign takes v = v op x, v = x op v and v = true.
func (a *folding) assign(s *loop.Assign) bool {
	op := loop.InvalidBinary
	switch e := s.Value.(type) {
	case *loop.Const:
		if e.Typ != loop.Bool || e.Bits == 0 {
			return false
		}
		op = loop.Or
	case *loop.Binary:
		if !folds(e.Op, e.Typ) {
			return false
		}
		op = e.Op
		switch {
		case isRef(e.X, s.Var):
			a.read = append(a.read, e.Y)
		case isRef(e.Y, s.Var):
			a.read = append(a.read, e.X)
		default:
			return false
		}
	default:
		return false
	}
	if old, known := a.ops[s.Var]; known {
		return old == op
	}
	a.ops[s.Var] = op
	a.order = append(a.order, s.Var)
	return true
}

func isRef(e loop.Expr, id loop.VarID) bool {
	r, ok := e.(*loop.Ref)
	return ok && r.Var == id
}

// folds reports whether op on values of type t may be applied in any grouping.
func folds(op loop.BinaryOp, t loop.Type) bool {
	switch op {
	case loop.Add:
		return t != loop.Bool
	case loop.Mul:
		return t != loop.Bool && !t.IsComplex() // infinity times 1+0i is not itself
	case loop.Min, loop.Max:
		return !t.IsComplex()
	case loop.And, loop.Or:
		return t == loop.Bool || t.IsInt()
	}
	return false
}

// identity is the value that op leaves the other operand alone with. Of a sum of
// floats that is -0, as 0 + -0 is 0.
func (d fold) identity() loop.Expr {
	switch d.op {
	case loop.Add:
		return number(d.typ, 0, math.Copysign(0, -1))
	case loop.Mul:
		return number(d.typ, 1, 1) // not of complex values
	case loop.Min:
		return d.extreme(1)
	case loop.Max:
		return d.extreme(-1)
	case loop.And:
		if d.typ == loop.Bool {
			return loop.Truth(true)
		}
		return loop.NewUnary(loop.Not, loop.Number(d.typ, 0))
	}
	if d.typ == loop.Bool {
		return loop.Truth(false)
	}
	return loop.Number(d.typ, 0)
}

// number is a number of type t: ints where that has integers, else floats, which is
// also the imaginary part of a complex number.
func number(t loop.Type, ints int64, floats float64) loop.Expr {
	switch {
	case t.IsComplex():
		part := loop.Float(t.Real(), floats)
		return loop.NewBinary(loop.Complex, part, part)
	case t.IsFloat():
		return loop.Float(t, floats)
	}
	return loop.Number(t, ints)
}

// extreme is the greatest value of the type for sign 1 and the least for -1.
func (d fold) extreme(sign int) loop.Expr {
	t := d.typ
	bits := 8 * t.Size()
	switch {
	case t == loop.Bool:
		return loop.Truth(sign > 0)
	case t.IsFloat():
		return loop.Float(t, math.Inf(sign))
	case t.IsSigned() && sign > 0:
		return loop.Number(t, int64(uint64(1)<<(bits-1)-1))
	case t.IsSigned():
		return loop.Number(t, -1<<(bits-1))
	case sign > 0:
		return loop.NewUnary(loop.Not, loop.Number(t, 0))
	}
	return loop.Number(t, 0)
}
