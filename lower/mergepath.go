package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/level"
	"github.com/lacuna-sparse/lacuna/lower/pieces"
)

// A nest whose outermost loop merges operands has no array that tells how much work lies under a coordinate, and its
// outermost coordinates may be few and heavy. It is cut into pieces by places between entries instead (package pieces): so
// one may begin and end inside a fibre, at any level. It depends on the data alone.
//
// A stage of its own searches for the beginnings. Loops then narrow the range of each operand
// at the first and the last coordinate of the piece, and are otherwise the same.

// split is the piece that a function runs.
type split struct {
	*pieces.Pieces
	begin, end []loop.Expr // the coordinates at which it begins and ends, by loop
}

// piecesOf cuts the nest of f, whose outermost loop goes through the entries of its, into pieces. It is nil
// where that cannot be done. dense says that the loop goes through all coordinates.
func (w *walk) piecesOf(gap *gap, dense bool) *pieces.Pieces {
	e := w.emitter
	if p, ok := e.cuts[w.f]; ok {
		return p
	}
	loops, counted := w.pieceLoops(gap, dense)
	if len(counted) == 0 {
		return nil
	}
	p := pieces.Search(e.Builder, loops, counted, e.pieceGrain(), dense, e.extent)
	e.cuts[w.f] = p
	return p
}

// pieceLoops are the loops of the nest of w in which pieces may begin, and the operands whose entries are counted for it:
// those whose levels are in the order of the loops. There are none if it cannot be cut, or if that would be no other
// cut than by values of the outermost index.
func (w *walk) pieceLoops(gap *gap, dense bool) (loops []*ir.Forall, counted []*ir.Access) {
	e := w.emitter
	if len(e.step.Workspaces)+len(e.step.Tables) > 0 || e.opts.Grids || e.out != nil && e.opts.Assembly == Appended {
		return nil, nil // Appended is for one thread
	}
	for _, it := range w.iters {
		if it.level != 0 || !isPlain(it) {
			return nil, nil
		}
	}
	loops = e.splitLoops(w.f, gap, dense)
	if len(loops) == 0 {
		return nil, nil
	}
	for _, a := range e.accessesIn(w.f) {
		if a.Tensor.Work != nil || a.Tensor.Format.IsDense() {
			continue
		}
		if depth, ok := alongLoops(a, loops); ok {
			counted, loops = append(counted, a), loops[:depth]
		}
	}
	most := 0
	for _, a := range counted {
		most = max(most, len(a.Tensor.Format.Physical()))
	}
	loops = loops[:min(len(loops), most)] // no entry tells two coordinates of deeper ones apart
	if len(loops) == 1 && (dense || len(w.coiterated) == 1) {
		return nil, nil
	}
	return loops, counted
}

// splitLoops are the loops of f's nest in which pieces may begin: those on the way to the leaf around everything else, as
// long as what is written in different iterations can be told apart.
func (e *emitter) splitLoops(f *ir.Forall, gap *gap, dense bool) []*ir.Forall {
	var loops []*ir.Forall
	for s := ir.Stmt(f); ; {
		g, ok := s.(*ir.Forall)
		if !ok || len(loops) == e.deepest {
			break
		}
		loops, s = append(loops, g), g.Body
	}
	switch {
	case gap != nil:
		loops = loops[:1] // what a fibre leaves out is folded once
	case e.out != nil:
		loops = loops[:min(len(loops), e.out.deepestPiece(e, loops, dense))]
	case len(ir.Effects(f)) > 0 && ir.Effects(f)[0].Temp == nil:
		for l, g := range loops {
			if !ir.Cuttable(e.step.LHS, e.step.Result, g) {
				return loops[:l]
			}
		}
	}
	return loops
}

// deepestPiece is in how many loops a piece may begin so that the result can be put together.
func (a *assembly) deepestPiece(e *emitter, loops []*ir.Forall, dense bool) int {
	order := e.step.Result.Format.Order()
	deepest := 0
	for deepest < min(len(loops), len(order)) && e.step.LHS.Indices[order[deepest]].Plain() == loops[deepest].Index {
		deepest++
	}
	top := a.segments[0].first // levels above the first list
	if top > 0 && !(top == 1 && dense && a.ordered) {
		deepest = min(deepest, top) // positions of rows are counts, one chunk's each
	}
	for l, v := range a.levels {
		if l > top && v.Full() {
			deepest = min(deepest, l) // so are the values below an entry
		}
	}
	for _, s := range a.segments[:len(a.segments)-1] {
		if top > 0 || !a.ordered {
			deepest = min(deepest, s.last+1) // entries that two chunks make are mended elsewhere
		}
	}
	return deepest
}

