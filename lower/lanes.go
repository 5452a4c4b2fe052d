package lower

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/fold"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A fold is a chain: each step waits for the one before, four cycles for a sum,
// while a processor could start eight of them and more in each. This file emits
// innermost folds of floats in forms that wait less. They are written out in the loop
// program, so that all engines compute the same bits:
//
//   - Over whole dimensions, in lanes: elements t, t+8, t+16, … go to lane t, then
//     the lanes are folded in order, and then what is left at the end. Compilers
//     make vectors of the lanes. Sums over the entries of a long row run in lanes too;
//     those over short rows stay in order, as users' C loops do.
//   - Over entries, the smallest or largest number, in blocks: the best of a block
//     is found first, and one step for the block waits for the one before.
//
// Long sums are cut into blocks as well, for another reason: see lower/fold/blocks.go.

const (
	// laneCount is a constant of the language, whatever the machine: the order in
	// which a sum is rounded follows from it.
	laneCount = 8
	// laneEntries is the least number of entries for which a sum over them is worth
	// lanes. Most rows of most matrices have fewer.
	laneEntries = 64
	// laneTerms is the number of terms that each lane of a block of a long sum gets.
	laneTerms = 512
	// blockCount is the number of entries in a block. Few rows are shorter.
	blockCount = 4
	// maxLaneTerms bounds how much of an expression is repeated for each lane.
	maxLaneTerms = 16
)

// inLanes reports whether the loop of w, over a whole dimension, is a fold to be
// emitted in lanes.
func (w *walk) inLanes() bool {
	leaf := w.floatFold(nil)
	if leaf == nil || len(w.located) > 0 {
		return false
	}
	switch leaf.Temp.Reduce.Fold {
	case ir.FoldSum, ir.FoldProd, ir.FoldMin, ir.FoldMax:
		return isCheap(w.st, leaf.Value)
	}
	return false
}

// inBlocks reports whether the loop of w, over the entries of it, is a fold to be
// emitted in blocks: one whose value is the same in any order, and if entries are
// seen twice. Where it is known how many there are, LLVM makes better loops of
// integers and truth values itself.
func (w *walk) inBlocks(it *iterator) bool {
	leaf := w.innerFold(it.access)
	if leaf == nil || !w.visitsPlainly(it) {
		return false
	}
	r := leaf.Temp.Reduce
	return r.Fold.Facts().Idempotent && (it.run != nil || emit.ComputeType(r.Typ).IsFloat()) && w.isCheapOver(it, leaf.Value)
}

// inEntryLanes reports whether the loop of w, over the entries of it, is a sum to be
// emitted in lanes where there are many.
func (w *walk) inEntryLanes(it *iterator) bool {
	leaf := w.floatFold(it.access)
	return leaf != nil && leaf.Temp.Reduce.Fold == ir.FoldSum && w.visitsPlainly(it) && w.isCheapOver(it, leaf.Value)
}

// visitsPlainly reports whether the loop of w visits all entries of it, each by
// itself, and does nothing else.
func (w *walk) visitsPlainly(it *iterator) bool {
	return it.unique && it.stride == 1 && len(w.located)+len(w.tabled) == 0 && w.count == nil
}

// isCheapOver reports whether x is cheap at an entry of it.
func (w *walk) isCheapOver(it *iterator, x ir.Expr) bool {
	st := w.st.clone()
	st.cursors[it.access] = it.child(loop.Int(0), nil, nil)
	return isCheap(st, x)
}

// floatFold is the loop's body if that is a step of a fold of real numbers, over what
// is stored at most by the operand that the loop walks; nil otherwise. Engines may
// reorder integers as they like, and the parts of complex numbers are several chains
// as it is.
func (w *walk) floatFold(walked *ir.Access) *ir.Assign {
	leaf := w.innerFold(walked)
	if leaf == nil || !emit.ComputeType(leaf.Temp.Reduce.Typ).IsFloat() {
		return nil
	}
	return leaf
}

// innerFold is floatFold for numbers of any type.
func (w *walk) innerFold(walked *ir.Access) *ir.Assign {
	leaf, ok := w.f.Body.(*ir.Assign)
	if !ok || leaf.Temp == nil || w.emitter.counting() || w.opts.Grids {
		return nil
	}
	if in := leaf.Temp.Reduce.In; in != nil && in != walked {
		return nil
	}
	if w.asked[leaf.Temp] && chooses(leaf.Value) {
		return nil // what is stored may differ from step to step
	}
	return leaf
}

