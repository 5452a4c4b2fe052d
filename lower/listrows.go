package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/level"
)

// A row of a matrix stored as coordinates is a run of equal ones. A loop over the row
// needs no end found before it, by another loop over the same coordinates whose end
// processors have to predict as well: it goes on while the coordinate stays.
//
// Where nothing happens between rows, there need not even be two loops: entries are
// visited one after the other, whatever their rows.

// openRun is a run whose end is not known yet: it begins at an entry with its coordinate.
type openRun struct {
	crd          loop.BufID
	coord, limit loop.Expr // the run's coordinate; the end of the level
	next         *loop.Ref // its first position, and behind the loop its end
	// single: the entry alone is the run, since nobody asks where rows end.
	single bool
}

// walksRun reports whether the body of w is one loop over the run of it, an inner
// reduction or the store itself, and nothing else asks where the run ends.
func (w *walk) walksRun(it *iterator) bool {
	if w.emitter.counting() || w.counting || len(w.iters) != 1 || !w.step.Result.Format.IsDense() {
		return false
	}
	body := w.f.Body
	if where, ok := body.(*ir.Where); ok {
		if _, ok := where.Consumer.(*ir.Assign); !ok || ir.AccessesOf(where.Consumer)[it.access] {
			return false
		}
		body = where.Producer
	}
	inner, ok := body.(*ir.Forall)
	if !ok {
		return false
	}
	leaf, ok := inner.Body.(*ir.Assign)
	if !ok || leaf.Temp != nil && (leaf.Temp.Reduce.In != nil || fold.IsArg(leaf.Temp.Reduce.Fold)) || leaf.Temp == nil && leaf.LHS.Tensor.Work != nil {
		return false
	}
	for a := range ir.AccessesOf(inner) {
		if a != it.access && !a.Tensor.Format.IsDense() {
			return false
		}
	}
	levels := it.access.Tensor.Format.Physical()
	if it.level+2 != len(levels) || !levels[it.level+1].Branchless() || !levels[it.level+1].Unique {
		return false
	}
	x := it.access.Indices[it.access.Tensor.Format.Order()[it.level+1]]
	return x.Plain() == inner.Index
}

// closeRun finds the end of an iterator's run, where the loop is not one over the run
// alone.
func (e *emitter) closeRun(it *iterator) {
	r := it.run
	it.end = e.B.Let("end", level.SegmentEnd(e.B, r.crd, it.begin, r.limit, r.coord))
	e.B.Assign(r.next, it.end)
	it.run = nil
}

// run emits the loop over the run of it.
func (w *walk) run(it *iterator, visit func(p loop.Expr)) {
	b, r := w.B, it.run
	if r.single {
		visit(b.Let("p_"+it.access.Tensor.Name, r.next))
		b.Assign(r.next, b.Add(r.next, loop.Int(1)))
		return
	}
	if w.inBlocks(it) {
		w.blocksOfRun(it, visit)
		return
	}
	more := b.Var("more", loop.Truth(true))
	if w.blockSum() == nil {
		w.runUntil(it, r.limit, more, visit)
		return
	}
	acc := w.accs[ir.FirstLeaf(w.f.Body).Temp]
	length := func() loop.Expr { return b.Sub(r.next, it.begin) }
	w.counted(acc, length, func(acc fold.State) {
		// Coordinates are sorted: one look tells whether the run is longer than a block.
		far := b.Let("far", b.Add(r.next, loop.Int(fold.OrderedTerms)))
		long := b.Var("long", b.Lt(far, r.limit))
		b.If(long, func() { b.Assign(long, b.Eq(b.LoadIndex(r.crd, far), r.coord)) }, nil)
		b.If(long, func() { w.runInBlocks(acc, it, more, visit) }, func() { w.runUntil(it, r.limit, more, visit) })
	})
}

