package scalar

import (
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A value at a leaf is stored, a gap or uniform (ir.Algebra). Where that matters to the value
// of an operation, the conditions of the first two are at hand: an operand that is a gap
// annihilates, and the zero of a gap has no sign.

// Presence says under which conditions a value is stored, or a gap.
type Presence struct {
	Stored, Gap loop.Expr
	// Value is what it has where it is not stored, nil where only a run can tell.
	Value *ir.Literal
	// Uniform: it may be neither.
	Uniform bool
}

// Operand is a value with its presence.
type Operand struct {
	loop.Expr
	Presence
}

// Operations emit operations of the language on values with presences.
type Operations struct {
	B   *loop.Builder
	Alg ir.Algebra
	// Grids: for engines that share loops among threads.
	Grids bool
}

// The conditions that never and always hold, and the presence of what is neither stored nor a gap.
var (
	Never   = loop.Truth(false)
	Always  = loop.Truth(true)
	Uniform = Presence{Stored: Never, Gap: Never, Uniform: true}
)

// GapUnless is the presence of what is stored where a condition holds (nil: everywhere), and
// elsewhere a gap of the given value.
func GapUnless(present loop.Expr, value ir.Expr) Presence {
	if present == nil {
		present = Always
	}
	p := Presence{Stored: present, Gap: loop.NewUnary(loop.Not, present)}
	p.Value, _ = value.(*ir.Literal)
	return p
}

// or is the disjunction of two conditions, which may be one.
func or(x, y loop.Expr) loop.Expr {
	if SameCondition(x, y) {
		return x
	}
	return loop.NewBinary(loop.Or, x, y)
}

// isNever reports whether a condition is known not to hold.
func isNever(cond loop.Expr) bool {
	c, ok := cond.(*loop.Const)
	return ok && c.Bits == 0
}

// Choice emits one of two values: its presence is made of those of the condition and of the value
// that is taken.
func (o Operations) Choice(c, t, f Operand) Operand {
	b := o.B
	if !c.Uniform || !SameCondition(t.Stored, f.Stored) || !SameCondition(t.Gap, f.Gap) {
		c.Expr = b.Let("c", c.Expr)
	}
	z := Operand{Expr: b.Select(c.Expr, t.Expr, f.Expr)}
	z.Stored = b.Or(c.Stored, pick(c.Expr, t.Stored, f.Stored))
	z.Gap = b.And(b.Or(c.Gap, pick(c.Expr, t.Gap, f.Gap)), b.Not(z.Stored))
	z.Uniform = c.Uniform && (t.Uniform || f.Uniform)
	z.Value = chosenValue(c, t, f)
	return z
}

// chosenValue is what a choice has where it is not stored: what the branch has that is taken there,
// nil where only a run can tell.
func chosenValue(c, t, f Operand) *ir.Literal {
	switch {
	case c.Value != nil && c.Value.Value.Bool():
		return t.Value
	case c.Value != nil:
		return f.Value
	case t.Value == nil || f.Value == nil || t.Value.Value != f.Value.Value:
		return nil
	}
	return &ir.Literal{Value: t.Value.Value, Gap: t.Value.Gap || f.Value.Gap}
}

// pick is one of two conditions.
func pick(cond, x, y loop.Expr) loop.Expr {
	if SameCondition(x, y) {
		return x
	}
	return loop.NewBinary(loop.Or, loop.NewBinary(loop.And, cond, x), loop.NewBinary(loop.And, loop.NewUnary(loop.Not, cond), y))
}

// SameCondition reports whether two conditions are evidently one.
func SameCondition(x, y loop.Expr) bool {
	if c, ok := x.(*loop.Unary); ok && c.Op == loop.Not {
		d, ok := y.(*loop.Unary)
		return ok && d.Op == loop.Not && SameCondition(c.X, d.X)
	}
	c, ok := x.(*loop.Const)
	d, ok2 := y.(*loop.Const)
	return ok && ok2 && *c == *d || emit.SameRef(x, y)
}

// Call emits the result of an operation.
func (o Operations) Call(x *ir.Call, args []Operand) Operand {
	b := o.B
	if z, ok := o.scaled(x, args); ok {
		return z
	}
	values, annihilates := make([]loop.Expr, len(args)), make([]loop.Expr, len(args))
	stored, gap, annihilated := loop.Expr(Never), loop.Expr(Never), loop.Expr(Never)
	z := Operand{Presence: Presence{Uniform: true}}
	decided := true // an operand that is a gap annihilates
	for i, a := range args {
		values[i], annihilates[i] = a.Expr, o.annihilates(x, i, a)
		stored, gap = or(stored, a.Stored), or(gap, a.Gap)
		annihilated = or(annihilated, annihilates[i])
		z.Uniform = z.Uniform && a.Uniform
		decided = decided && SameCondition(annihilates[i], a.Gap)
	}
	switch {
	case decided && !isNever(annihilated):
		z.Gap = annihilated
	case z.Uniform:
		z.Gap = b.Or(annihilated, b.And(b.Not(stored), gap))
	default: // what is not stored is a gap
		z.Gap = b.Or(annihilated, b.Not(stored))
	}
	z.Gap = b.Let("gap", z.Gap)
	z.Stored = b.And(stored, b.Not(z.Gap))
	z.Value = o.gapValue(x, args, annihilates)
	if z.Value != nil && z.Value.Gap && SameCondition(z.Gap, Always) {
		z.Expr = emit.Constant(z.Value.Value)
		return z
	}
	z.Expr = o.operation(x, values)
	switch {
	case isNever(z.Gap), !z.Type().IsFloat() && !z.Type().IsComplex():
	case z.Value == nil:
		z.Expr = o.openGap(z, args, annihilates)
	case !isNever(annihilated) && !onlyLiterals(args, annihilates) || !o.foldsTo(x, args, z.Value):
		z.Expr = b.Select(z.Gap, emit.Constant(z.Value.Value), z.Expr)
	}
	return z
}

// scaled is a product with extents, or a quotient by them, of what is 0 where it is not stored: no number of
// elements is an infinity, so what the operation computes there is right as it is.
func (o Operations) scaled(x *ir.Call, args []Operand) (Operand, bool) {
	if x.Fn != "*" && x.Fn != "/" || !ir.OfExtents(x.Args[1]) || args[0].Value == nil || !ir.Annihilates(x.Fn, 0, args[0].Value.Value, o.Alg.Strict) {
		return Operand{}, false
	}
	z := args[0]
	z.Value, _ = o.Alg.Eval.Fold(&ir.Cast{To: x.Typ, X: z.Value}).(*ir.Literal)
	z.Expr = o.operation(x, []loop.Expr{args[0].Expr, args[1].Expr})
	return z, true
}

// annihilates is the condition that an operand is a gap with a value that decides the result.
// Where only a run can tell the value, it is looked at.
func (o Operations) annihilates(x *ir.Call, i int, a Operand) loop.Expr {
	b := o.B
	switch {
	case isNever(a.Gap):
		return Never
	case a.Value != nil && ir.Annihilates(x.Fn, i, a.Value.Value, o.Alg.Strict):
		return a.Gap
	case a.Value != nil:
		return Never
	case !a.Type().IsFloat() && !a.Type().IsComplex():
		if v, ok := ir.Annihilator(x.Fn, i, ir.TypeOf(x.Args[i])); ok {
			return b.And(a.Gap, b.Eq(a.Expr, emit.Constant(v)))
		}
		return Never
	case !o.Alg.MayAnnihilate(x.Fn, i):
		return Never
	case x.Fn == "+":
		return b.And(a.Gap, IsInf(a.Expr))
	}
	return b.And(a.Gap, b.Eq(a.Expr, loop.Number(a.Type(), 0)))
}

// gapValue is the value of a result that is not stored, nil where only a run can tell.
func (o Operations) gapValue(x *ir.Call, args []Operand, annihilates []loop.Expr) *ir.Literal {
	var decided *ir.Literal
	surely := false
	for i, a := range args {
		if isNever(annihilates[i]) {
			continue
		}
		if a.Value == nil {
			return nil
		}
		v := a.Value.Value.Convert(x.Typ)
		if v.IsZero() {
			v = tensor.Zero(x.Typ)
		}
		if decided != nil && decided.Value != v {
			return nil // inf and -inf
		}
		decided = &ir.Literal{Value: v, Gap: true}
		surely = surely || !a.Uniform
	}
	if surely {
		return decided
	}
	folded := &ir.Call{Fn: x.Fn, Typ: x.Typ}
	for _, a := range args {
		if a.Value == nil {
			return nil
		}
		folded.Args = append(folded.Args, a.Value)
	}
	c, ok := o.Alg.Eval.Fold(folded).(*ir.Literal)
	if !ok || decided != nil && decided.Value != c.Value {
		return nil
	}
	return c
}

// onlyLiterals reports whether an operand that annihilates meets nothing but literals and gaps.
func onlyLiterals(args []Operand, annihilates []loop.Expr) bool {
	stored := 0
	for i, a := range args {
		if !isNever(a.Stored) {
			stored++
		}
		if a.Value == nil || !isNever(a.Stored) && isNever(annihilates[i]) {
			return false
		}
	}
	return stored <= 1
}

// foldsTo reports whether an operation on what its operands are where they are not stored
// computes the bits of v.
func (o Operations) foldsTo(x *ir.Call, args []Operand, v *ir.Literal) bool {
	values := make([]tensor.Scalar, len(args))
	for i, a := range args {
		if a.Value == nil {
			return false
		}
		values[i] = a.Value.Value
	}
	w, ok := o.Alg.Eval(x.Fn, x.Typ, values)
	return ok && w == v.Value
}

// openGap is the result of an operation whose value in a gap only a run can tell.
func (o Operations) openGap(z Operand, args []Operand, annihilates []loop.Expr) loop.Expr {
	b, t := o.B, z.Type()
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
	return b.Select(b.And(z.Gap, b.Eq(v, loop.Number(t, 0))), loop.Number(t, 0), v)
}
