package interp

import "github.com/lacuna-sparse/lacuna/ir/loop"

func boolCast(c *compiler, e *loop.Cast) value[bool] {
	switch e.X.Type() {
	case loop.Bool:
		return c.bool(e.X)
	case loop.F32:
		return map1(c.f32(e.X), func(x float32) bool { return x != 0 })
	case loop.F64:
		return map1(c.f64(e.X), func(x float64) bool { return x != 0 })
	case loop.C64:
		return map1(c.c64(e.X), func(x complex64) bool { return x != 0 })
	case loop.C128:
		return map1(c.c128(e.X), func(x complex128) bool { return x != 0 })
	}
	f := c.int(e.X).code()
	return computed(func(fr *frame) bool { return f(fr) != 0 })
}

func intCast(c *compiler, e *loop.Cast) value[int64] {
	from, to := e.X.Type(), e.Typ
	switch {
	case from == loop.Bool:
		return truth(c.bool(e.X))
	case from.Real() == loop.F32:
		f := f32Part(c, e.X).code()
		return computed(func(fr *frame) int64 { return loop.FloatToInt(to, float64(f(fr))) })
	case from.Real() == loop.F64:
		f := f64Part(c, e.X).code()
		return computed(func(fr *frame) int64 { return loop.FloatToInt(to, f(fr)) })
	case holds(to, from):
		return c.int(e.X)
	}
	return wrapTo(to, c.int(e.X))
}

// holds reports whether extending a value of type from to 64 bits also extends
// it as type to: to is 64 bits wide, or has all values of from.
func holds(to, from loop.Type) bool {
	switch {
	case to.Size() == 8:
		return true
	case to.IsSigned() == from.IsSigned():
		return to.Size() >= from.Size()
	}
	return to.IsSigned() && to.Size() > from.Size()
}

func f32Cast(c *compiler, e *loop.Cast) value[float32] {
	return floatCast(c, e.X, loop.F32, f32Part, f64Part)
}
func f64Cast(c *compiler, e *loop.Cast) value[float64] {
	return floatCast(c, e.X, loop.F64, f64Part, f32Part)
}

// floatCast is the conversion to a float type, of which there is another.
func floatCast[T, U floating](c *compiler, x loop.Expr, to loop.Type, own func(*compiler, loop.Expr) value[T], other func(*compiler, loop.Expr) value[U]) value[T] {
	switch from := x.Type(); {
	case from.Real() == to:
		return own(c, x)
	case from.Real() == loop.F32 || from.Real() == loop.F64:
		f := other(c, x).code()
		return computed(func(fr *frame) T { return T(f(fr)) })
	case from == loop.U64:
		return map1(c.int(x), func(x int64) T { return T(uint64(x)) })
	case from == loop.Bool:
		return intToFloat[T](truth(c.bool(x)))
	}
	return intToFloat[T](c.int(x))
}

func intToFloat[T floating](x value[int64]) value[T] {
	f := x.code()
	return computed(func(fr *frame) T { return T(f(fr)) })
}

// f32Part is an F32, or the real part of a C64.
func f32Part(c *compiler, e loop.Expr) value[float32] {
	if e.Type() == loop.F32 {
		return c.f32(e)
	}
	return map1(c.c64(e), func(x complex64) float32 { return real(x) })
}

// f64Part is an F64, or the real part of a C128.
func f64Part(c *compiler, e loop.Expr) value[float64] {
	if e.Type() == loop.F64 {
		return c.f64(e)
	}
	return map1(c.c128(e), func(x complex128) float64 { return real(x) })
}

func c64Cast(c *compiler, e *loop.Cast) value[complex64] {
	switch e.X.Type() {
	case loop.C64:
		return c.c64(e.X)
	case loop.C128:
		return map1(c.c128(e.X), func(x complex128) complex64 {
			return complex(float32(real(x)), float32(imag(x)))
		})
	}
	re := f32Cast(c, &loop.Cast{Typ: loop.F32, X: e.X})
	return map1(re, func(x float32) complex64 { return complex(x, 0) })
}

func c128Cast(c *compiler, e *loop.Cast) value[complex128] {
	switch e.X.Type() {
	case loop.C128:
		return c.c128(e.X)
	case loop.C64:
		return map1(c.c64(e.X), func(x complex64) complex128 {
			return complex(float64(real(x)), float64(imag(x)))
		})
	}
	re := f64Cast(c, &loop.Cast{Typ: loop.F64, X: e.X})
	return map1(re, func(x float64) complex128 { return complex(x, 0) })
}
