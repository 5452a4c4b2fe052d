package lower

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A value at a leaf is stored, a gap or uniform (ir.Algebra). Where that matters to the value
// of an operation, the conditions of the first two are at hand: an operand that is a gap
// annihilates, and the zero of a gap has no sign.

// presence says under which conditions a value is stored, or a gap.
type presence struct {
	stored, gap loop.Expr
	// value is what it has where it is not stored, nil where only a run can tell.
	value *ir.Literal
	// uniform: it may be neither.
	uniform bool
}

// operand is a value with its presence.
type operand struct {
	loop.Expr
	presence
}

var (
	never   = loop.Truth(false)
	always  = loop.Truth(true)
	uniform = presence{stored: never, gap: never, uniform: true}
)

// gapUnless is the presence of what is stored where a condition holds (nil: everywhere), and
// elsewhere a gap of the given value.
func gapUnless(present loop.Expr, value ir.Expr) presence {
	if present == nil {
		present = always
	}
	p := presence{stored: present, gap: loop.NewUnary(loop.Not, present)}
	p.value, _ = value.(*ir.Literal)
	return p
}

// or is the disjunction of two conditions, which may be one.
func or(x, y loop.Expr) loop.Expr {
	if sameCondition(x, y) {
		return x
	}
	return loop.NewBinary(loop.Or, x, y)
}

// isNever reports whether a condition is known not to hold.
func isNever(cond loop.Expr) bool {
	c, ok := cond.(*loop.Const)
	return ok && c.Bits == 0
}

// expr emits the value of a plan expression.
func (e *emitter) expr(st *state, x ir.Expr) loop.Expr { return e.operand(st, x).Expr }

// operand emits the value of a plan expression, with its presence.
func (e *emitter) operand(st *state, x ir.Expr) operand {
	switch x := x.(type) {
	case *ir.Literal:
		switch {
		case x.Gap:
			return operand{emit.Constant(x.Value), gapUnless(never, x)}
		case x.Stored:
			return operand{emit.Constant(x.Value), gapUnless(always, x)}
		}
		literal := uniform
		literal.value = x
		return operand{emit.Constant(x.Value), literal}
	case *ir.Access:
		defer e.B.At(emit.Origin(x.Pos))()
		present := st.cursors[x].present
		switch {
		case x.Tensor.Whole:
			present = always
		case len(x.Indices) == 0:
			return operand{e.load(st, x), uniform}
		}
		return operand{e.load(st, x), gapUnless(present, fillOf(x.Tensor))}
	case *ir.IndexValue:
		return operand{st.index[x.Var], uniform}
	case *ir.Extent:
		return operand{e.Scalar(e.extent(x.Var)), uniform}
	case *ir.TempRef:
		v := st.temps[x.Temp]
		switch {
		case ir.Uniform(x):
			return operand{v.expr, uniform}
		case ir.Gapless(x):
			return operand{v.expr, presence{stored: always, gap: never}}
		}
		return operand{v.expr, gapUnless(v.present, v.background)}
	case *ir.Cast:
		y := e.operand(st, x.X)
		if y.value != nil {
			y.value, _ = e.alg.Eval.Fold(&ir.Cast{To: x.To, X: y.value}).(*ir.Literal)
		}
		y.Expr = scalar.Cast(x.To, y.Expr)
		return y
	case *ir.Select:
		return e.choice(e.operand(st, x.Cond), e.operand(st, x.Then), e.operand(st, x.Else))
	case *ir.Call:
		args := make([]operand, len(x.Args))
		for i, a := range x.Args {
			args[i] = e.operand(st, a)
			// Operands are used more than once by some functions.
			args[i].Expr = e.B.Let("v", args[i].Expr)
		}
		return e.call(x, args)
	}
	panic("BUG: unknown plan expression")
}

// choice emits one of two values: its presence is made of those of the condition and of the value
// that is taken.
func (e *emitter) choice(c, t, f operand) operand {
	b := e.B
	if !c.uniform || !sameCondition(t.stored, f.stored) || !sameCondition(t.gap, f.gap) {
		c.Expr = b.Let("c", c.Expr)
	}
	z := operand{Expr: b.Select(c.Expr, t.Expr, f.Expr)}
	z.stored = b.Or(c.stored, pick(c.Expr, t.stored, f.stored))
	z.gap = b.And(b.Or(c.gap, pick(c.Expr, t.gap, f.gap)), b.Not(z.stored))
	z.uniform = c.uniform && (t.uniform || f.uniform)
	z.value = chosenValue(c, t, f)
	return z
}

