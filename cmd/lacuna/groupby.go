package main

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/operand"
	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/show"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// group gives a value to what a program folds into by labels and that has none, such as G in
//
//	G(c(i),j) += A(i,j)
//
// with c a column of labels: as many rows as there are labels, of what the operator leaves unchanged.
func (e *evaluation) group() error {
	assigned, read := map[string]bool{}, map[string]bool{} // what is read before has no value yet, which compiling tells
	for _, s := range e.program.file.Stmts {
		for _, n := range []lang.Node{s.LHS, s.RHS} {
			lang.EachRef(n, func(r *lang.Ref) { read[r.Name] = read[r.Name] || r != s.LHS })
		}
		name := s.LHS.Name
		_, shaped := e.shapes[name]
		if s.Op != lang.Set && !assigned[name] && !read[name] && e.args[name] == nil && !shaped {
			if err := e.groupInto(s); err != nil {
				return err
			}
		}
		assigned[name] = true
		e.carryNames(s)
	}
	return nil
}

// carryNames gives an axis of a result the names of an axis that is read at the same index, such as those of H in
//
//	H(k,j) = G(k,j)/n(k)
func (e *evaluation) carryNames(s *lang.Assign) {
	if s.Op != lang.Set {
		return
	}
	names := make(show.AxisNames, len(s.LHS.Indices))
	lang.EachRef(s.RHS, func(r *lang.Ref) {
		for axis, x := range r.Indices {
			list := e.names[r.Name].Of(axis)
			for k, index := range s.LHS.Indices {
				if name := plainIndex(index); list != nil && name != "" && plainIndex(x) == name {
					names[k] = list
				}
			}
		}
	})
	e.names[s.LHS.Name] = names
}

// groupInto makes the tensor that a statement folds into, if the extents follow from labels and operands.
func (e *evaluation) groupInto(s *lang.Assign) error {
	shape, names, labelled := make([]int64, len(s.LHS.Indices)), make(show.AxisNames, len(s.LHS.Indices)), false
	for k, index := range s.LHS.Indices {
		if len(index.Terms) != 1 {
			return nil
		}
		switch term := index.Terms[0]; {
		case term.Gather != nil && e.labels[term.Gather.Name] != nil:
			shape[k], labelled = int64(len(e.labels[term.Gather.Name])), true
			names[k] = e.labels[term.Gather.Name]
		case plainIndex(index) != "":
			n, ok := e.extent(s.RHS, term.Name)
			if !ok {
				return nil
			}
			shape[k] = n
		default:
			return nil
		}
	}
	if !labelled {
		return nil
	}
	start, known := neutral(s.Op, e.foldType(s))
	if !known {
		return fmt.Errorf("%s: nothing is left unchanged by %s of this type: pass %s as an operand", s.LHS.Name, s.Op, s.LHS.Name)
	}
	format, err := e.takeDeclared(s.LHS.Name, len(shape), start.DType())
	if err != nil {
		return err
	}
	total := cli.Elements(shape)
	if total > math.MaxInt32 {
		return fmt.Errorf("%s would have %s elements: pass it as an operand", s.LHS.Name, cli.FormatElements(shape))
	}
	values, err := tensor.MakeArray(start.DType(), int(total))
	if err != nil {
		return err
	}
	if !start.IsZero() {
		for i := range values.Len() {
			values.SetScalar(i, start)
		}
	}
	e.names[s.LHS.Name], e.starts[s.LHS.Name] = names, start
	e.args[s.LHS.Name], err = tensor.FromDense(shape, format, values)
	return err
}

// withStarts are the operands, with those that were made for sums by labels and that nobody declared.
func (e *evaluation) withStarts() []operand.Operand {
	list := slices.Clone(e.operands)
	for _, name := range slices.Sorted(maps.Keys(e.starts)) {
		if !slices.ContainsFunc(list, func(o operand.Operand) bool { return o.Name == name }) {
			list = append(list, operand.Operand{Name: name})
		}
	}
	return list
}

