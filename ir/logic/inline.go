package logic

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/internal/cost"
	"github.com/lacuna-sparse/lacuna/lang"
)

// The rule of this file: all statements are one graph. A result that nobody asks for, and that one product of one later statement
// reads, is computed as a part of that product, if the best order of the whole costs less than those of its parts: C(i,k) = A(i,j)*B(j,k);
// y(i) = C(i,k)*x(k) is A*(B*x), and a product of which another matrix masks all but few elements is computed at these.

// inner is a result that nobody asks for.
type inner struct {
	statement *statement
	gone      bool // it is part of another statement
}

// enter notes what a statement makes, and what it changes.
func (o *optimiser) enter(s *statement) {
	t := s.stmt.LHS.Tensor
	for of, in := range o.inner {
		if !in.gone && slices.Contains(tensorsIn(in.statement.stmt.RHS), t) {
			delete(o.inner, of)
		}
	}
	if o.Wanted == nil || slices.Contains(o.Wanted, t.Name) || t.Operand || t.HasFormat || t.FillKnown || t.Shape != nil {
		return
	}
	if s.stmt.Op == lang.Set && s.stmt.LHS.Whole() && lawFor(s.stmt.RHS) != nil && o.uses(t) == 1 {
		o.inner[t] = &inner{statement: s}
	}
}

// gone reports whether a result is not made any more.
func (o *optimiser) gone(t *lang.Tensor) bool { return o.inner[t] != nil && o.inner[t].gone }

// uses counts where a tensor occurs beside one statement that assigns it.
func (o *optimiser) uses(t *lang.Tensor) int {
	n := -1
	for _, s := range o.prog.Stmts {
		for _, u := range append(tensorsIn(s.LHS), tensorsIn(s.RHS)...) {
			if u == t || u.StoredOf == t {
				n++
			}
		}
	}
	return n
}

// inlined is a statement with the results in it that are better computed as parts of it.
func (o *optimiser) inlined(s *lang.Stmt) *statement {
	st := o.statement(s)
	for _, a := range lang.Accesses(s.RHS) {
		in := o.inner[a.Tensor]
		if in == nil || in.gone {
			continue
		}
		if with := st.with(a, in.statement); with != nil {
			in.gone, o.changed = true, true
			o.out = slices.DeleteFunc(o.out, func(x *lang.Assign) bool { return x.LHS.Name == a.Tensor.Name })
			st.note("%s is computed as a part of %s", a.Tensor.Name, s.LHS.Tensor.Name)
			st = with
		}
	}
	return st
}

// with is a statement in which what another one computes stands for an access; nil if that may mean something else or does not pay.
func (s *statement) with(a *lang.Access, def *statement) *statement {
	vars, plain := plainIndices(a)
	how, known := s.storedAs(s.stmt.LHS.Tensor)
	if !plain || !known || s.slices() {
		return nil
	}
	to := map[*lang.Index]*lang.Index{}
	for k, x := range def.stmt.LHS.Indices {
		to[x.Plain()] = vars[k]
	}
	stmt := *s.stmt
	stmt.Indices = slices.Clone(s.stmt.Indices)
	for _, v := range def.stmt.Indices {
		if to[v] == nil {
			c := *v
			if c.Like != nil {
				if c.Like = to[c.Like]; c.Like == nil {
					return nil
				}
			}
			to[v] = &c
			stmt.Indices = append(stmt.Indices, &c)
		}
	}
	value := substituted(def.stmt.RHS, to)
	stmt.RHS = replaced(s.stmt.RHS, a, value)
	whole := s.optimiser.statement(&stmt)
	whole.written = s.written
	whole.sparseResult = !how.Format.IsDense()
	whole.preserve = whole.sparseResult
	for v, x := range def.extents { // also those that no access tells
		if w := to[v]; w != nil && whole.extents[w] == 0 {
			whole.extents[w] = x
		}
	}
	// The largest product around the access must be one sum of products, which remains finite in any order, and is computed once.
	e := productAround(stmt.RHS, value)
	l := lawFor(e)
	if l == nil || e == value || e != stmt.RHS && l.fold != lang.Sum {
		return nil
	}
	if whole.sparseResult || !whole.safe(stmt.RHS, e) { // what is stored must be the same
		if t, ok := s.storedAs(a.Tensor); !ok || t.Format.IsDense() {
			return nil
		}
	}
	together := whole.planned(e, l, false)
	first := def.planned(def.stmt.RHS, l, false)
	if together == nil || first == nil || len(together.query.terms) != 1 || !whole.once(together.query) {
		return nil
	}
	costs := first.cost + cost.Statement + cost.Cell*s.facts[a.Tensor].n
	if !s.facts[a.Tensor].dense {
		costs += (cost.Entry - cost.Cell) * s.facts[a.Tensor].n
	}
	if then := s.planned(productAround(s.stmt.RHS, a), l, false); then != nil {
		costs += then.cost
	}
	if together.cost < cost.Worthwhile*costs || s.Eager {
		return whole
	}
	return nil
}

