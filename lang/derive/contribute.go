package derive

import (
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/lang"
)

// part is one contribution to the adjoint of a tensor: its value at the element that
// vars name, a name for each dimension.
type part struct {
	vars  []string
	value lang.Node
}

// contribute adds the adjoint g at an access to what is known of the tensor's adjoint:
// it is summed over all indices of the scope that do not determine the element.
//
// An index that stands alone in a dimension names the coordinate there. In an affine
// index i+k one variable follows from the coordinate m and the others, i = m-k: the
// variable must be on the left side, where the upstream adjoint is zero outside the
// range. A gather becomes a scatter. Everything else, such as 2*i, becomes a condition: the
// terms of the sum at the element m are those with m == 2*i.
func (s *statement) contribute(a *lang.Access, g lang.Node, at place) *lang.Error {
	if scatters(a) {
		return s.scatter(a, g, at)
	}
	if copiesPart(s.stmt) {
		s.paste(a)
		return nil
	}
	scope := at.vars
	left := slices.Clone(scope)
	conditions := append(s.limits(scope), at.conditions...)
	vars := make([]string, len(a.Indices))
	for k, x := range a.Indices {
		if v := plain(x); v != nil && slices.Contains(left, v) {
			vars[k] = s.names[v]
			left = without(left, v)
		}
	}
	var solved []solution
	for k, x := range a.Indices {
		if vars[k] != "" {
			continue
		}
		m := s.deriver.index("m", s.taken)
		vars[k] = m
		v, by, ok := s.solve(s.through(x, solved), m, left)
		if ok && !comesPlain(only(conditions, g), append(solved, solution{s.names[v], by}), m, elementOf{a.Tensor.Name, k}) {
			left = without(left, v)
			solved = append(solved, solution{s.names[v], by})
			if !s.vanishes(g) {
				within, err := s.inRange(v, by)
				if err != nil {
					return err
				}
				conditions = append(conditions, within...)
			}
			continue
		}
		conditions = append(conditions, binary("==", &lang.Ref{Name: m}, s.coordinate(x)))
	}
	value, err := s.carry(only(conditions, g), left)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		value = fold("sum", s.spell(left), nil, value)
	}
	value = eliminateAll(value, solved)
	if !allPlain(value, vars) {
		value = call("like", value, ref(a.Tensor.Name, vars))
	}
	s.add(a.Tensor, vars, value)
	return nil
}

// vanishes reports whether an adjoint is zero where an index that is eliminated leaves its range: a product of the adjoint of the
// result, which is zero there, and of elements of operands. Other values may be anything there: 1/w(i-1) is 1/0, and a result has its
// own fill.
func (s *statement) vanishes(g lang.Node) bool {
	given := false
	var product func(n lang.Node) bool
	product = func(n lang.Node) bool {
		switch n := n.(type) {
		case *lang.Number:
			return true
		case *lang.Paren:
			return product(n.X)
		case *lang.Unary:
			return n.Op == "-" && product(n.X)
		case *lang.Binary:
			return n.Op == "*" && product(n.X) && product(n.Y)
		case *lang.Ref:
			if n.Name == s.given {
				given = true
				return true
			}
			return n.Parens && slices.ContainsFunc(s.prog.Tensors, func(t *lang.Tensor) bool {
				return t.Name == n.Name && t.Operand && !t.Result && t.StoredOf == nil && t.Fill.IsZero()
			})
		}
		return false
	}
	return product(g) && given
}

// inRange lists the conditions that an index which is a sum of others is one of its values.
func (s *statement) inRange(v *lang.Index, by affine) ([]lang.Node, *lang.Error) {
	i := &lang.Ref{Name: s.names[v]}
	one, err := s.carry(number("1"), []*lang.Index{v})
	if err != nil {
		return nil, err
	}
	n, err := refOf(s.define("n", nil, fold("sum", s.spell([]*lang.Index{v}), nil, one)))
	if err != nil {
		return nil, err
	}
	list := []lang.Node{binary("<", i, n)}
	if by.rest < 0 || slices.ContainsFunc(by.terms, func(t *lang.IndexTerm) bool { return t.Coef < 0 }) {
		list = append([]lang.Node{binary(">=", i, zero())}, list...)
	}
	return list, nil
}

// limits are the conditions that the indices of slices with an end run no further.
func (s *statement) limits(scope []*lang.Index) []lang.Node {
	var list []lang.Node
	for _, v := range scope {
		if v.Length >= 0 {
			list = append(list, binary("<", &lang.Ref{Name: s.names[v]}, integer(v.Length)))
		}
	}
	return list
}

// only is x where all conditions hold, and 0 elsewhere.
func only(conditions []lang.Node, x lang.Node) lang.Node {
	if len(conditions) == 0 {
		return x
	}
	all := conditions[0]
	for _, c := range conditions[1:] {
		all = binary("and", all, c)
	}
	return where(all, x, zero())
}

