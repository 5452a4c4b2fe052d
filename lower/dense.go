package lower

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/scatter"
)

// dense emits the stages of a dense result.
func (k *kernel) dense(body ir.Stmt) {
	t := k.step.Result
	k.Result.Values = k.Buffer(t.Name+"_vals", emit.Type(t.DType), loop.Output)
	k.Result.Levels = emit.NoArrays(t.Rank)
	if terms, ok := body.(*ir.Sequence); ok {
		k.terms(terms)
		return
	}
	tables := k.tableAllocs(body)
	e := k.emitter("compute_" + t.Name)
	copies := k.copies(body)
	e.root.wanted = copies || k.parallel(body)
	private := k.privatise(body)
	e.openPrivate(private)
	e.clears = private == nil && k.clearable(body)
	st := e.start(k.accessesIn(body))
	e.stmt(st, body)
	switch {
	case e.cleared:
		k.allocateStage(k.Result.Values, k.Size(k.step.Result, 0), false)
	case k.step.Base != nil:
		k.copyStage(k.Result.Values, k.Size(k.step.Result, 0), k.step.Base)
	case e.gapRows != nil:
		k.fillStage(k.Result.Values, k.Size(k.step.Result, 0), k.step.Gap, true)
		k.scatter.FullStage(e.gapRows)
	default:
		initial, needed := k.initial(e.partial)
		k.fillStage(k.Result.Values, k.Size(k.step.Result, 0), initial, needed && private == nil)
	}
	s := e.Stage("compute")
	if private != nil {
		s.Partition = k.privatePartition(e, private)
		k.addTables(tables, s.Partition)
		private.AddStages(s, k.step.Base != nil)
		return
	}
	s.Partition = k.partition(e.root)
	k.addTables(tables, s.Partition)
	if k.step.Gap == nil || e.gapRows != nil {
		k.scatter.AddUpdates(s, copies)
		return
	}
	s.Allocs = append(s.Allocs, loop.Alloc{Buffer: k.scatter.Visits(), Len: k.Size(k.step.Result, 0), Zero: true})
	k.scatter.AddUpdates(s, copies)
	k.scatter.GapStage()
}

// copies reports whether threads that run a nest may have copies of the result.
func (k *kernel) copies(body ir.Stmt) bool {
	t := k.step.Result.DType
	if _, ok := body.(*ir.Forall); !ok || !k.opts.Copies || !k.step.Scatter || emit.ComputeType(t) != emit.Type(t) {
		return false
	}
	return !k.parallel(body) && k.step.Fold.AnyOrder(t)
}

// privatise makes copies of the result for the parts of a nest, nil if it is not one to be cut.
func (k *kernel) privatise(body ir.Stmt) *scatter.Private {
	if _, ok := body.(*ir.Forall); !ok || k.opts.Private < 2 || k.opts.Grids || !scatter.Privatisable(k.step) || k.parallel(body) {
		return nil
	}
	return k.scatter.NewPrivate(k.opts.Private)
}

// openPrivate makes a function add to the copy of its chunk.
func (e *emitter) openPrivate(p *scatter.Private) {
	if p != nil {
		e.root.wanted, e.private = true, p
		p.Open(e.Func)
	}
}

// privatePartition registers the cut of the nest that e has emitted. If its outermost loop turns out to be none that is
// cut, the program is made again without copies.
func (k *kernel) privatePartition(e *emitter, p *scatter.Private) int {
	if !e.root.cut || e.root.pieces != nil {
		k.opts.Private, k.again = 0, true
	}
	return p.Partition()
}

// clearable reports whether a nest that adds to elements of the result may set those under each index of its outermost loop before it comes to them, which are
// in a cache then, as no other index has them. Where a schedule tiles loops, these stand directly in each other.
func (k *kernel) clearable(body ir.Stmt) bool {
	f, ok := body.(*ir.Forall)
	if !ok || len(k.step.Directives.Tile) > 0 || !k.step.Scatter || k.step.Base != nil || k.step.Gap != nil || k.opts.Grids || k.step.Result.Rank < 2 {
		return false
	}
	return k.step.LHS.Indices[k.step.Result.Format.Order()[0]].Plain() == f.Index
}

