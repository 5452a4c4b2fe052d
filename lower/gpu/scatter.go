package gpu

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
)

// Sizes of scatters that are sorted.
const (
	// keyLimit bounds the updates and the elements: keys and numbers of updates have 32 bits.
	keyLimit = 1<<32 - 1
	// Updates for which the memory may be had: so many for each element of any operand or
	// of the result, and some more.
	updatesPerElement = 4
	freeUpdates       = 1 << 16
)

// scatter is a stage on its way whose only loop folds something into elements that
// iterations share, in the order of the iterations. The updates are sorted by their
// elements, stably, so that those of an element stand together, in order, and threads can
// fold elements apart (sortpairs.go, foldruns.go). An update is the number of an iteration
// and the element's index as its key; what is folded is computed when it is needed. Where
// the loop has loops in it that store, a list of all updates is made first, with what they
// fold.
type scatter struct {
	m    *mapper
	s    *loop.Stage
	l    *loop.For
	fold *inOrder
	// always says that each iteration stores, once it does not fail; otherwise those that do not have the key
	// that follows the last element's.
	always bool
	// operands are the arrays of what the updates of a list fold; none without one.
	operands []loop.BufferID
	listed   bool
	on       loop.SizeExpr // 1 where updates may be sorted, else 0

	n         loop.ScalarID // updates
	elements  loop.ScalarID
	sorts     loop.ScalarID // 1 where they are sorted, else 0
	sort      pairSort
	foldTiles loop.ScalarID
}

var _ = register(mapping{of: ofOneCall, place: 5, word: "sorted", take: (*mapper).scatters, says: map[string]string{
	"list":   "a thread for each row: writes its updates down",
	"digits": "a block for each tile of updates: counts digits of their places",
	"moves":  "a block for each tile of updates: moves them by a digit, in order",
	"runs":   "a block for each tile of sorted updates: a lane folds what falls to an element, in order",
}})

// scatters maps a stage of one call whose only loop folds, where the order matters, to
// grids that sort the updates. Others run where there are too few or too many of them. It
// reports whether that could be done.
func (m *mapper) scatters(s *loop.Stage) bool {
	s = flattened(s)
	return m.sorted(s, loop.SizeConst(1), func() {
		if !m.attempt((*mapper).owners, s) {
			m.serial(s)
		}
	})
}

// sorted does that where a number, 0 or 1, is 1; others adds the stages that run otherwise.
func (m *mapper) sorted(s *loop.Stage, on loop.SizeExpr, others func()) bool {
	l := onlyLoop(s.Func)
	if l == nil {
		return false
	}
	x := &scatter{m: m, s: s, l: l, on: on}
	var ok bool
	if x.fold, ok = orderedFold(l, outsideLoops); !ok {
		if x.fold, ok = orderedFold(l, anywhere); !ok {
			return false
		}
		x.listed = true
	}
	x.always = x.listed || !only(l.Body, ^isStore)
	bytes := 0
	for _, e := range x.fold.operands {
		bytes += e.Type().Size()
	}
	if bytes > tileBytes {
		return false
	}
	if !x.emit() {
		return false
	}
	m.when(emit.Not(loop.SizeScalar(x.sorts)), others)
	return true
}

// emit adds the stages that sort and fold.
func (x *scatter) emit() bool {
	m := x.m
	x.n, x.elements, x.sorts = m.scalar(x.s.Name+"_updates"), m.scalar(x.s.Name+"_elements"), m.scalar(x.s.Name+"_sorts")
	x.foldTiles = m.scalar(x.s.Name + "_fold_tiles")
	order := *x.s // the order of updates follows from their indices
	order.Symbolic = true
	x.sort = newPairSort(m, &order, x.n)
	if x.listed {
		if !x.list() {
			return false
		}
	} else if !x.keys() {
		return false
	}
	m.when(loop.SizeScalar(x.sorts), func() { x.sort.passes() })
	f, ok := x.m.withQuick(x.foldRuns)
	if !ok {
		return false
	}
	return m.run(f, sizeOp(loop.Mul, loop.SizeScalar(x.sorts), sizeOp(loop.Min, loop.SizeScalar(x.foldTiles), loop.SizeConst(coop.MaxBlocks))))
}

// lets are the scalars that follow from the number of updates, and of elements.
func (x *scatter) lets(updates loop.SizeExpr) []loop.ScalarLet {
	one, n, elements := loop.SizeConst(1), loop.SizeScalar(x.n), loop.SizeScalar(x.elements)
	fits := func(n loop.SizeExpr) loop.SizeExpr { return emit.Not(emit.AtLeast(n, keyLimit)) }
	var most loop.SizeExpr = loop.SizeConst(freeUpdates)
	for _, id := range x.s.Bufs {
		most = sizeOp(loop.Add, most, sizeOp(loop.Mul, loop.SizeConst(updatesPerElement), loop.SizeLen{Buffer: id}))
	}
	spare := emit.Not(sizeOp(loop.Min, one, sizeOp(loop.Div, n, most)))
	sorts := sizeOp(loop.Mul, sizeOp(loop.Mul, x.on, emit.AtLeast(n, x.m.opts.Scatter)), sizeOp(loop.Mul, spare, sizeOp(loop.Mul, fits(n), fits(elements))))
	lets := []loop.ScalarLet{
		{Scalar: x.n, Value: updates},
		{Scalar: x.elements, Value: loop.SizeLen{Buffer: x.s.Bufs[x.fold.store.Buf]}},
		{Scalar: x.sorts, Value: sorts},
		{Scalar: x.foldTiles, Value: emit.CeilDiv(n, loop.SizeConst(x.foldTile()))},
	}
	keys := loop.SizeExpr(elements)
	if !x.always {
		keys = sizeOp(loop.Add, elements, one)
	}
	return append(lets, x.sort.lets(keys, loop.SizeScalar(x.sorts))...)
}

