package interp

import (
	"math/bits"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// An operator on a narrow integer is the 64-bit one on the extended operands,
// with the result extended again from the type's width. Only U64 has operators
// of its own, where its upper half would look negative.

// intOps are the operators that one function serves for all integer types but
// those in u64Ops; results of narrow types are wrapped.
var intOps = [loop.Complex + 1]func(x, y int64) int64{
	loop.Div: func(x, y int64) int64 {
		if y == 0 {
			return 0
		}
		return x / y // Go defines min / -1 as min
	},
	loop.Rem: func(x, y int64) int64 {
		if y == 0 {
			return 0
		}
		return x % y
	},
	loop.Min: func(x, y int64) int64 { return min(x, y) },
	loop.Max: func(x, y int64) int64 { return max(x, y) },
	loop.And: func(x, y int64) int64 { return x & y },
	loop.Or:  func(x, y int64) int64 { return x | y },
	loop.Xor: func(x, y int64) int64 { return x ^ y },
}

var u64Ops = [loop.Complex + 1]func(x, y int64) int64{
	loop.Div: func(x, y int64) int64 {
		if y == 0 {
			return 0
		}
		return int64(uint64(x) / uint64(y))
	},
	loop.Rem: func(x, y int64) int64 {
		if y == 0 {
			return 0
		}
		return int64(uint64(x) % uint64(y))
	},
	loop.Min: func(x, y int64) int64 { return int64(min(uint64(x), uint64(y))) },
	loop.Max: func(x, y int64) int64 { return int64(max(uint64(x), uint64(y))) },
}

// wrapTo extends x again from the width of t.
func wrapTo(t loop.Type, x value[int64]) value[int64] {
	f := x.code()
	switch t {
	case loop.I8:
		return computed(func(fr *frame) int64 { return int64(int8(f(fr))) })
	case loop.I16:
		return computed(func(fr *frame) int64 { return int64(int16(f(fr))) })
	case loop.I32:
		return computed(func(fr *frame) int64 { return int64(int32(f(fr))) })
	case loop.U8:
		return computed(func(fr *frame) int64 { return int64(uint8(f(fr))) })
	case loop.U16:
		return computed(func(fr *frame) int64 { return int64(uint16(f(fr))) })
	case loop.U32:
		return computed(func(fr *frame) int64 { return int64(uint32(f(fr))) })
	}
	return x // I64, U64
}

func intUnary(c *compiler, e *loop.Unary) value[int64] {
	switch e.Op {
	case loop.Bits:
		if e.Typ == loop.U32 {
			return f32Bits(c.f32(e.X))
		}
		return f64Bits(c.f64(e.X))
	case loop.Not:
		f := c.int(e.X).code()
		return wrapTo(e.Typ, computed(func(fr *frame) int64 { return ^f(fr) }))
	}
	x := c.int(e.X)
	f := x.code()
	switch {
	case e.Op == loop.TrailingZeros:
		width := int64(8 * e.Typ.Size())
		return computed(func(fr *frame) int64 { return min(int64(bits.TrailingZeros64(uint64(f(fr)))), width) })
	case e.Op == loop.OnesCount:
		return computed(func(fr *frame) int64 { return int64(bits.OnesCount64(uint64(f(fr)))) })
	case e.Op == loop.Neg:
		return wrapTo(e.Typ, computed(func(fr *frame) int64 { return -f(fr) }))
	case !e.Typ.IsSigned(): // Abs
		return x
	}
	return wrapTo(e.Typ, computed(func(fr *frame) int64 {
		v := f(fr)
		if v < 0 {
			return -v
		}
		return v
	}))
}

func intBinary(c *compiler, e *loop.Binary) value[int64] {
	if e.Op == loop.Add {
		return intAdd(c, e)
	}
	x, y := c.int(e.X), c.int(e.Y)
	switch e.Op {
	case loop.Sub:
		if e.Typ == loop.I64 && y.form == constant && x.form == register {
			return plus(x.slot, -y.k)
		}
		return wrapTo(e.Typ, sub(x, y))
	case loop.Mul:
		return wrapTo(e.Typ, mul(x, y))
	case loop.Min:
		if e.Typ != loop.U64 {
			return intMin(x, y)
		}
	case loop.Shl:
		return wrapTo(e.Typ, shiftLeft(x, y, widthMask(e.Typ)))
	case loop.Shr:
		return shiftRight(e.Typ, x, y)
	}
	if op := u64Ops[e.Op]; op != nil && e.Typ == loop.U64 {
		return map2(x, y, op)
	}
	return wrapTo(e.Typ, map2(x, y, intOps[e.Op]))
}

// intAdd finds the sums that addresses are made of: v + k and x*y + z.
func intAdd(c *compiler, e *loop.Binary) value[int64] {
	if p, z, ok := productPlus(e); ok {
		return wrapTo(e.Typ, mulAdd(c.int(p.X), c.int(p.Y), c.int(z)))
	}
	x, y := c.int(e.X), c.int(e.Y)
	if x.form == constant {
		x, y = y, x
	}
	if e.Typ == loop.I64 && x.form == register && y.form == constant {
		return plus(x.slot, y.k)
	}
	return wrapTo(e.Typ, add(x, y))
}

// productPlus splits a sum with a product in it: e = p + z.
func productPlus(e *loop.Binary) (p *loop.Binary, z loop.Expr, ok bool) {
	if p, ok := product(e.X, e.Typ); ok {
		return p, e.Y, true
	}
	if p, ok := product(e.Y, e.Typ); ok {
		return p, e.X, true
	}
	return nil, nil, false
}

// product reports whether e is a well-typed product of type t.
func product(e loop.Expr, t loop.Type) (*loop.Binary, bool) {
	p, ok := e.(*loop.Binary)
	return p, ok && p.Op == loop.Mul && p.Typ == t && p.X.Type() == t && p.Y.Type() == t
}

// plus is register s plus k.
func plus(s slot, k int64) value[int64] {
	return value[int64]{
		fn:   func(fr *frame) int64 { return *reg[int64](fr, s) + k },
		form: offset,
		slot: s,
		k:    k,
	}
}

// intMin is written out because every merge of sorted coordinates needs it.
func intMin(x, y value[int64]) value[int64] {
	if x.leaf() && y.leaf() {
		a, b := x.slot, y.slot
		return computed(func(fr *frame) int64 { return min(*reg[int64](fr, a), *reg[int64](fr, b)) })
	}
	return map2(x, y, intOps[loop.Min])
}

// widthMask takes a shift count modulo the width of t.
func widthMask(t loop.Type) int64 { return int64(8*t.Size() - 1) }

func shiftLeft(x, y value[int64], mask int64) value[int64] {
	f, g := x.code(), y.code()
	return computed(func(fr *frame) int64 { return f(fr) << uint64(g(fr)&mask) })
}

func shiftRight(t loop.Type, x, y value[int64]) value[int64] {
	f, g, mask := x.code(), y.code(), widthMask(t)
	if t == loop.U64 {
		return computed(func(fr *frame) int64 { return int64(uint64(f(fr)) >> uint64(g(fr)&mask)) })
	}
	return computed(func(fr *frame) int64 { return f(fr) >> uint64(g(fr)&mask) })
}
