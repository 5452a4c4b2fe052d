package lower

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu/product"
)

// On grids, a result that is gathered row by row in a workspace, such as a product of
// sparse matrices, is made by teams of threads (package product).

// teamProducts is a nest whose rows are shared out to teams.
type teamProducts struct {
	*kernel
	rows     *product.Rows
	body     *ir.Forall
	consumer consumer
	store    *gathering
	segments []segment
	root     rootLoop // of the rows
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
	p.rows = &product.Rows{
		Builder: k.Builder, Space: p.store.Space, Store: p.store.store, Key: k.opts.Coordinates,
		Segments: len(segments), Crd: segments[len(segments)-1].crd, Plain: p.consumer.plain, Begin: p.nest,
	}
	p.rows.Plan()
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
	p.rows.Counts = counts
	measure, ok := p.measure()
	if !ok {
		return false
	}
	var counted, filled []loop.Stage
	for _, list := range []*[]loop.Stage{&counted, &filled} {
		fills := list == &filled
		for i := range p.rows.Classes() {
			s, ok := p.rows.Stage(i, fills)
			if !ok {
				return false
			}
			*list = append(*list, s)
		}
		s, ok := p.rows.SliceStage(fills)
		if !ok {
			return false
		}
		*list = append(*list, s)
	}
	nseg := int64(len(p.segments))
	rows := loop.SizeScalar(p.rows.Count)
	measure.Partition = p.partition(p.root)
	measure.Lets = []loop.ScalarLet{{Scalar: p.rows.Count, Value: p.root.n}}
	measure.Allocs = []loop.Alloc{{Buffer: p.rows.Products, Len: rows}}
	measure.Symbolic = true
	p.AddStage(measure)
	p.rows.ClassStages()
	p.AddStage(loop.Stage{Name: "counts", Partition: -1,
		Allocs: []loop.Alloc{{Buffer: counts, Len: emit.Times(rows, loop.SizeConst(nseg)), Zero: true}}})
	p.AddStages(counted)
	p.rows.JoinSlices()
	// The rest is for single threads.
	part := p.partition(rootLoop{cut: true, n: emit.Product(rows, loop.SizeScalar(p.rows.Others)), weight: -1, grain: p.root.grain})
	p.makeRoom(part)
	s := p.singles("count", false)
	s.Partition, s.Symbolic = part, true
	p.AddStage(s)
	place := p.placeStage(counts, totals, nseg, p.rows.Count)
	place.Symbolic = true
	p.AddStage(place)
	p.allocateSegments(p.segments, totals)
	p.AddStages(filled)
	s = p.singles("fill", true)
	s.Partition = part
	p.AddStage(s)
	p.positions(p.segments, 0)
	return true
}

// begin begins the nest in a function.
func (p *teamProducts) begin(e *emitter, fills bool) {
	mode := countEntries
	if fills {
		mode = fillEntries
	}
	e.quiet, e.symbolic = true, !fills
	e.out = &assembly{mode: mode, levels: p.step.Result.Format.Physical(), segments: p.segments, values: p.Result.Values}
	for range p.segments {
		e.out.current = append(e.out.current, e.B.Var("n", loop.Int(0)))
	}
}

// nest is the nest in a function that a team runs.
func (p *teamProducts) nest(f *emit.Func, fills bool) product.Nest {
	e := p.emitterOf(f)
	p.begin(e, fills)
	return product.Nest{
		Entries: e.out.current,
		Lead:    func(leader loop.Expr) { e.leader = leader },
		Run: func(t *product.Team) {
			e.shared = &sharing{
				loop:      func(_ *walk, l product.Loop) bool { return t.Loop(l) },
				workspace: func(st *state, s *ir.Workspace) { t.Gather(p.row(e, st, s)) },
				insert:    func(_ *gathering, key, x loop.Expr) { t.Insert(key, x) },
			}
			e.nest(p.body)
		},
	}
}

// row is what a team is told of the row of a workspace.
func (p *teamProducts) row(e *emitter, st *state, s *ir.Workspace) product.Row {
	c := p.consumer
	return product.Row{
		Coords:  st.result.coords,
		Produce: func() { e.produce(st, s) },
		Others: func() (list []product.Keys, ok bool) {
			others, ok := p.beside(e, st)
			for _, it := range others {
				key := func(p loop.Expr) loop.Expr { return it.index(e.B, p) }
				list = append(list, product.Keys{Loop: it.steps(e, it.begin, it.end), Key: key})
			}
			return list, ok
		},
		Choose: func(column loop.Expr, value func() loop.Expr, take func(result func() loop.Expr)) {
			inner := st.clone()
			inner.index[c.loop.Index] = column
			inner.cursors[c.work] = cursor{access: c.work, level: 1, pos: loop.Int(0), exact: true}
			if value != nil {
				inner.values[c.work] = e.B.Let(c.work.Tensor.Name, value())
			}
			e.advance(inner)
			e.B.If(e.leafCondition(inner, c.leaf), func() {
				take(func() loop.Expr { return e.expr(inner.clone(), c.leaf.Value) })
			}, nil)
		},
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
		loop: func(w *walk, l product.Loop) bool {
			switch {
			case l.Root:
				if fits = fits && l.Plain && w.root.cut; !fits {
					return true
				}
				keys := e.Scalar(p.extent(p.store.Vars[0]))
				b.For("row", l.Begin, l.End, func(row loop.Expr) {
					n = b.Var("products", loop.Int(0))
					l.Visit(row)
					if p.rows.Key == loop.U32 {
						// The greatest key is no column.
						b.If(b.And(b.Gt(n, loop.Int(0)), b.Ge(keys, loop.Int(math.MaxUint32))), func() { b.Assign(n, b.Add(n, loop.Int(p.rows.Most()))) }, nil)
					}
					b.Store(e.Write(p.rows.Products), row, n)
				})
			case l.Inner:
				if fits = fits && l.Plain; fits {
					b.Assign(n, b.Add(n, b.Max(loop.Int(0), b.Sub(l.End, l.Begin))))
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
	e.nest(p.body)
	p.root = e.root
	return e.Stage("products"), fits && n != nil
}

// inserts reports whether a statement puts one value into a workspace.
func inserts(s ir.Stmt) bool {
	leaf, ok := s.(*ir.Assign)
	return ok && leaf.Temp == nil && leaf.LHS.Tensor.Work != nil
}

// singles is the stage in which single threads run rows.
func (p *teamProducts) singles(name string, fills bool) loop.Stage {
	e := p.emitter(name + "_" + p.step.Result.Name)
	e.root.wanted = true
	p.begin(e, fills)
	e.quiet = fills // the notes are those of one function
	e.shared = &sharing{loop: func(w *walk, l product.Loop) bool {
		if !l.Root {
			return false
		}
		p.rows.Singles(w.Func, l.Begin, l.End, func(row loop.Expr) {
			p.rows.Row(w.Func, w.out.current, fills, loop.Truth(true), row, l.Visit)
		})
		return true
	}}
	e.nest(p.body)
	return e.Stage(name)
}
