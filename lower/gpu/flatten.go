package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// flattened is a stage of one call whose only loop has nothing but one loop in it, beside
// declarations, and that one as many iterations each time: as a stage with one loop over
// pairs of iterations, in their order. Others stay as they are.
func flattened(s *loop.Stage) *loop.Stage {
	for {
		outer := onlyLoop(s.Func)
		if outer == nil {
			return s
		}
		inner, rest := lastLoop(outer.Body)
		if inner == nil || !knownOutside(s.Func, inner) {
			return s
		}
		f := *s.Func
		f.Vars = slices.Clone(f.Vars)
		fresh := func(name string) loop.VarID {
			f.Vars = append(f.Vars, loop.Var{Name: name, Type: loop.I64})
			return loop.VarID(len(f.Vars) - 1)
		}
		length := func(l *loop.For) loop.Expr {
			return loop.NewBinary(loop.Max, loop.Int(0), loop.NewBinary(loop.Sub, l.Hi, l.Lo))
		}
		ref := func(id loop.VarID) loop.Expr { return &loop.Ref{Var: id, Typ: loop.I64} }
		many, turn := fresh("many"), fresh("turn")
		let := func(id loop.VarID, value loop.Expr) loop.Stmt { return &loop.Let{Var: id, Value: value} }
		body := []loop.Stmt{let(outer.Var, loop.NewBinary(loop.Add, outer.Lo, loop.NewBinary(loop.Div, ref(turn), ref(many))))}
		body = append(body, rest...)
		body = append(body, let(inner.Var, loop.NewBinary(loop.Add, inner.Lo, loop.NewBinary(loop.Rem, ref(turn), ref(many)))))
		body = append(body, inner.Body...)
		flat := &loop.For{Var: turn, Lo: loop.Int(0), Hi: loop.NewBinary(loop.Mul, length(outer), ref(many)), Body: body, Origin: outer.Origin}
		f.Body = nil
		for _, st := range s.Func.Body {
			if st == outer {
				f.Body = append(f.Body, let(many, length(inner)), flat)
				continue
			}
			f.Body = append(f.Body, st)
		}
		if f.Verify(lib.Lookup) != nil {
			return s
		}
		t := *s
		t.Func = &f
		s = &t
	}
}

// knownOutside reports whether the bounds of a loop are those of parameters and of what is
// declared at the top of a function.
func knownOutside(f *loop.Func, l *loop.For) bool {
	known := parameters(f)
	declare(known, f.Body)
	return isMadeOf(l.Lo, known) && isMadeOf(l.Hi, known)
}
