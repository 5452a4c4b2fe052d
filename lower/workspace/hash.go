package workspace

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// NewHash is a store that is a hash table: for workspaces with more keys than memory should have places for.
func NewHash(s *Space) Store { return &hash{Space: s} }

// hash is a hash table with linear probing, for workspaces with more keys
// than memory should have places for. The slots in use are listed, so that only
// they are cleared, and sorted by their keys at the end of a use.
type hash struct {
	*Space
	table loop.BufferID // key + 1 of each slot, 0 for an empty one
	pairs pairs         // keys and slots of the entries
}

func (h *hash) Prepare(b *emit.Builder) {
	h.table = b.Buffer(h.Tensor.Name+"_table", loop.I64, loop.Scratch)
	h.Values = b.Buffer(h.Tensor.Name+"_vals", h.ValueType(), loop.Scratch)
	h.pairs = newPairs(b, h.Tensor.Name)
}

func (*hash) Facts() Facts { return Facts{Bounded: true, Distinct: true, Complete: true} }

func (h *hash) Allocs() []loop.Alloc {
	n := loop.SizeScalar(h.Capacity)
	list := []loop.Alloc{{Buffer: h.table, Len: n, Zero: true}, {Buffer: h.Values, Len: n}}
	for _, id := range append(h.pairs.buffers(), h.Crd...) {
		list = append(list, loop.Alloc{Buffer: id, Len: &loop.SizeOp{Op: loop.Div, X: n, Y: loop.SizeConst(2)}})
	}
	return list
}

// HashFactor is 2^64 divided by the golden ratio (Knuth, "The Art of Computer
// Programming", volume 3, section 6.4): the highest bits of a product with it
// spread neighbouring keys.
const HashFactor = -0x61c8864680b583eb

func (h *hash) Insert(u *Use, key, x loop.Expr) {
	b, table, n := u.B, u.Write(h.table), u.held
	mark := b.Let("mark", b.Add(key, loop.Int(1)))
	last := b.Let("last", b.Sub(u.Scalar(h.Capacity), loop.Int(1)))
	spread := b.Mul(b.Cast(loop.U64, key), loop.Number(loop.U64, HashFactor))
	at := b.Var("slot", b.Cast(loop.I64, loop.NewBinary(loop.Shr, spread, b.Cast(loop.U64, u.Scalar(h.Shift)))))
	found := b.Var("found", b.Load(table, at))
	b.While(b.And(b.Ne(found, loop.Int(0)), b.Ne(found, mark)), func() {
		b.Assign(at, b.And(b.Add(at, loop.Int(1)), last))
		b.Assign(found, b.Load(table, at))
	})
	b.If(b.Eq(found, loop.Int(0)), func() {
		b.Store(table, at, mark)
		b.Store(u.Write(h.pairs.items), n, at)
		b.Assign(n, b.Add(n, loop.Int(1)))
		if x != nil {
			b.Store(u.Write(h.Values), at, h.Identity())
		}
	}, nil)
	if x != nil {
		vals := u.Write(h.Values)
		b.Store(vals, at, fold.Step(u.B, h.Fold(), b.Load(vals, at), x))
	}
}

func (h *hash) Drain(u *Use, visit func(p, key loop.Expr)) loop.Expr {
	b, n := u.B, u.held
	table, items := u.Write(h.table), u.Write(h.pairs.items)
	b.For("p", loop.Int(0), n, func(p loop.Expr) {
		slot := b.Let("slot", b.Load(items, p))
		if visit != nil {
			b.Store(u.Write(h.pairs.keys), p, b.Sub(b.Load(table, slot), loop.Int(1)))
		}
		b.Store(table, slot, loop.Int(0))
	})
	if visit != nil {
		if !h.AnyOrder {
			h.pairs.sort(u.Func, n)
		}
		b.For("p", loop.Int(0), n, func(p loop.Expr) {
			visit(p, b.Let("key", b.Load(u.Read(h.pairs.keys), p)))
		})
	}
	return b.Let("n", n)
}

func (h *hash) Element(f *emit.Func, p loop.Expr) loop.Expr {
	return f.B.Load(f.Read(h.pairs.items), p)
}

func (h *hash) Visited(f *emit.Func, p, _ loop.Expr) loop.Expr { return h.Element(f, p) }
