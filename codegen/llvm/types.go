package llvm

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"
)

// Val is the LLVM form of a value of the loop language: one LLVM value, or the
// real and the imaginary part of a complex number.
type Val struct {
	Re value.Value
	Im value.Value // nil unless complex
}

// Parts lists the LLVM values of v.
func (v Val) Parts() []value.Value {
	if v.Im == nil {
		return []value.Value{v.Re}
	}
	return []value.Value{v.Re, v.Im}
}

// FromParts is the Val whose parts are given.
func FromParts(parts []value.Value) Val {
	if len(parts) == 1 {
		return Val{Re: parts[0]}
	}
	return Val{Re: parts[0], Im: parts[1]}
}

// registerTypes gives the LLVM type in which values are computed; for complex
// types that of each part.
var registerTypes = [...]types.Type{
	loop.Bool: types.I1,
	loop.I8:   types.I8, loop.I16: types.I16, loop.I32: types.I32, loop.I64: types.I64,
	loop.U8: types.I8, loop.U16: types.I16, loop.U32: types.I32, loop.U64: types.I64,
	loop.F32: types.Float, loop.F64: types.Double,
	loop.C64: types.Float, loop.C128: types.Double,
}

// memoryTypes gives the LLVM type of a buffer's elements.
var memoryTypes = [...]types.Type{
	loop.Bool: types.I8,
	loop.I8:   types.I8, loop.I16: types.I16, loop.I32: types.I32, loop.I64: types.I64,
	loop.U8: types.I8, loop.U16: types.I16, loop.U32: types.I32, loop.U64: types.I64,
	loop.F16: types.I16, loop.BF16: types.I16,
	loop.F32: types.Float, loop.F64: types.Double,
	loop.C64: types.NewStruct(types.Float, types.Float), loop.C128: types.NewStruct(types.Double, types.Double),
}

// registerType is the type of t, or of one part of complex t.
func registerType(t loop.Type) types.Type { return lookUpType(registerTypes[:], t) }

// MemoryType is the type of an element of t in memory.
func MemoryType(t loop.Type) types.Type { return lookUpType(memoryTypes[:], t) }

func lookUpType(table []types.Type, t loop.Type) types.Type {
	if int(t) >= len(table) || table[t] == nil {
		panic(fmt.Sprintf("BUG: no LLVM type for %v here", t))
	}
	return table[t]
}

// partNames are the endings of the names of a value's parts.
func partNames(t loop.Type) []string {
	if t.IsComplex() {
		return []string{".re", ".im"}
	}
	return []string{""}
}

// width is the number of bits of integer type t.
func width(t loop.Type) int { return 8 * t.Size() }

// suffix is how intrinsics spell the LLVM type of t: i32, f64.
func suffix(t loop.Type) string {
	switch {
	case t == loop.Bool:
		return "i1"
	case t.IsInt():
		return fmt.Sprintf("i%d", width(t))
	}
	return fmt.Sprintf("f%d", 8*t.Real().Size())
}
