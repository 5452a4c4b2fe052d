package llvm

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// Expr emits an expression. LLVM removes the repetitions of common parts.
func (f *Function) Expr(e loop.Expr) Val {
	switch e := e.(type) {
	case *loop.Const:
		return constOf(e)
	case *loop.Ref:
		if s := f.slots[e.Var]; s != nil {
			return f.read(s)
		}
		return f.vals[e.Var]
	case *loop.Load:
		return f.load(e)
	case *loop.Unary:
		return f.unary(e)
	case *loop.Binary:
		x := f.Expr(e.X)
		if isExtremum(e) {
			return Val{Re: f.extremum(e.Op, e.Typ, x.Re, f.Expr(e.Y).Re)}
		}
		return f.binary(e.Op, e.X.Type(), x, f.Expr(e.Y))
	case *loop.Select:
		return f.selectExpr(e)
	case *loop.FMA:
		return f.fma(e)
	case *loop.Cast:
		return f.cast(e.Typ, e.X.Type(), f.Expr(e.X))
	case *loop.Call:
		return f.call(e)
	case *loop.Special:
		return Val{Re: f.Target.Special(e.Reg)}
	}
	panic(fmt.Sprintf("BUG: expression %T", e))
}

// selectExpr emits a choice between two values, both of which are computed.
func (f *Function) selectExpr(e *loop.Select) Val {
	cond := f.Expr(e.Cond).Re
	if l, ok := f.elementOrZero(e); ok {
		place := f.Block.NewSelect(cond, f.Address(l.Buf, f.Expr(l.Index).Re, 0), f.Module.zero(l.Elem))
		place.Metadata = f.Module.unguessed()
		return Val{Re: f.Block.NewLoad(registerType(l.Elem), place)}
	}
	x := f.Expr(e.X)
	y := f.Expr(e.Y).Parts()
	parts := make([]value.Value, len(y))
	for i, part := range x.Parts() {
		parts[i] = f.Block.NewSelect(cond, part, y[i])
	}
	return FromParts(parts)
}

// elementOrZero is the load in a choice between an element, a float, and 0, by something other than a comparison of floats. x86 before AVX-512 has no
// instruction for that, and LLVM does not use the one that AVX-512 has: it would make a branch, which neither a merge of two operands nor an element of a row that
// is summed can foresee. The choice between addresses is one instruction, as long as LLVM is told so. Loops that may become vectors have choices between vectors.
func (f *Function) elementOrZero(e *loop.Select) (*loop.Load, bool) {
	l, ok := e.X.(*loop.Load)
	zero, isConst := e.Y.(*loop.Const)
	if !ok || !isConst || zero.Bits != 0 || !f.Merges && !f.Scatters || l.Elem != loop.F64 && l.Elem != loop.F32 {
		return nil, false
	}
	return l, true
}

// zero is the address of a 0 of a type.
func (m *Module) zero(t loop.Type) value.Value {
	name := "zero." + suffix(t)
	for _, g := range m.IR.Globals {
		if g.Name() == name {
			return g
		}
	}
	g := m.IR.NewGlobalDef(name, constant.NewFloat(registerType(t).(*types.FloatType), 0))
	g.Immutable, g.Linkage, g.UnnamedAddr = true, enum.LinkagePrivate, enum.UnnamedAddrUnnamedAddr
	return g
}

// fma emits a product and a sum that are rounded once. Processors without such an
// instruction call the C library.
func (f *Function) fma(e *loop.FMA) Val {
	t := registerType(e.Type())
	x, y, z := f.Expr(e.X).Re, f.Expr(e.Y).Re, f.Expr(e.Z).Re
	return Val{Re: f.Block.NewCall(f.Module.Intrinsic("llvm.fma."+suffix(e.Type()), t, t, t, t), x, y, z)}
}

// unary emits an operator of one operand.
func (f *Function) unary(e *loop.Unary) Val {
	t := e.X.Type()
	x := f.Expr(e.X)
	switch {
	case t.IsComplex():
		return f.complexUnary(e.Op, x)
	case t.IsFloat():
		return Val{Re: f.floatUnary(e, t, x.Re)}
	}
	return Val{Re: f.intUnary(e, t, x.Re)}
}

