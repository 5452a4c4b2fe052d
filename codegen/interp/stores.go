package interp

import "github.com/lacuna-sparse/lacuna/ir/loop"

func (c *compiler) store(s *loop.Store) exec {
	if s.Buf < 0 || int(s.Buf) >= len(c.bufs) {
		c.fail("there is no buffer %d", s.Buf)
		return nil
	}
	buf := c.bufs[s.Buf]
	if buf.ReadOnly {
		c.fail("buffer %s is read-only and is stored to", buf.Name)
	}
	c.expect(s.Value, buf.Elem.Compute(), "a value stored to buffer "+buf.Name)
	b, i := c.place(s.Buf, buf.Elem, s.Index, storing)
	if c.err != nil {
		return nil
	}
	switch buf.Elem {
	case loop.Bool:
		return storeNumber(b, i, c.bool(s.Value))
	case loop.I8:
		return storeInteger[int8](b, i, c.int(s.Value))
	case loop.I16:
		return storeInteger[int16](b, i, c.int(s.Value))
	case loop.I32:
		return storeInteger[int32](b, i, c.int(s.Value))
	case loop.I64:
		return storeInteger[int64](b, i, c.int(s.Value))
	case loop.U8:
		return storeInteger[uint8](b, i, c.int(s.Value))
	case loop.U16:
		return storeInteger[uint16](b, i, c.int(s.Value))
	case loop.U32:
		return storeInteger[uint32](b, i, c.int(s.Value))
	case loop.U64:
		return storeInteger[uint64](b, i, c.int(s.Value))
	case loop.F16:
		return storeInteger[uint16](b, i, through(c.f32(s.Value), loop.F32ToF16))
	case loop.BF16:
		return storeInteger[uint16](b, i, through(c.f32(s.Value), loop.F32ToBF16))
	case loop.F32:
		return storeNumber(b, i, c.f32(s.Value))
	case loop.F64:
		return storeNumber(b, i, c.f64(s.Value))
	case loop.C64:
		return storeNumber(b, i, c.c64(s.Value))
	case loop.C128:
		return storeNumber(b, i, c.c128(s.Value))
	}
	c.fail("buffer %s has elements of type %s", buf.Name, buf.Elem)
	return nil
}

// through rounds a value to the bits of a half-precision type.
func through(x value[float32], round func(float32) uint16) value[int64] {
	f := x.code()
	return computed(func(fr *frame) int64 { return int64(round(f(fr))) })
}

// storeNumber writes values that memory holds as registers do. The value is
// computed before the address is checked, in every form.
func storeNumber[E unchanged | bool](b bufRef, i value[int64], x value[E]) exec {
	if el, ok := at(loop.Invalid, b, i); ok {
		s, k := el.slot, el.k
		if x.leaf() {
			a := x.slot
			return func(fr *frame) int64 {
				*elem[E](fr, b, *reg[int64](fr, s)+k) = *reg[E](fr, a)
				return 0
			}
		}
		g := x.code()
		return func(fr *frame) int64 {
			v := g(fr)
			*elem[E](fr, b, *reg[int64](fr, s)+k) = v
			return 0
		}
	}
	f, g := i.code(), x.code()
	return func(fr *frame) int64 {
		v := g(fr)
		*elem[E](fr, b, f(fr)) = v
		return 0
	}
}

// storeInteger writes the low bits of integers.
func storeInteger[E integer](b bufRef, i, x value[int64]) exec {
	if el, ok := at(loop.Invalid, b, i); ok {
		s, k := el.slot, el.k
		if x.leaf() {
			a := x.slot
			return func(fr *frame) int64 {
				*elem[E](fr, b, *reg[int64](fr, s)+k) = E(*reg[int64](fr, a))
				return 0
			}
		}
		g := x.code()
		return func(fr *frame) int64 {
			v := g(fr)
			*elem[E](fr, b, *reg[int64](fr, s)+k) = E(v)
			return 0
		}
	}
	f, g := i.code(), x.code()
	return func(fr *frame) int64 {
		v := g(fr)
		*elem[E](fr, b, f(fr)) = E(v)
		return 0
	}
}
