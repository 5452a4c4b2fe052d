package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// flattened is a stage of one call whose only loop has nothing but one loop in it, beside
// declarations, and that one as many iterations each time: as a stage with one loop over
// pairs of iterations, in their order. Others stay as they are.
func flattened(s *loop.Stage) *loop.Stage {
	outer := onlyLoop(s.Func)
	if outer == nil {
		return s
	}
	inner, rest := lastLoop(outer.Body)
	if inner == nil || !knownOutside(s.Func, inner) {
		return s
	}
	op := loop.NewBinary
	length := func(l *loop.For) loop.Expr { return op(loop.Max, loop.Int(0), op(loop.Sub, l.Hi, l.Lo)) }
	flat := withLoop(s, outer, []string{"many", "turn"}, func(vars []*loop.Ref) []loop.Stmt {
		many, turn := vars[0], vars[1]
		body := []loop.Stmt{&loop.Let{Var: outer.Var, Value: op(loop.Add, outer.Lo, op(loop.Div, turn, many))}}
		body = append(body, rest...)
		body = append(body, &loop.Let{Var: inner.Var, Value: op(loop.Add, inner.Lo, op(loop.Rem, turn, many))})
		return []loop.Stmt{
			&loop.Let{Var: many.Var, Value: length(inner)},
			&loop.For{Var: turn.Var, Lo: loop.Int(0), Hi: op(loop.Mul, length(outer), many), Body: append(body, inner.Body...), Origin: outer.Origin},
		}
	})
	if flat == nil {
		return s
	}
	return flattened(flat)
}

// withLoop is a stage with something else in the place of a loop at the top of its function, for which it has new
// variables; nil if that breaks a rule.
func withLoop(s *loop.Stage, of *loop.For, names []string, instead func(vars []*loop.Ref) []loop.Stmt) *loop.Stage {
	f := *s.Func
	f.Vars = slices.Clone(f.Vars)
	var vars []*loop.Ref
	for _, name := range names {
		vars = append(vars, &loop.Ref{Var: loop.VarID(len(f.Vars)), Typ: loop.I64})
		f.Vars = append(f.Vars, loop.Var{Name: name, Type: loop.I64})
	}
	at := slices.Index(f.Body, loop.Stmt(of))
	f.Body = slices.Concat(f.Body[:at], instead(vars), f.Body[at+1:])
	t := *s
	if t.Func = &f; !verified(t) {
		return nil
	}
	return &t
}

// knownOutside reports whether the bounds of a loop are those of parameters and of what is
// declared at the top of a function.
func knownOutside(f *loop.Func, l *loop.For) bool {
	known := parameters(f)
	declare(known, f.Body)
	return isMadeOf(l.Lo, known) && isMadeOf(l.Hi, known)
}
