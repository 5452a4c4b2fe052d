package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
)

// open declares a fold's state at its neutral element.
func (e *emitter) open(r *ir.Reduce) fold.State {
	acc := fold.Open(e.B, r, e.opts.Grids)
	acc.Blocks = e.openBlocks(r)
	e.accs[r.Temp] = acc
	return acc
}

// step folds the value of a leaf into the state of its fold.
func (e *emitter) foldStep(st *state, leaf *ir.Assign) {
	r := leaf.Temp.Reduce
	var x, flat loop.Expr
	if !e.counting() {
		x = e.expr(st, leaf.Value)
		if fold.IsArg(r.Fold) {
			flat = e.flatIndex(st, r)
		}
	}
	e.fold(e.accs[leaf.Temp], x, flat)
	e.see(st, leaf)
}

// see notes that a fold has seen an entry, if the value of the leaf is one.
func (e *emitter) see(st *state, leaf *ir.Assign) {
	b, acc := e.B, e.accs[leaf.Temp]
	stored := e.stored(st, leaf)
	if !scalar.SameCondition(stored, scalar.Always) {
		stored = b.Or(acc.Seen, stored)
	}
	b.Assign(acc.Seen, stored)
}

// stored is the condition that the patterns of the operands make the value of a leaf stored
// or, where it is folded over stored coordinates, other than the fold over none of them.
func (e *emitter) stored(st *state, leaf *ir.Assign) loop.Expr {
	sup := e.alg.Stored(leaf.Value, leaves{e: e, st: st})
	if r := leaf.Temp.Reduce; r.In != nil && (len(r.Vars) == 0 || !r.Fold.IsNeutral(sup.Background)) {
		return scalar.Always
	}
	return e.holds(sup.Set, func(a ir.Atom) loop.Expr { return e.atoms[a].flag })
}

// fold folds the value x, at flat index flat for arg folds, into the state.
func (e *emitter) fold(acc fold.State, x, flat loop.Expr) {
	if !e.counting() {
		acc.Fold(x, flat)
		acc.CountTerm()
	}
}

// value closes a fold: its result, and whether it saw anything.
func (e *emitter) value(acc fold.State) value {
	v := value{present: e.B.Let("seen", acc.Seen)}
	if !e.counting() {
		acc.Settle()
		v.expr = acc.Finish()
	}
	r := acc.Reduce
	v.background = e.alg.Stored(r.Body, gapLeaves{e}).Background
	if v.background == nil {
		v.background = e.alg.Of(r.Body, gapLeaves{e}).Background
	}
	if r.In != nil {
		v.background = e.alg.EmptyFold(r)
	} else {
		v.background = e.alg.Repeat(r.Fold, v.background, r.Vars, r.Typ)
	}
	return v
}

// flatIndex is the row-major index over the fold's variables.
func (e *emitter) flatIndex(st *state, r *ir.Reduce) loop.Expr {
	var flat loop.Expr = loop.Int(0)
	for _, v := range r.Vars {
		flat = e.B.Add(e.B.Mul(flat, e.Scalar(e.extent(v))), st.index[v])
	}
	return flat
}
