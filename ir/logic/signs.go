package logic

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
)

// The zero of a gap has no sign (language.md): 1/(-sum) is inf where the sum is over nothing that is stored, and -inf where it is a stored 0. So what stores
// such a sum as a dense tensor may stand under a change of sign only where nothing tells one zero from the other. Sums start from 0, and are never -0.

// toldElsewhere reports whether other statements tell apart zeros of a tensor, or of what they make of it.
func (o *optimiser) toldElsewhere(t *lang.Tensor, seen map[string]bool) bool {
	if seen[t.Name] {
		return false
	}
	seen[t.Name] = true
	return slices.ContainsFunc(o.prog.Stmts, func(s *lang.Stmt) bool {
		reads := slices.ContainsFunc(lang.Accesses(s.RHS), func(a *lang.Access) bool { return a.Tensor.Name == t.Name })
		return reads && toldIn(s.RHS, t.Name, o.toldElsewhere(s.LHS.Tensor, seen))
	})
}

// toldIn reports whether an expression tells apart zeros of a tensor; around, whether what is around it does.
func toldIn(e lang.Expr, tensor string, around bool) bool {
	switch e := e.(type) {
	case *lang.Access:
		return around && e.Tensor.Name == tensor
	case *lang.Literal:
		return false
	case *lang.Cast:
		return toldIn(e.X, tensor, around)
	case *lang.Select:
		return toldIn(e.Cond, tensor, false) || toldIn(e.Then, tensor, around) || toldIn(e.Else, tensor, around)
	case *lang.Reduce:
		return toldIn(e.Body, tensor, around && e.Op != lang.Sum)
	case *lang.Call:
		for i, a := range e.Args {
			if toldIn(a, tensor, tellsSigns(e, i, around)) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(lang.Accesses(e), func(a *lang.Access) bool { return a.Tensor.Name == tensor })
}

// tellsSigns reports whether a call, or what is around it, tells apart zeros that an argument may be.
func tellsSigns(e *lang.Call, i int, around bool) bool {
	switch e.Fn {
	case "+", "-", "*", "neg", "sqrt", "sin", "tan", "tanh", "asin", "atan", "asinh", "sinh", "erf", "cbrt", "expm1", "min", "max", "relu", "conj":
		return around
	case "/":
		return i == 1 || around
	case "^", "pow":
		l, ok := e.Args[1].(*lang.Literal)
		return !ok || l.Value.Float64() <= 0 || around
	case "abs", "square", "exp", "exp2", "cos", "cosh", "sigmoid", "<", "<=", ">", ">=", "==", "!=", "and", "or", "not":
		return false
	}
	return true
}

// flips reports whether a call may give a zero that is an argument another sign, unless that is a gap.
func (s *statement) flips(e *lang.Call, i int) bool {
	switch e.Fn {
	case "neg":
		return true
	case "*", "/":
		for k, a := range e.Args {
			if k != i && !s.unsigned(a) {
				return true
			}
		}
	}
	return false
}

// signs reports whether an expression may be -0 where its sums are over nothing but stored zeros.
func (s *statement) signs(e lang.Expr) bool {
	switch e := e.(type) {
	case *lang.Reduce:
		return e.Op != lang.Sum && s.signs(e.Body)
	case *lang.Access, *lang.Literal:
		return false
	case *lang.Cast:
		return s.signs(e.X)
	case *lang.Call:
		switch e.Fn {
		case "+", "-":
			return slices.ContainsFunc(e.Args, s.signs)
		case "*":
			var below []lang.Expr
			sums := false // whose zeros what is below 0 would make -0
			for _, a := range e.Args {
				if s.unsigned(a) {
					sums = sums || folds(a)
				} else {
					below = append(below, a)
				}
			}
			return len(below) > 1 || len(below) == 1 && (sums || s.signs(below[0]))
		}
	}
	return true
}

// folds reports whether there is a reduction in an expression.
func folds(e lang.Expr) bool {
	found := false
	lang.Walk(e, func(x lang.Expr) bool {
		_, ok := x.(*lang.Reduce)
		found = found || ok
		return !found
	})
	return found
}
