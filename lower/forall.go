package lower

import (
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/gpu/product"
	"github.com/lacuna-sparse/lacuna/lower/level"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
)

// stepAccesses lists the accesses of the step, each once, in a fixed order,
// with gathered indices before what they index.
func (k *kernel) stepAccesses() []*ir.Access {
	if k.accessList != nil {
		return k.accessList
	}
	seen := map[*ir.Access]bool{}
	var add func(a *ir.Access)
	add = func(a *ir.Access) {
		if seen[a] {
			return
		}
		seen[a] = true
		for _, x := range a.Indices {
			if x.Gather != nil {
				add(x.Gather)
			}
		}
		k.accessList = append(k.accessList, a)
	}
	ir.EachAccess(k.step.Body, add)
	return k.accessList
}

// forall emits the loop of f.
func (e *emitter) forall(st *state, f *ir.Forall) {
	if e.flat(st, f) {
		return
	}
	defer e.B.At(emit.Origin(f.Index.Pos))()
	st = st.clone()
	root := e.root
	if e.depth > 0 {
		root = rootLoop{weight: -1}
	}
	e.depth++
	defer func() { e.depth-- }()

	its := e.iterators(st, f.Index, f.Body)
	l := leaves{e: e, st: st, v: f.Index, iters: map[*ir.Access]*iterator{}}
	for _, it := range its {
		l.iters[it.access] = it
	}
	set := e.need(f.Body, l)
	if !set.IsAll() && !e.coverable(set) {
		// Something outside the loop that may be absent would make the loop visit
		// everything where it is there. Taken as a value, whatever it is, it
		// often leaves a set that the operands' entries cover.
		settled := l
		settled.settled = true
		if s := e.need(f.Body, settled); e.coverable(s) {
			set, l = s, settled
		}
	}
	if !set.IsAll() && ir.FirstLeaf(f.Body).Temp == nil {
		e.partial = true
	}
	w := &walk{emitter: e, st: st, f: f, root: &root, iters: its, line: len(e.kernel.Notes)}
	w.coiterated, w.located = splitOperands(set, its)
	w.meet(set)
	for _, it := range its {
		if alone := len(its) == 1 && len(w.coiterated) == 1 && it.stride == 1 && !it.trimmed && it.unique; it.run != nil && !(alone && set.IsOnly(it.atom)) {
			e.closeRun(it)
		}
	}
	gap := e.gapOf(f, l, set)
	if gap != nil {
		w.counting = true
		if e.root.wanted && e.depth == 1 && gap.first {
			root.wanted = false
		}
	}
	w.cut(set, gap)
	switch {
	case set.IsNone():
		w.visited = loop.Int(0)
		w.note("nothing", set)
	case !e.coverable(set):
		w.located = its
		w.dense()
		w.note("whole dimension", set)
		gap = nil
	default:
		rest, tabled := w.lookUps(set)
		w.coiterated = slices.DeleteFunc(w.coiterated, func(it *iterator) bool { return slices.Contains(tabled, it) })
		if it := e.single(rest); it != nil && len(w.coiterated) == 1 {
			w.tabled = tabled
			w.walkOne(it, rest)
			if len(tabled) > 0 {
				w.note("entries of "+it.access.Tensor.Name+" and table", set)
			} else {
				w.note("entries", set)
			}
		} else {
			if w.sharedLoop(product.Loop{}) {
				break
			}
			w.blockSum().EachCounted(func() { w.merge(set) })
			how := "merge"
			if slices.ContainsFunc(w.coiterated, func(it *iterator) bool { return it.long != nil }) {
				how = "merge, galloping where sizes differ"
			}
			w.note(how, set)
		}
	}
	if e.depth == 1 {
		e.root = root
	}
	if gap != nil {
		gap.at = w.firstGap
		if root.cut {
			// Chunks see only their part; the combining stage folds the gap.
			e.root.visited = e.B.Var("visited", w.visited)
			e.rootGap = gap
			return
		}
		e.foldGap(st, gap, w.visited)
	}
}

// note records how a loop runs.
func (w *walk) note(how string, set ir.SetExpr) {
	if w.quiet {
		return
	}
	text := fmt.Sprintf("%s: %s, by %s", w.f.Index.Name, set.Format(func(a ir.Atom) string { return w.atoms[a].name }), how)
	w.kernel.Notes = slices.Insert(w.kernel.Notes, w.line, text)
}

