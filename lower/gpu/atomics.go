package gpu

import (
	"reflect"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// atomicOps are the operators whose order does not matter and that memory applies itself.
var atomicOps = map[loop.BinaryOp]loop.AtomicOp{
	loop.Add: loop.AtomicAdd, loop.Min: loop.AtomicMin, loop.Max: loop.AtomicMax, loop.And: loop.AtomicAnd, loop.Or: loop.AtomicOr,
}

var _ = register(mapping{of: ofOneCall, place: 2, word: "atomics", take: func(m *mapper, s *loop.Stage) bool { return m.atomics(flattened(s)) }, says: map[string]string{
	"atomics": "a thread for each iteration, with atomics on integers",
}})

// atomics maps a stage of one call whose only loop folds integers into elements that
// iterations share, a[i] = a[i] + x, to threads that take its iterations in turns and
// fold by atomics: of integers the result is the same in any order. It reports whether
// that could be done.
func (m *mapper) atomics(s *loop.Stage) bool {
	l := onlyLoop(s.Func)
	if l == nil {
		return false
	}
	folded, ok := foldedStores(l)
	if !ok {
		return false
	}
	g, in := m.begin(s, "")
	g.iterations(&in, func(x *loop.For) bool { return x == l })
	b := g.Builder
	in.Store = func(st *loop.Store, n *loop.Inliner) bool {
		d := folded[st]
		b.Atomic(d.op, in.Bufs[st.Buf], n.Expr(st.Index), n.Expr(d.value))
		return true
	}
	b.Inline(s.Func, in)
	return m.launchVerified(s, "atomics", g, m.blocksForAtomics())
}

// blocksForAtomics is for more threads than take chunks: atomics wait for memory.
func (m *mapper) blocksForAtomics() loop.SizeConst {
	return loop.SizeConst(max(1, 4*m.opts.Workers/int64(m.opts.Threads)))
}

// foldedStore is a store as an atomic.
type foldedStore struct {
	op    loop.AtomicOp
	value loop.Expr
}

// foldedStores finds what the stores of a loop fold, each buffer by one operator. It is
// not ok if iterations have anything else to do with each other, or nothing is stored.
func foldedStores(l *loop.For) (map[*loop.Store]foldedStore, bool) {
	list, ops := map[*loop.Store]foldedStore{}, map[loop.BufID]loop.AtomicOp{}
	var read []loop.Expr // in which no buffer that is stored may occur
	ok := keepsVariables(l.Body)
	loop.WalkStmts(l.Body, func(s loop.Stmt) {
		st, is := s.(*loop.Store)
		if !is {
			read = append(read, loop.Exprs(s)...)
			return
		}
		d, is := foldedStoreOf(st)
		op, known := ops[st.Buf]
		if !is || known && op != d.op {
			ok = false
			return
		}
		ops[st.Buf], list[st] = d.op, d
		read = append(read, st.Index, d.value)
	})
	bufs := stored(l.Body)
	return list, ok && len(list) > 0 && !slices.ContainsFunc(read, func(e loop.Expr) bool { return readsAny(e, bufs) })
}

// foldedStoreOf takes a[i] = a[i] op x and a[i] = x op a[i].
func foldedStoreOf(s *loop.Store) (foldedStore, bool) {
	sum, ok := s.Value.(*loop.Binary)
	if !ok {
		return foldedStore{}, false
	}
	op, ok := atomicOps[sum.Op]
	if !ok {
		return foldedStore{}, false
	}
	for _, side := range [2][2]loop.Expr{{sum.X, sum.Y}, {sum.Y, sum.X}} {
		if x, is := side[0].(*loop.Load); is && x.Buf == s.Buf && reflect.DeepEqual(x.Index, s.Index) {
			return foldedStore{op, side[1]}, x.Elem.IsInt() && op.Takes(x.Elem)
		}
	}
	return foldedStore{}, false
}
