package derive

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
)

// Results that are one of the elements, unchanged: their adjoints go to the element that was
// chosen. Where it stood is a number, a row-major position along the indices of the scan, and the
// adjoints are scattered there: s(i,p(i,j)) += g(i,j).

// runningExtreme sends the adjoint of every result to the last element, in the order of the scan,
// that was as large or as small as all before it (torch's rule for cummax: of equal elements the later one has it all). A NaN
// counts as the extreme, like in torch; after it the results are NaN.
func (s *statement) runningExtreme(e *lang.Scan, g lang.Node, at place) (lang.Node, *lang.Error) {
	x, err := s.rounded(e.Body)
	if err != nil {
		return nil, err
	}
	inclusive := *e
	inclusive.Options = slices.DeleteFunc(slices.Clone(e.Options), func(o string) bool { return o == "exclusive" })
	f, err := s.value(&inclusive)
	if err != nil {
		return nil, err
	}
	sets := binary("or", binary("==", x, f), binary("!=", x, x))
	if e.Stored() {
		return s.latestStored(e, g, sets, at)
	}
	position, extents, err := s.position(e)
	if err != nil {
		return nil, err
	}
	free, _ := indicesOf(e)
	way := wayOf(e)
	latest, err := s.define("p", s.ordered(free), s.running(e, way.running, e.Options, where(sets, position, way.none)))
	if err != nil {
		return nil, err
	}
	if !e.Exclusive() { // the first element is one
		return s.send(e, g, latest, extents, at)
	}
	to, err := s.define("p", s.ordered(free), where(way.some(latest), latest, zero()))
	if err != nil {
		return nil, err
	}
	return s.send(e, where(way.some(latest), g, zero()), to, extents, at)
}

// way says how to find the latest of the coordinates that a scan has gone through: they grow, or if it
// runs in reverse shrink, so it is a running extreme of them.
type way struct {
	running, last string    // the scan and the reduction that find it
	none          lang.Node // what they give where there is none
	reverse       bool
}

func wayOf(e *lang.Scan) way {
	if e.Reverse() {
		return way{lang.CumMin.String(), lang.Min.String(), number("9223372036854775807"), true}
	}
	return way{lang.CumMax.String(), lang.Max.String(), integer(-1), false}
}

// some is true where a coordinate was found. An exclusive scan begins with another value than none.
func (w way) some(latest lang.Node) lang.Node {
	if w.reverse {
		return binary("<", latest, w.none)
	}
	return binary(">=", latest, zero())
}

// sorted sends the adjoint of every element of a sorted line to where it came from.
func (s *statement) sorted(e *lang.Scan, g lang.Node, at place) (lang.Node, *lang.Error) {
	body, err := s.value(e.Body)
	if err != nil {
		return nil, err
	}
	_, extents, err := s.position(e)
	if err != nil {
		return nil, err
	}
	free, _ := indicesOf(e)
	places := fold(lang.ArgSort.String(), s.spell(e.Indices()), nil, body)
	places.Options = e.Words()
	from, err := s.define("p", s.ordered(free), places)
	if err != nil {
		return nil, err
	}
	if e.First > 0 { // what is behind is 0 and came from nowhere
		at := &lang.Ref{Name: s.names[e.Vars[0].Var]}
		g = where(binary("<", at, integer(e.First)), g, zero())
	}
	return s.send(e, g, from, extents, at)
}

// position writes the row-major position along the indices of a scan, and the extents that it is
// made of: of all but the first, if there are several.
func (s *statement) position(e *lang.Scan) (position lang.Node, extents []lang.Node, err *lang.Error) {
	for i, v := range e.Indices() {
		var at lang.Node = &lang.Ref{Name: s.names[v]}
		if i == 0 {
			position = at
			continue
		}
		one, err := s.carry(number("1"), []*lang.Index{v})
		if err != nil {
			return nil, nil, err
		}
		n, err := s.define("n", nil, fold("sum", s.spell([]*lang.Index{v}), nil, one))
		if err != nil {
			return nil, nil, err
		}
		extents = append(extents, n)
		position = binary("+", binary("*", n, parenthesised(position)), at)
	}
	return position, extents, nil
}

// parenthesised is n in parentheses if it is an operation.
func parenthesised(n lang.Node) lang.Node {
	if _, ok := n.(*lang.Binary); ok {
		return &lang.Paren{X: n}
	}
	return n
}

// send adds every element of g to the element of a new tensor at the position that the same
// element of to holds, along the indices of e.
func (s *statement) send(e *lang.Scan, g lang.Node, to *lang.Ref, extents []lang.Node, at place) (lang.Node, *lang.Error) {
	g, err := s.shared(g, at)
	if err != nil {
		return nil, err
	}
	used := map[string]bool{}
	eachIndexName(g, func(name string) { used[name] = true })
	vars, _ := indicesOf(e)
	for _, v := range at.vars {
		if used[s.names[v]] {
			vars = append(vars, v)
		}
	}
	vars = s.ordered(vars)
	zeros := s.visited(e, cast(wide(e.Typ), zero()))
	if a := s.sparse(e.Body, vars); a != nil && e.First > 0 { // few elements go to gaps
		zeros = where(call("stored", lang.RefOf(a, s.names)), zeros, zero())
	}
	sum, err := s.define("s", vars, zeros)
	if err != nil {
		return nil, err
	}
	along, err := s.coordinates(e, to, extents)
	if err != nil {
		return nil, err
	}
	target := &lang.Ref{Name: sum.Name, Parens: true}
	for _, v := range vars {
		if c := along[v]; c != nil {
			target.Indices = append(target.Indices, &lang.RefIndex{Terms: []*lang.IndexTerm{{Coef: 1, Gather: c}}})
			continue
		}
		target.Indices = append(target.Indices, plainIndex(s.names[v]))
	}
	s.out = append(s.out, &lang.Assign{LHS: target, Op: lang.AddTo, RHS: g})
	return sum, nil
}

// sparse is the access of a sparse operand, at vars and nothing else, that e is, or nil.
func (s *statement) sparse(e lang.Expr, vars []*lang.Index) *lang.Access {
	if c, ok := e.(*lang.Cast); ok {
		e = c.X
	}
	a, ok := e.(*lang.Access)
	if !ok || !a.Tensor.Operand || a.Tensor.Result || a.Tensor.StoredOf != nil || a.Tensor.Format.IsDense() || len(a.Indices) != len(vars) {
		return nil
	}
	for _, v := range vars {
		if !slices.ContainsFunc(a.Indices, func(x lang.IndexExpr) bool { return plain(x) == v }) {
			return nil
		}
	}
	return a
}

// coordinates splits positions into a coordinate for each index of e, an element of a tensor.
func (s *statement) coordinates(e *lang.Scan, to *lang.Ref, extents []lang.Node) (map[*lang.Index]*lang.Ref, *lang.Error) {
	list := e.Indices()
	along := map[*lang.Index]*lang.Ref{list[0]: to}
	free, _ := indicesOf(e)
	free = s.ordered(free)
	var rest lang.Node = to
	for i := len(list) - 1; i > 0; i-- {
		n := call("max", extents[i-1], number("1"))
		c, err := s.define("p", free, call("mod", rest, n))
		if err != nil {
			return nil, err
		}
		along[list[i]] = c
		if rest, err = refOf(s.define("p", free, call("floordiv", rest, n))); err != nil {
			return nil, err
		}
	}
	if len(list) > 1 {
		along[list[0]] = rest.(*lang.Ref)
	}
	return along, nil
}
