package logic

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// The rule of this file: what a sparse operand multiplies is needed where that stores something. H(i,f) = m(i)*max(sum_j A(i,j)*sum_k X(j,k)*W(k,f), 0) reads the
// rows of A*X that m has, so that the sums inside are products with a mask stored(m(i)) as one more factor, by which intermediates can be restricted.

// under notes that what is visited next is multiplied with some expressions; done takes that back. On grids it is not used: to find out which rows
// are read takes longer there than to make them all.
func (s *statement) under(around ...lang.Expr) (done func()) {
	old := s.masks
	if s.Grids {
		return func() {}
	}
	for _, e := range around {
		for _, x := range factors(e, "*") {
			if a, ok := x.(*lang.Access); ok {
				s.masks = append(slices.Clip(s.masks), s.maskOf(a)...)
			}
		}
	}
	return func() { s.masks = old }
}

// siblings are the accesses that a node multiplies.
func (s *search) siblings(n *node) (list []lang.Expr) {
	for _, k := range n.kids {
		if k.factor != nil {
			list = append(list, k.factor.expr)
		}
	}
	return list
}

// maskOf is the mask that an access of a sparse operand is for what it multiplies, if it is one.
func (s *statement) maskOf(a *lang.Access) []*factor {
	vars, plain := plainIndices(a)
	of := a.Tensor
	if of.StoredOf != nil {
		of = of.StoredOf
	}
	if f := s.facts[of]; !plain || len(vars) == 0 || !of.Operand || of.Result || f.dense || !gapIs(f.fill, 0) {
		return nil
	}
	if a.Tensor == of {
		t := *of
		t.Name, t.StoredOf, t.DType, t.Fill = "stored("+of.Name+")", of, tensor.Bool, tensor.Zero(tensor.Bool)
		s.facts[&t] = s.operand(&t)
		a = &lang.Access{Pos: a.Pos, Tensor: &t, Indices: a.Indices}
	}
	return []*factor{{expr: a, vars: vars, around: true}}
}

// restrict adds the masks around a query to its terms.
func (q *query) restrict() {
	for _, m := range q.masks {
		if slices.ContainsFunc(m.vars, func(v *lang.Index) bool { return !slices.Contains(q.free, v) }) {
			continue
		}
		for _, t := range q.terms {
			if len(t.factors) < cost.Exhaustive {
				t.factors = append(t.factors, m)
			}
		}
	}
}

// masked reports whether a term has a mask: what where(stored(M), e, 0) stores is not what a product does.
func (q *query) masked() bool {
	return slices.ContainsFunc(q.terms, func(t *term) bool {
		return slices.ContainsFunc(t.factors, func(f *factor) bool { return f.mask })
	})
}
