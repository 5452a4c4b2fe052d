package lower

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// cell holds a reduction that a stage of its own has computed, because nothing
// it reads is bound by a loop: one element for each part of its state.
type cell struct {
	temp  *ir.Temp
	state []loop.BufferID
	seen  loop.BufferID
}

// lower cuts the step into stages: reductions outside all loops first, then
// what prepares the result, then the nest that writes it.
func (k *kernel) lower() {
	body := k.step.Body
	for {
		w, ok := body.(*ir.Where)
		if !ok {
			break
		}
		k.reduction(w)
		body = w.Consumer
	}
	if k.step.Result.Format.IsDense() {
		k.dense(body)
	} else {
		k.sparse(body)
	}
	k.runtimeFill()
}

// accessesIn lists the accesses of a nest in the order of the step.
func (k *kernel) accessesIn(s ir.Stmt) []*ir.Access {
	used := accessesOf(s)
	var list []*ir.Access
	for _, a := range k.stepAccesses() {
		if used[a] {
			list = append(list, a)
		}
	}
	return list
}

// partition registers the cut of a function's outermost loop; -1 without one.
func (k *kernel) partition(r rootLoop) int {
	if !r.cut {
		return -1
	}
	id := len(k.program.Partitions)
	name := fmt.Sprintf("cut%d", id)
	grain := r.grain
	switch {
	case k.opts.Grain > 0:
		grain = k.opts.Grain
	case grain == 0:
		grain = chunkGrain
	}
	k.program.Partitions = append(k.program.Partitions, loop.Partition{
		Name: name, N: r.n, Weights: r.weight, Grain: grain,
		Chunks: k.newScalar(name+"_chunks", false),
	})
	return id
}

// chunks is the number of chunks of a partition, 1 without one.
func (k *kernel) chunks(partition int) loop.SizeExpr {
	if partition < 0 {
		return loop.SizeConst(1)
	}
	return loop.SizeScalar(k.program.Partitions[partition].Chunks)
}

func (k *kernel) addStage(s loop.Stage) { k.program.Stages = append(k.program.Stages, s) }

// newCell makes the buffers of a reduction's state, one of each per element.
func (k *kernel) newCell(r *ir.Reduce, suffix string) cell {
	c := cell{temp: r.Temp}
	name := fmt.Sprintf("t%d%s", r.Temp.ID, suffix)
	for i, t := range stateTypes(r) {
		c.state = append(c.state, k.buffer(fmt.Sprintf("%s_%d", name, i), t, loop.Temp))
	}
	c.seen = k.buffer(name+"_seen", loop.Bool, loop.Temp)
	return c
}

func (c cell) buffers() []loop.BufferID {
	return append(append([]loop.BufferID(nil), c.state...), c.seen)
}

func (c cell) allocs(n loop.SizeExpr) []loop.Alloc {
	var list []loop.Alloc
	for _, id := range c.buffers() {
		list = append(list, loop.Alloc{Buffer: id, Len: n})
	}
	return list
}

// storeCell writes a fold's state to element at of the cell's buffers.
func (e *emitter) storeCell(c cell, acc accumulator, at loop.Expr) {
	for i, id := range c.state {
		e.b.Store(e.write(id), at, acc.state[i])
	}
	e.b.Store(e.write(c.seen), at, acc.seen)
}

// loadCell is a reduction computed by an earlier stage.
func (e *emitter) loadCell(c cell) value {
	acc := accumulator{reduce: c.temp.Reduce}
	if !e.counting() {
		for i, id := range c.state {
			acc.state = append(acc.state, e.b.Var(fmt.Sprintf("t%d_%d", c.temp.ID, i), e.b.Load(e.read(id), loop.Int(0))))
		}
	}
	acc.seen = e.b.Var("seen", e.b.Load(e.read(c.seen), loop.Int(0)))
	return e.value(acc)
}

