package lib_test

import (
	"math"
	"math/big"
	"sync"
)

// This file has the functions that those of the library are compared with.

// The judge: elementary functions in math/big, written for relative accuracy
// far beyond f64 rather than for speed. They are derived by other formulas
// than the library's, and share nothing with it.

// prec is the working precision in bits; results are good to at least 100.
const prec = 128

func newFloat() *big.Float           { return new(big.Float).SetPrec(prec) }
func exact(x float64) *big.Float     { return newFloat().SetFloat64(x) }
func add(x, y *big.Float) *big.Float { return newFloat().Add(x, y) }
func sub(x, y *big.Float) *big.Float { return newFloat().Sub(x, y) }
func mul(x, y *big.Float) *big.Float { return newFloat().Mul(x, y) }
func quo(x, y *big.Float) *big.Float { return newFloat().Quo(x, y) }
func neg(x *big.Float) *big.Float    { return newFloat().Neg(x) }
func root(x *big.Float) *big.Float   { return newFloat().Sqrt(x) }
func scale(x *big.Float, n int) *big.Float {
	return newFloat().SetMantExp(x, n)
}
func double(x *big.Float) float64 { f, _ := x.Float64(); return f }

var one = exact(1)

// inverseAtan is atan(1/n) scaled by 2^bits, or atanh(1/n) where the terms do not alternate.
func inverseAtan(n int64, bits uint, alternate int64) *big.Int {
	term := new(big.Int).Lsh(big.NewInt(1), bits)
	term.Quo(term, big.NewInt(n))
	square := big.NewInt(n * n)
	sum := new(big.Int).Set(term)
	for k, sign := int64(3), alternate; term.Sign() != 0; k, sign = k+2, sign*alternate {
		term.Quo(term, square)
		t := new(big.Int).Quo(term, big.NewInt(k))
		sum.Add(sum, t.Mul(t, big.NewInt(sign)))
	}
	return sum
}

// combination is the sum of coefficient × inverseAtan(n), as a number of so many bits.
func combination(bits uint, alternate int64, pairs ...int64) *big.Float {
	sum := new(big.Int)
	for i := 0; i < len(pairs); i += 2 {
		t := inverseAtan(pairs[i+1], bits+32, alternate)
		sum.Add(sum, t.Mul(t, big.NewInt(pairs[i])))
	}
	f := new(big.Float).SetPrec(bits).SetInt(sum)
	return f.SetMantExp(f, -int(bits+32))
}

// widePrec holds x mod pi/2 of the largest f64 to prec bits.
const widePrec = 1400

var (
	halfPiWide = sync.OnceValue(func() *big.Float { return combination(widePrec, -1, 8, 5, -2, 239) })
	halfPi     = sync.OnceValue(func() *big.Float { return newFloat().Set(halfPiWide()) })
	ln2        = sync.OnceValue(func() *big.Float { return combination(prec, 1, 18, 26, -2, 4801, 8, 8749) })
)

// inverseFactorials holds 1/k!.
var inverseFactorials = sync.OnceValue(func() []*big.Float {
	c := []*big.Float{one}
	for k := 1; k < 36; k++ {
		c = append(c, quo(c[k-1], exact(float64(k))))
	}
	return c
})

// bigExpm1 is e^x - 1 with relative accuracy for |x| < 1: Taylor's series of x/2^8, then
// doublings e^2x - 1 = E (E + 2).
func bigExpm1Small(x *big.Float) *big.Float {
	const halvings = 8
	c := inverseFactorials()
	r := scale(x, -halvings)
	s := newFloat()
	for k := 12; k >= 1; k-- {
		s.Add(s, c[k]).Mul(s, r)
	}
	two, t := exact(2), newFloat()
	for range halvings {
		s.Mul(s, t.Add(s, two))
	}
	return s
}

// split returns k and r with x = k ln 2 + r, |r| <= ln(2)/2.
func split(x *big.Float) (int, *big.Float) {
	k := math.Round(double(x) / math.Ln2)
	return int(k), sub(x, mul(exact(k), ln2()))
}

