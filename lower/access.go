package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/level"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// cursor is how far an access has been resolved.
type cursor struct {
	access *ir.Access
	level  int // storage levels resolved
	// pos is the position at level-1. After a level with repeated coordinates
	// it is the segment [pos, end) of equal ones.
	pos, end loop.Expr
	// present says whether the position exists; nil when it certainly does. If
	// exact, pos may be used to load even where present is false.
	present loop.Expr
	exact   bool
	run     *openRun // instead of end, where the loop over the segment finds it
	// keyed: pos is the key of an entry of a masked workspace.
	keyed bool
	// all, instead of pos, has the ends of the entries of all positions of the level.
	all *[2]loop.Expr
}

// done reports whether all levels are resolved.
func (c cursor) done() bool { return c.level == len(c.access.Tensor.Format.Physical()) }

// next is the type of the first unresolved level and its axis' index.
func (c cursor) next() (tensor.LevelType, ir.IndexExpr) {
	f := c.access.Tensor.Format
	return f.Physical()[c.level], c.access.Indices[f.Order()[c.level]]
}

func (c cursor) axis() int { return c.access.Tensor.Format.Order()[c.level] }

// advance resolves every level whose coordinate is known, by locating it.
func (e *emitter) advance(st *state) {
	for progress := true; progress; {
		progress = false
		for _, a := range e.ordered(st) {
			c := st.cursors[a]
			for !c.done() {
				_, x := c.next()
				coord, ok := e.coordinate(st, x)
				if !ok {
					break
				}
				c = e.locate(c, x, coord)
				progress = true
			}
			st.cursors[a] = c
		}
	}
}

// ordered lists the accesses of a state in the order of the step, since the
// order of maps is random and code must not be.
func (e *emitter) ordered(st *state) []*ir.Access {
	return e.inOrder(func(a *ir.Access) bool {
		_, ok := st.cursors[a]
		return ok
	})
}

// coordinate is the value of an index expression, if everything in it is bound.
func (e *emitter) coordinate(st *state, x ir.IndexExpr) (loop.Expr, bool) {
	if x.Gather != nil {
		c, ok := st.cursors[x.Gather]
		if !ok || !c.done() {
			return nil, false
		}
		return e.B.Let(x.Gather.Tensor.Name, e.B.Cast(loop.I64, e.load(st, x.Gather))), true
	}
	sum := loop.Expr(loop.Int(x.Const))
	if x.Literal > 0 {
		sum = e.Scalar(e.literal(x.Literal))
	}
	for _, t := range x.Terms {
		v, ok := st.index[t.Var]
		if !ok {
			return nil, false
		}
		sum = e.B.Add(e.B.Mul(v, loop.Int(t.Coef)), sum)
	}
	return e.B.Let("c", sum), true
}

// OutsideAxis ends the message of a program that meets an index, taken from a tensor, that is not on
// the axis where it is used.
const OutsideAxis = "is outside that axis"

// locate resolves the next level at a known coordinate.
func (e *emitter) locate(c cursor, x ir.IndexExpr, coord loop.Expr) cursor {
	b := e.B
	size := func() loop.Expr { return e.Scalar(e.Dim(c.access.Tensor, c.axis())) }
	if x.Gather != nil {
		// A signed index below 0 and an unsigned one above 2^63 both show as
		// a negative I64.
		b.If(b.Or(b.Lt(coord, loop.Int(0)), b.Ge(coord, size())), func() {
			b.Fail("the value of %s, used as an index into axis %d of %s, %s",
				ir.ExprString(x.Gather), c.axis(), c.access.Tensor.Name, OutsideAxis)
		}, nil)
	}
	v := level.Of(e, c.access.Tensor, c.level)
	if c.access.Tensor.Work != nil {
		begin, end := e.children(c)
		return c.at(level.Search(v, e.Func, begin, end, coord))
	}
	return c.at(v.Locate(e.Func, c.place(), coord, !x.Padded()))
}

// place is where the cursor is.
func (c cursor) place() level.Place {
	return level.Place{Pos: c.pos, End: c.end, Present: c.present, Exact: c.exact}
}

// at is the cursor with one more level resolved.
func (c cursor) at(p level.Place) cursor {
	return cursor{access: c.access, level: c.level + 1, pos: p.Pos, end: p.End, present: p.Present, exact: p.Exact}
}

// children is the range of positions of the next, sparse, level below c. It is
// empty where c is absent.
func (e *emitter) children(c cursor) (begin, end loop.Expr) {
	if c.access.Tensor.Work != nil && c.level == 0 {
		return loop.Int(0), e.entries[e.workspaceOf(c.access.Tensor)]
	}
	return level.Of(e, c.access.Tensor, c.level).Children(e.Func, c.place())
}

// load is the value of a resolved access: its element, or the fill where
// nothing is stored.
func (e *emitter) load(st *state, a *ir.Access) loop.Expr {
	if v, ok := st.values[a]; ok {
		return v
	}
	b, c := e.B, st.cursors[a]
	if !c.done() {
		panic("BUG: " + ir.ExprString(a) + " is read before its loops")
	}
	if k, ok := c.present.(*loop.Const); ok && k.Bits == 0 {
		return e.fill(a.Tensor)
	}
	var v loop.Expr
	switch {
	case c.keyed: // there is a place for each key
		v = b.Let(a.Tensor.Name, b.Select(c.present, b.Load(e.Read(e.workspaceOf(a.Tensor).Values), c.pos), e.fill(a.Tensor)))
	case c.present == nil:
		v = b.Let(a.Tensor.Name, e.element(a, c.pos))
	case c.exact:
		v = b.Let(a.Tensor.Name, b.Select(c.present, e.element(a, c.pos), e.fill(a.Tensor)))
	default:
		r := b.Var(a.Tensor.Name, e.fill(a.Tensor))
		b.If(c.present, func() { b.Assign(r, e.element(a, c.pos)) }, nil)
		v = b.Let(a.Tensor.Name, r)
	}
	st.values[a] = v
	return v
}

// element is the stored value at position p.
func (e *emitter) element(a *ir.Access, p loop.Expr) loop.Expr {
	if a.Tensor.Work != nil {
		w := e.workspaceOf(a.Tensor)
		return e.B.Load(e.Read(w.Values), w.store.Element(e.Func, p))
	}
	return e.B.Load(e.Read(e.Input(a.Tensor, 0, emit.Values)), p)
}

// fill is the value at coordinates that t does not store.
func (e *emitter) fill(t *ir.Tensor) loop.Expr {
	if t.FillKnown {
		return emit.Constant(t.Fill)
	}
	return e.B.Load(e.Read(e.Input(t, 0, emit.FillValue)), loop.Int(0))
}
