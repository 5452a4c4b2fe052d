package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/level"
)

// This file moves an operand with many entries along with one of few: it gallops (Bentley and Yao, An almost
// optimal algorithm for unbounded searching, 1976). From where it is it looks 1, 2, 4, … entries ahead until one is not
// before the coordinate it is to reach, and then between the last two, so that a loop costs the entries of the
// shorter operand times the logarithm of how far apart they lie in the longer. Which operand is long is found
// out where the loop begins, and differs from row to row.

// gallopShift: an operand is long if it has more than 2^gallopShift times the entries of the shortest. With less,
// going through all of them, without a branch that the processor cannot foresee, takes no longer.
const gallopShift = 4

// required are the operands without whose entries a set has no coordinate.
func (w *walk) required(set ir.SetExpr) []*iterator {
	var list []*iterator
	for _, it := range w.coiterated {
		if set.Inside(ir.AtomOf(it.atom)) {
			list = append(list, it)
		}
	}
	return list
}

// findLong finds out which operands of a loop are long: those of list that have many more entries than the shortest of
// some. The loop goes through no more than the entries of each of these.
func (w *walk) findLong(list, some []*iterator, begin, end func(*iterator) loop.Expr) {
	if len(some) == 0 || len(some) == 1 && len(list) == 1 && list[0] == some[0] {
		return
	}
	b := w.B
	length := func(it *iterator) loop.Expr { return b.Sub(end(it), begin(it)) }
	var shortest loop.Expr
	for _, it := range some {
		if shortest == nil {
			shortest = length(it)
		} else {
			shortest = b.Min(shortest, length(it))
		}
	}
	shortest = b.Let("shortest", shortest)
	for _, it := range list {
		if len(some) == 1 && it == some[0] {
			continue
		}
		it.long = b.Let("long_"+it.access.Tensor.Name, b.Gt(loop.NewBinary(loop.Shr, length(it), loop.Int(gallopShift)), shortest))
	}
}

// catchUp moves the long operands of a merge to where the others are: the set has no coordinate before.
func (w *walk) catchUp(required []*iterator) {
	b := w.B
	var some loop.Expr
	for _, it := range w.coiterated {
		switch {
		case it.long == nil:
		case some == nil:
			some = it.long
		default:
			some = b.Or(some, it.long)
		}
	}
	if some == nil {
		return
	}
	b.If(some, func() {
		reached := b.Var("reached", loop.Int(0))
		for _, it := range required {
			here := b.Lt(it.at, it.end)
			if it.long != nil {
				here = b.And(b.Not(it.long), here)
			}
			b.If(here, func() { b.Assign(reached, b.Max(reached, it.index(b, it.at))) }, nil)
		}
		for _, it := range w.coiterated {
			if it.long != nil {
				b.If(it.long, func() { w.gallop(it, reached); w.settle(it) }, nil)
			}
		}
	}, nil)
}

// gallop moves an iterator to its first entry with the index i or a later one.
func (w *walk) gallop(it *iterator, i loop.Expr) {
	b := w.B
	c := b.Let("c", it.coordinate(b, i))
	step := b.Var("step", loop.Int(1))
	before := b.Var("before", b.Lt(it.at, it.end))
	b.If(before, func() { b.Assign(before, b.Lt(b.LoadIndex(it.crd, it.at), c)) }, nil)
	b.If(before, func() {
		b.While(before, func() { // the entry at it.at is before c
			next := b.Let("next", b.Add(it.at, step))
			b.Assign(before, b.Lt(next, it.end))
			b.If(before, func() {
				b.Assign(before, b.Lt(b.LoadIndex(it.crd, next), c))
				b.If(before, func() {
					b.Assign(it.at, next)
					b.Assign(step, b.Add(step, step))
				}, nil)
			}, nil)
		})
		b.Assign(it.at, level.LowerBound(w.B, it.crd, b.Add(it.at, loop.Int(1)), b.Let("stop", b.Min(b.Add(it.at, step), it.end)), c))
	}, nil)
}
