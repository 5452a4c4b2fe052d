package loop

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

var (
	inf     = math.Inf(1)
	nan     = math.NaN()
	negZero = math.Copysign(0, -1)
)

var computeTypes = []Type{Bool, I8, I16, I32, I64, U8, U16, U32, U64, F32, F64, C64, C128}

// specials are the values of a real type that rules tend to break on.
func specials(t Type) []Const {
	var out []Const
	switch {
	case t == Bool:
		return []Const{boolConst(false), boolConst(true)}
	case t.IsInt():
		high := uint64(1) << (8*t.Size() - 1)
		for _, v := range []uint64{0, 1, 2, 3, 7, 31, 63, 64, 100, high - 1, high, high + 1, ^uint64(0), ^uint64(0) - 6} {
			out = append(out, wrapped(t, v))
		}
	case t == F32:
		for _, v := range []float64{0, negZero, 1, -1, 0.5, -0.5, 1.5, 2.5, 3, 1e-45, -1e-40, 16777217, 3.4028234e38, 65504, 65520, inf, -inf, nan} {
			out = append(out, f32Const(float32(v)))
		}
	case t == F64:
		for _, v := range []float64{0, negZero, 1, -1, 0.5, -0.5, 1.5, 2.5, 3, 5e-324, -1e-310, 1 << 53, 1 << 63, -1 << 63, 1 << 64, 1e39, math.MaxFloat64, inf, -inf, nan} {
			out = append(out, f64Const(v))
		}
	case t == C64:
		for _, re := range []float32{0, 1, -2.5, float32(inf), float32(nan)} {
			for _, im := range []float32{0, 3, float32(-inf)} {
				out = append(out, c64Const(complex(re, im)))
			}
		}
	case t == C128:
		for _, re := range []float64{0, 1, -2.5, inf, nan} {
			for _, im := range []float64{0, 3, -inf} {
				out = append(out, c128Const(complex(re, im)))
			}
		}
	}
	return out
}

// Eval has a value exactly where the typing rules say that there is one, of the
// type that they say.
func TestEvalTypes(t *testing.T) {
	for _, typ := range append(computeTypes, F16, BF16, Invalid) {
		x := Const{Typ: typ}
		for op := InvalidUnary; op <= OnesCount; op++ {
			r, ok := EvalUnary(op, x)
			if want := UnaryType(op, typ); r.Typ != want || ok != (want != Invalid) {
				t.Errorf("EvalUnary(%s, %s) has type %s, %t; want %s", op, typ, r.Typ, ok, want)
			}
		}
		for op := InvalidBinary; op <= Complex; op++ {
			r, ok := EvalBinary(op, x, x)
			if want := BinaryType(op, typ); r.Typ != want || ok != (want != Invalid) {
				t.Errorf("EvalBinary(%s, %s) has type %s, %t; want %s", op, typ, r.Typ, ok, want)
			}
		}
		for _, to := range append(computeTypes, F16, BF16, Invalid) {
			want := to
			if !to.IsCompute() || !typ.IsCompute() {
				want = Invalid
			}
			if r := EvalCast(to, x); r.Typ != want {
				t.Errorf("EvalCast(%s, %s) has type %s, want %s", to, typ, r.Typ, want)
			}
		}
	}
	if r, ok := EvalBinary(Add, Const{Typ: I32}, Const{Typ: I64}); ok {
		t.Errorf("i32 + i64 = %v, want refused", r)
	}
}

// All results are canonical: extended from their width, nothing in unused bits.
func TestEvalCanonical(t *testing.T) {
	check := func(what string, r Const, ok bool) {
		if ok && r.Typ != Invalid && !r.isCanonical() {
			t.Errorf("%s: %s with bits %#x, %#x is not canonical", what, r.Typ, r.Bits, r.Imag)
		}
	}
	for _, typ := range computeTypes {
		for _, x := range specials(typ) {
			for op := Neg; op <= OnesCount; op++ {
				r, ok := EvalUnary(op, x)
				check(op.String()+" "+x.String(), r, ok)
			}
			for _, to := range computeTypes {
				check(to.String()+" of "+x.String(), EvalCast(to, x), true)
			}
			for _, y := range specials(typ) {
				for op := Add; op <= Complex; op++ {
					r, ok := EvalBinary(op, x, y)
					check(x.String()+" "+op.String()+" "+y.String(), r, ok)
				}
			}
		}
	}
}