// alongLoops is in how many of the loops a piece may begin for an operand to be cut there; not ok if it does not have
// its entries in their order.
func alongLoops(a *ir.Access, loops []*ir.Forall) (depth int, ok bool) {
	levels, order := a.Tensor.Format.Physical(), a.Tensor.Format.Order()
	for l, v := range levels {
		known := v.Full() || v.Ordered && (v.Ranges() || v.Branchless())
		if known && !v.Unique && !v.Full() {
			known = l+1 < len(levels) && levels[l+1].Branchless()
		}
		if !known {
			return 0, false
		}
	}
	for l, g := range loops {
		if l == len(levels) {
			break
		}
		if a.Indices[order[l]].Plain() != g.Index {
			return l, l > 0
		}
	}
	return len(loops), true
}

// isPlain reports whether the entries of it have the coordinates of its loop.
func isPlain(it *iterator) bool { return it.stride == 1 && it.offset == nil && !it.trimmed }

// pieceGrain is how many entries a piece has.
func (e *emitter) pieceGrain() int64 {
	switch {
	case e.kernel.Grain > 0:
		return e.kernel.Grain
	case e.out != nil && e.out.ordered:
		return joinGrain
	}
	return emit.ChunkGrain
}

// cut cuts the nest of w into pieces where it merges operands at its root, and leaves
// in a loop of such a nest what is in the function's piece.
func (w *walk) cut(set ir.SetExpr, gap *gap) {
	e := w.emitter
	if e.depth == 1 && w.root.wanted && !set.IsNone() {
		dense := !e.coverable(set)
		switch {
		case !dense && len(w.coiterated) > 1 && e.single(set) == nil:
			if p := w.piecesOf(gap, false); p != nil {
				w.splitInto(p)
			}
		case e.writes(w.f):
			w.offerSplit(gap, dense)
		}
	}
	if l := e.splitAt(w.f); l >= 0 {
		if l > 0 && gap != nil {
			e.shallower(l)
			return
		}
		w.narrow(l)
	}
}

// writes reports whether the nest of f writes the result, in one place for each iteration of the loops on the way.
func (e *emitter) writes(f *ir.Forall) bool {
	list := ir.Effects(f)
	return e.out != nil || len(list) > 0 && list[0].Temp == nil
}

// offerSplit cuts a nest inside its outermost coordinates where that is asked for, and notes that it could be.
// The bits of what the nest writes do not depend on it.
func (w *walk) offerSplit(gap *gap, dense bool) {
	e := w.emitter
	if e.opts.Split || e.cuts[w.f] != nil {
		if p := w.piecesOf(gap, dense); p != nil {
			w.splitInto(p)
		}
		return
	}
	_, counted := w.pieceLoops(gap, dense)
	e.Splits = e.Splits || len(counted) > 0
}

// shallower has the program made again with pieces that begin in l loops at most.
func (k *kernel) shallower(l int) { k.deepest, k.again = min(k.deepest, l), true }

// splitInto makes the function one of the pieces of its chunk.
func (w *walk) splitInto(p *pieces.Pieces) {
	b, e := w.B, w.emitter
	e.split = &split{Pieces: p}
	for _, id := range p.Starts {
		e.split.begin = append(e.split.begin, b.Let("first", b.Load(e.Read(id), b.Lo())))
		e.split.end = append(e.split.end, b.Let("last", b.Load(e.Read(id), b.Hi())))
	}
	w.root.wanted, w.root.cut = false, true
	w.root.n, w.root.weight, w.root.grain, w.root.pieces = loop.SizeScalar(p.Count), -1, 1, p
}

// splitAt is the number of f among the loops in which pieces begin, -1 if it is none.
func (e *emitter) splitAt(f *ir.Forall) int {
	if e.split != nil {
		for l, g := range e.split.Loops {
			if f == g {
				return l
			}
		}
	}
	return -1
}

// narrow leaves in a loop what is in the piece: each of the ranges.
func (w *walk) narrow(l int) {
	e, b := w.emitter, w.B
	for _, it := range w.iters {
		if it.run != nil {
			e.closeRun(it)
		}
		if !isPlain(it) {
			e.shallower(l)
			return
		}
	}
	first, last := e.atEnds(w.st, l)
	for _, it := range w.iters {
		if before, ok := e.split.Before[it.access]; ok && l == 0 && pieces.OnlyList(it.access) && len(it.access.Tensor.Format.Physical()) >= len(e.split.Loops) {
			// Where the list is cut there need be no end of a run found. An entry of fewer coordinates may be in several pieces.
			it.begin, it.end = b.Let("begin", b.Load(e.Read(before), b.Lo())), b.Let("end", b.Load(e.Read(before), b.Hi()))
			continue
		}
		begin, end := b.Var("begin", it.begin), b.Var("end", it.end)
		b.If(first, func() { b.Assign(begin, level.LowerBound(b, it.crd, begin, end, e.split.begin[l])) }, nil)
		b.If(last, func() { b.Assign(end, level.LowerBound(b, it.crd, begin, end, e.split.stop(e, l))) }, nil)
		it.begin, it.end = b.Let("begin", begin), b.Let("end", end)
	}
}

