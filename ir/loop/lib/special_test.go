package lib_test

import (
	"math"
	"math/rand/v2"
	"testing"
)

// This file tests functions of f64 at zeros, infinities, NaN and seams.

var (
	inf     = math.Inf(1)
	nan     = math.NaN()
	negZero = math.Copysign(0, -1)
)

// Every function of one argument maps nan to nan; the rest of its special values.
func TestUnarySpecialValues(t *testing.T) {
	const tiny = math.SmallestNonzeroFloat64
	// odd adds the mirror images, and 0.
	odd := func(pairs ...[2]float64) [][2]float64 {
		all := [][2]float64{{0, 0}}
		all = append(all, pairs...)
		for _, p := range all {
			all = append(all, [2]float64{-p[0], -p[1]})
		}
		return all
	}
	tests := map[string][][2]float64{
		"exp_f64": {{0, 1}, {negZero, 1}, {inf, inf}, {-inf, 0}, {710, inf}, {-746, 0}, {1e308, inf}, {-1e308, 0}, {tiny, 1},
			{-745.1332191019411, tiny}, {1, math.E}},
		"exp2_f64":    {{0, 1}, {inf, inf}, {-inf, 0}, {1024, inf}, {1023, 0x1p1023}, {-1074, tiny}, {-1022, 0x1p-1022}, {-1e9, 0}, {10, 1024}},
		"expm1_f64":   {{0, 0}, {negZero, negZero}, {inf, inf}, {-inf, -1}, {710, inf}, {-1e300, -1}, {tiny, tiny}, {-tiny, -tiny}},
		"sigmoid_f64": {{0, 0.5}, {negZero, 0.5}, {inf, 1}, {-inf, 0}, {1e300, 1}, {-1e300, 0}},
		"log_f64":     {{0, -inf}, {negZero, -inf}, {1, 0}, {inf, inf}, {-1, nan}, {-inf, nan}, {-tiny, nan}, {math.E, 1}},
		"log2_f64":    {{0, -inf}, {negZero, -inf}, {1, 0}, {inf, inf}, {-1, nan}, {-inf, nan}, {tiny, -1074}, {0x1p1023, 1023}, {8, 3}},
		"log10_f64":   {{0, -inf}, {negZero, -inf}, {1, 0}, {inf, inf}, {-1, nan}, {-inf, nan}, {1000, 3}, {1e22, 22}},
		"log1p_f64":   odd([2]float64{tiny, tiny}),
		"sin_f64":     odd([2]float64{tiny, tiny}, [2]float64{inf, nan}),
		"cos_f64":     {{0, 1}, {negZero, 1}, {inf, nan}, {-inf, nan}, {tiny, 1}},
		"tan_f64":     odd([2]float64{tiny, tiny}, [2]float64{inf, nan}),
		"asin_f64":    odd([2]float64{tiny, tiny}, [2]float64{1, math.Pi / 2}, [2]float64{1.5, nan}, [2]float64{inf, nan}, [2]float64{math.Nextafter(1, 2), nan}),
		"acos_f64":    {{1, 0}, {-1, math.Pi}, {0, math.Pi / 2}, {negZero, math.Pi / 2}, {1.5, nan}, {-1.5, nan}, {inf, nan}, {-inf, nan}},
		"atan_f64":    odd([2]float64{tiny, tiny}, [2]float64{inf, math.Pi / 2}, [2]float64{1, math.Pi / 4}, [2]float64{1e300, math.Pi / 2}),
		"sinh_f64":    odd([2]float64{tiny, tiny}, [2]float64{inf, inf}, [2]float64{711, inf}, [2]float64{1e308, inf}),
		"cosh_f64":    {{0, 1}, {negZero, 1}, {inf, inf}, {-inf, inf}, {711, inf}, {-1e300, inf}, {tiny, 1}},
		"tanh_f64":    odd([2]float64{tiny, tiny}, [2]float64{inf, 1}, [2]float64{100, 1}, [2]float64{1e300, 1}),
		"asinh_f64":   odd([2]float64{tiny, tiny}, [2]float64{inf, inf}),
		"acosh_f64":   {{1, 0}, {inf, inf}, {0, nan}, {0.9999999999999999, nan}, {-1, nan}, {-inf, nan}},
		"atanh_f64":   odd([2]float64{tiny, tiny}, [2]float64{1, inf}, [2]float64{1.5, nan}, [2]float64{inf, nan}),
		"cbrt_f64":    odd([2]float64{inf, inf}, [2]float64{27, 3}, [2]float64{0x1p-1074, 0x1p-358}, [2]float64{1e300, 1e100}),
		"erf_f64":     {{0, 0}, {negZero, negZero}, {inf, 1}, {-inf, -1}, {6, 1}, {-30, -1}, {1e300, 1}},
	}
	tests["log1p_f64"] = append(tests["log1p_f64"], [][2]float64{{-1, -inf}, {-1.5, nan}, {-inf, nan}, {inf, inf}}...)
	for _, f := range unary {
		cases, ok := tests[f.name]
		if !ok {
			t.Errorf("%s has no special values", f.name)
		}
		cases = append(cases, [2]float64{nan, nan}, [2]float64{math.Float64frombits(0xfff8000000000123), nan})
		var x []float64
		for _, c := range cases {
			x = append(x, c[0])
		}
		y := apply1(t, f.name, x)
		for i, c := range cases {
			if !same(y[i], c[1]) {
				t.Errorf("%s(%v) = %v, want %v", f.name, c[0], y[i], c[1])
			}
		}
	}
}

