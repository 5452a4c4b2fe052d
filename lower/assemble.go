package lower

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A sparse result is written by appending. Its levels form segments: a
// compressed level with the singletons below it holds one list of entries.
// The loop nest runs twice over the same chunks: once to count the entries of
// each segment, once, after a prefix sum has given every chunk its place, to
// write them. Positions arrays receive counts first and are summed last, so a
// skipped row needs no visit.
type assembly struct {
	mode     assemblyMode
	levels   []tensor.LevelType
	segments []segment
	values   loop.BufferID
	// A nest that runs in order, as one thread appends, writes the positions of the
	// first segment as it goes if it visits all of that one's parents, which the
	// outermost loop finds out.
	ordered    bool
	allParents bool
	current    []*loop.Ref // entries appended to each segment
	// row, when not nil, does what is to be done in each row of the operand whose rows are those of the result, which has a line for each.
	row func(e *emitter, st *state, row, coord loop.Expr, inner func())
}

type assemblyMode uint8

const (
	countEntries assemblyMode = iota
	fillEntries
)

// checkEntries stops the function when a count is past emit.MaxEntries.
func (e *emitter) checkEntries(counts ...*loop.Ref) {
	for _, n := range counts {
		e.B.If(e.B.Gt(n, loop.Int(emit.MaxEntries)), e.tooManyEntries, nil)
	}
}

func (e *emitter) tooManyEntries() {
	e.B.Fail("the result %s would store more entries than any memory holds: give it a fill or a format that leaves some out", e.step.Result.Name)
}

// segment is one list of entries of the result.
type segment struct {
	first, last int // levels
	pos         loop.BufferID
	crd         []loop.BufferID // by level, from first
	total       loop.ScalarID
}

// resultState is how far the result's levels are bound.
type resultState struct {
	level  int
	pos    loop.Expr   // position at level-1, nil at the root
	coords []loop.Expr // of the levels of the open segment
	// emitted, when not nil, tells that the open entry has a value.
	emitted *loop.Ref
}

// segmentsOf groups the levels of a sparse format and makes their buffers.
func (k *kernel) segmentsOf(t *ir.Tensor) []segment {
	var list []segment
	for l, level := range t.Format.Physical() {
		switch {
		case level.Ranges():
			list = append(list, segment{first: l, last: l,
				pos:   k.Buffer(fmt.Sprintf("%s%d_pos", t.Name, l), k.opts.positions(), loop.Output),
				total: k.NewScalar(fmt.Sprintf("%s%d_entries", t.Name, l), false)})
		case level.Branchless():
			list[len(list)-1].last = l
		default:
			continue
		}
		s := &list[len(list)-1]
		s.crd = append(s.crd, k.Buffer(fmt.Sprintf("%s%d_crd", t.Name, l), k.opts.Coordinates, loop.Output))
	}
	return list
}

// segmentOf is the number of the segment that a level belongs to, -1 for none.
func (a *assembly) segmentOf(level int) int {
	for i, s := range a.segments {
		if s.first <= level && level <= s.last {
			return i
		}
	}
	return -1
}

// appendsAtLeaf reports whether the segment's entries carry one value each, so
// that the leaf appends whole entries.
func (a *assembly) appendsAtLeaf(seg int) bool {
	return a.segments[seg].last == len(a.levels)-1
}

// withResult runs body with the result levels opened whose coordinates have
// become known, and closes them after it.
func (e *emitter) withResult(st *state, body func()) {
	if e.out == nil {
		body()
		return
	}
	e.out.descend(e, st, body)
}

func (a *assembly) descend(e *emitter, st *state, body func()) {
	r := &st.result
	if r.level == len(a.levels) {
		body()
		return
	}
	t := e.step.Result
	axis := t.Format.Order()[r.level]
	coord, ok := e.coordinate(st, e.step.LHS.Indices[axis])
	if !ok {
		body()
		return
	}
	b, level := e.B, r.level
	r.level++
	if a.levels[level].Full() {
		p := loop.Expr(loop.Int(0))
		if r.pos != nil {
			p = r.pos
		}
		r.pos = b.Let("p", b.Add(b.Mul(p, e.Scalar(e.Dim(t, axis))), coord))
		a.enter(e, st, body)
		return
	}
	seg := a.segmentOf(level)
	r.coords = append(append([]loop.Expr(nil), r.coords...), coord)
	if level < a.segments[seg].last || a.appendsAtLeaf(seg) {
		a.descend(e, st, body)
		return
	}
	coords := r.coords
	r.coords = nil
	if a.row != nil {
		a.row(e, st, e.rootAt, coord, func() { a.enter(e, st, body) })
		return
	}
	r.pos = b.Let("p", a.current[seg])
	var written loop.Expr
	if seg+1 < len(a.segments) {
		before := b.Let("before", a.current[seg+1])
		a.enter(e, st, body)
		written = b.Gt(a.current[seg+1], before)
	} else {
		r.emitted = b.Var("emitted", loop.Truth(false))
		emitted := r.emitted
		a.enter(e, st, body)
		written = emitted
	}
	b.If(written, func() { a.push(e, seg, coords) }, nil)
}

