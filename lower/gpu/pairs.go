package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// pairs makes the pairs of a row and an iteration of the only loop in it the rows of a stage, and so on: those of
// a dense tensor of rank 3, of which one dimension alone may be too few for all threads. Where innermost loops
// read what does not lie side by side, lanes are better given the columns of a row, if they can be
// (columns.go). Other stages stay as they are.
func (m *mapper) pairs(s *loop.Stage, reads reading) *loop.Stage {
	for {
		t := m.paired(s, reads)
		if t == nil {
			return s
		}
		s = t
	}
}

// reading says where innermost loops may read.
type reading uint8

const (
	anywhereAtAll reading = iota
	onlySideBySide
)

// paired does that for one loop; nil if it cannot be done.
func (m *mapper) paired(s *loop.Stage, reads reading) *loop.Stage {
	if !onlyGoesThrough(s.Func) || readsOwnStores(s.Func) {
		return nil
	}
	outer := onlyLoop(s.Func)
	inner, rest := lastLoop(outer.Body)
	if inner == nil || !hasLoops(inner.Body) || reads == onlySideBySide && !(readsSideBySide(s.Func) && overDimensions(s.Func, inner)) {
		return nil
	}
	if !overDimension(s.Func, inner) || !storesApart(s.Func, outer, inner) {
		return nil
	}
	f := *s.Func
	f.Vars = append(slices.Clone(f.Vars), loop.Var{Name: "pair", Type: loop.I64})
	id := loop.VarID(len(f.Vars) - 1)
	pair := &loop.Ref{Var: id, Typ: loop.I64}
	body := []loop.Stmt{
		&loop.Let{Var: outer.Var, Value: loop.NewBinary(loop.Div, pair, inner.Hi)},
		&loop.Let{Var: inner.Var, Value: loop.NewBinary(loop.Rem, pair, inner.Hi)},
	}
	body = append(append(body, rest...), inner.Body...)
	f.Body = nil
	for _, st := range s.Func.Body {
		if st == outer {
			st = &loop.For{Var: id, Lo: outer.Lo, Hi: outer.Hi, Body: body, Origin: outer.Origin}
		}
		f.Body = append(f.Body, st)
	}
	if f.Verify(lib.Lookup) != nil {
		return nil
	}
	t := *s
	t.Func = &f
	count := loop.SizeScalar(argOf(s, inner.Hi.(*loop.Ref).Var))
	t.Partition = m.partition(s.Name+"_pairs", sizeOp(loop.Mul, loop.SizeScalar(m.cuts[s.Partition].n), count))
	m.cuts[t.Partition] = m.cut(t.Partition)
	return &t
}

// overDimension reports whether a loop goes from 0 to a parameter.
func overDimension(f *loop.Func, l *loop.For) bool {
	hi, toParameter := l.Hi.(*loop.Ref)
	return isZero(l.Lo) && toParameter && slices.Contains(f.Args, hi.Var)
}

func isZero(e loop.Expr) bool {
	c, ok := e.(*loop.Const)
	return ok && c.Bits == 0
}

func isOne(e loop.Expr) bool {
	c, ok := e.(*loop.Const)
	return ok && c.Typ.IsInt() && c.Bits == 1
}

// parameters is the set of a function's scalar parameters.
func parameters(f *loop.Func) map[loop.VarID]bool {
	set := map[loop.VarID]bool{}
	for _, id := range f.Args {
		set[id] = true
	}
	return set
}

// declare adds to a set what a body declares, but in blocks within it, and does not change.
func declare(set map[loop.VarID]bool, body []loop.Stmt) {
	for _, s := range body {
		if l, ok := s.(*loop.Let); ok && !l.Mutable {
			set[l.Var] = true
		}
	}
}

// isMadeOf reports whether an expression reads some variables only, and no memory.
func isMadeOf(e loop.Expr, known map[loop.VarID]bool) bool {
	return !loop.HasExpr(e, func(e loop.Expr) bool {
		switch e := e.(type) {
		case *loop.Ref:
			return !known[e.Var]
		case *loop.Load, *loop.Call:
			return true
		}
		return false
	})
}

// overDimensions reports whether the loops in a loop do, or have no iterations at times, rather than go
// through entries, which all iterations of the loop share.
func overDimensions(f *loop.Func, l *loop.For) bool {
	ok := true
	sometimes := map[loop.VarID]loop.Expr{}
	loop.WalkStmts(l.Body, func(s loop.Stmt) {
		switch s := s.(type) {
		case *loop.Let:
			if x, is := s.Value.(*loop.Select); is && !s.Mutable {
				sometimes[s.Var] = x.Y
			}
		case *loop.For:
			whole := *s
			if hi, is := s.Hi.(*loop.Ref); is && sometimes[hi.Var] != nil {
				whole.Hi = sometimes[hi.Var]
			}
			ok = ok && overDimension(f, &whole)
		case *loop.While:
			ok = false
		}
	})
	return ok
}

// storesApart reports whether iterations of a loop in a row have nothing to do with each other, and the only
// thing that they store is at x + k, for the iteration k and an x of the row, or from there on in an array
// with further dimensions: at (x + k)*n + l for a loop over l, which goes through a dimension of n, as it does
// for all dense arrays.
func storesApart(f *loop.Func, outer, inner *loop.For) bool {
	values := map[loop.VarID]loop.Expr{}
	inside, counters := map[loop.VarID]bool{}, map[loop.VarID]bool{}
	row := parameters(f)
	row[outer.Var] = true
	for _, list := range [][]loop.Stmt{f.Body, outer.Body} {
		for _, s := range list {
			if l, ok := s.(*loop.Let); ok && !l.Mutable {
				row[l.Var] = true
				values[l.Var] = l.Value
			}
		}
	}
	ok, stores := true, 0
	var index loop.Expr
	loop.WalkStmts(inner.Body, func(s loop.Stmt) {
		if id, declares := loop.Declared(s); declares {
			inside[id] = true
		}
		switch s := s.(type) {
		case *loop.Let:
			if !s.Mutable {
				values[s.Var] = s.Value
			}
		case *loop.For:
			counters[s.Var] = true
		case *loop.Assign:
			ok = ok && inside[s.Var]
		case *loop.Store:
			index, stores = s.Index, stores+1
		case *loop.If, *loop.While, *loop.Comment:
		default:
			ok = false
		}
	})
	if !ok || stores != 1 {
		return false
	}
	value := func(e loop.Expr) loop.Expr {
		for {
			r, is := e.(*loop.Ref)
			if !is || values[r.Var] == nil || r.Var == inner.Var {
				return e
			}
			e = values[r.Var]
		}
	}
	for {
		sum, is := value(index).(*loop.Binary)
		if !is || sum.Op != loop.Add {
			return isRef(value(index), inner.Var)
		}
		if isRef(sum.Y, inner.Var) {
			return isMadeOf(sum.X, row)
		}
		l, is := sum.Y.(*loop.Ref)
		product, isProduct := value(sum.X).(*loop.Binary)
		if !is || !counters[l.Var] || !isProduct || product.Op != loop.Mul {
			return false
		}
		if n, is := product.Y.(*loop.Ref); !is || !slices.Contains(f.Args, n.Var) {
			return false
		}
		index = product.X
	}
}
