package workspace

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/prim"
)

// NewSorted is a store that is a list of insertions.
func NewSorted(s *Space) Store { return &sorted{Space: s} }

// sorted is a list of all insertions, sorted by key and combined at the end of
// a use: for a few insertions among very many keys.
type sorted struct {
	*Space
	pairs    pairs         // keys and numbers of the insertions
	inserted loop.BufferID // values by number of insertion
}

func (s *sorted) Prepare(b *emit.Builder) {
	s.inserted = b.Buffer(s.Tensor.Name+"_inserted", s.ValueType(), loop.Scratch)
	s.Values = b.Buffer(s.Tensor.Name+"_vals", s.ValueType(), loop.Scratch)
	s.pairs = newPairs(b, s.Tensor.Name)
}

func (*sorted) Facts() Facts { return Facts{Bounded: true} }

func (s *sorted) Allocs() []loop.Alloc {
	var list []loop.Alloc
	for _, id := range append(append(s.pairs.buffers(), s.inserted, s.Values), s.Crd...) {
		list = append(list, loop.Alloc{Buffer: id, Len: loop.SizeScalar(s.Capacity)})
	}
	return list
}

func (s *sorted) Insert(u *Use, key, x loop.Expr) {
	b, n := u.B, u.held
	b.Store(u.Write(s.pairs.keys), n, key)
	b.Store(u.Write(s.pairs.items), n, n)
	if x != nil {
		b.Store(u.Write(s.inserted), n, x)
	}
	b.Assign(n, b.Add(n, loop.Int(1)))
}

func (s *sorted) Drain(u *Use, visit func(p, key loop.Expr)) loop.Expr {
	b := u.B
	s.pairs.sort(u.Func, u.held)
	n, last := b.Var("distinct", loop.Int(0)), b.Var("last", loop.Int(-1))
	b.For("p", loop.Int(0), u.held, func(p loop.Expr) {
		key := b.Let("key", b.Load(u.Read(s.pairs.keys), p))
		b.If(b.Ne(key, last), func() {
			b.Assign(last, key)
			if visit != nil {
				visit(n, key)
			}
			if !u.Counting {
				b.Store(u.Write(s.Values), n, s.Identity())
			}
			b.Assign(n, b.Add(n, loop.Int(1)))
		}, nil)
		if !u.Counting {
			vals, at := u.Write(s.Values), b.Let("at", b.Sub(n, loop.Int(1)))
			x := b.Load(u.Read(s.inserted), b.Load(u.Read(s.pairs.items), p))
			b.Store(vals, at, fold.Step(u.B, s.Fold(), b.Load(vals, at), x))
		}
	})
	return b.Let("n", n)
}

func (s *sorted) Element(_ *emit.Func, p loop.Expr) loop.Expr { return p }

func (s *sorted) Visited(*emit.Func, loop.Expr, loop.Expr) loop.Expr {
	panic("BUG: a sorted list combines values after it has been drained")
}

// pairs is a list of keys with an item each, and room to sort it.
type pairs struct{ keys, items, keys2, items2 loop.BufferID }

func newPairs(b *emit.Builder, name string) pairs {
	list := func(suffix string) loop.BufferID { return b.Buffer(name+suffix, loop.I64, loop.Scratch) }
	return pairs{list("_keys"), list("_items"), list("_keys2"), list("_items2")}
}

func (p pairs) buffers() []loop.BufferID {
	return []loop.BufferID{p.keys, p.items, p.keys2, p.items2}
}

// sort sorts the first n pairs by key, unless they are sorted.
func (p pairs) sort(f *emit.Func, n loop.Expr) {
	b := f.B
	keys := f.Write(p.keys)
	inOrder := b.Var("sorted", loop.Truth(true))
	b.For("p", loop.Int(1), n, func(i loop.Expr) {
		b.If(b.Gt(b.Load(keys, b.Sub(i, loop.Int(1))), b.Load(keys, i)), func() { b.Assign(inOrder, loop.Truth(false)) }, nil)
	})
	sorter := prim.MergeSorter{Keys: [2]loop.BufferID{p.keys, p.keys2}, Carried: [2]loop.BufferID{p.items, p.items2}, Before: (*loop.Builder).Lt}
	b.If(b.Not(inOrder), func() { sorter.Sort(f, loop.Int(0), n) }, nil)
}
