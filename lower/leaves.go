package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// atom is what an ir.Atom stands for in a function: the entries of an iterator,
// or a presence decided before the loop.
type atom struct {
	name string
	iter *iterator
	flag loop.Expr
}

// leaves tells the algebra how leaves behave along the loop of v at a place in
// the code; v nil asks about the leaf itself, with all loops open.
type leaves struct {
	e     *emitter
	st    *state
	v     *ir.Index
	iters map[*ir.Access]*iterator
	// settled takes what is resolved outside the loop as a value, present or not.
	settled bool
}

// here are the leaves at the same place with all loops open.
func (l leaves) here() leaves { return leaves{e: l.e, st: l.st} }

// fillOf is the value at coordinates that t does not store, nil if that is known
// only when the kernel runs.
func fillOf(t *ir.Tensor) ir.Expr {
	if !t.FillKnown {
		return nil
	}
	return ir.GapOf(t)
}

func (l leaves) Access(a *ir.Access) ir.Support {
	if work := ir.WorkOf(a.Tensor); work != nil && l.e.entries[l.e.workspaceOf(a.Tensor)] == nil {
		// Along a loop outside the workspace, it is what its producer makes it.
		return l.e.alg.TempBehaviour(work.Temp, l).State
	}
	c := l.st.cursors[a]
	background := fillOf(a.Tensor)
	if l.v == nil && c.present == nil && len(a.Vars(nil)) > 0 {
		// At the leaf itself: this element is there.
		if a.Tensor.Format.IsDense() {
			background = nil
		}
		return ir.Support{Set: ir.All(), Background: background}
	}
	if k, ok := c.present.(*loop.Const); ok && k.Bits == 0 && background != nil {
		return ir.Constant(background)
	}
	if it := l.iters[a]; it != nil && background != nil {
		return ir.Support{Set: ir.AtomOf(it.atom), Background: background}
	}
	depends := l.v != nil && ir.DependsOn(a, l.v)
	switch {
	case l.settled && c.done() && !depends:
		return ir.Constant(a)
	case c.present != nil && background != nil:
		return ir.Support{Set: ir.AtomOf(l.e.flagAtom(a.Tensor.Name, c.present)), Background: background}
	case c.done():
		return ir.Constant(a)
	case depends:
		return ir.Everywhere()
	}
	return ir.Support{Set: ir.None()}
}

// Condition is a condition on indices, at the leaf, where all of them are bound.
func (l leaves) Condition(cond ir.Expr) (on, off ir.Atom, ok bool) {
	if l.v != nil {
		return 0, 0, false
	}
	b := l.e.B
	holds := b.Let("on", l.e.expr(l.st, cond))
	return l.e.flagAtom("if", holds), l.e.flagAtom("else", b.Let("off", b.Not(holds))), true
}

func (l leaves) Index(v *ir.Index) ir.Support {
	switch {
	case v == l.v, l.v == nil:
		return ir.Everywhere()
	case l.st.index[v] == nil:
		return ir.Support{Set: ir.None()}
	}
	return ir.Constant(&ir.IndexValue{Var: v})
}

func (l leaves) Temp(t *ir.Temp) ir.Behaviour {
	v, ok := l.st.temps[t]
	switch {
	case !ok:
		return l.e.alg.TempBehaviour(t, l)
	case l.v == nil && v.present == nil:
		return ir.Same(ir.Support{Set: ir.All(), Background: v.background})
	case v.present == nil || v.background == nil || l.settled:
		return ir.Same(ir.Constant(&ir.TempRef{Temp: t}))
	}
	return ir.Same(ir.Support{Set: ir.AtomOf(l.e.flagAtom("t", v.present)), Background: v.background})
}

// flagAtom is the atom of a presence known before the loop; equal presences
// share one.
func (e *emitter) flagAtom(name string, flag loop.Expr) ir.Atom {
	for i, a := range e.atoms {
		if a.iter == nil && emit.SameRef(a.flag, flag) {
			return ir.Atom(i)
		}
	}
	e.atoms = append(e.atoms, atom{name: name + "?", flag: flag})
	return ir.Atom(len(e.atoms) - 1)
}