type goInt interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// Integer operators are those of the Go type of the same width, with the rules
// for zero divisors and shift counts added.
func TestEvalIntegers(t *testing.T) {
	testIntegers[int8](t, I8)
	testIntegers[int16](t, I16)
	testIntegers[int32](t, I32)
	testIntegers[int64](t, I64)
	testIntegers[uint8](t, U8)
	testIntegers[uint16](t, U16)
	testIntegers[uint32](t, U32)
	testIntegers[uint64](t, U64)
}

func testIntegers[T goInt](t *testing.T, typ Type) {
	divide := func(x, y T, op func(x, y T) T) T {
		if y == 0 {
			return 0
		}
		return op(x, y)
	}
	width := T(8 * typ.Size())
	binary := map[BinaryOp]func(x, y T) T{
		Add: func(x, y T) T { return x + y },
		Sub: func(x, y T) T { return x - y },
		Mul: func(x, y T) T { return x * y },
		Div: func(x, y T) T { return divide(x, y, func(x, y T) T { return x / y }) },
		Rem: func(x, y T) T { return divide(x, y, func(x, y T) T { return x % y }) },
		Min: func(x, y T) T { return min(x, y) },
		Max: func(x, y T) T { return max(x, y) },
		And: func(x, y T) T { return x & y },
		Or:  func(x, y T) T { return x | y },
		Xor: func(x, y T) T { return x ^ y },
		Shl: func(x, y T) T { return x << (y & (width - 1)) },
		Shr: func(x, y T) T { return x >> (y & (width - 1)) },
	}
	compare := map[BinaryOp]func(x, y T) bool{
		Eq: func(x, y T) bool { return x == y },
		Ne: func(x, y T) bool { return x != y },
		Lt: func(x, y T) bool { return x < y },
		Le: func(x, y T) bool { return x <= y },
		Gt: func(x, y T) bool { return x > y },
		Ge: func(x, y T) bool { return x >= y },
	}
	unary := map[UnaryOp]func(x T) T{
		Neg: func(x T) T { return -x },
		Not: func(x T) T { return ^x },
		Abs: func(x T) T {
			if x < 0 {
				return -x
			}
			return x
		},
	}
	for _, x := range specials(typ) {
		for op, f := range unary {
			want := uint64(int64(f(T(x.Bits))))
			if r, _ := EvalUnary(op, x); r != wrapped(typ, want) {
				t.Errorf("%s %s = %s, want %d", op, x.String(), r.String(), int64(want))
			}
		}
		for _, y := range specials(typ) {
			for op, f := range binary {
				want := uint64(int64(f(T(x.Bits), T(y.Bits))))
				if r, _ := EvalBinary(op, x, y); r != wrapped(typ, want) {
					t.Errorf("%s %s %s = %s, want %d", x.String(), op, y.String(), r.String(), int64(want))
				}
			}
			for op, f := range compare {
				if r, _ := EvalBinary(op, x, y); r != boolConst(f(T(x.Bits), T(y.Bits))) {
					t.Errorf("%s %s %s = %s", x.String(), op, y.String(), r.String())
				}
			}
		}
	}
}

// same compares two constants, all NaNs being equal.
func same(x, y Const) bool {
	norm := func(c Const) Const {
		if c.Typ == F32 && c.f32() != c.f32() || c.Typ == F64 && c.f64() != c.f64() {
			c.Bits = ^uint64(0)
		}
		return c
	}
	xr, xi := x.parts()
	yr, yi := y.parts()
	return x.Typ == y.Typ && norm(xr) == norm(yr) && norm(xi) == norm(yi)
}