func bigExp(x *big.Float) *big.Float {
	k, r := split(x)
	return scale(add(one, bigExpm1Small(r)), k)
}

func bigExpm1(x *big.Float) *big.Float {
	if math.Abs(double(x)) < 0.5 {
		return bigExpm1Small(x)
	}
	return sub(bigExp(x), one)
}

// bigLog1p improves the f64 logarithm by one step of Halley's iteration on e^y = 1 + x,
// which triples its correct bits.
func bigLog1p(x *big.Float) *big.Float {
	f := double(x)
	if f > 1 || f < -0.5 {
		return bigLog(add(one, x))
	}
	if f == 0 {
		return newFloat().Set(x)
	}
	y := exact(math.Log1p(f))
	e := bigExpm1Small(y)
	step := quo(sub(x, e), add(add(x, e), exact(2)))
	return y.Add(y, scale(step, 1))
}

// bigLog is log x for x > 0.
func bigLog(x *big.Float) *big.Float {
	m := newFloat()
	k := x.MantExp(m)
	if double(m) < math.Sqrt2/2 {
		m, k = scale(m, 1), k-1
	}
	y := bigLog1p(sub(m, one))
	if k == 0 {
		return y
	}
	return add(mul(exact(float64(k)), ln2()), y)
}

// bigSinCos sums Taylor's series of the argument modulo pi/2.
func bigSinCos(x *big.Float) (sin, cos *big.Float) {
	n := new(big.Int)
	r := newFloat().Set(x)
	if e := x.MantExp(nil); e >= 0 {
		// as many bits of pi/2 as the quotient has, and the 62 that may cancel
		wide := new(big.Float).SetPrec(uint(prec + 64 + e))
		half := new(big.Float).SetPrec(wide.Prec()).Set(halfPiWide())
		wide.Quo(x, half)
		wide.Add(wide, big.NewFloat(math.Copysign(0.5, double(x))))
		wide.Int(n)
		wide.Mul(wide.SetInt(n), half)
		r.Sub(x, wide)
	}
	c := inverseFactorials()
	z := neg(mul(r, r))
	s, t := newFloat(), newFloat()
	for k := 32; k >= 2; k -= 2 {
		s.Add(s, c[k+1]).Mul(s, z)
		t.Add(t, c[k]).Mul(t, z)
	}
	s.Mul(s.Add(s, one), r)
	t.Add(t, one)
	switch new(big.Int).And(n, big.NewInt(3)).Int64() {
	case 1:
		return t, neg(s)
	case 2:
		return neg(s), neg(t)
	case 3:
		return neg(t), s
	}
	return s, t
}

// bigArg is the angle of (x, y), not both zero: the f64 angle turned by the small angle that
// is left.
func bigArg(y, x *big.Float) *big.Float {
	if ratio := quo(y, x); x.Sign() > 0 && ratio.MantExp(nil) < -100 {
		return ratio
	}
	// math.Atan2 loses the sign of y where y/x underflows.
	a := exact(math.Copysign(math.Atan2(double(y), double(x)), double(y)))
	s, c := bigSinCos(a)
	d := quo(sub(mul(y, c), mul(x, s)), add(mul(x, c), mul(y, s)))
	cube := mul(mul(d, d), d)
	return a.Add(a, d.Sub(d, cube.Quo(cube, exact(3))))
}

func bigAtan(x *big.Float) *big.Float { return bigArg(x, one) }

func bigAsin(x *big.Float) *big.Float {
	return bigArg(x, root(mul(sub(one, x), add(one, x))))
}

func bigAcos(x *big.Float) *big.Float {
	return bigArg(root(mul(sub(one, x), add(one, x))), x)
}

func bigSinh(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return neg(bigSinh(neg(x)))
	}
	e := bigExpm1(x)
	return scale(add(e, quo(e, add(e, one))), -1)
}

func bigCosh(x *big.Float) *big.Float {
	e := bigExp(x)
	return scale(add(e, quo(one, e)), -1)
}

