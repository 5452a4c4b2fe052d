// Package generate makes tensors of random entries, or that count, which depend on nothing but what is asked for.
package generate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Recipe describes a tensor.
type Recipe struct {
	Range   bool // 0, 1, 2, … along one axis; else random
	Shape   []int64
	Density float64        // the part of the elements that is stored; negative: see NNZ
	NNZ     int64          // how many elements are stored; if negative, and Density is too, all are
	Seed    uint64         // another seed gives another tensor
	DType   tensor.DType   // of the elements
	Format  *tensor.Format // nil: dense, or the usual format for so many entries
}

// Store makes a tensor of coordinates and values, as [tensor.FromColumns] does.
type Store func(shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error)

// Tensor makes the tensor: coordinates uniform among all sets, floats uniform in (0,1], integers between 1 and 9, bools true.
func (r Recipe) Tensor(store Store, opts ...tensor.Option) (*tensor.Tensor, error) {
	total := elements(r.Shape)
	if r.Density < 0 && r.NNZ < 0 {
		format := tensor.Dense(len(r.Shape))
		if r.Format != nil {
			format = *r.Format
		}
		values, err := r.values(r.DType, total)
		if err != nil {
			return nil, err
		}
		return tensor.FromDense(r.Shape, format, values, opts...)
	}
	want := float64(r.NNZ)
	if r.NNZ < 0 {
		want = math.Round(r.Density * total)
	}
	format := Natural(r.Shape, int64(min(want, math.MaxInt32)))
	if r.Format != nil {
		format = *r.Format
	}
	values, err := r.values(r.DType, want)
	if err != nil {
		return nil, err
	}
	coords, err := sample(r.Shape, values.Len(), r.Seed)
	if err != nil {
		return nil, err
	}
	columns := make([]tensor.Array, len(coords))
	for axis, list := range coords {
		columns[axis] = tensor.ArrayOf(list)
	}
	return store(r.Shape, format, columns, values, opts...)
}

// elements is the number of elements of a shape.
func elements(shape []int64) float64 {
	n := 1.0
	for _, d := range shape {
		n *= float64(d)
	}
	return n
}

// fewRows is a number of rows for which pointers cost nothing to speak of.
const fewRows = 1 << 20

// Natural is the usual sparse format: CSR for a matrix, unless its rows are many
// and nearly all empty, and CSF for all else.
func Natural(shape []int64, nnz int64) tensor.Format {
	if len(shape) == 2 && shape[0]/8 <= max(nnz, fewRows) {
		return tensor.CSR
	}
	return tensor.CSF(len(shape))
}

// Second words of the generators' states, so that coordinates and values are
// independent.
const (
	valueStream      = 0x76616c756573
	coordinateStream = 0x636f6f726473
)

// values makes n values: for range 0, 1, 2, …; for random numbers uniform in
// (0,1], in both parts of complex ones, integers from 1 to 9, and true.
func (r Recipe) values(dt tensor.DType, n float64) (tensor.Array, error) {
	if n >= 1<<62 {
		return tensor.Array{}, fmt.Errorf("%.3g values are more than any machine holds", n)
	}
	values, err := tensor.MakeArray(dt, int(n))
	if err != nil {
		return values, err
	}
	rng := rand.New(rand.NewPCG(r.Seed, valueStream))
	for i := range values.Len() {
		var v tensor.Scalar
		switch {
		case r.Range:
			v = tensor.Int(dt, int64(i))
		case dt == tensor.Bool:
			v = tensor.Truth(true)
		case dt.IsInteger():
			v = tensor.Int(dt, 1+rng.Int64N(9))
		case dt.IsComplex():
			re := 1 - rng.Float64()
			v = tensor.Complex(dt, complex(re, 1-rng.Float64()))
		default:
			v = tensor.Float(dt, 1-rng.Float64())
		}
		values.SetScalar(i, v)
	}
	return values, nil
}

// sample draws n different coordinates of a shape, sorted by rows; every set is
// as likely as any other.
func sample(shape []int64, n int, seed uint64) ([][]int64, error) {
	// One array that MakeArray has found the memory for.
	all, err := tensor.MakeArray(tensor.Int64, n*(len(shape)+1))
	if err != nil {
		return nil, err
	}
	space := tensor.View[int64](all)
	coords := make([][]int64, len(shape))
	for axis := range coords {
		coords[axis], space = space[:n:n], space[n:]
	}
	rng := rand.New(rand.NewPCG(seed, coordinateStream))
	total := elements(shape)
	if total >= 1<<62 {
		// Too many elements to number. Two draws hardly ever meet; if they do,
		// their values are summed.
		for i := range n {
			for axis, size := range shape {
				coords[axis][i] = rng.Int64N(size)
			}
		}
		return coords, nil
	}
	numbers := pick(rng, space[:0:n], n, int64(total))
	for i, k := range numbers {
		for axis := len(shape) - 1; axis >= 0; axis-- {
			coords[axis][i] = k % shape[axis]
			k /= shape[axis]
		}
	}
	return coords, nil
}

// pick appends to list n different numbers below total, sorted.
func pick(rng *rand.Rand, list []int64, n int, total int64) []int64 {
	if total <= 8*int64(n) {
		// Selection sampling (Knuth, The Art of Computer Programming 2, 3.4.2,
		// algorithm S): good where a large part is taken.
		for k := int64(0); len(list) < n; k++ {
			if rng.Int64N(total-k) < int64(n-len(list)) {
				list = append(list, k)
			}
		}
		return list
	}
	for len(list) < n {
		for len(list) < n {
			list = append(list, rng.Int64N(total))
		}
		slices.Sort(list)
		list = slices.Compact(list)
	}
	return list
}
