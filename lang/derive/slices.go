package derive

import (
	"maps"
	"slices"
	"strconv"

	"github.com/lacuna-sparse/lacuna/lang"
)

// copySlices puts every slice of a part of an axis that an expression reads into a statement of its own:
//
//	y = exp(x(0:3))
//
// becomes
//
//	c(:) = x(0:3); y = exp(c(:))
//
// In a gradient indices have names, and run as far as the tensors that they index; of c that is as far as in
// the slice. Left alone are slices of what `in` and `stored` ask for, since what c stores is up to the planner. The file is
// returned as it is if nothing is to be copied. New names are not among those taken.
func copySlices(file *lang.File, taken map[string]bool) *lang.File {
	c := &copier{taken: maps.Clone(taken)}
	for _, n := range file.Names() {
		c.taken[n.Name] = true
	}
	for _, a := range file.Stmts {
		eachIndexName(a.RHS, func(name string) { c.taken[name] = true })
	}
	out := &lang.File{Source: file.Source}
	for _, a := range file.Stmts {
		if isCopy(a) {
			out.Stmts = append(out.Stmts, a)
			continue
		}
		c.kept = map[string]bool{}
		lang.Inspect(a.RHS, func(n lang.Node) {
			if f, ok := n.(*lang.Fold); ok {
				for _, v := range f.Vars {
					c.kept[v.In] = true
				}
			}
		})
		rhs := c.node(a.RHS)
		out.Stmts = append(append(out.Stmts, c.copies...), &lang.Assign{Pos: a.Pos, LHS: a.LHS, Op: a.Op, RHS: rhs})
		c.copies = nil
	}
	if len(out.Stmts) == len(file.Stmts) {
		return file
	}
	return out
}

// copier rewrites one statement after the other.
type copier struct {
	taken  map[string]bool
	kept   map[string]bool // tensors that the statement has behind `in`
	copies []*lang.Assign  // that the statement needs
}

// node is n with elements of copies in the place of slices.
func (c *copier) node(n lang.Node) lang.Node {
	return rewrite(n, func(x lang.Node) lang.Node {
		switch x := x.(type) {
		case *lang.Ref:
			return c.ref(x)
		case *lang.Apply:
			if x.Name == "stored" {
				return x
			}
		}
		return nil
	})
}

// ref is the element of a copy, if r has a slice, or else r with its gathers rewritten.
func (c *copier) ref(r *lang.Ref) *lang.Ref {
	out := &lang.Ref{Pos: r.Pos, Name: r.Name, Parens: r.Parens}
	from := &lang.Ref{Pos: r.Pos, Name: r.Name, Parens: r.Parens}
	to := &lang.Ref{Pos: r.Pos, Parens: r.Parens}
	found := false
	for k, x := range r.Indices {
		if takesPart(x) && !c.kept[r.Name] {
			found = true
			from.Indices = append(from.Indices, x)
			x = &lang.RefIndex{Pos: x.Pos, Slice: &lang.Slice{Step: 1, Open: true}}
			to.Indices = append(to.Indices, x)
		} else {
			v := "i" + strconv.Itoa(k)
			for c.taken[v] {
				v += "0"
			}
			from.Indices = append(from.Indices, plainIndex(v))
			to.Indices = append(to.Indices, plainIndex(v))
			x = gathering(x, c.ref)
		}
		out.Indices = append(out.Indices, x)
	}
	if !found {
		return out
	}
	for n := 0; to.Name == "" || c.taken[to.Name]; n++ {
		to.Name = "c" + strconv.Itoa(n)
	}
	c.taken[to.Name] = true
	out.Name = to.Name
	c.copies = append(c.copies, &lang.Assign{Pos: r.Pos, LHS: to, Op: lang.Set, RHS: from})
	return out
}

// takesPart reports whether an index is a slice that need not be the whole axis.
func takesPart(x *lang.RefIndex) bool {
	return x.Slice != nil && (!x.Slice.Open || x.Slice.Lo != 0 || x.Slice.Step != 1)
}

// isCopy reports whether a statement copies slices, as those of copySlices do.
func isCopy(a *lang.Assign) bool {
	r, ok := a.RHS.(*lang.Ref)
	if !ok || a.Op != lang.Set {
		return false
	}
	count := func(r *lang.Ref) (sliced int, plain []string, good bool) {
		for _, x := range r.Indices {
			switch {
			case x.Slice != nil:
				sliced++
			case len(x.Terms) == 1 && x.Terms[0].Coef == 1 && x.Terms[0].Gather == nil && x.Terms[0].Name != "" && !slices.Contains(plain, x.Terms[0].Name):
				plain = append(plain, x.Terms[0].Name)
			default:
				return 0, nil, false
			}
		}
		return sliced, plain, true
	}
	left, to, good := count(a.LHS)
	right, from, alike := count(r)
	slices.Sort(to)
	slices.Sort(from)
	return good && alike && !slices.ContainsFunc(a.LHS.Indices, takesPart) && left == right && slices.Equal(to, from)
}

// copiesPart reports whether a statement copies slices of a tensor: the adjoint of what is copied goes back to where it
// came from.
func copiesPart(s *lang.Stmt) bool {
	a, ok := s.RHS.(*lang.Access)
	return ok && s.Op == lang.Set && whole(s.LHS) && slices.ContainsFunc(a.Indices, func(x lang.IndexExpr) bool { return x.Slice && plain(x) == nil }) &&
		!slices.ContainsFunc(a.Indices, func(x lang.IndexExpr) bool { return x.Gather != nil || !x.Slice && plain(x) == nil })
}

// paste adds the adjoint of a copy of slices to the elements that were copied.
func (s *statement) paste(a *lang.Access) {
	vars := make([]string, len(a.Indices))
	for k := range vars {
		vars[k] = s.deriver.index("m", s.taken)
	}
	sum := s.zeros(a.Tensor, vars)
	target, copied := lang.RefOf(a, s.names), lang.RefOf(s.stmt.LHS, s.names)
	target.Name, copied.Name = sum.Name, s.adjoint[s.stmt.LHS.Tensor]
	sliced(a, target)
	sliced(s.stmt.LHS, copied)
	s.out = append(s.out, &lang.Assign{LHS: target, Op: lang.AddTo, RHS: copied})
	s.add(a.Tensor, vars, sum)
}

// sliced writes the slices of an access as such in r: the n-th of two tensors run together, which named indices of
// different extents would not.
func sliced(a *lang.Access, r *lang.Ref) {
	for k, x := range a.Indices {
		if x.Slice {
			r.Indices[k] = sliceOf(x)
		}
	}
}

// sliceOf writes an index that came from a slice as one.
func sliceOf(x lang.IndexExpr) *lang.RefIndex {
	t := x.Terms[0]
	slice := &lang.Slice{Lo: x.Const, Step: t.Coef, Open: x.Open}
	if !x.Open {
		slice.Hi = x.Const + t.Coef*t.Var.Length
	}
	return &lang.RefIndex{Slice: slice}
}
