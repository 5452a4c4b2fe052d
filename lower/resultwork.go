package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// resultStore is for a workspace whose entries are those of a result that may have them in any order: an entry is appended to the
// result where its key arises first, and added to there. For each key there is the number of its entry in this use, from 1 on, or 0:
// a sparse set (Briggs, Torczon, "An efficient representation for sparse sets", ACM LOPLAS 1993) that is cleared by its entries.
type resultStore struct{ numbers loop.BufferID }

// inAnyOrder reports whether the entries of a workspace are those of the result, which may have them in any order.
func (k *kernel) inAnyOrder(s *ir.Workspace) bool {
	t := k.step.Result
	if k.opts.Grids || !t.Relaxed.Relaxed() || s.Mask != nil || !k.handsOn(s) {
		return false
	}
	last := t.Relaxed.Physical()[t.Rank-1]
	return last.Ranges() && !last.Ordered && t.DType == s.Tensor.DType && emit.Type(t.DType) == emit.ComputeType(t.DType)
}

func (r *resultStore) prepare(k *kernel, w *workspace) {
	r.numbers = k.Buffer(w.tensor.Name+"_numbers", k.opts.Coordinates, loop.Scratch)
}

func (r *resultStore) bounded() bool { return false }

func (r *resultStore) distinct() bool { return true }

func (r *resultStore) values() loop.BufferID { panic("BUG: the values are those of the result") }

func (r *resultStore) allocs(k *kernel, w *workspace) []loop.Alloc {
	n := k.keys(w)
	return []loop.Alloc{{Buffer: r.numbers, Len: n, Zero: true}, {Buffer: w.crd[0], Len: n}}
}

func (r *resultStore) open(e *emitter, w *workspace) {
	e.held[w], e.appends = e.B.Var("n_"+w.tensor.Name, loop.Int(0)), e.out
}

// list is where keys are listed, from which place on: in a function that counts, memory of the thread.
func (r *resultStore) list(e *emitter, w *workspace) (crd loop.BufID, start loop.Expr) {
	if e.counting() {
		return e.Write(w.crd[0]), loop.Int(0)
	}
	last := len(e.appends.segments) - 1
	return e.Write(e.appends.segments[last].crd[0]), e.appends.current[last]
}

func (r *resultStore) insert(e *emitter, w *workspace, key, x loop.Expr) {
	b, n, numbers := e.B, e.held[w], e.Write(r.numbers)
	crd, start := r.list(e, w)
	number := b.Let("number", b.LoadIndex(numbers, key))
	known := b.Let("known", b.Ne(number, loop.Int(0)))
	entry := b.Let("entry", b.Select(known, b.Sub(number, loop.Int(1)), n))
	at := b.Let("at", b.Add(start, entry))
	b.Store(numbers, key, b.Cast(b.Elem(numbers), b.Add(entry, loop.Int(1))))
	b.Store(crd, at, b.Cast(b.Elem(crd), key))
	if x != nil {
		vals := e.Write(e.appends.values)
		old := b.Let("old", b.Select(known, b.Load(vals, at), w.identity()))
		b.Store(vals, at, fold.Step(b, w.work().Fold, old, x))
	}
	b.Assign(n, b.Add(n, b.Select(known, loop.Int(0), loop.Int(1))))
}

func (r *resultStore) drain(e *emitter, w *workspace, visit func(p, key loop.Expr)) loop.Expr {
	if visit != nil {
		panic("BUG: entries of a result are gathered as if they were read")
	}
	b, n, numbers := e.B, e.held[w], e.Write(r.numbers)
	crd, start := r.list(e, w)
	b.For("p", start, b.Add(start, n), func(p loop.Expr) {
		b.Store(numbers, b.LoadIndex(crd, p), loop.Number(b.Elem(numbers), 0))
	})
	return b.Let("n", n)
}

func (r *resultStore) element(*emitter, *workspace, loop.Expr) loop.Expr {
	panic("BUG: entries of a result are read")
}

func (r *resultStore) complete() bool { return false }

func (r *resultStore) visited(*emitter, loop.Expr, loop.Expr) loop.Expr {
	panic("BUG: entries of a result are visited")
}
