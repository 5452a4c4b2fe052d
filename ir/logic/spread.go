package logic

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
)

// The rule of this file: a sparse vector whose entries the loops over a larger sparse operand would have to look up one by one, such as x of
// y(i) = A(i,j)*x(j) with A in CSR, is spread over a dense one first where that takes less.

// probing is what it costs to look entries of sparse vectors up, beside the iterations that find one. The loops go through all entries of an operand by the last
// coordinate of which the vector is read, and processors guess wrong whether it has one there; or, where it has few, these are looked for in each fibre.
// On grids neighbouring threads come to different places meanwhile, whatever the coordinate's place, as operands are stored again there so that it is the last.
func (s *search) probing(kids []*node) float64 {
	total := 0.0
	for _, x := range kids {
		if !sparseVector(x.rel) {
			continue
		}
		most, probe := 0.0, cost.Probe
		if x.rel.n*cost.Guessable < s.extent[x.rel.order[0]] {
			probe = cost.GuessedProbe
		}
		for _, a := range kids {
			switch {
			case !s.lookedUp(x.rel, a.rel):
			case s.Grids:
				most = max(most, a.rel.n*cost.GridProbe)
			default:
				fibres := max(a.rel.at[a.rel.order[0]].distinct, 1)
				most = max(most, min(a.rel.n*probe, fibres*x.rel.n*builtin.Seek))
			}
		}
		total += most
	}
	return total
}

// sparseVector reports whether a part stores some coordinates of one variable.
func sparseVector(r *relation) bool { return len(r.order) == 1 }

// lookedUp reports whether a vector is read at the last coordinate of a sparse part, and at no other; on grids at any.
func (s *search) lookedUp(x, a *relation) bool {
	return len(a.order) > 1 && (a.order[len(a.order)-1] == x.order[0] || s.Grids && slices.Contains(a.order, x.order[0]))
}

// spreads reports whether a part is a sparse vector that the loops over others would look up.
func (s *search) spreads(k *node, kids []*node) bool {
	_, plain := k.factor.expr.(*lang.Access)
	return plain && !k.factor.mask && !s.preserve && sparseVector(k.rel) && slices.ContainsFunc(kids, func(a *node) bool { return s.lookedUp(k.rel, a.rel) })
}

// spread puts dense copies of sparse vectors into an order, where they make it cheaper.
func (s *search) spread(n *node) *node {
	for i, k := range n.kids {
		if k.factor == nil {
			n.kids[i] = s.spread(k)
			continue
		}
		if !s.spreads(k, n.kids) {
			continue
		}
		dense := s.made([]*node{k}, k.rel, k.rel.vars)
		kids := slices.Clone(n.kids)
		kids[i] = dense
		if dense.dense && s.loops(kids)+s.making(dense) < s.loops(n.kids) {
			n.kids = kids
		}
	}
	return n
}

// probes reports whether a product has a sparse vector that loops would look up, on grids or not.
func probes(accesses []*lang.Access, grids bool) bool {
	for _, x := range accesses {
		if len(x.Indices) != 1 || x.Tensor.Format.IsDense() || x.Indices[0].Plain() == nil {
			continue
		}
		for _, a := range accesses {
			f := a.Tensor.Format
			if len(a.Indices) < 2 || f.IsDense() || !a.Tensor.HasFormat {
				continue
			}
			for level, axis := range f.Order() {
				if a.Indices[axis].Plain() == x.Indices[0].Plain() && (grids || level == len(a.Indices)-1) {
					return true
				}
			}
		}
	}
	return false
}
