package llvm

import (
	"math"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// Minima and maxima of floats: NaN if an operand is, and -0 is less than 0. A comparison and a choice, minsd and maxsd
// of x86, do neither: where the operands are equal or one is NaN they give the one that is named last. There are two ways from
// there. One takes two operands and has a form that LLVM vectorises. The other takes all that are nested at once, with less work for
// each, but LLVM leaves it as it is: it is for folds over sparse lines, which are not vectorised anyhow.

// isExtremum tells whether e is a minimum or maximum of floats.
func isExtremum(e *loop.Binary) bool {
	return (e.Op == loop.Min || e.Op == loop.Max) && e.Typ.IsFloat()
}

// extremum emits Min or Max of two floats. The better operand is chosen twice, each time another one where they
// are equal or one is NaN, and the bits of both are joined. Numbers are joined with themselves; of zeros one with a
// sign makes a minimum of -0, and one without makes a maximum of 0; and NaN stays NaN, since only the sign is ever lost.
func (f *Function) extremum(op loop.BinaryOp, t loop.Type, x, y value.Value) value.Value {
	if f.Target.OrdersZeros() {
		return f.orderedExtremum(op, t, x, y)
	}
	b, integer := f.Block, sameSize(t)
	bits := registerType(integer)
	one := b.NewBitCast(f.better(op, y, x), bits)
	other := b.NewBitCast(f.better(op, x, y), bits)
	joined := value.Value(b.NewOr(one, other))
	if op == loop.Max {
		joined = b.NewOr(b.NewAnd(one, other), b.NewAnd(joined, IntConst(integer, ^signBit(integer))))
	}
	return b.NewBitCast(joined, registerType(t))
}

// better emits the better one of two floats, and y if none is.
func (f *Function) better(op loop.BinaryOp, x, y value.Value) value.Value {
	p := enum.FPredOLT
	if op == loop.Max {
		p = enum.FPredOGT
	}
	return f.Block.NewSelect(f.Block.NewFCmp(p, x, y), x, y)
}

// extremeNumber emits MinNum or MaxNum of two floats. LLVM's own functions are the same on x86, but on Arm they become
// instructions that make NaN of a signalling NaN and a number.
func (f *Function) extremeNumber(op loop.BinaryOp, x, y value.Value) value.Value {
	p := enum.FPredOLT
	if op == loop.MaxNum {
		p = enum.FPredOGT
	}
	b := f.Block
	best := b.NewSelect(b.NewFCmp(p, y, x), y, x)
	return b.NewSelect(b.NewFCmp(enum.FPredUNO, x, x), y, best)
}

// orderedExtremum is extremum where max and min are instructions that order zeros, as they are in PTX, and
// leave NaN aside.
func (f *Function) orderedExtremum(op loop.BinaryOp, t loop.Type, x, y value.Value) value.Value {
	number := loop.MinNum
	if op == loop.Max {
		number = loop.MaxNum
	}
	best := f.floatBinary(number, t, x, y)
	return f.Block.NewSelect(f.Block.NewFCmp(enum.FPredUNO, x, y), floatValue(t, math.NaN()), best)
}

// folded emits the value that a statement gives to a variable. Where others beside it get extrema too, LLVM would vectorise them
// together. NaN in the first operand, the accumulator, stays what it is.
func (f *Function) folded(e loop.Expr) Val {
	b, ok := f.sparseExtremum(e)
	if !ok || f.extrema != 1 {
		return f.Expr(e)
	}
	operands := nested(b.Op, b)
	if b.Op == loop.Min && len(operands) == 2 {
		return f.Expr(e) // which is less work
	}
	return Val{Re: f.extremumOf(b, operands[1:])}
}

// stored emits the value that a statement gives to an element. Where threads may update elements in any order, NaN in the
// element before is made the same NaN that others are.
func (f *Function) stored(e loop.Expr) Val {
	b, ok := f.sparseExtremum(e)
	if !ok || !f.Scatters {
		return f.Expr(e)
	}
	return Val{Re: f.extremumOf(b, nested(b.Op, b))}
}

// sparseExtremum is e if that is an extremum for which the target has no instruction.
func (f *Function) sparseExtremum(e loop.Expr) (*loop.Binary, bool) {
	b, ok := e.(*loop.Binary)
	return b, ok && isExtremum(b) && !f.Target.OrdersZeros()
}

// nested are the operands of op in e, however it is nested, the first one first.
func nested(op loop.BinaryOp, e loop.Expr) []loop.Expr {
	if b, ok := e.(*loop.Binary); ok && b.Op == op {
		return append(nested(op, b.X), nested(op, b.Y)...)
	}
	return []loop.Expr{e}
}

// extremumOf emits Min or Max of several floats: an instruction for each to choose the best one, and half of one each
// to look for NaN and at signs. Little waits for the first operand, which in a fold is the accumulator: maxsd, an operation on
// bits, a blend.
//
// One choice, of a constant, does for NaN in the operands checked: all, or all but the first one, which the comparisons keep
// if it is NaN. With the operand itself, LLVM would join the choices and take longer for both. As to zeros, the sign of a minimum is the disjunction of the
// operands' and that of a maximum their conjunction, whatever they are, and where they are not zeros the best one has it already. Signs
// are kept in vectors, one lane of which counts: LLVM would take scalar bits to general registers and back.
func (f *Function) extremumOf(e *loop.Binary, checked []loop.Expr) value.Value {
	b, integer := f.Block, sameSize(e.Typ)
	lanes := uint64(128 / width(integer))
	floats, bits := types.NewVector(lanes, registerType(e.Typ)), types.NewVector(lanes, registerType(integer))
	first := IntConst(loop.I64, 0)
	vector := func(x value.Value) value.Value {
		return b.NewBitCast(b.NewInsertElement(constant.NewUndef(floats), x, first), bits)
	}

	values := map[loop.Expr]value.Value{}
	var signs, nan value.Value
	for _, x := range nested(e.Op, e) {
		v := f.Expr(x).Re
		values[x] = v
		switch {
		case signs == nil:
			signs = vector(v)
		case e.Op == loop.Max:
			signs = b.NewAnd(signs, vector(v))
		default:
			signs = b.NewOr(signs, vector(v))
		}
	}
	for _, x := range checked {
		isNaN := value.Value(b.NewFCmp(enum.FPredUNO, values[x], values[x])) // LLVM looks at two at once
		if nan != nil {
			isNaN = b.NewOr(nan, isNaN)
		}
		nan = isNaN
	}
	var best func(loop.Expr) value.Value
	best = func(x loop.Expr) value.Value {
		if v, ok := values[x]; ok {
			return v
		}
		two := x.(*loop.Binary)
		y := best(two.X)
		return f.better(two.Op, best(two.Y), y)
	}
	chosen := vector(best(e))
	if e.Op == loop.Max {
		chosen = b.NewAnd(chosen, b.NewOr(signs, repeated(bits, IntConst(integer, ^signBit(integer)))))
	} else {
		chosen = b.NewOr(chosen, b.NewAnd(signs, repeated(bits, IntConst(integer, signBit(integer)))))
	}
	signed := b.NewExtractElement(b.NewBitCast(chosen, floats), first)
	return b.NewSelect(nan, constOf(loop.Float(e.Typ, math.NaN())).Re, signed)
}

// repeated is a vector of equal elements.
func repeated(t *types.VectorType, x constant.Constant) constant.Constant {
	elems := make([]constant.Constant, t.Len)
	for i := range elems {
		elems[i] = x
	}
	return constant.NewVector(t, elems...)
}

// sameSize is the unsigned type as wide as a float.
func sameSize(t loop.Type) loop.Type {
	if t == loop.F32 {
		return loop.U32
	}
	return loop.U64
}

// signBit is an integer whose highest bit only is set.
func signBit(t loop.Type) int64 { return math.MinInt64 >> (64 - width(t)) }

// extremaIn counts the variables that statements give minima or maxima of floats.
func extremaIn(body []loop.Stmt) int {
	vars := map[loop.VarID]bool{}
	for _, s := range body {
		if a, ok := s.(*loop.Assign); ok {
			if b, ok := a.Value.(*loop.Binary); ok && isExtremum(b) {
				vars[a.Var] = true
			}
		}
	}
	return len(vars)
}
