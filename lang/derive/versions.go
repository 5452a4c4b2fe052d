package derive

import (
	"slices"
	"strconv"

	"github.com/lacuna-sparse/lacuna/lang"
)

// versions gives every value of a tensor that is assigned again a name of its own, so that derived statements can read
// any of them (static single assignment; Cytron et al., TOPLAS 13(4), 1991, without joins: programs have no branches).
//
//	t(i) = x(i); t(i) *= z(i); t(0:3) = w(:)
//
// becomes
//
//	t(i) = x(i); t1(i) = t(i)*z(i); t2(m) = t1(m); t2(0:3) = w(:)
//
// Statements of a result are then one that assigns it whole, or copies an earlier version of it, and updates that
// nothing reads in between: any number of +=, or one assignment to a part, or one scatter, which need the copied value. += in place
// stays where nothing needs the value before. The file is returned as it is if no name is needed. written says of each new name
// which one the program has for it.
func versions(file *lang.File, p *lang.Program, wrt string, fresh func(base string) string) (versioned *lang.File, written map[string]string) {
	v := &versioner{wrt: wrt, fresh: fresh, written: map[string]string{}, tensors: map[string]*lang.Tensor{}, latest: map[string]string{}, known: map[string]bool{}, read: map[string]bool{}}
	for _, t := range p.Tensors {
		if t.StoredOf == nil {
			v.tensors[t.Name], v.latest[t.Name], v.known[t.Name] = t, t.Name, t.Operand
		}
	}
	out := &lang.File{Source: file.Source}
	for i, a := range file.Stmts {
		out.Stmts = append(out.Stmts, v.statement(a, p.Stmts[i])...)
	}
	if len(v.written) == 0 {
		return file, nil
	}
	return out, v.written
}

// versioner renames statement after statement.
type versioner struct {
	wrt     string
	fresh   func(base string) string
	tensors map[string]*lang.Tensor // by name in the program
	latest  map[string]string       // the name of a tensor's value
	known   map[string]bool         // the tensor has a value
	read    map[string]bool         // by name of a version: something reads it
	written map[string]string       // the name in the program, by name of a version
}

// statement writes one statement with versions.
func (v *versioner) statement(a *lang.Assign, s *lang.Stmt) []*lang.Assign {
	rhs, left := v.node(a.RHS), v.indices(a.LHS)
	t, old := s.LHS.Tensor, *left
	old.Name = v.latest[t.Name]
	has := v.known[t.Name]
	v.known[t.Name] = true
	if !has || a.Op == lang.AddTo && !v.read[old.Name] && old.Name != v.wrt && !(t.Operand && narrow(t.DType)) {
		return []*lang.Assign{{Pos: a.Pos, LHS: &old, Op: a.Op, RHS: rhs}}
	}
	left.Name = v.fresh(t.Name)
	v.written[left.Name] = t.Name
	v.latest[t.Name] = left.Name
	value := converted(s, rhs)
	switch {
	case scatters(s.LHS):
		if slices.ContainsFunc(s.LHS.Indices, func(x lang.IndexExpr) bool { return x.Slice }) {
			value = call("like", value, sliceCarrier(&old)) // the slices of the left side say how far those of the right run
		}
		v.read[left.Name] = a.Op != lang.AddTo // the chain rule compares with the value
		return append(v.copied(t, old.Name, left), &lang.Assign{Pos: a.Pos, LHS: left, Op: a.Op, RHS: value})
	case a.Op == lang.AddTo && !whole(s.LHS):
		return append(v.copied(t, old.Name, left), &lang.Assign{Pos: a.Pos, LHS: left, Op: a.Op, RHS: value})
	}
	v.read[old.Name] = true
	value = updated(s, &old, value)
	if whole(s.LHS) {
		if a.Op == lang.Set && len(old.Indices) > 0 {
			value = call("like", value, &old)
		}
		return []*lang.Assign{{Pos: a.Pos, LHS: left, Op: lang.Set, RHS: value}}
	}
	return append(v.copied(t, old.Name, left), &lang.Assign{Pos: a.Pos, LHS: left, Op: lang.Set, RHS: value})
}

