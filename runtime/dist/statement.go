package dist

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// statement is one statement of a program, with what is known of its tensors.
type statement struct {
	text    string
	file    *lang.File
	program *lang.Program
	*lang.Stmt
	strict  bool
	uses    []*use // every access, that on the left first if its tensor has a value before
	env     map[string]*Tensor
	extents []int64         // by index ID
	shape   []int64         // of the result
	in      map[folded]*use // by an index of a reduction or scan: the tensor whose stored elements it goes over
	whole   string          // why it cannot be cut, along any index
}

// folded is an index of the reduction or scan at some place, by its number there.
type folded struct {
	at lang.Pos
	k  int
}

// use is one access of a statement to a tensor that is there before it.
type use struct {
	*lang.Access
	ref    *lang.Ref
	name   string // of the operand
	tensor *Tensor
	left   bool
	spread func(a, b int) spread // of its entries, over two axes, nil where it was not counted; nil: nothing is known
}

// read checks a statement against the tensors that are there.
func read(text string, env map[string]*Tensor, given func(string) bool, o Options) (*statement, error) {
	file, err := lang.Parse(text)
	if err != nil {
		return nil, err
	}
	lhs := file.Stmts[0].LHS.Name
	decls := map[string]lang.Decl{}
	for name, t := range env {
		fill := t.Fill
		decls[name] = lang.Decl{Rank: len(t.Shape), DType: t.DType, HasDType: true, Format: t.Format, HasFormat: true, Fill: &fill}
	}
	// What is assigned whole is a new result, unless a caller gave its tensor.
	if _, there := decls[lhs]; !there || !given(lhs) && file.Stmts[0].Op == lang.Set && plainLeft(file.Stmts[0].LHS) && !reads(file, lhs) {
		d := o.Results[lhs]
		decls[lhs] = lang.Decl{Rank: lang.AnyRank, DType: d.DType, HasDType: d.DType.Valid(), Format: d.Format, HasFormat: d.HasFormat, Fill: d.Fill, Shape: d.Shape, Result: true}
	}
	program, err := lang.Check(file, decls)
	if err != nil {
		return nil, err
	}
	s := &statement{text: text, file: file, program: program, Stmt: program.Stmts[0], strict: o.Strict, env: env, in: map[folded]*use{}}
	refs := map[lang.Pos]*lang.Ref{}
	for _, side := range []lang.Node{file.Stmts[0].LHS, file.Stmts[0].RHS} {
		lang.EachRef(side, func(r *lang.Ref) { refs[r.Pos] = r })
	}
	lang.Inspect(file.Stmts[0].RHS, func(n lang.Node) {
		if a, ok := n.(*lang.Apply); ok && len(a.Args) == 1 {
			if r, ok := a.Args[0].(*lang.Ref); ok && refs[a.Pos] == nil {
				refs[a.Pos] = r // stored(A(i,j)), which has the place of the word
			}
		}
	})
	add := func(a *lang.Access, left bool) error {
		name := a.Tensor.Name
		if of := a.Tensor.StoredOf; of != nil {
			name = of.Name
		}
		t := env[name]
		if t == nil {
			return fmt.Errorf("the operand %s is missing", name)
		}
		if refs[a.Pos] == nil || refs[a.Pos].Name != name {
			panic("BUG: no reference for an access")
		}
		s.uses = append(s.uses, &use{Access: a, ref: refs[a.Pos], name: name, tensor: t, left: left})
		return nil
	}
	left := lang.Accesses(s.LHS)
	if s.LHS.Tensor.Operand {
		err = add(s.LHS, true)
	}
	for _, a := range append(left[1:], lang.Accesses(s.RHS)...) {
		if err == nil {
			err = add(a, false)
		}
	}
	if err != nil {
		return nil, err
	}
	lang.Walk(s.RHS, func(e lang.Expr) bool {
		vars := func(at lang.Pos, list []lang.ReduceVar) {
			for k, v := range list {
				if v.In != nil {
					s.in[folded{at, k}] = s.use(v.InAccess)
				}
			}
		}
		switch e := e.(type) {
		case *lang.Like:
			s.whole = "like(…) gives extents of whole tensors"
			for _, a := range e.Accesses {
				for _, a := range lang.Accesses(a) {
					if err == nil {
						err = add(a, false)
					}
				}
			}
		case *lang.Reduce:
			vars(e.Pos, e.Vars)
		case *lang.Scan:
			vars(e.Pos, e.Vars)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if len(s.Schedule) > 0 {
		s.whole = "its schedule is for one rank"
	}
	shapes := map[string][]int64{}
	for name, t := range env {
		shapes[name] = t.Shape
	}
	bound, err := lang.Bind(program, shapes)
	if err != nil {
		return nil, err
	}
	s.shape = bound.Shapes[lhs]
	s.extents = bound.Index[0]
	return s, nil
}

// plainLeft reports whether every index on the left is a variable of its own.
func plainLeft(r *lang.Ref) bool {
	seen := map[string]bool{}
	for _, x := range r.Indices {
		if x.Slice != nil || len(x.Terms) != 1 || x.Terms[0].Gather != nil || x.Terms[0].Coef != 1 || x.Terms[0].Name == "" || seen[x.Terms[0].Name] {
			return false
		}
		seen[x.Terms[0].Name] = true
	}
	return true
}

// reads reports whether the one statement of a file reads a name, on the right or in an index.
func reads(file *lang.File, name string) (found bool) {
	look := func(r *lang.Ref) { found = found || r.Name == name }
	file.Stmts[0].LHS.EachGather(look)
	lang.EachRef(file.Stmts[0].RHS, look)
	return found
}

// axis is where an index stands by itself in an access; -1: nowhere.
func axis(a *lang.Access, v *lang.Index) int {
	return slices.IndexFunc(a.Indices, func(x lang.IndexExpr) bool { return x.Plain() == v })
}

// gates are the accesses of an expression without whose entries it is a gap of value 0.
func (s *statement) gates(e lang.Expr) []*lang.Access {
	if s.strict {
		return nil
	}
	switch e := e.(type) {
	case *lang.Access:
		if u := s.use(e); u != nil && e.Tensor.StoredOf == nil && !u.tensor.Format.IsDense() && u.tensor.Fill.Same(tensor.Zero(u.tensor.DType)) {
			return []*lang.Access{e}
		}
	case *lang.Cast:
		return s.gates(e.X)
	case *lang.Call:
		switch e.Fn {
		case "*", "and":
			return append(s.gates(e.Args[0]), s.gates(e.Args[1])...)
		case "/":
			return s.gates(e.Args[0])
		}
	case *lang.Reduce:
		if (e.Op == lang.Sum || e.Op == lang.Any) && e.Q == nil {
			return s.gates(e.Body)
		}
	}
	return nil
}

func (s *statement) use(a *lang.Access) *use {
	for _, u := range s.uses {
		if u.Access == a {
			return u
		}
	}
	return nil
}

// drivers are, by index, the accesses that have an entry at each coordinate of it that matters.
func (s *statement) drivers() map[*lang.Index][]*use {
	found := map[*lang.Index][]*use{}
	add := func(v *lang.Index, gates []*lang.Access) {
		for _, a := range gates {
			if u := s.use(a); u != nil && axis(a, v) >= 0 {
				found[v] = append(found[v], u)
			}
		}
	}
	lang.Walk(s.RHS, func(e lang.Expr) bool {
		fold, ok := e.(*lang.Reduce)
		if !ok {
			return true
		}
		for _, v := range fold.Vars {
			switch {
			case v.In != nil:
				// Elements that are not stored do not count, whatever they are.
				switch fold.Op {
				case lang.Sum, lang.Prod, lang.Min, lang.Max, lang.Any, lang.All, lang.Count:
					if u := s.use(v.InAccess); u != nil && !u.tensor.Format.IsDense() && axis(v.InAccess, v.Var) >= 0 {
						found[v.Var] = append(found[v.Var], u)
					}
				}
			case fold.Op == lang.Sum || fold.Op == lang.Any:
				add(v.Var, s.gates(fold.Body))
			}
		}
		return true
	})
	if s.Op == lang.Set {
		gates := s.gates(s.RHS)
		for _, v := range s.Indices {
			if v.Free {
				add(v, gates)
			}
		}
	}
	for v := range found {
		if s.whyNotPlain(v) != "" || !s.alone(v) {
			delete(found, v)
		}
	}
	return found
}