// keys adds the stages that find how many iterations there are, and write the key of each.
func (x *scatter) keys() bool {
	m, s := x.m, x.s
	m.sizes(s.Name+"_updates", x.lets(x.iterations()), nil, x.sort.allocs())
	g := m.newFunc(s.Func.Name + "_keys")
	in := g.onlyCall(s)
	into := x.sort.writer(&g.mappedFunc)
	elements := g.scalar(x.elements)
	b := g.Builder
	all := b.Let("all", b.Mul(g.blocks(), loop.Int(int64(m.opts.Threads))))
	me := b.Let("me", g.global())
	var key *loop.Ref
	in.Loop = instead(x.l, func(n *loop.Inliner) {
		lo := b.Let("from", n.Expr(x.l.Lo))
		g.inTurns(me, b.Let("count", b.Sub(n.Expr(x.l.Hi), lo)), all, func(k loop.Expr) {
			key = b.Var("key", elements)
			iteration(n, x.l, b.Let("i", b.Add(lo, k)))
			into(k, key)
		})
	})
	in.Store = func(st *loop.Store, n *loop.Inliner) bool {
		b.Assign(key, n.Expr(st.Index))
		return true
	}
	b.Inline(s.Func, in)
	ok := false
	m.when(loop.SizeScalar(x.sorts), func() { ok = m.launchVerified(x.sort.s, "keys", g, m.blocksFor(loop.SizeScalar(x.n))) })
	return ok
}

// iterations is how many the loop has. Where that cannot be told before anything runs, a
// stage is added that finds it.
func (x *scatter) iterations() loop.SizeExpr {
	if n, ok := x.knownIterations(); ok {
		return n
	}
	m, s := x.m, x.s
	size := m.temp(s.Name+"_size", loop.I64)
	m.sizes(s.Name+"_size", nil, nil, []loop.Alloc{{Buffer: size, Len: loop.SizeConst(1)}})
	g := m.newFunc(s.Func.Name + "_size")
	in := g.onlyCall(s)
	out := g.buffer(size, loop.ReadWrite)
	b := g.Builder
	in.Loop = func(l *loop.For, n *loop.Inliner) bool {
		b.Store(out, loop.Int(0), b.Max(loop.Int(0), b.Sub(n.Expr(l.Hi), n.Expr(l.Lo))))
		return true
	}
	b.If(b.Eq(g.thread(), loop.Int(0)), func() { b.Inline(s.Func, in) }, nil)
	m.launch(s, "size", g, loop.SizeConst(1))
	return &loop.SizeLoad{Buffer: size, Index: loop.SizeConst(0)}
}

// knownIterations is how many iterations the loop has, if sizes and parameters tell.
func (x *scatter) knownIterations() (loop.SizeExpr, bool) {
	f := x.s.Func
	values, ok := lets(loop.LetsOf(f.Body)), true
	var size func(e loop.Expr) loop.SizeExpr
	size = func(e loop.Expr) loop.SizeExpr {
		switch e := e.(type) {
		case *loop.Const:
			return loop.SizeConst(int64(e.Bits))
		case *loop.Ref:
			if slices.Contains(f.Args, e.Var) {
				return loop.SizeScalar(argOf(x.s, e.Var))
			}
			if v, is := values[e.Var]; is {
				return size(v)
			}
		case *loop.Cast:
			if l, is := e.X.(*loop.Load); is && e.Typ == loop.I64 && l.Elem.IsInt() {
				return &loop.SizeLoad{Buffer: x.s.Bufs[l.Buf], Index: size(l.Index)}
			}
		case *loop.Binary:
			switch e.Op {
			case loop.Add, loop.Sub, loop.Mul, loop.Min, loop.Max:
				return sizeOp(e.Op, size(e.X), size(e.Y))
			case loop.Div:
				if by, is := e.Y.(*loop.Const); is && int64(by.Bits) > 0 {
					return sizeOp(e.Op, size(e.X), size(e.Y))
				}
			}
		}
		ok = false
		return loop.SizeConst(0)
	}
	n := sizeOp(loop.Max, loop.SizeConst(0), sizeOp(loop.Sub, size(x.l.Hi), size(x.l.Lo)))
	if c, is := x.l.Lo.(*loop.Const); is && c.Bits == 0 {
		n = size(x.l.Hi)
	}
	return n, ok
}

// when makes the grids of the stages that a function adds run only where a number, 1 or 0,
// is 1.
func (m *mapper) when(on loop.SizeExpr, add func()) {
	first := len(m.out.Stages)
	add()
	for i := first; i < len(m.out.Stages); i++ {
		if st := &m.out.Stages[i]; st.Blocks != nil {
			st.Blocks = sizeOp(loop.Mul, on, st.Blocks)
		}
	}
}
