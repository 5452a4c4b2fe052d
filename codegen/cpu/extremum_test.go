package cpu_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file tests how min, max and their places are folded (codegen/llvm/extremum.go), as machine code.

// TestExtrema folds all sequences of five special values by each of the forms that extrema have: several
// nested ones, one after the other, in variables beside each other, and where the place is loaded.
func TestExtrema(t *testing.T) {
	const src = `
func fold(readonly x: []TYPE, readonly at: []u32, nested: []TYPE, single: []TYPE, beside: []TYPE, scattered: []TYPE) chunk c, lo, hi {
  for i = lo to hi {
    var acc: TYPE = x[5 * i]
    acc = OP(acc, OP(OP(x[5 * i + 1], x[5 * i + 2]), OP(x[5 * i + 3], x[5 * i + 4])))
    nested[i] = acc
    var one: TYPE = x[5 * i]
    for k = 5 * i + 1 to 5 * i + 5 {
      one = OP(one, x[k])
    }
    single[i] = one
    var left: TYPE = x[5 * i]
    var right: TYPE = x[5 * i + 1]
    if lo < hi {
      left = OP(left, x[5 * i + 2])
      right = OP(right, x[5 * i + 3])
    }
    beside[i] = OP(OP(left, right), x[5 * i + 4])
    scattered[i] = x[5 * i]
  }
  for p = 0 to 4 * hi {
    let i: i64 = i64(at[p])
    scattered[i] = OP(scattered[i], x[5 * i + 1 + p % 4])
  }
}`
	special := []float64{0, math.Copysign(0, -1), 1, -2, math.Inf(1), math.Inf(-1), math.NaN(), -5e-324}
	const values = 8
	const rows = values * values * values * values * values
	folds := map[string]func(x, y float64) float64{
		"min": func(x, y float64) float64 { return min(x, y) },
		"max": func(x, y float64) float64 { return max(x, y) },
	}
	for _, typ := range []loop.Type{loop.F64, loop.F32} {
		// NaN has either sign, and payloads that share no bits with some number.
		constant := func(x float64, place int) loop.Const {
			c := *loop.Float(typ, x)
			if typ == loop.F32 && x == special[7] {
				c.Bits = 1<<31 | 1
			}
			if isNaN(typ, c.Bits) && place%2 == 1 {
				c.Bits = map[loop.Type]uint64{loop.F32: 0xff800001, loop.F64: 0xfff0000000000001}[typ]
			}
			return c
		}
		for op, fold := range folds {
			eachLLVM(t, func(t *testing.T, l *llvm.LLVM) {
				f := parse(t, strings.NewReplacer("TYPE", typ.String(), "OP", op).Replace(src))
				m := compile(t, l, emit(t, f), llvm.O3)
				mem := []*memory{newMemory(typ, 5*rows), newMemory(loop.U32, 4*rows)}
				for range 4 {
					mem = append(mem, newMemory(typ, rows))
				}
				want := make([]loop.Const, rows)
				for i := range rows {
					var result float64
					for k, rest := 0, i; k < 5; k, rest = k+1, rest/values {
						x := special[rest%values]
						mem[0].put(5*i+k, constant(x, i+k))
						if k == 0 {
							result = x
						}
						result = fold(result, x)
					}
					want[i] = constant(result, 0)
					for k := range 4 {
						mem[1].put(4*i+k, *loop.Number(loop.U32, int64(i)))
					}
				}
				if status := bind(t, m, "fold", mem, nil).run(0, rows); status != 0 {
					t.Fatalf("status %d", status)
				}
				for form, name := range []string{"nested", "single", "beside", "scattered"} {
					for i := range rows {
						if got := mem[2+form].get(i); !same(got, want[i]) {
							var of []loop.Const
							for k := range 5 {
								of = append(of, mem[0].get(5*i+k))
							}
							t.Fatalf("%s %v of %s, %v is %v, want %v", op, typ, name, of, got, want[i])
						}
					}
				}
			})
		}
	}
}
