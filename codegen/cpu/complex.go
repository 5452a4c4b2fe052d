package cpu

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/value"
)

// complexUnary emits an operator of one complex number.
func (f *function) complexUnary(op loop.UnaryOp, x val) val {
	switch op {
	case loop.Neg:
		return val{re: f.block.NewFNeg(x.re), im: f.block.NewFNeg(x.im)}
	case loop.Real:
		return val{re: x.re}
	case loop.Imag:
		return val{re: x.im}
	}
	panic(fmt.Sprintf("BUG: %v of a complex number", op))
}

// complexBinary emits an operator of two complex numbers of type t.
func (f *function) complexBinary(op loop.BinaryOp, t loop.Type, x, y val) val {
	b := f.block
	switch op {
	case loop.Add:
		return val{re: b.NewFAdd(x.re, y.re), im: b.NewFAdd(x.im, y.im)}
	case loop.Sub:
		return val{re: b.NewFSub(x.re, y.re), im: b.NewFSub(x.im, y.im)}
	case loop.Mul:
		return val{
			re: b.NewFSub(b.NewFMul(x.re, y.re), b.NewFMul(x.im, y.im)),
			im: b.NewFAdd(b.NewFMul(x.re, y.im), b.NewFMul(x.im, y.re)),
		}
	case loop.Div:
		return f.complexDivide(t.Real(), x, y)
	case loop.Eq:
		return val{re: b.NewAnd(b.NewFCmp(enum.FPredOEQ, x.re, y.re), b.NewFCmp(enum.FPredOEQ, x.im, y.im))}
	case loop.Ne:
		return val{re: b.NewOr(b.NewFCmp(enum.FPredUNE, x.re, y.re), b.NewFCmp(enum.FPredUNE, x.im, y.im))}
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
func (f *function) complexDivide(part loop.Type, x, y val) val {
	b := f.block
	abs := f.m.intrinsic("llvm.fabs."+suffix(part), registerType(part), registerType(part))
	wide := b.NewFCmp(enum.FPredOGE, b.NewCall(abs, y.re), b.NewCall(abs, y.im))
	pick := func(v, w value.Value) value.Value { return b.NewSelect(wide, v, w) }

	large, small := pick(y.re, y.im), pick(y.im, y.re)
	ratio := b.NewFDiv(small, large)
	den := b.NewFAdd(large, b.NewFMul(small, ratio))
	straight, crossed := pick(x.re, x.im), pick(x.im, x.re)
	re := b.NewFAdd(straight, b.NewFMul(crossed, ratio))
	scaled := b.NewFMul(straight, ratio) // a*r or b*r
	im := b.NewFSub(pick(x.im, scaled), pick(scaled, x.re))
	return val{re: b.NewFDiv(re, den), im: b.NewFDiv(im, den)}
}
