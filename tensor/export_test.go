package tensor

import "pgregory.net/rapid"

// ThroughMLIR and ThroughTACO store a tensor as others do and make one of that: package interop, which imports this one.
var ThroughMLIR, ThroughTACO func(t *Tensor) (*Tensor, error)

// DrawRelaxed draws a tensor, and a check that another has the same elements.
func DrawRelaxed(t *rapid.T, rank int) (*Tensor, func(*rapid.T, *Tensor)) {
	a, m := drawRelaxed(t, rank)
	return a, m.checkMeaning
}