// coverable reports whether iterators alone reach every coordinate of set
// whatever the flags are.
func (e *emitter) coverable(set ir.SetExpr) bool {
	return !set.Holds(func(a ir.Atom) bool { return e.atoms[a].iter == nil })
}

// single returns the iterator when the set is its entries, all or none of them
// by some flags.
func (e *emitter) single(set ir.SetExpr) *iterator {
	var found *iterator
	parts := []ir.SetExpr{set}
	if set.IsIntersection() {
		parts = set.Args()
	}
	for _, p := range parts {
		a, ok := p.IsAtom()
		if !ok {
			return nil
		}
		if it := e.atoms[a].iter; it != nil {
			if found != nil {
				return nil
			}
			found = it
		}
	}
	return found
}

// splitOperands separates iterators that occur in the set from those that only
// have to keep up.
func splitOperands(set ir.SetExpr, its []*iterator) (coiterated, located []*iterator) {
	atoms := set.Atoms(nil)
	for _, it := range its {
		if slices.Contains(atoms, it.atom) {
			coiterated = append(coiterated, it)
		} else {
			located = append(located, it)
		}
	}
	return coiterated, located
}

// walk is one loop being emitted.
type walk struct {
	*emitter
	st                         *state
	f                          *ir.Forall
	root                       *rootLoop
	iters, coiterated, located []*iterator
	tabled                     []*iterator // co-iterated operands whose entries are looked up
	counting                   bool
	line                       int // where its note goes
	count                      *loop.Ref
	firstGap                   *loop.Ref
	visited                    loop.Expr // number of coordinates visited, after the loop
}

// body emits the loop's body for index i with the given cursors.
func (w *walk) body(i loop.Expr, cursors []cursor) {
	st := w.st.clone()
	st.index[w.f.Index] = i
	for _, c := range cursors {
		st.cursors[c.access] = c
	}
	w.emitter.advance(st)
	if w.counting && w.count != nil {
		w.noteVisit(i)
	}
	w.withResult(st, func() { w.emitter.stmt(st, w.f.Body) })
}

// atRoot notes where the outermost loop is.
func (w *walk) atRoot(at loop.Expr) {
	if w.depth == 1 {
		w.rootAt = at
	}
}

// noteVisit counts a visited coordinate and watches for the first one left out.
func (w *walk) noteVisit(i loop.Expr) {
	b := w.B
	if w.firstGap != nil {
		b.If(b.And(b.Lt(w.firstGap, loop.Int(0)), b.Ne(i, w.count)),
			func() { b.Assign(w.firstGap, w.count) }, nil)
	}
	b.Assign(w.count, b.Add(w.count, loop.Int(1)))
}

// startCount declares the counters that the loop needs.
func (w *walk) startCount(gapFirst bool) {
	w.count = w.B.Var("visited", loop.Int(0))
	if gapFirst {
		w.firstGap = w.B.Var("gap", loop.Int(-1))
	}
}

// dense emits a loop over the whole dimension; sparse operands keep up with it.
func (w *walk) dense() {
	b := w.B
	n := w.Scalar(w.extent(w.f.Index))
	lo, hi := loop.Expr(loop.Int(0)), n
	if l := w.splitAt(w.f); l >= 0 {
		w.clears = false // two chunks may begin under one index
		lo, hi = w.bounds(l)
		if l == 0 && w.out != nil {
			w.out.allParents = w.out.ordered && w.out.levels[0].Full()
		}
	} else if w.root.wanted {
		w.root.cut = true
		w.root.n = loop.SizeScalar(w.extent(w.f.Index))
		w.root.weight = w.rowWeights()
		w.root.grain = w.rootGrain()
		lo, hi = w.private.Bounds(w.Func, n, w.root.weight)
		if w.out != nil {
			w.out.allParents = w.out.ordered && w.out.levels[0].Full()
		}
	}
	w.visited = n
	if w.sharedLoop(product.Loop{
		Begin: lo, End: hi, Visit: func(i loop.Expr) { w.body(i, nil) }, Plain: len(w.located) == 0,
		Narrow: func(from, to loop.Expr) (begin, end loop.Expr) { return b.Max(lo, from), b.Min(hi, to) },
	}) {
		return
	}
	if w.emitter.counting() && w.out != nil {
		// Counts must not wrap: a loop adds no more than its length, and what
		// it added is compared after it.
		b.If(b.Gt(b.Sub(hi, lo), loop.Int(emit.MaxEntries>>8)), w.tooManyEntries, nil)
		defer func() { w.checkEntries(w.out.current...) }()
	}
	if seen := w.onlySeen(nil); seen != nil {
		b.If(b.Gt(hi, lo), func() { b.Assign(seen, loop.Truth(true)) }, nil)
		return
	}
	if w.inLanes() {
		acc := w.accs[w.f.Body.(*ir.Assign).Temp]
		w.counted(acc, func() loop.Expr { return b.Sub(hi, lo) }, func(acc fold.State) { w.lanes(acc, lo, hi) })
		return
	}
	w.blockSum().EachCounted(func() { w.denseSteps(lo, hi) })
}

