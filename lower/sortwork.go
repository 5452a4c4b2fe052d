package lower

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/prim"
)

// sortStore is a list of all insertions, sorted by key and combined at the end of
// a use: for a few insertions among very many keys.
type sortStore struct {
	pairs    pairs         // keys and numbers of the insertions
	inserted loop.BufferID // values by number of insertion
	vals     loop.BufferID // combined
}

func (s *sortStore) prepare(k *kernel, w *workspace) {
	s.inserted = k.Buffer(w.tensor.Name+"_inserted", w.valueType(), loop.Scratch)
	s.vals = k.Buffer(w.tensor.Name+"_vals", w.valueType(), loop.Scratch)
	s.pairs = k.newPairs(w.tensor.Name)
}

func (s *sortStore) bounded() bool { return true }

func (s *sortStore) distinct() bool { return false }

func (s *sortStore) values() loop.BufferID { return s.vals }

func (s *sortStore) allocs(k *kernel, w *workspace) []loop.Alloc {
	var list []loop.Alloc
	for _, id := range append(append(s.pairs.buffers(), s.inserted, s.vals), w.crd...) {
		list = append(list, loop.Alloc{Buffer: id, Len: loop.SizeScalar(w.capacity)})
	}
	return list
}

func (s *sortStore) open(e *emitter, w *workspace) {
	e.held[w] = e.B.Var("n_"+w.tensor.Name, loop.Int(0))
}

func (s *sortStore) insert(e *emitter, w *workspace, key, x loop.Expr) {
	b, n := e.B, e.held[w]
	b.Store(e.Write(s.pairs.keys), n, key)
	b.Store(e.Write(s.pairs.items), n, n)
	if x != nil {
		b.Store(e.Write(s.inserted), n, x)
	}
	b.Assign(n, b.Add(n, loop.Int(1)))
}

func (s *sortStore) drain(e *emitter, w *workspace, visit func(p, key loop.Expr)) loop.Expr {
	b := e.B
	e.sort(s.pairs, e.held[w])
	n, last := b.Var("distinct", loop.Int(0)), b.Var("last", loop.Int(-1))
	b.For("p", loop.Int(0), e.held[w], func(p loop.Expr) {
		key := b.Let("key", b.Load(e.Read(s.pairs.keys), p))
		b.If(b.Ne(key, last), func() {
			b.Assign(last, key)
			if visit != nil {
				visit(n, key)
			}
			if !e.counting() {
				b.Store(e.Write(s.vals), n, w.identity())
			}
			b.Assign(n, b.Add(n, loop.Int(1)))
		}, nil)
		if !e.counting() {
			vals, at := e.Write(s.vals), b.Let("at", b.Sub(n, loop.Int(1)))
			x := b.Load(e.Read(s.inserted), b.Load(e.Read(s.pairs.items), p))
			b.Store(vals, at, fold.Step(e.B, w.work().Fold, b.Load(vals, at), x))
		}
	})
	return b.Let("n", n)
}

func (s *sortStore) element(_ *emitter, _ *workspace, p loop.Expr) loop.Expr { return p }

func (s *sortStore) complete() bool { return false }

func (s *sortStore) visited(*emitter, loop.Expr, loop.Expr) loop.Expr {
	panic("BUG: a sorted list combines values after it has been drained")
}

// pairs is a list of keys with an item each, and room to sort it.
type pairs struct{ keys, items, keys2, items2 loop.BufferID }

func (k *kernel) newPairs(name string) pairs {
	list := func(suffix string) loop.BufferID { return k.Buffer(name+suffix, loop.I64, loop.Scratch) }
	return pairs{list("_keys"), list("_items"), list("_keys2"), list("_items2")}
}

func (p pairs) buffers() []loop.BufferID {
	return []loop.BufferID{p.keys, p.items, p.keys2, p.items2}
}

// sort sorts the first n pairs by key, unless they are sorted.
func (e *emitter) sort(p pairs, n loop.Expr) {
	b := e.B
	keys := e.Write(p.keys)
	sorted := b.Var("sorted", loop.Truth(true))
	b.For("p", loop.Int(1), n, func(i loop.Expr) {
		b.If(b.Gt(b.Load(keys, b.Sub(i, loop.Int(1))), b.Load(keys, i)), func() { b.Assign(sorted, loop.Truth(false)) }, nil)
	})
	sorter := prim.MergeSorter{Keys: [2]loop.BufferID{p.keys, p.keys2}, Carried: [2]loop.BufferID{p.items, p.items2}, Before: (*loop.Builder).Lt}
	b.If(b.Not(sorted), func() { sorter.Sort(e.Func, loop.Int(0), n) }, nil)
}
