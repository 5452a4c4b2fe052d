package lib_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// This file measures the largest errors of functions of f64.

const (
	lowest  = -1074
	highest = 1024
)

func bigSin(x *big.Float) *big.Float { s, _ := bigSinCos(x); return s }
func bigCos(x *big.Float) *big.Float { _, c := bigSinCos(x); return c }
func bigTan(x *big.Float) *big.Float { return quo(bigSinCos(x)) }

func bigExp2(x *big.Float) *big.Float  { return bigExp(mul(x, ln2())) }
func bigLog2(x *big.Float) *big.Float  { return quo(bigLog(x), ln2()) }
func bigLog10(x *big.Float) *big.Float { return quo(bigLog(x), bigLog(exact(10))) }

// unaryFunction is a function of one argument with its reference and the domains to sample.
type unaryFunction struct {
	name    string
	judge   func(*big.Float) *big.Float
	domains []domain
}

var unary = []unaryFunction{
	{"exp_f64", bigExp, []domain{{lo: -746, hi: 710, minExp: -60, maxExp: 9}}},
	{"exp2_f64", bigExp2, []domain{{lo: -1076, hi: 1024, minExp: -60, maxExp: 10}}},
	{"expm1_f64", bigExpm1, []domain{{lo: -3, hi: 3, minExp: lowest, maxExp: 6}, {lo: -40, hi: 710, minExp: -3, maxExp: 9}}},
	{"sigmoid_f64", bigSigmoid, []domain{{lo: -745, hi: 40, minExp: -60, maxExp: 9}, {lo: -4, hi: 4, minExp: -4, maxExp: 6}}},
	{"log_f64", bigLog, []domain{{lo: 0.4, hi: 2.5, minExp: lowest, maxExp: highest, positive: true}}},
	{"log2_f64", bigLog2, []domain{{lo: 0.4, hi: 2.5, minExp: lowest, maxExp: highest, positive: true}}},
	{"log10_f64", bigLog10, []domain{{lo: 0.4, hi: 2.5, minExp: lowest, maxExp: highest, positive: true}}},
	{"log1p_f64", bigLog1p, []domain{{lo: -1, hi: 3, minExp: lowest, maxExp: -1}, {lo: 0, hi: 1000, minExp: -1, maxExp: highest, positive: true}}},
	{"sin_f64", bigSin, []domain{{lo: -10, hi: 10, minExp: lowest, maxExp: highest}, {lo: -2e6, hi: 2e6, minExp: 16, maxExp: 24}}},
	{"cos_f64", bigCos, []domain{{lo: -10, hi: 10, minExp: lowest, maxExp: highest}, {lo: -2e6, hi: 2e6, minExp: 16, maxExp: 24}}},
	{"tan_f64", bigTan, []domain{{lo: -10, hi: 10, minExp: lowest, maxExp: highest}, {lo: -2e6, hi: 2e6, minExp: 16, maxExp: 24}}},
	{"asin_f64", bigAsin, []domain{{lo: -1, hi: 1, minExp: lowest, maxExp: 0}}},
	{"acos_f64", bigAcos, []domain{{lo: -1, hi: 1, minExp: lowest, maxExp: 0}}},
	{"atan_f64", bigAtan, []domain{{lo: -3, hi: 3, minExp: lowest, maxExp: highest}}},
	{"sinh_f64", bigSinh, []domain{{lo: -3, hi: 3, minExp: lowest, maxExp: 5}, {lo: -711, hi: 711, minExp: -3, maxExp: 9}}},
	{"cosh_f64", bigCosh, []domain{{lo: -3, hi: 3, minExp: -40, maxExp: 5}, {lo: -711, hi: 711, minExp: -3, maxExp: 9}}},
	{"tanh_f64", bigTanh, []domain{{lo: -3, hi: 3, minExp: lowest, maxExp: 5}, {lo: -23, hi: 23, minExp: -3, maxExp: 5}}},
	{"asinh_f64", bigAsinh, []domain{{lo: -3, hi: 3, minExp: lowest, maxExp: highest}, {lo: -1, hi: 1, minExp: -30, maxExp: 45}}},
	{"acosh_f64", bigAcosh, []domain{{lo: 1, hi: 3, minExp: 0, maxExp: highest, positive: true}, {lo: 1, hi: 1.01, minExp: 0, maxExp: 45, positive: true}}},
	{"atanh_f64", bigAtanh, []domain{{lo: -1, hi: 1, minExp: lowest, maxExp: -1}}},
	{"cbrt_f64", bigCbrt, []domain{{lo: -8, hi: 8, minExp: lowest, maxExp: highest}}},
	{"erf_f64", bigErf, []domain{{lo: -2, hi: 2, minExp: lowest, maxExp: 2}, {lo: -6.5, hi: 6.5, minExp: -4, maxExp: 1}}},
}

