package gpu

import "github.com/lacuna-sparse/lacuna/ir/loop"

// code is what a function of a grid is written with.
type code struct {
	b *loop.Builder
	// Quick says that the function stands in for another while that is compiled, and should
	// be small; see loop.Func.Quick.
	Quick bool
}

// Times runs body for 0 … n-1, in copies of it or, in quick functions, in a loop.
func (c *code) Times(n int64, body func(k loop.Expr)) {
	if c.Quick {
		c.b.For("k", loop.Int(0), loop.Int(n), body)
		return
	}
	for k := range n {
		body(loop.Int(k))
	}
}

// Lane is the number of the thread in its warp.
func (c *code) Lane() loop.Expr { return c.b.Special(loop.LaneIndex) }

// Warp is the number of the thread's warp in the block.
func (c *code) Warp() loop.Expr { return c.b.Special(loop.WarpIndex) }
