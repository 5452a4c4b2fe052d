package lower

import (
	"fmt"
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/coop"
	"github.com/lacuna-sparse/lacuna/lower/workspace"
)

// On grids, a result that is gathered row by row in a workspace, such as a product of
// sparse matrices, is made by teams of threads. How many values a row puts into its
// workspace is counted first. A row with few is a warp's: its lanes share the values of
// all loops of the row evenly, and find out which are of one column by a hash table in
// shared memory (gridproductteam.go, gridproducthash.go). A row with so many that few columns are
// without one is cut into slices of columns that blocks take, with a place for each column
// (gridproductslice.go). Other rows are run by single threads, in the general way.

// teamProducts is a nest whose rows are shared out to teams.
type teamProducts struct {
	*kernel
	body     *ir.Forall
	consumer consumer
	store    *gathering
	segments []segment
	root     rootLoop // of the rows
	// products has for each row how many values it puts into its workspace, at most;
	// counts how many entries it appends to each segment, and then their places.
	products, counts loop.BufferID
	rows             loop.ScalarID
	classes          []rowClass
	slicing          slicing
	// others is 1 if there are rows for single threads, else 0.
	others loop.ScalarID
}

// rowClass is a class of rows by their products.
type rowClass struct {
	above, most int64         // products: more than above, at most most
	team, warps int           // warps of a team, which takes a row, and of a block
	some        loop.ScalarID // 1 if there are rows of the class, else 0
}

// teamClasses are the classes of rows that teams take, by their products; smaller ones in tests.
func (p *teamProducts) teamClasses() []rowClass {
	list := []rowClass{{most: 64, team: 1, warps: 8}, {most: 256, team: 1, warps: 4}, {most: 1024, team: 8, warps: 8}}
	if p.opts.Grain > 0 {
		list = []rowClass{{most: 4, team: 1, warps: 2}, {most: 64, team: 1, warps: 2}, {most: 128, team: 2, warps: 2}}
	}
	above := int64(0)
	for i := range list {
		c := &list[i]
		c.above = above
		for c.bytes(p) > loop.MaxShared {
			if c.team == 1 && c.warps > 2 {
				c.warps--
			} else {
				c.most /= 2
			}
		}
		above = c.most
		c.some = p.NewScalar(p.step.Result.Name+"_class", false)
	}
	return list
}

// bytes is the shared memory that a block needs to fill rows.
func (c *rowClass) bytes(p *teamProducts) int64 {
	const more = 512 // sums, and what arrays are rounded up by
	key, value := int64(p.keyType().Size()), int64(p.store.ValueType().Size())
	n := max(c.most, warpSize)
	return int64(c.warps/c.team)*(n*(3*key+2*value+8)+int64(c.team)*warpSize*16) + more
}

// teamProducts returns the nest if teams can make it, else nil.
func (k *kernel) teamProducts(body ir.Stmt, segments []segment) *teamProducts {
	outer, ok := body.(*ir.Forall)
	if !ok || !k.opts.Grids || k.opts.Tables || k.step.Scatter || !k.parallel(body) {
		return nil
	}
	work, ok := outer.Body.(*ir.Workspace)
	if !ok || len(k.workspaces) != 1 || len(k.workspaces[0].Vars) != 1 {
		return nil
	}
	p := &teamProducts{kernel: k, body: outer, store: k.workspaces[0], segments: segments}
	if p.consumer, ok = k.lastConsumer(work); !ok {
		return nil
	}
	p.classes = p.teamClasses()
	name := k.step.Result.Name
	p.products = k.Buffer(name+"_products", loop.I64, loop.Temp)
	p.rows, p.others = k.NewScalar(name+"_rows", false), k.NewScalar(name+"_others", false)
	p.slicing = p.newSlicing()
	return p
}

// consumer is what is made of the entries of a workspace: an entry of the last level of
// the result for each, or for some.
type consumer struct {
	loop *ir.Forall
	leaf *ir.Assign
	work *ir.Access // the workspace, as the leaf reads it
	// plain is where the leaf is the workspace's value alone, and its entries are all that is
	// taken.
	plain bool
}

