package llvm

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/value"
)

// cast emits the conversion of x from type from to type to, by the rules of
// loop.Cast.
func (f *Function) cast(to, from loop.Type, x Val) Val {
	switch {
	case to == from:
		return x
	case to.IsComplex() && from.IsComplex():
		return Val{Re: f.castReal(to.Real(), from.Real(), x.Re), Im: f.castReal(to.Real(), from.Real(), x.Im)}
	case to.IsComplex():
		return Val{Re: f.castReal(to.Real(), from, x.Re), Im: zero(to.Real()).Re}
	case from.IsComplex() && to == loop.Bool:
		re := f.castReal(to, from.Real(), x.Re)
		return Val{Re: f.Block.NewOr(re, f.castReal(to, from.Real(), x.Im))}
	}
	return Val{Re: f.castReal(to, from.Real(), x.Re)}
}

// castReal converts between types that are not complex.
func (f *Function) castReal(to, from loop.Type, x value.Value) value.Value {
	b := f.Block
	target := registerType(to)
	switch {
	case to == from:
		return x
	case to == loop.Bool && from.IsFloat():
		return b.NewFCmp(enum.FPredUNE, x, floatValue(from, 0)) // a NaN is true
	case to == loop.Bool:
		return b.NewICmp(enum.IPredNE, x, IntConst(from, 0))
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
func (f *Function) saturate(to, from loop.Type, x value.Value) value.Value {
	name := "llvm.fptoui.sat."
	if to.IsSigned() {
		name = "llvm.fptosi.sat."
	}
	name += suffix(to) + "." + suffix(from)
	return f.Block.NewCall(f.Module.Intrinsic(name, registerType(to), registerType(from)), x)
}
