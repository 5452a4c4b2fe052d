package lib_test

import (
	"context"
	"flag"
	"math"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file measures the largest errors of functions of narrow types.

var sweep = flag.Bool("sweep", false, "try all 2^32 arguments of f32 functions, not one in 65,537")

// narrow lists the functions of one argument as expressions name them, with a
// reference in f64, which need not be better than a few units in its last place: an
// f32 has 29 bits fewer. Where it disagrees, that in math/big decides.
var narrow = []struct {
	name  string
	judge func(float64) float64
}{
	{"exp", math.Exp}, {"exp2", math.Exp2}, {"expm1", math.Expm1},
	{"sigmoid", func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
	{"log", math.Log}, {"log1p", math.Log1p},
	// Go's own cancel near 1.
	{"log2", func(x float64) float64 { return math.Log(x) * math.Log2E }},
	{"log10", func(x float64) float64 { return math.Log(x) * math.Log10E }},
	{"sin", math.Sin}, {"cos", math.Cos}, {"tan", math.Tan},
	{"asin", math.Asin}, {"acos", math.Acos}, {"atan", math.Atan},
	{"sinh", math.Sinh}, {"cosh", math.Cosh}, {"tanh", math.Tanh},
	{"asinh", math.Asinh}, {"acosh", math.Acosh}, {"atanh", math.Atanh},
	{"cbrt", math.Cbrt}, {"erf", math.Erf},
}

// narrowType is a floating-point type with fewer bits than f64.
type narrowType struct {
	dtype    tensor.DType
	bits     int // of the fraction
	smallest int // exponent of the smallest normal number
	bound    float64
}

var narrowTypes = []narrowType{
	{tensor.Float32, 23, -126, 0.5000001},
	{tensor.Float16, 10, -14, 0.501},
	{tensor.BFloat16, 7, -126, 0.501},
}

// off is the error of y in units of the last place that the type has at want; results
// that overflow must be infinite.
func (n narrowType) off(y, want float64) float64 {
	largest := (2 - math.Ldexp(1, -n.bits)) * math.Ldexp(1, 1-n.smallest)
	switch {
	case math.IsNaN(want):
		if math.IsNaN(y) {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(y, 0) && math.Signbit(y) == math.Signbit(want) && math.Abs(want) > largest:
		// As if there were a next number.
		want = math.Copysign(min(math.Abs(want), math.Ldexp(1, 2-n.smallest)), want)
		y = math.Copysign(math.Ldexp(1, 2-n.smallest), want)
	case y == want:
		return 0
	}
	_, e := math.Frexp(want)
	return math.Abs(y-want) / math.Ldexp(1, max(e-1, n.smallest)-n.bits)
}

// TestNarrowAccuracy measures functions of f32 over one argument in 65,537 or over all,
// and those of the half types over all, on the engine that is used by default.
func TestNarrowAccuracy(t *testing.T) {
	engine := runtime.Interp()
	if cpu, err := runtime.CPU(); err == nil {
		engine = cpu
	}
	s := lacuna.NewSession(lacuna.WithEngine(engine), lacuna.WithThreads(1))
	for _, f := range narrow {
		for _, n := range narrowTypes {
			t.Run(f.name+" "+n.dtype.String(), func(t *testing.T) {
				k, err := s.Compile(t.Context(), "y(i) = "+f.name+"(x(i))", lacuna.Format("x", tensor.Dense(1), n.dtype))
				if err != nil {
					t.Fatal(err)
				}
				worst, at := 0.0, 0.0
				count, wrong := 0, 0
				try := func(x tensor.Array) {
					t.Helper()
					a, err := tensor.FromDense([]int64{int64(x.Len())}, tensor.Dense(1), x)
					if err != nil {
						t.Fatal(err)
					}
					y, err := k.Run(context.Background(), lacuna.Args{"x": a})
					if err != nil {
						t.Fatal(err)
					}
					from, to := wide(t, x), wide(t, y.Values())
					for i, v := range from {
						want := f.judge(v)
						if n.dtype == tensor.Float32 {
							if float64(float32(want)) == to[i] {
								continue // rounded correctly, as nearly all are
							}
							var nearest float64
							if nearest, want = closer(f.name, v, want); nearest == to[i] {
								continue // and the reference is not
							}
						}
						e := n.off(to[i], want)
						if e > 0.5 {
							wrong++
						}
						if !(e <= worst) {
							worst, at = e, v
						}
					}
					count += len(from)
				}
				if n.dtype == tensor.Float32 {
					eachFloat32(try)
				} else {
					try(allHalves(t, n.dtype))
				}
				if wrong == 0 {
					t.Logf("%d arguments, all rounded to the nearest", count)
				} else {
					t.Logf("%d arguments, %d not rounded to the nearest, the worst off by %.7f ulp at %x", count, wrong, worst, at)
				}
				if worst > n.bound {
					t.Errorf("%s(%x) is off by %.7f ulp, stated %v", f.name, at, worst, n.bound)
				}
			})
		}
	}
}

// closer is the f32 and the f64 nearest to the value of a function at v, where want is
// its value by a reference that may be off by some of its last places, or by more: Go's
// sine of large numbers is.
func closer(name string, v, want float64) (nearest, value float64) {
	if math.IsNaN(want) || math.IsInf(want, 0) || math.IsInf(v, 0) {
		return want, want
	}
	k := slices.IndexFunc(unary, func(u unaryFunction) bool { return u.name == name+"_f64" })
	y := unary[k].judge(exact(v))
	narrow, _ := y.Float32()
	value, _ = y.Float64()
	return float64(narrow), value
}

// wide are the numbers of an array as f64.
func wide(t *testing.T, a tensor.Array) []float64 {
	t.Helper()
	if v := tensor.View[float32](a); v != nil {
		w := make([]float64, len(v))
		for i, x := range v {
			w[i] = float64(x)
		}
		return w
	}
	w, err := a.Convert(tensor.Float64)
	if err != nil {
		t.Fatal(err)
	}
	return tensor.View[float64](w)
}

// eachFloat32 calls try with f32 arguments, piece by piece.
func eachFloat32(try func(tensor.Array)) {
	step, piece := uint64(65537), 1<<16
	switch {
	case *sweep:
		step, piece = 1, 1<<18
	case testing.Short():
		step *= 5
	}
	x := make([]float32, 0, piece)
	for bits := uint64(0); bits < 1<<32; bits += step {
		x = append(x, math.Float32frombits(uint32(bits)))
		if len(x) == piece || bits+step >= 1<<32 {
			try(tensor.ArrayOf(x))
			x = x[:0]
		}
	}
}

// allHalves are all numbers of a half type.
func allHalves(t *testing.T, dt tensor.DType) tensor.Array {
	t.Helper()
	bits := make([]uint16, 1<<16)
	for i := range bits {
		bits[i] = uint16(i)
	}
	a, err := tensor.ArrayOfHalf(dt, bits)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
