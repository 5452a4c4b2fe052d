package derive

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A derived program has a statement for every value that the chain rule needs, and a statement rounds to the type of its
// result. In f16 and bf16 that would cost more than all arithmetic, so a program is rewritten before it is derived: operands of
// these types are read as f32,
//
//	y(i) = logsumexp_j f32(A(i,j))
//
// and what is kept in between is f32. The gradient is rounded once, when it is assigned.

// narrow reports whether values of a type are computed in a wider one.
func narrow(dt tensor.DType) bool { return dt == tensor.Float16 || dt == tensor.BFloat16 }

// wide is the type in which values of a type are kept in between.
func wide(dt tensor.DType) tensor.DType {
	if narrow(dt) {
		return tensor.Float32
	}
	return dt
}

// ranged is a type of which a product of some values of type dt does not leave the range, as it would that of dt: where products are
// divided, what is lost there is lost for the others too. f64 has no such type.
func ranged(dt tensor.DType) tensor.DType {
	switch {
	case dt == tensor.Complex64:
		return tensor.Complex128
	case dt.IsFloat():
		return tensor.Float64
	}
	return dt
}

// convertedTo is x, of type dt, in type to.
func convertedTo(to, dt tensor.DType, x lang.Node) lang.Node {
	if to == dt {
		return x
	}
	return cast(to, x)
}

// widened is a file in which tensors of narrow types are read as f32. p is what the file says; it is returned as it is
// if there are none.
func widened(file *lang.File, p *lang.Program) *lang.File {
	w := &widener{narrow: map[string]bool{}}
	for _, t := range p.Tensors {
		if t.Operand && t.StoredOf == nil && narrow(t.DType) {
			w.narrow[t.Name] = true
		}
	}
	if len(w.narrow) == 0 {
		return file
	}
	out := &lang.File{Source: file.Source}
	for _, a := range file.Stmts {
		r, copies := a.RHS.(*lang.Ref)
		if copies && isCopy(a) && slices.ContainsFunc(r.Indices, func(x *lang.RefIndex) bool { return x.Slice != nil }) {
			w.narrow[a.LHS.Name] = w.narrow[r.Name] // copySlices made it
			out.Stmts = append(out.Stmts, a)
			continue
		}
		out.Stmts = append(out.Stmts, &lang.Assign{Pos: a.Pos, LHS: a.LHS, Op: a.Op, RHS: w.node(a.RHS)})
	}
	return out
}

// widener rewrites expressions.
type widener struct{ narrow map[string]bool }

// node is n with elements of narrow tensors as f32.
func (w *widener) node(n lang.Node) lang.Node {
	return rewrite(n, func(x lang.Node) lang.Node {
		switch x := x.(type) {
		case *lang.Ref:
			if w.narrow[x.Name] {
				return cast(tensor.Float32, x)
			}
		case *lang.Apply:
			if x.Name == "stored" {
				return x
			}
			if x.Name == "like" { // what gives extents is not read
				return &lang.Apply{Pos: x.Pos, Name: x.Name, Args: append([]lang.Node{w.node(x.Args[0])}, x.Args[1:]...)}
			}
			if dt, err := tensor.ParseDType(x.Name); err == nil && dt == tensor.Float32 {
				if _, read := x.Args[0].(*lang.Ref); read {
					return x
				}
			}
		}
		return nil
	})
}
