package lower

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/level"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
)

// A fold over all elements of one tensor, of a value in which no coordinate occurs but that of the last
// level, by which dense tensors are read, does
// not need the others: it is a loop over the positions of the last level. The threads
// of grids share that loop evenly, however long rows are, and read neighbouring elements. On processors nothing waits for the end
// of a row: sums of real numbers run in lanes from the first to the last entry.

// flattened is the access whose positions a fold outside all loops may go through in
// place of its loops, and the leaf of these.
func (e *emitter) flattened(w *ir.Where) (*ir.Access, *ir.Assign) {
	r := w.Temp.Reduce
	if e.counting() || r.In != nil || fold.IsArg(r.Fold) {
		return nil, nil
	}
	var loops []*ir.Index
	body := w.Producer
	for f, ok := body.(*ir.Forall); ok; f, ok = body.(*ir.Forall) {
		loops, body = append(loops, f.Index), f.Body
	}
	leaf, ok := body.(*ir.Assign)
	if !ok || len(loops) == 0 {
		return nil, nil
	}
	a := onlyWalked(e.accessesIn(w.Producer))
	if a == nil {
		return nil, nil
	}
	if !e.opts.Grids && (len(loops) < 2 || !e.inFlatLanes(a, leaf)) {
		return nil, nil
	}
	levels := a.Tensor.Format.Physical()
	if a.Tensor.Work != nil || len(levels) != len(loops) || len(a.Indices) != len(loops) || !levels[len(levels)-1].Unique {
		return nil, nil
	}
	for i, x := range a.Indices {
		v := x.Plain()
		again := slices.ContainsFunc(a.Indices[:i], func(y ir.IndexExpr) bool { return y.Plain() == v })
		if v == nil || x.Padded() || again || !slices.Contains(loops, v) {
			return nil, nil
		}
	}
	simple := true
	ir.Walk(leaf.Value, func(x ir.Expr) {
		switch x.(type) {
		case *ir.IndexValue, *ir.TempRef:
			simple = false
		}
	})
	if !simple {
		return nil, nil
	}
	if !a.Tensor.Format.IsDense() {
		if !r.Fold.IsNeutral(e.alg.Of(leaf.Value, gapLeaves{e}).Background) {
			return nil, nil
		}
	}
	return a, leaf
}

// inFlatLanes reports whether a processor goes through the positions of an operand in place of several loops: for sums, minima and maxima of real
// numbers that lanes can fold, in loops of which no schedule says anything.
func (e *emitter) inFlatLanes(a *ir.Access, leaf *ir.Assign) bool {
	r, d := leaf.Temp.Reduce, &e.step.Directives
	if d.Serial || len(d.Unroll)+len(d.Vectorize)+len(d.Split)+len(d.Tile) > 0 || !emit.ComputeType(r.Typ).IsFloat() {
		return false
	}
	st := &state{cursors: map[*ir.Access]cursor{}}
	for _, x := range e.accessesIn(leaf) {
		st.cursors[x] = cursor{access: x}
	}
	st.cursors[a] = cursor{access: a, level: len(a.Tensor.Format.Physical())}
	switch r.Fold {
	case ir.FoldSum, ir.FoldMin, ir.FoldMax:
		return !(e.asked[leaf.Temp] && chooses(leaf.Value)) && isCheap(st, leaf.Value)
	}
	return false
}

// onlyWalked is the one access that a fold goes through: the only one, or the only one that is not dense, where the dense ones are read by the coordinate
// of its last level alone. It is nil if there is none.
func onlyWalked(reads []*ir.Access) *ir.Access {
	if len(reads) == 1 {
		return reads[0]
	}
	var a *ir.Access
	for _, r := range reads {
		switch {
		case r.Tensor.Work != nil:
			return nil
		case r.Tensor.Format.IsDense():
		case a != nil || !r.Tensor.Format.Physical()[r.Tensor.Rank-1].Walked():
			return nil
		default:
			a = r
		}
	}
	if a == nil {
		return nil
	}
	last := a.Indices[a.Tensor.Format.Order()[a.Tensor.Rank-1]].Plain()
	for _, r := range reads {
		for _, x := range r.Indices {
			if r != a && (last == nil || x.Plain() != last || x.Padded()) {
				return nil
			}
		}
	}
	return a
}

// positions emits a fold as a loop over the positions of an access.
func (e *emitter) positions(st *state, a *ir.Access, leaf *ir.Assign) {
	n := level.Count(e, a.Tensor, 0, a.Tensor.Rank, loop.SizeConst(1))
	e.root = rootLoop{cut: true, n: n, weight: -1}
	last := len(a.Tensor.Format.Physical()) - 1
	column := a.Indices[a.Tensor.Format.Order()[last]].Plain()
	several := len(e.accessesIn(leaf)) > 1
	e.noteAll(a)
	at := func(p loop.Expr) *state {
		inner := st.clone()
		inner.cursors[a] = cursor{access: a, level: last + 1, pos: p, exact: true}
		if several {
			inner.index[column] = e.B.Let("i", e.B.LoadIndex(e.Read(e.Input(a.Tensor, last, emit.Coordinates)), p))
			e.advance(inner)
		}
		return inner
	}
	visit := func(p loop.Expr) { e.stmt(at(p), leaf) }
	if e.opts.Grids {
		e.B.For("p", e.B.Lo(), e.B.Hi(), visit)
		return
	}
	defer e.B.At(emit.Origin(column.Pos))()
	b, acc := e.B, e.accs[leaf.Temp]
	w := &walk{emitter: e, st: st, f: &ir.Forall{Index: column, Body: leaf}}
	l := laneLoop{name: "p", lo: b.Lo(), hi: b.Hi(), visit: visit, at: func(first loop.Expr) func(t int64) *state {
		return func(t int64) *state { return at(b.Add(first, loop.Int(t))) }
	}}
	rest, length := b.Var("rest", l.lo), b.Let("length", b.Sub(l.hi, l.lo))
	b.If(b.Ge(length, loop.Int(laneCount)), func() {
		w.wholeEights(acc, l, length, rest, func() {
			if e.asked[leaf.Temp] {
				e.see(at(l.lo), leaf)
			} else {
				b.Assign(acc.Seen, scalar.Always)
			}
		})
	}, nil)
	b.For(l.name, b.Let("rest", rest), l.hi, visit)
}

