package ir

import (
	"fmt"
	"slices"

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
	outer, tail []*Index
	works       []*work
	// value is the right-hand side with workspaces in place of what they hold.
	value Expr
	// pending are the reductions that remain temporaries of the consumer.
	pending []*Reduce
}

// work is one workspace of a split.
type work struct {
	original *Reduce // nil for a sum of operands
	lhs      *Access // what the producers write: the workspace
	reads    *Access // what the consumer reads
	terms    []term
	mask     *Access
}

// term is what one producer folds into a workspace. It has variables of its own
// in place of those of the tail, since its loops stand in an order of their own.
type term struct {
	value Expr
	loops []*Index
	inner []*Reduce // its temporaries
}

// eligible lists the reductions that may be computed in a workspace: they occur
// in the value itself, accumulate in one element, and are the fold's identity
// where their operands store nothing, so that what is not in the workspace has
// a known value.
func (s *scheduler) eligible() []*Reduce {
	direct := map[*Reduce]bool{}
	Walk(s.value, func(e Expr) {
		if t, ok := e.(*TempRef); ok {
			direct[t.Temp.Reduce] = true
		}
	})
	for _, r := range s.reduces {
		for inner := range refersTo(r.Body, nil) {
			delete(direct, inner)
		}
	}
	var list []*Reduce
	for _, r := range s.reduces {
		if direct[r] && !r.Fold.Facts().Pair && r.In == nil && s.neutral(r.Fold, r.Body) {
			list = append(list, r)
		}
	}
	return list
}

// neutral reports whether e is the fold's identity where its operands store
// nothing.
func (s *scheduler) neutral(f Fold, e Expr) bool {
	v, ok := ConstValue(s.alg.Of(e, GlobalLeaves(s.alg)).Background)
	return ok && f.IsIdentity(v)
}

