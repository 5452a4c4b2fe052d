package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
)

// Rows that are appended, each a dense line, such as those of the product of a DCSR or CSF tensor with a dense matrix, are
// known by their place only after all rows before them. On grids each row of the operand therefore has a line of its own,
// which threads share as they do those of a dense result, and the lines of rows in which something is stored are moved to their places.

// appendedLines is a result with such rows while its stages are emitted.
type appendedLines struct {
	*kernel
	body   ir.Stmt
	seg    segment
	places loop.BufferID // by row: 1 if it is stored, else 0; then how many before it are
	totals loop.BufferID
	rows   loop.ScalarID
	part   int
}

// appendedLines emits the stages of a result with such rows, and reports whether it has them, and they are those of one operand.
func (k *kernel) appendedLines(body ir.Stmt, segments []segment, places, totals loop.BufferID) bool {
	t := k.step.Result
	f, ok := body.(*ir.Forall)
	if !ok || !k.opts.Grids || len(segments) > 1 || segments[0].last > 0 || t.Rank == 1 || len(k.workspaces) > 0 || !k.parallel(body) ||
		k.step.LHS.Indices[t.Format.Order()[0]].Plain() != f.Index {
		return false
	}
	a := &appendedLines{kernel: k, body: body, seg: segments[0], places: places, totals: totals}
	notes := len(k.Notes)
	e, count := a.each("count", true, func(e *emitter, st *state, row, _ loop.Expr, inner func()) {
		if row == nil {
			return // several operands have rows
		}
		st.result.pos, st.result.emitted = loop.Int(0), e.B.Var("emitted", loop.Truth(false))
		inner()
		e.B.Store(e.Write(a.places), row, e.B.Select(st.result.emitted, loop.Int(1), loop.Int(0)))
	})
	if e.root.over == nil || e.root.ragged || e.rootAt == nil { // a line for each row of a whole dimension may be more than there is memory for
		k.Notes = k.Notes[:notes]
		return false
	}
	a.stages(e.root, count)
	return true
}

// stages emits all stages, given that which finds out what rows are stored.
func (a *appendedLines) stages(root rootLoop, count loop.Stage) {
	t := a.step.Result
	a.rows, a.part = a.NewScalar(t.Name+"_rows", false), a.partition(root)
	width := a.NewScalar(t.Name+"_width", false)
	columns := loop.SizeExpr(loop.SizeConst(1))
	for _, axis := range t.Format.Order()[1:] {
		columns = emit.Times(columns, loop.SizeScalar(a.Dim(t, axis)))
	}
	a.AddStage(loop.Stage{Name: "rows", Partition: -1, Lets: []loop.ScalarLet{{Scalar: a.rows, Value: root.n}, {Scalar: width, Value: columns}}})
	count.Allocs = append(count.Allocs, loop.Alloc{Buffer: a.places, Len: loop.SizeScalar(a.rows), Zero: true})
	count.Partition, count.Symbolic = a.part, true
	a.AddStage(count)
	place := a.placeStage(a.places, a.totals, 1, a.rows)
	place.Symbolic = true
	a.AddStage(place)
	a.allocateSegments([]segment{a.seg}, a.totals)

	lines := a.Buffer(t.Name+"_lines", emit.Type(t.DType), loop.Temp)
	size := emit.Times(loop.SizeScalar(a.rows), loop.SizeScalar(width))
	a.fillStage(lines, size, a.background(), true)
	result := a.Result.Values
	a.Result.Values = lines
	_, compute := a.each("compute", false, func(_ *emitter, st *state, row, _ loop.Expr, inner func()) {
		st.result.pos = row
		inner()
	})
	a.Result.Values = result
	a.add(compute)

	_, crd := a.each("fill", false, func(e *emitter, _ *state, row, coord loop.Expr, _ func()) {
		at, kept := a.placeOf(e, row)
		e.B.If(kept, func() {
			crd := e.Write(a.seg.crd[0])
			e.B.Store(crd, at, e.B.Cast(e.B.Elem(crd), coord))
		}, nil)
	})
	a.add(crd)
	a.add(a.move(lines, width))
	a.positions([]segment{a.seg}, 0)
}

func (a *appendedLines) add(s loop.Stage) {
	s.Partition = a.part
	a.AddStage(s)
}

// each emits the loop over the rows, in each of which what is given does what is to be done, with what the nest does inside of it.
func (a *appendedLines) each(name string, counts bool, do func(e *emitter, st *state, row, coord loop.Expr, inner func())) (*emitter, loop.Stage) {
	e := a.emitter(name + "_" + a.step.Result.Name)
	e.quiet, e.symbolic, e.root.wanted = !counts, counts, true
	e.out = &assembly{mode: fillEntries, levels: a.step.Result.Format.Physical(), segments: []segment{a.seg}, values: a.Result.Values, row: do}
	if counts {
		e.out.mode = countEntries
	}
	e.nest(a.body)
	return e, e.Stage(name)
}

// placeOf is the place of a row among those that are stored, and whether it is one.
func (a *appendedLines) placeOf(e *emitter, row loop.Expr) (at, kept loop.Expr) {
	b, places := e.B, e.Read(a.places)
	at = b.Let("at", b.Load(places, row))
	last := b.Sub(e.Scalar(a.rows), loop.Int(1))
	end := b.Let("end", b.Load(places, b.Min(b.Add(row, loop.Int(1)), last)))
	return at, b.Let("kept", b.Gt(b.Select(b.Lt(row, last), end, e.Scalar(a.seg.total)), at))
}

// move is the stage that moves lines to their places.
func (a *appendedLines) move(lines loop.BufferID, width loop.ScalarID) loop.Stage {
	e := a.emitter("move_" + a.step.Result.Name)
	b, from, to, n := e.B, e.Read(lines), e.Write(a.Result.Values), e.Scalar(width)
	b.For("row", b.Lo(), b.Hi(), func(row loop.Expr) {
		at, kept := a.placeOf(e, row)
		b.ForIndependent("p", loop.Int(0), n, func(p loop.Expr) {
			b.If(kept, func() { b.Store(to, b.Add(b.Mul(at, n), p), b.Load(from, b.Add(b.Mul(row, n), p))) }, nil)
		})
	})
	return e.Stage("move")
}