// copied starts a version, of which left names a part, with the value of the one before.
func (v *versioner) copied(t *lang.Tensor, old string, left *lang.Ref) []*lang.Assign {
	v.read[old] = true
	names := make([]string, t.Rank)
	for k := range names {
		names[k] = "m"
		if k > 0 {
			names[k] += strconv.Itoa(k)
		}
	}
	return []*lang.Assign{{Pos: left.Pos, LHS: ref(left.Name, names), Op: lang.Set, RHS: ref(old, names)}}
}

// converted is the right side in the type of the tensor, which its version would not have by itself.
func converted(s *lang.Stmt, rhs lang.Node) lang.Node {
	dt := s.LHS.Tensor.DType
	if narrow(dt) {
		return rhs // versions are f32
	}
	if call, ok := rhs.(*lang.Apply); ok && call.Name == dt.String() {
		return rhs
	}
	switch s.RHS.(type) {
	case *lang.Cast, *lang.Literal:
		return cast(dt, rhs)
	}
	return rhs
}

// updated is the value that an update gives an element.
func updated(s *lang.Stmt, old *lang.Ref, value lang.Node) lang.Node {
	fn, ok := updates[s.Op]
	if !ok {
		return value
	}
	switch s.Op {
	case lang.MinTo, lang.MaxTo:
		return &lang.Apply{Pos: s.Pos, Name: fn, Args: []lang.Node{old, value}}
	}
	return &lang.Binary{Pos: s.Pos, Op: fn, X: old, Y: parenthesised(value)}
}

// sliceCarrier is the element of a tensor at the slices of r, and at 0 in other dimensions.
func sliceCarrier(r *lang.Ref) *lang.Ref {
	out := &lang.Ref{Pos: r.Pos, Name: r.Name, Parens: true}
	for _, x := range r.Indices {
		if x.Slice == nil {
			x = &lang.RefIndex{Terms: []*lang.IndexTerm{{}}}
		}
		out.Indices = append(out.Indices, x)
	}
	return out
}

// node is n with the latest versions of tensors.
func (v *versioner) node(n lang.Node) lang.Node {
	return rewrite(n, func(x lang.Node) lang.Node {
		switch x := x.(type) {
		case *lang.Ref:
			return v.ref(x)
		case *lang.Fold:
			out := *x
			out.Vars = slices.Clone(x.Vars)
			for i, f := range x.Vars {
				if f.In != "" {
					w := *f
					w.In = v.version(f.In)
					out.Vars[i] = &w
				}
			}
			out.Body = v.node(x.Body)
			if x.Q != nil {
				out.Q = v.node(x.Q)
			}
			return &out
		}
		return nil
	})
}

// ref is the element of the latest version, or an index.
func (v *versioner) ref(r *lang.Ref) *lang.Ref {
	out := v.indices(r)
	if t := v.tensors[r.Name]; t != nil && (r.Parens || t.Rank == 0) {
		out.Name = v.version(r.Name)
	}
	return out
}

// version is the latest name of a tensor that is read.
func (v *versioner) version(name string) string {
	v.read[v.latest[name]] = true
	return v.latest[name]
}

// indices is r with the latest versions of the tensors that its indices gather from.
func (v *versioner) indices(r *lang.Ref) *lang.Ref {
	out := &lang.Ref{Pos: r.Pos, Name: r.Name, Parens: r.Parens}
	for _, x := range r.Indices {
		out.Indices = append(out.Indices, gathering(x, v.ref))
	}
	return out
}

// gathering is an index with other tensors for those that it gathers from.
func gathering(x *lang.RefIndex, from func(*lang.Ref) *lang.Ref) *lang.RefIndex {
	out := &lang.RefIndex{Pos: x.Pos, Slice: x.Slice}
	for _, t := range x.Terms {
		u := *t
		if t.Gather != nil {
			u.Gather = from(t.Gather)
		}
		out.Terms = append(out.Terms, &u)
	}
	return out
}
