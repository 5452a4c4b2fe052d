package cpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// A counting sort puts each entry where the counter of its bucket says, and counts on:
//
//	for p = begin to end {
//	  let i: i64 = i64(crd[p])
//	  let to: i64 = i64(next[i])
//	  next[i] = u32(to + 1)
//	  out[to] = vals[p]
//	}
//
// Where entries go far apart, each store waits for its line to come from another cache, and stores are done in order. The counter of the bucket of an entry that
// comes some iterations later says nearly already where that will go: only entries of the same bucket come between. So each iteration asks for that place, to
// write it. It takes half of the time where entries go by chance, and less where they go near each other, too: bench/c/transpose.c.

// takenAhead is how many entries ahead places are asked for; 12 to 48 are as good.
const takenAhead = 24

// takes finds what the iterations of a loop should ask for: elements of buffers, in terms of the loop's variable.
func (k *kernel) takes(s *loop.For) []fetch {
	if s.Independent || !isStraight(s.Body) {
		return nil
	}
	if k.parts != nil {
		if all := k.endOfParts(s); all != nil {
			if list := k.takesBefore(s, all, loop.DeclaredIn(k.parts.Body)); list != nil {
				return list
			}
		}
	}
	if own := k.fixed(s.Hi); own != nil {
		return k.takesBefore(s, own, nil)
	}
	return nil
}

// takesBefore is takes where iterations up to an end may be looked at, in which some variables have other values.
func (k *kernel) takesBefore(s *loop.For, end loop.Expr, other map[loop.VarID]bool) []fetch {
	last := loop.NewBinary(loop.Sub, end, loop.Int(1))
	later := &later{k: k, of: s, inside: map[loop.VarID]loop.Expr{}, other: other, stored: map[loop.BufID]bool{},
		at: loop.NewBinary(loop.Min, loop.NewBinary(loop.Add, &loop.Ref{Var: s.Var, Typ: loop.I64}, loop.Int(takenAhead)), last)}
	for _, s := range s.Body {
		switch s := s.(type) {
		case *loop.Let:
			later.inside[s.Var] = s.Value
		case *loop.Store:
			later.stored[s.Buf] = true
		}
	}
	var list []fetch
	for n, statement := range s.Body {
		taken, ok := statement.(*loop.Let)
		if !ok {
			continue
		}
		counter := counterOf(taken, s.Body[n+1:])
		if counter == nil {
			continue
		}
		place, reads, ok := later.expr(counter.Index)
		if !ok || !reads {
			continue
		}
		next := &loop.Cast{Typ: loop.I64, X: &loop.Load{Buf: counter.Buf, Elem: counter.Elem, Index: place}}
		for _, statement := range s.Body[n+1:] {
			if store, ok := statement.(*loop.Store); ok && isRef(store.Index, taken.Var) {
				list = append(list, fetch{buf: store.Buf, first: next})
			}
		}
	}
	return list
}

// isStraight reports whether a block has assignments of new variables and stores alone: every iteration does all of it.
func isStraight(body []loop.Stmt) bool {
	return !slices.ContainsFunc(body, func(s loop.Stmt) bool {
		switch s := s.(type) {
		case *loop.Let:
			return s.Mutable
		case *loop.Store, *loop.Comment:
			return false
		}
		return true
	})
}

// counterOf is the load of a counter, if that is the value of a constant and what follows counts it on.
func counterOf(taken *loop.Let, rest []loop.Stmt) *loop.Load {
	value := taken.Value
	if c, ok := value.(*loop.Cast); ok {
		value = c.X
	}
	load, ok := value.(*loop.Load)
	if !ok || taken.Value.Type() != loop.I64 {
		return nil
	}
	at, ok := load.Index.(*loop.Ref)
	if !ok {
		return nil
	}
	for _, s := range rest {
		store, ok := s.(*loop.Store)
		if !ok || store.Buf != load.Buf {
			continue
		}
		next := store.Value
		if c, ok := next.(*loop.Cast); ok {
			next = c.X
		}
		sum, ok := next.(*loop.Binary)
		if ok && isRef(store.Index, at.Var) && sum.Op == loop.Add && isRef(sum.X, taken.Var) {
			return load
		}
	}
	return nil
}

func isRef(e loop.Expr, v loop.VarID) bool {
	r, ok := e.(*loop.Ref)
	return ok && r.Var == v
}

// later writes expressions of a loop's body as a later iteration has them.
type later struct {
	k      *kernel
	of     *loop.For
	at     loop.Expr                // that iteration
	inside map[loop.VarID]loop.Expr // the constants of the body
	other  map[loop.VarID]bool      // variables from outside of it that may have another value then
	stored map[loop.BufID]bool      // the buffers it stores to, whose elements may be others then
	terms  int                      // written so far
}

// mostTerms is how many terms the place of a later entry may take: constants are written out wherever they are read.
const mostTerms = 64