// denseSteps emits a loop over the whole dimension step by step.
func (w *walk) denseSteps(lo, hi loop.Expr) {
	b := w.B
	if len(w.located) == 0 {
		if terms := w.meshTerms(); terms != nil {
			w.meshBlocks(terms, lo, hi)
			return
		}
		run := b.For
		if w.independent() {
			run = b.ForIndependent
		}
		run(w.f.Index.Name, lo, hi, func(i loop.Expr) {
			w.atRoot(i)
			w.clear(i)
			w.body(i, nil)
		})
		return
	}
	for _, it := range w.located {
		begin := it.begin
		if w.root.cut {
			begin = level.LowerBound(w.B, it.crd, it.begin, it.end, b.Let("from", it.coordinate(b, lo)))
		}
		it.at = b.Var("p_"+it.access.Tensor.Name, begin)
	}
	b.For(w.f.Index.Name, lo, hi, func(i loop.Expr) {
		w.atRoot(i)
		w.clear(i)
		w.body(i, w.follow(i))
		w.moveOn(w.located)
	})
}

// independent reports whether iterations of a loop write different elements of a dense result and carry nothing
// from one to the next: of an innermost one, and for grids, whose threads may share them, of one around others.
func (w *walk) independent() bool {
	body := w.f.Body
	for f, ok := body.(*ir.Forall); ok && w.opts.Grids; f, ok = body.(*ir.Forall) {
		body = f.Body
	}
	leaf, ok := body.(*ir.Assign)
	lines := w.out != nil && w.out.row != nil
	return ok && leaf.Temp == nil && (lines || w.kernel.step.Result.Format.IsDense()) &&
		slices.ContainsFunc(leaf.LHS.Indices, func(x ir.IndexExpr) bool { return x.Plain() == w.f.Index })
}

