package logic

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
)

// The rule of this file: a reduction that is a part of an expression, such as each of G(i,r) = sum_j A(i,j)*V(j,r) - sum_k U(i,k)*T(k,r), has its loops inside those over the
// result. The innermost then adds up elements that lie apart. Made by itself, the loop over r is innermost, over elements that lie side by side.

// apart reports whether the fold of a term becomes a tensor of its own for that, or as a function is called of it. alone says that the term is all that is assigned.
func (s *search) apart(root *node, t *term, called, alone bool) bool {
	if s.preserve || !root.dense || alone && len(t.coefs) == 0 && t.times == 1 || !s.allowed(root) {
		return false
	}
	if root.raw.vars == root.out {
		return false
	}
	if called && !s.Grids && root.rel.n*(cost.Call-cost.VectorCall) > s.making(root) {
		return true
	}
	v := root.rel.last
	if v < 0 || s.step(root.kids) != builtin.Vector {
		return false
	}
	if !slices.ContainsFunc(root.kids, func(k *node) bool { return k.rel.last == v && rank(k.rel.vars) > 1 }) {
		return false
	}
	return root.raw.n*(builtin.Step-builtin.Vector) > s.making(root)
}

// separate notes the terms of a plan for e whose folds become tensors of their own, and reports whether there are any. Nothing outside e may tell that some
// elements of it are not needed.
func (s *statement) separate(p *plan, e lang.Expr, called, alone bool) bool {
	inside := lang.Accesses(e)
	for _, a := range lang.Accesses(s.stmt.RHS) {
		if f := s.facts[a.Tensor]; !slices.Contains(inside, a) && len(a.Indices) > 0 && !(f.known && f.dense) {
			return false
		}
	}
	any := false
	for i, root := range p.roots {
		p.finds[i].separate = p.finds[i].apart(root, p.query.terms[i], called, alone)
		any = any || p.finds[i].separate
	}
	return any
}

// columned reports whether an expression has a reduction as a part that reads a dense tensor along a column for each element of the result.
func columned(e lang.Expr) bool {
	found := false
	lang.Walk(e, func(x lang.Expr) bool {
		r, ok := x.(*lang.Reduce)
		if !ok || x == e || lawOf(r) == nil {
			return !found
		}
		for _, a := range lang.Accesses(r.Body) {
			if n := len(a.Indices); n > 1 && a.Tensor.Format.Rank() == n && a.Tensor.Format.IsDense() { // an intermediate has none yet
				v := a.Indices[a.Tensor.Format.Order()[n-1]].Plain()
				found = found || v != nil && v.Free
			}
		}
		return !found
	})
	return found
}
