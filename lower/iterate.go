package lower

import (
	"fmt"
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// iterator walks the entries of one sparse level that lie in a loop's range.
type iterator struct {
	cursor     // of the parent position
	atom       ir.Atom
	crd        loop.BufID
	begin, end loop.Expr
	offset     loop.Expr // coordinate = index + offset; nil for 0
	unique     bool
	trimmed    bool      // begin and end leave out entries outside the range of the index
	at         *loop.Ref // current position, in a merge
	next       *loop.Ref // end of the current segment, if not unique
}

// index is the loop index of the entry at position p.
func (it *iterator) index(b *loop.Builder, p loop.Expr) loop.Expr {
	c := b.LoadIndex(it.crd, p)
	if it.offset != nil {
		return b.Sub(c, it.offset)
	}
	return c
}

// child is the cursor of the entry at position p (segment [p, end)).
func (it *iterator) child(p, end, present loop.Expr) cursor {
	return cursor{access: it.access, level: it.level + 1, pos: p, end: end, present: present}
}

// iterators finds the accesses that can walk a sparse level along v: their next
// level's coordinate is v plus something bound, and their parent is resolved.
func (e *emitter) iterators(st *state, v *ir.Index, body ir.Stmt) []*iterator {
	var its []*iterator
	used := accessesOf(body)
	for _, a := range e.ordered(st) {
		c := st.cursors[a]
		if !used[a] || c.done() {
			continue
		}
		level, x := c.next()
		if level.Kind == tensor.DenseLevel || !level.Ordered || x.Gather != nil {
			continue
		}
		offset, ok := e.offset(st, x, v)
		if !ok {
			continue
		}
		it := &iterator{cursor: c, offset: offset, unique: level.Unique,
			crd: e.read(e.input(a.Tensor, c.level, Coordinates))}
		it.begin, it.end = e.children(c)
		if x.Plain() == nil {
			// Entries outside the range of v are skipped.
			from := offset
			if from == nil {
				from = loop.Int(0)
			}
			n := e.scalar(e.extent(v))
			it.trimmed = true
			it.begin = e.lowerBound(it.crd, it.begin, it.end, from)
			it.end = e.lowerBound(it.crd, it.begin, it.end, e.b.Let("stop", e.b.Add(from, n)))
		}
		e.atoms = append(e.atoms, atom{name: a.Tensor.Name, iter: it})
		it.atom = ir.Atom(len(e.atoms) - 1)
		its = append(its, it)
	}
	return its
}

// offset is x - v when x is v plus terms that are bound.
func (e *emitter) offset(st *state, x ir.IndexExpr, v *ir.Index) (loop.Expr, bool) {
	found := false
	rest := ir.IndexExpr{Const: x.Const}
	for _, t := range x.Terms {
		if t.Var == v {
			if t.Coef != 1 {
				return nil, false
			}
			found = true
			continue
		}
		rest.Terms = append(rest.Terms, t)
	}
	if !found {
		return nil, false
	}
	if len(rest.Terms) == 0 && rest.Const == 0 {
		return nil, true
	}
	return e.coordinate(st, rest)
}

// accessesOf is the set of accesses that a nest reads.
func accessesOf(s ir.Stmt) map[*ir.Access]bool {
	set := map[*ir.Access]bool{}
	collectAccesses(s, func(a *ir.Access) { set[a] = true })
	return set
}

func collectAccesses(s ir.Stmt, f func(*ir.Access)) {
	switch s := s.(type) {
	case *ir.Forall:
		collectAccesses(s.Body, f)
	case *ir.Where:
		if in := s.Temp.Reduce.In; in != nil {
			f(in)
		}
		collectAccesses(s.Producer, f)
		collectAccesses(s.Consumer, f)
	case *ir.Assign:
		walk := func(e ir.Expr) {
			ir.Walk(e, func(x ir.Expr) {
				if a, ok := x.(*ir.Access); ok {
					f(a)
				}
			})
		}
		walk(s.Value)
		if s.Temp != nil && s.Temp.Reduce.In != nil {
			walk(s.Temp.Reduce.In)
		}
		if s.LHS != nil {
			for _, x := range s.LHS.Indices {
				if x.Gather != nil {
					walk(x.Gather)
				}
			}
		}
	}
}

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
	collectAccesses(k.step.Body, add)
	return k.accessList
}

