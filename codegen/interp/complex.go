package interp

import "github.com/lacuna-sparse/lacuna/ir/loop"

// Products and quotients are loop's own functions: Go computes those of
// complex64 in float64 and treats infinities in quotients its own way.

func c64Unary(c *compiler, e *loop.Unary) value[complex64] { // Neg
	return map1(c.c64(e.X), func(x complex64) complex64 { return -x })
}

func c128Unary(c *compiler, e *loop.Unary) value[complex128] { // Neg
	return map1(c.c128(e.X), func(x complex128) complex128 { return -x })
}

func c64Binary(c *compiler, e *loop.Binary) value[complex64] {
	if e.Op == loop.Complex {
		f, g := c.f32(e.X).code(), c.f32(e.Y).code()
		return computed(func(fr *frame) complex64 { return complex(f(fr), g(fr)) })
	}
	return complexBinary(e.Op, c.c64(e.X), c.c64(e.Y), loop.MulC64, loop.DivC64)
}

func c128Binary(c *compiler, e *loop.Binary) value[complex128] {
	if e.Op == loop.Complex {
		f, g := c.f64(e.X).code(), c.f64(e.Y).code()
		return computed(func(fr *frame) complex128 { return complex(f(fr), g(fr)) })
	}
	return complexBinary(e.Op, c.c128(e.X), c.c128(e.Y), loop.MulC128, loop.DivC128)
}

func complexBinary[T complex64 | complex128](op loop.BinaryOp, x, y value[T], mul, div func(x, y T) T) value[T] {
	switch op {
	case loop.Add:
		return add(x, y)
	case loop.Sub:
		return sub(x, y)
	case loop.Mul:
		return map2(x, y, mul)
	}
	return map2(x, y, div)
}
