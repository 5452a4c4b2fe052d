package logic

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// query is an expression as sums of products: each term is an aggregate over a product of factors, with bound indices (functional
// aggregate queries: Abo Khamis, Ngo and Rudra, FAQ, PODS 2016).
type query struct {
	*statement
	law   *law
	typ   tensor.DType
	free  []*lang.Index // visible outside
	terms []*term
	depth int  // of the reductions that are read
	nests bool // a reduction is a factor inside another one
}

// term is a number of times fold over vars of the product of coefficients and factors.
type term struct {
	times   int
	coefs   []lang.Expr // factors without indices
	factors []*factor
	vars    []*lang.Index
}

// factor is an access, or an expression that is not looked into.
type factor struct {
	expr lang.Expr
	vars []*lang.Index
	mask bool // where it is false, the product is 0
	// around: it is 1 where something is stored that stands around the product, and multiplied with it (masked.go).
	around bool
}

// query reads an expression as sums of products, multiplied out if expand says so; nil if it is none, or no law allows to move its parts.
func (s *statement) query(e lang.Expr, l *law, expand bool) *query {
	q := &query{statement: s, law: l, typ: e.DType()}
	var ok bool
	if q.terms, ok = q.read(e, expand); ok && expand {
		q.terms = q.collected()
	}
	if !ok || len(q.terms) == 0 || len(q.terms) > cost.MostTerms {
		return nil
	}
	for i, t := range q.terms {
		if n, vars := len(t.factors), len(t.vars)+len(t.free()); n > cost.MostFactors || vars > cost.MostVars {
			s.limited = s.note("%s: a product of %d factors over %d indices is computed as written, as no orders of more than %d and %d are searched",
				s.stmt.LHS.Tensor.Name, n, vars, cost.MostFactors, cost.MostVars)
			return nil
		}
		if len(t.factors) == 0 || !q.holds(t) {
			return nil
		}
		free := t.free()
		if i == 0 {
			q.free = free
		}
		for _, v := range free { // each term must have all of them: else it is counted as often as the others
			if !slices.Contains(q.free, v) {
				return nil
			}
		}
		if len(free) != len(q.free) {
			return nil
		}
	}
	q.restrict()
	return q
}

// free are the indices of a term that it does not bind, in the order of their use.
func (t *term) free() []*lang.Index {
	var list []*lang.Index
	for _, f := range t.factors {
		for _, v := range f.vars {
			if !slices.Contains(list, v) && !slices.Contains(t.vars, v) {
				list = append(list, v)
			}
		}
	}
	return list
}

// holds reports whether the law holds for a term: what it multiplies is finite and remains so in any order.
func (q *query) holds(t *term) bool {
	all := 0.0
	for _, e := range t.coefs {
		if q.law.nonNegative && !q.nonNegative(e) || q.law.product == "*" && q.endless(e) {
			return q.forbidden()
		}
		all = q.grown(all, q.bound(e))
	}
	var used []*lang.Index
	for _, f := range t.factors {
		if q.law.nonNegative && !q.nonNegative(f.expr) || q.law.product == "*" && q.endless(f.expr) {
			return q.forbidden()
		}
		if !f.mask {
			all = q.grown(all, q.bound(f.expr))
		}
		used = append(used, f.vars...)
	}
	for _, v := range t.vars {
		if !slices.Contains(used, v) || q.extents[v] == 0 {
			return false
		}
	}
	if q.law.fold == lang.Sum {
		all += q.summands(t)
	}
	for _, v := range used {
		if _, known := q.extents[v]; !known {
			return false
		}
	}
	return all <= rangeOf(q.typ) || q.forbidden()
}

// forbidden is false: values do not allow what was to be done.
func (o *optimiser) forbidden() bool {
	if o.Forbidden != nil {
		o.Forbidden()
	}
	return false
}

// summands is a bound of how many products any element of any intermediate adds up, as a logarithm. From a coordinate of one variable
// the others are reached by entries of factors, at most as many from each as the longest fibre has; where
// nothing connects them, all combinations are counted.
func (q *query) summands(t *term) float64 {
	all, most, connected := 0.0, 0.0, t.connected()
	for _, v := range t.vars {
		extent, longest := log2(2*q.extents[v]), 0.0
		for _, f := range t.factors {
			if slices.Contains(f.vars, v) {
				longest = max(longest, q.fan(f, v))
			}
		}
		if !connected {
			longest = extent
		}
		most = max(most, extent)
		all += min(extent, longest)
	}
	return all + most
}

// fan is how many coordinates of v a factor has for one of another of its variables, as a logarithm.
func (q *query) fan(f *factor, v *lang.Index) float64 {
	a, ok := f.expr.(*lang.Access)
	if !ok || q.facts[a.Tensor].dense {
		return math.Inf(1)
	}
	most := 0.0
	for k, u := range f.vars {
		if u != v {
			most = max(most, log2(2*q.facts[a.Tensor].at[k].longest))
		}
	}
	return most
}

