package lower

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// maskedStore is a workspace of which only the entries of a mask are wanted. It
// has an element and a mark for each key. A use begins by marking the mask's
// entries as wanted and ends in the mask's order: a loop over the mask looks each entry up,
// or those that got a value are collected. The rest of the marks is never looked at, except to see that a value is
// not wanted (Milaković, Selvitopi, Nisa, Budimlić, Buluç, "Parallel algorithms for
// masked sparse matrix-matrix products", ICPP 2022).
type maskedStore struct {
	marks, vals loop.BufferID
}

// The marks of a key.
const (
	unwanted = iota
	wanted
	present
)

func (m *maskedStore) prepare(k *kernel, w *workspace) {
	m.marks = k.Buffer(w.tensor.Name+"_marks", loop.U8, loop.Scratch)
	m.vals = k.Buffer(w.tensor.Name+"_vals", w.valueType(), loop.Scratch)
}

func (m *maskedStore) bounded() bool { return false }

func (m *maskedStore) distinct() bool { return true }

func (m *maskedStore) values() loop.BufferID { return m.vals }

func (m *maskedStore) allocs(k *kernel, w *workspace) []loop.Alloc {
	n := k.keys(w)
	return []loop.Alloc{{Buffer: m.marks, Len: n, Zero: true}, {Buffer: m.vals, Len: n}, {Buffer: w.crd[0], Len: n}}
}

func mark(n int64) loop.Expr { return loop.Number(loop.U8, n) }

func (m *maskedStore) open(e *emitter, w *workspace) {
	b, marks := e.B, e.Write(m.marks)
	b.For("p", w.mask.begin, w.mask.end, func(p loop.Expr) {
		b.Store(marks, w.mask.index(b, p), mark(wanted))
	})
}

func (m *maskedStore) insert(e *emitter, w *workspace, key, x loop.Expr) {
	b, marks := e.B, e.Write(m.marks)
	is := b.Let("mark", b.Load(marks, key))
	b.If(b.Ne(is, mark(unwanted)), func() {
		if x != nil {
			vals := e.Write(m.vals)
			old := b.Let("old", b.Select(b.Eq(is, mark(present)), b.Load(vals, key), w.identity()))
			b.Store(vals, key, fold.Step(e.B, w.work().Fold, old, x))
		}
		b.Store(marks, key, mark(present))
	}, nil)
}

func (m *maskedStore) drain(e *emitter, w *workspace, visit func(p, key loop.Expr)) loop.Expr {
	b, marks := e.B, e.Write(m.marks)
	n := b.Var("n_"+w.tensor.Name, loop.Int(0))
	b.For("p", w.mask.begin, w.mask.end, func(p loop.Expr) {
		key := b.Let("key", w.mask.index(b, p))
		b.If(b.Eq(b.Load(marks, key), mark(present)), func() {
			if visit != nil {
				visit(n, key)
			}
			b.Assign(n, b.Add(n, loop.Int(1)))
		}, nil)
		b.Store(marks, key, mark(unwanted))
	})
	return b.Let("n", n)
}

// meets reports whether the consumer is one loop over the keys, which may meet the mask's entries in their order.
func (m *maskedStore) meets(w *workspace, s *ir.Workspace) bool {
	f, ok := s.Consumer.(*ir.Forall)
	if !ok || len(w.vars) != 1 || w.vars[0] != f.Index {
		return false
	}
	_, leaf := f.Body.(*ir.Assign)
	return leaf
}

// meet decides, where a loop reads a masked workspace that is still open, how it does. A loop over the mask's entries, all of them and
// nothing else, looks each up by its key and leaves its mark as it was found; for other loops the workspace is drained.
func (w *walk) meet(set ir.SetExpr) {
	for _, it := range w.iters {
		if it.access.Tensor.Work == nil || it.level != 0 {
			continue
		}
		of := w.workspaceOf(it.access.Tensor)
		if !of.open {
			continue
		}
		of.open = false
		alone := w.single(set)
		if _, atom := set.IsAtom(); atom && alone != nil && alone.access == of.mask.access && alone.stride == 1 && alone.unique && !alone.trimmed && w.splitAt(w.f) < 0 &&
			slices.Contains(w.located, it) && it.stride == 1 && it.offset == nil && !it.trimmed {
			it.keyed = true
			continue
		}
		w.drained(of)
		it.end = w.entries[of]
	}
}

// keyedCursor is the cursor of an open workspace at the key i of the mask, which is not wanted any more.
func (w *walk) keyedCursor(it *iterator, i loop.Expr) cursor {
	b, m := w.B, w.workspaceOf(it.access.Tensor).store.(*maskedStore)
	marks := w.Write(m.marks)
	has := b.Let("has_"+it.access.Tensor.Name, b.Eq(b.Load(marks, i), mark(present)))
	b.Store(marks, i, mark(unwanted))
	c := it.child(i, nil, has)
	c.keyed = true
	return c
}

func (m *maskedStore) element(e *emitter, w *workspace, p loop.Expr) loop.Expr {
	return e.B.LoadIndex(e.Read(w.crd[0]), p)
}

func (m *maskedStore) complete() bool { return true }

func (m *maskedStore) visited(_ *emitter, _, key loop.Expr) loop.Expr { return key }
