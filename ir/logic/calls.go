package logic

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
)

// The rule of this file: functions such as sigmoid take some dozens of operations, which processors do for four elements at once where a loop does nothing else. So
// their arguments are made before, where these are reductions, as in y(i) = sigmoid(sum_j A(i,j)*x(j)), and their values, where loops over entries
// multiply with them, as in g(j) = sum_i A(i,j)*(sigmoid(t(i)) - y(i)).

// slow reports whether a call takes that long.
func slow(e *lang.Call) bool {
	f := lang.Functions[e.Fn]
	return f != nil && (f.Typing == lang.Floating || f.Typing == lang.RealFloating) && !slices.Contains([]string{"sqrt", "heaviside", "copysign"}, e.Fn)
}

// calls counts the calls of such functions in an expression, but for those inside of reductions.
func calls(e lang.Expr) (count float64) {
	lang.Walk(e, func(x lang.Expr) bool {
		if c, ok := x.(*lang.Call); ok && slow(c) {
			count++
		}
		_, fold := x.(*lang.Reduce)
		return !fold
	})
	return count
}

// callsFold reports whether such a function has a reduction in its argument.
func callsFold(e lang.Expr) bool {
	found := false
	lang.Walk(e, func(x lang.Expr) bool {
		if c, ok := x.(*lang.Call); ok && slow(c) {
			found = found || slices.ContainsFunc(c.Args, func(a lang.Expr) bool { return len(reductions(a)) > 0 })
		}
		return !found
	})
	return found
}

// evaluating is what it costs to evaluate parts that are expressions in n iterations over several: once for each of their elements, where the loops over these stand
// outside, or else in all.
func (s *search) evaluating(kids []*node, n float64) (total float64) {
	for _, k := range kids {
		if k.rel.order != nil || k.rel.weight == 1 && k.rel.calls == 0 {
			continue
		}
		times, call := n, cost.Call
		if len(kids) == 1 {
			call = cost.VectorCall
		}
		for _, o := range kids {
			if o.rel.order != nil && o.rel.vars.union(k.rel.vars) == o.rel.vars && leads(o.rel, k.rel.vars) {
				times = min(times, k.rel.n)
			}
		}
		total += times * (builtin.Step*(k.rel.weight-1) + call*k.rel.calls)
	}
	return total
}

// merging is how much more than a step an iteration over several parts takes that merges sparse ones.
func merging(kids []*node) float64 {
	weight := 1.0
	for _, k := range kids {
		if k.rel.order != nil {
			weight = max(weight, k.rel.weight)
		}
	}
	return weight
}