// connected reports whether all factors are connected by indices.
func (t *term) connected() bool {
	reached := slices.Clone(t.factors[0].vars)
	for before := 0; before < len(reached); {
		before = len(reached)
		for _, f := range t.factors {
			if slices.ContainsFunc(f.vars, func(v *lang.Index) bool { return slices.Contains(reached, v) }) {
				reached = append(reached, slices.DeleteFunc(slices.Clone(f.vars), func(v *lang.Index) bool { return slices.Contains(reached, v) })...)
			}
		}
	}
	return !slices.ContainsFunc(t.factors, func(f *factor) bool { return !slices.Contains(reached, f.vars[0]) })
}

// grown is the bound of a product.
func (q *query) grown(a, b float64) float64 {
	if q.law.product == "*" {
		return a + b
	}
	return max(a, b) + 1
}

// nonNegative reports whether a factor is an operand without values below 0.
func (q *query) nonNegative(e lang.Expr) bool {
	switch e := e.(type) {
	case *lang.Access:
		return q.unsignedAccess(e)
	case *lang.Literal:
		return e.Value.Float64() >= 0
	}
	return false
}

// read reads an expression; false if it cannot be moved.
func (q *query) read(e lang.Expr, expand bool) ([]*term, bool) {
	sums := q.law.fold == lang.Sum
	switch e := e.(type) {
	case *lang.Literal:
		return []*term{{times: 1, coefs: []lang.Expr{e}}}, true
	case *lang.Reduce:
		if !q.folds(e) {
			break
		}
		q.depth++
		terms, ok := q.read(e.Body, expand)
		q.depth--
		for _, t := range terms {
			for _, v := range e.Vars {
				t.vars = append(t.vars, v.Var)
			}
		}
		return terms, ok
	case *lang.Call:
		switch name := e.Fn; {
		case e.Typ != q.typ:
		case name == q.law.product:
			return q.multiply(e, expand)
		case name == "neg" && sums:
			terms, ok := q.read(e.Args[0], expand)
			for _, t := range terms {
				t.times = -t.times
			}
			return terms, ok
		case (name == "+" || name == "-") && sums && expand:
			return q.add(e)
		case isSquare(e) && sums && expand && compound(e.Args[0]):
			return q.multiply(&lang.Call{Pos: e.Pos, Fn: "*", Args: []lang.Expr{e.Args[0], q.copied(e.Args[0])}, Typ: e.Typ}, expand)
		}
	case *lang.Select:
		a, ok := e.Cond.(*lang.Access)
		if !ok || a.Tensor.StoredOf == nil || !isZero(e.Else) || !sums {
			break
		}
		vars, plain := plainIndices(a)
		terms, ok := q.read(e.Then, expand)
		for _, t := range terms {
			t.factors = append(t.factors, &factor{expr: a, vars: vars, mask: true})
		}
		return terms, ok && plain
	}
	return q.opaque(e)
}

// folds reports whether a reduction is the law's, over whole dimensions.
func (q *query) folds(e *lang.Reduce) bool {
	return e.Op == q.law.fold && e.Typ == q.typ && e.Body.DType() == q.typ && e.Q == nil && len(e.Options) == 0 &&
		!slices.ContainsFunc(e.Vars, func(v lang.ReduceVar) bool { return v.In != nil })
}

// opaque is an expression as one factor.
func (q *query) opaque(e lang.Expr) ([]*term, bool) {
	f := &factor{expr: e}
	var bound []*lang.Index
	ok := true
	lang.Walk(e, func(x lang.Expr) bool {
		switch x := x.(type) {
		case *lang.Reduce:
			for _, v := range x.Vars {
				bound = append(bound, v.Var)
				ok = ok && v.In == nil
			}
		case *lang.Scan, *lang.Like:
			ok = false
		case *lang.Access:
			vars, plain := plainIndices(x)
			if plain {
				f.vars = append(f.vars, vars...)
			}
			ok = ok && plain && q.sparsely(x)
		}
		return ok
	})
	if !ok {
		return nil, false
	}
	vars := f.vars
	f.vars = nil
	for _, v := range vars {
		if !slices.Contains(f.vars, v) && !slices.Contains(bound, v) {
			f.vars = append(f.vars, v)
		}
	}
	lang.Walk(e, func(x lang.Expr) bool { // the value of an index needs somebody who says how far it runs
		if v, is := x.(*lang.IndexValue); is && !slices.Contains(vars, v.Var) {
			ok = false
		}
		return true
	})
	if _, access := e.(*lang.Access); !access && q.law.fold != lang.Sum {
		ok = false // what elements are that are not stored is not known
	}
	if len(f.vars) == 0 {
		return []*term{{times: 1, coefs: []lang.Expr{e}}}, ok
	}
	return []*term{{times: 1, factors: []*factor{f}}}, ok
}

// sparsely reports whether what an access does not store annihilates, or it stores all.
func (q *query) sparsely(a *lang.Access) bool {
	f := q.facts[a.Tensor]
	if a.Tensor.StoredOf != nil {
		return true
	}
	return f.known && (f.dense || gapIs(f.fill, q.law.gap))
}

// plainIndices are the indices of an access, if each is a variable of its own.
func plainIndices(a *lang.Access) ([]*lang.Index, bool) {
	var vars []*lang.Index
	for _, x := range a.Indices {
		v := x.Plain()
		if v == nil || slices.Contains(vars, v) {
			return nil, false
		}
		vars = append(vars, v)
	}
	return vars, true
}
