package llvm

import (
	"slices"
	"sync"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/value"
)

// Variant says how the functions that follow it in a module are made. The zero
// Variant is what a JIT wants.
type Variant struct {
	// Suffix is added to the names of all functions.
	Suffix string
	// CPU is the processor that the functions are for, where the module is for a lesser
	// one: such as "x86-64-v3".
	CPU string
	// Freestanding functions are internal to the module and use nothing outside it: LLVM may
	// not put memset in the place of a loop.
	Freestanding bool
	// OwnRounding computes floor, ceil, trunc and rint without instructions for them, which
	// LLVM would call the C library for on processors that have none: x86-64 before v2.
	OwnRounding bool
	// Unoptimised functions are called too seldom to be worth LLVM's time.
	Unoptimised bool
}

// Use makes the functions that follow of a variant. Functions of the library are
// emitted again for each.
func (m *Module) Use(v Variant) {
	m.Variant = v
	m.scalars = map[string]*ir.Func{}
}

// Attributes adds those of the variant to a function.
func (m *Module) Attributes(f *ir.Func) {
	if m.Variant.Freestanding {
		f.FuncAttrs = append(f.FuncAttrs, ir.AttrString("no-builtins"))
	}
	if m.Variant.Unoptimised {
		f.FuncAttrs = append(slices.DeleteFunc(f.FuncAttrs, isAttr(enum.FuncAttrNoInline)), enum.FuncAttrNoInline, enum.FuncAttrOptNone)
	}
	if m.Variant.CPU != "" {
		f.FuncAttrs = append(f.FuncAttrs, ir.AttrPair{Key: "target-cpu", Value: m.Variant.CPU})
	}
}

// isAttr tells an attribute from others.
func isAttr(a enum.FuncAttr) func(ir.FuncAttribute) bool {
	return func(x ir.FuncAttribute) bool { return x == a }
}

// Publish sets the linkage of a kernel's entry.
func (m *Module) Publish(f *ir.Func) {
	if m.Variant.Freestanding {
		f.Linkage = enum.LinkageInternal
	}
}

// roundingFunctions round as IEEE 754 says, to nearest in steps of 1 where the
// addition of 2^52 leaves no bit for less; larger numbers are whole, and NaN compares
// false. The sign is kept for zeros.
const roundingFunctions = `
scalar rint_f64(x: f64) f64 {
  let mag: f64 = abs(x)
  let near: f64 = mag + 0x1p52 - 0x1p52
  let r: f64 = select(mag < 0x1p52, near, mag)
  return frombits(bits(r) | bits(x) & 0x8000000000000000:u64)
}

scalar trunc_f64(x: f64) f64 {
  let mag: f64 = abs(x)
  let near: f64 = mag + 0x1p52 - 0x1p52
  let whole: f64 = select(near > mag, near - 1.0, near)
  let r: f64 = select(mag < 0x1p52, whole, mag)
  return frombits(bits(r) | bits(x) & 0x8000000000000000:u64)
}

scalar floor_f64(x: f64) f64 {
  let near: f64 = rint_f64(x)
  let r: f64 = select(near > x, near - 1.0, near)
  return frombits(bits(abs(r)) | bits(x) & 0x8000000000000000:u64)
}

scalar ceil_f64(x: f64) f64 {
  let near: f64 = rint_f64(x)
  let r: f64 = select(near < x, near + 1.0, near)
  return frombits(bits(abs(r)) | bits(x) & 0x8000000000000000:u64)
}

scalar rint_f32(x: f32) f32 {
  let mag: f32 = abs(x)
  let near: f32 = mag + 0x1p23:f32 - 0x1p23:f32
  let r: f32 = select(mag < 0x1p23:f32, near, mag)
  return frombits(bits(r) | bits(x) & 0x80000000:u32)
}

scalar trunc_f32(x: f32) f32 {
  let mag: f32 = abs(x)
  let near: f32 = mag + 0x1p23:f32 - 0x1p23:f32
  let whole: f32 = select(near > mag, near - 1.0:f32, near)
  let r: f32 = select(mag < 0x1p23:f32, whole, mag)
  return frombits(bits(r) | bits(x) & 0x80000000:u32)
}

scalar floor_f32(x: f32) f32 {
  let near: f32 = rint_f32(x)
  let r: f32 = select(near > x, near - 1.0:f32, near)
  return frombits(bits(abs(r)) | bits(x) & 0x80000000:u32)
}

scalar ceil_f32(x: f32) f32 {
  let near: f32 = rint_f32(x)
  let r: f32 = select(near < x, near + 1.0:f32, near)
  return frombits(bits(abs(r)) | bits(x) & 0x80000000:u32)
}
`

// parsedRounding is roundingFunctions by name, read on first use.
var parsedRounding = sync.OnceValue(func() map[string]*loop.Scalar { return scalarsByName(roundingFunctions) })

// round emits a rounding operator of a variant with OwnRounding.
func (f *Function) round(name string, t loop.Type, x value.Value) value.Value {
	return f.Block.NewCall(f.Module.rounding(name+"_"+t.String()), x)
}

// rounding is one of roundingFunctions. Those that it calls must be looked up among
// them, not in the caller's library.
func (m *Module) rounding(name string) *ir.Func {
	library := m.lookup
	m.lookup = func(name string) (*loop.Scalar, bool) {
		s, ok := parsedRounding()[name]
		return s, ok
	}
	defer func() { m.lookup = library }()
	return m.scalar("round."+name, parsedRounding()[name])
}

// isRounding reports whether an operator of floats is one of roundingFunctions.
func isRounding(op loop.UnaryOp) bool {
	return op == loop.Floor || op == loop.Ceil || op == loop.Trunc || op == loop.Rint
}