// checkBinary compares f(x, y) with want for each {x, y, want}.
func checkBinary(t *testing.T, name string, cases [][3]float64) {
	t.Helper()
	var x, y []float64
	for _, c := range cases {
		x, y = append(x, c[0]), append(y, c[1])
	}
	r := apply2(t, name, x, y)
	for i, c := range cases {
		if !same(r[i], c[2]) {
			t.Errorf("%s(%v, %v) = %v, want %v", name, c[0], c[1], r[i], c[2])
		}
	}
}

// Go's math package has C99's special values for these.
func TestBinarySpecialValuesAgreeWithC99(t *testing.T) {
	values := []float64{0, negZero, 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1.5, -1.5, 0x1p53, -0x1p53, 0x1p53 + 2, 0x1p52 + 1, -0x1p52 - 1, 1e300, -1e300,
		math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, inf, -inf, nan}
	for _, f := range []struct {
		name  string
		judge func(x, y float64) float64
	}{
		{"pow_f64", math.Pow}, {"atan2_f64", atan2}, {"hypot_f64", math.Hypot},
	} {
		var cases [][3]float64
		for _, x := range values {
			for _, y := range values {
				want := f.judge(x, y)
				// Inexact values are the accuracy tests' business.
				special := want == 0 || math.Abs(want) == 1 || math.IsInf(want, 0) || math.IsNaN(want) || math.Abs(x) == inf || math.Abs(y) == inf
				if special {
					cases = append(cases, [3]float64{x, y, want})
				}
			}
		}
		checkBinary(t, f.name, cases)
	}
}

// atan2 gives y's sign to the result also where math.Atan2 loses it to underflow.
func atan2(y, x float64) float64 {
	if math.IsNaN(x) || math.IsNaN(y) {
		return nan
	}
	return math.Copysign(math.Atan2(y, x), y)
}

func TestPowIsExactOnExactPowers(t *testing.T) {
	var cases [][3]float64
	for base := 2.0; base <= 15; base++ {
		for n, p := 0.0, 1.0; p < 0x1p53; n, p = n+1, p*base {
			cases = append(cases, [3]float64{base, n, p}, [3]float64{p * p, 0.5, p})
			if n > 0 && math.Mod(n, 2) == 1 {
				cases = append(cases, [3]float64{-base, n, -p})
			}
		}
	}
	for n := -1074; n < 1024; n++ {
		cases = append(cases, [3]float64{2, float64(n), math.Ldexp(1, n)})
	}
	for i := range cases {
		// p*p is inexact beyond 2^53 and then no exact case.
		if cases[i][1] == 0.5 && cases[i][0] > 0x1p53 {
			cases[i] = [3]float64{4, 0.5, 2}
		}
	}
	checkBinary(t, "pow_f64", cases)
}

func TestLogAddExpSpecialValues(t *testing.T) {
	checkBinary(t, "logaddexp_f64", [][3]float64{
		{-inf, -inf, -inf}, {inf, inf, inf}, {inf, -inf, inf}, {-inf, inf, inf}, {-inf, 3, 3}, {3, -inf, 3}, {inf, 1e308, inf}, {-1e308, inf, inf},
		{nan, 1, nan}, {1, nan, nan}, {nan, inf, nan}, {-inf, nan, nan}, {nan, nan, nan},
		{0, 0, math.Ln2}, {1000, 1000, 1000 + math.Ln2}, {1e308, -1e308, 1e308}, {-1e308, -1e308, -1e308}, {-1.7e308, 1.7e308, 1.7e308},
		{math.MaxFloat64, math.MaxFloat64, math.MaxFloat64}, {0, -800, 0}, {0, -745.1, math.SmallestNonzeroFloat64},
	})
}

