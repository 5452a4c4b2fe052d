package difftest

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// operand makes an operand, now and then one that is passed in parts or as a
// triangle.
func (g *generator) operand(name string, shape []int64, dt tensor.DType) {
	t := g.tensor(shape, dt)
	if !g.chance(g.virtual) {
		g.Operands[name] = t
		return
	}
	t, err := t.Canonical()
	if err != nil {
		panic(fmt.Sprintf("difftest: %v", err))
	}
	switch {
	case len(shape) == 2 && shape[0] == shape[1] && g.chance(50):
		if whole, triangle, ok := g.triangle(t); ok {
			g.Operands[name], g.Stored[name] = whole, triangle
			return
		}
	case len(shape) > 0 && len(shape) <= tensor.MaxRank/2 && g.chance(25):
		g.Operands[name], g.Stored[name] = g.blocks(t)
		return
	case len(shape) > 0:
		g.Stored[name] = g.parts(t)
	}
	g.Operands[name] = t
}

// parts stores a tensor in parts: each entry in any of them.
func (g *generator) parts(t *tensor.Tensor) tensor.Operand {
	if t.Rank() > 1 && g.chance(30) {
		p, err := tensor.MMCSF(t)
		if g.chance(50) {
			p, err = tensor.HBCSF(t, nil)
		}
		if err != nil {
			panic(fmt.Sprintf("difftest: %v", err))
		}
		// Elements of dense blocks that equal the fill are not in it.
		if p.NNZ() == t.NNZ() {
			return p
		}
	}
	coords, values, err := t.ToCoords()
	if err != nil {
		panic(fmt.Sprintf("difftest: %v", err))
	}
	var list []*tensor.Tensor
	n := pick(g, 2, 2, 3, 1)
	of := make([]int, values.Len())
	for i := range of {
		of[i] = g.intn(n)
	}
	for k := range n {
		part := make([][]int64, t.Rank())
		var chosen []tensor.Scalar
		for i, at := range of {
			if at != k {
				continue
			}
			for axis := range part {
				part[axis] = append(part[axis], coords[axis][i])
			}
			chosen = append(chosen, values.Scalar(i))
		}
		list = append(list, g.stored(t.Shape(), g.formatWith(t.Rank(), 0), t.DType(), t.Fill(), part, chosen))
	}
	p, err := tensor.NewParts(list...)
	if err != nil {
		panic(fmt.Sprintf("difftest: %v", err))
	}
	return p
}

// blocks stores a tensor in blocks, which may have values where it has none: whole is what
// they say.
func (g *generator) blocks(t *tensor.Tensor) (whole *tensor.Tensor, blocked tensor.Operand) {
	block, dense := make([]int64, t.Rank()), pick(g, t.Rank(), t.Rank(), 0)
	for axis := range block {
		block[axis] = int64(pick(g, 2, 3, 1))
	}
	split, err := t.Blocked(block, g.formatWith(2*t.Rank(), dense))
	if err != nil {
		panic(fmt.Sprintf("difftest: %v", err))
	}
	b, err := tensor.NewBlocks(split, t.Shape())
	if err != nil {
		panic(fmt.Sprintf("difftest: %v", err))
	}
	if whole, err = b.Expand(tensor.CSF(t.Rank())); err != nil {
		panic(fmt.Sprintf("difftest: %v", err))
	}
	return whole, b
}

// triangle makes a matrix with a symmetry of a square matrix, whole and as one
// triangle; it fails for fills and types that have none.
func (g *generator) triangle(t *tensor.Tensor) (whole *tensor.Tensor, half tensor.Operand, ok bool) {
	s := pick(g, tensor.SymmetricLower, tensor.SymmetricUpper, tensor.HermitianLower, tensor.HermitianUpper,
		tensor.SkewSymmetricLower, tensor.SkewSymmetricUpper)
	coords, values, err := t.ToCoords()
	if err != nil {
		panic(fmt.Sprintf("difftest: %v", err))
	}
	part := make([][]int64, 2)
	var chosen []tensor.Scalar
	for i := range values.Len() {
		r, c, v := coords[0][i], coords[1][i], values.Scalar(i)
		if !s.Stores(r, c) || r == c && !s.Mirror(v).Same(v) {
			continue
		}
		part[0], part[1], chosen = append(part[0], r), append(part[1], c), append(chosen, v)
	}
	triangle, err := g.stored(t.Shape(), t.Format(), t.DType(), t.Fill(), part, chosen).WithStructure(s)
	if err != nil {
		return nil, nil, false
	}
	if whole, err = triangle.Expand(); err != nil {
		panic(fmt.Sprintf("difftest: %v", err))
	}
	return whole, triangle, true
}

// stored makes a tensor of entries.
func (g *generator) stored(shape []int64, f tensor.Format, dt tensor.DType, fill tensor.Scalar, coords [][]int64, list []tensor.Scalar) *tensor.Tensor {
	vals, err := tensor.MakeArray(dt, len(list))
	if err != nil {
		panic(err)
	}
	for i, v := range list {
		vals.SetScalar(i, v)
	}
	t, err := tensor.FromCoords(shape, f, coords, vals, append(g.widths(len(shape)), tensor.WithFill(fill))...)
	if err != nil {
		panic(fmt.Sprintf("difftest: %v %v: %v", shape, f, err))
	}
	return t
}
