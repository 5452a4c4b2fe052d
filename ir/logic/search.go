package logic

import (
	"math"
	"math/bits"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
)

// builtin are the times that costs are estimates in: those that are the same on every machine, so that every machine adds in the
// same order.
var builtin = cost.Builtin()

// node is a part of an order of computing: a factor, or the fold of a product of parts. Each inner one but the
// root is an intermediate with a tensor of its own; the parts of one run in one nest of loops.
type node struct {
	factor *factor
	kids   []*node
	first  int       // number of its first factor
	rel    *relation // what reads it sees
	raw    *relation // the join of the parts
	out    varset
	leaves int
	dense  bool // how it is stored
	// alike is what the sum of one factor is, where the term has it several times: it is made once.
	alike string
}

// search finds the order of a term.
type search struct {
	*query
	term   *term
	vars   []*lang.Index
	number map[*lang.Index]int
	free   varset
	extent []float64
	// sharing takes it that sums of single factors that are alike are made, and cost nothing more.
	sharing bool
	// separate: the fold of the term is a tensor of its own (columns.go).
	separate bool
	tried    []split // all ways to cut the factors in two, if they are to be kept
}

func (q *query) search(t *term) *search {
	s := &search{query: q, term: t, number: map[*lang.Index]int{}}
	for _, f := range t.factors {
		for _, v := range f.vars {
			if _, seen := s.number[v]; !seen {
				s.number[v] = len(s.vars)
				s.vars = append(s.vars, v)
				s.extent = append(s.extent, q.extents[v])
			}
		}
	}
	for _, v := range q.free {
		s.free.add(s.number[v])
	}
	return s
}

// leaf is the node of a factor.
func (s *search) leaf(k int) *node {
	f := s.term.factors[k]
	rel := s.relation(f.expr, f.vars)
	return &node{factor: f, first: k, rel: rel, raw: rel, out: rel.vars, leaves: 1}
}

// outOf are the variables of some parts that others need, or that are free.
func (s *search) outOf(inside varset, outside varset) varset {
	return inside.common(outside.union(s.free))
}

// made is a node that computes parts. It is the root if nothing is outside.
func (s *search) made(kids []*node, raw *relation, out varset) *node {
	n := &node{kids: kids, raw: raw, out: out, first: kids[0].first}
	allDense := true
	for _, k := range kids {
		n.first, n.leaves = min(n.first, k.first), n.leaves+k.leaves
		allDense = allDense && k.rel.order == nil && k.rel.weight == 1 && (!s.preserve || s.stored(k))
	}
	n.rel = project(raw, out)
	cells := s.cells(out)
	n.dense = cells <= cost.MostCells && (allDense || !s.preserve && (n.rel.n >= cost.Fullness*cells || rank(out) <= 1))
	if n.dense {
		n.rel = s.denseRelation(out)
		n.rel.made = true
		for v := range s.vars {
			if out.has(v) {
				n.rel.last = v
			}
		}
		return n
	}
	for v := range s.vars {
		if out.has(v) {
			n.rel.order = append(n.rel.order, v)
		}
	}
	return n
}

// allowed reports whether parts may be made an intermediate: masks alone have no value, and a number by itself has no
// state to keep.
func (s *search) allowed(n *node) bool {
	return !(s.preserve && n.out == varset{}) && slices.ContainsFunc(n.kids, func(k *node) bool { return k.factor == nil || !k.factor.mask })
}

// cells is the product of the extents of variables.
func (s *search) cells(vars varset) float64 {
	n := 1.0
	for v, x := range s.extent {
		if vars.has(v) {
			n *= max(x, 1)
		}
	}
	return n
}

func rank(vars varset) int {
	n := 0
	for _, w := range vars {
		n += bits.OnesCount64(w)
	}
	return n
}

// denseRelation stores all coordinates of some variables.
func (s *search) denseRelation(vars varset) *relation {
	r := &relation{n: s.cells(vars), vars: vars, at: make([]axis, len(s.vars)), last: -1, weight: 1}
	for v, x := range s.extent {
		if vars.has(v) && x > 0 {
			r.at[v] = axis{x, r.n / x, r.n / x * r.n}
		}
	}
	return r
}

