package loop

import (
	"cmp"
	"math"
	"math/bits"
)

func evalIntUnary(op UnaryOp, x Const) (Const, bool) {
	switch op {
	case Neg:
		return wrapped(x.Typ, -x.Bits), true
	case Not:
		return wrapped(x.Typ, ^x.Bits), true
	case Abs:
		if x.Typ.IsSigned() && int64(x.Bits) < 0 {
			return wrapped(x.Typ, -x.Bits), true
		}
		return x, true
	case FromBits:
		switch x.Typ {
		case U32:
			return Const{Typ: F32, Bits: x.Bits}, true
		case U64:
			return Const{Typ: F64, Bits: x.Bits}, true
		}
	case TrailingZeros, OnesCount:
		return evalBitCount(op, x)
	}
	return Const{}, false
}

// evalBitCount applies the operators that count bits.
func evalBitCount(op UnaryOp, x Const) (Const, bool) {
	if x.Typ != U32 && x.Typ != U64 {
		return Const{}, false
	}
	n := bits.OnesCount64(x.Bits)
	if op == TrailingZeros {
		n = min(bits.TrailingZeros64(x.Bits), 8*x.Typ.Size())
	}
	return Const{Typ: x.Typ, Bits: uint64(n)}, true
}

func evalFloatUnary(op UnaryOp, x Const) (Const, bool) {
	narrow := x.Typ == F32
	sign, raw := uint64(1)<<63, U64
	if narrow {
		sign, raw = 1<<31, U32
	}
	switch {
	case op == Neg:
		return Const{Typ: x.Typ, Bits: x.Bits ^ sign}, true
	case op == Abs:
		return Const{Typ: x.Typ, Bits: x.Bits &^ sign}, true
	case op == Bits:
		return Const{Typ: raw, Bits: x.Bits}, true
	case op == RoundF16 && narrow:
		return f32Const(RoundToF16(x.f32())), true
	case op == RoundBF16 && narrow:
		return f32Const(RoundToBF16(x.f32())), true
	}
	// The roundings to integers are exact in either width, and a square root
	// rounded to F64 and then to F32 is the correctly rounded one (S. A.
	// Figueroa, "When is double rounding innocuous?", SIGNUM 30(3), 1995).
	v := x.f64()
	if narrow {
		v = float64(x.f32())
	}
	f, ok := evalRound(op, v)
	switch {
	case !ok:
		return Const{}, false
	case narrow:
		return f32Const(float32(f)), true
	}
	return f64Const(f), true
}

// evalRound applies the operators of a float that the standard library has.
func evalRound(op UnaryOp, x float64) (float64, bool) {
	switch op {
	case Sqrt:
		return math.Sqrt(x), true
	case Floor:
		return math.Floor(x), true
	case Ceil:
		return math.Ceil(x), true
	case Trunc:
		return math.Trunc(x), true
	case Rint:
		return math.RoundToEven(x), true
	}
	return 0, false
}

func evalComplexUnary(op UnaryOp, x Const) (Const, bool) {
	re, im := x.parts()
	switch op {
	case Neg:
		re, _ = EvalUnary(Neg, re)
		im, _ = EvalUnary(Neg, im)
		return Const{Typ: x.Typ, Bits: re.Bits, Imag: im.Bits}, true
	case Real:
		return re, true
	case Imag:
		return im, true
	}
	return Const{}, false
}

func evalBoolBinary(op BinaryOp, x, y Const) (Const, bool) {
	switch op {
	case And, Min:
		return boolConst(x.Bits&y.Bits != 0), true
	case Or, Max:
		return boolConst(x.Bits|y.Bits != 0), true
	case Xor:
		return boolConst(x.Bits != y.Bits), true
	}
	return evalOrder(op, x.Bits, y.Bits)
}

