package difftest

import (
	"fmt"
	"math"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

func (g *generator) operandName() string {
	for n := 0; ; n++ {
		if name := fmt.Sprintf("a%d", n); g.Operands[name] == nil && g.Operands["s"+name] == nil {
			return name
		}
	}
}

// allTypes are the element types.
var allTypes = []tensor.DType{
	tensor.Float64, tensor.Float32, tensor.Int64, tensor.Int32, tensor.Bool, tensor.Int8, tensor.Int16,
	tensor.Uint8, tensor.Uint16, tensor.Uint32, tensor.Uint64, tensor.Float16, tensor.BFloat16, tensor.Complex64, tensor.Complex128,
}

func (g *generator) anyType() tensor.DType { return pick(g, allTypes...) }

// operandType is the type of a new operand.
func (g *generator) operandType() tensor.DType {
	if !g.mixed || !g.chance(40) {
		return g.dtype
	}
	dt := g.anyType()
	if dt.IsComplex() && !g.dtype.IsComplex() && !g.chance(10) {
		return g.dtype // complex numbers lack most operators
	}
	return dt
}

// tensor makes a random tensor of a shape in a random format.
func (g *generator) tensor(shape []int64, dt tensor.DType) *tensor.Tensor {
	fill := tensor.Zero(dt)
	if g.fill != nil {
		fill = g.fill.Convert(dt)
	}
	if g.chance(20) {
		fill = g.value(dt)
	}
	return g.fromValues(shape, g.format(len(shape)), dt, fill, func() tensor.Scalar { return g.value(dt) })
}

// positions makes a vector of n indices below extent, of a random integer type.
func (g *generator) positions(n, extent int64) *tensor.Tensor {
	dt := pick(g, tensor.Int64, tensor.Int32, tensor.Uint8, tensor.Uint64, tensor.Int8, tensor.Uint16)
	draw := func() tensor.Scalar { return tensor.Int(dt, int64(g.intn(int(extent)))) }
	fill := tensor.Zero(dt)
	if g.chance(30) {
		fill = draw()
	}
	return g.fromValues([]int64{n}, g.format(1), dt, fill, draw)
}

// fromValues stores a random part of the coordinates.
func (g *generator) fromValues(shape []int64, f tensor.Format, dt tensor.DType, fill tensor.Scalar, draw func() tensor.Scalar) *tensor.Tensor {
	size := int64(1)
	for _, n := range shape {
		size *= n
	}
	density := pick(g, 50, 20, 50, 80, 100, 0)
	coords := make([][]int64, len(shape))
	var list []tensor.Scalar
	for p := int64(0); p < size; p++ {
		if g.intn(100) >= density {
			continue
		}
		rest := p
		for a := len(shape) - 1; a >= 0; a-- {
			coords[a] = append(coords[a], rest%shape[a])
			rest /= shape[a]
		}
		list = append(list, draw())
	}
	if len(shape) > 0 && g.chance(4) {
		f = g.relaxed(f)
		if f.Multigraph() { // some coordinates have a second value, which changes nothing
			for p, v := range list {
				if g.chance(30) {
					for a := range coords {
						coords[a] = append(coords[a], coords[a][p])
					}
					list = append(list, tensor.Zero(v.DType()))
				}
			}
		}
	}
	t := g.stored(shape, f, dt, fill, coords, list)
	if len(shape) == 0 || f.Flags()[0]&tensor.Unsorted == 0 {
		return t
	}
	shuffled, err := t.MortonOrder()
	if err != nil {
		panic(fmt.Sprintf("difftest: %v: %v", t, err))
	}
	return shuffled
}

// relaxed is a format with a flag, where it has a level for one.
func (g *generator) relaxed(f tensor.Format) tensor.Format {
	flag := pick(g, tensor.Unsorted, tensor.Duplicates)
	for k := range f.Rank() {
		if h, err := f.Flag(k, flag); err == nil {
			return h
		}
	}
	return f
}

// inAnyOrder is the format of a result, some with the entries of the last sparse level in any order.
func (g *generator) inAnyOrder(f tensor.Format) tensor.Format {
	if f.Rank() == 0 || f.IsDense() || !g.chance(20) {
		return f
	}
	if h, err := f.Flag(f.SparseRank()-1, tensor.Unsorted); err == nil {
		return h
	}
	return f
}

// widths picks the types of index arrays; most are left to the package.
func (g *generator) widths(rank int) []tensor.Option {
	if !g.chance(25) {
		return nil
	}
	wide := func() tensor.DType {
		// Positions go up to the number of entries, some thousands.
		return pick(g, tensor.Uint64, tensor.Uint32, tensor.Uint16, tensor.Int64, tensor.Int32, tensor.Int16)
	}
	crd := wide()
	if g.chance(40) {
		crd = pick(g, tensor.Uint8, tensor.Int8) // coordinates fit always
	}
	opts := []tensor.Option{tensor.WithIndexTypes(wide(), crd)}
	if rank > 1 && g.chance(30) {
		opts = append(opts, tensor.WithIndexType(g.intn(rank), wide()))
	}
	return opts
}

// value is a small number, often 0 so that explicit zeros occur.
func (g *generator) value(dt tensor.DType) tensor.Scalar {
	v := int64(pick(g, 0, 1, 1, 2, 3, -1, -2))
	switch {
	case dt.IsUnsigned():
		return tensor.Int(dt, max(v, -v))
	case dt.IsComplex():
		return tensor.Complex(dt, complex(float64(v), float64(g.intn(3)-1)))
	case !dt.IsFloat():
		return tensor.Int(dt, v)
	case g.special && g.chance(20):
		return tensor.Float(dt, pick(g, math.Inf(1), math.Inf(-1), math.NaN()))
	case !g.exact:
		return tensor.Float(dt, float64(v)+float64(g.intn(100))/128)
	}
	return tensor.Int(dt, v)
}

// format is a random format of the rank.
func (g *generator) format(rank int) tensor.Format {
	return g.formatWith(rank, pick(g, 0, 0, 0, 0, 1, 2, 3))
}

// sparser is a random format with a dense level in one case of six.
func (g *generator) sparser(rank int) tensor.Format {
	return g.formatWith(rank, pick(g, 0, 0, 0, 0, 0, 1+g.intn(3)))
}

// formatWith is a random format that ends in a number of dense levels.
func (g *generator) formatWith(rank, dense int) tensor.Format {
	levels := make([]string, rank)
	order := make([]int, rank)
	for a := range order {
		order[a] = a
	}
	if g.chance(40) {
		shuffle(g, order)
	}
	last := rank - 1 - dense
	for l := range levels {
		switch {
		case l > last:
			levels[l] = "D"
		case l == last:
			levels[l] = "S"
		default:
			levels[l] = pick(g, "C", "C", "DC", "S")
		}
	}
	if rank == 0 {
		return tensor.Dense(0)
	}
	f, err := tensor.ParseFormat(strings.Join(levels, "-"), rank)
	if err == nil {
		f, err = f.WithOrder(order)
	}
	if err != nil {
		panic(fmt.Sprintf("difftest: %v %v: %v", levels, order, err))
	}
	return f
}