// scatter is contribute for an access that gathers: a statement of its own adds what
// belongs to each element, s(p(i)) += g(i).
func (s *statement) scatter(a *lang.Access, g lang.Node, at place) *lang.Error {
	scope := at.vars
	var vars []string
	for range a.Indices {
		vars = append(vars, s.deriver.index("m", s.taken))
	}
	sum := s.zeros(a.Tensor, vars)
	conditions, left := append(s.limits(scope), at.conditions...), slices.Clone(scope)
	target := &lang.Ref{Name: sum.Name, Parens: true}
	used := map[string]bool{}
	for k, x := range a.Indices {
		v := plain(x)
		switch {
		case x.Gather != nil:
			target.Indices = append(target.Indices, &lang.RefIndex{Terms: []*lang.IndexTerm{{Coef: 1, Gather: lang.RefOf(x.Gather, s.names)}}})
			inner, _ := indicesOf(x.Gather)
			for _, v := range inner {
				left = without(left, v)
			}
		case v != nil && slices.Contains(scope, v) && !used[s.names[v]]:
			used[s.names[v]] = true
			target.Indices = append(target.Indices, plainIndex(s.names[v]))
			left = without(left, v)
		default:
			target.Indices = append(target.Indices, plainIndex(vars[k]))
			conditions = append(conditions, binary("==", &lang.Ref{Name: vars[k]}, s.coordinate(x)))
		}
	}
	value, err := s.carry(only(conditions, g), left)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		value = fold("sum", s.spell(left), nil, value)
	}
	s.out = append(s.out, &lang.Assign{LHS: target, Op: lang.AddTo, RHS: value})
	s.add(a.Tensor, vars, sum)
	return nil
}

// zeros adds a statement that makes zeros to which the adjoint of a tensor is added: of an operand that is sparse where it
// stores something.
func (s *statement) zeros(t *lang.Tensor, vars []string) *lang.Ref {
	sum := ref(s.fresh("s"), vars)
	s.out = append(s.out, &lang.Assign{LHS: sum, Op: lang.Set, RHS: s.start(t, vars, wide(t.DType), "0")})
	return sum
}

// solution says that an index is a sum of others.
type solution struct {
	name string
	by   affine
}

// elementOf is a dimension of a tensor.
type elementOf struct {
	name string
	dim  int
}

// eliminateAll writes indices as sums of others, where a sum may have indices that are written so later.
func eliminateAll(n lang.Node, solved []solution) lang.Node {
	for _, e := range solved {
		n = eliminate(n, e.name, e.by)
	}
	return n
}

// comesPlain reports whether n indexes some dimension other than one with m by itself once indices are replaced: m
// would have to run as far as both.
func comesPlain(n lang.Node, solved []solution, m string, except elementOf) bool {
	found := false
	lang.Inspect(eliminateAll(n, solved), func(x lang.Node) {
		r, ok := x.(*lang.Ref)
		if !ok {
			return
		}
		for k, i := range r.Indices {
			plain := len(i.Terms) == 1 && i.Terms[0].Gather == nil && i.Terms[0].Name == m && i.Terms[0].Coef == 1
			found = found || plain && (elementOf{r.Name, k}) != except
		}
	})
	return found
}

// through writes an index as a sum in which nothing is left of what is solved.
func (s *statement) through(x lang.IndexExpr, solved []solution) affine {
	sum := affine{rest: x.Const}
	for _, t := range x.Terms {
		sum.add(s.names[t.Var], t.Coef)
	}
	for _, e := range solved {
		sum = sum.replace(e.name, e.by)
	}
	return sum
}

// solve writes one variable of an index through the coordinate m and the others.
func (s *statement) solve(x affine, m string, open []*lang.Index) (*lang.Index, affine, bool) {
	for _, t := range x.terms {
		at := slices.IndexFunc(open, func(v *lang.Index) bool { return s.names[v] == t.Name })
		if at < 0 || t.Coef != 1 && t.Coef != -1 || !open[at].Free || !s.plainLeft(open[at]) {
			continue
		}
		by := affine{rest: -t.Coef * x.rest}
		by.add(m, t.Coef)
		for _, o := range x.terms {
			if o != t {
				by.add(o.Name, -t.Coef*o.Coef)
			}
		}
		return open[at], by, true
	}
	return nil, affine{}, false
}

// plainLeft reports whether v stands alone in a dimension of the left side.
func (s *statement) plainLeft(v *lang.Index) bool {
	return slices.ContainsFunc(s.stmt.LHS.Indices, func(x lang.IndexExpr) bool { return plain(x) == v })
}

// coordinate writes an index as a number.
func (s *statement) coordinate(x lang.IndexExpr) lang.Node {
	if x.Gather != nil {
		return lang.RefOf(x.Gather, s.names)
	}
	sum := affine{rest: x.Const}
	for _, t := range x.Terms {
		sum.add(s.names[t.Var], t.Coef)
	}
	return sum.node()
}

// allPlain reports whether every name indexes some tensor in n by itself.
func allPlain(n lang.Node, vars []string) bool {
	return !slices.ContainsFunc(vars, func(v string) bool { return !usedPlainly(n, v) })
}

// add notes a contribution. Those of one statement at the same element are one.
func (s *statement) add(t *lang.Tensor, vars []string, value lang.Node) {
	key := t.Name + "(" + strings.Join(vars, ",")
	if p := s.merged[key]; p != nil {
		p.value = binary("+", p.value, value)
		return
	}
	p := &part{vars: vars, value: value}
	s.merged[key] = p
	s.parts[t] = append(s.parts[t], p)
}

// at is the value of a contribution at the element that vars name.
func (d *deriver) at(p *part, vars []string) lang.Node {
	names := map[string]string{}
	taken := map[string]bool{}
	for k, v := range p.vars {
		names[v] = vars[k]
		taken[vars[k]] = true
	}
	var others []string
	eachIndexName(p.value, func(name string) {
		if names[name] == "" && !d.taken[name] && !slices.Contains(others, name) {
			others = append(others, name)
		}
	})
	for _, name := range others { // what the value binds itself
		names[name] = d.index(name, taken)
	}
	return renamed(p.value, names)
}

func without(list []*lang.Index, v *lang.Index) []*lang.Index {
	return slices.DeleteFunc(slices.Clone(list), func(x *lang.Index) bool { return x == v })
}