// extent is how far an index runs, by the operands that a right side reads at it.
func (e *evaluation) extent(rhs lang.Node, index string) (n int64, ok bool) {
	lang.EachRef(rhs, func(r *lang.Ref) {
		var shape []int64
		if t, ok := e.args[r.Name].(*tensor.Tensor); ok {
			shape = t.Shape()
		} else if e.stream != nil && e.stream.name == r.Name {
			shape = e.stream.slices.Shape()
		}
		if len(shape) != len(r.Indices) {
			return
		}
		for axis, x := range r.Indices {
			if plainIndex(x) == index {
				n, ok = shape[axis], true
			}
		}
	})
	return n, ok
}

// foldType is the type in which values of a right side are summed; f64 if the program has mistakes, which compiling tells of.
func (e *evaluation) foldType(s *lang.Assign) tensor.DType {
	f, err := lang.Parse(s.LHS.Name + " = " + lang.FormatNode(s.RHS))
	if err != nil {
		return tensor.Float64
	}
	decls := map[string]lang.Decl{}
	for name, u := range e.program.uses {
		if u.needed && e.indexes(name) {
			decls[name] = lang.Decl{Rank: u.rank, DType: tensor.Int64, HasDType: true}
		}
	}
	for _, o := range e.operands {
		if o.Source == nil && o.Qual.DType.Valid() && e.program.uses[o.Name].needed {
			decls[o.Name] = lang.Decl{Rank: e.program.uses[o.Name].rank, DType: o.Qual.DType, HasDType: true}
		}
	}
	for name, o := range e.args {
		if t, ok := o.(*tensor.Tensor); ok {
			decls[name] = lang.Decl{Rank: t.Rank(), DType: t.DType(), HasDType: true}
		}
	}
	if s := e.stream; s != nil {
		decls[s.name] = lang.Decl{Rank: 2, DType: s.dtype, HasDType: true}
	}
	p, err := lang.Check(f, decls)
	if err != nil {
		return tensor.Float64
	}
	at := slices.IndexFunc(p.Tensors, func(t *lang.Tensor) bool { return t.Name == s.LHS.Name })
	if dt := p.Tensors[at].DType; dt != tensor.Bool || s.Op == lang.OrTo || s.Op == lang.AndTo {
		return dt
	}
	return tensor.Int64
}

// typeOf is the type of an operand of which nothing is said: that of what is summed into it, i64 of an index, or f64.
func (e *evaluation) typeOf(name string) tensor.DType {
	for _, s := range e.program.file.Stmts {
		if s.LHS.Name == name && s.Op != lang.Set {
			return e.foldType(s)
		}
	}
	if e.indexes(name) {
		return tensor.Int64
	}
	return tensor.Float64
}

// indexes reports whether the values of an operand are used as an index.
func (e *evaluation) indexes(name string) (found bool) {
	for _, s := range e.program.file.Stmts {
		for _, n := range []lang.Node{s.LHS, s.RHS} {
			lang.EachRef(n, func(r *lang.Ref) {
				r.EachGather(func(g *lang.Ref) { found = found || g.Name == name })
			})
		}
	}
	return found
}

// takeDeclared is the format in which a result is declared to be stored, dense if none is: it becomes an operand.
func (e *evaluation) takeDeclared(name string, rank int, dt tensor.DType) (tensor.Format, error) {
	at := slices.IndexFunc(e.operands, func(o operand.Operand) bool { return o.Name == name })
	if at < 0 || e.operands[at].Qual.Format == "" && !e.operands[at].Qual.DType.Valid() {
		return tensor.Dense(rank), nil
	}
	if want := e.operands[at].Qual.DType; want.Valid() && want != dt {
		return tensor.Format{}, fmt.Errorf("%s is declared as %v, but sums of %v go into it: convert on the right side", name, want, dt)
	}
	f, given, err := e.operands[at].Qual.FormatFor(rank)
	if !given && err == nil {
		f = tensor.Dense(rank)
	}
	return f, err
}

// neutral is the value that an operator leaves unchanged.
func neutral(op lang.AssignOp, dt tensor.DType) (tensor.Scalar, bool) {
	switch op {
	case lang.AddTo:
		return tensor.Zero(dt), true
	case lang.MulTo:
		return tensor.One(dt), true
	case lang.OrTo, lang.AndTo:
		return tensor.Truth(op == lang.AndTo), true
	case lang.MinTo:
		return tensor.Float(dt, math.Inf(1)), dt.IsFloat()
	case lang.MaxTo:
		return tensor.Float(dt, math.Inf(-1)), dt.IsFloat()
	}
	return tensor.Scalar{}, false
}
