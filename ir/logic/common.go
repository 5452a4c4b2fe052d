package logic

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// The rule of this file: intermediates that are computed alike are made once.

// shared is root, or the order that is found where sums of single factors that a term has several times, such as the number of
// neighbours in R(i,j)*R(i,k)*R(i,l), are made once, if that costs less.
func (s *search) shared(root *node) *node {
	if !s.hasAlike() {
		return root
	}
	tried := s.tried
	s.sharing, s.tried = true, nil
	other := s.fused(s.exhaustive(), true)
	s.sharing = false
	if s.cost(other) < s.cost(root) {
		return other
	}
	s.tried = tried
	return root
}

// hasAlike reports whether sums of two factors by themselves are alike.
func (s *search) hasAlike() bool {
	seen := map[string]bool{}
	for k := range s.term.factors {
		key := s.alike(k)
		if key != "" && seen[key] {
			return true
		}
		seen[key] = true
	}
	return false
}

// alike names the sum of a factor by itself, over the variables that no other one has: factors with one name have the same sum. It is
// "" where there is nothing to sum, or the factor is no access by mere indices.
func (s *search) alike(k int) string {
	f := s.term.factors[k]
	a, ok := f.expr.(*lang.Access)
	if !ok || f.mask {
		return ""
	}
	text, summed, at := a.Tensor.Name, false, map[*lang.Index]int{}
	for _, x := range a.Indices {
		v := x.Plain()
		if v == nil {
			return ""
		}
		if _, again := at[v]; !again {
			at[v] = len(at)
		}
		kept := s.free.has(s.number[v])
		for other, o := range s.term.factors {
			kept = kept || other != k && slices.Contains(o.vars, v)
		}
		summed = summed || !kept
		text += fmt.Sprint(" ", at[v], kept)
	}
	if !summed {
		return ""
	}
	return text
}

// intermediate is a tensor that the optimiser has made, with what it is computed from.
type intermediate struct {
	name  string
	key   string // what it is, with indices by number; "" once something that it reads has another value
	reads []*lang.Tensor
}

// define is the name of an intermediate: of an old one, if there is one that is computed alike, or of a new one.
func (o *optimiser) define(key string, reads []*lang.Tensor, decl lang.Decl, statement func(name string) *lang.Assign) string {
	for _, m := range o.made {
		if m.key == key {
			return m.name
		}
	}
	m := intermediate{o.fresh("t"), key, reads}
	o.made = append(o.made, m)
	o.out = append(o.out, statement(m.name))
	o.decls[m.name] = decl
	return m.name
}

// forget is for intermediates whose operands change.
func (o *optimiser) forget(t *lang.Tensor) {
	for i, m := range o.made {
		if slices.Contains(m.reads, t) {
			o.made[i].key = ""
		}
	}
}

// sparseFormat stores what is stored and nothing else: of the last axes, so many dense ones, all or nothing is.
func sparseFormat(rank, dense int, rows bool) tensor.Format {
	if rank == 2 && dense == 0 && rows {
		return tensor.CSR
	}
	order := make([]int, rank)
	for axis := range order {
		order[axis] = axis
	}
	f, err := tensor.Stack(order, tensor.CSF(rank-dense), tensor.Dense(dense))
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f
}