// reduction emits the stages of a reduction outside all loops: partial results
// of each chunk of its outermost loop, combined in the order of the chunks. The
// cut depends on the data alone, so the result does not depend on threads.
func (k *kernel) reduction(w *ir.Where) {
	r := w.Temp.Reduce
	e := k.emitter(fmt.Sprintf("reduce_t%d", r.Temp.ID))
	e.root.wanted = true
	st := e.start(k.accessesIn(w.Producer))
	acc := e.open(r)
	e.stmt(st, w.Producer)
	result := k.newCell(r, "")
	part := k.partition(e.root)
	if part < 0 {
		e.storeCell(result, acc, loop.Int(0))
		s := e.stage("reduce")
		s.Allocs = result.allocs(loop.SizeConst(1))
		k.addStage(s)
		k.cells = append(k.cells, result)
		return
	}
	partial := k.newCell(r, "_part")
	e.storeCell(partial, acc, e.b.Chunk())
	n := k.chunks(part)
	allocs := partial.allocs(n)
	var visited loop.BufferID = -1
	if e.rootGap != nil {
		visited = k.buffer(fmt.Sprintf("t%d_visited", r.Temp.ID), loop.I64, loop.Temp)
		e.b.Store(e.write(visited), e.b.Chunk(), e.root.visited)
		allocs = append(allocs, loop.Alloc{Buffer: visited, Len: n})
	}
	s := e.stage("reduce")
	s.Partition, s.PartitionAllocs = part, allocs
	k.addStage(s)
	k.combineStage(r, part, partial, result, visited, e.rootGap)
	k.cells = append(k.cells, result)
}

func (k *kernel) combineStage(r *ir.Reduce, part int, partial, result cell, visited loop.BufferID, g *gap) {
	e := k.emitter(fmt.Sprintf("combine_t%d", r.Temp.ID))
	b := e.b
	var reads []*ir.Access
	if g != nil {
		reads = k.scalarAccesses(g.value)
	}
	st := e.start(reads)
	acc := e.open(r)
	total := b.Var("visited", loop.Int(0))
	b.For("c", loop.Int(0), e.scalar(k.program.Partitions[part].Chunks), func(c loop.Expr) {
		var state []loop.Expr
		for i, id := range partial.state {
			state = append(state, b.Let(fmt.Sprintf("part%d", i), b.Load(e.read(id), c)))
		}
		e.absorb(acc, state, b.Load(e.read(partial.seen), c))
		if g != nil {
			b.Assign(total, b.Add(total, b.Load(e.read(visited), c)))
		}
	})
	if g != nil {
		g.stored = ir.None() // nothing is stored outside the outermost loop
		e.foldGap(st, g, total)
	}
	e.storeCell(result, acc, loop.Int(0))
	s := e.stage("combine")
	s.Allocs = result.allocs(loop.SizeConst(1))
	k.addStage(s)
}

// size is the number of elements of the result's dense levels from level on.
func (k *kernel) size(level int) loop.SizeExpr {
	t := k.step.Result
	var n loop.SizeExpr = loop.SizeConst(1)
	for l, axis := range t.Format.Order() {
		if l >= level {
			n = sizeTimes(n, loop.SizeScalar(k.dim(t, axis)))
		}
	}
	return n
}

func sizeTimes(x, y loop.SizeExpr) loop.SizeExpr {
	if x == loop.SizeConst(1) {
		return y
	}
	return &loop.SizeOp{Op: loop.Mul, X: x, Y: y}
}

// dense emits the stages of a dense result.
func (k *kernel) dense(body ir.Stmt) {
	t := k.step.Result
	k.result.Values = k.buffer(t.Name+"_vals", loopType(t.DType), loop.Output)
	for range t.Format.Physical() {
		k.result.Levels = append(k.result.Levels, ResultLevel{Pos: -1, Crd: -1})
	}
	e := k.emitter("compute_" + t.Name)
	e.root.wanted = k.parallel(body)
	st := e.start(k.accessesIn(body))
	e.stmt(st, body)
	if k.step.Base != nil {
		k.copyStage(k.result.Values, k.size(0), k.step.Base)
	} else {
		initial, needed := k.initial(e.partial)
		k.fillStage(k.result.Values, k.size(0), initial, needed)
	}
	s := e.stage("compute")
	s.Partition = k.partition(e.root)
	k.addStage(s)
}