// atEnds are the conditions that loop l is inside the coordinates where the piece begins, and ends.
func (e *emitter) atEnds(st *state, l int) (first, last loop.Expr) {
	b := e.B
	first, last = loop.Truth(true), loop.Truth(true)
	for q, g := range e.split.Loops[:l] {
		i := st.index[g.Index]
		first, last = b.And(first, b.Eq(i, e.split.begin[q])), b.And(last, b.Eq(i, e.split.end[q]))
	}
	return b.Let("at_first", first), b.Let("at_last", last)
}

// stop is the first coordinate of loop l that is not in the piece, where it is inside the
// coordinates at which that ends.
func (s *split) stop(e *emitter, l int) loop.Expr {
	if l == len(s.Loops)-1 {
		return s.end[l]
	}
	b := e.B
	n := e.Scalar(e.extent(s.Loops[l].Index))
	return b.Add(s.end[l], b.Cast(loop.I64, b.Lt(s.end[l], n)))
}

// bounds are the coordinates of a loop over a whole dimension that are in the piece.
func (w *walk) bounds(l int) (lo, hi loop.Expr) {
	e, b := w.emitter, w.B
	first, last := e.atEnds(w.st, l)
	from, to := b.Var("from", loop.Int(0)), b.Var("to", e.Scalar(e.extent(w.f.Index)))
	b.If(first, func() { b.Assign(from, e.split.begin[l]) }, nil)
	b.If(last, func() { b.Assign(to, e.split.stop(e, l)) }, nil)
	return b.Let("from", from), b.Let("to", to)
}

// mendStage emits the stage that joins entries of lists above others which two chunks made, since
// a fibre below is in both: what they have below is added up.
func (k *kernel) mendStage(p *pieces.Pieces, segments []segment, totals loop.BufferID) {
	if p == nil || len(segments) == 1 || segments[0].last > len(p.Loops)-2 {
		return
	}
	e := k.emitter("mend_" + k.step.Result.Name)
	b := e.B
	b.If(b.Gt(e.Scalar(p.Count), loop.Int(1)), func() {
		for q, s := range segments[:len(segments)-1] {
			if s.last > len(p.Loops)-2 {
				break
			}
			to, from := b.Var("to", loop.Int(0)), b.Var("from", loop.Int(0))
			below := e.Write(segments[q+1].pos)
			one := loop.Int(1)
			list := func(n loop.Expr) {
				first := b.Let("first", to)
				b.For("entry", loop.Int(0), n, func(loop.Expr) {
					same := b.Var("same", b.Gt(to, first))
					b.If(same, func() {
						for _, crd := range s.crd {
							b.Assign(same, b.And(same, b.Eq(b.Load(e.Write(crd), from), b.Load(e.Write(crd), b.Sub(to, one)))))
						}
					}, nil)
					count := b.Let("count", b.Load(below, b.Add(from, one)))
					b.If(same, func() {
						b.Store(below, to, b.Add(b.Load(below, to), count))
					}, func() {
						for _, crd := range s.crd {
							b.Store(e.Write(crd), to, b.Let("c", b.Load(e.Write(crd), from)))
						}
						b.Store(below, b.Add(to, one), count)
						b.Assign(to, b.Add(to, one))
					})
					b.Assign(from, b.Add(from, one))
				})
			}
			if q == 0 {
				list(b.Let("n", b.Load(e.Write(totals), loop.Int(0))))
			} else {
				pos := e.Write(s.pos)
				b.For("parent", one, b.Let("parents", b.Add(b.Load(e.Write(totals), loop.Int(int64(q-1))), one)), func(parent loop.Expr) {
					before := b.Let("before", to)
					list(b.Let("n", b.Cast(loop.I64, b.Load(pos, parent))))
					b.Store(pos, parent, b.Cast(k.opts.positions(), b.Sub(to, before)))
				})
			}
			b.Store(e.Write(totals), loop.Int(int64(q)), to)
		}
	}, nil)
	k.AddStage(e.Stage("mend"))
}
