package gpu

import (
	"reflect"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// atomicOps are the operators whose order does not matter and that memory applies itself.
var atomicOps = map[loop.BinaryOp]loop.AtomicOp{
	loop.Add: loop.AtomicAdd, loop.Min: loop.AtomicMin, loop.Max: loop.AtomicMax, loop.And: loop.AtomicAnd, loop.Or: loop.AtomicOr,
}

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
	g := m.newFunc(s.Func.Name)
	in := g.parameters(s)
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

// onlyLoop is the loop at the top of a function outside of which it only declares, nil
// if it is not so.
func onlyLoop(f *loop.Func) *loop.For {
	var only *loop.For
	for _, s := range f.Body {
		switch s := s.(type) {
		case *loop.Let, *loop.Comment:
		case *loop.For:
			if only != nil {
				return nil
			}
			only = s
		default:
			return nil
		}
	}
	return only
}

// foldedStore is a store as an atomic.
type foldedStore struct {
	op    loop.AtomicOp
	value loop.Expr
}

// foldedStores finds what the stores of a loop fold, each buffer by one operator. It is
// not ok if iterations have anything else to do with each other, or nothing is stored.
func foldedStores(l *loop.For) (map[*loop.Store]foldedStore, bool) {
	list := map[*loop.Store]foldedStore{}
	ops := map[loop.BufID]loop.AtomicOp{}
	inside := map[loop.VarID]bool{}
	var read []loop.Expr // in which no buffer that is stored may occur
	ok := true
	loop.WalkStmts(l.Body, func(s loop.Stmt) {
		switch s := s.(type) {
		case *loop.Let:
			inside[s.Var] = true
		case *loop.Assign:
			ok = ok && inside[s.Var]
		case *loop.Store:
			d, is := foldedStoreOf(s)
			if op, known := ops[s.Buf]; !is || known && op != d.op {
				ok = false
				return
			}
			ops[s.Buf], list[s] = d.op, d
			read = append(read, s.Index, d.value)
			return
		}
		read = append(read, loop.Exprs(s)...)
	})
	for _, e := range read {
		loop.WalkExpr(e, func(e loop.Expr) {
			if x, is := e.(*loop.Load); is {
				_, stored := ops[x.Buf]
				ok = ok && !stored
			}
		})
	}
	return list, ok && len(list) > 0
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
