package logic

import (
	"math"
	"math/bits"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
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
	calls  float64 // of functions that take long, for each element of an expression
	made   bool    // an intermediate
	bands  []band
	of     *lang.Tensor // that stores just this, nil if none is known
}

// equals reports whether two relations are the same tensor with the same variables: their join is that, too.
func (r *relation) equals(s *relation) bool {
	return r.of != nil && r.of == s.of && r.order != nil && slices.Equal(r.order, s.order)
}

// band says that two variables differ by little: the entries of a relation lie within a band of such a width (tensor.Statistics.Band).
type band struct {
	u, v  int // u < v
	width float64
}

// width is that of the band that two variables are in, 0 if they are in none.
func (r *relation) width(u, v int) float64 {
	for _, b := range r.bands {
		if b.u == u && b.v == v {
			return b.width
		}
	}
	return 0
}

// within puts two variables in a band, unless they are in a narrower one.
func (r *relation) within(u, v int, width float64) {
	if u > v {
		u, v = v, u
	}
	for i, b := range r.bands {
		if b.u == u && b.v == v {
			r.bands[i].width = min(b.width, width)
			return
		}
	}
	r.bands = append(r.bands, band{u, v, width})
}

// mostBands bounds those of one relation.
const mostBands = 16

// joinBands are the bands of a join: those of its parts, and what follows for variables that are in bands with a third one. Squares of distances
// add up.
func (t *relation) joinBands(r, s *relation) {
	for _, b := range r.bands {
		t.within(b.u, b.v, b.width)
	}
	for _, b := range s.bands {
		t.within(b.u, b.v, b.width)
	}
	for _, a := range r.bands {
		for _, b := range s.bands {
			for _, x := range [][3]int{{a.u, a.v, b.u}, {a.u, a.v, b.v}, {a.v, a.u, b.u}, {a.v, a.u, b.v}} {
				other := b.u + b.v - x[2]
				if x[1] == x[2] && x[0] != other && len(t.bands) < mostBands {
					t.within(x[0], other, math.Hypot(a.width, b.width))
				}
			}
		}
	}
}

// banded is which part of the combinations of coordinates of some variables is within the bands: a variable that is in one with an earlier one has no more coordinates than the band
// is wide, for each of that.
func (t *relation) banded(has varset) float64 {
	share := 1.0
	if t.bands == nil {
		return share
	}
	for v := range t.at {
		if !has.has(v) {
			continue
		}
		least := max(t.at[v].distinct, 1)
		all := least
		for _, b := range t.bands {
			if b.v == v && has.has(b.u) {
				least = min(least, max(b.width, 1))
			}
		}
		share *= least / all
	}
	return share
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
	if r.equals(s) {
		return r.n
	}
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
	for _, b := range r.bands { // both have their entries near the diagonal
		if w := s.width(b.u, b.v); w > 0 {
			d := max(r.at[b.v].distinct, s.at[b.v].distinct, 1)
			n *= max(1, d/max(b.width, w, 1))
		}
	}
	return min(most, n*math.Sqrt(skew))
}

// join estimates the join of two relations, with all their variables.
func join(r, s *relation) *relation {
	if r.equals(s) {
		return r
	}
	t := &relation{n: joinSize(r, s), vars: r.vars.union(s.vars), at: make([]axis, len(r.at)), last: -1, weight: 1}
	if r.bands != nil || s.bands != nil {
		t.joinBands(r, s)
	}
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
	for _, b := range r.bands {
		if t.vars.has(b.u) && t.vars.has(b.v) {
			t.bands = append(t.bands, b)
		}
	}
	cells *= r.banded(t.vars)
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
