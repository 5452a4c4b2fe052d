package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// generator makes a tensor from a description:
//
//	random(1000,1000,density=0.01,seed=1,dtype=f32)
//	range(10)
type generator struct {
	text    string // as written
	name    string
	shape   []int64
	density float64 // -1 if not given
	nnz     int64   // -1 if not given
	seed    uint64
	seeded  bool         // seed was given
	dtype   tensor.DType // Invalid if not given
}

// generatorKeys lists the named arguments of each generator.
var generatorKeys = map[string][]string{
	"random": {"density", "dtype", "nnz", "seed"},
	"range":  {"dtype"},
}

// cutGenerator splits "random(…):CSR" behind the parenthesis. What starts like a
// generator is one, closed or not.
func cutGenerator(text string) (head, rest string, ok bool) {
	name, _, found := strings.Cut(text, "(")
	if !found || !isName(name) {
		return "", "", false
	}
	closing := strings.IndexByte(text, ')')
	if closing < 0 {
		return text, "", true
	}
	return text[:closing+1], text[closing+1:], true
}

// parseGenerator reads NAME(EXTENT,…,KEY=VALUE,…).
func parseGenerator(text string) (*generator, error) {
	name, args, _ := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	keys, ok := generatorKeys[name]
	if !ok {
		return nil, usagef("unknown generator %q%s (there are random and range)", name, didYouMean(name, []string{"random", "range"}))
	}
	if !strings.HasSuffix(text, ")") {
		return nil, usagef("%s( is not closed: write %s(10,10)", name, name)
	}
	g := &generator{text: text, name: name, density: -1, nnz: -1, seed: 1}
	for arg := range strings.SplitSeq(args, ",") {
		arg = strings.TrimSpace(arg)
		key, value, named := strings.Cut(arg, "=")
		var err error
		switch {
		case arg == "" && strings.TrimSpace(args) == "":
		case !named:
			var n int64
			n, err = parseExtent(arg)
			g.shape = append(g.shape, n)
		case !slices.Contains(keys, key):
			err = usagef("%s has no argument %q%s", name, key, didYouMean(key, keys))
		default:
			err = g.set(key, strings.TrimSpace(value))
		}
		if err != nil {
			return nil, err
		}
	}
	return g, g.check()
}

// set reads a named argument.
func (g *generator) set(key, value string) (err error) {
	switch key {
	case "density":
		g.density, err = strconv.ParseFloat(value, 64)
		if err != nil || !(g.density >= 0 && g.density <= 1) {
			return usagef("density=%s: want a number from 0 to 1", value)
		}
	case "nnz":
		g.nnz, err = parseExtent(value)
	case "seed":
		g.seeded = true
		g.seed, err = strconv.ParseUint(value, 10, 64)
		if err != nil {
			return usagef("seed=%s: want a whole number that is not negative", value)
		}
	case "dtype":
		g.dtype, err = tensor.ParseDType(value)
	}
	return err
}

// check compares the arguments with each other.
func (g *generator) check() error {
	switch {
	case len(g.shape) > tensor.MaxRank:
		return usagef("%d dimensions: there may be %d", len(g.shape), tensor.MaxRank)
	case g.name == "range" && len(g.shape) != 1:
		return usagef("range takes one size, such as range(10)")
	case g.density >= 0 && g.nnz >= 0:
		return usagef("density and nnz say the same thing: give one of them")
	case float64(g.nnz) > elements(g.shape):
		return usagef("nnz=%d is more than the %.0f elements there are", g.nnz, elements(g.shape))
	}
	return nil
}

func (g *generator) String() string { return g.text }

// load implements source.
func (g *generator) load(ctx context.Context, a *app, q qualifiers, fill *tensor.Scalar) (*tensor.Tensor, error) {
	if q.ofFile() {
		return nil, usagef("%s is no file: it takes a format and a type only", g.text)
	}
	return a.making(ctx, "making "+g.text, func() (*tensor.Tensor, error) {
		t, err := g.make(ctx, q, fill)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.text, err)
		}
		return t, nil
	})
}

// make makes the tensor. It depends on the arguments and the seed only.
func (g *generator) make(ctx context.Context, q qualifiers, fill *tensor.Scalar) (*tensor.Tensor, error) {
	dt := g.elementType(q)
	format, given, err := q.formatFor(len(g.shape))
	if err != nil {
		return nil, err
	}
	var opts []tensor.Option
	if fill != nil {
		opts = append(opts, tensor.WithFill(*fill))
	}
	total := elements(g.shape)
	if g.density < 0 && g.nnz < 0 {
		if !given {
			format = tensor.Dense(len(g.shape))
		}
		values, err := g.values(dt, total)
		if err != nil {
			return nil, err
		}
		return tensor.FromDense(g.shape, format, values, opts...)
	}
	want := float64(g.nnz)
	if g.nnz < 0 {
		want = math.Round(g.density * total)
	}
	if !given {
		format = natural(g.shape, int64(min(want, math.MaxInt32)))
	}
	values, err := g.values(dt, want)
	if err != nil {
		return nil, err
	}
	coords, err := sample(g.shape, values.Len(), g.seed)
	if err != nil {
		return nil, err
	}
	return storeCoords(ctx, g.shape, format, columns(coords), values, opts...)
}

// elementType is the type of the generator's own arguments, of the qualifiers,
// or the usual one.
func (g *generator) elementType(q qualifiers) tensor.DType {
	switch {
	case q.dtype.Valid():
		return q.dtype
	case g.dtype.Valid():
		return g.dtype
	case g.name == "range":
		return tensor.Int64
	}
	return tensor.Float64
}

// fewRows is a number of rows for which pointers cost nothing to speak of.
const fewRows = 1 << 20

// natural is the usual sparse format: CSR for a matrix, unless its rows are many
// and nearly all empty, and CSF for all else.
func natural(shape []int64, nnz int64) tensor.Format {
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
func (g *generator) values(dt tensor.DType, n float64) (tensor.Array, error) {
	if n >= 1<<62 {
		return tensor.Array{}, fmt.Errorf("%.3g values are more than any machine holds", n)
	}
	values, err := tensor.MakeArray(dt, int(n))
	if err != nil {
		return values, err
	}
	rng := rand.New(rand.NewPCG(g.seed, valueStream))
	for i := range values.Len() {
		var v tensor.Scalar
		switch {
		case g.name == "range":
			v = tensor.Int(dt, int64(i))
		case dt == tensor.Bool:
			v = tensor.Bool_(true)
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
