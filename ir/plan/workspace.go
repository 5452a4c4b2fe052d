package plan

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file puts workspaces into nests (Kjolstad et al., "Tensor Algebra
// Compilation with Workspaces", CGO 2019). A sparse result is appended to, so
// its loops must stand in its storage order with every reduction inside them;
// for a product of two sparse matrices that means an inner product for each pair
// of a row and a column. With a workspace for the innermost variables of the
// result, the reduction's loops may stand outside them: entries arise in any
// order, are gathered in the workspace, and are read from it in order. A sum of
// many sparse operands needs no merge of them all either: each is added to a
// workspace in turn.

// split is a way to put workspaces into a statement, for the result's variables
// in tail.
type split struct {
	outer, tail []*ir.Index
	works       []*work
	// value is the right-hand side with workspaces in place of what they hold.
	value ir.Expr
	// pending are the reductions that remain temporaries of the consumer.
	pending []*ir.Reduce
}

// work is one workspace of a split.
type work struct {
	original *ir.Reduce // nil for a sum of operands
	lhs      *ir.Access // what the producers write: the workspace
	reads    *ir.Access // what the consumer reads
	terms    []term
	mask     *ir.Access
}

// term is what one producer folds into a workspace. It has variables of its own
// in place of those of the tail, since its loops stand in an order of their own.
type term struct {
	value ir.Expr
	loops []*ir.Index
	inner []*ir.Reduce // its temporaries
}

// eligible lists the reductions that may be computed in a workspace: they occur
// in the value itself, accumulate in one element, and are the fold's identity
// where their operands store nothing, so that what is not in the workspace has
// a known value.
func (s *scheduler) eligible() []*ir.Reduce {
	direct := map[*ir.Reduce]bool{}
	ir.Walk(s.value, func(e ir.Expr) {
		if t, ok := e.(*ir.TempRef); ok {
			direct[t.Temp.Reduce] = true
		}
	})
	for _, r := range s.reduces {
		for inner := range refersTo(r.Body, nil) {
			delete(direct, inner)
		}
	}
	var list []*ir.Reduce
	for _, r := range s.reduces {
		if direct[r] && !r.Fold.Facts().Pair && r.In == nil && s.neutral(r.Fold, r.Body) {
			list = append(list, r)
		}
	}
	return list
}

// neutral reports whether e is the fold's identity where its operands store
// nothing.
func (s *scheduler) neutral(f ir.Fold, e ir.Expr) bool {
	return f.IsNeutral(s.alg.Of(e, ir.GlobalLeaves(s.alg)).Background)
}

// splitReduces makes workspaces for the given reductions and the result's
// variables from depth on; nil if one of them reads none of those, or too many.
func (s *scheduler) splitReduces(free []*ir.Index, depth int, reduces []*ir.Reduce) *split {
	sp := &split{outer: free[:depth], tail: free[depth:]}
	done := map[*ir.Temp]ir.Expr{}
	for _, r := range reduces {
		var vars []*ir.Index
		reads := r.FreeVars()
		for _, v := range sp.tail {
			if slices.Contains(reads, v) {
				vars = append(vars, v)
			}
		}
		if len(vars) == 0 || len(vars) > 1 && s.opts.NarrowWorkspaces {
			return nil
		}
		w, own := s.newWork(r.Fold, r.Typ, vars)
		w.original = r
		w.terms = []term{s.term(own, r.Body, r.Vars)}
		w.holdAll(&ir.Reduce{Fold: r.Fold, Vars: r.Vars, Body: w.terms[0].value, Typ: r.Typ}, r.Temp.ID, s.alg)
		if len(sp.tail) == 1 {
			w.mask = s.maskOf(r, sp.tail[0])
		}
		sp.works = append(sp.works, w)
		w.reads = w.read(vars)
		done[r.Temp] = w.reads
	}
	sp.value = replaceTemps(s.value, done)
	s.setPending(sp)
	return sp
}

func (s *scheduler) setPending(sp *split) {
	needed := refersTo(sp.value, nil)
	for _, r := range s.reduces {
		if needed[r] {
			sp.pending = append(sp.pending, r)
		}
	}
}

// newWork makes a workspace for vars, and the renaming to the variables of its
// producers.
func (s *scheduler) newWork(f ir.Fold, typ tensor.DType, vars []*ir.Index) (*work, *renaming) {
	n := newRenaming(s.builder)
	var lhs []ir.IndexExpr
	for _, v := range n.bind(vars) {
		lhs = append(lhs, plainIndex(v))
		// Producers never see each other's variables: names may be used again.
		delete(s.builder.names, v.Name)
	}
	return &work{lhs: &ir.Access{Indices: lhs, Tensor: workTensor(f, typ, len(vars))}}, n
}

// term makes a producer's term of a workspace: the expression in the workspace's
// own variables, with loops for those and for bound.
func (s *scheduler) term(own *renaming, e ir.Expr, bound []*ir.Index) term {
	// The copies of reductions further inside belong to this term alone.
	before := len(s.builder.reduces)
	t := term{value: own.expr(e)}
	s.builder.reduces = s.builder.reduces[:before:before]
	t.inner = s.inOrder(refersTo(t.value, nil))
	for _, r := range t.inner {
		if r.Order == nil {
			r.Order = r.Vars
		}
	}
	reads := ir.FreeVars(t.value)
	for _, v := range own.to {
		if slices.Contains(reads, v) {
			t.loops = append(t.loops, v)
		}
	}
	slices.SortFunc(t.loops, func(x, y *ir.Index) int { return x.ID - y.ID })
	t.loops = append(t.loops, bound...)
	return t
}

// hold says what the workspace holds.
func (w *work) hold(r *ir.Reduce, id int) {
	r.Temp = &ir.Temp{ID: id, Reduce: r}
	w.lhs.Tensor.Work, w.lhs.Tensor.Name = r, fmt.Sprintf("w%d", id)
}

// holdAll is hold where the consumer reads every element. One that nothing is added to is stored all the same if the
// operands are stored where they have no entries, as lines of a scan are that nothing was computed for.
func (w *work) holdAll(r *ir.Reduce, id int, alg ir.Algebra) {
	background, known := alg.Stored(r.Body, ir.GlobalLeaves(alg)).Background.(*ir.Literal)
	w.hold(r, id)
	w.lhs.Tensor.Whole = known && background.Stored
}

// read is the workspace's element at the given variables.
func (w *work) read(vars []*ir.Index) *ir.Access {
	a := &ir.Access{Tensor: w.lhs.Tensor}
	for _, v := range vars {
		a.Indices = append(a.Indices, plainIndex(v))
	}
	return a
}

func plainIndex(v *ir.Index) ir.IndexExpr { return ir.IndexExpr{Terms: []ir.Term{{Var: v, Coef: 1}}} }

// inOrder lists a set of reductions with those that others read first.
func (s *scheduler) inOrder(set map[*ir.Reduce]bool) []*ir.Reduce {
	var list []*ir.Reduce
	seen := map[*ir.Reduce]bool{}
	var add func(r *ir.Reduce)
	add = func(r *ir.Reduce) {
		if seen[r] {
			return
		}
		seen[r] = true
		ir.Walk(r.Body, func(e ir.Expr) {
			if t, ok := e.(*ir.TempRef); ok {
				add(t.Temp.Reduce)
			}
		})
		list = append(list, r)
	}
	var roots []*ir.Reduce
	for r := range set {
		roots = append(roots, r)
	}
	slices.SortFunc(roots, func(x, y *ir.Reduce) int { return x.Temp.ID - y.Temp.ID })
	for _, r := range roots {
		add(r)
	}
	return list
}

// replaceTemps copies e with expressions in place of reductions' results.
func replaceTemps(e ir.Expr, by map[*ir.Temp]ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.TempRef:
		if x := by[e.Temp]; x != nil {
			return x
		}
	case *ir.Call:
		args := make([]ir.Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = replaceTemps(a, by)
		}
		return &ir.Call{Fn: e.Fn, Args: args, Typ: e.Typ}
	case *ir.Select:
		return &ir.Select{Cond: replaceTemps(e.Cond, by), Then: replaceTemps(e.Then, by), Else: replaceTemps(e.Else, by)}
	case *ir.Cast:
		return &ir.Cast{To: e.To, X: replaceTemps(e.X, by)}
	}
	return e
}

