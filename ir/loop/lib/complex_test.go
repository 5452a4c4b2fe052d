package lib_test

import (
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"testing"
)

// This file tests complex.loop.

// applyC is the function over c128.
func applyC(t *testing.T, name string, z []complex128) []complex128 {
	t.Helper()
	return run[complex128, complex128](t, name+"(x[i])", "c128", "c128", z, nil)
}

// bigSqrtC is the principal root; where the parts differ much, the small one comes by
// division.
func bigSqrtC(x, y *big.Float) (re, im *big.Float) {
	abs := newFloat().Abs(x)
	major := root(scale(add(abs, bigHypot(x, y)), -1))
	minor := quo(newFloat().Abs(y), scale(major, 1))
	re, im = major, minor
	if x.Sign() < 0 {
		re, im = minor, major
	}
	if y.Sign() < 0 {
		im = neg(im)
	}
	return re, im
}

func bigExpC(x, y *big.Float) (re, im *big.Float) {
	e := bigExp(x)
	s, c := bigSinCos(y)
	return mul(e, c), mul(e, s)
}

func bigLogC(x, y *big.Float) (re, im *big.Float) { return bigLogAbs(x, y), bigArg(y, x) }

// onCircle draws points near the unit circle, where log |z| cancels.
func onCircle(rng *rand.Rand) complex128 {
	s, c := math.Sincos(7 * rng.Float64())
	return complex(c, s)
}

func TestComplexAccuracy(t *testing.T) {
	// Parts of one size, and parts of any size.
	near := domain{lo: -5, hi: 5, minExp: -10, maxExp: 9}
	far := domain{lo: -1, hi: 1, minExp: lowest, maxExp: highest}
	for _, f := range []struct {
		name  string
		judge func(x, y *big.Float) (re, im *big.Float)
		draw  func(rng *rand.Rand, i int) complex128
	}{
		{"sqrt_c128", bigSqrtC, func(rng *rand.Rand, i int) complex128 {
			d := near
			if i%2 == 0 {
				d = far
			}
			return complex(d.draw(rng, i/2), d.draw(rng, i/2))
		}},
		{"exp_c128", bigExpC, func(rng *rand.Rand, i int) complex128 {
			d := near
			switch i % 4 {
			case 0, 2:
				d = far
			case 1: // results with subnormal parts, which are rounded twice
				return complex(-709+1.5*rng.Float64(), 8*rng.Float64()-4)
			}
			return complex(near.draw(rng, i/2), d.draw(rng, i/2))
		}},
		{"log_c128", bigLogC, func(rng *rand.Rand, i int) complex128 {
			switch i % 3 {
			case 0:
				return onCircle(rng)
			case 1:
				return complex(far.draw(rng, i/3), far.draw(rng, i/3))
			}
			return complex(near.draw(rng, i/3), near.draw(rng, i/3))
		}},
	} {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(11, 12))
			var z []complex128
			for i := range samples() {
				z = append(z, f.draw(rng, i))
			}
			if f.name == "exp_c128" { // where errors of more than a million samples were largest
				z = append(z, complex(-708.0632972597365, -2.357485302822579), complex(-708.0711205158296, 2.356022718134172))
			}
			limit := bound(t, f.name)
			r := applyC(t, f.name, z)
			worst := 0.0
			for i, z := range z {
				re, im := f.judge(exact(real(z)), exact(imag(z)))
				e := max(bigError(real(r[i]), re), bigError(imag(r[i]), im))
				if e > limit {
					t.Errorf("%s(%x) = %x, want %.17g, %.17g: error %.4f ulp, stated %.2f", f.name, z, r[i], re, im, e, limit)
				}
				worst = max(worst, e)
			}
			t.Logf("%d arguments, largest error of a part %.4f ulp", len(z), worst)
		})
	}
}

func TestComplexAbsIsHypot(t *testing.T) {
	z := []complex128{3 + 4i, complex(1e300, -1e300), complex(inf, nan), complex(nan, -inf), complex(nan, 1), 0, complex(negZero, negZero)}
	want := []float64{5, 1e300 * math.Sqrt2, inf, inf, nan, 0, 0}
	got := run[complex128, float64](t, "abs_c128(x[i]):f64", "c128", "f64", z, nil)
	for i := range z {
		if !same(got[i], want[i]) {
			t.Errorf("|%v| = %v, want %v", z[i], got[i], want[i])
		}
	}
}