func TestEvalFloats(t *testing.T) {
	for _, test := range []struct {
		op         BinaryOp
		x, y, want float64
	}{
		{Min, 1, 2, 1},
		{Min, 2, 1, 1},
		{Min, nan, 1, nan},
		{Min, 1, nan, nan},
		{Min, 0, negZero, negZero}, // which is below 0
		{Min, negZero, 0, negZero},
		{Max, 1, 2, 2},
		{Max, nan, inf, nan},
		{Max, inf, nan, nan},
		{Max, 0, negZero, 0},
		{Max, negZero, 0, 0},
		{Div, 1, 0, inf},
		{Div, 1, negZero, -inf},
		{Div, 0, 0, nan},
		{Sub, inf, inf, nan},
		{Add, negZero, negZero, negZero},
		{Mul, 0, inf, nan},
		{Mul, -1, 0, negZero},
	} {
		r, _ := EvalBinary(test.op, f64Const(test.x), f64Const(test.y))
		if !same(r, f64Const(test.want)) {
			t.Errorf("%v %s %v = %s, want %v", test.x, test.op, test.y, r.String(), test.want)
		}
		r, _ = EvalBinary(test.op, f32Const(float32(test.x)), f32Const(float32(test.y)))
		if !same(r, f32Const(float32(test.want))) {
			t.Errorf("f32: %v %s %v = %s, want %v", test.x, test.op, test.y, r.String(), test.want)
		}
	}
	for _, test := range []struct {
		op      UnaryOp
		x, want float64
	}{
		{Neg, 0, negZero},
		{Abs, negZero, 0},
		{Abs, -inf, inf},
		{Sqrt, 2.25, 1.5},
		{Sqrt, -1, nan},
		{Sqrt, negZero, negZero},
		{Floor, -0.5, -1},
		{Ceil, -0.5, negZero},
		{Trunc, -0.5, negZero},
		{Trunc, 1.75, 1},
		{Rint, -0.5, negZero},
		{Rint, 0.5, 0},
		{Rint, 1.5, 2},
		{Rint, 2.5, 2},
		{Rint, inf, inf},
		{Floor, nan, nan},
	} {
		if r, _ := EvalUnary(test.op, f64Const(test.x)); !same(r, f64Const(test.want)) {
			t.Errorf("%s %v = %s, want %v", test.op, test.x, r.String(), test.want)
		}
		if r, _ := EvalUnary(test.op, f32Const(float32(test.x))); !same(r, f32Const(float32(test.want))) {
			t.Errorf("f32: %s %v = %s, want %v", test.op, test.x, r.String(), test.want)
		}
	}
	for op, want := range map[BinaryOp]bool{Eq: false, Ne: true, Lt: false, Le: false, Gt: false, Ge: false} {
		for _, x := range []float64{nan, 1, inf} {
			if r, _ := EvalBinary(op, f64Const(x), f64Const(nan)); r != boolConst(want) {
				t.Errorf("%v %s NaN = %s", x, op, r.String())
			}
		}
	}
}

// The sign of a NaN is a bit like any other to the operators on bits.
func TestEvalNaNBits(t *testing.T) {
	x := Const{Typ: F64, Bits: 0x7ff0000000000123} // signalling
	if r, _ := EvalUnary(Neg, x); r.Bits != 0xfff0000000000123 {
		t.Errorf("-NaN has bits %#x", r.Bits)
	}
	if r, _ := EvalUnary(Bits, x); r != (Const{Typ: U64, Bits: x.Bits}) {
		t.Errorf("bits of NaN are %s", r.String())
	}
	if r, _ := EvalUnary(FromBits, Const{Typ: U32, Bits: 0xffa00001}); r != (Const{Typ: F32, Bits: 0xffa00001}) {
		t.Errorf("frombits of NaN are %s", r.String())
	}
}

