package convert

import (
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// fillStage writes the levels of the target, and its values.
func (x *cutter) fillStage(filter bool) {
	e := x.NewFunc("fill")
	x.src.open(e)
	b := e.B
	f := &filling{cutter: x, e: e, current: make([]*loop.Ref, len(x.segs)), next: make([]*loop.Ref, len(x.segs))}
	want := axesOf(x.order[:x.compared()])
	for i, s := range x.segs {
		for k := range s.crd {
			if f.writes(i, k) {
				want |= 1 << x.order[s.first+k]
			}
		}
	}
	x.eachSlot(func(slot, i int) {
		f.current[i] = b.Var("at", b.LoadIndex(e.Read(x.counts), x.slot(e, b.Chunk(), slot)))
	})
	for i, s := range x.segs {
		if s.pos >= 0 {
			f.next[i] = b.Var("next", loop.Int(0))
		}
	}
	before := b.Sub(b.Lo(), loop.Int(1))
	if filter {
		before = b.Load(e.Read(x.before), b.Chunk())
	}
	prev := x.previous(e, before, func(prev []*loop.Ref) {
		for i := range x.segs {
			if f.next[i] != nil {
				parent := x.parent(e, i, f.above(i), func(l int) loop.Expr { return prev[l] })
				b.Assign(f.next[i], b.Add(parent, loop.Int(1)))
			}
		}
	})
	last := x.segs[len(x.segs)-1]
	var strides []loop.Expr
	if x.scatter {
		block := x.order[last.last+1:]
		want |= axesOf(block)
		for i := range block {
			strides = append(strides, x.extentsIn(e, block[i+1:]))
		}
		strides = append(strides, x.extentsIn(e, block))
	}
	keep := x.kept(e, filter)
	x.src.each(e, b.Lo(), b.Hi(), want, func(en entry) {
		keep(en, func() {
			begins := x.begins(e, en, prev)
			for i := range x.segs {
				f.position(i, en, begins[i])
			}
			if x.scatter {
				f.intoBlock(en, strides)
			}
			x.remember(e, en, prev)
		})
	})
	b.If(b.Eq(b.Hi(), e.Scalar(x.entries)), func() {
		for i := range x.segs {
			if f.next[i] != nil {
				b.Store(e.Write(x.tails), loop.Int(int64(i)), f.next[i])
			}
		}
	}, nil)
	st := e.Stage("fill")
	if len(st.Func.Body) == 0 {
		return // everything is there
	}
	st.Partition = x.part
	x.AddStage(st)
}

// filling is the loop of fillStage.
type filling struct {
	*cutter
	e *emit.Func
	// current is, by counted segment, its next position.
	current []*loop.Ref
	// next is, by segment with a positions array, the first parent whose element
	// is not written.
	next []*loop.Ref
}

// writes reports whether the loop writes the k-th coordinates of a segment.
func (f *filling) writes(i, k int) bool {
	_, there := f.has.crd[f.segs[i].first+k]
	return !there
}

// above is the position in the segment before segment i of the latest entry.
func (f *filling) above(i int) loop.Expr {
	if i == 0 {
		return nil
	}
	return f.e.B.Sub(f.current[i-1], loop.Int(1))
}

// position writes the position of segment i that an entry begins.
func (f *filling) position(i int, en entry, begins loop.Expr) {
	e, b, s := f.e, f.e.B, f.segs[i]
	at := en.pos
	if f.counted[i] {
		at = f.current[i]
	}
	parents := func() {
		if f.next[i] == nil {
			return
		}
		parent := b.Let("parent", f.parent(e, i, f.above(i), func(l int) loop.Expr { return en.coords[f.order[l]] }))
		pos := e.Write(s.pos)
		b.While(b.Le(f.next[i], parent), func() {
			b.Store(pos, f.next[i], b.Cast(f.count, at))
			b.Assign(f.next[i], b.Add(f.next[i], loop.Int(1)))
		})
	}
	coordinates := func() {
		for k, id := range s.crd {
			if f.writes(i, k) {
				buf := e.Write(id)
				b.Store(buf, at, b.Cast(b.Elem(buf), en.coords[f.order[s.first+k]]))
			}
		}
	}
	if !f.counted[i] {
		b.If(begins, parents, nil)
		coordinates()
		return
	}
	b.If(begins, func() {
		parents()
		coordinates()
		if i == len(f.segs)-1 && !f.scatter {
			f.value(en)
		}
		b.Assign(f.current[i], b.Add(f.current[i], loop.Int(1)))
	}, nil)
}

// value writes the value of the position that an entry begins: with repeats, the
// sum of all entries at its coordinates, those of later chunks included.
func (f *filling) value(en entry) {
	e, b := f.e, f.e.B
	values := e.Write(f.has.values)
	v := f.entryValue(e, en)
	if !f.how.Entries.repeats() {
		b.Store(values, f.current[len(f.segs)-1], v)
		return
	}
	sum := b.Var("sum", v)
	q := b.Var("q", b.Add(en.pos, loop.Int(1)))
	n := e.Scalar(f.entries)
	more := b.Var("more", b.Lt(q, n))
	b.While(more, func() {
		other := f.src.at(e, q, allAxes(f.to.Rank))
		same := loop.Expr(loop.Truth(true))
		for axis, c := range sortedCoords(other) {
			same = b.And(same, b.Eq(c, en.coords[axis]))
		}
		b.If(same, func() {
			b.Assign(sum, f.plus(b, sum, f.entryValue(e, entry{pos: q})))
			b.Assign(q, b.Add(q, loop.Int(1)))
			b.Assign(more, b.Lt(q, n))
		}, func() { b.Assign(more, loop.Truth(false)) })
	})
	b.Store(values, f.current[len(f.segs)-1], sum)
}

// sortedCoords lists coordinates by axis: all of them are there.
func sortedCoords(en entry) []loop.Expr {
	list := make([]loop.Expr, len(en.coords))
	for axis, c := range en.coords {
		list[axis] = c
	}
	return list
}

// plus is the sum of two values at the same coordinates.
func (f *filling) plus(b *loop.Builder, x, y loop.Expr) loop.Expr {
	if f.elem == loop.Bool {
		return b.Or(x, y)
	}
	return b.Add(x, y)
}

// intoBlock writes the value of an entry into the dense block of its position.
// The strides are those of the block's axes, then its size.
func (f *filling) intoBlock(en entry, strides []loop.Expr) {
	e, b := f.e, f.e.B
	last := len(f.segs) - 1
	block := f.order[f.segs[last].last+1:]
	at := b.Mul(b.Sub(f.current[last], loop.Int(1)), strides[len(block)])
	for i, axis := range block {
		at = b.Add(at, b.Mul(en.coords[axis], strides[i]))
	}
	b.Store(e.Write(f.has.values), at, f.entryValue(e, en))
}

// closeStage completes positions arrays: parents past that of the last entry have
// no positions.
func (x *cutter) closeStage() {
	e := x.NewFunc("close")
	b := e.B
	var lets []loop.ScalarLet
	for i, s := range x.segs {
		if s.pos < 0 {
			continue
		}
		parents := x.NewScalar("parents", false)
		lets = append(lets, loop.ScalarLet{Scalar: parents, Value: x.parents(i)})
		pos := e.Write(s.pos)
		total := b.Let("total", b.Cast(x.count, e.Scalar(s.total)))
		begin := b.Let("begin", b.Load(e.Read(x.tails), loop.Int(int64(i))))
		b.ForIndependent("p", begin, b.Add(e.Scalar(parents), loop.Int(1)), func(p loop.Expr) { b.Store(pos, p, total) })
	}
	if lets == nil {
		return
	}
	st := e.Stage("close")
	st.Lets = lets
	x.AddStage(st)
}
