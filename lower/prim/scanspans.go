package prim

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// How scans go through parts of lines.

// span is a block of a line: the steps from to until, counted in the order of the
// scan, of a line of length elements.
type span struct {
	group, length, from, until loop.Expr
	slot                       loop.Expr // of its state
	lane                       loop.Expr // of lines side by side that one thread each runs
}

// spans emits a loop over the blocks of the chunk.
func (x *scanner) spans(e *emit.Func, body func(span)) {
	b := e.B
	if x.ragged() {
		b.For("line", b.Lo(), b.Hi(), func(g loop.Expr) {
			begin, end := x.segment(e, g)
			n := b.Let("n", b.Sub(end, begin))
			body(span{group: g, length: n, from: loop.Int(0), until: n})
		})
		return
	}
	lo, hi := x.cut.bounds(e)
	blocks, size, n := e.Scalar(x.blocks), e.Scalar(x.block), e.Scalar(x.length)
	b.For("item", lo, hi, func(item loop.Expr) {
		row, lane := item, loop.Expr(nil)
		if x.planar() {
			inner := e.Scalar(x.inner)
			row = b.Let("row", b.Div(item, inner))
			lane = b.Let("lane", b.Sub(item, b.Mul(row, inner)))
		}
		g := b.Let("line", b.Div(row, blocks))
		from := b.Let("from", b.Min(n, b.Mul(b.Sub(row, b.Mul(g, blocks)), size)))
		body(span{group: g, length: n, from: from, until: b.Let("until", b.Min(n, b.Add(from, size))), slot: item, lane: lane})
	})
}

// at is where along the line step t is.
func (x *scanner) at(e *emit.Func, s span, t loop.Expr) loop.Expr {
	if x.step.Reverse {
		return e.B.Sub(e.B.Sub(s.length, loop.Int(1)), t)
	}
	return t
}

// base is the position of the first element of a line that has a value for each.
func (x *scanner) base(e *emit.Func, s span) loop.Expr {
	if x.step.Stored {
		begin, _ := x.segment(e, s.group)
		return begin
	}
	base := e.B.Mul(s.group, s.length)
	if s.lane != nil {
		base = e.B.Mul(base, e.Scalar(x.inner))
	}
	return e.B.Let("base", base)
}

// values walks the elements of a block, in the order of the scan.
func (x *scanner) values(e *emit.Func, s span, body func(v, p loop.Expr)) {
	b := e.B
	base := x.base(e, s)
	b.For("t", s.from, s.until, func(t loop.Expr) {
		at := x.at(e, s, t)
		if s.lane != nil {
			at = b.Add(b.Mul(at, e.Scalar(x.inner)), s.lane)
		}
		p := b.Let("p", b.Add(base, at))
		body(x.load(e, p), p)
	})
}

// entries is a walk over the entries of a block.
type entries struct {
	cursor *loop.Ref // the next entry
	begin  loop.Expr // of the line
	end    loop.Expr
}

// open finds the first entry of a block, in the order of the scan.
func (x *scanner) open(e *emit.Func, s span) entries {
	b := e.B
	begin, end := x.segment(e, s.group)
	w := entries{begin: begin, end: end}
	first, past := begin, s.from // the first entry at or past a place
	if x.step.Reverse {
		first, past = end, b.Let("past", b.Sub(s.length, s.from))
	}
	at := b.Var("at", first)
	b.If(b.Gt(s.from, loop.Int(0)), func() {
		b.Assign(at, emit.Bisect(b, begin, end, func(p loop.Expr) loop.Expr { return b.Lt(x.place(e, p), past) }))
	}, nil)
	w.cursor = at
	if x.step.Reverse {
		b.Assign(at, b.Sub(at, loop.Int(1)))
	}
	return w
}

// more is whether there is an entry at the cursor.
func (x *scanner) more(e *emit.Func, w entries) loop.Expr {
	if x.step.Reverse {
		return e.B.Ge(w.cursor, w.begin)
	}
	return e.B.Lt(w.cursor, w.end)
}

// next moves the cursor on.
func (x *scanner) next(e *emit.Func, w entries) {
	step := int64(1)
	if x.step.Reverse {
		step = -1
	}
	e.B.Assign(w.cursor, e.B.Add(w.cursor, loop.Int(step)))
}

// dense walks every coordinate of a block of a sparse line, gaps included.
func (x *scanner) dense(e *emit.Func, s span, body func(v, p loop.Expr)) {
	b := e.B
	base := b.Let("base", b.Mul(s.group, s.length))
	gap := x.gapValue(e)
	w := x.open(e, s)
	place := b.Var("place", loop.Int(-1)) // of the next entry
	look := func() { b.If(x.more(e, w), func() { b.Assign(place, x.place(e, w.cursor)) }, nil) }
	look()
	b.For("t", s.from, s.until, func(t loop.Expr) {
		j := b.Let("j", x.at(e, s, t))
		v := b.Var("v", gap)
		b.If(b.Eq(place, j), func() {
			b.Assign(v, x.converted(b.Load(e.Read(x.vals), w.cursor)))
			x.next(e, w)
			b.Assign(place, loop.Int(-1))
			look()
		}, nil)
		body(v, b.Let("p", b.Add(base, j)))
	})
}