// clear sets the elements of the result under index i of the outermost loop, which runs over all of them, to what nothing has been added to.
func (e *emitter) clear(i loop.Expr) {
	if !e.clears || e.depth != 1 {
		return
	}
	e.cleared = true
	b, t := e.B, e.step.Result
	order := t.Format.Order()
	n := loop.Expr(loop.Int(1))
	for _, axis := range order[1:] {
		n = b.Mul(n, e.Scalar(e.Dim(t, axis)))
	}
	row := b.Let("row", b.Mul(i, n))
	if v := e.step.LHS.Indices[order[1]].Plain(); v != nil && t.Rank == 2 {
		n = e.Scalar(e.extent(v)) // as in loops over it, which loop.Tile compares it with
	}
	nothing := emit.Constant(e.step.Fold.Identity(ir.ComputeType(t.DType)))
	b.ForIndependent("p", loop.Int(0), n, func(p loop.Expr) { b.Store(e.Write(e.Result.Values), b.Add(row, p), nothing) })
}

// terms emits the stages of a dense result that is accumulated term by term.
func (k *kernel) terms(list *ir.Sequence) {
	initial, needed := k.initial(true)
	k.fillStage(k.Result.Values, k.Size(k.step.Result, 0), initial, needed)
	for i, body := range list.Stmts {
		body = k.outside(body)
		e := k.emitter(fmt.Sprintf("add%d_%s", i, k.step.Result.Name))
		copies := k.copies(body)
		e.root.wanted = copies || k.parallel(body)
		private := k.privatise(body)
		e.openPrivate(private)
		e.stmt(e.start(k.accessesIn(body)), body)
		s := e.Stage("add")
		if private != nil {
			s.Partition = k.privatePartition(e, private)
			private.AddStages(s, true)
			continue
		}
		s.Partition = k.partition(e.root)
		k.scatter.AddUpdates(s, copies)
	}
}

// initial is what a dense result holds before its nest runs, and whether that
// can be seen afterwards.
func (k *kernel) initial(partial bool) (ir.Expr, bool) {
	t := k.step.Result
	switch {
	case k.step.Scatter:
		return &ir.Literal{Value: k.step.Fold.Identity(ir.ComputeType(t.DType))}, true
	case !k.step.Covers:
		return &ir.Literal{Value: t.Fill.Convert(ir.ComputeType(t.DType))}, true
	}
	return k.step.Background, partial
}

// fillStage allocates a buffer of n elements and, if needed, sets them all to a
// value.
func (k *kernel) fillStage(id loop.BufferID, n loop.SizeExpr, value ir.Expr, needed bool) {
	elem := k.Program.Buffers[id].Elem
	zero := false
	if v, ok := ir.ConstValue(value); ok {
		c := emit.Constant(v)
		zero = c.Bits == 0 && c.Imag == 0
	}
	if !needed || zero {
		k.allocateStage(id, n, needed)
		return
	}
	e := k.emitter("fill_" + k.Program.Buffers[id].Name)
	v := e.B.Let("v", loop.NewCast(elem.Compute(), e.expr(e.start(k.scalarAccesses(value)), value)))
	e.B.ForIndependent("p", e.B.Lo(), e.B.Hi(), func(p loop.Expr) { e.B.Store(e.Write(id), p, v) })
	s := e.Stage("initialise")
	s.Allocs = []loop.Alloc{{Buffer: id, Len: n}}
	s.Partition = k.partition(rootLoop{cut: true, n: n, weight: -1})
	k.AddStage(s)
}

// allocateStage allocates a buffer.
func (k *kernel) allocateStage(id loop.BufferID, n loop.SizeExpr, zero bool) {
	k.AddStage(loop.Stage{Name: "allocate", Partition: -1, Allocs: []loop.Alloc{{Buffer: id, Len: n, Zero: zero}}})
}

// copyStage allocates a buffer of n elements and copies those of a dense tensor.
func (k *kernel) copyStage(id loop.BufferID, n loop.SizeExpr, from *ir.Tensor) {
	e := k.emitter("copy_" + k.Program.Buffers[id].Name)
	vals := e.Read(e.Input(from, 0, emit.Values))
	e.B.ForIndependent("p", e.B.Lo(), e.B.Hi(), func(p loop.Expr) { e.B.Store(e.Write(id), p, e.B.Load(vals, p)) })
	s := e.Stage("copy")
	s.Allocs = []loop.Alloc{{Buffer: id, Len: n}}
	s.Partition = k.partition(rootLoop{cut: true, n: n, weight: -1})
	k.AddStage(s)
}
