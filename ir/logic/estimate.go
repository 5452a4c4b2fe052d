package logic

import (
	"math"
	"math/bits"

	"github.com/lacuna-sparse/lacuna/internal/cost"
)

// varset is a set of variables of a query, by number.
type varset [cost.MostVars / 64]uint64

func (s varset) has(v int) bool { return s[v/64]>>(v%64)&1 != 0 }

func (s *varset) add(v int) { s[v/64] |= 1 << (v % 64) }

func (s varset) union(t varset) varset {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

func (s varset) common(t varset) varset {
	for i := range s {
		s[i] &= t[i]
	}
	return s
}

func (s varset) without(t varset) varset {
	for i := range s {
		s[i] &^= t[i]
	}
	return s
}

// relation estimates what a tensor, or a join of tensors, stores: n entries over variables. It is to a tensor what a
// relation is to a database, and a product of tensors is a join.
type relation struct {
	n    float64
	vars varset
	at   []axis // by variable
	// order are the variables of a sparse tensor as its levels store them; nil for dense ones, which are
	// looked up.
	order []int
	last  int // the variable of consecutive elements of a dense tensor, -1 if there is none
	// weight is how much more than a step an entry costs.
	weight float64
	made   bool // an intermediate
}

// axis describes one variable of a relation: how many coordinates occur, the most entries that one has, and the sum of the
// squares of the numbers of entries.
type axis struct{ distinct, longest, squares float64 }

// skew is how much larger the join of the relation with itself along a variable is than if all coordinates had
// equally many entries.
func (r *relation) skew(v int) float64 {
	if r.n <= 0 {
		return 1
	}
	return max(1, r.at[v].squares*r.at[v].distinct/(r.n*r.n))
}

// joinSize estimates the number of entries of a join: between that of independent relations (Selinger et al., 1979) and the bound
// by degrees, of which it is the geometric mean, but no more than any bound.
func joinSize(r, s *relation) float64 {
	n := r.n * s.n
	most, skew := n, 1.0
	for i, word := range r.vars.common(s.vars) {
		for ; word != 0; word &= word - 1 {
			v := 64*i + bits.TrailingZeros64(word)
			a, b := &r.at[v], &s.at[v]
			d := max(a.distinct, b.distinct, 1)
			independent := r.n * s.n / d
			n /= d
			byDegrees := math.Sqrt(a.squares * b.squares)
			most = min(most, byDegrees, r.n*b.longest, s.n*a.longest)
			if independent > 0 {
				skew = max(skew, byDegrees/independent)
			}
		}
	}
	return min(most, n*math.Sqrt(skew))
}

// join estimates the join of two relations, with all their variables.
func join(r, s *relation) *relation {
	t := &relation{n: joinSize(r, s), vars: r.vars.union(s.vars), at: make([]axis, len(r.at)), last: -1, weight: 1}
	shared := r.vars.common(s.vars)
	grow := func(of, by *relation) float64 { // how many entries one of the other has at most
		most := by.n
		for v := range of.at {
			if shared.has(v) {
				most = min(most, by.at[v].longest)
			}
		}
		return most
	}
	rows, cols := grow(r, s), grow(s, r)
	for v := range t.at {
		a, skew := axis{}, 1.0
		switch inR, inS := r.vars.has(v), s.vars.has(v); {
		case inR && inS:
			a = axis{min(r.at[v].distinct, s.at[v].distinct), r.at[v].longest * s.at[v].longest, 0}
			skew = max(r.skew(v), s.skew(v))
		case inR:
			a, skew = axis{r.at[v].distinct, r.at[v].longest * rows, 0}, r.skew(v)
		case inS:
			a, skew = axis{s.at[v].distinct, s.at[v].longest * cols, 0}, s.skew(v)
		default:
			continue
		}
		a.distinct = min(a.distinct, t.n)
		t.at[v] = clipped(a, t.n, skew)
	}
	return t
}

// clipped is an axis whose numbers fit n entries, with the sum of squares that follows from a skew.
func clipped(a axis, n, skew float64) axis {
	if a.distinct <= 0 || n <= 0 {
		return axis{}
	}
	a.longest = min(max(a.longest, n/a.distinct), n)
	a.squares = min(skew*n*n/a.distinct, n*a.longest)
	return a
}

// project estimates how many combinations of some variables a relation has, as if its entries were thrown at random.
func project(r *relation, onto varset) *relation {
	t := &relation{vars: r.vars.common(onto), at: make([]axis, len(r.at)), last: -1, weight: 1, made: true}
	cells := 1.0
	for v := range r.at {
		if t.vars.has(v) {
			cells *= max(r.at[v].distinct, 1)
		}
	}
	switch {
	case r.n <= 0:
	case t.vars == r.vars:
		t.n = r.n
	case cells > 1e6*r.n:
		t.n = r.n
	default:
		t.n = -cells * math.Expm1(-r.n/cells)
	}
	for v := range r.at {
		if t.vars.has(v) {
			d := min(r.at[v].distinct, t.n)
			t.at[v] = clipped(axis{d, min(r.at[v].longest, cells/max(d, 1)), 0}, t.n, math.Sqrt(r.skew(v)))
		}
	}
	return t
}
