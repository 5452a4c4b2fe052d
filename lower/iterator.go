package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/level"
)

// iterator walks the entries of one sparse level that lie in a loop's range.
type iterator struct {
	cursor     // of the parent position
	atom       ir.Atom
	crd        loop.BufID
	begin, end loop.Expr
	// An entry's coordinate is stride*index + offset, offset nil standing for 0.
	// With a stride over 1 there are entries in between that belong to no index.
	stride  int64
	offset  loop.Expr
	unique  bool
	trimmed bool      // begin and end leave out entries outside the range of the index
	at      *loop.Ref // current position, in a merge
	next    *loop.Ref // end of the current segment, if not unique
	keyed   bool      // of a masked workspace that is looked up by its keys
	long    loop.Expr // whether it has many more entries than the loop has steps; nil if it is not looked at
}

// index is the loop index of the entry at position p.
func (it *iterator) index(b *loop.Builder, p loop.Expr) loop.Expr {
	return b.Div(it.distance(b, p), loop.Int(it.stride))
}

// distance is stride*index of the entry at position p, never negative.
func (it *iterator) distance(b *loop.Builder, p loop.Expr) loop.Expr {
	c := b.LoadIndex(it.crd, p)
	if it.offset != nil {
		return b.Sub(c, it.offset)
	}
	return c
}

// coordinate is that of entries with loop index i.
func (it *iterator) coordinate(b *loop.Builder, i loop.Expr) loop.Expr {
	c := b.Mul(i, loop.Int(it.stride))
	if it.offset != nil {
		return b.Add(c, it.offset)
	}
	return c
}

// matches reports whether the entry at position p has a loop index.
func (it *iterator) matches(b *loop.Builder, p loop.Expr) loop.Expr {
	return b.Eq(b.Rem(it.distance(b, p), loop.Int(it.stride)), loop.Int(0))
}

// child is the cursor of the entry at position p (segment [p, end)).
func (it *iterator) child(p, end, present loop.Expr) cursor {
	return cursor{access: it.access, level: it.level + 1, pos: p, end: end, present: present}
}

// iterators finds the accesses that can walk a sparse level along v: their next
// level's coordinate is a positive multiple of v plus something bound, and their
// parent is resolved.
func (e *emitter) iterators(st *state, v *ir.Index, body ir.Stmt) []*iterator {
	var its []*iterator
	used := ir.AccessesOf(body)
	for _, a := range e.ordered(st) {
		c := st.cursors[a]
		if !used[a] || c.done() {
			continue
		}
		kind, x := c.next()
		if !level.Of(e, a.Tensor, c.level).Walks() || x.Gather != nil {
			continue
		}
		stride, offset, ok := e.affine(st, x, v)
		if !ok {
			continue
		}
		it := &iterator{cursor: c, stride: stride, offset: offset, unique: kind.Unique,
			crd: e.Read(e.Input(a.Tensor, c.level, emit.Coordinates))}
		switch {
		case c.run != nil:
			it.begin = c.pos
		case c.all != nil:
			it.begin, it.end = c.all[0], c.all[1]
		default:
			it.begin, it.end = e.children(c)
		}
		if x.Plain() == nil {
			// Entries outside the range of v are skipped.
			it.trimmed = true
			first := it.coordinate(e.B, loop.Int(0))
			if c, known := first.(*loop.Const); !known || int64(c.Bits) > 0 {
				it.begin = level.LowerBound(e.B, it.crd, it.begin, it.end, first)
			}
			last := it.coordinate(e.B, e.B.Sub(e.Scalar(e.extent(v)), loop.Int(1)))
			it.end = level.LowerBound(e.B, it.crd, it.begin, it.end, e.B.Let("stop", e.B.Add(last, loop.Int(1))))
		}
		e.atoms = append(e.atoms, atom{name: a.Tensor.Name, iter: it})
		it.atom = ir.Atom(len(e.atoms) - 1)
		its = append(its, it)
	}
	return its
}

// affine splits x into stride*v + offset, when that is its form with a positive
// stride and an offset that is bound. A nil offset is 0.
func (e *emitter) affine(st *state, x ir.IndexExpr, v *ir.Index) (stride int64, offset loop.Expr, ok bool) {
	rest := ir.IndexExpr{Const: x.Const, Literal: x.Literal}
	for _, t := range x.Terms {
		if t.Var == v {
			stride = t.Coef // each variable occurs once
			continue
		}
		rest.Terms = append(rest.Terms, t)
	}
	if stride <= 0 {
		return 0, nil, false
	}
	if len(rest.Terms) == 0 && rest.Const == 0 && rest.Literal == 0 {
		return stride, nil, true
	}
	offset, ok = e.coordinate(st, rest)
	return stride, offset, ok
}