// parallel reports whether the outermost loop may be cut: its chunks then write
// different elements of the result, and of a sparse one different parts of every
// level.
func (k *kernel) parallel(body ir.Stmt) bool {
	f, ok := body.(*ir.Forall)
	if !ok {
		return false
	}
	if t := k.step.Result; !t.Format.IsDense() {
		return k.step.LHS.Indices[t.Format.Order()[0]].Plain() == f.Index
	}
	for _, x := range k.step.LHS.Indices {
		if x.Plain() == f.Index {
			return true
		}
	}
	return false
}

// initial is what a dense result holds before its nest runs, and whether that
// can be seen afterwards.
func (k *kernel) initial(partial bool) (ir.Expr, bool) {
	t := k.step.Result
	switch {
	case k.step.Scatter:
		return &ir.Const{Value: k.step.Fold.Identity(ir.ComputeType(t.DType))}, true
	case !k.step.Covers:
		return &ir.Const{Value: t.Fill.Convert(ir.ComputeType(t.DType))}, true
	}
	return k.step.Background, partial
}

// fillStage allocates a buffer of n elements and, if needed, sets them all to a
// value.
func (k *kernel) fillStage(id loop.BufferID, n loop.SizeExpr, value ir.Expr, needed bool) {
	elem := k.program.Buffers[id].Elem
	zero := false
	if v, ok := ir.ConstValue(value); ok {
		c := constant(v)
		zero = c.Bits == 0 && c.Imag == 0
	}
	if !needed || zero {
		k.addStage(loop.Stage{Name: "allocate", Partition: -1, Allocs: []loop.Alloc{{Buffer: id, Len: n, Zero: needed}}})
		return
	}
	e := k.emitter("fill_" + k.program.Buffers[id].Name)
	v := e.b.Let("v", loop.NewCast(elem.Compute(), e.expr(e.start(k.scalarAccesses(value)), value)))
	e.b.ForIndependent("p", e.b.Lo(), e.b.Hi(), func(p loop.Expr) { e.b.Store(e.write(id), p, v) })
	s := e.stage("initialise")
	s.Allocs = []loop.Alloc{{Buffer: id, Len: n}}
	s.Partition = k.partition(rootLoop{cut: true, n: n, weight: -1})
	k.addStage(s)
}

// copyStage allocates a buffer of n elements and copies those of a dense tensor.
func (k *kernel) copyStage(id loop.BufferID, n loop.SizeExpr, from *ir.Tensor) {
	e := k.emitter("copy_" + k.program.Buffers[id].Name)
	vals := e.read(e.input(from, 0, Values))
	e.b.ForIndependent("p", e.b.Lo(), e.b.Hi(), func(p loop.Expr) { e.b.Store(e.write(id), p, e.b.Load(vals, p)) })
	s := e.stage("copy")
	s.Allocs = []loop.Alloc{{Buffer: id, Len: n}}
	s.Partition = k.partition(rootLoop{cut: true, n: n, weight: -1})
	k.addStage(s)
}

// scalarAccesses lists the tensor elements that a background reads: operands of
// rank 0, and elements at constant coordinates.
func (k *kernel) scalarAccesses(x ir.Expr) []*ir.Access {
	if x == nil {
		return nil
	}
	used := map[*ir.Access]bool{}
	ir.Walk(x, func(y ir.Expr) {
		if a, ok := y.(*ir.Access); ok {
			used[a] = true
		}
	})
	var list []*ir.Access
	for _, a := range k.stepAccesses() {
		if used[a] {
			list = append(list, a)
		}
	}
	return list
}