// intUnary emits an operator of one integer or Bool.
func (f *Function) intUnary(e *loop.Unary, t loop.Type, x value.Value) value.Value {
	switch e.Op {
	case loop.Neg:
		return f.Block.NewSub(IntConst(t, 0), x)
	case loop.Not:
		if t == loop.Bool {
			return f.Block.NewXor(x, constant.True)
		}
		return f.Block.NewXor(x, IntConst(t, -1))
	case loop.Abs:
		if !t.IsSigned() {
			return x
		}
		abs := f.Module.Intrinsic("llvm.abs."+suffix(t), registerType(t), registerType(t), types.I1)
		return f.Block.NewCall(abs, x, constant.False) // false: abs(min) is min, not poison
	case loop.FromBits:
		return f.Block.NewBitCast(x, registerType(e.Typ))
	case loop.TrailingZeros:
		count := f.Module.Intrinsic("llvm.cttz."+suffix(t), registerType(t), registerType(t), types.I1)
		return f.Block.NewCall(count, x, constant.False) // false: the width for 0, not poison
	case loop.OnesCount:
		return f.Block.NewCall(f.Module.Intrinsic("llvm.ctpop."+suffix(t), registerType(t), registerType(t)), x)
	}
	panic(fmt.Sprintf("BUG: %v of %v", e.Op, t))
}

// floatIntrinsics are the operators of one float that are an LLVM intrinsic.
// Rint is llvm.rint: in the default floating-point environment, which nothing
// here changes, it rounds to nearest, ties to even.
var floatIntrinsics = map[loop.UnaryOp]string{
	loop.Abs: "fabs", loop.Sqrt: "sqrt", loop.Floor: "floor", loop.Ceil: "ceil",
	loop.Trunc: "trunc", loop.Rint: "rint",
}

// floatUnary emits an operator of one F32 or F64.
func (f *Function) floatUnary(e *loop.Unary, t loop.Type, x value.Value) value.Value {
	switch e.Op {
	case loop.Neg:
		return f.Block.NewFNeg(x)
	case loop.Bits:
		return f.Block.NewBitCast(x, registerType(e.Typ))
	case loop.RoundF16:
		return f.widenHalf(loop.F16, f.narrowHalf(loop.F16, x))
	case loop.RoundBF16:
		return f.widenHalf(loop.BF16, f.narrowHalf(loop.BF16, x))
	}
	name, ok := floatIntrinsics[e.Op]
	if !ok {
		panic(fmt.Sprintf("BUG: %v of %v", e.Op, t))
	}
	if f.Module.Variant.OwnRounding && isRounding(e.Op) {
		return f.round(name, t, x)
	}
	return f.Block.NewCall(f.Module.Intrinsic("llvm."+name+"."+suffix(t), registerType(t), registerType(t)), x)
}

// binary emits an operator of two operands of type t.
func (f *Function) binary(op loop.BinaryOp, t loop.Type, x, y Val) Val {
	switch {
	case op == loop.Complex:
		return Val{Re: x.Re, Im: y.Re}
	case t.IsComplex():
		return f.complexBinary(op, t, x, y)
	case t.IsFloat():
		return Val{Re: f.floatBinary(op, t, x.Re, y.Re)}
	}
	return Val{Re: f.intBinary(op, t, x.Re, y.Re)}
}

// intPredicates are LLVM's names of the comparisons of integers.
var intPredicates = map[loop.BinaryOp]struct{ signed, unsigned enum.IPred }{
	loop.Eq: {enum.IPredEQ, enum.IPredEQ}, loop.Ne: {enum.IPredNE, enum.IPredNE},
	loop.Lt: {enum.IPredSLT, enum.IPredULT}, loop.Le: {enum.IPredSLE, enum.IPredULE},
	loop.Gt: {enum.IPredSGT, enum.IPredUGT}, loop.Ge: {enum.IPredSGE, enum.IPredUGE},
}

// intCompare emits a comparison of integers or Bools (false < true).
func (f *Function) intCompare(op loop.BinaryOp, t loop.Type, x, y value.Value) value.Value {
	p := intPredicates[op]
	if t.IsSigned() {
		return f.Block.NewICmp(p.signed, x, y)
	}
	return f.Block.NewICmp(p.unsigned, x, y)
}