// enter goes on below a bound level. Where the next level starts a segment,
// the number of entries appended to it is stored for its parent.
func (a *assembly) enter(e *emitter, st *state, body func()) {
	r := &st.result
	next := -1
	if r.level < len(a.levels) && a.levels[r.level].Ranges() {
		next = a.segmentOf(r.level)
	}
	if next < 0 || a.mode == countEntries {
		a.descend(e, st, body)
		return
	}
	b := e.B
	if a.allParents && r.level == 1 {
		parent := r.pos
		a.descend(e, st, body)
		ends := loop.Expr(loop.Truth(true))
		if e.split != nil {
			ends = b.Lt(parent, e.split.end[0]) // else another chunk has the rest of the row
		}
		b.If(ends, func() {
			b.Store(e.Write(a.segments[next].pos), b.Add(parent, loop.Int(1)), b.Cast(e.opts.positions(), a.current[next]))
		}, nil)
		return
	}
	parent, before := r.pos, b.Let("before", a.current[next])
	a.descend(e, st, body)
	n := b.Let("n", b.Sub(a.current[next], before))
	// A parent without entries may not exist itself: positions start as zeros.
	b.If(e.leads(b.Gt(n, loop.Int(0))), func() {
		b.Store(e.Write(a.segments[next].pos), b.Add(parent, loop.Int(1)), b.Cast(e.opts.positions(), n))
	}, nil)
}

// push appends an entry with the given coordinates.
func (a *assembly) push(e *emitter, seg int, coords []loop.Expr) {
	b, cur := e.B, a.current[seg]
	if a.mode == fillEntries {
		b.If(e.leads(loop.Truth(true)), func() {
			for i, c := range coords {
				crd := e.Write(a.segments[seg].crd[i])
				b.Store(crd, cur, b.Cast(b.Elem(crd), c))
			}
		}, nil)
	}
	b.Assign(cur, b.Add(cur, loop.Int(1)))
}

// leaf writes the value of one coordinate, if the operands' patterns say that
// it is stored.
func (a *assembly) leaf(e *emitter, st *state, s *ir.Assign) {
	b := e.B
	cond := e.leafCondition(st, s)
	scatter := e.step.Scatter
	// What the guard computes stays inside it.
	inner := st.clone()
	b.If(cond, func() {
		last := len(a.segments) - 1
		if a.mode == fillEntries {
			at := st.result.pos
			if a.appendsAtLeaf(last) {
				at = a.current[last]
			}
			vals, x := e.Write(a.values), e.expr(inner, s.Value)
			if scatter {
				at = b.Let("at", at)
				x = fold.Step(e.B, e.step.Fold, b.Load(vals, at), x)
			}
			b.Store(vals, at, x)
		}
		if a.appendsAtLeaf(last) {
			a.push(e, last, st.result.coords)
		} else if st.result.emitted != nil {
			b.Assign(st.result.emitted, loop.Truth(true))
		}
	}, nil)
}

// leafCondition tells whether the operands' patterns say that the value at one coordinate
// is stored.
func (e *emitter) leafCondition(st *state, s *ir.Assign) loop.Expr {
	sup := e.alg.Stored(s.Value, leaves{e: e, st: st})
	scatter := e.step.Scatter
	if scatter && e.step.Fold.IsNeutral(sup.Background) || !scatter && sup.Background != nil && e.leftAlone(sup.Background) {
		return e.holds(sup.Set, func(at ir.Atom) loop.Expr { return e.atoms[at].flag })
	}
	return loop.Truth(true)
}

// nest emits a whole nest.
func (e *emitter) nest(body ir.Stmt) {
	st := e.start(e.accessesIn(body))
	e.withResult(st, func() { e.stmt(st, body) })
}

// assemble emits the nest in one of its two modes. In fill mode each chunk
// starts at the place that the count gave it.
func (k *kernel) assemble(name string, body ir.Stmt, segments []segment, mode assemblyMode, counts loop.BufferID) (loop.Stage, rootLoop) {
	e := k.emitter(name)
	b := e.B
	e.quiet, e.symbolic = mode == fillEntries, mode == countEntries
	e.out = &assembly{mode: mode, levels: k.step.Result.Format.Physical(), segments: segments, values: k.Result.Values}
	e.root.wanted = k.parallel(body)
	n := loop.Int(int64(len(segments)))
	for i := range segments {
		start := loop.Expr(loop.Int(0))
		if mode == fillEntries {
			start = b.Load(e.Read(counts), b.Add(b.Mul(b.Chunk(), n), loop.Int(int64(i))))
		}
		e.out.current = append(e.out.current, b.Var(fmt.Sprintf("n%d", i), start))
	}
	e.nest(body)
	if mode == countEntries {
		for i := range segments {
			b.Store(e.Write(counts), b.Add(b.Mul(b.Chunk(), n), loop.Int(int64(i))), e.out.current[i])
		}
		return e.Stage("count"), e.root
	}
	return e.Stage("fill"), e.root
}