// sparse emits the stages of a sparse result: count, place, fill, and the sums
// that turn counts into positions.
func (k *kernel) sparse(body ir.Stmt) {
	t := k.step.Result
	segments := k.segmentsOf(t)
	k.result.Values = k.buffer(t.Name+"_vals", loopType(t.DType), loop.Output)
	k.prepareWorkspaces(body)
	counts := k.buffer(t.Name+"_counts", loop.I64, loop.Temp)
	totals := k.buffer(t.Name+"_totals", loop.I64, loop.Temp)
	nseg := int64(len(segments))
	if k.opts.OnePass {
		if bound := k.entryBound(body); bound != nil {
			k.onePass(body, segments, totals, bound)
			k.sparseLevels(segments)
			return
		}
	}

	count, root := k.assemble("count_"+t.Name, body, segments, countEntries, counts)
	part := k.partition(root)
	count.Partition = part
	n := sizeTimes(k.chunks(part), loop.SizeConst(nseg))
	count.PartitionAllocs = []loop.Alloc{{Buffer: counts, Len: n}}
	if part < 0 {
		count.Allocs, count.PartitionAllocs = count.PartitionAllocs, nil
	}
	k.boundStages(body, part)
	k.makeRoom()
	count.Symbolic = true
	k.addStage(count)
	place := k.placeStage(counts, totals, nseg, part)
	place.Symbolic = true
	k.addStage(place)

	fill, _ := k.assemble("fill_"+t.Name, body, segments, fillEntries, counts)
	fill.Partition = part
	k.allocateSegments(segments, totals)
	k.addStage(fill)
	k.positions(segments)

	k.sparseLevels(segments)
}

// makeRoom emits the stage that allocates workspaces.
func (k *kernel) makeRoom() {
	if len(k.workspaces) == 0 {
		return
	}
	room := loop.Stage{Name: "workspaces", Partition: -1}
	for _, w := range k.workspaces {
		room.Allocs = append(room.Allocs, w.store.allocs(k, w)...)
	}
	k.addStage(room)
}

// sparseLevels says where the arrays of a sparse result are.
func (k *kernel) sparseLevels(segments []segment) {
	levels := k.step.Result.Format.Physical()
	k.result.Levels = make([]ResultLevel, len(levels))
	for l := range levels {
		k.result.Levels[l] = ResultLevel{Pos: -1, Crd: -1}
	}
	for _, s := range segments {
		k.result.Levels[s.first].Pos = s.pos
		for i, crd := range s.crd {
			k.result.Levels[s.first+i].Crd = crd
		}
	}
}

// assemble emits the nest in one of its two modes. In fill mode each chunk
// starts at the place that the count gave it.
func (k *kernel) assemble(name string, body ir.Stmt, segments []segment, mode assemblyMode, counts loop.BufferID) (loop.Stage, rootLoop) {
	e := k.emitter(name)
	b := e.b
	e.quiet, e.symbolic = mode == fillEntries, mode == countEntries
	e.out = &assembly{mode: mode, levels: k.step.Result.Format.Physical(), segments: segments}
	e.root.wanted = k.parallel(body)
	n := loop.Int(int64(len(segments)))
	for i := range segments {
		start := loop.Expr(loop.Int(0))
		if mode == fillEntries {
			start = b.Load(e.read(counts), b.Add(b.Mul(b.Chunk(), n), loop.Int(int64(i))))
		}
		e.out.current = append(e.out.current, b.Var(fmt.Sprintf("n%d", i), start))
	}
	st := e.start(k.accessesIn(body))
	e.withResult(st, func() { e.stmt(st, body) })
	if mode == countEntries {
		for i := range segments {
			b.Store(e.write(counts), b.Add(b.Mul(b.Chunk(), n), loop.Int(int64(i))), e.out.current[i])
		}
		return e.stage("count"), e.root
	}
	return e.stage("fill"), e.root
}

// placeStage turns the counts of chunks into the places where they start.
func (k *kernel) placeStage(counts, totals loop.BufferID, nseg int64, part int) loop.Stage {
	e := k.emitter("place")
	b := e.b
	chunks := loop.Expr(loop.Int(1))
	if part >= 0 {
		chunks = e.scalar(k.program.Partitions[part].Chunks)
	}
	cnt, tot := e.write(counts), e.write(totals)
	for s := int64(0); s < nseg; s++ {
		sum := b.Var("sum", loop.Int(0))
		b.For("c", loop.Int(0), chunks, func(c loop.Expr) {
			at := b.Let("at", b.Add(b.Mul(c, loop.Int(nseg)), loop.Int(s)))
			n := b.Let("n", b.Load(cnt, at))
			b.Store(cnt, at, sum)
			b.Assign(sum, b.Add(sum, n))
			e.checkEntries(sum)
		})
		b.Store(tot, loop.Int(s), sum)
	}
	st := e.stage("place")
	st.Allocs = []loop.Alloc{{Buffer: totals, Len: loop.SizeConst(nseg)}}
	return st
}