// blocksOfRun emits the loop over the run of it as a fold in blocks. Coordinates are
// sorted: that the last of a block is in the run tells it of all. What is left over
// is counted without a branch, and folded as in blocks.
func (w *walk) blocksOfRun(it *iterator, visit func(p loop.Expr)) {
	b, r, count := w.B, it.run, loop.Int(blockCount)
	acc := w.accs[w.f.Body.(*ir.Assign).Temp]
	name := "p_" + it.access.Tensor.Name
	inside := func(ahead int64) *loop.Ref {
		last := b.Let("last", b.Add(r.next, loop.Int(ahead)))
		is := b.Var("more", b.Lt(last, r.limit))
		b.If(is, func() { b.Assign(is, b.Eq(b.LoadIndex(r.crd, last), r.coord)) }, nil)
		return is
	}
	more := inside(blockCount - 1)
	whole := b.Let("whole", more)
	b.While(more, func() {
		w.block(it, acc, b.Let(name, r.next))
		b.Assign(r.next, b.Add(r.next, count))
		b.Assign(more, inside(blockCount-1))
	})
	b.If(whole, func() {
		w.seeEntries(it)
		rest := b.Var("rest", loop.Int(0))
		b.If(b.Le(b.Add(r.next, loop.Int(blockCount-1)), r.limit), func() {
			for t := range int64(blockCount - 1) {
				b.Assign(rest, b.Add(rest, b.Cast(loop.I64, b.Eq(b.LoadIndex(r.crd, b.Add(r.next, loop.Int(t))), r.coord))))
			}
		}, func() {
			b.Assign(rest, b.Sub(level.SegmentEnd(w.B, r.crd, r.next, r.limit, r.coord), r.next))
		})
		// Each way steps by itself: where the next row begins then follows from what the
		// processor predicts, and it need not wait for coordinates.
		b.If(b.Eq(rest, loop.Int(1)), func() {
			visit(b.Let(name, r.next))
			b.Assign(r.next, b.Add(r.next, loop.Int(1)))
		}, func() {
			b.If(b.Gt(rest, loop.Int(1)), func() {
				b.Assign(r.next, b.Add(r.next, rest))
				w.block(it, acc, b.Let(name, b.Sub(r.next, count)))
			}, nil)
		})
	}, func() { w.runUntil(it, r.limit, b.Var("more", loop.Truth(true)), visit) })
}

// runInBlocks emits the sum over the run of it in blocks.
func (w *walk) runInBlocks(acc fold.State, it *iterator, more *loop.Ref, visit func(p loop.Expr)) {
	b, r := w.B, it.run
	acc.Blocks = w.openBlocks(acc.Reduce)
	b.While(more, func() {
		end := b.Let("block", b.Min(r.limit, b.Add(r.next, loop.Int(fold.OrderedTerms))))
		w.runUntil(it, end, more, visit)
		w.goOn(it, r.limit, more)
		b.If(more, acc.CloseBlock, nil)
	})
	acc.JoinBlocks()
}

// runUntil emits the loop over the run of it up to a position.
func (w *walk) runUntil(it *iterator, end loop.Expr, more *loop.Ref, visit func(p loop.Expr)) {
	b, r := w.B, it.run
	b.While(more, func() {
		visit(b.Let("p_"+it.access.Tensor.Name, r.next))
		b.Assign(r.next, b.Add(r.next, loop.Int(1)))
		w.goOn(it, end, more)
	})
}

// goOn finds out whether the next entry is before a position and in the run of it.
func (w *walk) goOn(it *iterator, end loop.Expr, more *loop.Ref) {
	b, r := w.B, it.run
	b.Assign(more, b.Lt(r.next, end))
	b.If(more, func() { b.Assign(more, b.Eq(b.LoadIndex(r.crd, r.next), r.coord)) }, nil)
}

// storesDirectly reports whether the body of f is a loop that writes the result itself.
func storesDirectly(f *ir.Forall) bool {
	inner, ok := f.Body.(*ir.Forall)
	return ok && ir.FirstLeaf(inner).Temp == nil
}
