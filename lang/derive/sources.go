package derive

import (
	"slices"
	"strconv"

	"github.com/lacuna-sparse/lacuna/lang"
)

// A result like t(i,j) = 2*A(i,j) depends on a sparse operand A only where that stores something, so its adjoint is
// needed nowhere else. It is stored there only: an adjoint like dy(i)*x(j) would take the product of the extents.

// source is the condition that the operand stores the one element through which an element of a result depends on
// it, or another condition outside of which the operand does not move the element: what is computed from A(i,j)/t(i) or where(stored(A(i,j)), …, 0)
// may depend on all of A, but only there. The indices of the result's dimensions have the names of position(k) there.
type source struct{ stored lang.Node }

func position(k int) string { return "#" + strconv.Itoa(k) }

// at is the condition for the element of the result at vars.
func (o source) at(vars []string) lang.Node {
	names := map[string]string{}
	for k, v := range vars {
		names[position(k)] = v
	}
	return renamed(o.stored, names)
}

// noteSource finds the source of a result that one statement assigns, if it has one. What depends on the operand is known
// up to there.
func (d *deriver) noteSource(s *lang.Stmt, again bool) {
	t := s.LHS.Tensor
	delete(d.zeroOutside, t)
	if again && !d.dependent(s.RHS) {
		return // elements that are changed depend on nothing more
	}
	delete(d.sources, t)
	if again || s.Op != lang.Set || t.Operand || !whole(s.LHS) {
		return
	}
	names := map[*lang.Index]string{}
	for k, x := range s.LHS.Indices {
		names[plain(x)] = position(k)
	}
	if a, ok := s.RHS.(*lang.Access); ok && copiesPart(s) {
		d.sources[t] = source{d.pattern(s, a, names)}
		return
	}
	at := &statement{deriver: d, stmt: s, names: names}
	stored := d.sourceOf(s.RHS, names)
	if _, copied := stored.(*lang.Ref); !copied {
		if by := at.support(s.RHS); indicesIn(by) > indicesIn(stored) {
			stored = by
		}
	}
	if stored != nil {
		d.sources[t] = source{stored}
	}
	if stored := at.pattern(s.RHS); stored != nil {
		d.zeroOutside[t] = source{stored}
	}
}

// pattern is the source of a copy of slices: an element of a copy of what the operand stores there. nil if
// the operand is not what is copied.
func (d *deriver) pattern(s *lang.Stmt, a *lang.Access, names map[*lang.Index]string) lang.Node {
	if a.Tensor != d.wrt || d.wrt.Format.IsDense() {
		return nil
	}
	to, from := lang.RefOf(s.LHS, names), lang.RefOf(a, names)
	element := lang.RefOf(s.LHS, names)
	to.Name = d.fresh("b")
	element.Name = to.Name
	sliced(s.LHS, to)
	sliced(a, from)
	plainNames := map[string]string{}
	taken := map[string]bool{}
	for k := range s.LHS.Indices {
		plainNames[position(k)] = d.index("m", taken)
	}
	d.patterns = append(d.patterns, &lang.Assign{LHS: renamed(to, plainNames).(*lang.Ref), Op: lang.Set, RHS: renamed(call("stored", from), plainNames)})
	return element
}

// usedPatterns lists the statements of pattern whose results the derived ones read.
func (d *deriver) usedPatterns() []*lang.Assign {
	read := map[string]bool{}
	for _, a := range d.out {
		eachName(a.RHS, func(name string) { read[name] = true })
	}
	return slices.DeleteFunc(d.patterns, func(a *lang.Assign) bool { return !read[a.LHS.Name] })
}

// sourceOf is the condition that a sparse operand stores the one element through which e depends on it, where names
// has all indices in that; or nil.
func (d *deriver) sourceOf(e lang.Expr, names map[*lang.Index]string) lang.Node {
	if d.wrt.Format.IsDense() {
		return nil
	}
	moves := false // a scan or sort, whose results depend on other elements of the line too
	lang.Walk(e, func(x lang.Expr) bool {
		scan, ok := x.(*lang.Scan)
		moves = moves || ok && d.dependent(scan)
		return true
	})
	if moves {
		return nil
	}
	var found lang.Node
	for _, a := range lang.Accesses(e) {
		if !d.depends[a.Tensor] {
			continue
		}
		stored := d.sourceAt(a, names)
		if stored == nil || found != nil && lang.FormatNode(found) != lang.FormatNode(stored) {
			return nil
		}
		found = stored
	}
	return found
}

// sourceAt is sourceOf for an access of the operand or of a result that depends on it.
func (d *deriver) sourceAt(a *lang.Access, names map[*lang.Index]string) lang.Node {
	var at []string // the names of indices that stand alone
	for _, x := range a.Indices {
		if x.Gather != nil || x.Slice && plain(x) == nil || slices.ContainsFunc(x.Terms, func(t lang.Term) bool { return names[t.Var] == "" }) {
			return nil
		}
		if v := plain(x); v != nil {
			at = append(at, names[v])
		}
	}
	if a.Tensor == d.wrt {
		return call("stored", lang.RefOf(a, names))
	}
	if o := d.sources[a.Tensor]; o.stored != nil && len(at) == len(a.Indices) {
		return o.at(at)
	}
	return nil
}

// relevant is the part of an adjoint of e that moves the operand.
func (s *statement) relevant(e lang.Expr, g lang.Node, at place) lang.Node {
	names := map[*lang.Index]string{}
	for _, v := range at.vars {
		names[v] = s.names[v]
	}
	return masked(s.sourceOf(e, names), g)
}

// masked is g where the condition holds, and 0 elsewhere; g if there is no condition.
func masked(stored, g lang.Node) lang.Node {
	if stored == nil || choosesBy(g, stored) {
		return g
	}
	return where(stored, g, zero())
}