// chosenValue is what a choice has where it is not stored: what the branch has that is taken there,
// nil where only a run can tell.
func chosenValue(c, t, f operand) *ir.Literal {
	switch {
	case c.value != nil && c.value.Value.Bool():
		return t.value
	case c.value != nil:
		return f.value
	case t.value == nil || f.value == nil || t.value.Value != f.value.Value:
		return nil
	}
	return &ir.Literal{Value: t.value.Value, Gap: t.value.Gap || f.value.Gap}
}

// pick is one of two conditions.
func pick(cond, x, y loop.Expr) loop.Expr {
	if sameCondition(x, y) {
		return x
	}
	return loop.NewBinary(loop.Or, loop.NewBinary(loop.And, cond, x), loop.NewBinary(loop.And, loop.NewUnary(loop.Not, cond), y))
}

// sameCondition reports whether two conditions are evidently one.
func sameCondition(x, y loop.Expr) bool {
	if c, ok := x.(*loop.Unary); ok && c.Op == loop.Not {
		d, ok := y.(*loop.Unary)
		return ok && d.Op == loop.Not && sameCondition(c.X, d.X)
	}
	c, ok := x.(*loop.Const)
	d, ok2 := y.(*loop.Const)
	return ok && ok2 && *c == *d || sameRef(x, y)
}

// call emits the result of an operation.
func (e *emitter) call(x *ir.Call, args []operand) operand {
	b := e.B
	if z, ok := e.scaled(x, args); ok {
		return z
	}
	values, annihilates := make([]loop.Expr, len(args)), make([]loop.Expr, len(args))
	stored, gap, annihilated := loop.Expr(never), loop.Expr(never), loop.Expr(never)
	z := operand{presence: presence{uniform: true}}
	decided := true // an operand that is a gap annihilates
	for i, a := range args {
		values[i], annihilates[i] = a.Expr, e.annihilates(x, i, a)
		stored, gap = or(stored, a.stored), or(gap, a.gap)
		annihilated = or(annihilated, annihilates[i])
		z.uniform = z.uniform && a.uniform
		decided = decided && sameCondition(annihilates[i], a.gap)
	}
	switch {
	case decided && !isNever(annihilated):
		z.gap = annihilated
	case z.uniform:
		z.gap = b.Or(annihilated, b.And(b.Not(stored), gap))
	default: // what is not stored is a gap
		z.gap = b.Or(annihilated, b.Not(stored))
	}
	z.gap = b.Let("gap", z.gap)
	z.stored = b.And(stored, b.Not(z.gap))
	z.value = e.gapValue(x, args, annihilates)
	if z.value != nil && z.value.Gap && sameCondition(z.gap, always) {
		z.Expr = emit.Constant(z.value.Value)
		return z
	}
	z.Expr = e.operation(x, values)
	switch {
	case isNever(z.gap), !z.Type().IsFloat() && !z.Type().IsComplex():
	case z.value == nil:
		z.Expr = e.openGap(z, args, annihilates)
	case !isNever(annihilated) && !onlyLiterals(args, annihilates) || !e.foldsTo(x, args, z.value):
		z.Expr = b.Select(z.gap, emit.Constant(z.value.Value), z.Expr)
	}
	return z
}

// scaled is a product with extents, or a quotient by them, of what is 0 where it is not stored: no number of
// elements is an infinity, so what the operation computes there is right as it is.
func (e *emitter) scaled(x *ir.Call, args []operand) (operand, bool) {
	if x.Fn != "*" && x.Fn != "/" || !ir.OfExtents(x.Args[1]) || args[0].value == nil || !ir.Annihilates(x.Fn, 0, args[0].value.Value, e.alg.Strict) {
		return operand{}, false
	}
	z := args[0]
	z.value, _ = e.alg.Eval.Fold(&ir.Cast{To: x.Typ, X: z.value}).(*ir.Literal)
	z.Expr = e.operation(x, []loop.Expr{args[0].Expr, args[1].Expr})
	return z, true
}