// lastConsumer is the consumer of a workspace, if it is of that kind.
func (k *kernel) lastConsumer(work *ir.Workspace) (consumer, bool) {
	f, ok := work.Consumer.(*ir.Forall)
	if !ok {
		return consumer{}, false
	}
	leaf, ok := f.Body.(*ir.Assign)
	if !ok || leaf.LHS == nil {
		return consumer{}, false
	}
	t := k.step.Result
	levels, order := t.Format.Physical(), t.Format.Order()
	last := len(levels) - 1
	c := consumer{loop: f, leaf: leaf}
	for a := range ir.AccessesOf(leaf) {
		if a.Tensor == work.Tensor {
			ok = ok && c.work == nil
			c.work = a
		}
	}
	if !ok || c.work == nil {
		return consumer{}, false
	}
	c.plain = leaf.Value == ir.Expr(c.work) && emit.ComputeType(t.DType) == emit.ComputeType(work.Tensor.DType)
	return c, !levels[last].Full() && len(levels) > 1 && k.step.LHS.Indices[order[last]].Plain() == f.Index
}

// beside are the operands whose entries the consumer takes, whether the workspace has them or not. It
// reports false where it takes more than entries.
func (p *teamProducts) beside(e *emitter, st *state) ([]*iterator, bool) {
	c, w := p.consumer, p.store
	e.entries[w] = loop.Int(0) // it can be read from here on
	rest := st.clone()
	delete(rest.cursors, c.work)
	its := e.iterators(rest, c.loop.Index, c.loop.Body)
	own := &iterator{cursor: cursor{access: c.work}}
	e.atoms = append(e.atoms, atom{name: c.work.Tensor.Name, iter: own})
	own.atom = ir.Atom(len(e.atoms) - 1)
	l := leaves{e: e, st: st, v: c.loop.Index, iters: map[*ir.Access]*iterator{c.work: own}}
	for _, it := range its {
		l.iters[it.access] = it
	}
	set := e.need(c.loop.Body, l)
	if set.Inside(ir.AtomOf(own.atom)) {
		return nil, true
	}
	// A key of another operand is taken for one of the workspace, with the value of its gaps.
	identity := w.Fold().Identity(ir.WorkOf(w.Tensor).Typ)
	args := set.Args()
	if _, alone := set.IsAtom(); alone {
		args = []ir.SetExpr{set}
	} else if !set.IsUnionOfAtoms() {
		return nil, false
	}
	if !bare(c.leaf.Value, c.work) || !w.Tensor.FillKnown || !sameValue(identity, w.Tensor.Fill.Convert(identity.DType())) {
		return nil, false
	}
	var list []*iterator
	for _, x := range args {
		a, _ := x.IsAtom()
		it := e.atoms[a].iter
		switch {
		case it == own:
		case it == nil || !it.unique || it.stride > 1 || it.trimmed || it.run != nil:
			return nil, false
		default:
			list = append(list, it)
		}
	}
	return list, true
}

// bare reports whether an expression takes a value only as a term of sums, or as what is chosen under a condition that does not read it: then it is all the same
// whether the value is absent or 0. In a quotient, times an infinity, or with its sign changed, it is not.
func bare(e ir.Expr, a *ir.Access) bool {
	switch e := e.(type) {
	case *ir.Access:
		return true
	case *ir.Cast:
		return bare(e.X, a)
	case *ir.Call:
		return (e.Fn == "+" || e.Fn == "-") && bare(e.Args[0], a) && bare(e.Args[1], a) || !reads(e, a)
	case *ir.Select:
		return !reads(e.Cond, a) && bare(e.Then, a) && bare(e.Else, a)
	}
	return !reads(e, a)
}

func reads(e ir.Expr, a *ir.Access) bool {
	found := false
	ir.Walk(e, func(x ir.Expr) { found = found || x == ir.Expr(a) })
	return found
}

