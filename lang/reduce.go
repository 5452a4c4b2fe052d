package lang

import "slices"

// reduce checks a reduction with its own indices.
func (s *stmtChecker) reduce(n *Fold) value {
	r := &Reduce{Pos: n.Pos, Op: Reduction(slices.Index(reductionNames[:], n.Name)), Options: optionNames(n)}
	good := true
	if n.Q != nil { // outside the scope of the indices
		q := s.expr(n.Q)
		if good = q.ok(); good {
			r.Q = s.quantileOrder(q)
			good = r.Q != nil
		}
	}
	var bound []*FoldVar
	for _, v := range n.Vars {
		if !s.mayBind(v) {
			good = false
			continue
		}
		r.Vars = append(r.Vars, ReduceVar{Var: s.newIndex(v.Name, v.Pos)})
		bound = append(bound, v)
	}
	body := s.expr(n.Body)
	for i, v := range bound {
		x := r.Vars[i].Var
		switch {
		case !body.ok():
		case v.In != "":
			good = s.storedIn(&r.Vars[i], v, body.Expr) && good
		case !s.used[x]:
			s.noExtent(x, v.Name)
			good = false
		}
	}
	for _, v := range bound {
		delete(s.scope, v.Name)
	}
	if !good || !body.ok() {
		return value{}
	}
	return s.finishReduce(r, body)
}

// mayBind reports an index that is bound already.
func (s *stmtChecker) mayBind(v *FoldVar) bool {
	x := s.scope[v.Name]
	if x == nil {
		return true
	}
	code, hint, msg := ErrBoundTwice, "rename the inner index", "the index %s is bound already, here or by a reduction around"
	if x.Free {
		code, hint, msg = ErrBoundLeft, "remove it from the left side, or reduce over another index", "the index %s is on the left side, so no reduction can bind it"
	}
	e := s.fail(code, v.Pos, hint, msg, v.Name)
	e.Related = []Note{{x.Pos, "bound here"}}
	return false
}

// finishReduce types the body and the result.
func (s *stmtChecker) finishReduce(r *Reduce, body value) value {
	in, out, ok := reductionTypes(r.Op, body.DType())
	if !ok {
		s.fail(ErrType, r.Pos, "take abs(…), real(…) or imag(…) first", "%s is not defined for complex numbers", r.Op)
		return value{}
	}
	r.Body, r.Typ = s.coerce(body, in), out
	return value{Expr: r}
}

// quantileOrder checks the second argument of a quantile, which is ranked in f64.
func (s *stmtChecker) quantileOrder(q value) Expr {
	dt := q.DType()
	if dt.IsComplex() {
		s.fail(ErrType, q.Position(), "it is a number from 0 to 1", "the order of a quantile cannot be complex")
		return nil
	}
	if lit, ok := q.Expr.(*Literal); ok && !(lit.Value.Float64() >= 0 && lit.Value.Float64() <= 1) {
		s.fail(ErrRange, q.Position(), "write 0.25 for the lower quartile", "the order of a quantile is %s; it must lie between 0 and 1", lit.Value)
		return nil
	}
	if q.weak != strong || !dt.IsFloat() {
		return s.coerce(q, floatOrder)
	}
	return q.Expr
}

// scan checks a scan: its indices are visible around it.
func (s *stmtChecker) scan(n *Fold) value {
	r := &Scan{Pos: n.Pos, Op: ScanOp(slices.Index(scanNames[:], n.Name))}
	good := true
	for _, o := range n.Options {
		if o.Number == 0 {
			r.Options = append(r.Options, o.Name)
			continue
		}
		r.First = o.Number
		if len(n.Vars) > 1 {
			s.fail(ErrOption, o.Pos, "sort one index; ops.TopK does it for all elements of a tensor", "first is for lines along one index")
			good = false
		}
	}
	for i, v := range n.Vars {
		switch {
		case v.In != "" && r.Op >= Sort:
			s.fail(ErrStored, v.InPos, "only reductions and running folds take in", "%s takes no in: it sorts whole lines", n.Name)
			good = false
		case slices.ContainsFunc(n.Vars[:i], func(w *FoldVar) bool { return w.Name == v.Name }):
			s.fail(ErrBoundTwice, v.Pos, "name each index once", "the index %s is scanned twice", v.Name)
			good = false
		default:
			r.Vars = append(r.Vars, ReduceVar{Var: s.scope[v.Name]})
		}
	}
	body := s.expr(n.Body)
	if !good || !body.ok() {
		return value{}
	}
	for i, v := range n.Vars {
		if v.In != "" && !s.storedIn(&r.Vars[i], v, body.Expr) {
			return value{}
		}
	}
	in, out, ok := scanTypes(r.Op, body.DType())
	if !ok {
		s.fail(ErrType, n.Pos, "take abs(…), real(…) or imag(…) first", "%s is not defined for complex numbers", n.Name)
		return value{}
	}
	r.Body, r.Typ = s.coerce(body, in), out
	return value{Expr: r}
}

// storedIn finds the access whose stored coordinates an index with "in" runs over.
func (s *stmtChecker) storedIn(v *ReduceVar, n *FoldVar, body Expr) bool {
	t := s.tensors[n.In]
	if _, declared := s.decls[n.In]; t == nil && !declared {
		s.unknownTensor(&Ref{Pos: n.InPos, Name: n.In})
		return false
	}
	var found *Access
	accesses := Accesses(body)
	of := t
	if t != nil && !slices.ContainsFunc(accesses, func(a *Access) bool { return a.Tensor == t }) {
		of = patternIn(accesses, t) // stored(A(i,j)) tells as well what A stores
	}
	for _, a := range accesses {
		plain := slices.ContainsFunc(a.Indices, func(x IndexExpr) bool { return x.Plain() == v.Var })
		switch {
		case of == nil || a.Tensor != of || !plain:
		case found == nil:
			found = a
		case !sameAccess(found, a):
			e := s.fail(ErrStored, n.InPos, "copy the tensor under another name, or compute one of them in a statement before",
				"%s is accessed in two ways with the index %s; which coordinates are meant?", n.In, n.Name)
			e.Related = []Note{{found.Pos, "one access"}, {a.Pos, "another"}}
			return false
		}
	}
	if found == nil {
		s.fail(ErrStored, n.InPos, s.storedHint(n),
			"the reduction runs over the coordinates that %s stores, but its body has no access of %s with the plain index %s", n.In, n.In, n.Name)
		return false
	}
	v.In, v.InAccess = t, found
	return true
}

// patternIn is the tensor that tells what t stores, if one of the accesses reads it.
func patternIn(accesses []*Access, t *Tensor) *Tensor {
	for _, a := range accesses {
		if a.Tensor.StoredOf == t {
			return a.Tensor
		}
	}
	return nil
}

// storedHint says what a body looks like in which "in" finds an access.
func (s *stmtChecker) storedHint(n *FoldVar) string {
	access := n.In + "(…," + n.Name + ")"
	if d, ok := s.decls[n.In]; ok && d.Rank == 1 {
		access = n.In + "(" + n.Name + ")"
	}
	return "the body must read what is stored there: " + access + "*…"
}

func optionNames(n *Fold) []string {
	var list []string
	for _, o := range n.Options {
		list = append(list, o.Name)
	}
	return list
}