// Values of C99, annex G. The sign of a zero or infinity counts where the standard gives it.
func TestComplexSpecialValues(t *testing.T) {
	c := func(re, im float64) complex128 { return complex(re, im) }
	for name, cases := range map[string][][2]complex128{
		"sqrt_c128": {
			{c(0, 0), c(0, 0)}, {c(negZero, 0), c(0, 0)}, {c(0, negZero), c(0, negZero)}, {c(4, 0), c(2, 0)}, {c(-4, 0), c(0, 2)}, {c(-4, negZero), c(0, -2)},
			{c(0, 2), c(1, 1)}, {c(0, -2), c(1, -1)}, {c(3, 4), c(2, 1)}, {c(-3, 4), c(1, 2)}, {c(1, inf), c(inf, inf)}, {c(nan, -inf), c(inf, -inf)},
			{c(inf, inf), c(inf, inf)}, {c(-inf, 1), c(0, inf)}, {c(-inf, -1), c(0, -inf)}, {c(inf, 1), c(inf, 0)}, {c(inf, -1), c(inf, negZero)},
			{c(-inf, nan), c(nan, inf)}, {c(inf, nan), c(inf, nan)}, {c(nan, 1), c(nan, nan)}, {c(1, nan), c(nan, nan)}, {c(nan, nan), c(nan, nan)},
			{c(0x1p1022, 0), c(0x1p511, 0)}, {c(0x1p-1074, 0), c(0x1p-537, 0)},
		},
		"exp_c128": {
			{c(0, 0), c(1, 0)}, {c(negZero, 0), c(1, 0)}, {c(0, negZero), c(1, negZero)}, {c(1, inf), c(nan, nan)}, {c(1, nan), c(nan, nan)},
			{c(inf, 0), c(inf, 0)}, {c(inf, negZero), c(inf, negZero)}, {c(-inf, 1), c(0, 0)}, {c(-inf, 2), c(negZero, 0)}, {c(-inf, -2), c(negZero, negZero)},
			{c(inf, 1), c(inf, inf)}, {c(inf, 2), c(-inf, inf)}, {c(-inf, inf), c(0, 0)}, {c(inf, inf), c(inf, nan)}, {c(-inf, nan), c(0, 0)},
			{c(inf, nan), c(inf, nan)}, {c(nan, 0), c(nan, 0)}, {c(nan, negZero), c(nan, negZero)}, {c(nan, 1), c(nan, nan)}, {c(nan, nan), c(nan, nan)},
			{c(1000, 0), c(inf, 0)}, {c(-1000, 1), c(0, 0)}, {c(1000, 1), c(inf, inf)}, {c(800, 0x1p-1074), c(inf, math.Exp(400)*0x1p-1074*math.Exp(400))},
		},
		"log_c128": {
			{c(0, 0), c(-inf, 0)}, {c(negZero, 0), c(-inf, math.Pi)}, {c(negZero, negZero), c(-inf, -math.Pi)}, {c(1, 0), c(0, 0)}, {c(1, negZero), c(0, negZero)},
			{c(-1, 0), c(0, math.Pi)}, {c(0, 1), c(0, math.Pi/2)}, {c(inf, 1), c(inf, 0)}, {c(-inf, 1), c(inf, math.Pi)}, {c(1, inf), c(inf, math.Pi/2)},
			{c(inf, inf), c(inf, math.Pi/4)}, {c(-inf, inf), c(inf, 3*math.Pi/4)}, {c(inf, nan), c(inf, nan)}, {c(nan, inf), c(inf, nan)},
			{c(nan, 1), c(nan, nan)}, {c(1, nan), c(nan, nan)}, {c(nan, nan), c(nan, nan)}, {c(1, 0x1p-600), c(0, 0x1p-600)},
		},
	} {
		var z []complex128
		for _, p := range cases {
			z = append(z, p[0])
		}
		r := applyC(t, name, z)
		for i, p := range cases {
			// exp(800 + i tiny) is checked to a few ulps only.
			close := math.Abs(imag(r[i])-imag(p[1])) < 1e-12*math.Abs(imag(p[1]))
			if !same(real(r[i]), real(p[1])) || !same(imag(r[i]), imag(p[1])) && !close {
				t.Errorf("%s(%v) = %v, want %v", name, p[0], r[i], p[1])
			}
		}
	}
}

