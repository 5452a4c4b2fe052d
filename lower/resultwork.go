package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// resultStore is for a workspace whose entries are those of a result that may have them in any order: an entry is appended to the
// result where its key arises first, and added to there. A number for each key says where that is: entries are numbered from 1 on
// through all uses, and what is not above the number of those before a use is of an earlier one. So nothing has to be cleared (after
// Briggs, Torczon, "An efficient representation for sparse sets", ACM LOPLAS 1993).
type resultStore struct{ numbers, before loop.BufferID }

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
	r.numbers = k.Buffer(w.tensor.Name+"_numbers", loop.I64, loop.Scratch)
	r.before = k.Buffer(w.tensor.Name+"_before", loop.I64, loop.Scratch)
}

func (r *resultStore) bounded() bool { return false }

func (r *resultStore) distinct() bool { return true }

func (r *resultStore) values() loop.BufferID { panic("BUG: the values are those of the result") }

func (r *resultStore) allocs(k *kernel, w *workspace) []loop.Alloc {
	return []loop.Alloc{{Buffer: r.numbers, Len: k.keys(w), Zero: true}, {Buffer: r.before, Len: loop.SizeConst(1), Zero: true}, {Buffer: w.crd[0], Len: loop.SizeConst(1)}}
}

func (r *resultStore) open(e *emitter, w *workspace) {
	b := e.B
	e.held[w], e.appends = b.Var("n_"+w.tensor.Name, loop.Int(0)), e.out
	e.appends.before = b.Let("before", b.Load(e.Write(r.before), loop.Int(0)))
}

func (r *resultStore) insert(e *emitter, w *workspace, key, x loop.Expr) {
	b, n, out, numbers := e.B, e.held[w], e.appends, e.Write(r.numbers)
	number := b.Let("number", b.Load(numbers, key))
	known := b.Let("known", b.Gt(number, out.before))
	more := b.Add(n, b.Select(known, loop.Int(0), loop.Int(1)))
	if x == nil {
		b.Store(numbers, key, b.Add(out.before, loop.Int(1)))
		b.Assign(n, more)
		return
	}
	last := len(out.segments) - 1
	crd, vals := e.Write(out.segments[last].crd[0]), e.Write(out.values)
	entry := b.Let("entry", b.Select(known, b.Sub(b.Sub(number, out.before), loop.Int(1)), n))
	at := b.Let("at", b.Add(out.current[last], entry))
	b.Store(numbers, key, b.Add(b.Add(out.before, entry), loop.Int(1)))
	b.Store(crd, at, b.Cast(b.Elem(crd), key))
	old := b.Let("old", b.Select(known, b.Load(vals, at), w.identity()))
	b.Store(vals, at, fold.Step(b, w.work().Fold, old, x))
	b.Assign(n, more)
}

func (r *resultStore) drain(e *emitter, w *workspace, visit func(p, key loop.Expr)) loop.Expr {
	if visit != nil {
		panic("BUG: entries of a result are gathered as if they were read")
	}
	b := e.B
	n := b.Let("n", e.held[w])
	b.Store(e.Write(r.before), loop.Int(0), b.Add(e.appends.before, b.Add(n, loop.Int(1))))
	return n
}

func (r *resultStore) element(*emitter, *workspace, loop.Expr) loop.Expr {
	panic("BUG: entries of a result are read")
}

func (r *resultStore) complete() bool { return false }

func (r *resultStore) visited(*emitter, loop.Expr, loop.Expr) loop.Expr {
	panic("BUG: entries of a result are visited")
}
