package lower

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// hashStore is a hash table with linear probing, for workspaces with more keys
// than memory should have places for. The slots in use are listed, so that only
// they are cleared, and sorted by their keys at the end of a use.
type hashStore struct {
	table loop.BufferID // key + 1 of each slot, 0 for an empty one
	vals  loop.BufferID // by slot
	pairs pairs         // keys and slots of the entries
}

func (h *hashStore) prepare(k *kernel, w *workspace) {
	h.table = k.Buffer(w.tensor.Name+"_table", loop.I64, loop.Scratch)
	h.vals = k.Buffer(w.tensor.Name+"_vals", w.valueType(), loop.Scratch)
	h.pairs = k.newPairs(w.tensor.Name)
}

func (h *hashStore) bounded() bool { return true }

func (h *hashStore) distinct() bool { return true }

func (h *hashStore) values() loop.BufferID { return h.vals }

func (h *hashStore) allocs(k *kernel, w *workspace) []loop.Alloc {
	n := loop.SizeScalar(w.capacity)
	list := []loop.Alloc{{Buffer: h.table, Len: n, Zero: true}, {Buffer: h.vals, Len: n}}
	for _, id := range append(h.pairs.buffers(), w.crd...) {
		list = append(list, loop.Alloc{Buffer: id, Len: &loop.SizeOp{Op: loop.Div, X: n, Y: loop.SizeConst(2)}})
	}
	return list
}

func (h *hashStore) open(e *emitter, w *workspace) {
	e.held[w] = e.B.Var("n_"+w.tensor.Name, loop.Int(0))
}

// hashFactor is 2^64 divided by the golden ratio (Knuth, "The Art of Computer
// Programming", volume 3, section 6.4): the highest bits of a product with it
// spread neighbouring keys.
const hashFactor = -0x61c8864680b583eb

func (h *hashStore) insert(e *emitter, w *workspace, key, x loop.Expr) {
	b, table, n := e.B, e.Write(h.table), e.held[w]
	mark := b.Let("mark", b.Add(key, loop.Int(1)))
	last := b.Let("last", b.Sub(e.Scalar(w.capacity), loop.Int(1)))
	spread := b.Mul(b.Cast(loop.U64, key), loop.Number(loop.U64, hashFactor))
	at := b.Var("slot", b.Cast(loop.I64, loop.NewBinary(loop.Shr, spread, b.Cast(loop.U64, e.Scalar(w.shift)))))
	found := b.Var("found", b.Load(table, at))
	b.While(b.And(b.Ne(found, loop.Int(0)), b.Ne(found, mark)), func() {
		b.Assign(at, b.And(b.Add(at, loop.Int(1)), last))
		b.Assign(found, b.Load(table, at))
	})
	b.If(b.Eq(found, loop.Int(0)), func() {
		b.Store(table, at, mark)
		b.Store(e.Write(h.pairs.items), n, at)
		b.Assign(n, b.Add(n, loop.Int(1)))
		if x != nil {
			b.Store(e.Write(h.vals), at, w.identity())
		}
	}, nil)
	if x != nil {
		vals := e.Write(h.vals)
		b.Store(vals, at, fold.Step(e.B, w.work().Fold, b.Load(vals, at), x))
	}
}

func (h *hashStore) drain(e *emitter, w *workspace, visit func(p, key loop.Expr)) loop.Expr {
	b, n := e.B, e.held[w]
	table, items := e.Write(h.table), e.Write(h.pairs.items)
	b.For("p", loop.Int(0), n, func(p loop.Expr) {
		slot := b.Let("slot", b.Load(items, p))
		if visit != nil {
			b.Store(e.Write(h.pairs.keys), p, b.Sub(b.Load(table, slot), loop.Int(1)))
		}
		b.Store(table, slot, loop.Int(0))
	})
	if visit != nil {
		if !w.anyOrder {
			e.sort(h.pairs, n)
		}
		b.For("p", loop.Int(0), n, func(p loop.Expr) {
			visit(p, b.Let("key", b.Load(e.Read(h.pairs.keys), p)))
		})
	}
	return b.Let("n", n)
}

func (h *hashStore) element(e *emitter, _ *workspace, p loop.Expr) loop.Expr {
	return e.B.Load(e.Read(h.pairs.items), p)
}

func (h *hashStore) complete() bool { return true }

func (h *hashStore) visited(e *emitter, p, _ loop.Expr) loop.Expr { return h.element(e, nil, p) }