// need is the set of coordinates along l's loop where st has an effect that is
// not accounted for otherwise: by what the result was filled with, by the fill
// of a sparse result, or by folding the gap in closed form.
func (e *emitter) need(s ir.Stmt, l leaves) ir.SetExpr {
	var sets []ir.SetExpr
	for _, leaf := range ir.Effects(s) {
		sets = append(sets, e.needOf(leaf, l))
	}
	return ir.Union(sets...)
}

// support is where along a loop the value of a leaf matters or, where somebody asks what
// is stored, where it is stored.
func (e *emitter) support(leaf *ir.Assign, l ir.Leaves) ir.Support {
	stored := !e.step.Result.Format.IsDense()
	switch {
	case leaf.Temp != nil:
		stored = e.asked[leaf.Temp]
	case leaf.LHS.Tensor.Work != nil:
		stored = true
	}
	if stored {
		return e.alg.Stored(leaf.Value, l)
	}
	return e.alg.Of(leaf.Value, l)
}

// needOf is the part of need that one assignment is the reason for.
func (e *emitter) needOf(leaf *ir.Assign, l leaves) ir.SetExpr {
	sup := e.support(leaf, l)
	if leaf.Temp != nil {
		r := leaf.Temp.Reduce
		if r.In != nil {
			stored := ir.StoredSet(l.Access(r.In))
			if len(r.Vars) == 0 {
				return stored
			}
			return ir.Intersect(stored, e.effective(sup, r.Fold))
		}
		if sup.Background == nil {
			return ir.All()
		}
		return sup.Set
	}
	if work := ir.WorkOf(leaf.LHS.Tensor); work != nil {
		return e.effective(sup, work.Fold)
	}
	if e.step.Scatter {
		if v, ok := ir.ConstValue(sup.Background); ok && e.step.Gap != nil && v == e.step.Gap.Value {
			return sup.Set // the rest is counted
		}
		return e.effective(sup, e.step.Fold)
	}
	if sup.Background == nil || !e.leftAlone(sup.Background) {
		return ir.All()
	}
	return sup.Set
}

// effective is where folding the expression changes anything, when its
// background is the fold's identity; everywhere otherwise.
func (e *emitter) effective(s ir.Support, f ir.Fold) ir.SetExpr {
	if f.IsNeutral(s.Background) {
		return s.Set
	}
	return ir.All()
}

// leftAlone reports whether elements that are not visited already have the
// value background.
func (k *kernel) leftAlone(background ir.Expr) bool {
	t := k.step.Result
	if k.step.Base != nil {
		return false // they have the values of the tensor that is assigned part of
	}
	if t.Format.IsDense() && k.step.Covers {
		return ir.Equal(background, k.step.Background)
	}
	if !t.FillKnown {
		return ir.Equal(background, k.step.Background)
	}
	v, ok := ir.ConstValue(background)
	return ok && sameValue(v.Convert(t.DType), t.Fill)
}

// sameValue compares bits, except that zeros of both signs are one fill.
func sameValue(v, w tensor.Scalar) bool {
	return v == w || v.IsZero() && w.IsZero()
}

// holds is f as a condition, given the condition of each atom (nil: certain).
func (e *emitter) holds(f ir.SetExpr, in func(ir.Atom) loop.Expr) loop.Expr {
	switch {
	case f.IsAll():
		return loop.Truth(true)
	case f.IsNone():
		return loop.Truth(false)
	}
	if a, ok := f.IsAtom(); ok {
		if c := in(a); c != nil {
			return c
		}
		return loop.Truth(true)
	}
	var cond loop.Expr
	either := 0
	for _, g := range f.Args() {
		c := e.holds(g, in)
		for _, one := range e.either {
			if emit.SameRef(c, one) {
				either++
			}
		}
		if f.IsUnion() && either == len(e.either) && either > 0 {
			return loop.Truth(true)
		}
		switch {
		case cond == nil:
			cond = c
		case f.IsUnion():
			cond = e.B.Or(cond, c)
		default:
			cond = e.B.And(cond, c)
		}
	}
	return cond
}