// chooses reports whether an expression takes one of two values by a condition.
func chooses(x ir.Expr) bool {
	found := false
	ir.Walk(x, func(x ir.Expr) {
		_, ok := x.(*ir.Select)
		found = found || ok
	})
	return found
}

// isCheap reports whether x is made of few operators that need no call, of numbers,
// and of elements that are found without a search or a branch.
func isCheap(st *state, x ir.Expr) bool {
	terms, cheap := 0, true
	ir.Walk(x, func(x ir.Expr) {
		terms++
		switch x := x.(type) {
		case *ir.Access:
			cheap = cheap && isDirect(st, x)
		case *ir.Call:
			cheap = cheap && isOperator(x)
		}
	})
	return cheap && terms <= maxLaneTerms
}

// isDirect reports whether the position of a's element is computed from the indices
// alone.
func isDirect(st *state, a *ir.Access) bool {
	c := st.cursors[a]
	if c.present != nil || a.Tensor.Work != nil {
		return false
	}
	for levels := a.Tensor.Format.Physical(); c.level < len(levels); c.level++ {
		if _, x := c.next(); !levels[c.level].Full() || x.Gather != nil || x.Padded() {
			return false
		}
	}
	return true
}

// isOperator reports whether a call is a few operations of the loop language on
// numbers that are not complex.
func isOperator(x *ir.Call) bool {
	for _, a := range x.Args {
		if a.DType().IsComplex() {
			return false
		}
	}
	var power tensor.Scalar
	known := false
	if len(x.Args) > 1 {
		power, known = ir.ConstValue(x.Args[1])
	}
	return scalar.IsOperator(x.Fn, power, known)
}

// laneLoop is a loop to be emitted as a fold in lanes.
type laneLoop struct {
	name   string
	lo, hi loop.Expr
	// at gives the states of the steps that follow a first one.
	at    func(first loop.Expr) func(t int64) *state
	visit func(loop.Expr) // emits one step by itself
}

// lanes emits the loop from lo to hi as a fold in lanes, over a whole dimension.
func (w *walk) lanes(acc fold.State, lo, hi loop.Expr) {
	b := w.B
	l := laneLoop{name: w.f.Index.Name, lo: lo, hi: hi, visit: func(i loop.Expr) { w.body(i, nil) }}
	l.at = func(i loop.Expr) func(t int64) *state {
		first := w.at(i, nil)
		return func(t int64) *state { return w.later(first, t) }
	}
	rest, n := b.Var("rest", lo), b.Let("length", b.Sub(hi, lo))
	b.If(b.Ge(n, loop.Int(laneCount)), func() {
		eights := b.Let("eights", b.Div(n, loop.Int(laneCount)))
		short := func() { w.eights(l, acc, eights) }
		if acc.Blocks == nil {
			short()
		} else {
			b.If(b.Le(eights, loop.Int(laneTerms)), short, func() { w.eightsInBlocks(l, acc, eights) })
		}
		w.seeEntries(nil)
		b.Assign(rest, b.Add(lo, b.Mul(eights, loop.Int(laneCount))))
	}, nil)
	b.For(l.name, b.Let("rest", rest), hi, l.visit)
}

// entryLanes emits the loop over the entries of it from begin to end as a sum in
// lanes where there are many entries, and one by one where there are few.
func (w *walk) entryLanes(acc fold.State, it *iterator, begin, end loop.Expr, visit func(p loop.Expr)) {
	b := w.B
	l := laneLoop{name: "p_" + it.access.Tensor.Name, lo: begin, hi: end, visit: visit}
	l.at = func(first loop.Expr) func(t int64) *state {
		return func(t int64) *state {
			p := b.Add(first, loop.Int(t))
			i := b.Let(w.f.Index.Name, it.index(b, p))
			return w.at(i, []cursor{it.child(p, nil, nil)})
		}
	}
	n := b.Let("length", b.Sub(end, begin))
	rest := b.Var("rest", begin)
	// Empty rows go the way of long ones: a row costs no more branches than without lanes.
	// Where rows are short, the code of long ones is out of the way: a jump over it for each took a quarter of the time.
	b.Seldom(b.Ge(b.Cast(loop.U64, b.Sub(n, loop.Int(1))), loop.Number(loop.U64, laneEntries-1)), func() {
		b.If(b.Gt(n, loop.Int(0)), func() { w.wholeEights(acc, l, n, rest, func() { w.seeEntries(it) }) }, nil)
	})
	b.For(l.name, b.Let("rest", rest), end, visit)
}