// maskOf finds an operand without whose entries the reduction's result does not
// matter: where it stores nothing, the right-hand side is the background. Then
// the workspace need not hold anything there.
func (s *scheduler) maskOf(r *ir.Reduce, v *ir.Index) *ir.Access {
	background := s.alg.Of(s.value, ir.GlobalLeaves(s.alg)).Background
	var found *ir.Access
	ir.Walk(s.value, func(e ir.Expr) {
		a, ok := e.(*ir.Access)
		if !ok || found != nil || !a.Tensor.FillKnown || a.Tensor.Format.IsDense() {
			return
		}
		order := a.Tensor.Format.Order()
		last := len(order) - 1
		if a.Indices[order[last]].Plain() != v || !a.Tensor.Format.Physical()[last].Walked() {
			return
		}
		for _, axis := range order[:last] {
			if slices.Contains(a.Indices[axis].Vars(nil), v) {
				return // a diagonal: its entries do not lie in one fibre
			}
		}
		without := s.alg.Stored(s.value, maskLeaves{a})
		if without.Set.IsNone() && ir.SameConst(without.Background, background) {
			found = a
		}
	})
	return found
}

// maskLeaves describes leaves where one operand stores nothing and of everything
// else nothing is known.
type maskLeaves struct{ absent *ir.Access }

func (m maskLeaves) Access(a *ir.Access) ir.Support {
	if a == m.absent {
		return ir.Constant(ir.GapOf(a.Tensor))
	}
	return ir.Everywhere()
}

func (m maskLeaves) Index(*ir.Index) ir.Support { return ir.Everywhere() }

func (m maskLeaves) Temp(*ir.Temp) ir.Behaviour { return ir.Same(ir.Everywhere()) }

