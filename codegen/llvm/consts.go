package llvm

import (
	"fmt"
	"math"
	"strconv"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir/constant"
	"github.com/llir/llvm/ir/types"
)

// constOf translates a literal.
func constOf(c *loop.Const) Val {
	if c.Typ.IsComplex() {
		t := c.Typ.Real()
		return Val{Re: scalarConst(t, c.Bits), Im: scalarConst(t, c.Imag)}
	}
	return Val{Re: scalarConst(c.Typ, c.Bits)}
}

// scalarConst is the constant of type t, not complex, with the given bits.
func scalarConst(t loop.Type, bits uint64) constant.Constant {
	switch {
	case t == loop.Bool:
		return constant.NewBool(bits != 0)
	case t.IsInt():
		shift := 64 - width(t)
		return IntConst(t, int64(bits<<shift)>>shift)
	case t == loop.F32:
		return floatConst{typ: types.Float, value: float64(math.Float32frombits(uint32(bits))), bits: widenF32(uint32(bits))}
	case t == loop.F64:
		return floatConst{typ: types.Double, value: math.Float64frombits(bits), bits: bits}
	}
	panic(fmt.Sprintf("BUG: constant of type %v", t))
}

// IntConst is an integer constant of type t, not Bool, written as a signed
// number.
func IntConst(t loop.Type, x int64) constant.Constant {
	return intValue{typ: registerType(t), value: x}
}

// intValue is an integer constant. (llir's own writes many in hexadecimal.)
type intValue struct {
	typ   types.Type
	value int64 // within the range of the type as a signed one
}

// IsConstant marks the type as a constant.
func (intValue) IsConstant() {}

// Type is an integer type.
func (c intValue) Type() types.Type { return c.typ }

// String is the constant with its type.
func (c intValue) String() string { return c.typ.String() + " " + c.Ident() }

// Ident is the constant in decimal.
func (c intValue) Ident() string { return strconv.FormatInt(c.value, 10) }

// floatValue is the constant x of type F32 or F64.
func floatValue(t loop.Type, x float64) constant.Constant {
	if t == loop.F32 {
		return scalarConst(t, uint64(math.Float32bits(float32(x))))
	}
	return scalarConst(t, math.Float64bits(x))
}

// zero is the constant 0 of type t.
func zero(t loop.Type) Val { return constOf(&loop.Const{Typ: t}) }

// floatConst is a floating-point constant with exact bits. (llir's own keeps no
// NaN payload.)
type floatConst struct {
	typ   *types.FloatType
	value float64
	bits  uint64 // of the value as a double: so LLVM writes both types
}

// widenF32 converts the bits of a float to those of the double of equal value,
// keeping the payload of a NaN, and a signalling NaN signalling.
func widenF32(b uint32) uint64 {
	x := math.Float32frombits(b)
	if x == x {
		return math.Float64bits(float64(x))
	}
	return uint64(b>>31)<<63 | 0x7ff<<52 | uint64(b&0x7fffff)<<29
}

// IsConstant marks the type as a constant.
func (floatConst) IsConstant() {}

// Type is float or double.
func (c floatConst) Type() types.Type { return c.typ }

// String is the constant with its type.
func (c floatConst) String() string { return c.typ.String() + " " + c.Ident() }

// Ident is the constant in decimal if seven digits tell it exactly, in LLVM's
// hexadecimal form if not.
func (c floatConst) Ident() string {
	if !math.IsInf(c.value, 0) && !math.IsNaN(c.value) {
		short := strconv.FormatFloat(c.value, 'e', 6, 64)
		if back, err := strconv.ParseFloat(short, 64); err == nil && math.Float64bits(back) == c.bits {
			return short
		}
	}
	return fmt.Sprintf("0x%016X", c.bits)
}