// making is what storing a node costs for one that others read: beside its loops.
func (s *search) making(n *node) float64 {
	if n.dense {
		return cost.Statement + cost.Cell*n.rel.n + s.scattering(n)
	}
	_, block := s.whole(n.kids, n.out)
	return cost.Statement + n.rel.n*(cost.Cell+(cost.Entry-cost.Cell)/block) + s.inserting(n.kids, n.raw, n.out)
}

// scattering is what it costs that a dense node's elements are added to in memory, here and there, as in t(j) = sum_i A(i,j) with A in CSR: the loops follow a sparse part, of which
// the last variable alone is the node's.
func (s *search) scattering(n *node) float64 {
	for _, k := range n.kids {
		if last := len(k.rel.order) - 1; last > 0 && n.out.has(k.rel.order[last]) && !slices.ContainsFunc(k.rel.order[:last], n.out.has) {
			return cost.Scatter * builtin.Step * n.raw.n
		}
	}
	return 0
}

// inserting is what it costs to find the places of a sparse result, but where it is computed entry by entry.
func (s *search) inserting(kids []*node, raw *relation, out varset) float64 {
	if raw.vars == out || slices.ContainsFunc(kids, func(k *node) bool { return k.rel.order != nil && out.without(k.rel.vars) == varset{} }) {
		return 0
	}
	_, block := s.whole(kids, out)
	return (builtin.Insert - builtin.Step) * raw.n / block
}

// storing is what storing a node costs beside its loops: an intermediate, or the result.
func (s *search) storing(n *node, root bool) float64 {
	if root {
		return s.finishing(n.kids, n.raw)
	}
	return s.making(n)
}

// finishing is what storing the result costs.
func (s *search) finishing(kids []*node, raw *relation) float64 {
	if !s.sparseResult {
		return 0
	}
	return s.inserting(kids, raw, s.free)
}

// whole counts the last of some variables that dense parts alone have, but for one variable: the rest says whether there is anything, and there
// are so many elements to a block of that.
func (s *search) whole(kids []*node, out varset) (count int, block float64) {
	block = 1
	left := rank(out)
	for v := len(s.vars) - 1; v >= 0 && left > 1; v-- {
		if !out.has(v) {
			continue
		}
		for _, k := range kids {
			if k.rel.vars.has(v) && !s.stored(k) {
				return count, block
			}
		}
		count, left, block = count+1, left-1, block*max(s.extent[v], 1)
	}
	return count, block
}

// loops is what the loops of a nest over parts cost: about the sum of the sizes of the joins of the first parts, in the best order.
func (s *search) loops(kids []*node) float64 {
	if len(kids) == 1 {
		return kids[0].rel.n*merging(kids)*s.step(kids) + s.evaluating(kids, kids[0].rel.n)
	}
	best := math.Inf(1)
	for first := range kids {
		if len(kids) > cost.Exhaustive && first > 0 {
			break
		}
		rel, rest, cost := kids[first].rel, slices.Delete(slices.Clone(kids), first, first+1), 0.0
		for len(rest) > 0 && cost < best {
			next, size := 0, math.Inf(1)
			for i, k := range rest {
				if n := joinSize(rel, k.rel); n < size {
					next, size = i, n
				}
			}
			cost += rel.n / 2
			rel = join(rel, rest[next].rel)
			rest = slices.Delete(rest, next, next+1)
		}
		best = min(best, cost+rel.n*merging(kids)*s.step(kids)+s.evaluating(kids, rel.n))
	}
	return best + s.conversions(kids) + s.probing(kids)
}

// step is the cost of an iteration of an innermost loop. Of what is looked up by the last coordinate of a sparse part, such as x of A(i,j)*x(j), one element
// is in it. A sum that is a part of an expression is computed element by element, so what it sums over comes last, whatever is stored.
func (s *search) step(kids []*node) float64 {
	for _, k := range kids {
		if v := k.rel.last; v >= 0 && !slices.ContainsFunc(kids, func(o *node) bool { return o.rel.vars.has(v) && o.rel.last != v }) {
			return builtin.Vector
		}
	}
	most := 0
	for _, k := range kids {
		if k.rel.order == nil {
			continue
		}
		for at, v := range k.rel.order {
			if at < len(k.rel.order)-1 && (s.alone || s.free.has(v)) {
				continue
			}
			looked := 0
			for _, o := range kids {
				if o.rel.order == nil && o.rel.vars.has(v) {
					looked++
				}
			}
			most = max(most, looked)
		}
	}
	return builtin.Step * (1 + cost.Lookup*float64(max(most-1, 0)))
}

