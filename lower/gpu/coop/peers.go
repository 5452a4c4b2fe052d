package coop

import "github.com/lacuna-sparse/lacuna/ir/loop"

// Peers returns the set of lanes of a warp that are inside and whose digit, a number of the given
// bits, is that of the lane, and how many of them stand before it: a ballot for each bit.
// (Ashkiani, Davidson, Meyer and Owens, "GPU multisplit", PPoPP 2016, section 5.)
// Both are of type U32. The digit is held in 32 bits, as registers are.
func (c *Code) Peers(digit loop.Expr, bits int64, inside loop.Expr) (peers, before loop.Expr) {
	b := c.Builder
	one := loop.Number(loop.U32, 1)
	narrow := b.Let("narrow", b.Cast(loop.U32, digit))
	same := b.Var("same", b.Ballot("all", inside))
	c.Times(bits, func(bit loop.Expr) {
		set := b.Let("set", b.Ne(b.And(narrow, loop.NewBinary(loop.Shl, one, b.Cast(loop.U32, bit))), loop.Number(loop.U32, 0)))
		with := b.Ballot("with", set)
		b.Assign(same, b.And(same, b.Select(set, with, loop.NewUnary(loop.Not, with))))
	})
	below := b.Sub(loop.NewBinary(loop.Shl, one, b.Cast(loop.U32, c.Lane())), one)
	return same, b.Let("among", b.Cast(loop.U32, loop.NewUnary(loop.OnesCount, b.And(same, below))))
}
