package lower

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/level"
)

// This file moves operands that do not drive a loop along with those that do.

// follow moves every located operand up to index i and returns the cursors there.
func (w *walk) follow(i loop.Expr) []cursor {
	b := w.B
	var cursors []cursor
	for _, it := range w.located {
		if it.keyed {
			cursors = append(cursors, w.keyedCursor(it, i))
			continue
		}
		has := b.Var("has_"+it.access.Tensor.Name, loop.Truth(false))
		behind := b.Var("behind", b.Lt(it.at, it.end))
		target := b.Let("target", b.Mul(i, loop.Int(it.stride)))
		if it.long != nil {
			b.If(it.long, func() {
				w.gallop(it, i)
				b.Assign(behind, b.Lt(it.at, it.end))
			}, nil)
		}
		b.While(behind, func() {
			b.Assign(behind, loop.Truth(false))
			j := b.Let("j", it.distance(b, it.at))
			b.If(b.Lt(j, target), func() {
				b.Assign(it.at, b.Add(it.at, loop.Int(1)))
				b.Assign(behind, b.Lt(it.at, it.end))
			}, func() { b.Assign(has, b.Eq(j, target)) })
		})
		cursors = append(cursors, w.arrive(it, i, b.Let("has", has)))
	}
	return cursors
}

// arrive is the cursor of an iterator at index i, where present tells whether
// its current entry is there. A level with repeated coordinates gets the whole
// segment.
func (w *walk) arrive(it *iterator, i, present loop.Expr) cursor {
	b := w.B
	at := b.Let("p", it.at)
	if it.unique {
		return it.child(at, nil, present)
	}
	it.next = b.Var("q", at)
	if present == nil && w.walksRun(it) {
		c := it.child(at, nil, nil)
		c.run = &openRun{crd: it.crd, coord: b.Let("c", it.coordinate(b, i)), limit: it.end, next: it.next, single: storesDirectly(w.f)}
		return c
	}
	segment := func() { b.Assign(it.next, w.runEnd(it, at, i)) }
	if present == nil {
		segment()
	} else {
		b.If(present, segment, nil)
	}
	return it.child(at, b.Let("end", it.next), present)
}

// runEnd is the end of the run of entries with index i that starts at p.
func (w *walk) runEnd(it *iterator, p, i loop.Expr) loop.Expr {
	return level.SegmentEnd(w.B, it.crd, p, it.end, it.coordinate(w.B, i))
}

// moveOn moves iterators past the entries that the body has seen.
func (w *walk) moveOn(its []*iterator) {
	b := w.B
	for _, it := range its {
		if it.next != nil {
			b.Assign(it.at, it.next)
			it.next = nil
		}
	}
}

// prepareLocated starts the located operands; with a co-iterated one cut into chunks they
// start at its first coordinate by searching.
func (w *walk) prepareLocated(along *iterator, begin, end loop.Expr) {
	b := w.B
	list := slices.DeleteFunc(slices.Clone(w.located), func(it *iterator) bool { return it.keyed })
	if len(list) == 0 {
		return
	}
	var from *loop.Ref
	if w.root.cut {
		from = b.Var("from", loop.Int(math.MaxInt64))
		b.If(b.Lt(begin, end), func() { b.Assign(from, along.index(b, begin)) }, nil)
	}
	for _, it := range list {
		first := it.begin
		if from != nil {
			first = level.LowerBound(w.B, it.crd, it.begin, it.end, b.Let("from", it.coordinate(b, from)))
		}
		it.at = b.Var("p_"+it.access.Tensor.Name, first)
	}
	w.findLong(list, []*iterator{along}, func(it *iterator) loop.Expr {
		if it == along {
			return begin
		}
		return it.at
	}, func(it *iterator) loop.Expr {
		if it == along {
			return end
		}
		return it.end
	})
}