// splitReduces makes workspaces for the given reductions and the result's
// variables from depth on; nil if one of them reads none of those, or too many.
func (s *scheduler) splitReduces(free []*Index, depth int, reduces []*Reduce) *split {
	sp := &split{outer: free[:depth], tail: free[depth:]}
	done := map[*Temp]Expr{}
	for _, r := range reduces {
		var vars []*Index
		reads := r.FreeVars()
		for _, v := range sp.tail {
			if contains(reads, v) {
				vars = append(vars, v)
			}
		}
		if len(vars) == 0 || len(vars) > 1 && s.opts.NarrowWorkspaces {
			return nil
		}
		w, own := s.newWork(r.Fold, r.Typ, vars)
		w.original = r
		w.terms = []term{s.term(own, r.Body, r.Vars)}
		w.hold(&Reduce{Fold: r.Fold, Vars: r.Vars, Body: w.terms[0].value, Typ: r.Typ}, r.Temp.ID)
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
func (s *scheduler) newWork(f Fold, typ tensor.DType, vars []*Index) (*work, *renaming) {
	n := newRenaming(s.builder)
	var lhs []IndexExpr
	for _, v := range n.bind(vars) {
		lhs = append(lhs, plainIndex(v))
		// Producers never see each other's variables: names may be used again.
		delete(s.builder.names, v.Name)
	}
	return &work{lhs: &Access{Indices: lhs, Tensor: workTensor(f, typ, len(vars))}}, n
}

// term makes a producer's term of a workspace: the expression in the workspace's
// own variables, with loops for those and for bound.
func (s *scheduler) term(own *renaming, e Expr, bound []*Index) term {
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
	reads := FreeVars(t.value)
	for _, v := range own.to {
		if contains(reads, v) {
			t.loops = append(t.loops, v)
		}
	}
	slices.SortFunc(t.loops, func(x, y *Index) int { return x.ID - y.ID })
	t.loops = append(t.loops, bound...)
	return t
}

// hold says what the workspace holds.
func (w *work) hold(r *Reduce, id int) {
	r.Temp = &Temp{ID: id, Reduce: r}
	w.lhs.Tensor.Work, w.lhs.Tensor.Name = r, fmt.Sprintf("w%d", id)
}

// read is the workspace's element at the given variables.
func (w *work) read(vars []*Index) *Access {
	a := &Access{Tensor: w.lhs.Tensor}
	for _, v := range vars {
		a.Indices = append(a.Indices, plainIndex(v))
	}
	return a
}

func plainIndex(v *Index) IndexExpr { return IndexExpr{Terms: []Term{{Var: v, Coef: 1}}} }

// inOrder lists a set of reductions with those that others read first.
func (s *scheduler) inOrder(set map[*Reduce]bool) []*Reduce {
	var list []*Reduce
	seen := map[*Reduce]bool{}
	var add func(r *Reduce)
	add = func(r *Reduce) {
		if seen[r] {
			return
		}
		seen[r] = true
		Walk(r.Body, func(e Expr) {
			if t, ok := e.(*TempRef); ok {
				add(t.Temp.Reduce)
			}
		})
		list = append(list, r)
	}
	var roots []*Reduce
	for r := range set {
		roots = append(roots, r)
	}
	slices.SortFunc(roots, func(x, y *Reduce) int { return x.Temp.ID - y.Temp.ID })
	for _, r := range roots {
		add(r)
	}
	return list
}

// replaceTemps copies e with expressions in place of reductions' results.
func replaceTemps(e Expr, by map[*Temp]Expr) Expr {
	switch e := e.(type) {
	case *TempRef:
		if x := by[e.Temp]; x != nil {
			return x
		}
	case *Call:
		args := make([]Expr, len(e.Args))
		for i, a := range e.Args {
			args[i] = replaceTemps(a, by)
		}
		return &Call{Fn: e.Fn, Args: args, Typ: e.Typ}
	case *Select:
		return &Select{Cond: replaceTemps(e.Cond, by), Then: replaceTemps(e.Then, by), Else: replaceTemps(e.Else, by)}
	case *Cast:
		return &Cast{To: e.To, X: replaceTemps(e.X, by)}
	}
	return e
}

// maskOf finds an operand without whose entries the reduction's result does not
// matter: where it stores nothing, the right-hand side is the background. Then
// the workspace need not hold anything there.
func (s *scheduler) maskOf(r *Reduce, v *Index) *Access {
	background := s.alg.Of(s.value, GlobalLeaves(s.alg)).Background
	var found *Access
	Walk(s.value, func(e Expr) {
		a, ok := e.(*Access)
		if !ok || found != nil || !a.Tensor.FillKnown || a.Tensor.Format.IsDense() {
			return
		}
		order := a.Tensor.Format.Order()
		last := len(order) - 1
		if a.Indices[order[last]].Plain() != v || !a.Tensor.Format.Physical()[last].Walked() {
			return
		}
		for _, axis := range order[:last] {
			if contains(a.Indices[axis].Vars(nil), v) {
				return // a diagonal: its entries do not lie in one fibre
			}
		}
		without := s.alg.Stored(s.value, maskLeaves{a})
		if without.Set.IsNone() && SameConst(without.Background, background) {
			found = a
		}
	})
	return found
}

// maskLeaves describes leaves where one operand stores nothing and of everything
// else nothing is known.
type maskLeaves struct{ absent *Access }

func (m maskLeaves) Access(a *Access) Support {
	if a == m.absent {
		return Constant(GapOf(a.Tensor))
	}
	return Everywhere()
}

func (m maskLeaves) Index(*Index) Support { return Everywhere() }

func (m maskLeaves) Temp(*Temp) Behaviour { return Same(Everywhere()) }

// nest is the split's statement, with the loops of each term of each workspace in
// the order given for it.
func (sp *split) nest(lhs *Access, orders [][][]*Index) Stmt {
	return nestAround(sp.outer, nil, sp.pending, sp.value, func(bound []*Index, pending []*Reduce) Stmt {
		st := nest(sp.tail, bound, pending, &Assign{LHS: lhs, Value: sp.value})
		for i := len(sp.works) - 1; i >= 0; i-- {
			w := sp.works[i]
			ws := &Workspace{Tensor: w.lhs.Tensor, Mask: w.mask, Consumer: st}
			for j, t := range w.terms {
				ws.Producers = append(ws.Producers, nest(orders[i][j], bound, t.inner, &Assign{LHS: w.lhs, Value: t.value}))
			}
			st = ws
		}
		return st
	})
}

// trySplits tries workspaces at every depth of the result's loops: for each
// reduction alone, and for all of them in the orders that were best alone.
func (s *scheduler) trySplits(free []*Index) {
	s.tryMany(free)
	list := s.eligible()
	for depth := len(free) - 1; depth >= 0; depth-- {
		var best [][]int
		for _, r := range list {
			if sp := s.splitReduces(free, depth, []*Reduce{r}); sp != nil {
				best = append(best, s.trySplit(sp))
			}
		}
		if len(list) < 2 || len(best) < len(list) {
			continue
		}
		if sp := s.splitReduces(free, depth, list); sp != nil {
			var orders [][][]*Index
			for i, w := range sp.works {
				var order []*Index
				for _, at := range best[i] {
					order = append(order, w.terms[0].loops[at])
				}
				orders = append(orders, [][]*Index{order})
			}
			s.consider(&candidate{body: sp.nest(s.lhs, orders), order: free, split: sp})
		}
	}
}

// reads lists the accesses of a term.
func (t term) reads() []*Access {
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
	s.eachOrder(loops, w.terms[0].reads(), func(order []*Index) {
		order = slices.Clone(order)
		s.eachReduceOrder(w.original, func() float64 {
			cost := s.consider(&candidate{body: sp.nest(s.lhs, [][][]*Index{{order}}), order: slices.Concat(sp.outer, sp.tail), split: sp})
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
var chains = map[string]Fold{"+": FoldSum, "*": FoldProd, "min": FoldMin, "max": FoldMax, "or": FoldOr, "and": FoldAnd}

// tryMany puts a workspace in place of a sum of many sparse operands (Hussain,
// Abhishek, Buluç, Azad, "Parallel algorithms for adding a collection of sparse
// matrices", IPDPSW 2022), and of the other functions in chains. Terms are
// folded as written, from the left, so the values are those of a merge.
func (s *scheduler) tryMany(free []*Index) {
	first, ok := s.value.(*Call)
	if !ok || len(free) == 0 {
		return
	}
	f, ok := chains[first.Fn]
	if !ok {
		return
	}
	f = foldIn(f, first.Typ)
	var values []Expr
	e := s.value
	for {
		c, ok := e.(*Call)
		if !ok || c.Fn != first.Fn || c.Typ != first.Typ {
			break
		}
		values = append(values, c.Args[1])
		e = c.Args[0]
	}
	values = append(values, e)
	if len(values) < manyTerms {
		return
	}
	slices.Reverse(values)
	depth := len(free) - 1
	tail := free[depth:]
	w, own := s.newWork(f, first.Typ, tail)
	for _, v := range values {
		if !s.neutral(f, v) || !contains(FreeVars(v), tail[0]) {
			return
		}
		w.terms = append(w.terms, s.term(own, v, nil))
	}
	// All terms as one expression: where any of them has something.
	all := w.terms[0].value
	for _, t := range w.terms[1:] {
		all = &Call{Fn: first.Fn, Args: []Expr{all, t.value}, Typ: first.Typ}
	}
	w.hold(&Reduce{Fold: f, Body: all, Typ: first.Typ}, len(s.reduces))
	w.reads = w.read(tail)
	sp := &split{outer: free[:depth], tail: tail, works: []*work{w}, value: w.reads}
	s.setPending(sp)
	var orders [][]*Index
	for _, t := range w.terms {
		orders = append(orders, t.loops)
	}
	s.consider(&candidate{body: sp.nest(s.lhs, [][][]*Index{orders}), order: free, split: sp})
}