// walkOne emits a loop over the entries of one iterator.
func (w *walk) walkOne(it *iterator, set ir.SetExpr) {
	b := w.B
	begin, end := it.begin, it.end
	var on loop.Expr
	if _, alone := set.IsAtom(); !alone {
		on = b.Let("on", w.holds(set, func(a ir.Atom) loop.Expr { return w.atoms[a].flag }))
		end = b.Let("end", b.Select(on, end, begin))
	}
	if w.root.wanted && it.level == 0 && !it.trimmed {
		w.root.cut, w.root.over, w.root.ragged = true, it.access, !it.unique
		pos := w.Input(it.access.Tensor, 0, emit.Positions)
		w.root.n = &loop.SizeLoad{Buffer: pos, Index: loop.SizeConst(1)}
		w.root.weight = w.childWeights(it.access, 1)
		begin, end = w.chunkOf(it, begin, end)
		if on != nil {
			end = b.Let("end", b.Select(on, end, begin))
		}
	}
	selects := w.selects()
	if selects {
		end = b.Let("end", b.Select(w.lookups[w.tabled[0].access].some, end, begin))
	}
	w.prepareLocated(it, begin, end)
	visit := func(p loop.Expr) {
		w.atRoot(p)
		i := b.Let(w.f.Index.Name, it.index(b, p))
		if selects {
			w.selectStep(i, []cursor{it.child(p, nil, nil)})
			return
		}
		if it.unique {
			w.found(i, w.tabled, []cursor{it.child(p, nil, nil)}, func(cursors []cursor) {
				w.body(i, append(w.follow(i), cursors...))
				w.moveOn(w.located)
			})
			return
		}
		it.at = p.(*loop.Ref)
		c := w.arrive(it, i, nil)
		w.body(i, append(w.follow(i), c))
		w.moveOn(append([]*iterator{it}, w.located...))
	}
	gapFirst := w.counting && w.gapFirst()
	strided := it.stride > 1
	plain := it.unique && it.run == nil && !w.counting && len(w.located)+len(w.tabled) == 0
	inSteps := it.steps(w.emitter, begin, end)
	inSteps.Plain = plain
	inSteps.Visit = func(p loop.Expr) { b.If(it.matches(b, p), func() { visit(p) }, nil) }
	if w.sharedLoop(inSteps) {
		return
	}
	if w.counting && (!it.unique || strided || gapFirst || len(w.tabled) > 0) {
		w.startCount(gapFirst)
	}
	if seen := w.onlySeen(it); seen != nil && !w.counting && !strided && len(w.tabled) == 0 {
		b.If(b.Gt(end, begin), func() { b.Assign(seen, loop.Truth(true)) }, nil)
		return
	}
	switch {
	case it.run != nil:
		w.run(it, visit)
		w.visited = b.Sub(it.run.next, it.begin)
		return
	case w.inBlocks(it):
		w.blocks(it, begin, end, visit)
	case w.inEntryLanes(it):
		acc := w.accs[w.f.Body.(*ir.Assign).Temp]
		w.counted(acc, func() loop.Expr { return b.Sub(end, begin) }, func(acc fold.State) { w.entryLanes(acc, it, begin, end, visit) })
	default:
		w.blockSum().EachCounted(func() { w.entrySteps(it, begin, end, visit) })
	}
	w.visited = b.Sub(end, begin)
	if w.count != nil {
		w.visited = w.count
	}
}

// entrySteps emits a loop over the entries of it step by step.
func (w *walk) entrySteps(it *iterator, begin, end loop.Expr, visit func(p loop.Expr)) {
	b := w.B
	if emitted := w.st.result.emitted; it.unique && emitted != nil && w.emitter.counting() && ir.FirstLeaf(w.f.Body).Temp == nil {
		// All that is to be found out is whether there is something.
		p := b.Var("p_"+it.access.Tensor.Name, begin)
		b.While(b.And(b.Lt(p, end), b.Not(emitted)), func() {
			b.If(it.matches(b, p), func() { visit(p) }, nil)
			b.Assign(p, b.Add(p, loop.Int(1)))
		})
		return
	}
	if it.unique {
		run := b.For
		if w.opts.Grids && len(w.located) == 0 && w.independent() {
			run = b.ForIndependent
		}
		run("p_"+it.access.Tensor.Name, begin, end, func(p loop.Expr) {
			b.If(it.matches(b, p), func() { visit(p) }, nil)
		})
		return
	}
	p := b.Var("p_"+it.access.Tensor.Name, begin)
	b.While(b.Lt(p, end), func() {
		b.If(it.matches(b, p), func() { visit(p) }, func() { b.Assign(p, b.Add(p, loop.Int(1))) })
	})
}

// onlySeen returns the flag that the loop sets when all it has to find out, in a
// function that counts, is whether a fold sees anything, and what it goes through, the entries
// of it unless that is nil, is all stored: then one test will do.
func (w *walk) onlySeen(it *iterator) *loop.Ref {
	leaf, ok := w.f.Body.(*ir.Assign)
	if !ok || !w.emitter.counting() || leaf.Temp != nil && leaf.Temp.Reduce.In != nil || len(w.located) > 0 {
		return nil
	}
	st, direct := w.among(it), !chooses(leaf.Value)
	ir.Walk(leaf.Value, func(x ir.Expr) {
		if a, ok := x.(*ir.Access); ok {
			direct = direct && isDirect(st, a)
		}
	})
	switch {
	case !direct:
		return nil
	case leaf.Temp == nil: // the result
		if st.result.emitted == nil || !scalar.SameCondition(w.leafCondition(st, leaf), scalar.Always) {
			return nil
		}
		return st.result.emitted
	case !scalar.SameCondition(w.stored(st, leaf), scalar.Always):
		return nil
	}
	return w.accs[leaf.Temp].Seen
}
