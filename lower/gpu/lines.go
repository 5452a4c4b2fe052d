package gpu

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// lineNest is the body of a loop over rows in which independent loops over columns,
// however deep, change one line of a buffer: for a row i and columns k,
//
//	C[i*K + k] = C[i*K + k] + A[p] * B[j*K + k]
//
// within a loop over the entries p of the row. As the element that is stored depends
// on the row and the column only, a thread that takes a column can go through the
// loops between with the element in a register.
type lineNest struct {
	f     *loop.Func
	row   *loop.For
	buf   loop.BufID
	width loop.VarID // the parameter that tells how many columns there are
	first *loop.For  // the first of the loops over columns
	lines map[*loop.For]bool
	lets  lets
	start int // the statement of the row in which the first of them is
	// split says that iterations of that statement, a loop, may be done apart and
	// what they add up combined by op.
	split bool
	op    loop.BinaryOp
	// sum, when not nil, says that elements are variables until they are stored; then there
	// are no first and no lines, and no loads from the buffer.
	sum *lineFold
}

// folded is the loop over what adds to a line, which may be split if t.split says so.
func (t *lineNest) folded() *loop.For {
	if t.sum != nil {
		return t.sum.over
	}
	return t.row.Body[t.start].(*loop.For)
}

// elem is the type of what a line's elements are while they are added to.
func (t *lineNest) elem() loop.Type {
	if t.sum != nil {
		return t.sum.fold.typ
	}
	return t.f.Bufs[t.buf].Elem
}

// lineNestOf finds out whether a function is such a nest.
func lineNestOf(f *loop.Func) (*lineNest, bool) {
	row, ok := loopOverChunk(f)
	if !ok {
		return nil, false
	}
	t := &lineNest{f: f, row: row, lines: map[*loop.For]bool{}, start: -1, lets: lets(loop.LetsOf(f.Body))}
	for i, s := range row.Body {
		if !t.collect([]loop.Stmt{s}) {
			return nil, false
		}
		if len(t.lines) > 0 && t.start < 0 {
			t.start = i
		}
	}
	if t.start < 0 {
		return nil, false
	}
	known := parameters(f)
	known[row.Var] = true
	declare(known, f.Body)
	declare(known, row.Body[:t.start])
	if !t.oneElement(known) {
		return nil, false
	}
	t.findSplit()
	return t, true
}

// collect notes the loops over columns; it reports whether there is nothing else that
// threads cannot do each for itself.
func (t *lineNest) collect(body []loop.Stmt) bool {
	for _, s := range body {
		ok := kindOf(s)&(isDeclaration|isAssign) != 0
		switch s := s.(type) {
		case *loop.For:
			ok = t.line(s) || t.collect(s.Body)
		case *loop.If:
			ok = t.collect(s.Then) && t.collect(s.Else)
		case *loop.While: // a search, which all do
			ok = !has(s.Body, isStore|isLoop|isWhile|isOther)
		}
		if !ok {
			return false
		}
	}
	return true
}

// line takes a loop over columns: from 0 to a parameter, with one store at its end.
func (t *lineNest) line(s *loop.For) bool {
	last := len(s.Body) - 1
	if !s.Independent || !overDimension(t.f, s) || last < 0 || !only(s.Body[:last], isValue) || !only(s.Body[last:], isStore) {
		return false
	}
	buf, width := store(s).Buf, s.Hi.(*loop.Ref).Var
	if t.first == nil {
		t.first, t.buf, t.width = s, buf, width
	}
	if t.buf != buf || t.width != width {
		return false
	}
	t.lines[s] = true
	return true
}

// store is the store at the end of a loop over columns.
func store(s *loop.For) *loop.Store { return s.Body[len(s.Body)-1].(*loop.Store) }

// oneElement reports whether all accesses to the buffer are to the element of the row
// and the column, which is a matter of known variables.
func (t *lineNest) oneElement(known map[loop.VarID]bool) bool {
	want, ok := t.key(t.first, store(t.first).Index, known)
	inside := 0
	for s := range t.lines {
		indices := []loop.Expr{store(s).Index}
		for _, e := range loadsOf(s.Body, t.buf) {
			indices = append(indices, e.Index)
			inside++
		}
		for _, e := range indices {
			got, is := t.key(s, e, known)
			ok = ok && is && got == want
		}
	}
	// Reads elsewhere are of elements that other threads may store.
	return ok && inside > 0 && inside == len(loadsOf(t.f.Body, t.buf))
}

// key writes an index in a loop over columns such that equal ones read the same. It
// fails where other variables than the known ones occur.
func (t *lineNest) key(s *loop.For, e loop.Expr, known map[loop.VarID]bool) (string, bool) {
	switch e := e.(type) {
	case *loop.Const:
		return fmt.Sprintf("%s:%d", e.Typ, e.Bits), e.Typ.IsInt()
	case *loop.Ref:
		if e.Var == s.Var {
			return "column", true
		}
		if known[e.Var] {
			return fmt.Sprintf("v%d", e.Var), true
		}
		if v := t.lets[e.Var]; v != nil {
			return t.key(s, v, known)
		}
	case *loop.Cast:
		x, ok := t.key(s, e.X, known)
		return fmt.Sprintf("%s(%s)", e.Typ, x), ok
	case *loop.Binary:
		x, okX := t.key(s, e.X, known)
		y, okY := t.key(s, e.Y, known)
		return fmt.Sprintf("(%s %s %s)", x, e.Op, y), okX && okY
	}
	return "", false
}

// findSplit finds out whether the iterations of the outermost loop in the row may be
// done apart.
func (t *lineNest) findSplit() {
	outer, ok := t.row.Body[t.start].(*loop.For)
	if !ok || t.lines[outer] {
		return
	}
	for _, s := range t.row.Body[t.start+1:] {
		if _, ok := s.(*loop.Comment); !ok {
			return
		}
	}
	for s := range t.lines {
		e, ok := store(s).Value.(*loop.Binary)
		if !ok || !folds(e.Op, e.Typ) || t.op != loop.InvalidBinary && t.op != e.Op || len(loadsOf(s.Body, t.buf)) != 1 {
			return
		}
		if !loads(e.X, t.buf) && !loads(e.Y, t.buf) {
			return
		}
		t.op = e.Op
	}
	t.split = keepsVariables(outer.Body)
}

// loads reports whether e is plainly an element of a buffer.
func loads(e loop.Expr, buf loop.BufID) bool {
	l, ok := e.(*loop.Load)
	return ok && l.Buf == buf
}