// hard lists arguments that samples miss: close to multiples of pi/2, where
// reduction cancels most, on the seams of the algorithms, and at the ends of ranges.
var hard = []float64{
	1, 0.5, 2, 0.75, 1.5, 10, 100, 1000, 3, math.Pi, math.Pi / 2, math.Pi / 4, math.E, math.Ln2, math.Sqrt2,
	// 6381956970095103 * 2^797 lies nearest to a multiple of pi/2 among all f64 (J.-M. Muller,
	// Elementary Functions, table 11.1).
	math.Ldexp(6381956970095103, 797), math.Ldexp(5, 1000), math.MaxFloat64, math.Ldexp(1, 1023), 1e22, 1e15,
	1048575.99, 1048576, 1048576.0000001, 1e6, 823549.6645, 11, 22, 33, 355, 103993, 33102, 5419351, 1e300, 1e-300,
	0.4375, 0.6875, 1.1875, 2.4375, 0.625, 0.7, 0.85, 1.17, 0.875, 6, 5.9, 22.5, 0x1p-27, 0x1p-28, 0x1p-54, 0x1p-53,
	0x1p40, 0x1p28, 709.78, 709.7827128933840, 710.4758, -708.4, -745.13, -37.5, 36.7, 37.4, 1023.9, -1074.4,
	math.SmallestNonzeroFloat64, 0x1p-1022, 0x1.fffffffffffffp-1023, 0.99999999999999988, 1.0000000000000002,
	// Where errors of more than a million samples were largest, function by function.
	0x1.672d6fd4eae2cp-2, -0x1.625f380c22a49p+9, -0x1.ff3c96ef9b72bp+9, -0x1.625e8d917ca29p+9, 0x1.689797c6c8b0cp-2,
	0x1.694614aa1cf77p+0, 0x1.69cc52a275d23p+0, 0x1.510218039adafp+0, 0x1.a4a3bdf5bedb2p-2, 0x1.2ce49ab2d720bp+1, 0x1.6005a035fa1cdp+2,
	0x1.2fcc235596a7bp+1, 0x1.0b20ffb6883eap-1, 0x1.1687b868ee64ap-1, 0x1.6527e8b1fe969p-1, 0x1.641322364af49p-2, 0x1.bc3299642e4d0p+0,
	0x1.64937a0eaa96ep-2, 0x1.638593e807bddp-2, 0x1.0f69cf078ff42p+0, 0x1.5c7de0879dbc8p-3,
	math.Sqrt2 / 2, 0x1.6a09e667f3bcdp-1, 0x1.6a09e667f3bccp-1, -0.9999999999999999, 0.5000000000000001,
}

func TestUnaryAccuracy(t *testing.T) {
	for _, f := range unary {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(1, 2))
			var x []float64
			for i := range samples() {
				x = append(x, f.domains[i%len(f.domains)].draw(rng, i/len(f.domains)))
			}
			first, last := f.domains[0], f.domains[len(f.domains)-1]
			for _, h := range hard {
				for _, v := range []float64{h, -h, math.Nextafter(h, 0), math.Nextafter(h, math.Inf(1))} {
					if v != 0 && inDomain(f.name, v) && (v > 0 || !first.positive && !last.positive) {
						x = append(x, v)
					}
				}
			}
			checkUnary(t, f.name, f.judge, x)
		})
	}
}

// inDomain keeps the hard arguments where the reference is defined and its intermediate
// values are of a sane size.
func inDomain(name string, x float64) bool {
	if math.IsInf(x, 0) {
		return false
	}
	switch name {
	case "asin_f64", "acos_f64":
		return math.Abs(x) <= 1
	case "atanh_f64":
		return math.Abs(x) < 1
	case "acosh_f64":
		return x >= 1
	case "log1p_f64":
		return x > -1
	case "exp_f64", "exp2_f64", "expm1_f64", "sinh_f64", "cosh_f64", "tanh_f64", "sigmoid_f64":
		return math.Abs(x) < 1500
	}
	return true
}

