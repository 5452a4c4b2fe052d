package loop

import "math"

// This file is the reference for what every operator computes. The lowerer
// folds constants with it and the engines are tested against it, so each rule
// is written once, here, in the plainest form.
//
// One thing is left open on purpose: which NaN (sign and payload) an arithmetic
// operation or a conversion gives. Hardware differs, so engines may too, and
// tests take all NaNs as equal. Neg, Abs, Bits, FromBits, Select, Load and
// Store only move or change named bits and are exact for NaNs as well.

// EvalUnary applies op to a constant. It reports false when op has no meaning
// for the type of x, such as Sqrt of an integer.
func EvalUnary(op UnaryOp, x Const) (Const, bool) {
	switch {
	case x.Typ == Bool:
		if op == Not {
			return boolConst(x.Bits == 0), true
		}
	case x.Typ.IsInt():
		return evalIntUnary(op, x)
	case x.Typ == F32 || x.Typ == F64:
		return evalFloatUnary(op, x)
	case x.Typ.IsComplex():
		return evalComplexUnary(op, x)
	}
	return Const{}, false
}

// EvalBinary applies op to two constants of one type. It reports false when
// the types differ or op has no meaning for them.
//
// Complex division is Smith's method (R. L. Smith, Algorithm 116, CACM 5(8),
// 1962), every step rounded to the part type, nothing contracted. For
// (a+bi)/(c+di):
//
//	if |c| >= |d| {            if not (so also when c or d is NaN) {
//	    r   = d / c                r   = c / d
//	    den = c + d*r              den = c*r + d
//	    re  = (a + b*r) / den      re  = (a*r + b) / den
//	    im  = (b - a*r) / den      im  = (b*r - a) / den
//	}                          }
//
// Dividing by zero takes the left branch with r = 0/0, so both parts are NaN.
// An infinite part of the divisor gives zero parts when the other is finite,
// and NaN when both are infinite.
//
// Complex multiplication is re = a*c - b*d, im = a*d + b*c, each of the six
// operations rounded on its own.
func EvalBinary(op BinaryOp, x, y Const) (Const, bool) {
	if x.Typ != y.Typ {
		return Const{}, false
	}
	switch {
	case x.Typ == Bool:
		return evalBoolBinary(op, x, y)
	case x.Typ.IsInt():
		return evalIntBinary(op, x, y)
	case x.Typ == F32:
		return evalFloatBinary(op, x.f32(), y.f32(), f32Const, func(re, im float32) Const { return c64Const(complex(re, im)) })
	case x.Typ == F64:
		return evalFloatBinary(op, x.f64(), y.f64(), f64Const, func(re, im float64) Const { return c128Const(complex(re, im)) })
	case x.Typ.IsComplex():
		return evalComplexBinary(op, x, y)
	}
	return Const{}, false
}

// EvalFMA is x*y + z, rounded once. It reports false when the types differ or have no
// such operation.
func EvalFMA(x, y, z Const) (Const, bool) {
	if x.Typ != y.Typ || x.Typ != z.Typ {
		return Const{}, false
	}
	switch x.Typ {
	case F32:
		return f32Const(FMA32(x.f32(), y.f32(), z.f32())), true
	case F64:
		return f64Const(math.FMA(x.f64(), y.f64(), z.f64())), true
	}
	return Const{}, false
}

// FMA32 is x*y + z, rounded once. The product is exact in F64. The sum is first rounded
// there to odd: to the neighbour whose last bit is 1 if it is not exact, so that rounding
// it again decides as the exact sum would (S. Boldo and G. Melquiond, "Emulation of FMA
// and correctly rounded sums: proved algorithms using rounding to odd", IEEE Trans.
// Comput. 57(4), 2008).
func FMA32(x, y, z float32) float32 {
	p, c := float64(x)*float64(y), float64(z)
	s := p + c
	// What the rounding of the sum left out (D. Knuth, TAOCP 2, 4.2.2).
	b := s - p
	rest := (p - (s - b)) + (c - b)
	if bits := math.Float64bits(s); rest != 0 && bits&1 == 0 && !math.IsInf(s, 0) && rest == rest {
		if (rest > 0) == (s > 0) {
			bits++
		} else {
			bits--
		}
		s = math.Float64frombits(bits)
	}
	return float32(s)
}

