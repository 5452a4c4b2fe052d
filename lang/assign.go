package lang

import "github.com/lacuna-sparse/lacuna/tensor"

// floatOrder is the type in which quantile orders are computed.
const floatOrder = tensor.Float64

// leftSide checks the indices of the tensor that a statement assigns and makes them
// visible. It returns false when an index is not allowed there; the target may be
// nil after an error.
func (s *stmtChecker) leftSide(r *Ref, target *Tensor) bool {
	good := true
	sliced := 0
	for _, x := range r.Indices {
		if x.Slice != nil {
			s.freeIndex(sliceName(sliced), x.Pos)
			sliced++
		}
		names := 0
		for _, t := range x.Terms {
			switch {
			case t.Gather != nil && s.stmt.Op == Set:
				s.fail(ErrLeftSide, t.Pos, "write +=, *=, min= or max=, which fold all values for an element into it; |= or &= for bool",
					"the values of %s may name an element several times, and = does not say which value it gets", t.Gather.Name)
				good = false
			case t.Gather != nil:
				eachIndexUse(t.Gather, s.freeIndex)
			case t.Name != "":
				s.freeIndex(t.Name, t.Pos)
				names++
			case t.Coef < 0 && len(x.Terms) == 1:
				s.fail(ErrLeftSide, t.Pos, "coordinates count from 0", "the coordinate %d is negative", t.Coef)
				good = false
			}
		}
		if names > 1 {
			s.fail(ErrLeftSide, x.Pos, "rewrite it so that each dimension of the left side has one index, or sum over a comparison",
				"an index on the left has at most one variable; this one has %d", names)
			good = false
		}
	}
	if target == nil || !good {
		return good
	}
	s.stmt.LHS = &Access{Pos: r.Pos, Tensor: target}
	return s.indices(s.stmt.LHS, r)
}

// freeIndex makes an index of the left side visible.
func (s *stmtChecker) freeIndex(name string, pos Pos) {
	if s.scope[name] == nil {
		s.newIndex(name, pos).Free = true
	}
}

// assign gives the right side the type of the target, and the target a type if it
// has none, and notes which values are needed from outside.
func (s *stmtChecker) assign(t *Tensor, rhs value) {
	st := s.state[t]
	op := s.stmt.Op
	updates := op != Set || !st.assigned && !wholeLeftSide(s.stmt.LHS) && st.declared && !st.decl.Result
	if updates && !s.read(t, s.stmt.Pos) {
		return
	}
	st.assigned = true
	t.Result = true
	if !t.DType.Valid() {
		t.DType, st.typedBy = rhs.DType(), s.stmt.Pos
	}
	s.checkUpdate(t, rhs)
	s.stmt.RHS = s.coerce(rhs, t.DType)
	s.checkLoss(t, rhs)
}

// checkUpdate reports an update operator that the target's type does not have.
func (s *stmtChecker) checkUpdate(t *Tensor, rhs value) {
	switch s.stmt.Op {
	case MinTo, MaxTo:
		if t.DType.IsComplex() {
			s.fail(ErrType, s.stmt.Pos, "complex numbers have no order", "%s is not defined for %s", s.stmt.Op, t.DType)
		}
	case OrTo, AndTo:
		if t.DType != tensor.Bool {
			s.fail(ErrType, s.stmt.Pos, "for integers write y(i) = bitor(y(i), …) or bitand",
				"%s updates a tensor of bool, but %s is %s", s.stmt.Op, t.Name, t.DType)
		}
	}
}

// checkLoss reports an assignment that would drop a fraction, a sign or an imaginary
// part of a value although nobody declared the narrower type for this result.
func (s *stmtChecker) checkLoss(t *Tensor, rhs value) {
	st := s.state[t]
	logic := s.stmt.Op == OrTo || s.stmt.Op == AndTo
	if logic || st.declared && st.decl.Result && st.decl.DType.Valid() || kindRank(rhs.DType()) <= kindRank(t.DType) {
		return
	}
	if lit, ok := rhs.Expr.(*Literal); ok && rhs.weak == weakInt && t.DType.IsInteger() && fits(lit.Value, t.DType) {
		return
	}
	e := s.fail(ErrLossy, rhs.Position(), "convert explicitly: "+t.DType.String()+"(…)",
		"%s is %s, and the value is %s: the assignment would lose information", t.Name, t.DType, rhs.DType())
	if st.typedBy.IsKnown() {
		e.Related = []Note{{st.typedBy, "its type comes from its first assignment"}}
	}
}

// kindRank orders the kinds of number as NumPy's same-kind rule does.
func kindRank(dt tensor.DType) int {
	switch {
	case dt == tensor.Bool:
		return 0
	case dt.IsUnsigned():
		return 1
	case dt.IsInteger():
		return 2
	case dt.IsFloat():
		return 3
	}
	return 4
}

// wholeLeftSide says whether an assignment to a reaches every element.
func wholeLeftSide(a *Access) bool {
	seen := make(map[*Index]bool)
	for _, x := range a.Indices {
		whole := x.Plain() != nil || x.Slice && x.Open && x.Const == 0 && x.Terms[0].Coef == 1
		if !whole || seen[x.Terms[0].Var] {
			return false
		}
		seen[x.Terms[0].Var] = true
	}
	return true
}
