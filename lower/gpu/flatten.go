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

// onlyGoesThrough reports whether a function is one loop over the elements of its chunk, and
// nothing in it asks for the chunk.
func onlyGoesThrough(f *loop.Func) bool {
	l := onlyLoop(f)
	if l == nil || !isRef(l.Lo, f.Lo) || !isRef(l.Hi, f.Hi) {
		return false
	}
	asks := 0
	for e := range loop.AllExprs(f.Body) {
		if isRef(e, f.Lo) || isRef(e, f.Hi) || isRef(e, f.Chunk) {
			asks++
		}
	}
	return asks == 2 // the bounds of the loop
}

// storesAtRead reports whether a loop without loops in it stores at places that are read.
func storesAtRead(l *loop.For) bool {
	read := map[loop.VarID]bool{}
	reads := func(e loop.Expr) bool { return loop.Reads(e, read) || loop.HasLoad(e) }
	found := false
	loop.WalkStmts(l.Body, func(s loop.Stmt) {
		switch s := s.(type) {
		case *loop.Let:
			read[s.Var] = reads(s.Value)
		case *loop.Store:
			found = found || reads(s.Index)
		}
	})
	return found && !hasLoops(l.Body)
}

// lastLoop finds the loop that a body ends with, if there are only values before it: what
// may be assigned, one iteration of that loop might leave to the next.
func lastLoop(body []loop.Stmt) (*loop.For, []loop.Stmt) {
	for i, s := range body {
		switch s := s.(type) {
		case *loop.Let:
			if s.Mutable {
				return nil, nil
			}
		case *loop.Comment:
		case *loop.For:
			if i == len(body)-1 {
				return s, body[:i]
			}
			return nil, nil
		default:
			return nil, nil
		}
	}
	return nil, nil
}

// knownOutside reports whether the bounds of a loop are those of parameters and of what is
// declared at the top of a function.
func knownOutside(f *loop.Func, l *loop.For) bool {
	known := parameters(f)
	declare(known, f.Body)
	return isMadeOf(l.Lo, known) && isMadeOf(l.Hi, known)
}

// fewElements is how many elements of a domain are not enough threads.
const fewElements = 1 << 14

// updates maps a stage over elements in each of which a loop folds into places that it
// reads, such as y(p(i),j) += A(i,j) over j, by updates where there are few elements, and
// else by elements. It reports whether that could be done.
func (m *mapper) updates(s *loop.Stage) bool {
	if !readsOwnStores(s.Func) || !onlyGoesThrough(s.Func) {
		return false
	}
	f := m.listFunc(s, s.Func.Name)
	f.in.Hi = f.scalar(m.cuts[s.Partition].n)
	f.Builder.Inline(s.Func, f.in)
	whole := f.stage(s, "", -1)
	flat := flattened(&whole)
	l := onlyLoop(flat.Func)
	if l == nil || !storesAtRead(l) {
		return false
	}
	few := sizeOp(loop.Sub, loop.SizeConst(1), atLeast(loop.SizeScalar(m.cuts[s.Partition].n), fewElements))
	many := sizeOp(loop.Sub, loop.SizeConst(1), few)
	done := false
	m.when(few, func() { done = m.atomics(flat) || m.extremes(flat) })
	if done {
		m.when(many, func() { m.elements(s) })
		return true
	}
	return m.sorted(flat, few, func() { m.elements(s) })
}
