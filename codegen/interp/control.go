package interp

import "github.com/lacuna-sparse/lacuna/ir/loop"

// block compiles statements in a scope of their own.
func (c *compiler) block(body []loop.Stmt) exec {
	defer c.ascend()
	if !c.descend() {
		return nil
	}
	mark := len(c.opened)
	steps := make([]exec, 0, len(body))
	for _, s := range body {
		if x := c.stmt(s); x != nil {
			steps = append(steps, x)
		}
	}
	c.close(mark)
	return sequence(steps)
}

// stmt compiles one statement. The result is nil for comments, and after a
// mistake.
func (c *compiler) stmt(s loop.Stmt) exec {
	if c.trace != nil && c.result == nil {
		return c.traced(s)
	}
	return c.untraced(s)
}

func (c *compiler) untraced(s loop.Stmt) exec {
	switch s := s.(type) {
	case *loop.Let:
		return c.let(s)
	case *loop.Assign:
		return c.assign(s)
	case *loop.Store:
		return c.store(s)
	case *loop.For:
		return c.forLoop(s)
	case *loop.While:
		return c.whileLoop(s)
	case *loop.If:
		return c.branch(s)
	case *loop.Fail:
		return c.failure(s)
	case *loop.Return:
		return c.returned(s)
	case *loop.Comment:
		return nil
	case *loop.Barrier, *loop.Shuffle, *loop.Ballot, *loop.Atomic:
		return c.gridStmt(s)
	}
	c.fail("%T is no statement of the loop language", s)
	return nil
}

func sequence(steps []exec) exec {
	switch len(steps) {
	case 0:
		return func(*frame) int64 { return 0 }
	case 1:
		return steps[0]
	case 2:
		a, b := steps[0], steps[1]
		return func(fr *frame) int64 {
			if st := a(fr); st != 0 {
				return st
			}
			return b(fr)
		}
	case 3:
		a, b, c := steps[0], steps[1], steps[2]
		return func(fr *frame) int64 {
			if st := a(fr); st != 0 {
				return st
			}
			if st := b(fr); st != 0 {
				return st
			}
			return c(fr)
		}
	}
	return func(fr *frame) int64 {
		for _, step := range steps {
			if st := step(fr); st != 0 {
				return st
			}
		}
		return 0
	}
}

func (c *compiler) forLoop(s *loop.For) exec {
	c.expect(s.Lo, loop.I64, "the start of a for")
	c.expect(s.Hi, loop.I64, "the end of a for")
	if c.err != nil {
		return nil
	}
	lo, hi := c.int(s.Lo).code(), c.int(s.Hi).code()
	mark := len(c.opened)
	v := c.parameter(s.Var, loop.I64)
	body := c.iteration(s, c.register(s.Var), c.block(s.Body))
	c.close(mark)
	stops := c.stops()
	return c.instrumented(s, func(fr *frame) int64 { return hi(fr) - lo(fr) }, func(fr *frame) int64 {
		end := hi(fr)
		for i := lo(fr); i < end; {
			// As many iterations as may pass until the next look at the stop word.
			n := int64(min(uint64(end-i), uint64(fr.fuel)))
			for to := i + n; i < to; i++ {
				*reg[int64](fr, v) = i
				if st := body(fr); st != 0 {
					return st
				}
			}
			if fr.fuel -= n; fr.fuel <= 0 && fr.poll() && stops {
				return loop.StatusStopped
			}
		}
		return 0
	})
}

// stops reports whether loops here may end the function because they are asked
// to. In a scalar function they are short, and its caller wants a value.
func (c *compiler) stops() bool { return c.result == nil }

func (c *compiler) whileLoop(s *loop.While) exec {
	return c.instrumented(s, nil, c.plainWhile(s))
}

