package interp

import "github.com/lacuna-sparse/lacuna/ir/loop"

// integer are the Go types of integer buffer elements.
type integer interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64
}

// unchanged are the element types that a register holds as they are.
type unchanged interface {
	float32 | float64 | complex64 | complex128
}

// index compiles the index of a load or store.
func (c *compiler) index(e loop.Expr) value[int64] {
	c.expect(e, loop.I64, "an index")
	if c.err != nil {
		return value[int64]{}
	}
	return c.int(e)
}

// at returns the element that index i of buffer b names, when i is a register
// plus a constant.
func at(t loop.Type, b bufRef, i value[int64]) (element, bool) {
	switch i.form {
	case register:
		return element{t, b, i.slot, 0}, true
	case constant:
		return element{t, b, i.slot, 0}, true // every constant has a register
	case offset:
		return element{t, b, i.slot, i.k}, true
	}
	return element{}, false
}

// gathers reports whether index i is itself an element of one of the two usual
// index types, of which a load has its own closures.
func gathers(i value[int64], t loop.Type) bool { return i.form == fetched && i.from.typ == t }

// loadNumber reads elements that need no conversion.
func loadNumber[E unchanged](c *compiler, e *loop.Load) value[E] {
	b, i := c.place(e.Buf, e.Elem, e.Index, loading)
	if el, ok := at(e.Elem, b, i); ok {
		s, k := el.slot, el.k
		if k == 0 {
			return computed(func(fr *frame) E { return *elem[E](fr, b, *reg[int64](fr, s)) })
		}
		return computed(func(fr *frame) E { return *elem[E](fr, b, *reg[int64](fr, s)+k) })
	}
	switch {
	case gathers(i, loop.U32):
		ib, s, k := i.from.buf, i.from.slot, i.from.k
		return computed(func(fr *frame) E {
			return *elem[E](fr, b, int64(*elem[uint32](fr, ib, *reg[int64](fr, s)+k)))
		})
	case gathers(i, loop.U64):
		ib, s, k := i.from.buf, i.from.slot, i.from.k
		return computed(func(fr *frame) E {
			return *elem[E](fr, b, int64(*elem[uint64](fr, ib, *reg[int64](fr, s)+k)))
		})
	}
	f := i.code()
	return computed(func(fr *frame) E { return *elem[E](fr, b, f(fr)) })
}

// loadInteger reads elements of an integer type and extends them.
func loadInteger[E integer](c *compiler, e *loop.Load) value[int64] {
	b, i := c.place(e.Buf, e.Elem, e.Index, loading)
	if el, ok := at(e.Elem, b, i); ok {
		s, k := el.slot, el.k
		v := computed(func(fr *frame) int64 { return int64(*elem[E](fr, b, *reg[int64](fr, s)+k)) })
		v.form, v.from = fetched, &el
		return v
	}
	f := i.code()
	return computed(func(fr *frame) int64 { return int64(*elem[E](fr, b, f(fr))) })
}

func intLoad(c *compiler, e *loop.Load) value[int64] {
	switch e.Elem {
	case loop.I8:
		return loadInteger[int8](c, e)
	case loop.I16:
		return loadInteger[int16](c, e)
	case loop.I32:
		return loadInteger[int32](c, e)
	case loop.I64:
		return loadInteger[int64](c, e)
	case loop.U8:
		return loadInteger[uint8](c, e)
	case loop.U16:
		return loadInteger[uint16](c, e)
	case loop.U32:
		return loadInteger[uint32](c, e)
	}
	return loadInteger[uint64](c, e)
}

// boolLoad reads a byte: a Bool in memory that is not 0 is true.
func boolLoad(c *compiler, e *loop.Load) value[bool] {
	f := loadInteger[uint8](c, e).code()
	return computed(func(fr *frame) bool { return f(fr) != 0 })
}

func f32Load(c *compiler, e *loop.Load) value[float32] {
	switch e.Elem {
	case loop.F16:
		f := loadInteger[uint16](c, e).code()
		return computed(func(fr *frame) float32 { return loop.F16ToF32(uint16(f(fr))) })
	case loop.BF16:
		f := loadInteger[uint16](c, e).code()
		return computed(func(fr *frame) float32 { return loop.BF16ToF32(uint16(f(fr))) })
	}
	return loadNumber[float32](c, e)
}

func f64Load(c *compiler, e *loop.Load) value[float64]     { return loadNumber[float64](c, e) }
func c64Load(c *compiler, e *loop.Load) value[complex64]   { return loadNumber[complex64](c, e) }
func c128Load(c *compiler, e *loop.Load) value[complex128] { return loadNumber[complex128](c, e) }
