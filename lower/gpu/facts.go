package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// What mappings ask of a function is answered here, from its loops. Much of what is mapped is not as it was lowered: pairs of
// loops have become one, an element's updates a list with functions of its own. So facts are found, not handed on.

// kinds is a set of kinds of statements.
type kinds uint8

const (
	isValue    kinds = 1 << iota // the declaration of what does not change, or a comment
	isVariable                   // the declaration of what may
	isAssign
	isStore
	isBranch
	isLoop // that counts
	isWhile
	isOther // such as a failure

	isDeclaration = isValue | isVariable
)

func kindOf(s loop.Stmt) kinds {
	switch s := s.(type) {
	case *loop.Let:
		if s.Mutable {
			return isVariable
		}
		return isValue
	case *loop.Comment:
		return isValue
	case *loop.Assign:
		return isAssign
	case *loop.Store:
		return isStore
	case *loop.If:
		return isBranch
	case *loop.For:
		return isLoop
	case *loop.While:
		return isWhile
	}
	return isOther
}

// only reports whether all statements of a body are of some kinds, those of blocks within it left out.
func only(body []loop.Stmt, of kinds) bool {
	return !slices.ContainsFunc(body, func(s loop.Stmt) bool { return kindOf(s)&of == 0 })
}

// has reports whether a body, or a block within it, has a statement of some kinds.
func has(body []loop.Stmt, of kinds) bool {
	found := false
	loop.WalkStmts(body, func(s loop.Stmt) { found = found || kindOf(s)&of != 0 })
	return found
}

// hasLoops reports whether there is a loop in a body.
func hasLoops(body []loop.Stmt) bool { return has(body, isLoop|isWhile) }

// bodyOf is the body of a loop, nil of other statements.
func bodyOf(s loop.Stmt) []loop.Stmt {
	switch s := s.(type) {
	case *loop.For:
		return s.Body
	case *loop.While:
		return s.Body
	}
	return nil
}

// loneLoop is the only loop of a body and where it stands, if all that stands beside it is of some kinds; else nil.
func loneLoop(body []loop.Stmt, beside kinds) (l *loop.For, at int) {
	for i, s := range body {
		if f, is := s.(*loop.For); is && l == nil {
			l, at = f, i
		} else if kindOf(s)&beside == 0 {
			return nil, -1
		}
	}
	return l, at
}

// onlyLoop is the loop at the top of a function outside of which it only declares, nil
// if it is not so.
func onlyLoop(f *loop.Func) *loop.For {
	l, _ := loneLoop(f.Body, isDeclaration)
	return l
}

// lastLoop finds the loop that a body ends with, if there are only values before it: what
// may be assigned, one iteration of that loop might leave to the next.
func lastLoop(body []loop.Stmt) (*loop.For, []loop.Stmt) {
	l, at := loneLoop(body, isValue)
	if l == nil || at < len(body)-1 {
		return nil, nil
	}
	return l, body[:at]
}

// overChunk reports whether a loop goes through a function's chunk.
func overChunk(f *loop.Func, l *loop.For) bool { return isRef(l.Lo, f.Lo) && isRef(l.Hi, f.Hi) }

// loopOverChunk is the loop over a function's chunk, where nothing stands beside it but declarations.
func loopOverChunk(f *loop.Func) (row *loop.For, ok bool) {
	l := onlyLoop(f)
	return l, l != nil && overChunk(f, l)
}

// onlyGoesThrough reports whether a function is one loop over the elements of its chunk, and
// nothing in it asks for the chunk.
func onlyGoesThrough(f *loop.Func) bool {
	asks := 0
	for e := range loop.AllExprs(f.Body) {
		if isRef(e, f.Lo) || isRef(e, f.Hi) || isRef(e, f.Chunk) {
			asks++
		}
	}
	_, ok := loopOverChunk(f)
	return ok && asks == 2 // the bounds of the loop
}

// overDimension reports whether a loop goes from 0 to a parameter.
func overDimension(f *loop.Func, l *loop.For) bool {
	hi, toParameter := l.Hi.(*loop.Ref)
	return isZero(l.Lo) && toParameter && slices.Contains(f.Args, hi.Var)
}

// loopsOf are the loops that count in a body, outer ones first.
func loopsOf(body []loop.Stmt) []*loop.For {
	var list []*loop.For
	loop.WalkStmts(body, func(s loop.Stmt) {
		if l, ok := s.(*loop.For); ok {
			list = append(list, l)
		}
	})
	return list
}

// storesOf are the stores of a body.
func storesOf(body []loop.Stmt) []*loop.Store {
	var list []*loop.Store
	loop.WalkStmts(body, func(s loop.Stmt) {
		if st, ok := s.(*loop.Store); ok {
			list = append(list, st)
		}
	})
	return list
}

