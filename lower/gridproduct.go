package lower

import (
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// On grids, a result that is gathered row by row in a workspace, such as a product of
// sparse matrices, is made by teams of threads. How many values a row puts into its
// workspace is counted first. A row with few is a warp's: its lanes share the values of
// all loops of the row evenly, and find out which are of one column by a hash table in
// shared memory (productteam.go). Rows with many are run by single threads, in the
// general way.

// teamProducts is a nest whose rows are shared out to teams.
type teamProducts struct {
	*kernel
	body     *ir.Forall
	work     *ir.Workspace
	store    *workspace
	segments []segment
	root     rootLoop // of the rows
	// products has for each row how many values it puts into its workspace, at most;
	// counts how many entries it appends to each segment, and then their places.
	products, counts loop.BufferID
	rows             loop.ScalarID
	classes          []rowClass
}

// rowClass is a class of rows by their products.
type rowClass struct {
	above, most int64 // products: more than above, at most most
	warps       int   // of a block, whose warps take a row each
	rows        loop.ScalarID
}

// teamClasses are the classes of rows that warps take; smaller ones in tests.
func (k *kernel) teamClasses() []rowClass {
	if k.opts.Grain > 0 {
		return []rowClass{{0, 4, 2, -1}, {4, 64, 2, -1}}
	}
	return []rowClass{{0, 64, 8, -1}, {64, 256, 4, -1}}
}

// teamProducts returns the nest if teams can make it, else nil.
func (k *kernel) teamProducts(body ir.Stmt, segments []segment) *teamProducts {
	outer, ok := body.(*ir.Forall)
	if !ok || !k.opts.Grids || k.opts.Tables || k.step.Scatter || !k.parallel(body) {
		return nil
	}
	work, ok := outer.Body.(*ir.Workspace)
	if !ok || work.Mask != nil || len(k.workspaces) != 1 || !k.copiesLast(work) {
		return nil
	}
	p := &teamProducts{kernel: k, body: outer, work: work, store: k.workspaces[0], segments: segments}
	if len(p.store.vars) != 1 {
		return nil
	}
	p.classes = k.teamClasses()
	p.products = k.buffer(k.step.Result.Name+"_products", loop.I64, loop.Temp)
	return p
}

// copiesLast reports whether the consumer of a workspace copies its entries to the last
// level of the result.
func (k *kernel) copiesLast(work *ir.Workspace) bool {
	f, ok := work.Consumer.(*ir.Forall)
	if !ok {
		return false
	}
	leaf, ok := f.Body.(*ir.Assign)
	if !ok || leaf.LHS == nil {
		return false
	}
	a, ok := leaf.Value.(*ir.Access)
	t := k.step.Result
	levels, order := t.Format.Physical(), t.Format.Order()
	last := len(levels) - 1
	return ok && a.Tensor == work.Tensor && len(a.Indices) == 1 && a.Indices[0].Plain() == f.Index &&
		levels[last].Kind != tensor.DenseLevel && len(levels) > 1 &&
		k.step.LHS.Indices[order[last]].Plain() == f.Index &&
		computeType(t.DType) == computeType(work.Tensor.DType)
}

// stages emits the stages. It reports false, having emitted nothing, where the nest
// turns out to be another than teams can make.
func (p *teamProducts) stages(counts, totals loop.BufferID) bool {
	p.counts = counts
	measure, ok := p.measure()
	if !ok {
		return false
	}
	var count, fill []loop.Stage
	p.rows = p.newScalar(p.step.Result.Name+"_rows", false)
	for i := range p.classes {
		p.classes[i].rows = p.newScalar(p.step.Result.Name+"_class", false)
		for _, mode := range []assemblyMode{countEntries, fillEntries} {
			s, ok := p.teamStage(&p.classes[i], mode)
			if !ok {
				return false
			}
			if mode == countEntries {
				count = append(count, s)
			} else {
				fill = append(fill, s)
			}
		}
	}
	nseg := int64(len(p.segments))
	rows := loop.SizeScalar(p.rows)
	measure.Partition = p.partition(p.root)
	measure.Lets = []loop.ScalarLet{{Scalar: p.rows, Value: p.root.n}}
	measure.Allocs = []loop.Alloc{{Buffer: p.products, Len: rows}}
	measure.Symbolic = true
	p.addStage(measure)
	others := p.classStages()
	p.addStage(loop.Stage{Name: "counts", Partition: -1,
		Allocs: []loop.Alloc{{Buffer: counts, Len: sizeTimes(rows, loop.SizeConst(nseg)), Zero: true}}})

	p.addStages(count)
	// The rest is for single threads.
	part := p.partition(rootLoop{cut: true, n: sizeProduct(rows, loop.SizeScalar(others)), weight: -1, grain: p.root.grain})
	p.boundOthers(part)
	p.makeRoom(part)
	s := p.singles("count", countEntries)
	s.Partition, s.Symbolic = part, true
	p.addStage(s)

	place := p.placeStage(counts, totals, nseg, p.rows)
	place.Symbolic = true
	p.addStage(place)
	p.allocateSegments(p.segments, totals)
	p.addStages(fill)
	s = p.singles("fill", fillEntries)
	s.Partition = part
	p.addStage(s)
	p.positions(p.segments)
	return true
}

func (k *kernel) addStages(list []loop.Stage) { k.program.Stages = append(k.program.Stages, list...) }

// assembling begins a function that runs rows of the nest in one of its modes.
func (p *teamProducts) assembling(e *emitter, mode assemblyMode) {
	e.quiet, e.symbolic = mode == fillEntries, mode == countEntries
	e.out = &assembly{mode: mode, levels: p.step.Result.Format.Physical(), segments: p.segments}
	for range p.segments {
		e.out.current = append(e.out.current, e.b.Var("n", loop.Int(0)))
	}
}

// nest emits the whole nest.
func (p *teamProducts) nest(e *emitter) {
	st := e.start(p.accessesIn(p.body))
	e.withResult(st, func() { e.stmt(st, p.body) })
}

// place is where the number of entries that a row appends to a segment is kept.
func (p *teamProducts) place(b *loop.Builder, row loop.Expr, segment int) loop.Expr {
	return b.Add(b.Mul(row, loop.Int(int64(len(p.segments)))), loop.Int(int64(segment)))
}

// row emits a row between the loading and storing of what is known of its entries.
func (p *teamProducts) row(e *emitter, row loop.Expr, body func(p loop.Expr)) {
	b := e.b
	for i, n := range e.out.current {
		start := loop.Expr(loop.Int(0))
		if e.out.mode == fillEntries {
			start = b.Load(e.read(p.counts), p.place(b, row, i))
		}
		b.Assign(n, start)
	}
	body(row)
	if e.out.mode == countEntries {
		b.If(e.leads(loop.Truth(true)), func() {
			for i, n := range e.out.current {
				b.Store(e.write(p.counts), p.place(b, row, i), n)
			}
		}, nil)
	}
}

// measure is the stage that counts the products of each row. It reports false where rows
// or what they insert cannot be told from loops alone.
func (p *teamProducts) measure() (loop.Stage, bool) {
	e := p.emitter("products_" + p.step.Result.Name)
	e.quiet, e.symbolic = true, true
	e.root.wanted = true
	b, fits := e.b, true
	var n *loop.Ref
	e.shared = &sharing{
		loop: func(w *walk, s steps) bool {
			switch {
			case w.depth == 1:
				if fits = fits && s.plain && w.root.cut; !fits {
					return true
				}
				keys := e.scalar(p.extent(p.store.vars[0]))
				b.For("row", s.begin, s.end, func(row loop.Expr) {
					n = b.Var("products", loop.Int(0))
					s.visit(row)
					if p.keyType() == loop.U32 {
						// The greatest key is no column.
						b.If(b.Ge(keys, loop.Int(math.MaxUint32)), func() { b.Assign(n, b.Add(n, loop.Int(p.most()))) }, nil)
					}
					b.Store(e.write(p.products), row, n)
				})
			case inserts(w.f.Body):
				if fits = fits && s.plain; fits {
					b.Assign(n, b.Add(n, b.Max(loop.Int(0), b.Sub(s.end, s.begin))))
				}
			default:
				return false
			}
			return true
		},
		workspace: func(st *state, s *ir.Workspace) { e.produce(st, s) },
		insert:    func(*emitter, *workspace, loop.Expr, loop.Expr) { fits = false }, // outside all loops
	}
	e.stmt(e.start(p.accessesIn(p.body)), p.body)
	p.root = e.root
	return e.stage("products"), fits && n != nil
}

// inserts reports whether a statement puts one value into a workspace.
func inserts(s ir.Stmt) bool {
	leaf, ok := s.(*ir.Assign)
	return ok && leaf.Temp == nil && leaf.LHS.Tensor.Work != nil
}

// most is how many products a row has at most that a team takes.
func (p *teamProducts) most() int64 { return p.classes[len(p.classes)-1].most }

// keyType is the type of keys in tables.
func (p *teamProducts) keyType() loop.Type { return p.opts.Coordinates }

// classStages counts the rows of each class; the scalar that is returned is 1 where there
// are rows of none, and 0 else.
func (p *teamProducts) classStages() loop.ScalarID {
	name := p.step.Result.Name
	classes := p.buffer(name+"_classes", loop.I64, loop.Temp)
	t := p.gridEmitter("classes", 8, 8)
	b := t.b
	all := append(slices.Clone(p.classes), rowClass{above: p.most(), most: math.MaxInt64})
	var tally []*loop.Ref
	for range all {
		tally = append(tally, b.Var("rows", loop.Int(0)))
	}
	rows := t.scalar(p.rows)
	threads := loop.Int(t.threads())
	at := b.Var("row", b.Add(b.Mul(b.Special(loop.BlockIndex), threads), b.Special(loop.ThreadIndex)))
	step := b.Let("step", b.Mul(b.Special(loop.BlockCount), threads))
	b.While(b.Lt(at, rows), func() {
		n := b.Let("products", b.Load(t.read(p.products), at))
		for i, c := range all {
			b.Assign(tally[i], b.Add(tally[i], b.Cast(loop.I64, c.has(b, n))))
		}
		b.Assign(at, b.Add(at, step))
	})
	for i, n := range tally {
		for d := int64(warpSize / 2); d > 0; d /= 2 {
			b.Assign(n, b.Add(n, b.Shuffle("other", loop.ShuffleXor, n, loop.Int(d), warpSize)))
		}
		b.If(b.And(b.Eq(t.lane(), loop.Int(0)), b.Gt(n, loop.Int(0))), func() {
			b.Atomic(loop.AtomicAdd, t.write(classes), loop.Int(int64(i)), n)
		}, nil)
	}
	const perThread = 8
	s := t.gridStage("classes", sizeMin(sizeCeil(loop.SizeScalar(p.rows), loop.SizeConst(perThread*t.threads())), loop.SizeConst(maxGridBlocks)))
	s.Allocs = []loop.Alloc{{Buffer: classes, Len: loop.SizeConst(len(all)), Zero: true}}
	s.Symbolic = true
	p.addStage(s)
	others := p.newScalar(name+"_others", false)
	sizes := loop.Stage{Name: "rows", Partition: -1}
	for i, c := range append(slices.Clone(p.classes), rowClass{rows: others}) {
		n := loop.SizeExpr(&loop.SizeLoad{Buffer: classes, Index: loop.SizeConst(i)})
		sizes.Lets = append(sizes.Lets, loop.ScalarLet{Scalar: c.rows, Value: sizeMin(n, loop.SizeConst(1))})
	}
	p.addStage(sizes)
	return others
}

// has reports whether a row of n products is of the class.
func (c rowClass) has(b *loop.Builder, n loop.Expr) loop.Expr {
	return b.And(b.Gt(n, loop.Int(c.above)), b.Le(n, loop.Int(c.most)))
}

// others is how single threads run the rows that are of no class: each of the function's
// chunk, between what before and after do.
func (p *teamProducts) others(each func(e *emitter, row loop.Expr, body func(row loop.Expr))) *sharing {
	return &sharing{loop: func(w *walk, s steps) bool {
		if w.depth != 1 {
			return false
		}
		b := w.b
		b.For("row", s.begin, s.end, func(row loop.Expr) {
			b.If(b.Gt(b.Load(w.read(p.products), row), loop.Int(p.most())), func() { each(w.emitter, row, s.visit) }, nil)
		})
		return true
	}}
}

// boundOthers emits the stages that find how much room the workspaces of single threads need.
func (p *teamProducts) boundOthers(part int) {
	p.sharing = p.others(func(_ *emitter, row loop.Expr, body func(loop.Expr)) { body(row) })
	p.boundStages(p.body, part)
	p.sharing = nil
}

// singles is the stage in which single threads run rows.
func (p *teamProducts) singles(name string, mode assemblyMode) loop.Stage {
	e := p.emitter(name + "_" + p.step.Result.Name)
	e.root.wanted = true
	p.assembling(e, mode)
	e.shared = p.others(p.row)
	p.nest(e)
	return e.stage(name)
}

// teamStage is the stage in which warps run the rows of a class. It reports false where
// they cannot.
func (p *teamProducts) teamStage(c *rowClass, mode assemblyMode) (loop.Stage, bool) {
	name := [...]string{countEntries: "count", fillEntries: "fill"}[mode]
	g := p.gridEmitter(fmt.Sprintf("%s%d_%s", name, c.most, p.step.Result.Name), 1, c.warps)
	g.leader = g.b.Let("leader", g.b.Eq(g.lane(), loop.Int(0)))
	p.assembling(g.emitter, mode)
	t := newProductTeam(g, p, c)
	g.shared = &sharing{loop: t.loop, workspace: t.workspace, insert: t.insert}
	p.nest(g.emitter)
	s := g.gridStage(name+"_by_warp", sizeProduct(g.blocksFor(sizeCeil(loop.SizeScalar(p.rows), loop.SizeConst(rowsPerWarp))), loop.SizeScalar(c.rows)))
	s.Symbolic = mode == countEntries
	return s, t.fits && s.Func.Verify(lib.Lookup) == nil
}
