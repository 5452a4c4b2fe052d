package derive

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
)

// latestStored adds the adjoint of every result of a scan with `in` to the latest element, in the order
// of the scan, where sets holds.
//
// Positions over several axes need not fit an integer, so elements are found axis by axis. An
// entry's latest element is in its own line along the last axis, at
//
//	p(i,j) = cummax_{j in A} where(sets(i,j), j, -1)
//
// or it is the last one of a line before. Which line is found in the same way, by the scan over all axes,
// q(i,j) = cummax_{i,j in A} where(sets(i,j), i, -1), and what goes there is collected by line:
//
//	s(i,p(i,j)) += where(p(i,j) >= 0, g(i,j), 0)
//	r(q(i,j)) += where(p(i,j) < 0 and q(i,j) >= 0, g(i,j), 0)
//	last(i) = max_{j in A} where(sets(i,j), j, -1)
//
// The adjoint is s(i,j) + where(j == last(i), r(i), 0). With more axes r goes to its elements alike.
func (s *statement) latestStored(e *lang.Scan, g, sets lang.Node, at place) (lang.Node, *lang.Error) {
	g, err := s.shared(g, at)
	if err != nil {
		return nil, err
	}
	way, list := wayOf(e), e.Indices()
	free, _ := indicesOf(e)
	free = s.ordered(free)
	outside := without(free, nil)
	for _, v := range list {
		outside = without(outside, v)
	}
	used := map[string]bool{}
	eachIndexName(g, func(name string) { used[name] = true })
	carried := slices.Clone(free) // the indices of what is sent
	for _, v := range at.vars {
		if used[s.names[v]] && !slices.Contains(carried, v) {
			carried, outside = append(carried, v), append(outside, v)
		}
	}
	// sums[k] has what goes to elements along the axes up to k.
	sums := make([]*lang.Ref, len(list))
	var nearer []lang.Node // no element was found along the later axes
	for k := len(list) - 1; k >= 0; k-- {
		coordinate := where(sets, &lang.Ref{Name: s.names[list[k]]}, way.none)
		latest, err := s.define("p", free, s.over(e.Vars[k:], way.running, e.Options, s.storedBy(e.Vars, coordinate, way.none)))
		if err != nil {
			return nil, err
		}
		here := append(slices.Clone(nearer), way.some(latest))
		to, err := s.define("p", free, s.visited(e, only(here, latest)))
		if err != nil {
			return nil, err
		}
		sent, err := s.define("g", s.ordered(carried), s.visited(e, only(here, g)))
		if err != nil {
			return nil, err
		}
		if sums[k], err = s.perPrefix(e, "s", "sum", append(slices.Clone(outside), list[:k+1]...), s.visited(e, cast(wide(e.Typ), zero()))); err != nil {
			return nil, err
		}
		target := &lang.Ref{Name: sums[k].Name, Parens: true}
		for _, x := range sums[k].Indices {
			if x.Terms[0].Name == s.names[list[k]] {
				x = &lang.RefIndex{Terms: []*lang.IndexTerm{{Coef: 1, Gather: to}}}
			}
			target.Indices = append(target.Indices, x)
		}
		s.out = append(s.out, &lang.Assign{LHS: target, Op: lang.AddTo, RHS: sent})
		nearer = append(nearer, &lang.Unary{Op: "not", X: &lang.Paren{X: way.some(latest)}})
	}
	return s.handDown(e, sets, sums, outside)
}

// handDown adds what was sent to a line to the last element of the line where sets holds, axis by axis.
func (s *statement) handDown(e *lang.Scan, sets lang.Node, sums []*lang.Ref, outside []*lang.Index) (lang.Node, *lang.Error) {
	way, list := wayOf(e), e.Indices()
	free, _ := indicesOf(e)
	var adjoint lang.Node = sums[0]
	for k := 1; k < len(list); k++ {
		coordinate := s.storedBy(e.Vars, where(sets, &lang.Ref{Name: s.names[list[k]]}, way.none), way.none)
		before := slices.DeleteFunc(slices.Clone(free), func(v *lang.Index) bool { return slices.Contains(list[k:], v) })
		last, err := s.perPrefix(e, "m", way.last, before, coordinate)
		if err != nil {
			return nil, err
		}
		handed := where(binary("==", &lang.Ref{Name: s.names[list[k]]}, last), adjoint, zero())
		if k+1 == len(list) {
			return s.visited(e, binary("+", sums[k], handed)), nil
		}
		within, err := s.perPrefix(e, "b", "any", append(slices.Clone(before), list[k]), s.storedBy(e.Vars, &lang.Const{Name: "true"}, &lang.Const{Name: "false"}))
		if err != nil {
			return nil, err
		}
		vars := append(slices.Clone(outside), list[:k+1]...)
		if adjoint, err = refOf(s.define("s", s.ordered(vars), binary("+", sums[k], where(within, handed, zero())))); err != nil {
			return nil, err
		}
	}
	return adjoint, nil
}

// perPrefix adds a statement that reduces x, which is read where e runs, over the axes of e that are not among vars.
func (s *statement) perPrefix(e *lang.Scan, base, op string, vars []*lang.Index, x lang.Node) (*lang.Ref, *lang.Error) {
	rest := slices.DeleteFunc(slices.Clone(e.Vars), func(v lang.ReduceVar) bool { return slices.Contains(vars, v.Var) })
	if len(rest) > 0 {
		x = s.over(rest, op, nil, x)
	}
	return s.define(base, s.ordered(vars), x)
}
