package logic

import (
	"math"
	"math/bits"
	"slices"
)

// The rule of this file: the factors of a product are joined in the order of least cost, and an index is summed as soon as all
// factors with it are joined (variable elimination). Up to ten factors are searched exhaustively, by dynamic programming over
// subsets (as opt_einsum's dp, and as databases order joins: Selinger et al., 1979); more are joined greedily, the cheapest
// pair first.

// exhaustive searches all binary orders.
func (s *search) exhaustive() *node {
	n := len(s.term.factors)
	all := 1<<n - 1
	leaves, masks := make([]*node, n), 0
	vars := make([]varset, all+1)
	for k := range leaves {
		leaves[k] = s.leaf(k)
		if leaves[k].factor.mask {
			masks |= 1 << k
		}
	}
	for set := 1; set <= all; set++ {
		low := bits.TrailingZeros(uint(set))
		vars[set] = vars[set&(set-1)].union(leaves[low].rel.vars)
	}
	names, twins := make([]string, n), map[string]int{}
	for k := range names {
		if names[k] = s.alike(k); names[k] != "" {
			twins[names[k]]++
		}
	}
	made, costs := make([]*node, all+1), make([]float64, all+1)
	for set := 1; set <= all; set++ {
		out := s.outOf(vars[set], vars[all&^set])
		if set&(set-1) == 0 {
			leaf := leaves[bits.TrailingZeros(uint(set))]
			costs[set] = math.Inf(1)
			if masks&set == 0 && out != leaf.out || leaf.rel.calls > 0 && leaf.rel.order == nil && !s.preserve && !s.Grids ||
				s.spreads(leaf, leaves) { // sums of a factor by itself, the values of a function, or a dense copy
				n := s.made([]*node{leaf}, leaf.rel, out)
				n.alike = names[leaf.first]
				if s.keep(made, costs, set, n, set == all); s.sharing && twins[n.alike] > 1 && made[set] != nil {
					costs[set] = 0
				}
			}
			continue
		}
		costs[set] = math.Inf(1)
		var best [2]*node
		least := math.Inf(1)
		for a := (set - 1) & set; a > set^a; a = (a - 1) & set {
			b := set ^ a
			if vars[a].common(vars[b]) == (varset{}) && least < math.Inf(1) {
				continue // a cross product
			}
			for _, x := range s.ways(made, leaves, a) {
				for _, y := range s.ways(made, leaves, b) {
					cost := s.pair(x, y)
					if x.factor == nil {
						cost += costs[a]
					}
					if y.factor == nil {
						cost += costs[b]
					}
					if set == all && s.sparseResult {
						cost += s.finishing([]*node{x, y}, join(x.rel, y.rel))
					}
					if s.Record && set == all {
						s.tried = append(s.tried, split{[2]*node{x, y}, cost})
					}
					if cost < least {
						least, best = cost, [2]*node{x, y}
					}
				}
			}
		}
		if best[0] == nil || masks&set == set {
			continue
		}
		// What the parts sum before is not in the join.
		raw := join(best[0].rel, best[1].rel)
		node := s.made([]*node{best[0], best[1]}, raw, out)
		made[set] = node
		if set != all {
			least += s.making(node)
		}
		costs[set] = least
		if set != all && !s.allowed(node) {
			made[set] = nil
		}
	}
	if made[all] == nil {
		return s.together()
	}
	return made[all]
}

// keep notes what a set costs.
func (s *search) keep(made []*node, costs []float64, set int, n *node, root bool) {
	if !root && !s.allowed(n) {
		return
	}
	made[set], costs[set] = n, s.loops(n.kids)
	if !root {
		costs[set] += s.making(n)
	}
}

// ways are how a set of factors can be read: as a factor, or as an intermediate.
func (s *search) ways(made []*node, leaves []*node, set int) []*node {
	var list []*node
	if set&(set-1) == 0 {
		list = append(list, leaves[bits.TrailingZeros(uint(set))])
	}
	if made[set] != nil {
		list = append(list, made[set])
	}
	return list
}

// pair is what the loops over two parts cost.
func (s *search) pair(a, b *node) float64 {
	kids := [2]*node{a, b}
	n := joinSize(a.rel, b.rel)
	return n*merging(kids[:])*s.step(kids[:]) + s.evaluating(kids[:], n) + min(a.rel.n, b.rel.n)/2 + s.conversions(kids[:])
}

// greedy joins the pair that costs least, until all are joined.
func (s *search) greedy() *node {
	var parts []*node
	uses := make([]int, len(s.vars)) // parts that have a variable
	count := func(n *node, by int) {
		for v := range s.vars {
			if n.out.has(v) {
				uses[v] += by
			}
		}
	}
	for k := range s.term.factors {
		n := s.leaf(k)
		parts = append(parts, n)
		count(n, 1)
	}
	outOf := func(list ...*node) varset { // variables that others have, or that are free
		var out varset
		for v := range s.vars {
			inside := 0
			for _, n := range list {
				if n.out.has(v) {
					inside++
				}
			}
			if inside > 0 && (s.free.has(v) || uses[v] > inside) {
				out.add(v)
			}
		}
		return out
	}
	for i, n := range parts {
		if out := outOf(n); out != n.out && !n.factor.mask {
			if m := s.made([]*node{n}, n.rel, out); s.allowed(m) {
				count(n, -1)
				count(m, 1)
				parts[i] = m
			}
		}
	}
	type pairing struct {
		node *node
		cost float64
	}
	try := func(a, b *node) pairing {
		m := s.made([]*node{a, b}, join(a.rel, b.rel), outOf(a, b))
		cost := s.pair(a, b) + s.making(m)
		if !s.allowed(m) {
			cost = math.Inf(1)
		}
		return pairing{m, cost}
	}
	costs := map[[2]*node]pairing{}
	for len(parts) > 2 {
		var best pairing
		at := [2]int{-1, 0}
		for i, a := range parts {
			for j, b := range parts[:i] {
				if a.out.common(b.out) == (varset{}) {
					continue // cross products come last, in the root
				}
				p, tried := costs[[2]*node{a, b}]
				if !tried {
					p = try(a, b)
					costs[[2]*node{a, b}] = p
				}
				if at[0] < 0 || p.cost < best.cost {
					best, at = p, [2]int{i, j}
				}
			}
		}
		if at[0] < 0 || math.IsInf(best.cost, 1) {
			break
		}
		count(parts[at[0]], -1)
		count(parts[at[1]], -1)
		count(best.node, 1)
		parts[at[1]] = best.node
		parts = slices.Delete(parts, at[0], at[0]+1)
	}
	raw := parts[0].rel
	for _, p := range parts[1:] {
		raw = join(raw, p.rel)
	}
	return s.made(parts, raw, s.free)
}
