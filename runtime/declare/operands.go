package declare

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/runtime/convert"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Operands that are stored as several tensors (partitioned), or as one triangle of a symmetric matrix: what kernels are
// compiled for.

// Missing reports whether there is no operand: nil, or one that no function made.
func Missing(o tensor.Operand) bool {
	switch o := o.(type) {
	case nil:
		return true
	case *tensor.Tensor:
		return o == nil || !o.DType().Valid()
	case *tensor.Parts:
		return o == nil || !o.DType().Valid()
	case *tensor.Blocks:
		return o == nil || !o.DType().Valid()
	}
	return false
}

// PartsOf lists the tensors that an operand is stored as.
func PartsOf(o tensor.Operand) []*tensor.Tensor {
	switch o := o.(type) {
	case *tensor.Tensor:
		return []*tensor.Tensor{o}
	case *tensor.Parts:
		return o.Parts()
	}
	return nil
}

// formatOf is the format of an operand where it is one tensor.
func formatOf(o tensor.Operand) tensor.Format {
	switch o := o.(type) {
	case *tensor.Tensor:
		return o.Format()
	case *tensor.Blocks:
		return unblockedFormat(o)
	}
	return joinFormat(formatsOf(PartsOf(o)))
}

// unblockedFormat is the format in which a blocked tensor is stored without blocks: a
// matrix by rows or columns, whichever its blocks are in; else CSF in their order.
func unblockedFormat(b *tensor.Blocks) tensor.Format {
	if b.Rank() == 0 {
		return tensor.Format{}
	}
	var order []int
	for _, axis := range b.Blocked().Format().Order() {
		if axis < b.Rank() {
			order = append(order, axis)
		}
	}
	f := tensor.CSF(b.Rank())
	if b.Rank() == 2 {
		f = tensor.CSR
	}
	f, err := f.WithOrder(order)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f
}

func formatsOf(parts []*tensor.Tensor) []tensor.Format {
	var formats []tensor.Format
	for _, t := range parts {
		formats = append(formats, t.Format())
	}
	return formats
}

// joinFormat is the format in which parts are stored as one: theirs if it is the same
// for all, else CSF in the order of the first.
func joinFormat(formats []tensor.Format) tensor.Format {
	first := formats[0]
	if !slices.ContainsFunc(formats, func(f tensor.Format) bool { return f != first }) || first.Rank() == 0 {
		return first
	}
	f, err := tensor.CSF(first.Rank()).WithOrder(first.Order())
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return f
}

// mirrors is what the compiler is told of each structure.
var mirrors = map[tensor.Structure]ir.Mirror{
	tensor.SymmetricLower:     {Kind: ir.Symmetric},
	tensor.SymmetricUpper:     {Kind: ir.Symmetric, Upper: true},
	tensor.HermitianLower:     {Kind: ir.Hermitian},
	tensor.HermitianUpper:     {Kind: ir.Hermitian, Upper: true},
	tensor.SkewSymmetricLower: {Kind: ir.Skew},
	tensor.SkewSymmetricUpper: {Kind: ir.Skew, Upper: true},
}

// MirrorOf is what the compiler is told of a structure.
func MirrorOf(s tensor.Structure) ir.Mirror { return mirrors[s] }

// StructureOf is the structure that a mirror stands for.
func StructureOf(m ir.Mirror) tensor.Structure {
	for s, mirror := range mirrors {
		if mirror == m {
			return s
		}
	}
	return tensor.General
}

// EmptyExample is a tensor that stores nothing, an example for the types of the arrays that a format has by default.
func EmptyExample(f tensor.Format, dt tensor.DType) *tensor.Tensor {
	t, err := convert.Empty(make([]int64, f.Rank()), f, dt)
	if err != nil {
		return nil
	}
	return t
}

// emptied is a tensor that stores nothing, with arrays of the types of those of t.
func emptied(t *tensor.Tensor) *tensor.Tensor {
	if t == nil {
		return nil
	}
	empty := func(a *tensor.Array) {
		if a.DType() != tensor.Invalid {
			*a = tensor.HeapArray(a.DType(), nil, 0)
		}
	}
	levels, values := t.Levels(), t.Values()
	for k := range levels {
		empty(&levels[k].Pos)
		empty(&levels[k].Crd)
		empty(&levels[k].Group)
	}
	empty(&values)
	return tensor.NewTrusted(make([]int64, t.Rank()), t.Format(), levels, values, t.Fill())
}