// pythonMod is a % b as Python and NumPy define it, from Go's exact Mod.
func pythonMod(a, b float64) float64 {
	r := math.Mod(a, b)
	switch {
	case r == 0:
		return math.Copysign(0, b)
	case r < 0 != (b < 0):
		return r + b
	}
	return r
}

// numpyFloorDivide follows npy_divmod.
func numpyFloorDivide(a, b float64) float64 {
	if b == 0 {
		return a / b
	}
	r := math.Mod(a, b)
	q := (a - r) / b
	if r != 0 && r < 0 != (b < 0) {
		q--
	}
	if q == 0 {
		return math.Copysign(0, a/b)
	}
	f := math.Floor(q)
	if q-f > 0.5 {
		f++
	}
	return f
}

func TestModAndFloorDiv(t *testing.T) {
	checkBinary(t, "mod_f64", [][3]float64{
		{7, 3, 1}, {-7, 3, 2}, {7, -3, -2}, {-7, -3, -1}, {6, 3, 0}, {-6, 3, 0}, {6, -3, negZero}, {0, 5, 0}, {negZero, 5, 0}, {0, -5, negZero},
		{1, inf, 1}, {-1, inf, inf}, {1, -inf, -inf}, {-1, -inf, -1}, {0, inf, 0}, {0, -inf, negZero},
		{1, 0, nan}, {inf, 1, nan}, {inf, inf, nan}, {nan, 1, nan}, {1, nan, nan}, {5.5, 2, 1.5}, {math.MaxFloat64, math.SmallestNonzeroFloat64, 0},
		{1e308, 3, 2},
	})
	checkBinary(t, "floordiv_f64", [][3]float64{
		{7, 3, 2}, {-7, 3, -3}, {7, -3, -3}, {-7, -3, 2}, {6, 3, 2}, {-6, 3, -2}, {0, 5, 0}, {negZero, 5, negZero}, {0, -5, negZero},
		{1, inf, 0}, {-1, inf, -1}, {1, -inf, -1}, {-1, -inf, 0}, {1, 0, inf}, {-1, 0, -inf}, {0, 0, nan}, {inf, 1, nan}, {inf, inf, nan},
		{nan, 1, nan}, {1, nan, nan}, {0.5, 2, 0}, {-0.5, 2, -1},
	})
	rng := rand.New(rand.NewPCG(7, 8))
	near := domain{lo: -100, hi: 100, minExp: -3, maxExp: 8}
	far := domain{lo: -1, hi: 1, minExp: lowest, maxExp: highest}
	var mod, div [][3]float64
	for i := range samples() {
		d := near
		if i%2 == 0 {
			d = far
		}
		x, y := d.draw(rng, i/2), d.draw(rng, i/2)
		if i%5 == 0 {
			x, y = math.Round(x), math.Round(y)
		}
		if y == 0 {
			continue
		}
		mod = append(mod, [3]float64{x, y, pythonMod(x, y)})
		div = append(div, [3]float64{x, y, numpyFloorDivide(x, y)})
	}
	checkBinary(t, "mod_f64", mod)
	checkBinary(t, "floordiv_f64", div)
}

// Functions that grow must not turn back: neighbouring arguments across the seams of
// the algorithms, where two approximations meet.
func TestGrowingFunctionsDoNotFallAcrossSeams(t *testing.T) {
	seams := map[string][]float64{
		"exp_f64":   {math.Ln2 / 2, -math.Ln2 / 2, 3 * math.Ln2 / 2},
		"log_f64":   {math.Sqrt2 / 2, math.Sqrt2, 2 * math.Sqrt2, 1},
		"asin_f64":  {0.5, -0.5},
		"atan_f64":  {0.4375, 0.6875, 1.1875, 2.4375},
		"erf_f64":   {0.625, 1.5},
		"tanh_f64":  {0x1p-28, math.Ln2 / 2},
		"asinh_f64": {0x1p-28, 0x1p40},
		"cbrt_f64":  {1, 2, 4, 8},
	}
	for name, at := range seams {
		for _, seam := range at {
			x := []float64{seam}
			for range 200 {
				x = append([]float64{math.Nextafter(x[0], -inf)}, x...)
				x = append(x, math.Nextafter(x[len(x)-1], inf))
			}
			y := apply1(t, name, x)
			for i := 1; i < len(y); i++ {
				// One ulp of fall is within the stated error.
				if y[i] < math.Nextafter(y[i-1], -inf) {
					t.Errorf("%s(%x) = %x is below %s(%x) = %x", name, x[i], y[i], name, x[i-1], y[i-1])
				}
			}
		}
	}
}
