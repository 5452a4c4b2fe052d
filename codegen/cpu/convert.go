package cpu

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/value"
)

// cast emits the conversion of x from type from to type to, by the rules of
// loop.Cast.
func (f *function) cast(to, from loop.Type, x val) val {
	switch {
	case to == from:
		return x
	case to.IsComplex() && from.IsComplex():
		return val{re: f.castReal(to.Real(), from.Real(), x.re), im: f.castReal(to.Real(), from.Real(), x.im)}
	case to.IsComplex():
		return val{re: f.castReal(to.Real(), from, x.re), im: zero(to.Real()).re}
	case from.IsComplex() && to == loop.Bool:
		re := f.castReal(to, from.Real(), x.re)
		return val{re: f.block.NewOr(re, f.castReal(to, from.Real(), x.im))}
	}
	return val{re: f.castReal(to, from.Real(), x.re)}
}

// castReal converts between types that are not complex.
func (f *function) castReal(to, from loop.Type, x value.Value) value.Value {
	b := f.block
	target := registerType(to)
	switch {
	case to == from:
		return x
	case to == loop.Bool && from.IsFloat():
		return b.NewFCmp(enum.FPredUNE, x, floatValue(from, 0)) // a NaN is true
	case to == loop.Bool:
		return b.NewICmp(enum.IPredNE, x, intConst(from, 0))
	case to.IsInt() && from.IsFloat():
		return f.saturate(to, from, x)
	case to.IsInt() && from != loop.Bool && width(to) == width(from):
		return x // signed to unsigned or back
	case to.IsInt() && from != loop.Bool && width(to) < width(from):
		return b.NewTrunc(x, target)
	case to.IsInt() && from.IsSigned():
		return b.NewSExt(x, target)
	case to.IsInt():
		return b.NewZExt(x, target)
	case from == loop.F32:
		return b.NewFPExt(x, target)
	case from == loop.F64:
		return b.NewFPTrunc(x, target)
	case from.IsSigned():
		return b.NewSIToFP(x, target)
	case from.IsInt() || from == loop.Bool:
		return b.NewUIToFP(x, target)
	}
	panic(fmt.Sprintf("BUG: cast of %v to %v", from, to))
}

// saturate converts a float to an integer: toward zero, to the nearest limit
// when out of range, NaN to 0. That is what LLVM's saturating conversions do.
func (f *function) saturate(to, from loop.Type, x value.Value) value.Value {
	name := "llvm.fptoui.sat."
	if to.IsSigned() {
		name = "llvm.fptosi.sat."
	}
	name += suffix(to) + "." + suffix(from)
	return f.block.NewCall(f.m.intrinsic(name, registerType(to), registerType(from)), x)
}
