package lang

import "slices"

// Needed reports, by statement, which ones the final values of some results follow from. The others need not be computed.
func (p *Program) Needed(wanted []string) []bool {
	live, needed := map[*Tensor]bool{}, make([]bool, len(p.Stmts))
	for _, t := range p.Tensors {
		live[t] = slices.Contains(wanted, t.Name)
	}
	for i, s := range slices.Backward(p.Stmts) {
		t := s.LHS.Tensor
		if needed[i] = live[t]; !needed[i] {
			continue
		}
		live[t] = s.Op != Set || !s.LHS.Whole()
		for _, a := range append(Accesses(s.RHS), Accesses(s.LHS)[1:]...) {
			live[a.Tensor] = true
			if of := a.Tensor.StoredOf; of != nil {
				live[of] = true
			}
		}
	}
	return needed
}

// Whole reports whether an access on the left reaches every element: each index is a variable of its own.
func (a *Access) Whole() bool {
	seen := map[*Index]bool{}
	for _, x := range a.Indices {
		v := x.Plain()
		if v == nil || seen[v] {
			return false
		}
		seen[v] = true
	}
	return true
}