// stored are the buffers that a body stores to.
func stored(body []loop.Stmt) map[loop.BufID]bool {
	set := map[loop.BufID]bool{}
	for _, st := range storesOf(body) {
		set[st.Buf] = true
	}
	return set
}

// readsAny reports whether an expression reads one of some buffers.
func readsAny(e loop.Expr, bufs map[loop.BufID]bool) bool {
	return loop.HasExpr(e, func(e loop.Expr) bool {
		l, ok := e.(*loop.Load)
		return ok && bufs[l.Buf]
	})
}

// readsOwnStores reports whether a function reads a buffer that it stores to: then
// threads that only help might read what the one that stores has changed.
func readsOwnStores(f *loop.Func) bool {
	set := stored(f.Body)
	for l := range loop.Loads(f.Body) {
		if set[l.Buf] {
			return true
		}
	}
	return false
}

// loadsOf lists the reads of a buffer.
func loadsOf(body []loop.Stmt, buf loop.BufID) []*loop.Load {
	var list []*loop.Load
	for l := range loop.Loads(body) {
		if l.Buf == buf {
			list = append(list, l)
		}
	}
	return list
}

// readAlong is the first array of which a loop reads the element that has the iteration's number.
func readAlong(l *loop.For) (loop.BufID, bool) {
	for x := range loop.Loads(l.Body) {
		if isRef(x.Index, l.Var) {
			return x.Buf, true
		}
	}
	return -1, false
}

// keepsVariables reports whether a body assigns to no variables but those that it declares itself: its iterations
// leave each other nothing but what they store.
func keepsVariables(body []loop.Stmt) bool {
	inside, ok := loop.DeclaredIn(body), true
	loop.WalkStmts(body, func(s loop.Stmt) {
		if a, is := s.(*loop.Assign); is {
			ok = ok && inside[a.Var]
		}
	})
	return ok
}

// lets are the values of what does not change.
type lets map[loop.VarID]loop.Expr

// value is an expression, or what the variable that it is has been declared to be.
func (m lets) value(e loop.Expr) loop.Expr {
	for {
		r, ok := e.(*loop.Ref)
		if !ok || m[r.Var] == nil {
			return e
		}
		e = m[r.Var]
	}
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

func isRef(e loop.Expr, id loop.VarID) bool {
	r, ok := e.(*loop.Ref)
	return ok && r.Var == id
}

func isZero(e loop.Expr) bool {
	c, ok := e.(*loop.Const)
	return ok && c.Bits == 0
}

func isOne(e loop.Expr) bool {
	c, ok := e.(*loop.Const)
	return ok && c.Typ.IsInt() && c.Bits == 1
}

// counts takes n = n + 1.
func counts(s loop.Stmt) (n loop.VarID, ok bool) {
	a, ok := s.(*loop.Assign)
	if !ok {
		return loop.NoVar, false
	}
	sum, ok := a.Value.(*loop.Binary)
	return a.Var, ok && sum.Op == loop.Add && sum.Typ == loop.I64 && isRef(sum.X, a.Var) && isOne(sum.Y)
}

// pointersOf finds the array pos of a loop that goes from pos[i] to pos[i+1], i being the
// element of the chunk: then different elements have different iterations.
func pointersOf(f *loop.Func, row *loop.For) (loop.BufID, bool) {
	known := lets(loop.LetsOf(f.Body))
	element := loop.NoVar
	for _, l := range loopsOf(f.Body) {
		if overChunk(f, l) {
			element = l.Var
		}
	}
	load := func(e loop.Expr) *loop.Load {
		e = known.value(e)
		if c, ok := e.(*loop.Cast); ok {
			e = c.X
		}
		l, _ := e.(*loop.Load)
		return l
	}
	lo, hi := load(row.Lo), load(row.Hi)
	if lo == nil || hi == nil || lo.Buf != hi.Buf || !f.Bufs[lo.Buf].ReadOnly || !isRef(lo.Index, element) {
		return -1, false
	}
	next, ok := hi.Index.(*loop.Binary)
	return lo.Buf, ok && next.Op == loop.Add && isRef(next.X, element) && isOne(next.Y)
}

// onlyRowLoop finds the one loop of a function that teams share, which stands in the loop over the
// chunk and has the entries of its element, and the array that it reads an element of in each iteration.
func onlyRowLoop(f *loop.Func) (row *loop.For, entries loop.BufID, ok bool) {
	all := loopsOf(f.Body)
	if len(all) != 2 || has(f.Body, isWhile) || !overChunk(f, all[0]) || !slices.Contains(all[0].Body, loop.Stmt(all[1])) {
		return nil, -1, false
	}
	row = all[1]
	if _, folds := foldsOf(f, row); !folds {
		return nil, -1, false
	}
	if _, ok = pointersOf(f, row); ok {
		entries, ok = readAlong(row)
	}
	return row, entries, ok
}