// intBinary emits an operator of two integers or Bools.
func (f *Function) intBinary(op loop.BinaryOp, t loop.Type, x, y value.Value) value.Value {
	if op.IsComparison() {
		return f.intCompare(op, t, x, y)
	}
	b := f.Block
	switch op {
	case loop.Add:
		return b.NewAdd(x, y)
	case loop.Sub:
		return b.NewSub(x, y)
	case loop.Mul:
		return b.NewMul(x, y)
	case loop.Div, loop.Rem:
		return f.divide(op, t, x, y)
	case loop.Min:
		return b.NewSelect(f.intCompare(loop.Le, t, x, y), x, y)
	case loop.Max:
		return b.NewSelect(f.intCompare(loop.Ge, t, x, y), x, y)
	case loop.And:
		return b.NewAnd(x, y)
	case loop.Or:
		return b.NewOr(x, y)
	case loop.Xor:
		return b.NewXor(x, y)
	}
	count := f.shiftCount(t, y)
	switch {
	case op == loop.Shl:
		return b.NewShl(x, count)
	case op == loop.Shr && t.IsSigned():
		return b.NewAShr(x, count)
	case op == loop.Shr:
		return b.NewLShr(x, count)
	}
	panic(fmt.Sprintf("BUG: %v of %v", op, t))
}

// shiftCount emits y modulo the width of t.
func (f *Function) shiftCount(t loop.Type, y value.Value) value.Value {
	mask := int64(width(t) - 1)
	if c, ok := y.(intValue); ok {
		return IntConst(t, c.value&mask)
	}
	return f.Block.NewAnd(y, IntConst(t, mask))
}

// divide emits Div or Rem of integers. LLVM leaves x/0 and min/-1 undefined, so
// the divisor is 1 in those cases; then x/1 = min and x%1 = 0 are already the
// answers but for x/0 = 0. A positive number in the program is no such case.
func (f *Function) divide(op loop.BinaryOp, t loop.Type, x, y value.Value) value.Value {
	if c, ok := y.(intValue); ok && c.value > 0 {
		return f.quotient(op, t, x, y)
	}
	b := f.Block
	byZero := b.NewICmp(enum.IPredEQ, y, IntConst(t, 0))
	var bad value.Value = byZero
	if t.IsSigned() {
		smallest := b.NewICmp(enum.IPredEQ, x, IntConst(t, -1<<(width(t)-1)))
		overflow := b.NewAnd(smallest, b.NewICmp(enum.IPredEQ, y, IntConst(t, -1)))
		bad = b.NewOr(byZero, overflow)
	}
	divisor := b.NewSelect(bad, IntConst(t, 1), y)
	result := f.quotient(op, t, x, divisor)
	if op == loop.Rem {
		return result
	}
	return b.NewSelect(byZero, IntConst(t, 0), result)
}

// quotient emits Div or Rem of integers by one that makes them defined in LLVM.
func (f *Function) quotient(op loop.BinaryOp, t loop.Type, x, y value.Value) value.Value {
	b := f.Block
	switch {
	case op == loop.Rem && t.IsSigned():
		return b.NewSRem(x, y)
	case op == loop.Rem:
		return b.NewURem(x, y)
	case t.IsSigned():
		return b.NewSDiv(x, y)
	}
	return b.NewUDiv(x, y)
}

// floatPredicates are LLVM's names of the comparisons of floats. A NaN is
// unequal to everything and in no order with anything.
var floatPredicates = map[loop.BinaryOp]enum.FPred{
	loop.Eq: enum.FPredOEQ, loop.Ne: enum.FPredUNE,
	loop.Lt: enum.FPredOLT, loop.Le: enum.FPredOLE,
	loop.Gt: enum.FPredOGT, loop.Ge: enum.FPredOGE,
}

// floatBinary emits an operator of two floats of type t.
func (f *Function) floatBinary(op loop.BinaryOp, t loop.Type, x, y value.Value) value.Value {
	b := f.Block
	switch op {
	case loop.Add:
		return b.NewFAdd(x, y)
	case loop.Sub:
		return b.NewFSub(x, y)
	case loop.Mul:
		return b.NewFMul(x, y)
	case loop.Div:
		return b.NewFDiv(x, y)
	case loop.MinNum, loop.MaxNum:
		if !f.Target.OrdersZeros() {
			return f.extremeNumber(op, x, y)
		}
		name := "llvm." + op.String() + "." + suffix(t)
		return b.NewCall(f.Module.Intrinsic(name, registerType(t), registerType(t), registerType(t)), x, y)
	}
	p, ok := floatPredicates[op]
	if !ok {
		panic(fmt.Sprintf("BUG: %v of %v", op, t))
	}
	return b.NewFCmp(p, x, y)
}
