package cpu_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	emitter "github.com/lacuna-sparse/lacuna/codegen/llvm"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file tests what processors without an instruction for it round by (codegen/llvm/variant.go).

// TestOwnRounding compares the rounding functions of old processors with the reference
// on values around every step.
func TestOwnRounding(t *testing.T) {
	const src = `
func round(readonly x: []f64, readonly y: []f32, xf: []f64, xc: []f64, xt: []f64, xr: []f64, yf: []f32, yc: []f32, yt: []f32, yr: []f32) chunk c, lo, hi {
  for independent i = lo to hi {
    xf[i] = floor(x[i])
    xc[i] = ceil(x[i])
    xt[i] = trunc(x[i])
    xr[i] = rint(x[i])
    yf[i] = floor(y[i])
    yc[i] = ceil(y[i])
    yt[i] = trunc(y[i])
    yr[i] = rint(y[i])
  }
}`
	var values []float64
	for _, base := range []float64{0, 0.5, 1, 1.5, 2, 2.5, 3, 1000.5, 1 << 22, 1<<22 + 0.5, 1 << 23, 1<<23 + 1, 1 << 51, 1<<51 + 0.5, 1<<52 - 0.5, 1 << 52, 1<<52 + 1,
		1e300, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(1), math.NaN()} {
		for _, x := range []float64{base, math.Nextafter(base, math.Inf(1)), math.Nextafter(base, math.Inf(-1)),
			float64(math.Nextafter32(float32(base), 0)), float64(math.Nextafter32(float32(base), math.MaxFloat32))} {
			values = append(values, x, -x)
		}
	}
	m := emitter.NewModule("round", nil)
	m.Use(emitter.Variant{Freestanding: true, OwnRounding: true})
	cpu.Kernel(m, parse(t, src))
	text, err := m.Text()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(text, "@llvm.floor") || strings.Contains(text, "@llvm.rint") {
		t.Error("the module has LLVM's rounding intrinsics")
	}
	// The kernel is internal; the test calls it through an entry.
	text += "\ndefine i64 @entry(i64* %a, i64 %c, i64 %l, i64 %h) {\n\t%r = call i64 @round(i64* %a, i64 %c, i64 %l, i64 %h)\n\tret i64 %r\n}\n"
	eachLLVM(t, func(t *testing.T, l *llvm.LLVM) {
		mem := []*memory{newMemory(loop.F64, len(values)), newMemory(loop.F32, len(values))}
		for i, x := range values {
			mem[0].put(i, loop.Const{Bits: math.Float64bits(x)})
			mem[1].put(i, loop.Const{Bits: uint64(math.Float32bits(float32(x)))})
		}
		for _, typ := range []loop.Type{loop.F64, loop.F64, loop.F64, loop.F64, loop.F32, loop.F32, loop.F32, loop.F32} {
			mem = append(mem, newMemory(typ, len(values)))
		}
		if status := bind(t, compile(t, l, text, llvm.O3), "entry", mem, nil).run(0, int64(len(values))); status != 0 {
			t.Fatalf("status %d", status)
		}
		for k, op := range []loop.UnaryOp{loop.Floor, loop.Ceil, loop.Trunc, loop.Rint} {
			for side, typ := range []loop.Type{loop.F64, loop.F32} {
				for i := range values {
					x := mem[side].get(i)
					want, ok := loop.EvalUnary(op, x)
					if !ok {
						t.Fatalf("%s of %v has no reference", op, typ)
					}
					if got := mem[2+4*side+k].get(i); !same(got, want) {
						t.Errorf("%s of %v %x is %x, want %x", op, typ, x.Bits, got.Bits, want.Bits)
					}
				}
			}
		}
	})
}