// EvalCast converts a constant by the rules of Cast. A complex number is
// cast to Bool by both parts (it is false only when both are zero) and to any
// other type that is not complex by its real part. Where there is no such
// cast (to or from F16, BF16 and Invalid) the result is the zero Const, whose
// type is Invalid.
func EvalCast(to Type, x Const) Const {
	switch {
	case !to.IsCompute() || !x.Typ.IsCompute():
		return Const{}
	case to == x.Typ:
		return x
	case to.IsComplex():
		re, im := x, Const{Typ: x.Typ}
		if x.Typ.IsComplex() {
			re, im = x.parts()
		}
		re, im = EvalCast(to.Real(), re), EvalCast(to.Real(), im)
		return Const{Typ: to, Bits: re.Bits, Imag: im.Bits}
	case x.Typ.IsComplex():
		re, im := x.parts()
		if to == Bool {
			return boolConst(EvalCast(Bool, re).Bits|EvalCast(Bool, im).Bits != 0)
		}
		return EvalCast(to, re)
	case to == Bool:
		switch x.Typ {
		case F32:
			return boolConst(x.f32() != 0)
		case F64:
			return boolConst(x.f64() != 0)
		}
		return boolConst(x.Bits != 0)
	case to.IsInt():
		switch x.Typ {
		case F32:
			return Const{Typ: to, Bits: uint64(FloatToInt(to, float64(x.f32())))}
		case F64:
			return Const{Typ: to, Bits: uint64(FloatToInt(to, x.f64()))}
		}
		return wrapped(to, x.Bits)
	case to == F32:
		switch {
		case x.Typ == F64:
			return f32Const(float32(x.f64()))
		case x.Typ.IsSigned():
			return f32Const(float32(int64(x.Bits)))
		}
		return f32Const(float32(x.Bits))
	default: // F64
		switch {
		case x.Typ == F32:
			return f64Const(float64(x.f32()))
		case x.Typ.IsSigned():
			return f64Const(float64(int64(x.Bits)))
		}
		return f64Const(float64(x.Bits))
	}
}

// FloatToInt is the cast of a float to integer type t: it truncates toward
// zero, gives the nearest limit of t to values beyond it, and 0 to NaN. The
// result is sign- or zero-extended to 64 bits, as in Const. An F32 is cast by
// widening it first, which is exact.
func FloatToInt(t Type, x float64) int64 {
	width := 8 * t.Size()
	if x != x {
		return 0
	}
	if t.IsSigned() {
		limit := math.Ldexp(1, width-1)
		switch {
		case x >= limit:
			return 1<<(width-1) - 1
		case x < -limit:
			return -1 << (width - 1)
		}
		return int64(x)
	}
	switch {
	case x < 1:
		return 0
	case x >= math.Ldexp(1, width):
		return int64(^uint64(0) >> (64 - width))
	}
	return int64(uint64(x))
}

// The unit of each step below is one rounding: a conversion around a product
// keeps the Go compiler from contracting it with the sum (Go specification,
// "Floating-point operators").

// MulC128 is the product of two C128 values as EvalBinary states it.
func MulC128(x, y complex128) complex128 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	return complex(float64(a*c)-float64(b*d), float64(a*d)+float64(b*c))
}

// MulC64 is the product of two C64 values as EvalBinary states it.
func MulC64(x, y complex64) complex64 {
	a, b, c, d := real(x), imag(x), real(y), imag(y)
	return complex(float32(a*c)-float32(b*d), float32(a*d)+float32(b*c))
}

// DivC128 is the quotient of two C128 values as EvalBinary states it.
func DivC128(x, y complex128) complex128 {
	return complex(quotient(real(x), imag(x), real(y), imag(y)))
}

// DivC64 is the quotient of two C64 values as EvalBinary states it.
func DivC64(x, y complex64) complex64 {
	return complex(quotient(real(x), imag(x), real(y), imag(y)))
}

// quotient is that of a + bi and c + di, each product rounded by itself.
func quotient[T float32 | float64](a, b, c, d T) (re, im T) {
	if math.Abs(float64(c)) >= math.Abs(float64(d)) {
		r := d / c
		den := c + T(d*r)
		return (a + T(b*r)) / den, (b - T(a*r)) / den
	}
	r := c / d
	den := T(c*r) + d
	return (T(a*r) + b) / den, (T(b*r) - a) / den
}

func boolConst(b bool) Const {
	if b {
		return Const{Typ: Bool, Bits: 1}
	}
	return Const{Typ: Bool}
}

func f32Const(x float32) Const { return Const{Typ: F32, Bits: uint64(math.Float32bits(x))} }
func f64Const(x float64) Const { return Const{Typ: F64, Bits: math.Float64bits(x)} }

func c64Const(x complex64) Const {
	return Const{Typ: C64, Bits: uint64(math.Float32bits(real(x))), Imag: uint64(math.Float32bits(imag(x)))}
}

func c128Const(x complex128) Const {
	return Const{Typ: C128, Bits: math.Float64bits(real(x)), Imag: math.Float64bits(imag(x))}
}

// wrapped is the integer of type t with the low bits of v.
func wrapped(t Type, v uint64) Const { return Const{Typ: t, Bits: wrapBits(t, v)} }

func (x Const) f32() float32 { return math.Float32frombits(uint32(x.Bits)) }
func (x Const) f64() float64 { return math.Float64frombits(x.Bits) }

func (x Const) c64() complex64 {
	return complex(x.f32(), math.Float32frombits(uint32(x.Imag)))
}

func (x Const) c128() complex128 {
	return complex(x.f64(), math.Float64frombits(x.Imag))
}

// parts splits a complex constant.
func (x Const) parts() (re, im Const) {
	t := x.Typ.Real()
	return Const{Typ: t, Bits: x.Bits}, Const{Typ: t, Bits: x.Imag}
}
