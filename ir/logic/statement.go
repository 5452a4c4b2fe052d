package logic

import (
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
)

// statement is one statement that is being optimised.
type statement struct {
	*optimiser
	stmt     *lang.Stmt
	written  *lang.Stmt // stmt, but for what was inlined
	names    map[*lang.Index]string
	extents  map[*lang.Index]float64
	used     map[string]bool // names of indices
	replaced map[lang.Expr]lang.Node
	masks    []*factor // around what is optimised: see masked.go
	alone    bool      // it is all that is assigned
	// sparseResult says that the result tells which elements are stored; preserve, that intermediates must too: they store what the
	// reductions that they stand for do.
	sparseResult, preserve bool
	// signed: around what is optimised, zeros are told apart by their signs.
	signed bool
}

func (o *optimiser) statement(s *lang.Stmt) *statement {
	st := &statement{optimiser: o, stmt: s, written: s, names: map[*lang.Index]string{}, extents: map[*lang.Index]float64{}, used: map[string]bool{}, replaced: map[lang.Expr]lang.Node{}}
	for _, v := range s.Indices {
		st.names[v] = v.Name
		if v.Name == "" || st.used[v.Name] {
			st.names[v] = st.freshIndex(v.Name)
		}
		st.used[st.names[v]] = true
	}
	for _, a := range lang.Accesses(s.RHS) {
		f := o.facts[a.Tensor]
		for k, x := range a.Indices {
			if v := x.Plain(); v != nil && k < len(f.extents) {
				st.extents[v] = f.extents[k]
			}
		}
	}
	for _, v := range s.Indices {
		if _, ok := st.extents[v]; v.Like != nil && !ok {
			if x, ok := st.extents[v.Like]; ok {
				st.extents[v] = x
			}
		}
	}
	return st
}

// freshIndex is a name for an index that nothing in the statement has.
func (s *statement) freshIndex(base string) string { return fresh(base, s.used, s.taken) }

// context is where an expression stands.
type context struct {
	// root: it is the whole right side.
	root bool
	// safe: what is around it depends on its value only, not on whether it is stored.
	safe bool
	// signed: what is around it may tell 0 from -0. A gap has no sign, so that -A(i,j) is 0 where A stores nothing and -0 where it stores 0.
	signed bool
	// called: it is in the argument of a function that takes long.
	called bool
	// loops are the indices that are visible.
	loops []*lang.Index
}

// optimised is the statement in its new form, a itself if that is the old one. What it needs is made before it.
func (s *statement) optimised(a *lang.Assign) *lang.Assign {
	if s.slices() {
		return a
	}
	how, ok := Stored{s.stmt.LHS.Tensor.Format, s.stmt.LHS.Tensor.Fill}, true
	if hasLaw(s.stmt.RHS) {
		how, ok = s.storedAs(s.stmt.LHS.Tensor)
	}
	if !ok {
		s.note("how %s is stored is not known beforehand: it is computed as written", s.stmt.LHS.Tensor.Name)
		return a
	}
	s.sparseResult = !how.Format.IsDense()
	s.preserve = s.sparseResult
	var free []*lang.Index
	for _, v := range s.stmt.Indices {
		if v.Free {
			free = append(free, v)
		}
	}
	s.visit(s.stmt.RHS, context{root: true, safe: true, signed: s.toldElsewhere(s.stmt.LHS.Tensor, map[string]bool{}), loops: free})
	if len(s.replaced) == 0 && s.stmt == s.written {
		return a
	}
	s.changed = true
	return &lang.Assign{Pos: a.Pos, LHS: lang.RefOf(s.stmt.LHS, s.names), Op: a.Op, RHS: s.write(s.stmt.RHS)}
}

// slices reports whether a statement has slices, which cannot be written with the names of their indices.
func (s *statement) slices() bool {
	return slices.ContainsFunc(append(lang.Accesses(s.stmt.RHS), lang.Accesses(s.stmt.LHS)...), func(a *lang.Access) bool {
		return slices.ContainsFunc(a.Indices, func(x lang.IndexExpr) bool { return x.Slice })
	})
}

// hasLaw reports whether an expression has a reduction that something distributes over.
func hasLaw(e lang.Expr) bool {
	found := false
	lang.Walk(e, func(x lang.Expr) bool {
		r, ok := x.(*lang.Reduce)
		found = found || ok && lawOf(r) != nil
		return !found
	})
	return found
}

func (s *statement) note(format string, args ...any) string {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(s.notes, text) {
		s.notes = append(s.notes, text)
	}
	return text
}

// write is an expression as syntax, with what was replaced in it.
func (s *statement) write(e lang.Expr) lang.Node {
	return lang.NodeOf(e, s.names, func(x lang.Expr) lang.Node { return s.replaced[x] })
}