func evalIntBinary(op BinaryOp, x, y Const) (Const, bool) {
	t, a, b := x.Typ, x.Bits, y.Bits
	signed := t.IsSigned()
	shift := b & uint64(8*t.Size()-1)
	switch op {
	case Add:
		return wrapped(t, a+b), true
	case Sub:
		return wrapped(t, a-b), true
	case Mul:
		return wrapped(t, a*b), true
	case And:
		return wrapped(t, a&b), true
	case Or:
		return wrapped(t, a|b), true
	case Xor:
		return wrapped(t, a^b), true
	case Shl:
		return wrapped(t, a<<shift), true
	case Shr:
		if signed {
			return wrapped(t, uint64(int64(a)>>shift)), true
		}
		return wrapped(t, a>>shift), true
	case Div:
		switch {
		case b == 0:
			return wrapped(t, 0), true
		case signed: // Go defines min / -1 as min
			return wrapped(t, uint64(int64(a)/int64(b))), true
		}
		return wrapped(t, a/b), true
	case Rem:
		switch {
		case b == 0:
			return wrapped(t, 0), true
		case signed:
			return wrapped(t, uint64(int64(a)%int64(b))), true
		}
		return wrapped(t, a%b), true
	case Min, Max:
		less := a < b
		if signed {
			less = int64(a) < int64(b)
		}
		if less == (op == Min) {
			return x, true
		}
		return y, true
	}
	if signed {
		return evalOrder(op, int64(a), int64(b))
	}
	return evalOrder(op, a, b)
}

// evalFloatBinary takes what makes constants of a float and of two.
func evalFloatBinary[T float32 | float64](op BinaryOp, x, y T, constant func(T) Const, join func(re, im T) Const) (Const, bool) {
	switch op {
	case Add:
		return constant(x + y), true
	case Sub:
		return constant(x - y), true
	case Mul:
		return constant(x * y), true
	case Div:
		return constant(x / y), true
	case Min:
		return constant(min(x, y)), true
	case Max:
		return constant(max(x, y)), true
	case MinNum, MaxNum:
		return constant(extremeNumber(op, x, y)), true
	case Complex:
		return join(x, y), true
	}
	return evalOrder(op, x, y)
}

// extremeNumber is MinNum or MaxNum.
func extremeNumber[T float32 | float64](op BinaryOp, x, y T) T {
	if x != x || op == MinNum && y < x || op == MaxNum && y > x {
		return y
	}
	return x
}

func evalComplexBinary(op BinaryOp, x, y Const) (Const, bool) {
	switch op {
	case Add, Sub:
		xr, xi := x.parts()
		yr, yi := y.parts()
		re, _ := EvalBinary(op, xr, yr)
		im, _ := EvalBinary(op, xi, yi)
		return Const{Typ: x.Typ, Bits: re.Bits, Imag: im.Bits}, true
	case Mul:
		if x.Typ == C64 {
			return c64Const(MulC64(x.c64(), y.c64())), true
		}
		return c128Const(MulC128(x.c128(), y.c128())), true
	case Div:
		if x.Typ == C64 {
			return c64Const(DivC64(x.c64(), y.c64())), true
		}
		return c128Const(DivC128(x.c128(), y.c128())), true
	case Eq:
		return boolConst(x.c128Wide() == y.c128Wide()), true
	case Ne:
		return boolConst(x.c128Wide() != y.c128Wide()), true
	}
	return Const{}, false
}

// c128Wide widens a complex constant of either type, which is exact.
func (x Const) c128Wide() complex128 {
	if x.Typ == C64 {
		return complex128(x.c64())
	}
	return x.c128()
}

// evalOrder applies a comparison.
func evalOrder[T cmp.Ordered](op BinaryOp, x, y T) (Const, bool) {
	switch op {
	case Eq:
		return boolConst(x == y), true
	case Ne:
		return boolConst(x != y), true
	case Lt:
		return boolConst(x < y), true
	case Le:
		return boolConst(x <= y), true
	case Gt:
		return boolConst(x > y), true
	case Ge:
		return boolConst(x >= y), true
	}
	return Const{}, false
}