// wholeEights emits the fold of as many of the n steps of the loop as make whole eights, with what notes that there are some, and sets rest to the next step.
func (w *walk) wholeEights(acc fold.State, l laneLoop, n loop.Expr, rest *loop.Ref, see func()) {
	b := w.B
	eights := b.Let("eights", b.Div(n, loop.Int(laneCount)))
	if acc.Reduce.Fold == ir.FoldSum {
		w.eightsInBlocks(l, acc, eights)
	} else {
		w.eights(l, acc, eights)
	}
	see()
	b.Assign(rest, b.Add(l.lo, b.Mul(eights, loop.Int(laneCount))))
}

// eights emits the fold of the first n eights of the loop in lanes.
func (w *walk) eights(l laneLoop, acc fold.State, n loop.Expr) {
	b, r := w.B, acc.Reduce
	lanes := make([]*loop.Ref, laneCount)
	for t := range lanes {
		lanes[t] = b.Var("lane", emit.Constant(r.Fold.Identity(r.Typ)))
	}
	b.For("eight", loop.Int(0), n, func(eight loop.Expr) {
		state := l.at(b.Let(l.name, b.Add(l.lo, b.Mul(eight, loop.Int(laneCount)))))
		for t, lane := range lanes {
			b.Assign(lane, fold.Step(w.B, r.Fold, lane, w.expr(state(int64(t)), w.f.Body.(*ir.Assign).Value)))
		}
	})
	// In order and not as a tree: LLVM would make vectors of two of a tree's sums,
	// and of all that goes into them.
	for _, lane := range lanes {
		b.Assign(acc.Vars[0], fold.Step(w.B, r.Fold, acc.Vars[0], lane))
	}
}

// eightsInBlocks emits the sum of the first eights of the loop in blocks of laneTerms
// eights. It is whole afterwards. The loop over blocks is one whose iterations nobody can
// count beforehand, and each statement is there once: LLVM takes a fifth less time for a
// product with a vector than where blocks are counted and the first is told apart.
func (w *walk) eightsInBlocks(l laneLoop, acc fold.State, eights loop.Expr) {
	b, steps := w.B, loop.Int(laneTerms)
	acc.Blocks = w.openBlocks(acc.Reduce)
	many := b.Let("many", b.Gt(eights, steps))
	first, left := b.Var("first", l.lo), b.Var("left", eights)
	b.While(b.Gt(left, loop.Int(0)), func() {
		n := b.Let("n", b.Min(left, steps))
		block := l
		block.lo = b.Let("block", first)
		w.eights(block, acc, n)
		b.Assign(first, b.Add(first, b.Mul(n, loop.Int(laneCount))))
		b.Assign(left, b.Sub(left, n))
		b.If(many, acc.CloseBlock, nil)
	})
	b.If(many, acc.JoinClosed, nil)
}

// blocks emits the loop over the entries of it from begin to end as a fold in
// blocks. Of what is left over, one entry is visited by itself; two or three are in
// a block that reaches back over entries already seen, so that there is no second
// loop whose end processors would have to predict. Fewer entries than a block are
// visited one by one.
func (w *walk) blocks(it *iterator, begin, end loop.Expr, visit func(p loop.Expr)) {
	b, leaf := w.B, w.f.Body.(*ir.Assign)
	acc := w.accs[leaf.Temp]
	name, count := "p_"+it.access.Tensor.Name, loop.Int(blockCount)
	n := b.Let("length", b.Sub(end, begin))
	b.If(b.Ge(n, count), func() {
		b.For("block", loop.Int(0), b.Let("blocks", b.Div(n, count)), func(i loop.Expr) {
			w.block(it, acc, b.Let(name, b.Add(begin, b.Mul(i, count))))
		})
		rest := b.Let("rest", b.Rem(n, count))
		b.If(b.Eq(rest, loop.Int(1)), func() { visit(b.Let(name, b.Sub(end, loop.Int(1)))) }, func() {
			b.If(b.Gt(rest, loop.Int(1)), func() { w.block(it, acc, b.Let(name, b.Sub(end, count))) }, nil)
		})
		w.seeEntries(it)
	}, func() { b.For(name, begin, end, visit) })
}