// visit optimises the queries in an expression.
func (s *statement) visit(e lang.Expr, c context) {
	if l := lawFor(e); l != nil && (c.root || l.fold == lang.Sum) && s.optimise(e, l, c) {
		return
	}
	inner := c
	inner.root = false
	switch e := e.(type) {
	case *lang.Cast:
		s.visit(e.X, inner)
	case *lang.Select:
		cond := inner
		cond.signed = false
		s.visit(e.Cond, cond)
		s.visit(e.Else, inner)
		if a, ok := e.Cond.(*lang.Access); ok && isZero(e.Else) {
			defer s.under(a)()
		}
		s.visit(e.Then, inner)
	case *lang.Reduce:
		body := lang.Expr(e)
		for r, ok := e, true; ok && (r == e || lawFor(e) != nil && r.Op == e.Op); r, ok = body.(*lang.Reduce) { // a sum of a sum is one, and has been weighed
			for _, v := range r.Vars {
				if v.In != nil {
					return
				}
				inner.loops = append(slices.Clip(inner.loops), v.Var)
			}
			body = r.Body
		}
		inner.called, inner.signed = false, inner.signed && e.Op != lang.Sum
		s.visit(body, inner)
	case *lang.Call:
		for i, a := range e.Args {
			x := inner
			x.safe, x.called = inner.safe && s.insensitive(e, i) && !(inner.signed && s.flips(e, i)), inner.called || slow(e)
			x.signed = tellsSigns(e, i, inner.signed)
			done := func() {}
			if e.Fn == "*" {
				done = s.under(slices.Concat(e.Args[:i], e.Args[i+1:])...)
			}
			s.visit(a, x)
			done()
		}
	}
}

// insensitive reports whether a call depends on the value of an argument only, and not on whether it is stored: an operand that
// is not stored annihilates what is not finite (language.md).
func (s *statement) insensitive(e *lang.Call, i int) bool {
	switch e.Fn {
	case "/", "mod", "floordiv":
		l, ok := e.Args[1].(*lang.Literal)
		return i == 1 || ok && !l.Value.IsZero()
	case "*":
		for k, a := range e.Args {
			if k != i && (math.IsInf(s.bound(a), 1) || s.endless(a)) {
				return s.forbidden()
			}
		}
	}
	return true
}

// lawFor is the law by which an expression may be moved apart, nil if there is none.
func lawFor(e lang.Expr) *law {
	switch e := e.(type) {
	case *lang.Reduce:
		return lawOf(e)
	case *lang.Call:
		if e.Fn == laws[0].product && laws[0].holds(e.Typ) && hasSum(e) {
			return &laws[0]
		}
	case *lang.Select:
		if a, ok := e.Cond.(*lang.Access); ok && a.Tensor.StoredOf != nil && isZero(e.Else) && laws[0].holds(e.DType()) && hasSum(e.Then) {
			return &laws[0]
		}
	}
	return nil
}

// hasSum reports whether a product has a sum as a factor.
func hasSum(e lang.Expr) bool {
	switch e := e.(type) {
	case *lang.Reduce:
		return lawOf(e) == &laws[0]
	case *lang.Call:
		return (e.Fn == "*" || e.Fn == "neg") && slices.ContainsFunc(e.Args, hasSum)
	}
	return false
}

// plan is an order for each term of a query.
type plan struct {
	query *query
	roots []*node
	finds []*search
	cost  float64
	flat  float64 // of one nest a term
	split bool    // there are intermediates
}

// planned searches the orders of a query; nil if there is no query.
func (s *statement) planned(e lang.Expr, l *law, expand bool) *plan {
	q := s.query(e, l, expand)
	if q == nil || s.preserve && (q.masked() || !q.terms[0].connected()) {
		return nil
	}
	p := &plan{query: q}
	for _, t := range q.terms {
		f := q.search(t)
		root, cost, flat := f.best()
		p.roots, p.finds = append(p.roots, root), append(p.finds, f)
		p.cost, p.flat = p.cost+cost, p.flat+flat
		p.split = p.split || slices.ContainsFunc(root.kids, func(k *node) bool { return k.factor == nil })
	}
	return p
}

// optimise finds the best order of a query, and reports whether it is another than the written one.
func (s *statement) optimise(e lang.Expr, l *law, c context) bool {
	defer func(preserve, signed bool) { s.preserve, s.signed = preserve, signed }(s.preserve, s.signed)
	s.preserve, s.signed, s.alone = s.sparseResult || !c.safe || c.signed && s.signs(e), c.signed, c.root
	p := s.planned(e, l, false)
	if p == nil {
		return false
	}
	asRead, written, how := p, p.flat, "another order"
	var expanded *plan
	if l.fold == lang.Sum && compound(e) && !s.preserve {
		if x := s.planned(e, l, true); x != nil && len(x.query.terms) > 1 {
			if expanded = x; x.cost < cost.Worthwhile*p.cost || s.Eager {
				p, how = x, "products of sums are multiplied out"
			}
		}
	}
	better := p.cost < cost.Worthwhile*written || s.Eager && (p.split || len(p.query.terms) > 1)
	hoist := s.hoisted(p, c)
	separate := s.separate(p, e, c.called, len(p.roots) == 1 && (c.root || hoist))
	s.weigh(asRead, expanded, p, hoist, better)
	switch {
	case better || hoist:
	case separate:
		how = "a sum is made by itself"
	case len(p.query.terms) == 1 && p.query.nests && !p.split: // sums in products run in one nest
		how = "nested sums are one"
	default:
		return false
	}
	s.replaced[e] = s.emit(p, hoist)
	s.note("%s: %s, estimated cost %.2g instead of %.2g", s.stmt.LHS.Tensor.Name, how, p.cost, written)
	return true
}
