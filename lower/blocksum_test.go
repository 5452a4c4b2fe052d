package lower_test

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests the errors of long sums (lower/fold/blocks.go, lanes.go), by whole programs.

// longSum is a sum of many terms, as it can be stored and written down.
type longSum struct {
	name, text string
	operand    *tensor.Tensor // X
	pattern    *tensor.Tensor // of ones, W, if not nil
}

// args are the operands.
func (s longSum) args() lacuna.Args {
	args := lacuna.Args{"X": s.operand}
	if s.pattern != nil {
		args["W"] = s.pattern
	}
	return args
}

// longSums are the ways in which the sum of x, of a multiple of 1,000 numbers, can be
// lowered to loops.
func longSums(t *testing.T, x tensor.Array) []longSum {
	t.Helper()
	n := int64(x.Len())
	dense := func(shape ...int64) *tensor.Tensor {
		d, err := tensor.FromDense(shape, tensor.Dense(len(shape)), x)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	stored := func(f tensor.Format, shape ...int64) *tensor.Tensor {
		s, err := dense(shape...).Convert(f)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	w, err := tensor.MakeArray(x.DType(), x.Len())
	if err != nil {
		t.Fatal(err)
	}
	for i := range w.Len() {
		w.SetScalar(i, tensor.One(x.DType()))
	}
	whole, err := tensor.FromDense([]int64{n}, tensor.Dense(1), w)
	if err != nil {
		t.Fatal(err)
	}
	ones, err := whole.Convert(tensor.CSF(1))
	if err != nil {
		t.Fatal(err)
	}
	list := []longSum{
		{"all, dense", "s = sum_i X(i)", dense(n), nil},
		{"all, dense, short rows", "s = sum_{i,j} X(i,j)", dense(n/5, 5), nil},
		{"all, dense, called", "s = sum_i where(X(i) == X(i), X(i), log(X(i)))", dense(n), nil},
		{"all, CSR, short rows", "s = sum_{i,j} X(i,j)", stored(tensor.CSR, n/5, 5), nil},
		{"all, stored, merged", "s = sum_i X(i)*W(i)", stored(tensor.CSF(1), n), ones},
		{"one row, dense", "y(i) = sum_j X(i,j)", dense(1, n), nil},
		{"one row, CSR", "y(i) = sum_j X(i,j)", stored(tensor.CSR, 1, n), nil},
		{"one row, COO", "y(i) = sum_j X(i,j)", stored(tensor.COO, 1, n), nil},
		{"one row, stored only", "y(i) = sum_{j in X} X(i,j)", stored(tensor.CSR, 1, n), nil},
		{"one plane, dense", "y(i) = sum_{j,k} X(i,j,k)", dense(1, n/10, 10), nil},
		{"one plane, CSF", "y(i) = sum_{j,k} X(i,j,k)", stored(tensor.CSF(3), 1, n/10, 10), nil},
		{"one plane, COO", "y(i) = sum_{j,k} X(i,j,k)", stored(tensor.Coordinates(3), 1, n/10, 10), nil},
	}
	return list
}

// TestErrorsOfLongSums bounds the errors of long sums by those of sums of 1,100 terms,
// and finds the same bits for all numbers of threads and on all engines.
func TestErrorsOfLongSums(t *testing.T) {
	const bound = 1100
	const count = 200_000
	tenths := slices.Repeat([]float32{0.1}, count)
	rng := rand.New(rand.NewPCG(1, 7))
	mixed := make([]float64, count/5)
	for i := range mixed {
		// Large numbers that nearly cancel, with small ones in between.
		switch i % 4 {
		case 0:
			mixed[i] = 1e12 * (1 + rng.Float64())
		case 2:
			mixed[i] = -mixed[i-2]
		default:
			mixed[i] = rng.NormFloat64()
		}
	}
	for _, data := range []struct {
		name string
		x    tensor.Array
		unit float64 // half an ulp of 1
	}{{"tenths", tensor.ArrayOf(tenths), 0x1p-24}, {"mixed", tensor.ArrayOf(mixed), 0x1p-53}} {
		exact, size := new(big.Float).SetPrec(300), new(big.Float).SetPrec(300)
		for i := range data.x.Len() {
			v := new(big.Float).SetFloat64(data.x.Scalar(i).Float64())
			exact.Add(exact, v)
			size.Add(size, v.Abs(v))
		}
		scale, _ := size.Float64()
		for _, sum := range longSums(t, data.x) {
			var first uint64
			for k, s := range threaded(t) {
				got := numbers(t, s, sum.text, sum.args())[0]
				diff, _ := new(big.Float).Sub(big.NewFloat(got).SetPrec(300), exact).Float64()
				if k == 0 {
					first = math.Float64bits(got)
					t.Logf("%s, %s: off by %.3g of the sum of sizes, %.1f rounding errors", data.name, sum.name, diff/scale, diff/scale/data.unit)
				}
				if !(math.Abs(diff) <= bound*data.unit*scale) {
					t.Errorf("%s, %s: %v is off by %v, the bound is %v", data.name, sum.name, got, diff, bound*data.unit*scale)
				}
				if math.Float64bits(got) != first {
					t.Errorf("%s, %s: %s with %d threads sums to %v, others to %v", data.name, sum.name, s.Engine().Name(), threadCounts[k%len(threadCounts)], got, math.Float64frombits(first))
				}
			}
		}
	}
}

// TestTenMillionTenths is the sum that a naive f32 sum gets wrong by 9 percent.
func TestTenMillionTenths(t *testing.T) {
	const n = 10_000_000
	x := tensor.ArrayOf(slices.Repeat([]float32{0.1}, n))
	sessions := engines(t)
	s := sessions[len(sessions)-1]
	for _, shape := range [][]int64{{n, 1}, {1, n}, {n / 1000, 1000}} {
		d, err := tensor.FromDense(shape, tensor.Dense(2), x)
		if err != nil {
			t.Fatal(err)
		}
		got := numbers(t, s, "s = sum_{i,j} X(i,j)", lacuna.Args{"X": d})[0]
		want := n * float64(float32(0.1))
		t.Logf("%v: off by %.2g", shape, got/want-1)
		if math.Abs(got/want-1) > 1e-5 {
			t.Errorf("%v: the sum is %v, want %v", shape, got, want)
		}
	}
}

var threadCounts = []int{1, 2, 7}

// threaded are sessions of all engines with different numbers of threads.
func threaded(t *testing.T) []*lacuna.Session {
	t.Helper()
	var list []*lacuna.Session
	for _, s := range engines(t) {
		for _, n := range threadCounts {
			list = append(list, lacuna.NewSession(lacuna.WithEngine(s.Engine()), lacuna.WithThreads(n)))
		}
	}
	return list
}

// TestLongSumsOfSpecialNumbers sums infinities and NaN in long sums, and numbers whose
// sum overflows.
func TestLongSumsOfSpecialNumbers(t *testing.T) {
	const n = 20_000
	inf := math.Inf(1)
	for _, test := range []struct {
		name string
		at   map[int]float64
		want float64
	}{
		{"ones", nil, n},
		{"inf early", map[int]float64{3: inf}, inf},
		{"inf late", map[int]float64{n - 1: inf}, inf},
		{"-inf in the middle", map[int]float64{n / 2: -inf}, -inf},
		{"both", map[int]float64{5: inf, n - 5: -inf}, math.NaN()},
		{"NaN", map[int]float64{n / 3: math.NaN()}, math.NaN()},
		{"overflow", map[int]float64{1: math.MaxFloat64, n - 2: math.MaxFloat64}, inf},
		{"largest", map[int]float64{n / 2: math.MaxFloat64}, math.MaxFloat64},
	} {
		x := slices.Repeat([]float64{1}, n)
		for i, v := range test.at {
			x[i] = v
		}
		for _, sum := range longSums(t, tensor.ArrayOf(x)) {
			for _, s := range engines(t) {
				if got := numbers(t, s, sum.text, sum.args())[0]; !same(got, test.want) {
					t.Errorf("%s, %s: %s sums to %v, want %v", test.name, sum.name, s.Engine().Name(), got, test.want)
				}
			}
		}
	}
}

// TestLongComplexSums sums complex numbers in blocks, of which one part may be infinite.
func TestLongComplexSums(t *testing.T) {
	x := make([]complex128, 5000)
	for i := range x {
		x[i] = complex(0.1, -1e8)
	}
	for _, s := range engines(t) {
		for _, last := range []complex128{0, complex(0, math.Inf(1))} {
			x[len(x)-1] = last
			a, err := tensor.FromDense([]int64{1, int64(len(x))}, tensor.Dense(2), tensor.ArrayOf(x))
			if err != nil {
				t.Fatal(err)
			}
			y, err := s.Eval(context.Background(), "y(i) = sum_j X(i,j)", lacuna.Args{"X": a})
			if err != nil {
				t.Fatal(err)
			}
			got := y.Values().Scalar(0).Complex128()
			if want := 499.9; math.Abs(real(got)-want) > 1e-9*want {
				t.Errorf("%s: the real part is %v, want %v", s.Engine().Name(), real(got), want)
			}
			if want := -4999e8 + imag(last); !(imag(got) == want) {
				t.Errorf("%s: the imaginary part is %v, want %v", s.Engine().Name(), imag(got), want)
			}
		}
	}
}
