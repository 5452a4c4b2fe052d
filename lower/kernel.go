package lower

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
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
	body := k.outside(k.step.Body)
	if k.step.Result.Format.IsDense() {
		k.dense(body)
	} else {
		k.sparse(body)
	}
	k.runtimeFill()
}

// outside emits the reductions outside all loops of a nest, and returns the rest.
func (k *kernel) outside(body ir.Stmt) ir.Stmt {
	for {
		w, ok := body.(*ir.Where)
		if !ok {
			return body
		}
		k.reduction(w)
		body = w.Consumer
	}
}

// accessesIn lists the accesses of a nest in the order of the step.
func (k *kernel) accessesIn(s ir.Stmt) []*ir.Access { return k.among(ir.AccessesOf(s)) }

// among lists those of a set of accesses in the order of the step.
func (k *kernel) among(set map[*ir.Access]bool) []*ir.Access {
	return k.inOrder(func(a *ir.Access) bool { return set[a] })
}

// inOrder lists some accesses in the order of the step.
func (k *kernel) inOrder(some func(*ir.Access) bool) []*ir.Access {
	var list []*ir.Access
	for _, a := range k.stepAccesses() {
		if some(a) {
			list = append(list, a)
		}
	}
	return list
}

// newCell makes the buffers of a reduction's state, one of each per element.
func (k *kernel) newCell(r *ir.Reduce, suffix string) cell {
	c := cell{temp: r.Temp}
	name := fmt.Sprintf("t%d%s", r.Temp.ID, suffix)
	for i, t := range fold.Types(r) {
		c.state = append(c.state, k.Buffer(fmt.Sprintf("%s_%d", name, i), t, loop.Temp))
	}
	c.seen = k.Buffer(name+"_seen", loop.Bool, loop.Temp)
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
func (e *emitter) storeCell(c cell, acc fold.State, at loop.Expr) {
	for i, id := range c.state {
		e.B.Store(e.Write(id), at, acc.Vars[i])
	}
	e.B.Store(e.Write(c.seen), at, acc.Seen)
}

// loadCell is a reduction computed by an earlier stage.
func (e *emitter) loadCell(c cell) value {
	var vars []*loop.Ref
	if !e.counting() {
		for i, id := range c.state {
			vars = append(vars, e.B.Var(fmt.Sprintf("t%d_%d", c.temp.ID, i), e.B.Load(e.Read(id), loop.Int(0))))
		}
	}
	seen := e.B.Var("seen", e.B.Load(e.Read(c.seen), loop.Int(0)))
	return e.value(fold.Of(e.B, c.temp.Reduce, e.opts.Grids, vars, seen))
}

// reduction emits the stages of a reduction outside all loops: partial results
// of each chunk of its outermost loop, combined in the order of the chunks. The
// cut depends on the data alone, so the result does not depend on threads.
func (k *kernel) reduction(w *ir.Where) {
	r := w.Temp.Reduce
	e := k.emitter(fmt.Sprintf("reduce_t%d", r.Temp.ID))
	pairs, inside := e.flattenedPairs(w) // tables around the two loops are not made
	if pairs == nil {
		inside = w.Producer
	}
	tables := k.tableAllocs(inside)
	e.root.wanted = !k.step.Directives.Serial
	st := e.start(k.accessesIn(w.Producer))
	acc := e.open(r)
	if a, leaf := e.flattened(w); a != nil {
		e.positions(st, a, leaf)
	} else if pairs != nil {
		e.pairs(st, pairs, inside)
	} else {
		e.stmt(st, inside)
	}
	acc.Settle()
	result := k.newCell(r, "")
	part := k.partition(e.root)
	k.addTables(tables, part)
	if part < 0 {
		e.storeCell(result, acc, loop.Int(0))
		s := e.Stage("reduce")
		s.Allocs = result.allocs(loop.SizeConst(1))
		k.AddStage(s)
		k.cells = append(k.cells, result)
		return
	}
	partial := k.newCell(r, "_part")
	e.storeCell(partial, acc, e.B.Chunk())
	n := k.Chunks(part)
	allocs := partial.allocs(n)
	var visited loop.BufferID = -1
	if e.rootGap != nil {
		visited = k.Buffer(fmt.Sprintf("t%d_visited", r.Temp.ID), loop.I64, loop.Temp)
		e.B.Store(e.Write(visited), e.B.Chunk(), e.root.visited)
		allocs = append(allocs, loop.Alloc{Buffer: visited, Len: n})
	}
	s := e.Stage("reduce")
	s.Partition, s.PartitionAllocs = part, allocs
	k.AddStage(s)
	k.combineStage(w, part, partial, result, visited, e.rootGap)
	k.cells = append(k.cells, result)
}

// combineStage emits the stage that combines the partial results of a reduction's
// chunks and folds the gap of its outermost loop.
func (k *kernel) combineStage(w *ir.Where, part int, partial, result cell, visited loop.BufferID, g *gap) {
	r := w.Temp.Reduce
	e := k.emitter(fmt.Sprintf("combine_t%d", r.Temp.ID))
	b := e.B
	var reads []*ir.Access
	if g != nil {
		reads = k.accessesIn(w.Producer)
	}
	st := e.start(reads)
	acc := e.open(r)
	total := b.Var("visited", loop.Int(0))
	b.For("c", loop.Int(0), e.Scalar(k.Program.Partitions[part].Chunks), func(c loop.Expr) {
		var state []loop.Expr
		for i, id := range partial.state {
			state = append(state, b.Let(fmt.Sprintf("part%d", i), b.Load(e.Read(id), c)))
		}
		acc.Absorb(state, b.Load(e.Read(partial.seen), c))
		if acc.Blocks != nil {
			acc.CloseBlock()
		}
		if g != nil {
			b.Assign(total, b.Add(total, b.Load(e.Read(visited), c)))
		}
	})
	if g != nil {
		// Outside the outermost loop there are results of earlier stages.
		g.stored = e.alg.Stored(ir.FirstLeaf(w.Producer).Value, outside{leaves{e: e, st: st, v: g.v}}).Set
		e.foldGap(st, g, total)
	}
	if acc.Blocks != nil {
		acc.JoinBlocks()
	}
	e.storeCell(result, acc, loop.Int(0))
	s := e.Stage("combine")
	s.Allocs = result.allocs(loop.SizeConst(1))
	k.AddStage(s)
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
	return k.among(used)
}

// runtimeFill emits the stage that computes the fill of a sparse result, where
// it depends on extents or scalar operands.
func (k *kernel) runtimeFill() {
	t := k.step.Result
	if t.FillKnown || t.Format.IsDense() {
		return
	}
	id := k.Buffer(t.Name+"_fill", emit.Type(t.DType), loop.Output)
	k.fillStage(id, loop.SizeConst(1), k.step.Background, true)
	k.Result.Fill = id
}
