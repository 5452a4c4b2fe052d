package interp

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// floating are the carriers of real floats.
type floating interface{ float32 | float64 }

// f64Ops are the operators of F64 that are not worth closures of their own.
var f64Ops = [loop.RoundBF16 + 1]func(float64) float64{
	loop.Neg:   func(x float64) float64 { return -x },
	loop.Abs:   math.Abs,
	loop.Sqrt:  math.Sqrt,
	loop.Floor: math.Floor,
	loop.Ceil:  math.Ceil,
	loop.Trunc: math.Trunc,
	loop.Rint:  math.RoundToEven,
}

// f32Ops are those of F32. The roundings are exact in F64, and so is the square
// root after it is rounded again (see loop's EvalUnary).
var f32Ops = [loop.RoundBF16 + 1]func(float32) float32{
	loop.Neg: func(x float32) float32 { return -x },
	loop.Abs: func(x float32) float32 {
		return math.Float32frombits(math.Float32bits(x) &^ (1 << 31))
	},
	loop.Sqrt:      func(x float32) float32 { return float32(math.Sqrt(float64(x))) },
	loop.Floor:     func(x float32) float32 { return float32(math.Floor(float64(x))) },
	loop.Ceil:      func(x float32) float32 { return float32(math.Ceil(float64(x))) },
	loop.Trunc:     func(x float32) float32 { return float32(math.Trunc(float64(x))) },
	loop.Rint:      func(x float32) float32 { return float32(math.RoundToEven(float64(x))) },
	loop.RoundF16:  loop.RoundToF16,
	loop.RoundBF16: loop.RoundToBF16,
}

func f32Unary(c *compiler, e *loop.Unary) value[float32] {
	switch e.Op {
	case loop.Real:
		return map1(c.c64(e.X), func(x complex64) float32 { return real(x) })
	case loop.Imag:
		return map1(c.c64(e.X), func(x complex64) float32 { return imag(x) })
	case loop.FromBits:
		return map1(c.int(e.X), func(x int64) float32 { return math.Float32frombits(uint32(x)) })
	}
	return map1(c.f32(e.X), f32Ops[e.Op])
}

func f64Unary(c *compiler, e *loop.Unary) value[float64] {
	switch e.Op {
	case loop.Real:
		return map1(c.c128(e.X), func(x complex128) float64 { return real(x) })
	case loop.Imag:
		return map1(c.c128(e.X), func(x complex128) float64 { return imag(x) })
	case loop.FromBits:
		f := c.int(e.X).code()
		return computed(func(fr *frame) float64 { return math.Float64frombits(uint64(f(fr))) })
	}
	return map1(c.f64(e.X), f64Ops[e.Op])
}

func f32Bits(x value[float32]) value[int64] {
	f := x.code()
	return computed(func(fr *frame) int64 { return int64(math.Float32bits(f(fr))) })
}

func f64Bits(x value[float64]) value[int64] {
	f := x.code()
	return computed(func(fr *frame) int64 { return int64(math.Float64bits(f(fr))) })
}

func f32Binary(c *compiler, e *loop.Binary) value[float32] { return floatBinary(e, c.f32) }
func f64Binary(c *compiler, e *loop.Binary) value[float64] { return floatBinary(e, c.f64) }

func floatBinary[T floating](e *loop.Binary, operand func(loop.Expr) value[T]) value[T] {
	if e.Op == loop.Add {
		if p, z, ok := productPlus(e); ok {
			return mulAdd(operand(p.X), operand(p.Y), operand(z))
		}
	}
	x, y := operand(e.X), operand(e.Y)
	switch e.Op {
	case loop.Add:
		return add(x, y)
	case loop.Sub:
		return sub(x, y)
	case loop.Mul:
		return mul(x, y)
	case loop.Div:
		return quotient(x, y)
	case loop.Min:
		return map2(x, y, func(x, y T) T { return theNaN(min(x, y)) })
	case loop.MinNum:
		return map2(x, y, func(x, y T) T {
			if x != x || y < x {
				return y
			}
			return x
		})
	case loop.MaxNum:
		return map2(x, y, func(x, y T) T {
			if x != x || y > x {
				return y
			}
			return x
		})
	}
	return map2(x, y, func(x, y T) T { return theNaN(max(x, y)) })
}

// fma is a product and a sum rounded once, by op.
func fma[T floating](op func(x, y, z T) T) func(x, y, z value[T]) value[T] {
	return func(x, y, z value[T]) value[T] {
		f, g, h := x.code(), y.code(), z.code()
		return computed(func(fr *frame) T { return op(f(fr), g(fr), h(fr)) })
	}
}

func quotient[T floating](x, y value[T]) value[T] {
	f := x.code()
	if b := y.slot; y.leaf() {
		return computed(func(fr *frame) T { return f(fr) / *reg[T](fr, b) })
	}
	g := y.code()
	return computed(func(fr *frame) T { return f(fr) / g(fr) })
}

// theNaN is x, or the plain NaN for all others: min and max have one result in any order.
func theNaN[T floating](x T) T {
	if x != x {
		return T(plainNaN)
	}
	return x
}

var plainNaN = math.Float64frombits(loop.Float(loop.F64, math.NaN()).Bits)