// stages emits the stages. It reports false, having emitted nothing, where the nest
// turns out to be another than teams can make.
func (p *teamProducts) stages(counts, totals loop.BufferID) bool {
	p.counts = counts
	measure, ok := p.measure()
	if !ok {
		return false
	}
	var stages [2][]loop.Stage // by mode
	for _, mode := range []assemblyMode{countEntries, fillEntries} {
		for i := range p.classes {
			s, ok := p.teamStage(&p.classes[i], mode)
			if !ok {
				return false
			}
			stages[mode] = append(stages[mode], s)
		}
		s, ok := p.sliceStage(mode)
		if !ok {
			return false
		}
		stages[mode] = append(stages[mode], s)
	}
	nseg := int64(len(p.segments))
	rows := loop.SizeScalar(p.rows)
	measure.Partition = p.partition(p.root)
	measure.Lets = []loop.ScalarLet{{Scalar: p.rows, Value: p.root.n}}
	measure.Allocs = []loop.Alloc{{Buffer: p.products, Len: rows}}
	measure.Symbolic = true
	p.AddStage(measure)
	p.classStages()
	p.AddStage(loop.Stage{Name: "counts", Partition: -1,
		Allocs: []loop.Alloc{{Buffer: counts, Len: emit.Times(rows, loop.SizeConst(nseg)), Zero: true}}})

	p.AddStages(stages[countEntries])
	p.joinSlices()
	// The rest is for single threads.
	part := p.partition(rootLoop{cut: true, n: emit.Product(rows, loop.SizeScalar(p.others)), weight: -1, grain: p.root.grain})
	p.makeRoom(part)
	s := p.singles("count", countEntries)
	s.Partition, s.Symbolic = part, true
	p.AddStage(s)

	place := p.placeStage(counts, totals, nseg, p.rows)
	place.Symbolic = true
	p.AddStage(place)
	p.allocateSegments(p.segments, totals)
	p.AddStages(stages[fillEntries])
	s = p.singles("fill", fillEntries)
	s.Partition = part
	p.AddStage(s)
	p.positions(p.segments, 0)
	return true
}