func bigTanh(x *big.Float) *big.Float {
	if x.Sign() > 0 {
		return neg(bigTanh(neg(x)))
	}
	e := bigExpm1(scale(x, 1))
	return quo(e, add(e, exact(2)))
}

func bigAsinh(x *big.Float) *big.Float {
	if x.Sign() < 0 {
		return neg(bigAsinh(neg(x)))
	}
	sq := mul(x, x)
	return bigLog1p(add(x, quo(sq, add(one, root(add(one, sq))))))
}

func bigAcosh(x *big.Float) *big.Float {
	t := sub(x, one)
	return bigLog1p(add(t, root(mul(t, add(t, exact(2))))))
}

func bigAtanh(x *big.Float) *big.Float {
	return scale(bigLog1p(quo(scale(x, 1), sub(one, x))), -1)
}

// bigCbrt is one step of Halley's iteration from the f64 root.
func bigCbrt(x *big.Float) *big.Float {
	y := exact(math.Cbrt(double(x)))
	c := mul(mul(y, y), y)
	return quo(mul(y, add(c, scale(x, 1))), add(scale(c, 1), x))
}

// bigErf sums erf x = 2/sqrt(pi) e^(-x^2) (x + 2x^3/3 + 4x^5/15 + …), whose terms are
// all of one sign.
func bigErf(x *big.Float) *big.Float {
	if math.Abs(double(x)) > 9 {
		return exact(math.Copysign(1, double(x)))
	}
	sq := mul(x, x)
	two := scale(sq, 1)
	term := newFloat().Set(x)
	sum := newFloat().Set(x)
	for k := 3.0; term.MantExp(nil) > sum.MantExp(nil)-130; k += 2 {
		term.Quo(term.Mul(term, two), exact(k))
		sum.Add(sum, term)
	}
	sum.Mul(sum, bigExp(neg(sq)))
	return sum.Quo(scale(sum, 1), root(scale(halfPi(), 1)))
}

func bigSigmoid(x *big.Float) *big.Float {
	return quo(one, add(one, bigExp(neg(x))))
}

// bigLogAddExp is log(e^a + e^b).
func bigLogAddExp(a, b *big.Float) *big.Float {
	if a.Cmp(b) < 0 {
		a, b = b, a
	}
	return add(a, bigLog1p(bigExp(sub(b, a))))
}

func bigPow(x, y *big.Float) *big.Float { return bigExp(mul(y, bigLog(x))) }

func bigHypot(x, y *big.Float) *big.Float { return root(add(mul(x, x), mul(y, y))) }

// bigLogAbs is log |x + iy|. x^2 + y^2 - 1 is summed exactly where it cancels, which takes x and y
// of like size.
func bigLogAbs(x, y *big.Float) *big.Float {
	wide := func() *big.Float { return new(big.Float).SetPrec(512) }
	v := wide().Mul(x, x)
	v.Add(v, wide().Mul(y, y))
	if f := double(v); f < 0.5 || f > 2 {
		return scale(bigLog(newFloat().Set(v)), -1)
	}
	return scale(bigLog1p(newFloat().Set(v.Sub(v, one))), -1)
}

// bigError is the distance of got from want in ulps of f64 at want: in units of the last place of
// the binade that holds want (of the subnormals at the bottom).
func bigError(got float64, want *big.Float) float64 {
	top := newFloat().SetMantExp(sub(one, scale(one, -54)), 1024)
	beyond := newFloat().Abs(want).Cmp(top) >= 0
	switch {
	case math.IsNaN(got), math.IsInf(got, 0) && !beyond, beyond && got != math.Inf(want.Sign()):
		return math.Inf(1)
	case beyond:
		return 0
	case want.Sign() == 0:
		return math.Abs(got) / math.SmallestNonzeroFloat64
	}
	last := max(want.MantExp(nil)-53, -1074)
	d := sub(exact(got), want)
	return math.Abs(double(scale(d, -last)))
}
