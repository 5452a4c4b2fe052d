package operand

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lacuna-sparse/lacuna/cmd/lacuna/internal/cli"
	"github.com/lacuna-sparse/lacuna/internal/generate"
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

// IsGenerator reports whether there is a generator of a name.
func IsGenerator(name string) bool { return generatorKeys[name] != nil }

// cutGenerator splits "random(…):CSR" behind the parenthesis. What starts like a
// generator is one, closed or not.
func cutGenerator(text string) (head, rest string, ok bool) {
	name, _, found := strings.Cut(text, "(")
	if !found || !IsName(name) {
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
		return nil, cli.Usagef("unknown generator %q%s (there are random and range)", name, cli.DidYouMean(name, []string{"random", "range"}))
	}
	if !strings.HasSuffix(text, ")") {
		return nil, cli.Usagef("%s( is not closed: write %s(10,10)", name, name)
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
			n, err = ParseExtent(arg)
			g.shape = append(g.shape, n)
		case !slices.Contains(keys, key):
			err = cli.Usagef("%s has no argument %q%s", name, key, cli.DidYouMean(key, keys))
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
			return cli.Usagef("density=%s: want a number from 0 to 1", value)
		}
	case "nnz":
		g.nnz, err = ParseExtent(value)
	case "seed":
		g.seeded = true
		g.seed, err = strconv.ParseUint(value, 10, 64)
		if err != nil {
			return cli.Usagef("seed=%s: want a whole number that is not negative", value)
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
		return cli.Usagef("%d dimensions: there may be %d", len(g.shape), tensor.MaxRank)
	case g.name == "range" && len(g.shape) != 1:
		return cli.Usagef("range takes one size, such as range(10)")
	case g.density >= 0 && g.nnz >= 0:
		return cli.Usagef("density and nnz say the same thing: give one of them")
	case float64(g.nnz) > cli.Elements(g.shape):
		return cli.Usagef("nnz=%d is more than the %.0f elements there are", g.nnz, cli.Elements(g.shape))
	}
	return nil
}

// String implements Source.
func (g *generator) String() string { return g.text }

// Load implements Source.
func (g *generator) Load(ctx context.Context, a *cli.Env, q Qualifiers, fill *tensor.Scalar) (*tensor.Tensor, error) {
	if q.OfFile() {
		return nil, cli.Usagef("%s is no file: it takes a format and a type only", g.text)
	}
	return cli.Making(ctx, a, "making "+g.text, func() (*tensor.Tensor, error) {
		t, err := g.make(ctx, q, fill)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", g.text, err)
		}
		return t, nil
	})
}

// make makes the tensor. It depends on the arguments and the seed only.
func (g *generator) make(ctx context.Context, q Qualifiers, fill *tensor.Scalar) (*tensor.Tensor, error) {
	format, given, err := q.FormatFor(len(g.shape))
	if err != nil {
		return nil, err
	}
	r := generate.Recipe{Range: g.name == "range", Shape: g.shape, Density: g.density, NNZ: g.nnz, Seed: g.seed, DType: g.elementType(q)}
	if given {
		r.Format = &format
	}
	var opts []tensor.Option
	if fill != nil {
		opts = append(opts, tensor.WithFill(*fill))
	}
	return r.Tensor(func(shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
		return storeCoords(ctx, shape, format, coords, values, opts...)
	}, opts...)
}

// elementType is the type of the generator's own arguments, of the qualifiers,
// or the usual one.
func (g *generator) elementType(q Qualifiers) tensor.DType {
	switch {
	case q.DType.Valid():
		return q.DType
	case g.dtype.Valid():
		return g.dtype
	case g.name == "range":
		return tensor.Int64
	}
	return tensor.Float64
}