// applyPow is pow_c128.
func applyPow(t *testing.T, z, w []complex128) []complex128 {
	t.Helper()
	return run[complex128, complex128](t, "pow_c128(x[i], w[i])", "c128", "c128", z, w)
}

// The error of pow relative to |z^w| grows with |w log z|: (1 + |w log z|/8) 2^-53.
func TestComplexPowAccuracy(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	base := domain{lo: -3, hi: 3, minExp: -8, maxExp: 8}
	power := domain{lo: -8, hi: 8, minExp: -10, maxExp: 6}
	var z, w []complex128
	for i := range samples() {
		z = append(z, complex(base.draw(rng, i/4), base.draw(rng, i/4)))
		switch i % 4 {
		case 0:
			w = append(w, complex(float64(rng.IntN(201)-100), 0))
		case 1:
			w = append(w, complex(power.draw(rng, i/4), 0))
		default:
			w = append(w, complex(power.draw(rng, i/4), power.draw(rng, i/4)))
		}
	}
	r := applyPow(t, z, w)
	checked, worst := 0, 0.0
	for i := range z {
		lr, li := bigLogC(exact(real(z[i])), exact(imag(z[i])))
		wr, wi := exact(real(w[i])), exact(imag(w[i]))
		er, ei := sub(mul(wr, lr), mul(wi, li)), add(mul(wr, li), mul(wi, lr))
		if math.Abs(double(er)) > 690 {
			continue
		}
		re, im := bigExpC(er, ei)
		d := bigHypot(sub(exact(real(r[i])), re), sub(exact(imag(r[i])), im))
		e := double(quo(d, bigHypot(re, im))) * 0x1p53
		e /= 1 + math.Hypot(double(er), double(ei))/8
		checked, worst = checked+1, max(worst, e)
		if !(e <= 1) {
			t.Errorf("pow(%v, %v) = %v, want %.17g, %.17g: error %.3f of what is stated", z[i], w[i], r[i], re, im, e)
		}
	}
	t.Logf("%d arguments, largest error %.3f of what is stated", checked, worst)
	if checked < samples()*3/4 {
		t.Errorf("only %d of %d arguments had a result in range", checked, samples())
	}
}

func TestComplexPowSpecialCases(t *testing.T) {
	nanC := complex(nan, nan)
	for _, c := range [][3]complex128{
		{2, 0, 1}, {nanC, 0, 1}, {complex(inf, nan), 0, 1}, {0, 0, 1},
		{0, 2, 0}, {0, 0.5, 0}, {0, -1, nanC}, {0, complex(1, 1), nanC}, {0, complex(0, 1), nanC},
		{1i, 2, -1}, {1 + 1i, 2, 2i}, {1 + 2i, 3, -11 - 2i}, {1 + 1i, 100, complex(-0x1p50, 0)}, {2, -2, 0.25}, {1i, -1, -1i}, {-2, 3, -8},
		{3 + 4i, 5, -237 - 3116i}, {2, 10, 1024}, {1i, 4, 1}, {complex(0x1p-1030, 0), -1, complex(inf, 0)}, {complex(0x1p600, 0), 2, complex(inf, 0)}, {complex(0x1p600, 0), -2, 0},
		{complex(0x1p500, 0x1p500), -1, complex(0x1p-501, -0x1p-501)}, {4, 0.5, 2}, {nanC, 1, nanC}, {2, nanC, nanC},
	} {
		got := applyPow(t, []complex128{c[0]}, []complex128{c[1]})[0]
		if cmplx.IsNaN(c[2]) {
			if !math.IsNaN(real(got)) || !math.IsNaN(imag(got)) {
				t.Errorf("%v ^ %v = %v, want nan", c[0], c[1], got)
			}
			continue
		}
		if got != c[2] && !(math.IsInf(real(c[2]), 1) && math.IsInf(real(got), 1)) {
			t.Errorf("%v ^ %v = %v, want %v", c[0], c[1], got, c[2])
		}
	}
}