// Each operation of an F32 is rounded to F32.
func TestEvalF32Rounds(t *testing.T) {
	x := f32Const(16777216) // 2^24
	r, _ := EvalBinary(Add, x, f32Const(1))
	if r != x {
		t.Errorf("2^24 + 1 in f32 = %s", r.String())
	}
	for i := range 2000 {
		v := float32(i)*1.37 + 0.1
		got, _ := EvalUnary(Sqrt, f32Const(v))
		exact := new(big.Float).SetPrec(300).Sqrt(new(big.Float).SetFloat64(float64(v)))
		if want, _ := exact.Float32(); got.f32() != want {
			t.Errorf("sqrt(%v) = %v, want %v", v, got.f32(), want)
		}
	}
}

func TestEvalComplex(t *testing.T) {
	for _, test := range []struct {
		op         BinaryOp
		x, y, want complex128
	}{
		{Add, 1 + 2i, 3 + 4i, 4 + 6i},
		{Sub, 1 + 2i, 3 + 5i, -2 - 3i},
		{Mul, 1 + 2i, 3 + 4i, -5 + 10i},
		{Mul, complex(inf, 0), 1i, complex(nan, inf)}, // no repair of NaNs
		{Div, -5 + 10i, 3 + 4i, 1 + 2i},
		{Div, -5 + 10i, 4 - 3i, -2 + 1i},
		{Div, 4 + 2i, 2, 2 + 1i},
		{Div, 4 + 2i, 2i, 1 - 2i},
		{Div, 1, 0, complex(nan, nan)},
		{Div, 1, complex(nan, 1), complex(nan, nan)},
		{Div, 1 + 1i, complex(inf, 0), 0},
		{Div, 1 + 1i, complex(inf, inf), complex(nan, nan)},
	} {
		r, _ := EvalBinary(test.op, c128Const(test.x), c128Const(test.y))
		if !same(r, c128Const(test.want)) {
			t.Errorf("%v %s %v = %s, want %v", test.x, test.op, test.y, r.String(), test.want)
		}
		r, _ = EvalBinary(test.op, c64Const(complex64(test.x)), c64Const(complex64(test.y)))
		if !same(r, c64Const(complex64(test.want))) {
			t.Errorf("c64: %v %s %v = %s, want %v", test.x, test.op, test.y, r.String(), test.want)
		}
	}
	// What Smith's method is for: the squared modulus would overflow.
	if r := DivC128(1, complex(1e200, 1e200)); r != complex(5e-201, -5e-201) {
		t.Errorf("1/(1e200+1e200i) = %v", r)
	}
	// C64 products are rounded in F32, where Go's own complex64 would use F64.
	x, y := complex64(complex(1+0x1p-12, 1)), complex64(complex(1+0x1p-12, 1))
	if got, want := MulC64(x, y), complex64(complex(0x1p-11, 2+0x1p-11)); got != want {
		t.Errorf("c64 product = %v, want %v", got, want)
	}
}

