package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// This file says how finely the outermost loop of a function is cut into chunks.

// Where no array tells how much work lies under an index, each loop below is
// taken to multiply it by 2^nestedGrain.
const (
	nestedGrain = 7
	minGrain    = 4
	// An entry that a loop over another operand hangs on stands for 2^workspaceGrain.
	workspaceGrain = 4
)

// rootGrain is the work of a chunk of the loops over w; 0: what it is without saying.
func (w *walk) rootGrain() int64 {
	switch {
	case w.root.weight < 0:
		return int64(max(minGrain, emit.ChunkGrain>>(nestedGrain*ir.Depth(w.f.Body))))
	case len(w.workspaces) > 0:
		return emit.ChunkGrain >> workspaceGrain // each entry counted is the start of a loop
	}
	return 0
}

// chunkOf is the part of a root level's entries that the chunk runs: Lo to Hi,
// moved so that no run of equal coordinates is split.
func (w *walk) chunkOf(it *iterator, begin, end loop.Expr) (lo, hi loop.Expr) {
	b := w.B
	from, to := w.private.Bounds(w.Func, end, w.root.weight)
	if it.unique {
		return from, to
	}
	align := func(p loop.Expr) loop.Expr {
		q := b.Var("q", p)
		more := b.Var("more", b.And(b.Gt(q, begin), b.Lt(q, end)))
		b.While(more, func() {
			b.If(b.Eq(b.LoadIndex(it.crd, b.Sub(q, loop.Int(1))), b.LoadIndex(it.crd, q)),
				func() {
					b.Assign(q, b.Add(q, loop.Int(1)))
					b.Assign(more, b.Lt(q, end))
				},
				func() { b.Assign(more, loop.Truth(false)) })
		})
		return b.Let("cut", q)
	}
	return align(from), align(to)
}

// rowWeights finds a positions array that tells how many entries lie under each
// value of the loop's index: the cut then balances entries.
func (w *walk) rowWeights() loop.BufferID {
	used := ir.AccessesOf(w.f.Body)
	for _, a := range w.ordered(w.st) {
		if !used[a] || a.Tensor.Rank < 2 {
			continue
		}
		order := a.Tensor.Format.Order()
		if a.Indices[order[0]].Plain() == w.f.Index && a.Tensor.Format.Physical()[0].Full() {
			if buf := w.childWeights(a, 1); buf >= 0 {
				return buf
			}
		}
	}
	return -1
}

// childWeights is the positions array of the given level, if it has one.
func (w *walk) childWeights(a *ir.Access, level int) loop.BufferID {
	levels := a.Tensor.Format.Physical()
	if level < len(levels) && levels[level].Ranges() {
		return w.Input(a.Tensor, level, emit.Positions)
	}
	return -1
}

// partition registers the cut of a function's outermost loop; -1 without one.
func (k *kernel) partition(r rootLoop) int {
	if !r.cut {
		return -1
	}
	return k.Partition(r.n, r.weight, r.grain)
}

// chunks is the number of chunks of a partition, 1 without one.
func (e *emitter) chunks(part int) loop.Expr {
	if part < 0 {
		return loop.Int(1)
	}
	return e.Scalar(e.Program.Partitions[part].Chunks)
}

// parallel reports whether the outermost loop may be cut.
func (k *kernel) parallel(body ir.Stmt) bool {
	for table, ok := body.(*ir.Tabulate); ok; table, ok = body.(*ir.Tabulate) {
		body = table.Body
	}
	f, ok := body.(*ir.Forall)
	return ok && !k.step.Directives.Serial && ir.Cuttable(k.step.LHS, k.step.Result, f)
}