// assembling begins a function that runs rows of the nest in one of its modes.
func (p *teamProducts) assembling(e *emitter, mode assemblyMode) {
	e.quiet, e.symbolic = true, mode == countEntries
	e.out = &assembly{mode: mode, levels: p.step.Result.Format.Physical(), segments: p.segments, values: p.Result.Values}
	for range p.segments {
		e.out.current = append(e.out.current, e.B.Var("n", loop.Int(0)))
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
	b := e.B
	p.openRow(e, row)
	body(row)
	if e.out.mode == countEntries {
		b.If(e.leads(loop.Truth(true)), func() {
			for i, n := range e.out.current {
				b.Store(e.Write(p.counts), p.place(b, row, i), n)
			}
		}, nil)
	}
}

// openRow says where the entries of a row begin: at its places, or at 0 to count them.
func (p *teamProducts) openRow(e *emitter, row loop.Expr) {
	for i, n := range e.out.current {
		start := loop.Expr(loop.Int(0))
		if e.out.mode == fillEntries {
			start = e.B.Load(e.Read(p.counts), p.place(e.B, row, i))
		}
		e.B.Assign(n, start)
	}
}

// measure is the stage that counts the products of each row. It reports false where rows
// or what they insert cannot be told from loops alone.
func (p *teamProducts) measure() (loop.Stage, bool) {
	e := p.emitter("products_" + p.step.Result.Name)
	e.quiet, e.symbolic = true, true
	e.root.wanted = true
	b, fits := e.B, true
	var n *loop.Ref
	e.shared = &sharing{
		loop: func(w *walk, s steps) bool {
			switch {
			case w.depth == 1:
				if fits = fits && s.plain && w.root.cut; !fits {
					return true
				}
				keys := e.Scalar(p.extent(p.store.Vars[0]))
				b.For("row", s.begin, s.end, func(row loop.Expr) {
					n = b.Var("products", loop.Int(0))
					s.visit(row)
					if p.keyType() == loop.U32 {
						// The greatest key is no column.
						b.If(b.And(b.Gt(n, loop.Int(0)), b.Ge(keys, loop.Int(math.MaxUint32))), func() { b.Assign(n, b.Add(n, loop.Int(p.most()))) }, nil)
					}
					b.Store(e.Write(p.products), row, n)
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
		workspace: func(st *state, s *ir.Workspace) {
			e.produce(st, s)
			others, ok := p.beside(e, st)
			fits = fits && ok && (len(others) == 0 || !p.consumer.plain)
			for _, it := range others {
				b.Assign(n, b.Add(n, b.Sub(it.end, it.begin)))
			}
		},
		insert: func(*gathering, loop.Expr, loop.Expr) { fits = false }, // outside all loops
	}
	e.stmt(e.start(p.accessesIn(p.body)), p.body)
	p.root = e.root
	return e.Stage("products"), fits && n != nil
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

// classStages counts the rows of each class, lists those that are cut into slices, and
// finds out how much room the workspaces of single threads need.
func (p *teamProducts) classStages() {
	name, k := p.step.Result.Name, int64(len(p.classes))
	// Rows of each class, in slices and for single threads, and the most products of these.
	tallies := p.Buffer(name+"_tallies", loop.I64, loop.Temp)
	t := p.gridEmitter("classes", 8, 8)
	b := t.B
	var tally []*loop.Ref
	for range k + 3 {
		tally = append(tally, b.Var("rows", loop.Int(0)))
	}
	rows, least := t.Scalar(p.rows), t.Scalar(p.slicing.least)
	threads := loop.Int(t.Threads())
	at := b.Var("row", b.Add(b.Mul(b.Special(loop.BlockIndex), threads), b.Special(loop.ThreadIndex)))
	step := b.Let("step", b.Mul(b.Special(loop.BlockCount), threads))
	count := func(i int64, is loop.Expr) { b.Assign(tally[i], b.Add(tally[i], b.Cast(loop.I64, is))) }
	b.While(b.Lt(at, rows), func() {
		n := b.Let("products", b.Load(t.Read(p.products), at))
		for i, c := range p.classes {
			count(int64(i), c.has(b, n))
		}
		b.If(b.Gt(n, loop.Int(p.most())), func() {
			b.If(b.Ge(n, least), func() {
				place := b.AtomicOld("place", loop.AtomicAdd, t.Write(tallies), loop.Int(k), loop.Int(1))
				b.Store(t.Write(p.slicing.rowOf), place, at)
			}, func() {
				count(k+1, loop.Truth(true))
				b.Assign(tally[k+2], b.Max(tally[k+2], n))
			})
		}, nil)
		b.Assign(at, b.Add(at, step))
	})
	for i, n := range tally {
		combine, op := b.Add, loop.AtomicAdd
		switch int64(i) {
		case k:
			continue
		case k + 2:
			combine, op = b.Max, loop.AtomicMax
		}
		for d := int64(warpSize / 2); d > 0; d /= 2 {
			b.Assign(n, combine(n, b.Shuffle("other", loop.ShuffleXor, n, loop.Int(d), warpSize)))
		}
		b.If(b.And(b.Eq(t.Lane(), loop.Int(0)), b.Gt(n, loop.Int(0))), func() {
			b.Atomic(op, t.Write(tallies), loop.Int(int64(i)), n)
		}, nil)
	}
	const perThread = 8
	s := t.Launch("classes", emit.Min(emit.CeilDiv(loop.SizeScalar(p.rows), loop.SizeConst(perThread*t.Threads())), loop.SizeConst(coop.MaxBlocks)))
	s.Lets = p.slicing.lets
	s.Allocs = []loop.Alloc{{Buffer: tallies, Len: loop.SizeConst(k + 3), Zero: true}, {Buffer: p.slicing.rowOf, Len: loop.SizeScalar(p.rows)}}
	s.Symbolic = true
	p.AddStage(s)
	p.sizeStages(tallies)
}

// sizeStages takes the tallies to the host, with the capacity of a workspace for all that
// a single thread's row may insert.
func (p *teamProducts) sizeStages(tallies loop.BufferID) {
	name, k := p.step.Result.Name, len(p.classes)
	sizes := p.Buffer(name+"_sizes", loop.I64, loop.Temp)
	e := p.emitter("sizes")
	b := e.B
	for i := range k + 2 {
		b.Store(e.Write(sizes), loop.Int(int64(i)), b.Load(e.Read(tallies), loop.Int(int64(i))))
	}
	list := []loop.ScalarID{p.slicing.rows, p.others}
	if w := p.store; w.store.Bounded() {
		need := b.Var("need", b.Load(e.Read(tallies), loop.Int(int64(k+2))))
		if w.store.Distinct() {
			w.LimitToKeys(e.Func, need)
		}
		b.Assign(need, b.Min(need, loop.Int(maxEntries)))
		workspace.StoreRoom(w.store, e.Func, need, sizes, int64(k+2))
		list = append(list, w.Capacity, w.Shift)
	}
	s := e.Stage("sizes")
	s.Allocs, s.Symbolic = []loop.Alloc{{Buffer: sizes, Len: loop.SizeConst(k + len(list))}}, true
	p.AddStage(s)
	lets := loop.Stage{Name: "rows", Partition: -1}
	load := func(i int) loop.SizeExpr { return &loop.SizeLoad{Buffer: sizes, Index: loop.SizeConst(i)} }
	for i, c := range p.classes {
		lets.Lets = append(lets.Lets, loop.ScalarLet{Scalar: c.some, Value: emit.Min(load(i), loop.SizeConst(1))})
	}
	for i, id := range list {
		v := load(k + i)
		if id == p.others {
			v = emit.Min(v, loop.SizeConst(1))
		}
		lets.Lets = append(lets.Lets, loop.ScalarLet{Scalar: id, Value: v})
	}
	p.AddStage(lets)
}

// has reports whether a row of n products is of the class.
func (c rowClass) has(b *loop.Builder, n loop.Expr) loop.Expr {
	return b.And(b.Gt(n, loop.Int(c.above)), b.Le(n, loop.Int(c.most)))
}

// single lets the thread of a chunk run those of its rows that are for single threads.
func (p *teamProducts) single() *sharing {
	return &sharing{loop: func(w *walk, s steps) bool {
		if w.depth != 1 {
			return false
		}
		b := w.B
		least := w.Scalar(p.slicing.least)
		b.For("row", s.begin, s.end, func(row loop.Expr) {
			n := b.Let("products", b.Load(w.Read(p.products), row))
			b.If(b.And(b.Gt(n, loop.Int(p.most())), b.Lt(n, least)), func() { p.row(w.emitter, row, s.visit) }, nil)
		})
		return true
	}}
}

// singles is the stage in which single threads run rows.
func (p *teamProducts) singles(name string, mode assemblyMode) loop.Stage {
	e := p.emitter(name + "_" + p.step.Result.Name)
	e.root.wanted = true
	p.assembling(e, mode)
	e.quiet = mode == fillEntries // the notes are those of one function
	e.shared = p.single()
	p.nest(e)
	return e.Stage(name)
}

// teamStage is the stage in which teams run the rows of a class. It reports false where
// they cannot.
func (p *teamProducts) teamStage(c *rowClass, mode assemblyMode) (loop.Stage, bool) {
	name := [...]string{countEntries: "count", fillEntries: "fill"}[mode]
	begin := func() *gridTeam {
		return p.gridEmitter(fmt.Sprintf("%s%d_%s", name, c.most, p.step.Result.Name), c.team, c.warps)
	}
	rows := func(g *gridTeam) (fits bool) {
		g.leader = g.B.Let("leader", g.B.Eq(g.Rank(), loop.Int(0)))
		p.assembling(g.emitter, mode)
		t := newHashTeam(g, p, c)
		p.nest(g.emitter)
		return t.fits
	}
	return coop.Twice(begin, rows, func(g *gridTeam) loop.Stage {
		how := "_by_warp"
		if !g.Single() {
			how = "_by_block"
		}
		s := g.Launch(name+how, emit.Product(g.BlocksFor(emit.CeilDiv(loop.SizeScalar(p.rows), loop.SizeConst(rowsPerTeam))), loop.SizeScalar(c.some)))
		s.Symbolic = mode == countEntries
		return s
	})
}
