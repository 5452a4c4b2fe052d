package interp

import "github.com/lacuna-sparse/lacuna/ir/loop"

func boolUnary(c *compiler, e *loop.Unary) value[bool] { // Not
	f := c.bool(e.X).code()
	return computed(func(fr *frame) bool { return !f(fr) })
}

func boolBinary(c *compiler, e *loop.Binary) value[bool] {
	if e.Op.IsComparison() {
		return comparison(c, e)
	}
	f, g := c.bool(e.X).code(), c.bool(e.Y).code()
	switch e.Op {
	case loop.And, loop.Min: // both sides are evaluated, as the language says
		return computed(func(fr *frame) bool {
			x, y := f(fr), g(fr)
			return x && y
		})
	case loop.Or, loop.Max:
		return computed(func(fr *frame) bool {
			x, y := f(fr), g(fr)
			return x || y
		})
	}
	return computed(func(fr *frame) bool { return f(fr) != g(fr) })
}

func comparison(c *compiler, e *loop.Binary) value[bool] {
	switch t := e.X.Type(); t {
	case loop.Bool:
		return ordered(e.Op, truth(c.bool(e.X)), truth(c.bool(e.Y)))
	case loop.U64:
		// Order as unsigned is order as signed after flipping the top bit.
		x, y := c.int(e.X), c.int(e.Y)
		if e.Op != loop.Eq && e.Op != loop.Ne {
			x, y = flipTop(x), flipTop(y)
		}
		return ordered(e.Op, x, y)
	case loop.F32:
		return ordered(e.Op, c.f32(e.X), c.f32(e.Y))
	case loop.F64:
		return ordered(e.Op, c.f64(e.X), c.f64(e.Y))
	case loop.C64:
		return equality(e.Op, c.c64(e.X), c.c64(e.Y))
	case loop.C128:
		return equality(e.Op, c.c128(e.X), c.c128(e.Y))
	}
	return ordered(e.Op, c.int(e.X), c.int(e.Y))
}

// truth is a Bool as 0 or 1.
func truth(x value[bool]) value[int64] {
	f := x.code()
	return computed(func(fr *frame) int64 {
		if f(fr) {
			return 1
		}
		return 0
	})
}

func flipTop(x value[int64]) value[int64] {
	f := x.code()
	return computed(func(fr *frame) int64 { return f(fr) ^ -1<<63 })
}

func ordered[T number](op loop.BinaryOp, x, y value[T]) value[bool] {
	switch op {
	case loop.Lt:
		return less(x, y)
	case loop.Gt:
		return less(y, x)
	case loop.Le:
		return lessEqual(x, y)
	case loop.Ge:
		return lessEqual(y, x)
	}
	return equality(op, x, y)
}

func equality[T comparable](op loop.BinaryOp, x, y value[T]) value[bool] {
	if op == loop.Eq {
		return equal(x, y)
	}
	return unequal(x, y)
}

func less[T number](x, y value[T]) value[bool] {
	f, g, a, b := x.fn, y.fn, x.slot, y.slot
	switch {
	case x.leaf() && y.leaf():
		return computed(func(fr *frame) bool { return *reg[T](fr, a) < *reg[T](fr, b) })
	case x.leaf():
		return computed(func(fr *frame) bool { return *reg[T](fr, a) < g(fr) })
	case y.leaf():
		return computed(func(fr *frame) bool { return f(fr) < *reg[T](fr, b) })
	}
	return computed(func(fr *frame) bool { return f(fr) < g(fr) })
}

func lessEqual[T number](x, y value[T]) value[bool] {
	f, g, a, b := x.fn, y.fn, x.slot, y.slot
	switch {
	case x.leaf() && y.leaf():
		return computed(func(fr *frame) bool { return *reg[T](fr, a) <= *reg[T](fr, b) })
	case x.leaf():
		return computed(func(fr *frame) bool { return *reg[T](fr, a) <= g(fr) })
	case y.leaf():
		return computed(func(fr *frame) bool { return f(fr) <= *reg[T](fr, b) })
	}
	return computed(func(fr *frame) bool { return f(fr) <= g(fr) })
}

func equal[T comparable](x, y value[T]) value[bool] {
	x, y = leafLast(x, y)
	f, g, a, b := x.fn, y.fn, x.slot, y.slot
	switch {
	case x.leaf():
		return computed(func(fr *frame) bool { return *reg[T](fr, a) == *reg[T](fr, b) })
	case y.leaf():
		return computed(func(fr *frame) bool { return f(fr) == *reg[T](fr, b) })
	}
	return computed(func(fr *frame) bool { return f(fr) == g(fr) })
}

func unequal[T comparable](x, y value[T]) value[bool] {
	x, y = leafLast(x, y)
	f, g, a, b := x.fn, y.fn, x.slot, y.slot
	switch {
	case x.leaf():
		return computed(func(fr *frame) bool { return *reg[T](fr, a) != *reg[T](fr, b) })
	case y.leaf():
		return computed(func(fr *frame) bool { return f(fr) != *reg[T](fr, b) })
	}
	return computed(func(fr *frame) bool { return f(fr) != g(fr) })
}
