package coop

import "github.com/lacuna-sparse/lacuna/ir/loop"

// MaxBlocks bounds a grid whose threads take elements in turns.
const MaxBlocks = 1 << 20

// Code is what a function of a grid is written with.
type Code struct {
	Builder *loop.Builder
	// Quick says that the function stands in for another while that is compiled, and should
	// be small; see loop.Func.Quick.
	Quick bool
}

// Times runs body for 0 … n-1, in copies of it or, in quick functions, in a loop.
func (c *Code) Times(n int64, body func(k loop.Expr)) {
	if c.Quick {
		c.Builder.For("k", loop.Int(0), loop.Int(n), body)
		return
	}
	for k := range n {
		body(loop.Int(k))
	}
}

// InTurns runs body for first, first+step, … below n, by a name.
func (c *Code) InTurns(name string, first, n, step loop.Expr, body func(i loop.Expr)) {
	b := c.Builder
	at := b.Var("at", first)
	b.While(b.Lt(at, n), func() {
		body(b.Let(name, at))
		b.Assign(at, b.Add(at, step))
	})
}

// Lane is the number of the thread in its warp.
func (c *Code) Lane() loop.Expr { return c.Builder.Special(loop.LaneIndex) }

// Warp is the number of the thread's warp in the block.
func (c *Code) Warp() loop.Expr { return c.Builder.Special(loop.WarpIndex) }

// Shl is x, shifted left by y bits.
func Shl(x, y loop.Expr) loop.Expr { return loop.NewBinary(loop.Shl, x, y) }

// Shr is x, shifted right by y bits.
func Shr(x, y loop.Expr) loop.Expr { return loop.NewBinary(loop.Shr, x, y) }
