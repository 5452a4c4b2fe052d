package interp

import "github.com/lacuna-sparse/lacuna/ir/loop"

func (c *compiler) let(s *loop.Let) exec {
	if s.Var < 0 || int(s.Var) >= len(c.vars) {
		c.fail("there is no variable %d", s.Var)
		return nil
	}
	x := c.set(c.vars[s.Var], s.Value) // before the variable is visible
	st := fixed
	if s.Mutable {
		st = writable
	}
	c.declare(s.Var, st)
	return x
}

func (c *compiler) assign(s *loop.Assign) exec {
	v := c.variable(s.Var, writable)
	if e, ok := s.Value.(*loop.Binary); ok && e.Op == loop.Add && e.Typ == v.typ {
		switch v.typ {
		case loop.I64, loop.U64:
			return increase(c, s.Var, e, c.int)
		case loop.F32:
			return increase(c, s.Var, e, c.f32)
		case loop.F64:
			return increase(c, s.Var, e, c.f64)
		}
	}
	return c.set(v, s.Value)
}

// increase compiles an assignment of the sum e to variable v of the same type,
// and finds those that add to v itself.
func increase[T number](c *compiler, v loop.VarID, e *loop.Binary, operand func(loop.Expr) value[T]) exec {
	s := c.vars[v].slot
	other := e.Y
	switch {
	case reads(e.X, v, e.Typ):
	case reads(e.Y, v, e.Typ):
		other = e.X
	default:
		return move(s, operand(e))
	}
	c.expect(other, e.Typ, "a summand")
	if c.err != nil {
		return nil
	}
	if p, ok := product(other, e.Typ); ok {
		return accumulateProduct(s, operand(p.X), operand(p.Y))
	}
	return accumulate(s, operand(other))
}

// reads reports whether e is just variable v of type t.
func reads(e loop.Expr, v loop.VarID, t loop.Type) bool {
	r, ok := e.(*loop.Ref)
	return ok && r.Var == v && r.Typ == t
}

// set writes e to the register of v.
func (c *compiler) set(v variable, e loop.Expr) exec {
	c.expect(e, v.typ, "a value")
	if c.err != nil {
		return nil
	}
	switch v.typ {
	case loop.Bool:
		return move(v.slot, c.bool(e))
	case loop.F32:
		return move(v.slot, c.f32(e))
	case loop.F64:
		return move(v.slot, c.f64(e))
	case loop.C64:
		return move(v.slot, c.c64(e))
	case loop.C128:
		return move(v.slot, c.c128(e))
	}
	return move(v.slot, c.int(e))
}

// move writes x to register s.
func move[T any](s slot, x value[T]) exec {
	if x.leaf() {
		a := x.slot
		return func(fr *frame) int64 {
			*reg[T](fr, s) = *reg[T](fr, a)
			return 0
		}
	}
	f := x.fn
	return func(fr *frame) int64 {
		*reg[T](fr, s) = f(fr)
		return 0
	}
}
