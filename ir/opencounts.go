package ir

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// OpenCounts returns the reductions of a step that count coordinates which no
// operand needs to store: closed forms make them cheap over any extents, so their
// result may be as large as the product of the extents, and not fit an i64. What
// the others count is in memory.
func (c *Compute) OpenCounts(alg Algebra) []*Reduce {
	var list []*Reduce
	var visit func(Expr)
	visit = func(e Expr) {
		Walk(e, func(e Expr) {
			t, ok := e.(*TempRef)
			if !ok || slices.Contains(list, t.Temp.Reduce) {
				return
			}
			r := t.Temp.Reduce
			if r.counts() {
				v, known := ConstValue(alg.Of(r.Body, countLeaves{alg, r.Vars}).Background)
				if !known || v.Bool() {
					list = append(list, r)
				}
			}
			visit(r.Body)
		})
	}
	visit(c.Value)
	return list
}

// counts reports whether a reduction is a sum of truth values as integers, or of ones
// and zeros.
func (r *Reduce) counts() bool {
	if r.Fold != FoldSum || r.Typ != tensor.Int64 || r.In != nil {
		return false
	}
	switch e := r.Body.(type) {
	case *Cast:
		return TypeOf(e.X) == tensor.Bool
	case *Literal:
		return e.Value == tensor.One(tensor.Int64)
	case *Select:
		return zeroOrOne(e.Then) && zeroOrOne(e.Else)
	}
	return false
}

// zeroOrOne reports whether an expression is the integer 0 or 1.
func zeroOrOne(e Expr) bool {
	v, ok := ConstValue(e)
	return ok && (v == tensor.Zero(tensor.Int64) || v == tensor.One(tensor.Int64))
}

// countLeaves describes operands where nothing is stored, as far as that bounds a
// count over vars: an operand that lacks one of them has each of its entries
// counted as often as that runs, and a dense one stores everything.
type countLeaves struct {
	alg  Algebra
	vars []*Index
}

func (l countLeaves) Access(a *Access) Support {
	has := a.Vars(nil)
	for _, v := range l.vars {
		if !slices.Contains(has, v) {
			return Everywhere()
		}
	}
	return GlobalLeaves(l.alg).Access(a)
}

func (l countLeaves) Index(*Index) Support { return Everywhere() }

func (l countLeaves) Temp(t *Temp) Behaviour { return l.alg.TempBehaviour(t, l) }