// nest is the split's statement, with the loops of each term of each workspace in
// the order given for it.
func (sp *split) nest(lhs *ir.Access, orders [][][]*ir.Index) ir.Stmt {
	return nestAround(sp.outer, nil, sp.pending, sp.value, func(bound []*ir.Index, pending []*ir.Reduce) ir.Stmt {
		st := nest(sp.tail, bound, pending, &ir.Assign{LHS: lhs, Value: sp.value})
		for i := len(sp.works) - 1; i >= 0; i-- {
			w := sp.works[i]
			ws := &ir.Workspace{Tensor: w.lhs.Tensor, Mask: w.mask, Consumer: st}
			for j, t := range w.terms {
				ws.Producers = append(ws.Producers, nest(orders[i][j], bound, t.inner, &ir.Assign{LHS: w.lhs, Value: t.value}))
			}
			st = ws
		}
		return st
	})
}

// trySplits tries workspaces at every depth of the result's loops: for each
// reduction alone, and for all of them in the orders that were best alone.
func (s *scheduler) trySplits(free []*ir.Index) {
	s.tryMany(free)
	list := s.eligible()
	for depth := len(free) - 1; depth >= 0; depth-- {
		var best [][]int
		for _, r := range list {
			if sp := s.splitReduces(free, depth, []*ir.Reduce{r}); sp != nil {
				best = append(best, s.trySplit(sp))
			}
		}
		if len(list) < 2 || len(best) < len(list) {
			continue
		}
		if sp := s.splitReduces(free, depth, list); sp != nil {
			var orders [][][]*ir.Index
			for i, w := range sp.works {
				var order []*ir.Index
				for _, at := range best[i] {
					order = append(order, w.terms[0].loops[at])
				}
				orders = append(orders, [][]*ir.Index{order})
			}
			s.consider(&candidate{body: sp.nest(s.lhs, orders), order: free, split: sp})
		}
	}
}

// reads lists the accesses of a term.
func (t term) reads() []*ir.Access {
	list := readsIn(t.value)
	for _, r := range t.inner {
		list = append(list, readsIn(r.Body)...)
	}
	return list
}

// trySplit tries the loop orders of a split's only term. It returns the cheapest,
// as places in the term's list of loops.
func (s *scheduler) trySplit(sp *split) []int {
	w := sp.works[0]
	loops := w.terms[0].loops
	var best []int
	cheapest := 0.0
	s.tried = 0
	s.eachOrder(loops, w.terms[0].reads(), func(order []*ir.Index) {
		order = slices.Clone(order)
		s.eachReduceOrder(w.original, func() float64 {
			cost := s.consider(&candidate{body: sp.nest(s.lhs, [][][]*ir.Index{{order}}), order: slices.Concat(sp.outer, sp.tail), split: sp})
			if best == nil || cost < cheapest {
				best, cheapest = nil, cost
				for _, v := range order {
					best = append(best, slices.Index(loops, v))
				}
			}
			return cost
		})
	})
	return best
}

// manyTerms is the number of operands of a sum from which adding one after the
// other to a workspace beats merging them all.
const manyTerms = 4

// chains are the functions whose repeated use is a fold.
var chains = map[string]ir.Fold{"+": ir.FoldSum, "*": ir.FoldProd, "min": ir.FoldMin, "max": ir.FoldMax, "or": ir.FoldOr, "and": ir.FoldAnd}

// tryMany puts a workspace in place of a sum of many sparse operands (Hussain,
// Abhishek, Buluç, Azad, "Parallel algorithms for adding a collection of sparse
// matrices", IPDPSW 2022), and of the other functions in chains. Terms are
// folded as written, from the left, so the values are those of a merge.
func (s *scheduler) tryMany(free []*ir.Index) {
	f, values := chainOf(s.value)
	if len(free) == 0 || len(values) < manyTerms {
		return
	}
	first := s.value.(*ir.Call)
	f = foldIn(f, first.Typ)
	depth := len(free) - 1
	tail := free[depth:]
	w, own := s.newWork(f, first.Typ, tail)
	for _, v := range values {
		if !s.neutral(f, v) || !slices.Contains(ir.FreeVars(v), tail[0]) {
			return
		}
		w.terms = append(w.terms, s.term(own, v, nil))
	}
	// All terms as one expression: where any of them has something.
	all := w.terms[0].value
	for _, t := range w.terms[1:] {
		all = &ir.Call{Fn: first.Fn, Args: []ir.Expr{all, t.value}, Typ: first.Typ}
	}
	w.holdAll(&ir.Reduce{Fold: f, Body: all, Typ: first.Typ}, len(s.reduces), s.alg)
	w.reads = w.read(tail)
	sp := &split{outer: free[:depth], tail: tail, works: []*work{w}, value: w.reads}
	s.setPending(sp)
	var orders [][]*ir.Index
	for _, t := range w.terms {
		orders = append(orders, t.loops)
	}
	s.consider(&candidate{body: sp.nest(s.lhs, [][][]*ir.Index{orders}), order: free, split: sp})
}