func (c *compiler) plainWhile(s *loop.While) exec {
	cond := c.condition(s.Cond)
	body := c.counted(s, c.iteration(s, func(*frame) loop.Const { return boolConst(true) }, c.block(s.Body)))
	if c.err != nil {
		return nil
	}
	stops := c.stops()
	if x, y := cond.x, cond.y; cond.op == loop.Lt {
		return func(fr *frame) int64 {
			for *reg[int64](fr, x) < *reg[int64](fr, y) {
				if st := body(fr); st != 0 {
					return st
				}
				if fr.fuel--; fr.fuel <= 0 && fr.poll() && stops {
					return loop.StatusStopped
				}
			}
			return 0
		}
	}
	f := cond.test
	return func(fr *frame) int64 {
		for f(fr) {
			if st := body(fr); st != 0 {
				return st
			}
			if fr.fuel--; fr.fuel <= 0 && fr.poll() && stops {
				return loop.StatusStopped
			}
		}
		return 0
	}
}

func (c *compiler) branch(s *loop.If) exec {
	cond := c.condition(s.Cond)
	then, other := c.block(s.Then), c.block(s.Else)
	if c.err != nil {
		return nil
	}
	switch x, y := cond.x, cond.y; cond.op {
	case loop.Lt:
		return ifLess(x, y, then, other)
	case loop.Le: // x <= y is not y < x
		return ifLess(y, x, other, then)
	case loop.Eq:
		return ifEqual(x, y, then, other)
	case loop.Ne:
		return ifEqual(x, y, other, then)
	}
	f := cond.test
	if len(s.Else) == 0 {
		return func(fr *frame) int64 {
			if f(fr) {
				return then(fr)
			}
			return 0
		}
	}
	return func(fr *frame) int64 {
		if f(fr) {
			return then(fr)
		}
		return other(fr)
	}
}

// A condition is what an If or While tests.
type condition struct {
	test func(*frame) bool
	// op is Lt, Le, Eq or Ne when test is that comparison of the registers x
	// and y, both signed or narrow integers; it is InvalidBinary otherwise.
	op   loop.BinaryOp
	x, y slot
}

func (c *compiler) condition(e loop.Expr) condition {
	c.expect(e, loop.Bool, "a condition")
	if c.err != nil {
		return condition{}
	}
	cond := condition{test: c.bool(e).code()}
	b, ok := e.(*loop.Binary)
	if c.err != nil || !ok || !b.Op.IsComparison() || !leafExpr(b.X) || !leafExpr(b.Y) {
		return cond
	}
	if t := b.X.Type(); !t.IsInt() || t == loop.U64 && b.Op != loop.Eq && b.Op != loop.Ne {
		return cond
	}
	cond.op, cond.x, cond.y = b.Op, c.int(b.X).slot, c.int(b.Y).slot
	switch b.Op {
	case loop.Gt:
		cond.op, cond.x, cond.y = loop.Lt, cond.y, cond.x
	case loop.Ge:
		cond.op, cond.x, cond.y = loop.Le, cond.y, cond.x
	}
	return cond
}

// leafExpr reports whether e compiles to a leaf.
func leafExpr(e loop.Expr) bool {
	switch e.(type) {
	case *loop.Ref, *loop.Const:
		return true
	}
	return false
}

func ifLess(x, y slot, then, other exec) exec {
	return func(fr *frame) int64 {
		if *reg[int64](fr, x) < *reg[int64](fr, y) {
			return then(fr)
		}
		return other(fr)
	}
}

func ifEqual(x, y slot, then, other exec) exec {
	return func(fr *frame) int64 {
		if *reg[int64](fr, x) == *reg[int64](fr, y) {
			return then(fr)
		}
		return other(fr)
	}
}

func (c *compiler) failure(s *loop.Fail) exec {
	if s.Code < 0 || s.Code >= c.fails {
		c.fail("fail %d has no message", s.Code)
		return nil
	}
	st := 1 + int64(s.Code)
	return func(*frame) int64 { return st }
}
