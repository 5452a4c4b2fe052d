package logic

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
)

// The rule of this file: products of sums are multiplied out, (a + b)*c = a*c + b*c and (a - b)^2 = a*a - 2*a*b + b*b, where the
// sum of the costs falls. A residual of low rank, sum_{i,j} (A(i,j) - sum_k U(i,k)*V(j,k))^2, becomes
// three small products; a sum of operands that are stored in different orders, two sums. What cancels rounds
// otherwise than written: see docs/numerics.md.

// collected adds up the terms that are alike.
func (q *query) collected() []*term {
	var list []*term
	at := map[string]*term{}
	for _, t := range q.terms {
		key := q.canonical(t)
		if same := at[key]; same != nil {
			same.times += t.times
			continue
		}
		at[key] = t
		list = append(list, t)
	}
	return slices.DeleteFunc(list, func(t *term) bool { return t.times == 0 })
}

// canonical writes a term so that two that are written alike have one value.
func (q *query) canonical(t *term) string {
	names := map[*lang.Index]string{}
	for v, name := range q.names {
		if names[v] = name; slices.Contains(t.vars, v) {
			names[v] = "?"
		}
	}
	type text struct {
		sort string
		expr lang.Expr
	}
	var list []text
	for _, f := range t.factors {
		list = append(list, text{fmt.Sprint(f.mask, lang.FormatNode(lang.NodeOf(f.expr, names, nil))), f.expr})
	}
	for _, e := range t.coefs {
		list = append(list, text{"0" + lang.FormatNode(lang.NodeOf(e, names, nil)), e})
	}
	slices.SortStableFunc(list, func(a, b text) int { return strings.Compare(a.sort, b.sort) })
	n := 0
	var b strings.Builder
	for _, x := range list {
		lang.Walk(x.expr, func(e lang.Expr) bool {
			if a, ok := e.(*lang.Access); ok {
				for _, i := range a.Indices {
					if v := i.Plain(); v != nil && names[v] == "?" {
						n++
						names[v] = fmt.Sprintf("?%d", n)
					}
				}
			}
			return true
		})
		b.WriteString(x.sort[:1] + lang.FormatNode(lang.NodeOf(x.expr, names, nil)) + ";")
	}
	return b.String()
}

// copied is an expression with indices of its own in the place of those that it binds.
func (s *statement) copied(e lang.Expr) lang.Expr {
	to := map[*lang.Index]*lang.Index{}
	lang.Walk(e, func(x lang.Expr) bool {
		if r, ok := x.(*lang.Reduce); ok {
			for _, v := range r.Vars {
				c := *v.Var
				to[v.Var] = &c
				s.names[&c] = s.freshIndex(c.Name)
				s.extents[&c] = s.extents[v.Var]
			}
		}
		return true
	})
	return substituted(e, to)
}

// substituted is an expression with other indices; scans and what else query does not read stay as they are.
func substituted(e lang.Expr, to map[*lang.Index]*lang.Index) lang.Expr {
	list := func(args []lang.Expr) []lang.Expr {
		out := make([]lang.Expr, len(args))
		for i, a := range args {
			out[i] = substituted(a, to)
		}
		return out
	}
	switch e := e.(type) {
	case *lang.Access:
		c := *e
		c.Indices = slices.Clone(e.Indices)
		for i := range c.Indices {
			c.Indices[i].Terms = slices.Clone(c.Indices[i].Terms)
			for k, t := range c.Indices[i].Terms {
				if v := to[t.Var]; v != nil {
					c.Indices[i].Terms[k].Var = v
				}
			}
		}
		return &c
	case *lang.IndexValue:
		if v := to[e.Var]; v != nil {
			return &lang.IndexValue{Pos: e.Pos, Var: v}
		}
	case *lang.Cast:
		return &lang.Cast{Pos: e.Pos, To: e.To, X: substituted(e.X, to)}
	case *lang.Call:
		return &lang.Call{Pos: e.Pos, Fn: e.Fn, Args: list(e.Args), Typ: e.Typ}
	case *lang.Select:
		x := list([]lang.Expr{e.Cond, e.Then, e.Else})
		return &lang.Select{Pos: e.Pos, Cond: x[0], Then: x[1], Else: x[2]}
	case *lang.Reduce:
		c := *e
		c.Body = substituted(e.Body, to)
		c.Vars = slices.Clone(e.Vars)
		for i, v := range c.Vars {
			if w := to[v.Var]; w != nil {
				c.Vars[i].Var = w
			}
		}
		return &c
	}
	return e
}

// isSquare reports whether a call is the square of its first argument.
func isSquare(e *lang.Call) bool {
	if e.Fn == "square" {
		return true
	}
	if e.Fn != "^" && e.Fn != "pow" {
		return false
	}
	l, ok := e.Args[1].(*lang.Literal)
	return ok && l.Value.Complex128() == 2
}

// compound reports whether an expression has sums to multiply out.
func compound(e lang.Expr) bool {
	found := false
	lang.Walk(e, func(x lang.Expr) bool {
		c, ok := x.(*lang.Call)
		_, fold := x.(*lang.Reduce)
		found = found || fold || ok && (c.Fn == "+" || c.Fn == "-")
		return true
	})
	return found
}

// multiply is the product of sums of products.
func (q *query) multiply(e *lang.Call, expand bool) ([]*term, bool) {
	terms := []*term{{times: 1}}
	for _, a := range e.Args {
		_, fold := a.(*lang.Reduce)
		q.nests = q.nests || fold && q.depth > 0
		more, ok := q.read(a, expand)
		if !ok || len(terms)*len(more) > cost.MostTerms*cost.MostTerms {
			return nil, false
		}
		var all []*term
		for _, t := range terms {
			for _, m := range more {
				all = append(all, t.by(m))
			}
		}
		terms = all
	}
	return terms, true
}

// by is the product of two terms. Terms that come of one may share indices: each binds them for itself.
func (t *term) by(m *term) *term {
	return &term{t.times * m.times, slices.Concat(t.coefs, m.coefs), slices.Concat(t.factors, m.factors), slices.Concat(t.vars, m.vars)}
}

// add is a sum of sums of products.
func (q *query) add(e *lang.Call) ([]*term, bool) {
	x, ok := q.read(e.Args[0], true)
	y, also := q.read(e.Args[1], true)
	if e.Fn == "-" {
		for _, t := range y {
			t.times = -t.times
		}
	}
	return append(x, y...), ok && also
}
