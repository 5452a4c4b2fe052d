package llvm

import (
	"sync"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir/value"
)

// halfFunctions convert the half-precision storage types, as loop.F16ToF32 and
// its kin do. They are integer code and not LLVM's half type, which CPUs without
// the instructions would have to call a run-time library for, and without
// branches, so that LLVM vectorises loops that use them.
const halfFunctions = `
// Zeros and subnormals count units of 2^-24; the others move to the wider
// exponent's bias. A NaN becomes quiet.
scalar f16_to_f32(h: u32) f32 {
  let mag: u32 = h & 0x7fff:u32
  let moved: u32 = shl(mag, 13:u32)
  let small: u32 = bits(f32(i32(mag)) * 0x1p-24:f32)
  let quiet: u32 = select(mag > 0x7c00:u32, 0x7fc00000:u32, 0x7f800000:u32)
  let finite: u32 = select(mag < 0x400:u32, small, moved + 0x38000000:u32)
  let all: u32 = select(mag >= 0x7c00:u32, moved | quiet, finite)
  return frombits(all | shl(h & 0x8000:u32, 16:u32))
}

// Next to 0.5 the unit in the last place of an f32 is 2^-24, that of an f16
// subnormal: there the addition rounds. Elsewhere adding half a unit (less one
// when the last bit is even) does. 0x477ff000 is 65520, from where on the result
// is infinite; 0x38800000 is 2^-14, the smallest normal f16.
scalar f32_to_f16(x: f32) u32 {
  let all: u32 = bits(x)
  let mag: u32 = all & 0x7fffffff:u32
  let high: u32 = shr(mag, 13:u32)
  let small: u32 = bits(frombits(mag) + 0.5:f32) - 0x3f000000:u32
  let normal: u32 = shr(mag - 0x38000000:u32 + 0xfff:u32 + (high & 1:u32), 13:u32)
  let finite: u32 = select(mag < 0x38800000:u32, small, normal)
  let bounded: u32 = select(mag >= 0x477ff000:u32, 0x7c00:u32, finite)
  let quiet: u32 = 0x7e00:u32 | high & 0x3ff:u32
  return select(mag > 0x7f800000:u32, quiet, bounded) | shr(all, 16:u32) & 0x8000:u32
}

scalar bf16_to_f32(h: u32) f32 {
  return frombits(shl(h, 16:u32))
}

scalar f32_to_bf16(x: f32) u32 {
  let all: u32 = bits(x)
  let high: u32 = shr(all, 16:u32)
  let rounded: u32 = shr(all + 0x7fff:u32 + (high & 1:u32), 16:u32)
  return select(x != x, high | 0x40:u32, rounded)
}
`

// parsedHalfFunctions is halfFunctions by name, read on first use.
var parsedHalfFunctions = sync.OnceValue(func() map[string]*loop.Scalar { return scalarsByName(halfFunctions) })

// scalarsByName parses scalar functions of this package's own.
func scalarsByName(text string) map[string]*loop.Scalar {
	all, err := loop.ParseScalars(text)
	if err != nil {
		panic("BUG: functions of codegen/cpu: " + err.Error())
	}
	byName := map[string]*loop.Scalar{}
	for _, s := range all {
		byName[s.Name] = s
	}
	return byName
}

// widenHalf converts the bits of an F16 or BF16, zero-extended to i32, to an F32.
func (f *Function) widenHalf(elem loop.Type, bits value.Value) value.Value {
	return f.halfCall(elem.String()+"_to_f32", bits)
}

// narrowHalf rounds an F32 to the bits of an F16 or BF16, zero-extended to i32.
func (f *Function) narrowHalf(elem loop.Type, x value.Value) value.Value {
	return f.halfCall("f32_to_"+elem.String(), x)
}

func (f *Function) halfCall(name string, x value.Value) value.Value {
	return f.Block.NewCall(f.Module.scalar("half."+name, parsedHalfFunctions()[name]), x)
}