// forall emits the loop of f.
func (e *emitter) forall(st *state, f *ir.Forall) {
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
	if !set.IsAll() && leafOf(f.Body).Temp == nil {
		e.partial = true
	}
	w := &walk{emitter: e, st: st, f: f, root: &root, iters: its, line: len(e.kernel.notes)}
	w.drivers, w.followers = splitDrivers(set, its)
	gap := e.gapOf(f, l, set)
	if gap != nil {
		w.counting = true
		if e.root.wanted && e.depth == 1 && gap.first {
			root.wanted = false
		}
	}
	switch {
	case set.IsNone():
		w.visited = loop.Int(0)
		w.note("nothing", set)
	case !e.coverable(set):
		w.followers = its
		w.dense()
		w.note("whole dimension", set)
		gap = nil
	default:
		if it := e.single(set); it != nil && len(w.drivers) == 1 {
			w.walkOne(it, set)
			w.note("entries", set)
		} else {
			w.merge(set)
			w.note("merge", set)
		}
	}
	if e.depth == 1 {
		e.root = root
	}
	if gap != nil {
		gap.at = w.firstGap
		if root.cut {
			// Chunks see only their part; the combining stage folds the gap.
			e.root.visited = e.b.Var("visited", w.visited)
			e.rootGap = gap
			return
		}
		e.foldGap(st, gap, w.visited)
	}
}

// note records how a loop runs.
func (w *walk) note(how string, set ir.Formula) {
	if w.quiet {
		return
	}
	text := fmt.Sprintf("%s: %s, by %s", w.f.Index.Name, set.Format(func(a ir.Atom) string { return w.atoms[a].name }), how)
	w.kernel.notes = slices.Insert(w.kernel.notes, w.line, text)
}

// coverable reports whether iterators alone reach every coordinate of set
// whatever the flags are.
func (e *emitter) coverable(set ir.Formula) bool {
	return !set.Holds(func(a ir.Atom) bool { return e.atoms[a].iter == nil })
}