// seeEntries notes that the fold of the loop has seen what it goes through: elements that are
// there and, unless it is nil, entries of it.
func (w *walk) seeEntries(it *iterator) {
	leaf := w.f.Body.(*ir.Assign)
	if !w.asked[leaf.Temp] {
		w.B.Assign(w.accs[leaf.Temp].Seen, scalar.Always)
		return
	}
	w.see(w.among(it), leaf)
}

// among is a state at some entry of it.
func (w *walk) among(it *iterator) *state {
	st := w.st.clone()
	if it != nil {
		st.cursors[it.access] = it.child(loop.Int(0), nil, nil)
	}
	return st
}

// block folds the entries of it from first on, as many as make a block.
func (w *walk) block(it *iterator, acc fold.State, first loop.Expr) {
	b := w.B
	values := make([]loop.Expr, blockCount)
	for t := range values {
		p := b.Add(first, loop.Int(int64(t)))
		i := b.Let(w.f.Index.Name, it.index(b, p))
		values[t] = w.expr(w.at(i, []cursor{it.child(p, nil, nil)}), w.f.Body.(*ir.Assign).Value)
	}
	for ; len(values) > 1; values = values[2:] {
		values = append(values, fold.Step(w.B, acc.Reduce.Fold, values[0], values[1]))
	}
	b.Assign(acc.Vars[0], fold.Step(w.B, acc.Reduce.Fold, acc.Vars[0], values[0]))
}

// at is the state at index i of the loop, with the given cursors.
func (w *walk) at(i loop.Expr, cursors []cursor) *state {
	st := w.st.clone()
	st.index[w.f.Index] = i
	for _, c := range cursors {
		st.cursors[c.access] = c
	}
	w.advance(st)
	return st
}

// later is the state t indices after first. Where the index is the last of an
// access, that moves its position by as much.
func (w *walk) later(first *state, t int64) *state {
	b := w.B
	i := b.Add(first.index[w.f.Index], loop.Int(t))
	st := first.clone()
	st.index[w.f.Index] = i
	for _, a := range w.ordered(st) {
		c := w.st.cursors[a]
		if c.done() || !ir.DependsOn(a, w.f.Index) {
			continue
		}
		order := a.Tensor.Format.Order()
		for l := c.level; l < len(order)-1; l++ {
			if coef(a.Indices[order[l]], w.f.Index) != 0 {
				return w.at(b.Let(w.f.Index.Name, i), nil)
			}
		}
		c = first.cursors[a]
		c.pos = b.Add(c.pos, loop.Int(t*coef(a.Indices[order[len(order)-1]], w.f.Index)))
		st.cursors[a] = c
	}
	return st
}

// coef is the coefficient of v in x.
func coef(x ir.IndexExpr, v *ir.Index) int64 {
	for _, t := range x.Terms {
		if t.Var == v {
			return t.Coef
		}
	}
	return 0
}

// openBlocks declares the blocks of a fold, nil if it has none. Where threads of a grid share loops, there are none.
func (e *emitter) openBlocks(r *ir.Reduce) *fold.Blocks {
	if e.counting() || e.opts.Grids {
		return nil
	}
	return fold.NewBlocks(e.B, r)
}

// counted emits the n terms that emit adds to the sum. If that has terms from other loops as well, these are added to each other first.
func (e *emitter) counted(acc fold.State, n func() loop.Expr, emitTerms func(acc fold.State)) {
	if acc.Blocks == nil || len(acc.Reduce.Vars) < 2 {
		emitTerms(acc)
		return
	}
	inner := acc.Inner()
	e.accs[acc.Reduce.Temp] = inner
	emitTerms(inner)
	e.accs[acc.Reduce.Temp] = acc
	acc.AddInner(inner, n())
}

// blockSum are the blocks of the sum that the loop of w is the innermost loop of, nil if it
// is none.
func (w *walk) blockSum() *fold.Blocks {
	leaf := ir.FirstLeaf(w.f.Body)
	if leaf.Temp == nil || !slices.Contains(leaf.Temp.Reduce.Vars, w.f.Index) || ir.HasLoop(w.f.Body) {
		return nil
	}
	return w.accs[leaf.Temp].Blocks
}