func checkUnary(t *testing.T, name string, judge func(*big.Float) *big.Float, x []float64) {
	t.Helper()
	limit := bound(t, name)
	y := apply1(t, name, x)
	worst, at := 0.0, 0
	for i := range x {
		if e := bigError(y[i], judge(exact(x[i]))); !(e <= worst) {
			worst, at = e, i
		}
	}
	t.Logf("%d arguments, largest error %.4f ulp at %x", len(x), worst, x[at])
	if worst > limit {
		t.Errorf("%s(%x) = %x, want %.17g: error %.4f ulp, stated %.2f", name, x[at], y[at], judge(exact(x[at])), worst, limit)
	}
}

// binary lists the functions of two arguments with the domains to sample.
var binary = []struct {
	name  string
	judge func(x, y *big.Float) *big.Float
	x, y  []domain
}{
	{"atan2_f64", bigArg,
		[]domain{{lo: -4, hi: 4, minExp: -4, maxExp: 4}, {lo: -1, hi: 1, minExp: lowest, maxExp: highest}},
		[]domain{{lo: -4, hi: 4, minExp: -4, maxExp: 4}, {lo: -1, hi: 1, minExp: lowest, maxExp: highest}}},
	{"hypot_f64", bigHypot,
		[]domain{{lo: -4, hi: 4, minExp: -30, maxExp: 30}, {lo: -1, hi: 1, minExp: lowest, maxExp: highest}},
		[]domain{{lo: -4, hi: 4, minExp: -30, maxExp: 30}, {lo: -1, hi: 1, minExp: lowest, maxExp: highest}}},
	{"pow_f64", bigPow,
		[]domain{{lo: 0.5, hi: 2, minExp: -4, maxExp: 4, positive: true}, {lo: 0.99, hi: 1.01, minExp: lowest, maxExp: highest, positive: true}},
		[]domain{{lo: -1000, hi: 1000, minExp: -10, maxExp: 8}, {lo: -70000, hi: 70000, minExp: -70, maxExp: 0}}},
}

func TestBinaryAccuracy(t *testing.T) {
	for _, f := range binary {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(3, 4))
			var x, y []float64
			for i := range samples() {
				x = append(x, f.x[i%len(f.x)].draw(rng, i/len(f.x)))
				y = append(y, f.y[i%len(f.x)].draw(rng, i/len(f.x)))
			}
			limit := bound(t, f.name)
			r := apply2(t, f.name, x, y)
			worst, at := 0.0, 0
			for i := range x {
				if e := bigError(r[i], f.judge(exact(x[i]), exact(y[i]))); !(e <= worst) {
					worst, at = e, i
				}
			}
			t.Logf("%d arguments, largest error %.4f ulp at %x, %x", len(x), worst, x[at], y[at])
			if worst > limit {
				t.Errorf("%s(%x, %x) = %x, want %.17g: error %.4f ulp, stated %.2f", f.name, x[at], y[at], r[at],
					f.judge(exact(x[at]), exact(y[at])), worst, limit)
			}
		})
	}
}

// The error of logaddexp has an absolute part, because m and log(1 + e^(n-m)) may cancel.
func TestLogAddExpAccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	d := []domain{{lo: -4, hi: 4, minExp: -60, maxExp: 10}, {lo: -800, hi: 800, minExp: lowest, maxExp: 60}}
	var x, y []float64
	for i := range samples() {
		x = append(x, d[i%2].draw(rng, i/2))
		y = append(y, d[i%2].draw(rng, i/2))
	}
	// Where the terms cancel most of each other the error is largest.
	for range samples() / 4 {
		distance := -6 * rng.Float64()
		m := -math.Log1p(math.Exp(distance)) * (1 + 0.3*rng.NormFloat64())
		x, y = append(x, m, -0x1.1477f665e0100p-2), append(y, m+distance, -0x1.3222f5aab9d73p+0)
	}
	limit := bound(t, "logaddexp_f64")
	r := apply2(t, "logaddexp_f64", x, y)
	for i := range x {
		want := bigLogAddExp(exact(x[i]), exact(y[i]))
		half := math.Abs(math.Nextafter(r[i], math.Inf(1))-r[i]) / 2
		slack := half + math.Abs(max(x[i], y[i]))*0x1p-55
		if e := bigError(r[i], want); e > limit && math.Abs(double(sub(exact(r[i]), want))) > slack {
			t.Errorf("logaddexp(%x, %x) = %x, want %.17g: error %.4f ulp", x[i], y[i], r[i], want, e)
		}
	}
}