func TestEvalCast(t *testing.T) {
	i := func(t Type, v int64) Const { return wrapped(t, uint64(v)) }
	for _, test := range []struct {
		x, want Const
	}{
		{i(I64, 300), i(U8, 44)},
		{i(I64, 200), i(I8, -56)},
		{i(I32, -1), i(U64, -1)},
		{i(U32, -1), i(I64, 1<<32-1)},
		{i(U64, -1), i(I32, -1)},
		{i(I64, 1<<53+1), f64Const(1 << 53)},
		{i(I64, 1<<53+3), f64Const(1<<53 + 4)},
		{i(U64, -1), f64Const(1 << 64)},
		{i(I64, -1), f64Const(-1)},
		{i(I64, 1<<24+1), f32Const(1 << 24)},
		{i(I64, 1<<62+1<<38+1), f32Const(1<<62 + 1<<39)}, // one rounding, not two
		{i(U64, -1), f32Const(1 << 64)},
		{f64Const(nan), i(I32, 0)},
		{f64Const(inf), i(I32, math.MaxInt32)},
		{f64Const(-inf), i(I8, -128)},
		{f64Const(127.9), i(I8, 127)},
		{f64Const(128), i(I8, 127)},
		{f64Const(-128.9), i(I8, -128)},
		{f64Const(-1.9), i(I64, -1)},
		{f64Const(-0.9), i(U8, 0)},
		{f64Const(-5), i(U64, 0)},
		{f64Const(255.5), i(U8, 255)},
		{f64Const(1e30), i(U16, math.MaxUint16)},
		{f64Const(1 << 63), i(I64, math.MaxInt64)},
		{f64Const(-1 << 63), i(I64, math.MinInt64)},
		{f64Const(1 << 63), i(U64, math.MinInt64)},
		{f64Const(1 << 64), i(U64, -1)},
		{f32Const(float32(nan)), i(U64, 0)},
		{f32Const(-3.7), i(I16, -3)},
		{f64Const(1 + 0x1p-24), f32Const(1)}, // a tie goes to even
		{f64Const(1e300), f32Const(float32(inf))},
		{f32Const(0.1), f64Const(float64(float32(0.1)))},
		{f64Const(nan), boolConst(true)},
		{f64Const(negZero), boolConst(false)},
		{f32Const(1e-45), boolConst(true)},
		{i(I8, -1), boolConst(true)},
		{boolConst(true), i(I8, 1)},
		{boolConst(true), f32Const(1)},
		{boolConst(true), c64Const(1)},
		{i(I64, 3), c128Const(3)},
		{c128Const(3.9 + 4i), i(I32, 3)},
		{c128Const(3.5 + 4i), f32Const(3.5)},
		{c128Const(4i), boolConst(true)},
		{c64Const(0), boolConst(false)},
		{c128Const(0.1 + 0.2i), c64Const(complex(float32(0.1), float32(0.2)))},
		{c64Const(1.5 - 2i), c128Const(1.5 - 2i)},
	} {
		if r := EvalCast(test.want.Typ, test.x); r != test.want {
			t.Errorf("%s(%s) = %s, want %s", test.want.Typ, test.x.String(), r.String(), test.want.String())
		}
	}
}

// FMA32 rounds the exact result once, also where it is halfway between two numbers or
// subnormal.
func TestFMA32(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	draw := func() float32 {
		switch rng.IntN(4) {
		case 0:
			return float32(rng.IntN(1 << 25))
		case 1:
			return float32(math.Ldexp(1+float64(rng.IntN(8))/8, rng.IntN(60)-30))
		}
		return float32(math.Ldexp(rng.Float64()-0.5, rng.IntN(200)-100))
	}
	exact := func(x, y, z float32) float32 {
		f := func(x float32) *big.Float { return new(big.Float).SetPrec(2000).SetFloat64(float64(x)) }
		r := f(x)
		v, _ := r.Add(r.Mul(r, f(y)), f(z)).Float32()
		return v
	}
	for range 200_000 {
		x, y, z := draw(), draw(), draw()
		switch rng.IntN(4) {
		case 0: // nearly cancelled
			z = -x * y
		case 1: // just beside the middle of two numbers
			x, z = 1+float32(rng.IntN(1<<20))*0x1p-23, 0x1p-24
			y = 1 + float32(rng.IntN(3)-1)*0x1p-23
		}
		if got, want := FMA32(x, y, z), exact(x, y, z); got != want {
			t.Fatalf("fma(%g, %g, %g) = %g, want %g", x, y, z, got, want)
		}
	}
	big := float32(math.MaxFloat32)
	for _, test := range [][4]float32{
		{big, big, float32(-inf), float32(-inf)}, {big, 2, -big, big}, {float32(inf), 1, 1, float32(inf)}, {0, -1, 0, 0}, {0x1p-126, 0x1p-23, 0, 0x1p-149},
	} {
		if got := FMA32(test[0], test[1], test[2]); got != test[3] {
			t.Errorf("fma(%g, %g, %g) = %g", test[0], test[1], test[2], got)
		}
	}
	if got := FMA32(float32(inf), 0, 1); got == got {
		t.Errorf("fma(inf, 0, 1) = %g", got)
	}
}
