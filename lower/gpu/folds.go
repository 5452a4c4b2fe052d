package gpu

import (
	"math"
	"slices"

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
	if has(s.Body, isStore|isWhile|isOther) {
		return nil, false
	}
	var list []fold
	var read []loop.Expr // in which no folded variable may occur
	inside, folded, ok := loop.DeclaredIn(s.Body), map[loop.VarID]bool{}, true
	loop.WalkStmts(s.Body, func(st loop.Stmt) {
		a, is := st.(*loop.Assign)
		if !is || inside[a.Var] {
			read = append(read, loop.Exprs(st)...)
			return
		}
		op, x := folding(a)
		if !folded[a.Var] {
			folded[a.Var], list = true, append(list, fold{a.Var, op, f.Vars[a.Var].Type})
		}
		ok = ok && op != loop.InvalidBinary && slices.Contains(list, fold{a.Var, op, f.Vars[a.Var].Type})
		read = append(read, x)
	})
	ok = ok && len(list) > 0
	for _, e := range read {
		ok = ok && !loop.Reads(e, folded)
	}
	return list, ok
}

// folding takes v = v op x, v = x op v and v = true apart into the operator and x.
func folding(s *loop.Assign) (loop.BinaryOp, loop.Expr) {
	switch e := s.Value.(type) {
	case *loop.Const:
		if e.Typ == loop.Bool && e.Bits != 0 {
			return loop.Or, e
		}
	case *loop.Binary:
		switch {
		case !folds(e.Op, e.Typ):
		case isRef(e.X, s.Var):
			return e.Op, e.Y
		case isRef(e.Y, s.Var):
			return e.Op, e.X
		}
	}
	return loop.InvalidBinary, nil
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