// once reports whether a query is computed once for each element of the result.
func (s *statement) once(q *query) bool {
	free := 0
	for _, v := range s.stmt.Indices {
		if v.Free {
			free++
		}
	}
	return free == len(q.free) && !slices.ContainsFunc(q.free, func(v *lang.Index) bool { return !v.Free })
}

// safe reports whether what is around a part depends on its value only, not on whether it is stored.
func (s *statement) safe(e, part lang.Expr) bool {
	safe := true
	lang.Walk(e, func(x lang.Expr) bool {
		c, ok := x.(*lang.Call)
		if x == part || !ok {
			return x != part
		}
		for i, a := range c.Args {
			safe = safe && (s.insensitive(c, i) || !contains(a, part))
		}
		return true
	})
	return safe
}

func contains(e, part lang.Expr) bool {
	found := false
	lang.Walk(e, func(x lang.Expr) bool {
		found = found || x == part
		return !found
	})
	return found
}

// productAround is the largest product, sum or mask around a part of an expression that nothing else stands between; nil if the part is
// alone.
func productAround(e, part lang.Expr) lang.Expr {
	if e == part {
		return e
	}
	found := func(list ...lang.Expr) lang.Expr {
		for _, x := range list {
			if in := productAround(x, part); in != nil {
				return in
			}
		}
		return nil
	}
	switch e := e.(type) {
	case *lang.Cast:
		return found(e.X)
	case *lang.Select:
		if in := found(e.Then, e.Else, e.Cond); in != e.Then || lawFor(e) == nil {
			return in
		}
		return e
	case *lang.Reduce:
		if in := found(e.Body); in != e.Body {
			return in
		}
		return e
	case *lang.Call:
		in := found(e.Args...)
		if in != nil && slices.Contains(e.Args, in) && (slices.ContainsFunc(laws, func(l law) bool { return l.product == e.Fn }) || e.Fn == "neg") {
			return e
		}
		return in
	}
	return nil
}

// replaced is an expression with another one in the place of a part.
func replaced(e, part, by lang.Expr) lang.Expr {
	if e == part {
		return by
	}
	switch e := e.(type) {
	case *lang.Cast:
		return &lang.Cast{Pos: e.Pos, To: e.To, X: replaced(e.X, part, by)}
	case *lang.Select:
		return &lang.Select{Pos: e.Pos, Cond: replaced(e.Cond, part, by), Then: replaced(e.Then, part, by), Else: replaced(e.Else, part, by)}
	case *lang.Reduce:
		c := *e
		c.Body = replaced(e.Body, part, by)
		return &c
	case *lang.Call:
		c := *e
		c.Args = slices.Clone(e.Args)
		for i, a := range c.Args {
			c.Args[i] = replaced(a, part, by)
		}
		return &c
	}
	return e
}
