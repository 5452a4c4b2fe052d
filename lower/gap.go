package lower

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// gapLeaves describes leaves where no operand stores anything: what a fold
// that saw nothing is made of. Constants only: an element at a constant
// coordinate is there or not whatever the fold saw.
type gapLeaves struct{ e *emitter }

func (g gapLeaves) Access(a *ir.Access) ir.Support {
	fill := fillOf(a.Tensor)
	pad := slices.ContainsFunc(a.Indices, func(x ir.IndexExpr) bool { return x.Padded() })
	if fill == nil || a.Tensor.Format.IsDense() && !pad || len(a.Vars(nil)) == 0 {
		return ir.Everywhere()
	}
	return ir.Constant(fill)
}

func (g gapLeaves) Index(*ir.Index) ir.Support { return ir.Everywhere() }

func (g gapLeaves) Temp(t *ir.Temp) ir.Behaviour { return g.e.alg.TempBehaviour(t, g) }

// gap is what a loop leaves out of a fold: copies of one value.
type gap struct {
	reduce *ir.Reduce
	v      *ir.Index
	value  ir.Expr
	inner  []*ir.Index // the fold's variables bound further inside
	first  bool        // the smallest coordinate left out matters
	at     *loop.Ref   // receives it, when first
	// stored says where the left-out value is more than the fold's background,
	// because operands outside the loop store something: it then counts as seen.
	stored ir.SetExpr
}

// gapOf is the gap of f's loop over set, nil if there is nothing to fold.
func (e *emitter) gapOf(f *ir.Forall, l leaves, set ir.SetExpr) *gap {
	leaf := ir.FirstLeaf(f.Body)
	if leaf.Temp == nil || leaf.Temp.Reduce.In != nil || set.IsAll() {
		return nil
	}
	r := leaf.Temp.Reduce
	value := e.support(leaf, l).Background
	if r.Fold.IsNeutral(value) {
		return nil
	}
	g := &gap{reduce: r, v: f.Index, value: value, first: fold.IsArg(r.Fold),
		stored: e.alg.Stored(leaf.Value, outside{l}).Set}
	for _, v := range r.Vars {
		if v != f.Index && l.st.index[v] == nil {
			g.inner = append(g.inner, v)
		}
	}
	return g
}

// outside describes leaves in a gap of a loop: what the loop walks, or what is
// bound further inside, is absent; what is resolved already is there.
type outside struct{ leaves }

func (o outside) Access(a *ir.Access) ir.Support {
	if o.st.cursors[a].done() {
		return o.here().Access(a)
	}
	if fill := fillOf(a.Tensor); fill != nil {
		return ir.Constant(fill)
	}
	return ir.Support{Set: ir.None()}
}

func (o outside) Temp(t *ir.Temp) ir.Behaviour {
	if _, ok := o.st.temps[t]; ok {
		return o.here().Temp(t)
	}
	return o.e.alg.TempBehaviour(t, o)
}

// foldGap folds the coordinates that a loop left out: visited of them were not.
func (e *emitter) foldGap(st *state, g *gap, visited loop.Expr) {
	b, acc := e.B, e.accs[g.reduce.Temp]
	counts := []loop.Expr{b.Let("missing", b.Sub(e.Scalar(e.extent(g.v)), visited))}
	some := b.Gt(counts[0], loop.Int(0))
	for _, v := range g.inner {
		n := e.Scalar(e.extent(v))
		counts = append(counts, n)
		some = b.And(some, b.Gt(n, loop.Int(0)))
	}
	b.If(some, func() {
		// A gap is no entry, so that patterns follow from the operands' patterns,
		// unless something outside the loop is stored there.
		stored := e.holds(g.stored, func(a ir.Atom) loop.Expr { return e.atoms[a].flag })
		b.Assign(acc.Seen, b.Or(acc.Seen, stored))
		if e.counting() {
			return
		}
		x := b.Let("gap", e.expr(st, g.value))
		switch r := g.reduce; {
		case fold.IsArg(r.Fold):
			at := st.clone()
			at.index[g.v] = loop.Expr(loop.Int(0))
			if g.at != nil {
				// No gap seen between visited coordinates: it starts after them.
				at.index[g.v] = b.Let("first", b.Select(b.Lt(g.at, loop.Int(0)), visited, g.at))
			}
			for _, v := range g.inner {
				at.index[v] = loop.Int(0)
			}
			acc.FoldArg(x, e.flatIndex(at, r))
		default:
			acc.FoldCopies(x, counts)
		}
	}, nil)
}

// gapFirst reports whether the fold needs to know the first coordinate left out.
func (w *walk) gapFirst() bool {
	leaf := ir.FirstLeaf(w.f.Body)
	return leaf.Temp != nil && fold.IsArg(leaf.Temp.Reduce.Fold)
}
