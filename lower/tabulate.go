package lower

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
)

// table is where a Tabulate statement enters the entries of an operand: for each
// coordinate their place after the first, plus one, and 0 where nothing is stored.
// The memory belongs to the thread that runs the chunk; a use leaves it all zero.
type table struct {
	places loop.BufferID
	index  *ir.Index
}

// MaxTableKeys is the largest extent of a dimension that tables may be made for:
// places have 32 bits.
const MaxTableKeys = 1<<32 - 2

// tableAllocs makes the tables of a nest and returns their allocations.
func (k *kernel) tableAllocs(body ir.Stmt) []loop.Alloc {
	var list []loop.Alloc
	if !k.opts.Tables {
		return nil
	}
	ir.EachStmt(body, func(st ir.Stmt) {
		s, ok := st.(*ir.Tabulate)
		if !ok {
			return
		}
		t := &table{places: k.Buffer(fmt.Sprintf("%s_places%d", s.Access.Tensor.Name, len(k.tables)), loop.U32, loop.Scratch), index: s.Index}
		k.tables[s] = t
		list = append(list, loop.Alloc{Buffer: t.places, Len: loop.SizeScalar(k.extent(s.Index)), Zero: true})
	})
	return list
}

// addTables emits the stage that allocates tables for the threads that run the
// chunks of a partition, or for one.
func (k *kernel) addTables(allocs []loop.Alloc, part int) {
	if len(allocs) == 0 {
		return
	}
	s := loop.Stage{Name: "tables", Partition: part}
	if part < 0 {
		s.Allocs = allocs
	} else {
		s.PartitionAllocs = allocs
	}
	k.AddStage(s)
}

// lookup is a table in use.
type lookup struct {
	*table
	begin loop.Expr // position of the first entry
	some  loop.Expr // whether there is one
}

// tabulate emits a table around its body.
func (e *emitter) tabulate(st *state, s *ir.Tabulate) {
	c, known := st.cursors[s.Access]
	if t := e.tables[s]; t != nil && known && c.level == len(s.Access.Tensor.Format.Physical())-1 {
		b := e.B
		begin, end := e.children(c)
		crd, places := e.Read(e.Input(s.Access.Tensor, c.level, emit.Coordinates)), e.Write(t.places)
		b.For("p", begin, end, func(p loop.Expr) {
			b.Store(places, b.LoadIndex(crd, p), b.Cast(loop.U32, b.Add(b.Sub(p, begin), loop.Int(1))))
		})
		e.lookups[s.Access] = lookup{table: t, begin: begin, some: b.Let("some", b.Lt(begin, end))}
		e.stmt(st, s.Body)
		delete(e.lookups, s.Access)
		b.For("p", begin, end, func(p loop.Expr) { b.Store(places, b.LoadIndex(crd, p), loop.Number(loop.U32, 0)) })
		return
	}
	e.stmt(st, s.Body)
}

// lookUps splits a set: the iterators whose entries can be looked up, given
// that the loop goes through the entries of the one that is left. Without that, the
// list is empty.
func (w *walk) lookUps(set ir.SetExpr) (rest ir.SetExpr, list []*iterator) {
	if !set.IsIntersection() {
		return set, nil
	}
	var left []ir.SetExpr
	for _, f := range set.Args() {
		a, ok := f.IsAtom()
		if ok && w.atoms[a].iter != nil {
			it := w.atoms[a].iter
			if l, ok := w.lookups[it.access]; ok && l.index == w.f.Index && it.stride == 1 && it.offset == nil && it.unique {
				list = append(list, it)
				continue
			}
		}
		left = append(left, f)
	}
	if len(list) == 0 || len(left) == 0 {
		return set, nil
	}
	rest = ir.Intersect(left...)
	if it := w.single(rest); it == nil || !it.unique || !w.coverable(rest) {
		return set, nil
	}
	return rest, list
}

// found emits body where every iterator that is looked up has an entry of index i.
func (w *walk) found(i loop.Expr, list []*iterator, cursors []cursor, body func([]cursor)) {
	if len(list) == 0 {
		body(cursors)
		return
	}
	b, it := w.B, list[0]
	l := w.lookups[it.access]
	place := b.Let("place", b.LoadIndex(w.Write(l.places), i))
	b.If(b.Ne(place, loop.Int(0)), func() {
		at := b.Let("p_"+it.access.Tensor.Name, b.Add(l.begin, b.Sub(place, loop.Int(1))))
		w.found(i, list[1:], append(cursors[:len(cursors):len(cursors)], it.child(at, nil, nil)), body)
	}, nil)
}

// selects reports whether the loop of w, which folds values that are quickly made, looks entries up without a branch.
func (w *walk) selects() bool {
	leaf, ok := w.f.Body.(*ir.Assign)
	if !ok || !w.opts.Selected || len(w.tabled) != 1 || len(w.located) > 0 || w.counting || w.emitter.counting() || leaf.Temp == nil || leaf.Temp.Reduce.In != nil {
		return false
	}
	r := leaf.Temp.Reduce
	if r.Fold.Facts().Pair || fold.IsArg(r.Fold) || r.Fold == ir.FoldLogSumExp {
		return false
	}
	st := w.st.clone()
	for _, it := range w.iters {
		st.cursors[it.access] = it.child(loop.Int(0), nil, nil)
	}
	return isCheap(st, leaf.Value)
}

// selectStep folds the value at index i, unless what is looked up has no entry there. Its table has a place for every index, and an entry: see walkOne.
func (w *walk) selectStep(i loop.Expr, cursors []cursor) {
	b, it, leaf := w.B, w.tabled[0], w.f.Body.(*ir.Assign)
	l, acc := w.lookups[it.access], w.accs[leaf.Temp]
	place := b.Let("place", b.LoadIndex(w.Write(l.places), i))
	has := b.Let("has", b.Ne(place, loop.Int(0)))
	at := b.Let("p_"+it.access.Tensor.Name, b.Add(l.begin, b.Sub(b.Max(place, loop.Int(1)), loop.Int(1))))
	x := w.expr(w.at(i, append(cursors, it.child(at, nil, nil))), leaf.Value)
	r, state := acc.Reduce, acc.Vars[0]
	if r.Fold == ir.FoldSum {
		// No sum that begins with 0 is -0: to add 0 leaves it as it is.
		b.Assign(state, fold.Step(b, r.Fold, state, b.Select(has, x, emit.Constant(r.Fold.Identity(r.Typ)))))
	} else {
		b.Assign(state, b.Select(has, fold.Step(b, r.Fold, state, x), state))
	}
	if s := acc.Blocks; s != nil && s.Each {
		b.Assign(s.Terms, b.Add(s.Terms, b.Select(has, loop.Int(1), loop.Int(0))))
		acc.CloseFull()
	}
	b.Assign(acc.Seen, b.Or(acc.Seen, has))
}
