package lower

import (
	"math"
	"slices"

	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// accumulator is the state of an open fold: one variable, or two for the pairs
// (logsumexp, argmin, argmax), and whether anything was folded.
type accumulator struct {
	reduce *ir.Reduce
	state  []*loop.Ref
	seen   *loop.Ref
	blocks *blockSum // of a sum of numbers that round, else nil
	pass   lsePass
	scaled *scaledSum // of the first pass, if that adds up, too
}

func isArg(f ir.Fold) bool { return f == ir.FoldArgMin || f == ir.FoldArgMax }

// stateTypes are the types of a fold's state.
func stateTypes(r *ir.Reduce) []loop.Type {
	switch {
	case r.Fold == ir.FoldLogSumExp:
		return []loop.Type{loop.F64, loop.F64}
	case isArg(r.Fold):
		return []loop.Type{computeType(ir.TypeOf(r.Body)), loop.I64}
	}
	return []loop.Type{computeType(r.Typ)}
}

// open declares a fold's state at its neutral element.
func (e *emitter) open(r *ir.Reduce) accumulator {
	b := e.B
	acc := accumulator{reduce: r}
	switch {
	case r.Fold == ir.FoldLogSumExp:
		acc.state = []*loop.Ref{b.Var("m", loop.Float(loop.F64, math.Inf(-1))), b.Var("s", loop.Float(loop.F64, 0))}
	case isArg(r.Fold):
		t := computeType(ir.TypeOf(r.Body))
		acc.state = []*loop.Ref{b.Var("best", loop.Number(t, 0)), b.Var("arg", loop.Int(-1))}
	default:
		acc.state = []*loop.Ref{b.Var("acc", constant(r.Fold.Identity(r.Typ)))}
	}
	acc.seen = b.Var("seen", loop.Truth(false))
	acc.blocks = e.openBlocks(r)
	e.accs[r.Temp] = acc
	return acc
}

// step folds the value of a leaf into the state of its fold.
func (e *emitter) foldStep(st *state, leaf *ir.Assign) {
	r := leaf.Temp.Reduce
	var x, flat loop.Expr
	if !e.counting() {
		x = e.expr(st, leaf.Value)
		if isArg(r.Fold) {
			flat = e.flatIndex(st, r)
		}
	}
	e.fold(e.accs[leaf.Temp], x, flat)
	e.see(st, leaf)
}

// see notes that a fold has seen an entry, if the value of the leaf is one.
func (e *emitter) see(st *state, leaf *ir.Assign) {
	b, acc := e.B, e.accs[leaf.Temp]
	stored := e.stored(st, leaf)
	if !sameCondition(stored, always) {
		stored = b.Or(acc.seen, stored)
	}
	b.Assign(acc.seen, stored)
}

// stored is the condition that the patterns of the operands make the value of a leaf stored
// or, where it is folded over stored coordinates, other than the fold over none of them.
func (e *emitter) stored(st *state, leaf *ir.Assign) loop.Expr {
	sup := e.alg.Stored(leaf.Value, leaves{e: e, st: st})
	if r := leaf.Temp.Reduce; r.In != nil && (len(r.Vars) == 0 || !isIdentity(r.Fold, sup.Background)) {
		return always
	}
	return e.holds(sup.Set, func(a ir.Atom) loop.Expr { return e.atoms[a].flag })
}

// fold folds the value x, at flat index flat for arg folds, into the state.
func (e *emitter) fold(acc accumulator, x, flat loop.Expr) {
	if !e.counting() {
		switch {
		case acc.reduce.Fold == ir.FoldLogSumExp:
			e.foldExp(acc, x, loop.Float(loop.F64, 1))
		case isArg(acc.reduce.Fold):
			e.foldArg(acc, e.B.Let("x", x), e.B.Let("k", flat))
		default:
			e.B.Assign(acc.state[0], e.combine(acc.reduce.Fold, acc.state[0], x))
			e.countTerm(acc)
		}
	}
}

// combine is one step of a fold whose state is the value itself.
func (e *emitter) combine(f ir.Fold, x, y loop.Expr) loop.Expr {
	switch f {
	case ir.FoldSum:
		return e.B.Add(x, y)
	case ir.FoldProd:
		return e.B.Mul(x, y)
	case ir.FoldMin:
		return e.B.Min(x, y)
	case ir.FoldMax:
		return e.B.Max(x, y)
	case ir.FoldOr:
		return e.B.Or(x, y)
	case ir.FoldAnd:
		return e.B.And(x, y)
	}
	panic("BUG: " + f.String() + " has no plain state")
}

// foldLSE adds n copies of exp(x) to the pair (m, s), which stands for
// log(s) + m. Equal values are told apart first so that infinities never meet
// in a difference. A NaN sticks to s, and leaves m alone: m is then what processors
// do in one operation. There are no branches: steps for neighbouring lines make vectors.
func (e *emitter) foldLSE(acc accumulator, x, n loop.Expr) {
	b, m, s := e.B, acc.state[0], acc.state[1]
	d := b.Let("d", lseDistance(b, x, m))
	w := b.Let("w", b.Call(e.lseExp(acc.reduce), loop.F64, lseExponent(d)))
	up := b.Let("up", b.Gt(d, loop.Float(loop.F64, 0)))
	b.Assign(s, b.Select(up, b.Add(b.Mul(s, w), n), b.Add(s, b.Mul(n, w))))
	b.Assign(m, lseMax(b, x, m))
}

// lseDistance is x - m, and 0 for equal infinities.
func lseDistance(b *loop.Builder, x, m loop.Expr) loop.Expr {
	return b.Select(b.Eq(x, m), loop.Float(loop.F64, 0), b.Sub(x, m))
}

// lseExponent is the logarithm of the factor that brings the smaller of two terms to
// the scale of the larger, d being the distance of their logarithms.
func lseExponent(d loop.Expr) loop.Expr {
	return loop.NewUnary(loop.Neg, loop.NewUnary(loop.Abs, d))
}

// lseMax is the larger of x and m, m if x is NaN.
func lseMax(b *loop.Builder, x, m loop.Expr) loop.Expr { return b.Select(b.Gt(x, m), x, m) }

// foldArg keeps the better of two (value, index) pairs: a NaN beats everything,
// the smaller index wins a tie, and index -1 is no entry.
func (e *emitter) foldArg(acc accumulator, x, k loop.Expr) {
	b, best, arg := e.B, acc.state[0], acc.state[1]
	better := b.Lt(x, best)
	if acc.reduce.Fold == ir.FoldArgMax {
		better = b.Gt(x, best)
	}
	tie := b.Eq(x, best)
	if x.Type().IsFloat() {
		xNaN, bestNaN := b.Ne(x, x), b.Ne(best, best)
		better = b.Or(better, b.And(xNaN, b.Not(bestNaN)))
		tie = b.Or(tie, b.And(xNaN, bestNaN))
	}
	wins := b.Or(b.Lt(arg, loop.Int(0)), b.Or(better, b.And(tie, b.Lt(k, arg))))
	b.If(b.And(b.Ge(k, loop.Int(0)), wins), func() {
		b.Assign(best, x)
		b.Assign(arg, k)
	}, nil)
}

// absorb folds another state into acc.
func (e *emitter) absorb(acc accumulator, state []loop.Expr, seen loop.Expr) {
	e.combineStates(acc, state)
	e.B.Assign(acc.seen, e.B.Or(acc.seen, seen))
}

// combineStates folds another state into that of acc, whatever either has seen.
func (e *emitter) combineStates(acc accumulator, state []loop.Expr) {
	b := e.B
	switch {
	case acc.reduce.Fold == ir.FoldLogSumExp:
		// Where s is 0, nothing was folded.
		b.If(b.Ne(state[1], loop.Float(loop.F64, 0)), func() { e.foldLSE(acc, state[0], state[1]) }, nil)
	case isArg(acc.reduce.Fold):
		e.foldArg(acc, state[0], state[1])
	default:
		b.Assign(acc.state[0], e.combine(acc.reduce.Fold, acc.state[0], state[0]))
	}
}

// finish is the value of a fold.
func (e *emitter) finish(acc accumulator) loop.Expr {
	b := e.B
	switch {
	case acc.reduce.Fold == ir.FoldLogSumExp:
		sum := b.Add(acc.state[0], b.Call("log_f64", loop.F64, acc.state[1]))
		return b.Let("lse", b.Cast(computeType(acc.reduce.Typ), sum))
	case isArg(acc.reduce.Fold):
		return b.Let("arg", acc.state[1])
	}
	return b.Let("t", acc.state[0])
}

// value closes a fold: its result, and whether it saw anything.
func (e *emitter) value(acc accumulator) value {
	v := value{present: e.B.Let("seen", acc.seen)}
	if !e.counting() {
		e.settle(acc)
		v.expr = e.finish(acc)
	}
	r := acc.reduce
	v.background = e.alg.Stored(r.Body, gapLeaves{e}).Background
	if v.background == nil {
		v.background = e.alg.Of(r.Body, gapLeaves{e}).Background
	}
	if r.In != nil {
		v.background = e.alg.EmptyFold(r)
	} else {
		v.background = e.alg.Repeat(r.Fold, v.background, r.Vars, r.Typ)
	}
	return v
}

// gapLeaves describes leaves where no operand stores anything: what a fold
// that saw nothing is made of. Constants only: an element at a constant
// coordinate is there or not whatever the fold saw.
type gapLeaves struct{ e *emitter }

func (g gapLeaves) Access(a *ir.Access) ir.Support {
	fill := fillOf(a.Tensor)
	pad := slices.ContainsFunc(a.Indices, func(x ir.IndexExpr) bool { return x.Padded() })
	if fill == nil || a.Tensor.Format.IsDense() && !pad || len(a.Vars(nil)) == 0 {
		return ir.Everywhere()
	}
	return ir.Constant(fill)
}

func (g gapLeaves) Index(*ir.Index) ir.Support { return ir.Everywhere() }

func (g gapLeaves) Temp(t *ir.Temp) ir.Behaviour { return g.e.alg.TempBehaviour(t, g) }

// gap is what a loop leaves out of a fold: copies of one value.
type gap struct {
	reduce *ir.Reduce
	v      *ir.Index
	value  ir.Expr
	inner  []*ir.Index // the fold's variables bound further inside
	first  bool        // the smallest coordinate left out matters
	at     *loop.Ref   // receives it, when first
	// stored says where the left-out value is more than the fold's background,
	// because operands outside the loop store something: it then counts as seen.
	stored ir.Formula
}

// gapOf is the gap of f's loop over set, nil if there is nothing to fold.
func (e *emitter) gapOf(f *ir.Forall, l leaves, set ir.Formula) *gap {
	leaf := leafOf(f.Body)
	if leaf.Temp == nil || leaf.Temp.Reduce.In != nil || set.IsAll() {
		return nil
	}
	r := leaf.Temp.Reduce
	value := e.support(leaf, l).Background
	if v, ok := ir.ConstValue(value); ok && r.Fold.IsIdentity(v) {
		return nil
	}
	g := &gap{reduce: r, v: f.Index, value: value, first: isArg(r.Fold),
		stored: e.alg.Stored(leaf.Value, outside{l}).Set}
	for _, v := range r.Vars {
		if v != f.Index && l.st.index[v] == nil {
			g.inner = append(g.inner, v)
		}
	}
	return g
}

// outside describes leaves in a gap of a loop: what the loop walks, or what is
// bound further inside, is absent; what is resolved already is there.
type outside struct{ leaves }

func (o outside) Access(a *ir.Access) ir.Support {
	if o.st.cursors[a].done() {
		return o.here().Access(a)
	}
	if fill := fillOf(a.Tensor); fill != nil {
		return ir.Constant(fill)
	}
	return ir.Support{Set: ir.None()}
}

func (o outside) Temp(t *ir.Temp) ir.Behaviour {
	if _, ok := o.st.temps[t]; ok {
		return o.here().Temp(t)
	}
	return o.e.alg.TempBehaviour(t, o)
}

// foldGap folds the coordinates that a loop left out: visited of them were not.
func (e *emitter) foldGap(st *state, g *gap, visited loop.Expr) {
	b, acc := e.B, e.accs[g.reduce.Temp]
	counts := []loop.Expr{b.Let("missing", b.Sub(e.Scalar(e.extent(g.v)), visited))}
	some := b.Gt(counts[0], loop.Int(0))
	for _, v := range g.inner {
		n := e.Scalar(e.extent(v))
		counts = append(counts, n)
		some = b.And(some, b.Gt(n, loop.Int(0)))
	}
	b.If(some, func() {
		// A gap is no entry, so that patterns follow from the operands' patterns,
		// unless something outside the loop is stored there.
		stored := e.holds(g.stored, func(a ir.Atom) loop.Expr { return e.atoms[a].flag })
		b.Assign(acc.seen, b.Or(acc.seen, stored))
		if e.counting() {
			return
		}
		x := b.Let("gap", e.expr(st, g.value))
		switch r := g.reduce; {
		case isArg(r.Fold):
			at := st.clone()
			at.index[g.v] = loop.Expr(loop.Int(0))
			if g.at != nil {
				// No gap seen between visited coordinates: it starts after them.
				at.index[g.v] = b.Let("first", b.Select(b.Lt(g.at, loop.Int(0)), visited, g.at))
			}
			for _, v := range g.inner {
				at.index[v] = loop.Int(0)
			}
			e.foldArg(acc, x, e.flatIndex(at, r))
		default:
			e.foldCopies(acc, x, counts)
		}
	}, nil)
}

// foldCopies folds copies of x, as many as the product of the counts, in closed
// form; not for arg folds.
func (e *emitter) foldCopies(acc accumulator, x loop.Expr, counts []loop.Expr) {
	b := e.B
	switch acc.reduce.Fold {
	case ir.FoldSum:
		for _, n := range counts {
			x = b.Let("copies", byReal(loop.Mul, x, b.Cast(x.Type().Real(), n)))
		}
		b.Assign(acc.state[0], b.Add(acc.state[0], x))
	case ir.FoldProd:
		for _, n := range counts {
			x = e.power(x, n)
		}
		b.Assign(acc.state[0], b.Mul(acc.state[0], x))
	case ir.FoldLogSumExp:
		n := loop.Expr(loop.Float(loop.F64, 1))
		for _, c := range counts {
			n = b.Mul(n, b.Cast(loop.F64, c))
		}
		e.foldExp(acc, x, b.Let("n", n))
	default:
		b.Assign(acc.state[0], e.combine(acc.reduce.Fold, acc.state[0], x))
	}
}

// power is x to the n-th, n > 0, by repeated squaring: exact where the repeated
// product is.
func (e *emitter) power(x, n loop.Expr) loop.Expr {
	b := e.B
	result, square, k := b.Var("power", loop.Number(x.Type(), 1)), b.Var("square", x), b.Var("k", n)
	b.While(b.Gt(k, loop.Int(0)), func() {
		b.If(b.Ne(b.And(k, loop.Int(1)), loop.Int(0)), func() { b.Assign(result, b.Mul(result, square)) }, nil)
		b.Assign(square, b.Mul(square, square))
		b.Assign(k, loop.NewBinary(loop.Shr, k, loop.Int(1)))
	})
	return b.Let("power", result)
}

// flatIndex is the row-major index over the fold's variables.
func (e *emitter) flatIndex(st *state, r *ir.Reduce) loop.Expr {
	var flat loop.Expr = loop.Int(0)
	for _, v := range r.Vars {
		flat = e.B.Add(e.B.Mul(flat, e.Scalar(e.extent(v))), st.index[v])
	}
	return flat
}
