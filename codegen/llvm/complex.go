package llvm

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/value"
)

// complexUnary emits an operator of one complex number.
func (f *Function) complexUnary(op loop.UnaryOp, x Val) Val {
	switch op {
	case loop.Neg:
		return Val{Re: f.Block.NewFNeg(x.Re), Im: f.Block.NewFNeg(x.Im)}
	case loop.Real:
		return Val{Re: x.Re}
	case loop.Imag:
		return Val{Re: x.Im}
	}
	panic(fmt.Sprintf("BUG: %v of a complex number", op))
}

// complexBinary emits an operator of two complex numbers of type t.
func (f *Function) complexBinary(op loop.BinaryOp, t loop.Type, x, y Val) Val {
	b := f.Block
	switch op {
	case loop.Add:
		return Val{Re: b.NewFAdd(x.Re, y.Re), Im: b.NewFAdd(x.Im, y.Im)}
	case loop.Sub:
		return Val{Re: b.NewFSub(x.Re, y.Re), Im: b.NewFSub(x.Im, y.Im)}
	case loop.Mul:
		return Val{
			Re: b.NewFSub(b.NewFMul(x.Re, y.Re), b.NewFMul(x.Im, y.Im)),
			Im: b.NewFAdd(b.NewFMul(x.Re, y.Im), b.NewFMul(x.Im, y.Re)),
		}
	case loop.Div:
		return f.complexDivide(t.Real(), x, y)
	case loop.Eq:
		return Val{Re: b.NewAnd(b.NewFCmp(enum.FPredOEQ, x.Re, y.Re), b.NewFCmp(enum.FPredOEQ, x.Im, y.Im))}
	case loop.Ne:
		return Val{Re: b.NewOr(b.NewFCmp(enum.FPredUNE, x.Re, y.Re), b.NewFCmp(enum.FPredUNE, x.Im, y.Im))}
	}
	panic(fmt.Sprintf("BUG: %v of complex numbers", op))
}

// complexDivide emits Smith's method as loop.EvalBinary states it, without
// branches: the two cases differ in which part of the divisor is divided by
// which, and in which part of the dividend is multiplied by the ratio. The order
// of the operands of a sum does not matter to its value.
//
//	|c| >= |d|:  r = d/c,  den = c + d*r,  re = (a + b*r)/den,  im = (b - a*r)/den
//	otherwise:   r = c/d,  den = d + c*r,  re = (b + a*r)/den,  im = (b*r - a)/den
func (f *Function) complexDivide(part loop.Type, x, y Val) Val {
	b := f.Block
	abs := f.Module.Intrinsic("llvm.fabs."+suffix(part), registerType(part), registerType(part))
	wide := b.NewFCmp(enum.FPredOGE, b.NewCall(abs, y.Re), b.NewCall(abs, y.Im))
	pick := func(v, w value.Value) value.Value { return b.NewSelect(wide, v, w) }

	large, small := pick(y.Re, y.Im), pick(y.Im, y.Re)
	ratio := b.NewFDiv(small, large)
	den := b.NewFAdd(large, b.NewFMul(small, ratio))
	straight, crossed := pick(x.Re, x.Im), pick(x.Im, x.Re)
	re := b.NewFAdd(straight, b.NewFMul(crossed, ratio))
	scaled := b.NewFMul(straight, ratio) // a*r or b*r
	im := b.NewFSub(pick(x.Im, scaled), pick(scaled, x.Re))
	return Val{Re: b.NewFDiv(re, den), Im: b.NewFDiv(im, den)}
}