// annihilates is the condition that an operand is a gap with a value that decides the result.
// Where only a run can tell the value, it is looked at.
func (e *emitter) annihilates(x *ir.Call, i int, a operand) loop.Expr {
	b := e.B
	switch {
	case isNever(a.gap):
		return never
	case a.value != nil && ir.Annihilates(x.Fn, i, a.value.Value, e.alg.Strict):
		return a.gap
	case a.value != nil:
		return never
	case !a.Type().IsFloat() && !a.Type().IsComplex():
		if v, ok := ir.Annihilator(x.Fn, i, ir.TypeOf(x.Args[i])); ok {
			return b.And(a.gap, b.Eq(a.Expr, emit.Constant(v)))
		}
		return never
	case !e.alg.MayAnnihilate(x.Fn, i):
		return never
	case x.Fn == "+":
		return b.And(a.gap, scalar.IsInf(a.Expr))
	}
	return b.And(a.gap, b.Eq(a.Expr, loop.Number(a.Type(), 0)))
}

// gapValue is the value of a result that is not stored, nil where only a run can tell.
func (e *emitter) gapValue(x *ir.Call, args []operand, annihilates []loop.Expr) *ir.Literal {
	var decided *ir.Literal
	surely := false
	for i, a := range args {
		if isNever(annihilates[i]) {
			continue
		}
		if a.value == nil {
			return nil
		}
		v := a.value.Value.Convert(x.Typ)
		if v.IsZero() {
			v = tensor.Zero(x.Typ)
		}
		if decided != nil && decided.Value != v {
			return nil // inf and -inf
		}
		decided = &ir.Literal{Value: v, Gap: true}
		surely = surely || !a.uniform
	}
	if surely {
		return decided
	}
	folded := &ir.Call{Fn: x.Fn, Typ: x.Typ}
	for _, a := range args {
		if a.value == nil {
			return nil
		}
		folded.Args = append(folded.Args, a.value)
	}
	c, ok := e.alg.Eval.Fold(folded).(*ir.Literal)
	if !ok || decided != nil && decided.Value != c.Value {
		return nil
	}
	return c
}

// onlyLiterals reports whether an operand that annihilates meets nothing but literals and gaps.
func onlyLiterals(args []operand, annihilates []loop.Expr) bool {
	stored := 0
	for i, a := range args {
		if !isNever(a.stored) {
			stored++
		}
		if a.value == nil || !isNever(a.stored) && isNever(annihilates[i]) {
			return false
		}
	}
	return stored <= 1
}

// foldsTo reports whether an operation on what its operands are where they are not stored
// computes the bits of v.
func (e *emitter) foldsTo(x *ir.Call, args []operand, v *ir.Literal) bool {
	values := make([]tensor.Scalar, len(args))
	for i, a := range args {
		if a.value == nil {
			return false
		}
		values[i] = a.value.Value
	}
	w, ok := e.alg.Eval(x.Fn, x.Typ, values)
	return ok && w == v.Value
}

// openGap is the result of an operation whose value in a gap only a run can tell.
func (e *emitter) openGap(z operand, args []operand, annihilates []loop.Expr) loop.Expr {
	b, t := e.B, z.Type()
	v := z.Expr
	for i, cond := range annihilates {
		if isNever(cond) {
			continue
		}
		for j, other := range annihilates {
			if i != j {
				// Two that annihilate are equal, or inf and -inf, of which nan is the sum.
				cond = b.And(cond, b.Not(other))
			}
		}
		v = b.Select(cond, b.Cast(t, args[i].Expr), v)
	}
	v = b.Let("v", v)
	return b.Select(b.And(z.gap, b.Eq(v, loop.Number(t, 0))), loop.Number(t, 0), v)
}

// operation emits an operation on values.
func (e *emitter) operation(x *ir.Call, args []loop.Expr) loop.Expr {
	t := emit.ComputeType(x.Typ)
	if e.opts.Grids && x.Fn == "exp" && t == loop.F32 && args[0].Type() == t {
		return &loop.Call{Fn: "_expsingle_f32", Typ: t, Args: args} // has a third of the operations
	}
	return scalar.Apply(x.Fn, t, args)
}