// noteAll records that one loop goes through all that an operand stores.
func (e *emitter) noteAll(a *ir.Access) {
	var names []string
	for _, axis := range a.Tensor.Format.Order() {
		names = append(names, a.Indices[axis].Plain().Name)
	}
	e.kernel.Notes = append(e.kernel.Notes, fmt.Sprintf("%s: %s, by all entries in one loop", strings.Join(names, ", "), a.Tensor.Name))
}

// flattenedPairs is flattened for a fold of more loops, of which the outer two go through the entries of one matrix and the inner ones through entries
// of others: a thread takes entries of the matrix one by one, and finds the row of each by search. What is returned besides the matrix is the nest inside the two.
func (e *emitter) flattenedPairs(w *ir.Where) (*ir.Access, ir.Stmt) {
	r := w.Temp.Reduce
	if !e.opts.Grids || e.counting() || r.In != nil || fold.IsArg(r.Fold) {
		return nil, nil
	}
	row, body := forall(w.Producer)
	if row == nil {
		return nil, nil
	}
	column, body := forall(body)
	inner, _ := forall(body)
	leaf := ir.FirstLeaf(body)
	if column == nil || inner == nil || leaf == nil {
		return nil, nil
	}
	reads := e.accessesIn(w.Producer)
	searched := false
	for _, a := range reads {
		if a.Tensor.Format.IsDense() {
			continue
		}
		if !r.Fold.IsNeutral(e.alg.Of(leaf.Value, without{gapLeaves{e}, a}).Background) {
			return nil, nil // something is to be folded where the operand has no entries
		}
		searched = searched || slices.ContainsFunc(a.Indices, func(x ir.IndexExpr) bool { v := x.Plain(); return v != row.Index && v != column.Index })
	}
	for _, a := range reads {
		if slices.ContainsFunc(reads, func(r *ir.Access) bool { return r != a && searchesFor(r, row.Index, column.Index) }) {
			continue
		}
		if levels, order := a.Tensor.Format.Physical(), a.Tensor.Format.Order(); searched && len(levels) == 2 && a.Tensor.Work == nil && len(a.Indices) == 2 &&
			a.Indices[order[0]].Plain() == row.Index && a.Indices[order[1]].Plain() == column.Index && levels[0].Full() && levels[1].Ranges() && levels[1].Unique {
			return a, body
		}
	}
	return nil, nil
}

// searchesFor reports whether an access stores one of two coordinates in a level that does not have all of them, so that it would have to be searched for.
func searchesFor(a *ir.Access, i, j *ir.Index) bool {
	levels := a.Tensor.Format.Physical()
	if a.Tensor.Work != nil || len(levels) != len(a.Indices) {
		return true
	}
	for l, axis := range a.Tensor.Format.Order() {
		if v := a.Indices[axis].Plain(); !levels[l].Full() && (v == nil || v == i || v == j) || a.Indices[axis].Padded() {
			return true
		}
	}
	return false
}

// forall is a loop, whatever tables are made for it, and what is in it; nil for other statements.
func forall(st ir.Stmt) (*ir.Forall, ir.Stmt) {
	for {
		switch s := st.(type) {
		case *ir.Tabulate:
			st = s.Body
			continue
		case *ir.Forall:
			return s, s.Body
		}
		return nil, nil
	}
}

// without describes leaves where one operand stores nothing, and nothing is known of the others.
type without struct {
	gapLeaves
	a *ir.Access
}

func (w without) Access(a *ir.Access) ir.Support {
	if a == w.a {
		return w.gapLeaves.Access(a)
	}
	return ir.Everywhere()
}

// pairs emits a fold as a loop over the entries of a matrix, with the nest inside its loops.
func (e *emitter) pairs(st *state, a *ir.Access, body ir.Stmt) {
	b := e.B
	n := level.Count(e, a.Tensor, 0, 2, loop.SizeConst(1))
	e.root = rootLoop{cut: true, n: n, weight: -1, grain: 1} // each entry is much work
	order := a.Tensor.Format.Order()
	pos, crd := e.Read(e.Input(a.Tensor, 1, emit.Positions)), e.Read(e.Input(a.Tensor, 1, emit.Coordinates))
	rows := e.Scalar(e.Dim(a.Tensor, order[0]))
	b.For("p", b.Lo(), b.Hi(), func(p loop.Expr) {
		row, end := b.Var("row", loop.Int(0)), b.Var("end", rows)
		b.While(b.Gt(b.Sub(end, row), loop.Int(1)), func() {
			middle := b.Let("middle", loop.NewBinary(loop.Shr, b.Add(row, end), loop.Int(1)))
			b.If(b.Le(b.LoadIndex(pos, middle), p), func() { b.Assign(row, middle) }, func() { b.Assign(end, middle) })
		})
		inner := st.clone()
		inner.index[a.Indices[order[0]].Plain()] = b.Let("i", row)
		inner.index[a.Indices[order[1]].Plain()] = b.Let("j", b.LoadIndex(crd, p))
		inner.cursors[a] = cursor{access: a, level: 2, pos: p, exact: true}
		e.advance(inner)
		e.stmt(inner, body)
	})
}
