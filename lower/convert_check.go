package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
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
// has looked at: the kernel's Result.Values are checkCount bytes, each 1 for a
// fault that was found. Repeats count only where entries do not fall.
func CheckCoordinates(from *ir.Tensor, types OperandTypes, grain int64) *Kernel {
	c := newConverter(from, from, types, ConvertOptions{Grain: grain, Entries: Repeating})
	part := c.evenly(loop.SizeScalar(c.entries))
	flags := c.buffer("flags", loop.U8, loop.Temp)
	order := from.Format.Order()
	all := allAxes(from.Rank)

	e := c.emitter("check")
	b := e.b
	var found [checkCount]*loop.Ref
	for i, name := range []string{"outside", "falls", "repeats"} {
		found[i] = b.Var(name, loop.Truth(false))
	}
	note := func(i int, cond loop.Expr) { b.Assign(found[i], b.Or(found[i], cond)) }
	for axis := range from.Rank {
		limit := b.Cast(loop.U64, e.scalar(c.extentOf(axis)))
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
	out := e.write(flags)
	row := b.Let("row", b.Mul(b.Chunk(), loop.Int(checkCount)))
	for i, f := range found {
		b.Store(out, b.Add(row, loop.Int(int64(i))), b.Cast(loop.U8, f))
	}
	st := e.stage("check")
	st.Partition = part
	st.PartitionAllocs = []loop.Alloc{{Buffer: flags, Len: sizeTimes(c.chunks(part), loop.SizeConst(checkCount))}}
	c.addStage(st)

	c.result.Values = c.buffer("found", loop.U8, loop.Output)
	e = c.emitter("gather")
	b = e.b
	result := e.write(c.result.Values)
	b.For("p", loop.Int(0), b.Mul(e.scalar(c.program.Partitions[part].Chunks), loop.Int(checkCount)), func(p loop.Expr) {
		at := b.Let("at", b.Rem(p, loop.Int(checkCount)))
		b.Store(result, at, b.Or(b.Load(result, at), b.Load(e.read(flags), p)))
	})
	st = e.stage("gather")
	st.Allocs = []loop.Alloc{{Buffer: c.result.Values, Len: loop.SizeConst(checkCount), Zero: true}}
	c.addStage(st)
	return &Kernel{Program: c.program, Inputs: c.inputList, Scalars: c.scalarList, Result: c.result}
}
