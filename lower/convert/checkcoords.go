package convert

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// What CheckCoordinates finds, by element of its result.
const (
	CoordinateOutside = iota // a coordinate outside its axis
	CoordinateFalls          // entries that are not in order
	CoordinateRepeats        // entries in order, of which two have the same coordinates
	checkCount
)

// checkStrip is how many entries are compared before looking whether a fault has
// been found: without tests in between the comparisons are vector code.
const checkStrip = 1 << 10

// CheckCoordinates lowers the check of a list of coordinates, S-…-S, that nobody
// has looked at: the kernel's Result.Found are checkCount bytes, each 1 for a
// fault that was found. Repeats count only where entries do not fall.
func CheckCoordinates(from *ir.Tensor, types emit.OperandTypes, grain int64) *emit.Kernel {
	c := newConverter(from, from, types, Options{Grain: grain, Entries: Repeating})
	part := c.evenly(loop.SizeScalar(c.entries))
	order := from.Format.Order()
	all := allAxes(from.Rank)

	e := c.NewFunc("check")
	b := e.B
	var found [checkCount]*loop.Ref
	for i, name := range []string{"outside", "falls", "repeats"} {
		found[i] = b.Var(name, loop.Truth(false))
	}
	note := func(i int, cond loop.Expr) { b.Assign(found[i], b.Or(found[i], cond)) }
	for axis := range from.Rank {
		limit := b.Cast(loop.U64, e.Scalar(c.extentOf(axis)))
		c.source.each(e, b.Lo(), b.Hi(), 1<<axis, func(en entry) {
			note(CoordinateOutside, b.Ge(b.Cast(loop.U64, en.coords[axis]), limit))
		})
	}
	p := b.Var("p", b.Max(b.Lo(), loop.Int(1)))
	b.While(b.And(b.Lt(p, b.Hi()), b.Not(found[CoordinateFalls])), func() {
		begin := b.Let("begin", p)
		end := b.Let("end", b.Min(b.Hi(), b.Add(begin, loop.Int(checkStrip))))
		b.For("q", begin, end, func(q loop.Expr) {
			x, y := c.source.at(e, b.Sub(q, loop.Int(1)), all), c.source.at(e, q, all)
			less, same := loop.Expr(loop.Truth(false)), loop.Expr(loop.Truth(true))
			for l := len(order) - 1; l >= 0; l-- {
				x, y := x.coords[order[l]], y.coords[order[l]]
				less = b.Or(b.Lt(y, x), b.And(b.Eq(x, y), less))
				same = b.And(b.Eq(x, y), same)
			}
			note(CoordinateFalls, less)
			note(CoordinateRepeats, same)
		})
		b.Assign(p, end)
	})
	c.Result.Found = c.flags(e, part, found[:])
	c.Result.Values = -1
	return c.Done()
}