// single returns the iterator when the set is its entries, all or none of them
// by some flags.
func (e *emitter) single(set ir.Formula) *iterator {
	var found *iterator
	parts := []ir.Formula{set}
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

// splitDrivers separates iterators that occur in the set from those that only
// have to keep up.
func splitDrivers(set ir.Formula, its []*iterator) (drivers, followers []*iterator) {
	atoms := set.Atoms(nil)
	for _, it := range its {
		drives := false
		for _, a := range atoms {
			drives = drives || a == it.atom
		}
		if drives {
			drivers = append(drivers, it)
		} else {
			followers = append(followers, it)
		}
	}
	return drivers, followers
}

// walk is one loop being emitted.
type walk struct {
	*emitter
	st                        *state
	f                         *ir.Forall
	root                      *rootLoop
	iters, drivers, followers []*iterator
	counting                  bool
	line                      int // where its note goes
	count                     *loop.Ref
	firstGap                  *loop.Ref
	visited                   loop.Expr // number of coordinates visited, after the loop
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

// noteVisit counts a visited coordinate and watches for the first one left out.
func (w *walk) noteVisit(i loop.Expr) {
	b := w.b
	if w.firstGap != nil {
		b.If(b.And(b.Lt(w.firstGap, loop.Int(0)), b.Ne(i, w.count)),
			func() { b.Assign(w.firstGap, w.count) }, nil)
	}
	b.Assign(w.count, b.Add(w.count, loop.Int(1)))
}

// startCount declares the counters that the loop needs.
func (w *walk) startCount(gapFirst bool) {
	w.count = w.b.Var("visited", loop.Int(0))
	if gapFirst {
		w.firstGap = w.b.Var("gap", loop.Int(-1))
	}
}

// dense emits a loop over the whole dimension; sparse operands keep up with it.
func (w *walk) dense() {
	b := w.b
	n := w.scalar(w.extent(w.f.Index))
	lo, hi := loop.Expr(loop.Int(0)), n
	if w.root.wanted {
		w.root.cut = true
		w.root.n = loop.SizeScalar(w.extent(w.f.Index))
		w.root.weight = w.rowWeights()
		if w.root.weight < 0 {
			w.root.grain = int64(max(minGrain, chunkGrain>>(nestedGrain*loopsBelow(w.f.Body))))
		}
		lo, hi = b.Lo(), b.Hi()
	}
	w.visited = n
	if w.emitter.counting() {
		// Counts must not wrap: a loop adds no more than its length, and what
		// it added is compared after it.
		b.If(b.Gt(b.Sub(hi, lo), loop.Int(maxEntries>>8)), w.tooManyEntries, nil)
		defer func() { w.checkEntries(w.out.current...) }()
	}
	if seen := w.onlySeen(); seen != nil && len(w.followers) == 0 {
		b.If(b.Gt(hi, lo), func() { b.Assign(seen, loop.Truth(true)) }, nil)
		return
	}
	if len(w.followers) == 0 {
		run := b.For
		if w.independent() {
			run = b.ForIndependent
		}
		run(w.f.Index.Name, lo, hi, func(i loop.Expr) { w.body(i, nil) })
		return
	}
	for _, it := range w.followers {
		begin := it.begin
		if w.root.cut {
			from := lo
			if it.offset != nil {
				from = b.Add(lo, it.offset)
			}
			begin = w.lowerBound(it.crd, it.begin, it.end, b.Let("from", from))
		}
		it.at = b.Var("p_"+it.access.Tensor.Name, begin)
	}
	b.For(w.f.Index.Name, lo, hi, func(i loop.Expr) {
		w.body(i, w.follow(i))
		w.moveOn(w.followers)
	})
}

// Where no array tells how much work lies under an index, each loop below is
// taken to multiply it by 2^nestedGrain.
const (
	nestedGrain = 7
	minGrain    = 4
)

// loopsBelow is the depth of the loops in a statement.
func loopsBelow(s ir.Stmt) int {
	switch s := s.(type) {
	case *ir.Forall:
		return 1 + loopsBelow(s.Body)
	case *ir.Where:
		return max(loopsBelow(s.Producer), loopsBelow(s.Consumer))
	}
	return 0
}

// independent reports whether iterations of an innermost loop write different
// elements of a dense result and carry nothing from one to the next.
func (w *walk) independent() bool {
	leaf, ok := w.f.Body.(*ir.Assign)
	if !ok || leaf.Temp != nil || !w.kernel.step.Result.Format.IsDense() {
		return false
	}
	for _, x := range leaf.LHS.Indices {
		if x.Plain() == w.f.Index {
			return true
		}
	}
	return false
}

// follow moves every follower up to index i and returns the cursors there.
func (w *walk) follow(i loop.Expr) []cursor {
	b := w.b
	var cursors []cursor
	for _, it := range w.followers {
		has := b.Var("has_"+it.access.Tensor.Name, loop.Truth(false))
		behind := b.Var("behind", b.Lt(it.at, it.end))
		b.While(behind, func() {
			b.Assign(behind, loop.Truth(false))
			j := b.Let("j", it.index(b, it.at))
			b.If(b.Lt(j, i), func() {
				b.Assign(it.at, b.Add(it.at, loop.Int(1)))
				b.Assign(behind, b.Lt(it.at, it.end))
			}, func() { b.Assign(has, b.Eq(j, i)) })
		})
		cursors = append(cursors, w.arrive(it, i, b.Let("has", has)))
	}
	return cursors
}

// arrive is the cursor of an iterator at index i, where present tells whether
// its current entry is there. A level with repeated coordinates gets the whole
// segment.
func (w *walk) arrive(it *iterator, i, present loop.Expr) cursor {
	b := w.b
	at := b.Let("p", it.at)
	if it.unique {
		return it.child(at, nil, present)
	}
	it.next = b.Var("q", at)
	segment := func() { b.Assign(it.next, w.runEnd(it, at, i)) }
	if present == nil {
		segment()
	} else {
		b.If(present, segment, nil)
	}
	return it.child(at, b.Let("end", it.next), present)
}

// runEnd is the end of the run of entries with index i that starts at p.
func (w *walk) runEnd(it *iterator, p, i loop.Expr) loop.Expr {
	c := i
	if it.offset != nil {
		c = w.b.Add(i, it.offset)
	}
	return w.segmentEnd(it.crd, p, it.end, c)
}

// moveOn moves iterators past the entries that the body has seen.
func (w *walk) moveOn(its []*iterator) {
	b := w.b
	for _, it := range its {
		if it.next != nil {
			b.Assign(it.at, it.next)
			it.next = nil
		}
	}
}

// walkOne emits a loop over the entries of one iterator.
func (w *walk) walkOne(it *iterator, set ir.Formula) {
	b := w.b
	begin, end := it.begin, it.end
	var on loop.Expr
	if _, alone := set.IsAtom(); !alone {
		on = b.Let("on", w.holds(set, func(a ir.Atom) loop.Expr { return w.atoms[a].flag }))
		end = b.Let("end", b.Select(on, end, begin))
	}
	if w.root.wanted && it.level == 0 && !it.trimmed {
		w.root.cut = true
		pos := w.input(it.access.Tensor, 0, Positions)
		w.root.n = &loop.SizeLoad{Buffer: pos, Index: loop.SizeConst(1)}
		w.root.weight = w.childWeights(it.access, 1)
		begin, end = w.chunkOf(it, begin, end)
		if on != nil {
			end = b.Let("end", b.Select(on, end, begin))
		}
	}
	w.prepareFollowers(it, begin, end)
	visit := func(p loop.Expr) {
		i := b.Let(w.f.Index.Name, it.index(b, p))
		if it.unique {
			w.body(i, append(w.follow(i), it.child(p, nil, nil)))
			w.moveOn(w.followers)
			return
		}
		it.at = p.(*loop.Ref)
		c := w.arrive(it, i, nil)
		w.body(i, append(w.follow(i), c))
		w.moveOn(append([]*iterator{it}, w.followers...))
	}
	gapFirst := w.counting && w.gapFirst()
	if w.counting && (!it.unique || gapFirst) {
		w.startCount(gapFirst)
	}
	if seen := w.onlySeen(); seen != nil && !w.counting {
		b.If(b.Gt(end, begin), func() { b.Assign(seen, loop.Truth(true)) }, nil)
		return
	}
	if it.unique {
		b.For("p_"+it.access.Tensor.Name, begin, end, visit)
	} else {
		p := b.Var("p_"+it.access.Tensor.Name, begin)
		b.While(b.Lt(p, end), func() { visit(p) })
	}
	w.visited = b.Sub(end, begin)
	if w.count != nil {
		w.visited = w.count
	}
}

// onlySeen returns the flag that the loop sets when all it has to find out, in a
// function that counts, is whether a fold sees anything: then one test will do.
func (w *walk) onlySeen() *loop.Ref {
	leaf, ok := w.f.Body.(*ir.Assign)
	if !ok || !w.emitter.counting() || leaf.Temp == nil || leaf.Temp.Reduce.In != nil {
		return nil
	}
	return w.accs[leaf.Temp].seen
}

// gapFirst reports whether the fold needs to know the first coordinate left out.
func (w *walk) gapFirst() bool {
	leaf := leafOf(w.f.Body)
	return leaf.Temp != nil && isArg(leaf.Temp.Reduce.Fold)
}

// prepareFollowers starts the followers; with a driver cut into chunks they
// start at its first coordinate by searching.
func (w *walk) prepareFollowers(driver *iterator, begin, end loop.Expr) {
	b := w.b
	if len(w.followers) == 0 {
		return
	}
	var from *loop.Ref
	if w.root.cut {
		from = b.Var("from", loop.Int(math.MaxInt64))
		b.If(b.Lt(begin, end), func() { b.Assign(from, driver.index(b, begin)) }, nil)
	}
	for _, it := range w.followers {
		first := it.begin
		if from != nil {
			c := loop.Expr(from)
			if it.offset != nil {
				c = b.Add(c, it.offset)
			}
			first = w.lowerBound(it.crd, it.begin, it.end, b.Let("from", c))
		}
		it.at = b.Var("p_"+it.access.Tensor.Name, first)
	}
}

// chunkOf is the part of a root level's entries that the chunk runs: Lo to Hi,
// moved so that no run of equal coordinates is split.
func (w *walk) chunkOf(it *iterator, begin, end loop.Expr) (lo, hi loop.Expr) {
	b := w.b
	if it.unique {
		return b.Lo(), b.Hi()
	}
	align := func(p loop.Expr) loop.Expr {
		q := b.Var("q", p)
		more := b.Var("more", b.And(b.Gt(q, begin), b.Lt(q, end)))
		b.While(more, func() {
			b.If(b.Eq(b.LoadIndex(it.crd, b.Sub(q, loop.Int(1))), b.LoadIndex(it.crd, q)),
				func() {
					b.Assign(q, b.Add(q, loop.Int(1)))
					b.Assign(more, b.Lt(q, end))
				},
				func() { b.Assign(more, loop.Truth(false)) })
		})
		return b.Let("cut", q)
	}
	return align(b.Lo()), align(b.Hi())
}

// rowWeights finds a positions array that tells how many entries lie under each
// value of the loop's index: the cut then balances entries.
func (w *walk) rowWeights() loop.BufferID {
	used := accessesOf(w.f.Body)
	for _, a := range w.ordered(w.st) {
		if !used[a] || a.Tensor.Rank < 2 {
			continue
		}
		order := a.Tensor.Format.Order()
		if a.Indices[order[0]].Plain() == w.f.Index && a.Tensor.Format.Physical()[0].Kind == tensor.DenseLevel {
			if buf := w.childWeights(a, 1); buf >= 0 {
				return buf
			}
		}
	}
	return -1
}

// childWeights is the positions array of the given level, if it has one.
func (w *walk) childWeights(a *ir.Access, level int) loop.BufferID {
	levels := a.Tensor.Format.Physical()
	if level < len(levels) && levels[level].Kind == tensor.CompressedLevel {
		return w.input(a.Tensor, level, Positions)
	}
	return -1
}