// expr is an expression later, and whether it reads a buffer where the iteration says. Not ok: it may be another then.
func (l *later) expr(e loop.Expr) (at loop.Expr, reads, ok bool) {
	if l.terms++; l.terms > mostTerms {
		return nil, false, false
	}
	switch e := e.(type) {
	case *loop.Const:
		return e, false, true
	case *loop.Ref:
		if e.Var == l.of.Var {
			return l.at, false, true
		}
		if value, inside := l.inside[e.Var]; inside {
			return l.expr(value)
		}
		return e, false, !l.k.IsMutable(e.Var) && !l.other[e.Var]
	case *loop.Load:
		if l.stored[e.Buf] {
			return nil, false, false
		}
		index, _, ok := l.expr(e.Index)
		return &loop.Load{Buf: e.Buf, Elem: e.Elem, Index: index}, true, ok
	case *loop.Cast:
		x, reads, ok := l.expr(e.X)
		return &loop.Cast{Typ: e.Typ, X: x}, reads, ok
	case *loop.Binary:
		x, inX, ok1 := l.expr(e.X)
		y, inY, ok2 := l.expr(e.Y)
		return &loop.Binary{Op: e.Op, Typ: e.Typ, X: x, Y: y}, inX || inY, ok1 && ok2
	}
	return nil, false, false
}

// fixed is an expression if it is a number or a variable that does not change, else nil.
func (k *kernel) fixed(e loop.Expr) loop.Expr {
	switch r := e.(type) {
	case *loop.Const:
		return e
	case *loop.Ref:
		if !k.IsMutable(r.Var) {
			return e
		}
	}
	return nil
}

// endOfParts is where the range ends whose parts loops like s in the while around it go through, each of
// which follows the one before; nil if it is none:
//
//	while p < all {
//	  let begin: i64 = p
//	  let end: i64 = min(…, all)
//	  for q = begin to end { … }
//	  p = end
//	}
func (k *kernel) endOfParts(s *loop.For) loop.Expr {
	cond, ok := k.parts.Cond.(*loop.Binary)
	hi, isRefOf := s.Hi.(*loop.Ref)
	if !ok || !isRefOf || cond.Op != loop.Lt {
		return nil
	}
	p, ok := cond.X.(*loop.Ref)
	all := k.fixed(cond.Y)
	end, isMin := k.lets[hi.Var].(*loop.Binary)
	if !ok || all == nil || !isMin || end.Op != loop.Min || !sameFixed(end.Y, all) && !sameFixed(end.X, all) {
		return nil
	}
	if begin, ok := s.Lo.(*loop.Ref); !ok || begin.Var != p.Var && !isRef(k.lets[begin.Var], p.Var) {
		return nil
	}
	assigned, here, goesOn := 0, false, false
	for _, statement := range k.parts.Body {
		switch statement := statement.(type) {
		case *loop.For:
			here = here || statement == s
		case *loop.Assign:
			goesOn = goesOn || here && statement.Var == p.Var && isRef(statement.Value, hi.Var)
		}
	}
	loop.WalkStmts(k.parts.Body, func(s loop.Stmt) {
		if a, ok := s.(*loop.Assign); ok && a.Var == p.Var {
			assigned++
		}
	})
	if !goesOn || assigned != 1 {
		return nil
	}
	return all
}

// sameFixed reports whether e is the number or variable that fixed has.
func sameFixed(e, fixed loop.Expr) bool {
	switch f := fixed.(type) {
	case *loop.Ref:
		return isRef(e, f.Var)
	case *loop.Const:
		c, ok := e.(*loop.Const)
		return ok && *c == *f
	}
	return false
}

// askToWrite returns what emits the fetches of an iteration, of places that are written.
func (k *kernel) askToWrite(list []fetch) func(value.Value) {
	if len(list) == 0 {
		return nil
	}
	return func(value.Value) {
		at := k.Expr(list[0].first).Re
		for n, f := range list {
			if n > 0 && f.first != list[n-1].first {
				at = k.Expr(f.first).Re
			}
			k.prefetch(f.buf, at, 1)
		}
	}
}

// prefetch asks for an element of a buffer, to write it if that is 1, to read it if 0.
func (k *kernel) prefetch(buf loop.BufID, at value.Value, write int64) {
	bytes := types.NewPointer(types.I8)
	// Not in bounds: nothing is read.
	place := k.Block.NewGetElementPtr(llvm.MemoryType(k.Bufs[buf].Elem), k.Bufs[buf].Base, at)
	fetch := k.Module.Intrinsic("llvm.prefetch.p0i8", types.Void, bytes, types.I32, types.I32, types.I32)
	k.Block.NewCall(fetch, k.Block.NewBitCast(place, bytes), llvm.IntConst(loop.I32, write), llvm.IntConst(loop.I32, 3), llvm.IntConst(loop.I32, 1))
}
