package prim

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// sortedRun is the length of the runs that insertion makes before they are merged.
const sortedRun = 16

// MergeSorter sorts parts of a buffer, stably: short runs by insertion, which are then
// merged into a second buffer, as large, and back.
type MergeSorter struct {
	Keys [2]loop.BufferID
	// Carried moves along with the keys, -1 for nothing.
	Carried [2]loop.BufferID
	// Before emits whether one key comes before another, not equal ones.
	Before func(b *loop.Builder, x, y loop.Expr) loop.Expr
}

// pairs are the buffers that a function moves.
func (s *MergeSorter) pairs(e *emit.Func) [][2]loop.BufID {
	list := [][2]loop.BufID{{e.Write(s.Keys[0]), e.Write(s.Keys[1])}}
	if s.Carried[0] >= 0 {
		list = append(list, [2]loop.BufID{e.Write(s.Carried[0]), e.Write(s.Carried[1])})
	}
	return list
}

// Sort emits the sorting of count elements from begin on, into the first buffer.
func (s *MergeSorter) Sort(e *emit.Func, begin, count loop.Expr) {
	b := e.B
	pairs := s.pairs(e)
	at := func(i loop.Expr) loop.Expr { return b.Add(begin, i) }
	b.For("i", loop.Int(1), count, func(i loop.Expr) {
		var moved []loop.Expr
		for _, p := range pairs {
			moved = append(moved, b.Let("v", b.Load(p[0], at(i))))
		}
		first := b.Let("first", b.And(i, loop.Int(^int64(sortedRun-1))))
		j := b.Var("j", i)
		more := b.Var("more", b.Gt(j, first))
		b.While(more, func() {
			previous := b.Let("previous", b.Sub(at(j), loop.Int(1)))
			b.If(s.Before(b, moved[0], b.Let("w", b.Load(pairs[0][0], previous))), func() {
				for _, p := range pairs {
					b.Store(p[0], at(j), b.Load(p[0], previous))
				}
				b.Assign(j, b.Sub(j, loop.Int(1)))
				b.Assign(more, b.Gt(j, first))
			}, func() { b.Assign(more, loop.Truth(false)) })
		})
		for k, p := range pairs {
			b.Store(p[0], at(j), moved[k])
		}
	})
	width := b.Var("width", loop.Int(sortedRun))
	b.While(b.Lt(width, count), func() {
		for from := range 2 {
			s.merge(e, begin, count, width, from)
			b.Assign(width, b.Mul(width, loop.Int(2)))
		}
	})
}

// merge merges neighbouring runs of the given width from one buffer to the other.
func (s *MergeSorter) merge(e *emit.Func, begin, count loop.Expr, width *loop.Ref, from int) {
	b := e.B
	low := b.Var("low", loop.Int(0))
	b.While(b.Lt(low, count), func() {
		mid := b.Let("mid", b.Min(count, b.Add(low, width)))
		high := b.Let("high", b.Min(count, b.Add(mid, width)))
		s.mergeTwo(e, begin, low, mid, high, high, from)
		b.Assign(low, high)
	})
}

// mergeTwo merges the runs low to mid and mid to high from one buffer to the other, as far as end.
func (s *MergeSorter) mergeTwo(e *emit.Func, begin, low, mid, high, end loop.Expr, from int) {
	b := e.B
	pairs := s.pairs(e)
	keys := pairs[0][from]
	left, right := b.Var("left", low), b.Var("right", mid)
	b.For("k", low, end, func(k loop.Expr) {
		take := b.Var("take", b.Lt(left, mid))
		b.If(b.And(take, b.Lt(right, high)), func() {
			x := b.Let("x", b.Load(keys, b.Add(begin, left)))
			y := b.Let("y", b.Load(keys, b.Add(begin, right)))
			b.Assign(take, b.Not(s.Before(b, y, x)))
		}, nil)
		chosen := b.Let("chosen", b.Add(begin, b.Select(take, left, right)))
		for _, p := range pairs {
			b.Store(p[1-from], b.Add(begin, k), b.Load(p[from], chosen))
		}
		b.Assign(left, b.Add(left, b.Cast(loop.I64, take)))
		b.Assign(right, b.Add(right, b.Cast(loop.I64, b.Not(take))))
	})
}

// mergeFirst merges a run of so many elements, from begin on, with another behind it that ends at count. Only as many as the
// first run has stay.
func (s *MergeSorter) mergeFirst(e *emit.Func, begin loop.Expr, first, count *loop.Ref) {
	b := e.B
	s.mergeTwo(e, begin, loop.Int(0), first, count, first, 0)
	pairs := s.pairs(e)
	b.For("i", loop.Int(0), first, func(i loop.Expr) {
		at := b.Let("at", b.Add(begin, i))
		for _, p := range pairs {
			b.Store(p[0], at, b.Load(p[1], at))
		}
	})
}