// conversions is what it costs to store sparse parts in other orders, where two meet in variables by which neither is
// found, and no other part connects them.
func (s *search) conversions(kids []*node) float64 {
	cost := 0.0
	for i, a := range kids {
		for _, b := range kids[:i] {
			shared := a.rel.vars.common(b.rel.vars)
			if a.rel.order == nil || b.rel.order == nil || shared == (varset{}) || leads(a.rel, shared) || leads(b.rel, shared) {
				continue
			}
			connected := slices.ContainsFunc(kids, func(c *node) bool {
				return c != a && c != b && c.rel.vars.common(a.rel.vars.without(shared)) != varset{} && c.rel.vars.common(b.rel.vars.without(shared)) != varset{}
			})
			if !connected {
				cost += min(converting(a.rel), converting(b.rel))
			}
		}
	}
	return cost
}

// leads reports whether the outermost levels of a sparse tensor are those of some variables.
func leads(r *relation, vars varset) bool {
	for _, v := range r.order[:min(rank(vars), len(r.order))] {
		if !vars.has(v) {
			return false
		}
	}
	return true
}

func converting(r *relation) float64 {
	if r.made {
		return builtin.Move * r.n
	}
	return cost.Remembered * r.n
}

// cost is that of a whole order.
func (s *search) cost(root *node) float64 {
	total, made := s.loops(root.kids)+s.finishing(root.kids, root.raw), map[string]bool{}
	for _, k := range root.kids {
		total += s.costMade(k, made)
	}
	return total
}

// costMade is the cost of making a node and what it reads, but for what is made already.
func (s *search) costMade(n *node, made map[string]bool) float64 {
	if n.factor != nil || made[n.alike] {
		return 0
	}
	if n.alike != "" {
		made[n.alike] = true
	}
	total := s.loops(n.kids) + s.making(n)
	for _, k := range n.kids {
		total += s.costMade(k, made)
	}
	return total
}

// together is a root that computes everything in one nest.
func (s *search) together() *node {
	var kids []*node
	var raw *relation
	for k := range s.term.factors {
		n := s.leaf(k)
		if kids = append(kids, n); raw == nil {
			raw = n.rel
		} else {
			raw = join(raw, n.rel)
		}
	}
	return s.made(kids, raw, s.free)
}

// best is the best order that was found, with its cost, and the cost of one nest for everything.
func (s *search) best() (root *node, least, flat float64) {
	together := s.together()
	flat = s.cost(together)
	if len(s.term.factors) <= cost.Exhaustive {
		root = s.shared(s.fused(s.exhaustive(), true))
	} else {
		root = s.fused(s.greedy(), true)
	}
	root = s.spread(root)
	if least = s.cost(root); !(least < flat) {
		return together, flat, flat
	}
	return root, least, flat
}

// fused puts intermediates back into the loops that read them, as long as that makes an order cheaper.
func (s *search) fused(n *node, root bool) *node {
	for i, k := range n.kids {
		if k.factor == nil {
			n.kids[i] = s.fused(k, false)
		}
	}
	for i := 0; i < len(n.kids); i++ {
		k := n.kids[i]
		if k.factor != nil || s.sharing && k.alike != "" {
			continue
		}
		kids := slices.Concat(n.kids[:i], n.kids[i+1:], k.kids)
		raw := kids[0].rel
		for _, x := range kids[1:] {
			raw = join(raw, x.rel)
		}
		one := s.made(kids, raw, n.out)
		if s.loops(kids)+s.storing(one, root) < s.loops(n.kids)+s.storing(n, root)+s.loops(k.kids)+s.making(k) {
			n, i = one, -1
		}
	}
	return n
}
