package interp

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// A callee is a scalar function made part of the kernel.
type callee struct {
	args   []variable
	result result
	body   exec // nil while it is being compiled
}

// A result is where a scalar function leaves its value.
type result struct {
	typ  loop.Type
	slot slot
}

// hasReturned is the status with which Return ends a scalar function.
const hasReturned = 1

func (c *compiler) returned(s *loop.Return) exec {
	if c.result == nil {
		c.fail("return belongs into a scalar function")
		return nil
	}
	c.expect(s.Value, c.result.typ, "the value returned")
	if c.err != nil {
		return nil
	}
	x := c.set(variable{typ: c.result.typ, slot: c.result.slot}, s.Value)
	return func(fr *frame) int64 {
		x(fr)
		return hasReturned
	}
}

// scalar finds the named function and compiles it when this is the first call.
func (c *compiler) scalar(name string) *callee {
	if f, ok := c.scalars[name]; ok {
		if f.body == nil {
			c.fail("scalar function %s calls itself", name)
			return nil
		}
		return f
	}
	var s *loop.Scalar
	if c.lookup != nil {
		s, _ = c.lookup(name)
	}
	switch {
	case s == nil:
		c.fail("there is no scalar function %s", name)
		return nil
	case !s.Result.IsCompute():
		c.fail("scalar function %s returns %s", name, s.Result)
		return nil
	}
	if c.scalars == nil {
		c.scalars = make(map[string]*callee)
	}
	f := &callee{result: result{s.Result, c.allocate(s.Result)}}
	c.scalars[name] = f

	caller := c.function
	defer func() { c.function = caller }()
	c.enter(function{where: "scalar " + name, result: &f.result}, s.Vars)
	for _, v := range s.Args {
		c.declare(v, fixed)
		if c.err != nil {
			return nil
		}
		f.args = append(f.args, c.vars[v])
	}
	body := c.block(s.Body)
	if !ends(s.Body) {
		c.fail("the function can end without return")
	}
	if c.err != nil {
		return nil
	}
	f.body = body
	return f
}

// ends reports whether control never leaves a block at its end.
func ends(body []loop.Stmt) bool {
	for _, s := range body {
		switch s := s.(type) {
		case *loop.Return:
			return true
		case *loop.If:
			if ends(s.Then) && ends(s.Else) {
				return true
			}
		}
	}
	return false
}

func call[T any](c *compiler, e *loop.Call) value[T] {
	f := c.scalar(e.Fn)
	if f == nil {
		return value[T]{}
	}
	if f.result.typ != e.Typ {
		c.fail("scalar function %s returns %s, not %s", e.Fn, f.result.typ, e.Typ)
	}
	if len(f.args) != len(e.Args) {
		c.fail("scalar function %s takes %d arguments, got %d", e.Fn, len(f.args), len(e.Args))
	}
	if c.err != nil {
		return value[T]{}
	}
	body, out := f.body, f.result.slot
	switch steps := c.pass(f, e.Args); len(steps) {
	case 0:
		return computed(func(fr *frame) T {
			body(fr)
			return *reg[T](fr, out)
		})
	case 1:
		pass := steps[0]
		return computed(func(fr *frame) T {
			pass(fr)
			body(fr)
			return *reg[T](fr, out)
		})
	default:
		return computed(func(fr *frame) T {
			for _, pass := range steps {
				pass(fr)
			}
			body(fr)
			return *reg[T](fr, out)
		})
	}
}

// pass returns the steps that compute the arguments and put them into the
// registers of f. An argument goes there by way of a register of its own when
// a later one has a call in it, which could be one of f.
func (c *compiler) pass(f *callee, args []loop.Expr) []exec {
	steps := make([]exec, 0, len(args))
	var moves []exec
	for i, e := range args {
		to := f.args[i]
		if !anyCalls(args[i+1:]) {
			steps = append(steps, c.set(to, e))
			continue
		}
		aside := variable{typ: to.typ, slot: c.allocate(to.typ)}
		steps = append(steps, c.set(aside, e))
		moves = append(moves, moveTyped(to, aside.slot))
	}
	return append(steps, moves...)
}

func anyCalls(args []loop.Expr) bool {
	return slices.ContainsFunc(args, func(e loop.Expr) bool {
		return loop.HasExpr(e, func(e loop.Expr) bool {
			_, ok := e.(*loop.Call)
			return ok
		})
	})
}

// moveTyped copies register from to v.
func moveTyped(v variable, from slot) exec {
	switch v.typ {
	case loop.Bool:
		return move(v.slot, readOf[bool](from))
	case loop.F32:
		return move(v.slot, readOf[float32](from))
	case loop.F64:
		return move(v.slot, readOf[float64](from))
	case loop.C64:
		return move(v.slot, readOf[complex64](from))
	case loop.C128:
		return move(v.slot, readOf[complex128](from))
	}
	return move(v.slot, readOf[int64](from))
}
