package gpu

import (
	"cmp"
	"maps"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// lineWork emits what a thread does for a row: its columns' elements are variables.
type lineWork struct {
	g       *gridFunc
	t       *lineNest
	elem    loop.Type // of the elements
	buf     loop.BufID
	zeroed  bool                       // the buffer has nothing but zeros before
	columns []loop.Expr                // that a thread has, within the line
	valid   []loop.Expr                // whether it really has each, or all of them: else nothing is stored
	values  []*loop.Ref                // what becomes of the elements
	places  []loop.Expr                // where they are in the buffer
	bound   []map[loop.VarID]loop.Expr // of a lineFold: what is declared for each column
	ahead   bool                       // see lineTeams
	current int                        // the column that is emitted
	counts  loop.Expr                  // whether what is emitted counts; nil: it does
	turn    *turn                      // that is emitted, of a loop that is unrolled
	run     func(n *loop.Inliner)
}

// newLineWork makes an inlining emit the row's work by the run function that the
// caller sets.
func (m *mapper) newLineWork(s *loop.Stage, g *gridFunc, t *lineNest, in *loop.Inlining, row loop.Expr) *lineWork {
	w := &lineWork{g: g, t: t, elem: t.elem()}
	if t.sum == nil {
		w.buf, w.zeroed = in.Bufs[t.buf], m.zeroed(s, s.Bufs[t.buf])
	}
	in.Chunk, in.Lo, in.Hi = row, row, row
	in.Loop = func(f *loop.For, n *loop.Inliner) bool {
		switch {
		case f == t.row:
			n.Bind(f.Var, row)
			w.run(n)
		case t.lines[f]:
			for u := range w.columns {
				w.current = u
				iteration(n, f, w.columns[u])
			}
		default:
			w.loop(f, n, n.Expr(f.Lo), n.Expr(f.Hi))
		}
		return true
	}
	in.Load = func(e *loop.Load) loop.Expr {
		if t.sum == nil && e.Buf == t.buf {
			return w.values[w.current]
		}
		if w.turn != nil && isRef(e.Index, w.turn.loop.Var) {
			if v := w.turn.loads[e.Buf]; v != nil {
				return v
			}
		}
		return nil
	}
	in.Store = func(st *loop.Store, n *loop.Inliner) bool {
		if t.sum != nil {
			return false
		}
		w.assign(w.values[w.current], n.Expr(st.Value))
		return true
	}
	return w
}

// zeroed reports whether a buffer has nothing but zeros when a stage starts.
func (m *mapper) zeroed(s *loop.Stage, id loop.BufferID) bool {
	zero := false
	for i := range m.from.Stages {
		st := &m.from.Stages[i]
		for _, a := range append(append([]loop.Alloc{}, st.Allocs...), st.PartitionAllocs...) {
			if a.Buffer == id {
				zero = a.Zero
			}
		}
		if st == s {
			break
		}
		for k, buf := range st.Bufs {
			if buf == id && !st.Func.Bufs[k].ReadOnly {
				return false
			}
		}
	}
	return zero
}

// take gives the thread its columns of those from start on.
func (w *lineWork) take(by lineTeams, start, rank, width, columns loop.Expr) {
	w.ahead = by.ahead
	b := w.g.Builder
	if by.strides != nil {
		w.vector(b.Add(start, b.Mul(rank, loop.Int(int64(by.perLane)))), columns, by.perLane)
		return
	}
	for u := range by.perLane {
		w.vector(b.Add(start, b.Add(rank, b.Mul(width, loop.Int(int64(u))))), columns, 1)
	}
}

// begin fetches the elements.
func (w *lineWork) begin(n *loop.Inliner) {
	if w.t.sum != nil {
		w.t.sum.begin(w, n)
		return
	}
	b := w.g.Builder
	zero := number(w.elem, 0, 0)
	for _, k := range w.columns {
		n.Bind(w.t.first.Var, k)
		index := store(w.t.first).Index
		w.t.bindLets(n, index, loop.DeclaredIn(w.t.first.Body))
		w.places, w.values = append(w.places, b.Let("at", n.Expr(index))), append(w.values, b.Var("value", zero))
	}
	if !w.zeroed {
		w.each(func(u int) { b.Assign(w.values[u], b.Load(w.buf, w.places[u])) })
	}
}

// each emits something for the columns that the thread really has.
func (w *lineWork) each(emit func(u int)) {
	b := w.g.Builder
	for u := 0; u < len(w.columns); {
		group := len(w.columns) / len(w.valid)
		b.If(w.valid[u/group], func() {
			for range group {
				emit(u)
				u++
			}
		}, nil)
	}
}

// bindLets puts values in place of what is declared, among some variables, for an index.
func (t *lineNest) bindLets(n *loop.Inliner, e loop.Expr, inLine map[loop.VarID]bool) {
	loop.WalkExpr(e, func(e loop.Expr) {
		if r, ok := e.(*loop.Ref); ok && inLine[r.Var] && t.lets[r.Var] != nil {
			v := t.lets[r.Var]
			t.bindLets(n, v, inLine)
			n.Bind(r.Var, n.Expr(v))
		}
	})
}

// end stores the elements.
func (w *lineWork) end(n *loop.Inliner) {
	if w.t.sum != nil {
		w.t.sum.end(w, n)
		return
	}
	w.each(func(u int) { w.g.Builder.Store(w.buf, w.places[u], w.values[u]) })
}

// assign gives an element's variable a value.
func (w *lineWork) assign(v *loop.Ref, value loop.Expr) {
	if w.counts != nil {
		value = loop.NewSelect(w.counts, value, v)
	}
	w.g.Builder.Assign(v, value)
}

// loop emits a loop between the row and the columns. Where nothing is in it but loops
// over columns, several iterations are emitted at a time, so that what they read is
// under way together; those beyond the end are that of the last one and do not count.
func (w *lineWork) loop(f *loop.For, n *loop.Inliner, lo, hi loop.Expr) {
	b := w.g.Builder
	if !w.unrolls(f) {
		b.For("p", lo, hi, func(i loop.Expr) { iteration(n, f, i) })
		return
	}
	if w.g.Quick {
		b.For("p", lo, hi, func(p loop.Expr) { w.do(n, w.fetch(f, n, p)) })
		return
	}
	hi = b.Let("to", hi)
	at := b.Var("at", lo)
	if w.ahead {
		w.loopAhead(f, n, at, hi)
		return
	}
	b.While(b.Le(at, b.Let("last", b.Sub(hi, loop.Int(unroll)))), func() {
		w.together(n, unroll, func(u int64) turn { return w.fetch(f, n, b.Let("p", b.Add(at, loop.Int(u)))) })
		b.Assign(at, b.Add(at, loop.Int(unroll)))
	})
	b.If(b.Lt(at, hi), func() {
		w.together(n, unroll-1, func(u int64) turn {
			p := b.Let("p", b.Add(at, loop.Int(u)))
			t := w.fetch(f, n, b.Let("p", b.Min(p, b.Sub(hi, loop.Int(1)))))
			t.counts = b.Let("counts", b.Lt(p, hi))
			return t
		})
	}, nil)
}

// together does some turns, all of which are fetched before.
func (w *lineWork) together(n *loop.Inliner, turns int64, fetch func(u int64) turn) {
	var list []turn
	for u := range turns {
		list = append(list, fetch(u))
	}
	for _, t := range list {
		w.do(n, t)
	}
}

// loopAhead is loop where the entries of the next turns are read before the columns of
// those at hand.
func (w *lineWork) loopAhead(f *loop.For, n *loop.Inliner, at *loop.Ref, hi loop.Expr) {
	b := w.g.Builder
	b.If(b.Lt(at, hi), func() {
		end := b.Let("end", b.Sub(hi, loop.Int(1)))
		fetch := func(at loop.Expr) []turn {
			var turns []turn
			for u := range unroll {
				turns = append(turns, w.fetch(f, n, b.Let("p", b.Min(b.Add(at, loop.Int(int64(u))), end))))
			}
			return turns
		}
		next := fetch(at)
		for u, t := range next {
			next[u] = t.like(t, func(e, _ loop.Expr) loop.Expr { return b.Var("ahead", e) })
		}
		b.While(b.Le(at, b.Let("last", b.Sub(hi, loop.Int(unroll)))), func() {
			var turns []turn
			for u, t := range next {
				t.p = b.Let("p", b.Add(at, loop.Int(int64(u))))
				turns = append(turns, t.like(t, func(e, _ loop.Expr) loop.Expr { return b.Let("entry", e) }))
			}
			b.Assign(at, b.Add(at, loop.Int(unroll)))
			later := fetch(at)
			for _, t := range turns {
				w.do(n, t)
			}
			for u, t := range next {
				t.like(later[u], func(ahead, e loop.Expr) loop.Expr {
					b.Assign(ahead.(*loop.Ref), e)
					return ahead
				})
			}
		})
		// The last of next never counts here, but with no use behind the loop LLVM would not
		// carry what was read for it from turn to turn: it would read it when it is needed.
		b.If(b.Lt(at, hi), func() {
			for u, t := range next {
				p := b.Let("p", b.Add(at, loop.Int(int64(u))))
				t.p = b.Let("p", b.Min(p, end))
				t.counts = b.Let("counts", b.Lt(p, hi))
				w.do(n, t)
			}
		}, nil)
	}, nil)
}

// turn is an iteration of a loop between the row and the columns.
type turn struct {
	loop   *loop.For
	p      loop.Expr
	lets   map[loop.VarID]loop.Expr // what is declared in it outside the loops over columns
	loads  map[loop.BufID]loop.Expr // elements p of buffers
	counts loop.Expr                // see lineWork
}

// like is a turn with something in place of each value that was read, which is that of another turn.
func (t turn) like(other turn, with func(own, other loop.Expr) loop.Expr) turn {
	t.lets, t.loads = replaced(t.lets, other.lets, with), replaced(t.loads, other.loads, with)
	return t
}

func replaced[K cmp.Ordered](own, other map[K]loop.Expr, with func(own, other loop.Expr) loop.Expr) map[K]loop.Expr {
	out := map[K]loop.Expr{}
	for _, id := range slices.Sorted(maps.Keys(own)) {
		out[id] = with(own[id], other[id])
	}
	return out
}

// fetch emits what an iteration reads before its columns: other iterations' reads, which
// come next, need not wait for what depends on these.
func (w *lineWork) fetch(f *loop.For, n *loop.Inliner, p loop.Expr) turn {
	t := turn{loop: f, p: p, lets: map[loop.VarID]loop.Expr{}, loads: map[loop.BufID]loop.Expr{}}
	n.Bind(f.Var, p)
	for i, s := range f.Body {
		if l, ok := s.(*loop.Let); ok && (w.t.sum == nil || !w.t.sum.column[l.Var]) {
			n.Block([]loop.Stmt{s})
			t.lets[l.Var] = n.Value(l.Var)
			continue
		}
		for l := range loop.Loads(f.Body[i : i+1]) {
			if isRef(l.Index, f.Var) && w.t.f.Bufs[l.Buf].ReadOnly && t.loads[l.Buf] == nil {
				t.loads[l.Buf] = w.g.Builder.Let("entry", n.Expr(l))
			}
		}
	}
	return t
}

// do emits the columns of an iteration.
func (w *lineWork) do(n *loop.Inliner, t turn) {
	w.counts, w.turn = t.counts, &t
	n.Bind(t.loop.Var, t.p)
	for id, e := range t.lets {
		n.Bind(id, e)
	}
	if w.t.sum != nil {
		w.t.sum.do(w, n)
	} else {
		for _, s := range t.loop.Body {
			if s, ok := s.(*loop.For); ok {
				n.Block([]loop.Stmt{s})
			}
		}
	}
	w.counts, w.turn = nil, nil
}

// unrolls reports whether a loop has nothing in it but loops over columns.
func (w *lineWork) unrolls(f *loop.For) bool {
	if w.t.sum != nil {
		return f == w.t.sum.inner
	}
	return !slices.ContainsFunc(f.Body, func(s loop.Stmt) bool {
		l, isLoop := s.(*loop.For)
		return kindOf(s) != isValue && !(isLoop && w.t.lines[l])
	})
}
