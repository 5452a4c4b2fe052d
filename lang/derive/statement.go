package derive

import (
	"maps"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// place is where in a statement an adjoint stands: the indices that are visible, and the
// conditions under which the value there is chosen by the where around it. What the rules
// make of the values that are not chosen, such as 1/0, is kept out at the end.
type place struct {
	vars       []*lang.Index
	conditions []lang.Node
}

// within is the place inside a branch that is taken under a condition.
func (p place) within(cond lang.Node) place {
	return place{p.vars, append(slices.Clone(p.conditions), cond)}
}

// statement derives one statement.
type statement struct {
	*deriver
	stmt *lang.Stmt
	left []*lang.Index // the indices of the left side, each once
	// names gives every index of the statement a name of its own, which is no
	// tensor's either.
	names  map[*lang.Index]string
	taken  map[string]bool            // names of indices
	values map[lang.Expr]*lang.Ref    // results of reductions and scans that have a statement of their own
	merged map[string]*part           // contributions of this statement, by place
	counts map[*lang.Reduce]lang.Node // sizes of groups
}

func newStatement(d *deriver, s *lang.Stmt) *statement {
	sd := &statement{
		deriver: d, stmt: s, names: map[*lang.Index]string{}, taken: map[string]bool{},
		values: map[lang.Expr]*lang.Ref{}, merged: map[string]*part{}, counts: map[*lang.Reduce]lang.Node{},
	}
	for _, x := range s.Indices {
		base := x.Name
		if base == "" {
			base = "s"
		}
		sd.names[x] = d.index(base, sd.taken)
	}
	sd.left, _ = indicesOf(s.LHS)
	sd.left = sd.ordered(sd.left)
	return sd
}

// upstream is the adjoint of the left side. Of slices a copy is made, whose extents are those of the right side.
func (s *statement) upstream() lang.Node {
	lhs := s.stmt.LHS
	r := lang.RefOf(lhs, s.names)
	r.Name = s.adjoint[lhs.Tensor]
	if !slices.ContainsFunc(lhs.Indices, func(x lang.IndexExpr) bool { return x.Slice && plain(x) == nil }) {
		return s.computed(r)
	}
	from, to := &lang.Ref{Name: r.Name, Parens: true}, &lang.Ref{Name: s.fresh("g"), Parens: true}
	for k, x := range lhs.Indices {
		if x.Slice {
			from.Indices = append(from.Indices, sliceOf(x))
			to.Indices = append(to.Indices, &lang.RefIndex{Slice: &lang.Slice{Step: 1, Open: true}})
			r.Indices[k] = plainIndex(s.names[x.Terms[0].Var])
			continue
		}
		v := plainIndex(s.deriver.index("m", s.taken))
		from.Indices, to.Indices = append(from.Indices, v), append(to.Indices, v)
	}
	s.out = append(s.out, &lang.Assign{LHS: to, Op: lang.Set, RHS: from})
	r.Name = to.Name
	return s.computed(r)
}

// computed is an element of the adjoint of a result, in the type in which it is computed with.
func (s *statement) computed(r *lang.Ref) lang.Node {
	if s.narrowResult && s.adjoint[s.stmt.LHS.Tensor] == s.given {
		return cast(tensor.Float32, r)
	}
	return r
}

// value writes an expression whose value the chain rule needs. Reductions and scans in
// it become statements, so that none is computed again for every element.
func (s *statement) value(e lang.Expr) (lang.Node, *lang.Error) {
	var failed *lang.Error
	n := lang.NodeOf(e, s.names, func(x lang.Expr) lang.Node {
		switch x.(type) {
		case *lang.Reduce, *lang.Scan:
		default:
			return nil
		}
		if s.values[x] == nil && failed == nil {
			s.values[x], failed = s.materialise(x)
		}
		if failed != nil {
			return zero()
		}
		return s.values[x]
	})
	return n, failed
}

// materialise adds a statement for the value of a reduction or scan. What it folds reads
// the statements of inner ones, so that equal values are equal to the bit.
func (s *statement) materialise(e lang.Expr) (*lang.Ref, *lang.Error) {
	vars, _ := indicesOf(e)
	var value lang.Node
	var err *lang.Error
	switch e := e.(type) {
	case *lang.Reduce:
		if err = s.ofOperands(e.Vars, e.Body, e.Pos); err == nil {
			value, err = s.folded(e)
		}
	case *lang.Scan:
		if err = s.ofOperands(e.Vars, e.Body, e.Pos); err != nil {
			break
		}
		var body lang.Node
		body, err = s.value(e.Body)
		same := s.running(e, e.Op.String(), nil, body)
		same.Options = e.Words()
		value = same
	}
	if err != nil {
		return nil, err
	}
	return s.define("t", s.ordered(vars), value)
}

// define adds a statement for a value over the given indices.
func (s *statement) define(base string, vars []*lang.Index, value lang.Node) (*lang.Ref, *lang.Error) {
	names := s.spell(vars)
	value, err := s.carry(value, vars)
	if err != nil {
		return nil, err
	}
	r := ref(s.fresh(base), names)
	s.out = append(s.out, &lang.Assign{LHS: r, Op: lang.Set, RHS: value})
	s.noteGroup(r.Name, vars)
	return r, nil
}

// noteGroup notes that a tensor runs over some axes of the operand, if vars are indices that stand alone where
// the statement reads it.
func (s *statement) noteGroup(name string, vars []*lang.Index) {
	for _, a := range lang.Accesses(s.stmt.RHS) {
		if a.Tensor != s.wrt || !whole(a) || len(vars) == 0 || len(vars) == len(a.Indices) {
			continue
		}
		axes := make([]int, len(vars))
		for k, v := range vars {
			axes[k] = slices.IndexFunc(a.Indices, func(x lang.IndexExpr) bool { return plain(x) == v })
		}
		if !slices.Contains(axes, -1) {
			s.groups = append(s.groups, Group{name, axes})
			return
		}
	}
}

// shared returns an adjoint that may be computed many times, as the element of a
// tensor if it is more than a number or an element already.
func (s *statement) shared(g lang.Node, at place) (lang.Node, *lang.Error) {
	if cheap(g) {
		return g, nil
	}
	g = only(at.conditions, g)
	used := map[string]bool{}
	eachIndexName(g, func(name string) { used[name] = true })
	var vars []*lang.Index
	for _, v := range at.vars {
		if used[s.names[v]] {
			vars = append(vars, v)
		}
	}
	return s.define("g", vars, g)
}

// cheap reports whether computing a node again costs nothing to speak of.
func cheap(n lang.Node) bool {
	switch n := n.(type) {
	case *lang.Ref, *lang.Number, *lang.Const:
		return true
	case *lang.Unary:
		return cheap(n.X)
	case *lang.Apply:
		_, err := tensor.ParseDType(n.Name)
		return err == nil && cheap(n.Args[0])
	}
	return false
}

// spell lists the names of indices.
func (s *statement) spell(vars []*lang.Index) []string {
	names := make([]string, len(vars))
	for i, v := range vars {
		names[i] = s.names[v]
	}
	return names
}

// ordered sorts indices as the statement has them.
func (s *statement) ordered(vars []*lang.Index) []*lang.Index {
	vars = slices.Clone(vars)
	slices.SortFunc(vars, func(a, b *lang.Index) int { return a.ID - b.ID })
	return slices.Compact(vars)
}

// indicesOf lists the indices that e takes from outside and those that it binds.
func indicesOf(e lang.Expr) (free, bound []*lang.Index) {
	note := func(x lang.IndexExpr) {
		for _, t := range x.Terms {
			free = append(free, t.Var)
		}
	}
	lang.Walk(e, func(x lang.Expr) bool {
		switch x := x.(type) {
		case *lang.Access:
			for _, i := range x.Indices {
				note(i)
			}
		case *lang.Like:
			for _, a := range x.Accesses {
				for _, i := range a.Indices {
					note(i)
				}
			}
		case *lang.IndexValue:
			free = append(free, x.Var)
		case *lang.Scan:
			free = append(free, x.Indices()...)
		case *lang.Reduce:
			for _, v := range x.Vars {
				bound = append(bound, v.Var)
			}
		}
		return true
	})
	free = slices.DeleteFunc(free, func(v *lang.Index) bool { return slices.Contains(bound, v) })
	return free, bound
}

// carry makes sure that the value tells how far each of the indices runs, as the
// statement that is derived does.
func (s *statement) carry(value lang.Node, vars []*lang.Index) (lang.Node, *lang.Error) {
	var carriers []lang.Node
	for _, v := range vars {
		if usedPlainly(value, s.names[v]) || slices.ContainsFunc(carriers, func(n lang.Node) bool { return usedPlainly(n, s.names[v]) }) {
			continue
		}
		list, err := s.carriers(v, vars)
		if err != nil {
			return nil, err
		}
		carriers = append(carriers, list...)
	}
	if len(carriers) == 0 {
		return value, nil
	}
	return &lang.Apply{Name: "like", Args: append([]lang.Node{value}, carriers...)}, nil
}

// carriers lists elements that give an index its extent: one that it indexes by itself
// if there is any, else all it occurs in.
func (s *statement) carriers(v *lang.Index, vars []*lang.Index) ([]lang.Node, *lang.Error) {
	byItself := func(a *lang.Access) bool {
		return slices.ContainsFunc(a.Indices, func(x lang.IndexExpr) bool { return plain(x) == v })
	}
	accesses := s.accesses()
	if i := slices.IndexFunc(accesses, byItself); i >= 0 {
		return []lang.Node{s.carrier(accesses[i], s.names, func(x lang.IndexExpr) bool { return plain(x) == v })}, nil
	}
	if v.Like != nil {
		list, err := s.carriers(v.Like, vars)
		for i, n := range list {
			list[i] = renamed(n, map[string]string{s.names[v.Like]: s.names[v]})
		}
		return list, err
	}
	holds := func(x lang.IndexExpr) bool {
		return slices.ContainsFunc(x.Terms, func(t lang.Term) bool { return t.Var == v })
	}
	var list []lang.Node
	for _, a := range accesses {
		for _, x := range a.Indices {
			if holds(x) && slices.ContainsFunc(x.Terms, func(t lang.Term) bool { return !slices.Contains(vars, t.Var) }) {
				return []lang.Node{s.length(v)}, nil
			}
		}
		if slices.ContainsFunc(a.Indices, holds) {
			list = append(list, s.carrier(a, s.names, holds))
		}
	}
	return list, nil
}

// accesses lists all that says how far the indices of the statement run: what the right side
// reads or is like, then the left side and what that gathers from.
func (s *statement) accesses() []*lang.Access {
	return slices.Concat(lang.Accesses(s.stmt.RHS), likes(s.stmt.RHS), lang.Accesses(s.stmt.LHS))
}

// length adds a statement for a tensor that v indexes by itself. Its extent follows from all that the statement
// indexes, as there: t(i) = sum_k like(0.0, x(i+k), w(k)).
func (s *statement) length(v *lang.Index) lang.Node {
	names := maps.Clone(s.names)
	var others []string
	for _, x := range s.stmt.Indices {
		if x.Like != nil {
			names[x] = names[x.Like] // earlier in the list
			continue
		}
		if x != v {
			others = append(others, names[x])
		}
	}
	args := []lang.Node{number("0.0")}
	for _, a := range s.accesses() {
		r := s.carrier(a, names, func(x lang.IndexExpr) bool { return x.Gather == nil })
		if r.Parens {
			args = append(args, r)
		}
	}
	r := ref(s.fresh("e"), []string{names[v]})
	s.out = append(s.out, &lang.Assign{LHS: r, Op: lang.Set, RHS: fold("sum", others, nil, call("like", args...))})
	return r
}

// likes lists the accesses of e that give extents only.
func likes(e lang.Expr) []*lang.Access {
	var list []*lang.Access
	lang.Walk(e, func(x lang.Expr) bool {
		if l, ok := x.(*lang.Like); ok {
			list = append(list, l.Accesses...)
		}
		return true
	})
	return list
}

// carrier is an access that is not read, with 0 for every index that says nothing: what that
// names may be bound elsewhere only.
func (s *statement) carrier(a *lang.Access, names map[*lang.Index]string, says func(lang.IndexExpr) bool) *lang.Ref {
	r := lang.RefOf(a, names)
	switch of := a.Tensor.StoredOf; {
	case of != nil:
		r.Name = of.Name
	case a == s.stmt.LHS:
		r.Name = s.adjoint[a.Tensor]
	}
	for k, x := range a.Indices {
		if !says(x) {
			r.Indices[k] = &lang.RefIndex{Terms: []*lang.IndexTerm{{}}}
		}
	}
	return r
}

// plain is the variable of an index that runs over its whole dimension, that of the slice : too, or nil.
func plain(x lang.IndexExpr) *lang.Index {
	if x.Open {
		x.Slice = false
	}
	return x.Plain()
}
