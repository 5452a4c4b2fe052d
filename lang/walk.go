package lang

// Walk calls f for e and, as long as f returns true, for the expressions in it, in
// source order. The accesses that gather an index are visited too; those of a
// Like, which are not read, are not.
func Walk(e Expr, f func(Expr) bool) {
	if !f(e) {
		return
	}
	switch e := e.(type) {
	case *Access:
		for _, x := range e.Indices {
			if x.Gather != nil {
				Walk(x.Gather, f)
			}
		}
	case *Cast:
		Walk(e.X, f)
	case *Call:
		for _, a := range e.Args {
			Walk(a, f)
		}
	case *Select:
		Walk(e.Cond, f)
		Walk(e.Then, f)
		Walk(e.Else, f)
	case *Reduce:
		Walk(e.Body, f)
		if e.Q != nil {
			Walk(e.Q, f)
		}
	case *Scan:
		Walk(e.Body, f)
	case *Like:
		Walk(e.X, f)
	}
}

// Accesses lists the tensor elements that e reads, gathers included, in source order.
func Accesses(e Expr) []*Access {
	var list []*Access
	Walk(e, func(x Expr) bool {
		if a, ok := x.(*Access); ok {
			list = append(list, a)
		}
		return true
	})
	return list
}

// sameAccess says whether a and b name the same element for all values of the indices.
func sameAccess(a, b *Access) bool {
	if a.Tensor != b.Tensor {
		return false
	}
	for i, x := range a.Indices {
		y := b.Indices[i]
		if x.Const != y.Const || x.Literal != y.Literal || len(x.Terms) != len(y.Terms) || (x.Gather == nil) != (y.Gather == nil) {
			return false
		}
		if x.Gather != nil && !sameAccess(x.Gather, y.Gather) {
			return false
		}
		for _, t := range x.Terms {
			if coefficient(y, t.Var) != t.Coef {
				return false
			}
		}
	}
	return true
}

// coefficient is the factor of v in x, 0 if it does not occur.
func coefficient(x IndexExpr, v *Index) int64 {
	for _, t := range x.Terms {
		if t.Var == v {
			return t.Coef
		}
	}
	return 0
}
