package gpu

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// counters maps a stage over single elements to warps, one for each element, where the
// function goes through a list and counts what falls into each of many buckets, or gives
// each item of the list the next place of its bucket. The lanes take 32 items that follow
// each other; those of the same bucket find each other by ballots on the bits in which
// buckets differ (the multi-split of Ashkiani, Davidson, Meyer and Owens, "GPU
// Multisplit", PPoPP 2016), so that places are given out in the order of the list and
// without atomics. It reports whether that could be done.
func (m *mapper) counters(s *loop.Stage) bool {
	x, ok := countingOf(s.Func)
	if !ok {
		return false
	}
	c := m.cuts[s.Partition]
	g := m.newFunc(s.Func.Name)
	in := g.parameters(s)
	b := g.Builder
	n := g.scalar(c.n)
	warps := loop.Int(int64(m.opts.Threads / warp))
	first := b.Let("first", b.Add(b.Mul(g.block(), warps), g.Warp()))
	active := b.Var("active", loop.Truth(false))
	in.Guard = active
	in.Loop = func(l *loop.For, inl *loop.Inliner) bool {
		if l != x.loop {
			return false
		}
		g.count(x, inl, in.Bufs[x.counts], active)
		return true
	}
	g.inTurns(first, n, b.Let("all", b.Mul(g.blocks(), warps)), func(i loop.Expr) {
		in.Chunk, in.Lo, in.Hi, in.Single = i, i, b.Let("next", b.Add(i, loop.Int(1))), true
		b.Inline(s.Func, in)
	})
	if loop.RemoveDead(b.Func()).Verify(lib.Lookup) != nil {
		return false
	}
	threads := sizeOp(loop.Mul, sizeOp(loop.Min, loop.SizeScalar(c.n), loop.SizeConst(maxRowThreads)), loop.SizeConst(warp))
	m.launch(s, "warps", g, m.blocksFor(threads))
	return true
}

// counting is a loop that counts: of each item it adds 1 to an element of a buffer of
// counters, and may then store something at the place that the counter gave before.
type counting struct {
	loop   *loop.For
	counts loop.BufID
	slot   loop.Expr  // which counter
	place  loop.VarID // the let that is the counter before, NoVar without
	at     int        // where in the loop's body the counter is stored
}

// countingOf finds the loop of a function that does nothing else.
func countingOf(f *loop.Func) (*counting, bool) {
	x := &counting{place: loop.NoVar, at: -1}
	for _, s := range f.Body {
		if !changes(s) {
			continue
		}
		l, ok := s.(*loop.For)
		if !ok || x.loop != nil {
			return nil, false
		}
		x.loop = l
	}
	if x.loop == nil || !x.find() || !x.alone() {
		return nil, false
	}
	return x, true
}

// changes reports whether a statement stores or may fail.
func changes(s loop.Stmt) bool {
	found := false
	loop.WalkStmts([]loop.Stmt{s}, func(s loop.Stmt) {
		switch s.(type) {
		case *loop.Let, *loop.Assign, *loop.If, *loop.For, *loop.While, *loop.Comment:
		default:
			found = true
		}
	})
	return found
}

// find looks for the counter: c[slot] = c[slot] + 1, or place = c[slot] and later
// c[slot] = place + 1.
func (x *counting) find() bool {
	places := map[loop.VarID]*loop.Load{}
	for i, s := range x.loop.Body {
		switch s := s.(type) {
		case *loop.Let:
			if l, ok := uncast(s.Value).(*loop.Load); ok && !s.Mutable {
				places[s.Var] = l
			}
		case *loop.Store:
			sum, ok := uncast(s.Value).(*loop.Binary)
			slot, named := s.Index.(*loop.Ref)
			if !ok || !named || sum.Op != loop.Add || !isOne(sum.Y) {
				return false
			}
			l, ok := sum.X.(*loop.Load)
			if r, is := sum.X.(*loop.Ref); is {
				l, ok = places[r.Var]
				x.place = r.Var
			}
			if !ok || l.Buf != s.Buf || !isRef(l.Index, slot.Var) {
				return false
			}
			x.counts, x.slot, x.at = s.Buf, slot, i
			return true
		}
	}
	return false
}

