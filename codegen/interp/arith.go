package interp

// This file has the arithmetic that integers and floats share. Each operator
// has a closure for each useful combination of leaf and other operands. The
// order of operands does not matter to a sum or product (which NaN results is
// not specified), so there the leaf is put second.

// number are the carriers of integers and real floats.
type number interface{ int64 | float32 | float64 }

// field are the types in which + and - are those of Go.
type field interface {
	number | complex64 | complex128
}

// leafLast orders the operands of a commutative operator.
func leafLast[T any](x, y value[T]) (value[T], value[T]) {
	if x.leaf() && !y.leaf() {
		return y, x
	}
	return x, y
}

// map1 applies an operator that is not worth closures of its own.
func map1[X, T any](x value[X], op func(X) T) value[T] {
	f := x.code()
	return computed(func(fr *frame) T { return op(f(fr)) })
}

// map2 is map1 for two operands.
func map2[X, T any](x, y value[X], op func(X, X) T) value[T] {
	f, g := x.code(), y.code()
	return computed(func(fr *frame) T { return op(f(fr), g(fr)) })
}

func add[T field](x, y value[T]) value[T] {
	x, y = leafLast(x, y)
	f, g, a, b := x.fn, y.fn, x.slot, y.slot
	switch {
	case x.leaf():
		return computed(func(fr *frame) T { return *reg[T](fr, a) + *reg[T](fr, b) })
	case y.leaf():
		return computed(func(fr *frame) T { return f(fr) + *reg[T](fr, b) })
	}
	return computed(func(fr *frame) T { return f(fr) + g(fr) })
}

func sub[T field](x, y value[T]) value[T] {
	f, g, a, b := x.fn, y.fn, x.slot, y.slot
	switch {
	case x.leaf() && y.leaf():
		return computed(func(fr *frame) T { return *reg[T](fr, a) - *reg[T](fr, b) })
	case x.leaf():
		return computed(func(fr *frame) T { return *reg[T](fr, a) - g(fr) })
	case y.leaf():
		return computed(func(fr *frame) T { return f(fr) - *reg[T](fr, b) })
	}
	return computed(func(fr *frame) T { return f(fr) - g(fr) })
}

func mul[T number](x, y value[T]) value[T] {
	x, y = leafLast(x, y)
	f, g, a, b := x.fn, y.fn, x.slot, y.slot
	switch {
	case x.leaf():
		return computed(func(fr *frame) T { return *reg[T](fr, a) * *reg[T](fr, b) })
	case y.leaf():
		return computed(func(fr *frame) T { return f(fr) * *reg[T](fr, b) })
	}
	return computed(func(fr *frame) T { return f(fr) * g(fr) })
}

// mulAdd is x*y + z. The conversion keeps the product from being contracted
// with the sum.
func mulAdd[T number](x, y, z value[T]) value[T] {
	x, y = leafLast(x, y)
	f, g, h, a, b, d := x.fn, y.fn, z.fn, x.slot, y.slot, z.slot
	switch {
	case x.leaf() && z.leaf():
		return computed(func(fr *frame) T { return T(*reg[T](fr, a)**reg[T](fr, b)) + *reg[T](fr, d) })
	case x.leaf():
		return computed(func(fr *frame) T { return T(*reg[T](fr, a)**reg[T](fr, b)) + h(fr) })
	case y.leaf() && z.leaf():
		return computed(func(fr *frame) T { return T(f(fr)**reg[T](fr, b)) + *reg[T](fr, d) })
	case y.leaf():
		return computed(func(fr *frame) T { return T(f(fr)**reg[T](fr, b)) + h(fr) })
	case z.leaf():
		return computed(func(fr *frame) T { return T(f(fr)*g(fr)) + *reg[T](fr, d) })
	}
	return computed(func(fr *frame) T { return T(f(fr)*g(fr)) + h(fr) })
}

// accumulate is the statement v = v + x, v in register s.
func accumulate[T field](s slot, x value[T]) exec {
	if x.leaf() {
		a := x.slot
		return func(fr *frame) int64 {
			*reg[T](fr, s) += *reg[T](fr, a)
			return 0
		}
	}
	f := x.fn
	return func(fr *frame) int64 {
		v := f(fr)
		*reg[T](fr, s) += v
		return 0
	}
}

// accumulateProduct is the statement v = v + x*y, v in register s.
func accumulateProduct[T number](s slot, x, y value[T]) exec {
	x, y = leafLast(x, y)
	f, g, a, b := x.fn, y.fn, x.slot, y.slot
	switch {
	case x.leaf():
		return func(fr *frame) int64 {
			*reg[T](fr, s) += T(*reg[T](fr, a) * *reg[T](fr, b))
			return 0
		}
	case y.leaf():
		return func(fr *frame) int64 {
			v := T(f(fr) * *reg[T](fr, b))
			*reg[T](fr, s) += v
			return 0
		}
	}
	return func(fr *frame) int64 {
		v := T(f(fr) * g(fr))
		*reg[T](fr, s) += v
		return 0
	}
}
