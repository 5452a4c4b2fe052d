package cpu

import (
	"github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir/value"
)

// The rows of a dense operand that a sparse one names lie anywhere:
//
//	for i = lo to hi {
//	  for p = i64(pos[i]) to i64(pos[i + 1]) {
//	    let j: i64 = i64(crd[p])
//	    for eight = 0 to n { … y[j*stride + eight*8] … y[j*stride + eight*8 + 7] … }
//
// A processor foresees where one row goes on, not where the next one is, and has room for the
// work of two or three entries while it waits. So each iteration of such a loop, which takes a line of memory of row j or half of one,
// asks for the same part of the row that the entry some places ahead names, whichever row of the sparse operand that
// entry is in. A sum over rows of 64 took half the time where they come from the third cache.

// entriesAhead is how many entries ahead rows are asked for.
const entriesAhead = 8

// lineBytes is the size of a line of memory, of which an iteration is to take half at least: a loop whose
// iterations take less is one that LLVM vectorises, which it would not do any more.
const lineBytes = 64

// fetch is what an iteration of a loop asks for: an element of a buffer, first in the first iteration and step behind that in each next one.
type fetch struct {
	buf   loop.BufID
	first loop.Expr
	step  int64
}

// fetches finds what the iterations of a loop should ask for.
func (k *kernel) fetches(s *loop.For) []fetch {
	if len(k.around) < 2 || s.Independent || holdsLoop(s.Body) {
		return nil
	}
	entries, rows := k.around[len(k.around)-1], k.around[len(k.around)-2]
	last := k.lastEntry(entries, rows)
	if last == nil {
		return nil
	}
	ahead := loop.NewBinary(loop.Min, loop.NewBinary(loop.Add, &loop.Ref{Var: entries.Var, Typ: loop.I64}, loop.Int(entriesAhead)), last)
	inside := map[loop.VarID]bool{s.Var: true} // what is there in an iteration only
	loop.WalkStmts(s.Body, func(s loop.Stmt) {
		if l, ok := s.(*loop.Let); ok {
			inside[l.Var] = true
		}
	})
	var list []fetch
	seen := map[loop.BufID]bool{}
	for l := range loop.Loads(s.Body) {
		if seen[l.Buf] {
			continue
		}
		step, ok := k.stepOf(l.Index, s.Var, inside)
		if bytes := step * int64(l.Elem.Size()); !ok || bytes < lineBytes/2 || bytes > lineBytes {
			continue
		}
		if first, named := k.moved(l.Index, s.Var, entries.Var, ahead, inside); named && !loop.Reads(first, inside) {
			seen[l.Buf] = true
			list = append(list, fetch{l.Buf, first, step})
		}
	}
	return list
}

// lastEntry is the last entry of all rows that a loop around one over the entries of a row goes through; nil if they are no such loops.
func (k *kernel) lastEntry(entries, rows *loop.For) loop.Expr {
	hi, ok := entries.Hi.(*loop.Ref)
	if !ok {
		return nil
	}
	end, ok := k.lets[hi.Var].(*loop.Cast)
	if !ok {
		return nil
	}
	pos, ok := end.X.(*loop.Load)
	if !ok {
		return nil
	}
	next, ok := pos.Index.(*loop.Binary)
	if !ok || next.Op != loop.Add {
		return nil
	}
	row, ok1 := next.X.(*loop.Ref)
	one, ok2 := next.Y.(*loop.Const)
	bound, ok3 := rows.Hi.(*loop.Ref)
	if !ok1 || !ok2 || !ok3 || row.Var != rows.Var || one.Bits != 1 || k.IsMutable(bound.Var) {
		return nil
	}
	all := &loop.Cast{Typ: loop.I64, X: &loop.Load{Buf: pos.Buf, Elem: pos.Elem, Index: bound}}
	return loop.NewBinary(loop.Sub, all, loop.Int(1))
}

// stepOf is what a step of v adds to an index, if that is always the same. inside are v and the variables of the loop's body.
func (k *kernel) stepOf(e loop.Expr, v loop.VarID, inside map[loop.VarID]bool) (step int64, ok bool) {
	switch e := e.(type) {
	case *loop.Const:
		return 0, true
	case *loop.Ref:
		if value, isLet := k.lets[e.Var]; isLet {
			return k.stepOf(value, v, inside)
		}
		if e.Var == v {
			return 1, true
		}
		return 0, !inside[e.Var]
	case *loop.Binary:
		x, ok1 := k.stepOf(e.X, v, inside)
		y, ok2 := k.stepOf(e.Y, v, inside)
		times, isConst := e.Y.(*loop.Const)
		switch {
		case !ok1 || !ok2:
			return 0, false
		case e.Op == loop.Add:
			return x + y, true
		case x == 0 && y == 0:
			return 0, true
		case e.Op == loop.Mul && isConst:
			return x * int64(times.Bits), true
		}
		return 0, false
	case *loop.Cast:
		step, ok = k.stepOf(e.X, v, inside)
		return 0, ok && step == 0
	}
	return 0, !loop.Reads(e, inside)
}

// moved is an index with 0 for v, and for the coordinate of entry p that of the entry at place ahead; named tells whether it has one in it. Constants
// inside the loop's body are not there before it: they are written out.
func (k *kernel) moved(e loop.Expr, v, p loop.VarID, ahead loop.Expr, inside map[loop.VarID]bool) (at loop.Expr, named bool) {
	switch e := e.(type) {
	case *loop.Ref:
		if e.Var == v {
			return loop.Int(0), false
		}
		value, isLet := k.lets[e.Var]
		if !isLet {
			return e, false
		}
		if crd := coordinateAt(value, p); crd != nil {
			return &loop.Cast{Typ: loop.I64, X: &loop.Load{Buf: crd.Buf, Elem: crd.Elem, Index: ahead}}, true
		}
		if x, named := k.moved(value, v, p, ahead, inside); named || inside[e.Var] {
			return x, named
		}
		return e, false
	case *loop.Binary:
		x, inX := k.moved(e.X, v, p, ahead, inside)
		y, inY := k.moved(e.Y, v, p, ahead, inside)
		return loop.NewBinary(e.Op, x, y), inX || inY
	}
	return e, false
}

// coordinateAt is the load of e, if e is an integer that is read at place p.
func coordinateAt(e loop.Expr, p loop.VarID) *loop.Load {
	c, ok := e.(*loop.Cast)
	if !ok || c.Typ != loop.I64 {
		return nil
	}
	l, ok := c.X.(*loop.Load)
	if !ok {
		return nil
	}
	if at, ok := l.Index.(*loop.Ref); !ok || at.Var != p {
		return nil
	}
	return l
}

// ask emits the first elements of fetches, and returns what emits those of an iteration.
func (k *kernel) ask(list []fetch) func(i value.Value) {
	if len(list) == 0 {
		return nil
	}
	firsts := make([]value.Value, len(list))
	for n, f := range list {
		firsts[n] = k.Expr(f.first).Re
	}
	return func(i value.Value) {
		for n, f := range list {
			k.prefetch(f.buf, k.Block.NewAdd(firsts[n], k.Block.NewMul(i, llvm.IntConst(loop.I64, f.step))), 0)
		}
	}
}