// alone reports whether the items have nothing to do with each other but for the
// counters: they assign only what is declared for each, read nothing that is stored,
// and store to their places, which differ as the values of one counter do.
func (x *counting) alone() bool {
	stored := map[loop.BufID]bool{x.counts: true}
	for _, s := range x.loop.Body[x.at+1:] {
		if st, ok := s.(*loop.Store); ok {
			if x.place == loop.NoVar || st.Buf == x.counts || !isRef(st.Index, x.place) {
				return false
			}
			stored[st.Buf] = true
		} else if changes(s) {
			return false
		}
	}
	inside := map[loop.VarID]bool{}
	ok := true
	reads := 0
	loop.WalkStmts(x.loop.Body, func(s loop.Stmt) {
		switch s := s.(type) {
		case *loop.Let:
			inside[s.Var] = true
		case *loop.Assign:
			ok = ok && inside[s.Var]
		}
	})
	for l := range loop.Loads(x.loop.Body) {
		if stored[l.Buf] {
			reads++
		}
	}
	return ok && reads == 1
}

func uncast(e loop.Expr) loop.Expr {
	for {
		c, ok := e.(*loop.Cast)
		if !ok {
			return e
		}
		e = c.X
	}
}

func isOne(e loop.Expr) bool {
	c, ok := e.(*loop.Const)
	return ok && c.Typ.IsInt() && c.Bits == 1
}

// count emits the loop for a warp. Lanes beyond the end of the list go along with its
// last item, which they neither count nor store.
func (g *gridFunc) count(x *counting, n *loop.Inliner, counts loop.BufID, active *loop.Ref) {
	b := g.Builder
	elem := b.Elem(counts)
	end := b.Let("end", n.Expr(x.loop.Hi))
	base := b.Var("base", n.Expr(x.loop.Lo))
	b.While(b.Lt(base, end), func() {
		item := b.Let("item", b.Add(base, g.Lane()))
		b.Assign(active, b.Lt(item, end))
		n.Bind(x.loop.Var, b.Let("p", b.Min(item, b.Sub(end, loop.Int(1)))))
		for _, s := range x.loop.Body[:x.at] {
			if l, ok := s.(*loop.Let); !ok || l.Var != x.place {
				n.Block([]loop.Stmt{s})
			}
		}
		slot := n.Expr(x.slot)
		peers := g.peers(slot, active)
		below := b.And(peers, b.Sub(loop.NewBinary(loop.Shl, loop.Number(loop.U32, 1), b.Cast(loop.U32, g.Lane())), loop.Number(loop.U32, 1)))
		rank := b.Let("rank", b.Cast(elem, loop.NewUnary(loop.OnesCount, below)))
		before := b.Let("before", b.Load(counts, slot))
		b.Barrier(loop.WarpScope) // all have read the counters
		b.If(b.And(active, b.Eq(rank, loop.Number(elem, 0))), func() {
			b.Store(counts, slot, b.Add(before, b.Cast(elem, loop.NewUnary(loop.OnesCount, peers))))
		}, nil)
		b.Barrier(loop.WarpScope) // the counters are those of the next items
		if x.place != loop.NoVar {
			n.Bind(x.place, b.Let("place", b.Cast(loop.I64, b.Add(before, rank))))
		}
		n.Block(x.loop.Body[x.at+1:])
		b.Assign(base, b.Add(base, loop.Int(warp)))
	})
}

// peers is the set of active lanes whose value is that of the lane. Lane 0 is active.
func (g *gridFunc) peers(value loop.Expr, active loop.Expr) loop.Expr {
	b := g.Builder
	peers := b.Var("peers", b.Ballot("lanes", active))
	first := b.Shuffle("first", loop.ShuffleIndex, value, loop.Int(0), warp)
	differ := b.Var("differ", loop.NewBinary(loop.Xor, value, first))
	for d := int64(1); d < warp; d *= 2 {
		other := b.Shuffle("other", loop.ShuffleXor, differ, loop.Int(d), warp)
		b.Assign(differ, b.Or(differ, other))
	}
	// The same for all lanes, and known to be.
	rest := b.Var("rest", b.Shuffle("all", loop.ShuffleIndex, differ, loop.Int(0), warp))
	b.While(b.Ne(rest, loop.Int(0)), func() {
		low := b.Let("low", b.And(rest, b.Sub(loop.Int(0), rest)))
		has := b.Let("has", b.Ne(b.And(value, low), loop.Int(0)))
		with := b.Ballot("with", has)
		b.Assign(peers, b.And(peers, b.Select(has, with, loop.NewUnary(loop.Not, with))))
		b.Assign(rest, b.And(rest, b.Sub(rest, loop.Int(1))))
	})
	return peers
}