// allocateSegments sizes the result's arrays by the totals.
func (k *kernel) allocateSegments(segments []segment, totals loop.BufferID) {
	t := k.step.Result
	s := loop.Stage{Name: "allocate", Partition: -1}
	order := t.Format.Order()
	var parents loop.SizeExpr = loop.SizeConst(1)
	next := 0
	for l := range order {
		switch {
		case next < len(segments) && segments[next].first == l:
			seg := segments[next]
			s.Lets = append(s.Lets, loop.ScalarLet{Scalar: seg.total, Value: &loop.SizeLoad{Buffer: totals, Index: loop.SizeConst(next)}})
			s.Allocs = append(s.Allocs, loop.Alloc{Buffer: seg.pos, Len: &loop.SizeOp{Op: loop.Add, X: parents, Y: loop.SizeConst(1)}, Zero: true})
			for _, crd := range seg.crd {
				s.Allocs = append(s.Allocs, loop.Alloc{Buffer: crd, Len: loop.SizeScalar(seg.total)})
			}
			parents = loop.SizeScalar(seg.total)
			next++
		case next > 0 && segments[next-1].last >= l:
			// A singleton: its entries are those of its segment.
		default:
			parents = sizeTimes(parents, loop.SizeScalar(k.dim(t, order[l])))
		}
	}
	k.addStage(s)
	last := segments[len(segments)-1].last
	background := ir.Expr(&ir.Const{Value: t.Fill.Convert(ir.ComputeType(t.DType))})
	switch {
	case k.step.Scatter:
		background = &ir.Const{Value: k.step.Fold.Identity(ir.ComputeType(t.DType))}
	case !t.FillKnown:
		background = k.step.Background
	}
	k.fillStage(k.result.Values, parents, background, last < len(order)-1)
}

// positions sums the counts that the fill left in the positions arrays. The
// root segment has one parent: its count is the total.
func (k *kernel) positions(segments []segment) {
	e := k.emitter("positions")
	b := e.b
	for _, s := range segments {
		pos := e.write(s.pos)
		if s.first == 0 {
			b.Store(pos, loop.Int(1), b.Cast(loop.U64, e.scalar(s.total)))
			continue
		}
		n := e.parents(segments, s.first)
		sum := b.Var("sum", loop.Number(loop.U64, 0))
		b.For("p", loop.Int(0), n, func(p loop.Expr) {
			at := b.Let("at", b.Add(p, loop.Int(1)))
			b.Assign(sum, b.Add(sum, b.Load(pos, at)))
			b.Store(pos, at, sum)
		})
	}
	k.addStage(e.stage("positions"))
}

// parents is the number of positions above a level.
func (e *emitter) parents(segments []segment, level int) loop.Expr {
	t := e.step.Result
	order := t.Format.Order()
	var n loop.Expr = loop.Int(1)
	for l := 0; l < level; l++ {
		inside := false
		for _, s := range segments {
			switch {
			case s.first == l:
				n, inside = e.scalar(s.total), true
			case s.first < l && l <= s.last:
				inside = true
			}
		}
		if !inside {
			n = e.b.Mul(n, e.scalar(e.dim(t, order[l])))
		}
	}
	return n
}

// runtimeFill emits the stage that computes the fill of a sparse result, where
// it depends on extents or scalar operands.
func (k *kernel) runtimeFill() {
	t := k.step.Result
	if t.FillKnown || t.Format.IsDense() {
		return
	}
	id := k.buffer(t.Name+"_fill", loopType(t.DType), loop.Output)
	k.fillStage(id, loop.SizeConst(1), k.step.Background, true)
	k.result.Fill = id
}
