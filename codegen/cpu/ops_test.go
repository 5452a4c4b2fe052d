package cpu_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file tests every operator of the loop language (codegen/llvm), as machine code.

// computeTypes are the types that operators work on.
var computeTypes = []loop.Type{
	loop.Bool, loop.I8, loop.I16, loop.I32, loop.I64, loop.U8, loop.U16, loop.U32, loop.U64,
	loop.F32, loop.F64, loop.C64, loop.C128,
}

// floatValues are values at which floating-point operations and conversions turn.
var floatValues = []float64{
	0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.7, -3.7, math.Pi,
	math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64, 5e-324, -5e-324, math.MaxFloat32, 1e-45, 1e10,
	127, 127.5, 128, -128, -128.9, -129, 255.9, 256, 32767.5, 65504, 65519.9, 65520,
	1<<31 - 0.5, 1 << 31, -1 << 31, 1 << 32, 1 << 53, 1 << 63, -1 << 63, 1 << 64, 0x1p-14, 0x1p-24, 0x1.8p-25, 1e300,
}

// intValues are values at which integer operations turn; each is reduced to the
// type at hand.
var intValues = []int64{
	0, 1, 2, 3, -1, -2, 7, 8, 31, 33, 64, 100, math.MaxInt8, math.MinInt8, math.MaxInt16, math.MinInt16,
	math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1<<53 + 1, 0x5555555555555555,
}

// values are the special values of a type, without repetition.
func values(t loop.Type) []loop.Const {
	var all []loop.Const
	add := func(c loop.Const) {
		for _, known := range all {
			if known == c {
				return
			}
		}
		all = append(all, c)
	}
	switch {
	case t == loop.Bool:
		add(*loop.Truth(false))
		add(*loop.Truth(true))
	case t.IsInt():
		for _, x := range intValues {
			add(*loop.Number(t, x))
		}
	case t.IsFloat():
		for _, x := range floatValues {
			add(*loop.Float(t, x))
		}
		signalling := map[loop.Type]uint64{loop.F32: 0xff800001, loop.F64: 0xfff0000000000001}
		add(loop.Const{Typ: t, Bits: signalling[t]})
	case t.IsComplex():
		parts := values(t.Real())
		for i := range parts { // not every pair: each part thrice
			for _, step := range []int{0, 5, 13} {
				add(loop.Const{Typ: t, Bits: parts[i].Bits, Imag: parts[(i+step)%len(parts)].Bits})
			}
		}
	}
	return all
}

// operation is one thing to test: a way to compute a value of type result from
// operands.
type operation struct {
	name   string
	result loop.Type
	exact  bool // also for NaNs
	build  func(x, y loop.Expr) loop.Expr
	eval   func(x, y loop.Const) loop.Const
}

// operations are the operators and casts that take operands of type t.
func operations(t loop.Type) []operation {
	var all []operation
	for op := loop.Neg; op <= loop.OnesCount; op++ {
		if result := loop.UnaryType(op, t); result != loop.Invalid {
			all = append(all, operation{
				name: op.String(), result: result,
				exact: op == loop.Neg || op == loop.Abs || op == loop.Bits || op == loop.FromBits,
				build: func(x, _ loop.Expr) loop.Expr { return &loop.Unary{Op: op, Typ: result, X: x} },
				eval:  func(x, _ loop.Const) loop.Const { r, _ := loop.EvalUnary(op, x); return r },
			})
		}
	}
	for op := loop.Add; op <= loop.Complex; op++ {
		if result := loop.BinaryType(op, t); result != loop.Invalid {
			all = append(all, operation{
				name: op.String(), result: result, exact: op == loop.Complex,
				build: func(x, y loop.Expr) loop.Expr { return &loop.Binary{Op: op, Typ: result, X: x, Y: y} },
				eval:  func(x, y loop.Const) loop.Const { r, _ := loop.EvalBinary(op, x, y); return r },
			})
		}
	}
	for _, to := range computeTypes {
		all = append(all, operation{
			name: "cast to " + to.String(), result: to,
			build: func(x, _ loop.Expr) loop.Expr { return &loop.Cast{Typ: to, X: x} },
			eval:  func(x, _ loop.Const) loop.Const { return loop.EvalCast(to, x) },
		})
	}
	all = append(all, operation{
		name: "select", result: t, exact: true,
		build: func(x, y loop.Expr) loop.Expr {
			cond := &loop.Binary{Op: loop.Eq, Typ: loop.Bool, X: x, Y: y}
			return &loop.Select{Cond: cond, X: x, Y: y}
		},
		eval: func(x, y loop.Const) loop.Const {
			if equal, _ := loop.EvalBinary(loop.Eq, x, y); equal.Bits != 0 {
				return x
			}
			return y
		},
	})
	if loop.FMAType(t) != loop.Invalid {
		all = append(all, operation{
			name: "fma", result: t,
			build: func(x, y loop.Expr) loop.Expr { return &loop.FMA{X: x, Y: y, Z: x} },
			eval:  func(x, y loop.Const) loop.Const { r, _ := loop.EvalFMA(x, y, x); return r },
		})
	}
	return all
}

func (o operation) check(t *testing.T, typ loop.Type, x, y, got loop.Const) {
	want := o.eval(x, y)
	if got == want || !o.exact && same(got, want) {
		return
	}
	t.Helper()
	t.Errorf("%s of %v: %s, %s gives %s (%x %x), want %s (%x %x)",
		o.name, typ, &x, &y, &got, got.Bits, got.Imag, &want, want.Bits, want.Imag)
}

// loopFunc is a function with the chunk triple and one more variable, i.
func loopFunc(name string, bufs []loop.Buf, body []loop.Stmt) *loop.Func {
	i64 := func(name string) loop.Var { return loop.Var{Name: name, Type: loop.I64} }
	return &loop.Func{
		Name: name, Bufs: bufs, Vars: []loop.Var{i64("c"), i64("lo"), i64("hi"), i64("i")},
		Chunk: 0, Lo: 1, Hi: 2, Body: body,
	}
}

// TestOperations runs every operator on arrays of special values, element by
// element and all at once, and compares with the reference evaluation. At O3
// LLVM vectorises the loops; that takes long, so it is done for few types.
func TestOperations(t *testing.T) {
	levels := map[loop.Type]llvm.Level{loop.U32: llvm.O3, loop.F64: llvm.O3}
	eachLLVM(t, func(t *testing.T, l *llvm.LLVM) {
		for _, typ := range computeTypes {
			level, ok := levels[typ]
			if !ok {
				level = llvm.O1
			}
			testOperations(t, l, typ, level)
		}
	})
}

func testOperations(t *testing.T, l *llvm.LLVM, typ loop.Type, level llvm.Level) {
	special := values(typ)
	n := len(special) * len(special)
	mem := []*memory{newMemory(typ, n), newMemory(typ, n)}
	for i := range n {
		mem[0].put(i, special[i/len(special)])
		mem[1].put(i, special[i%len(special)])
	}
	ops := operations(typ)
	bufs := []loop.Buf{{Name: "x", Elem: typ, ReadOnly: true}, {Name: "y", Elem: typ, ReadOnly: true}}
	var body []loop.Stmt // one function: many small ones take longer to compile
	var vars []loop.Var
	for k, op := range ops {
		bufs = append(bufs, loop.Buf{Name: fmt.Sprint("out", k), Elem: op.result})
		mem = append(mem, newMemory(op.result, n))
		at := loop.VarID(3 + k)
		vars = append(vars, loop.Var{Name: "i", Type: loop.I64})
		i := &loop.Ref{Var: at, Typ: loop.I64}
		x := &loop.Load{Buf: 0, Elem: typ, Index: i}
		y := &loop.Load{Buf: 1, Elem: typ, Index: i}
		body = append(body, &loop.For{
			Var: at, Lo: &loop.Ref{Var: 1, Typ: loop.I64}, Hi: &loop.Ref{Var: 2, Typ: loop.I64},
			Body: []loop.Stmt{&loop.Store{Buf: loop.BufID(2 + k), Index: i, Value: op.build(x, y)}}, Independent: true,
		})
	}
	f := loopFunc("all", bufs, body)
	f.Vars = append(f.Vars[:3], vars...)
	kernel := bind(t, compile(t, l, emit(t, f), level), "all", mem, nil)
	for _, step := range []int{n, 1} { // all at once, then element by element
		for lo := 0; lo < n; lo += step {
			if status := kernel.run(int64(lo), int64(lo+step)); status != 0 {
				t.Fatalf("status %d", status)
			}
		}
		for k, op := range ops {
			for i := range n {
				op.check(t, typ, mem[0].get(i), mem[1].get(i), mem[2+k].get(i))
			}
			clear(mem[2+k].words)
		}
	}
}

// TestOperationsOnConstants has LLVM compute every operator itself.
func TestOperationsOnConstants(t *testing.T) {
	const each = 12 // pairs of operands for each operator
	eachLLVM(t, func(t *testing.T, l *llvm.LLVM) {
		for _, typ := range computeTypes {
			special := values(typ)
			pair := func(k, i int) (x, y loop.Const) {
				return special[(i*4+k)%len(special)], special[(i*7+2*k)%len(special)]
			}
			ops := operations(typ)
			var bufs []loop.Buf
			var mem []*memory
			var body []loop.Stmt
			for k, op := range ops {
				bufs = append(bufs, loop.Buf{Name: fmt.Sprint("out", k), Elem: op.result})
				mem = append(mem, newMemory(op.result, each))
				for i := range each {
					x, y := pair(k, i)
					body = append(body, &loop.Store{Buf: loop.BufID(k), Index: loop.Int(int64(i)), Value: op.build(&x, &y)})
				}
			}
			m := compile(t, l, emit(t, loopFunc("all", bufs, body)), llvm.O1)
			if status := bind(t, m, "all", mem, nil).run(0, 0); status != 0 {
				t.Fatalf("status %d", status)
			}
			for k, op := range ops {
				for i := range each {
					x, y := pair(k, i)
					op.check(t, typ, x, y, mem[k].get(i))
				}
			}
		}
	})
}

// TestHalf loads and stores every half-precision value and rounds to both types.
func TestHalf(t *testing.T) {
	const src = `
func half(readonly h: []f16, readonly b: []bf16, readonly x: []f32, wideh: []f32, wideb: []f32, outh: []f16, outb: []bf16; n: i64) chunk c, lo, hi {
  for independent i = 0 to 65536 {
    wideh[i] = h[i]
    wideb[i] = b[i]
  }
  for independent i = lo to hi {
    outh[i] = x[i]
    outb[i] = x[i]
  }
}`
	// Every half-precision value, the values just above and below it and half
	// way to the next, in both types.
	var xs []uint32
	for h := range uint32(1 << 16) {
		for _, at := range []uint32{math.Float32bits(loop.F16ToF32(uint16(h))), h << 16} {
			for _, d := range []uint32{0, 1, ^uint32(0), 0x1000, 0xfff, 0x1001, 0x8000, 0x7fff, 0x8001} {
				xs = append(xs, at+d)
			}
		}
	}
	eachLLVM(t, func(t *testing.T, l *llvm.LLVM) {
		m := compile(t, l, emit(t, parse(t, src)), llvm.O3)
		const all = 1 << 16
		mem := []*memory{
			newMemory(loop.F16, all), newMemory(loop.BF16, all), newMemory(loop.F32, len(xs)),
			newMemory(loop.F32, all), newMemory(loop.F32, all),
			newMemory(loop.F16, len(xs)), newMemory(loop.BF16, len(xs)),
		}
		for h := range all {
			mem[0].put(h, loop.Const{Bits: uint64(h)})
			mem[1].put(h, loop.Const{Bits: uint64(h)})
		}
		for i, x := range xs {
			mem[2].put(i, loop.Const{Bits: uint64(x)})
		}
		if status := bind(t, m, "half", mem, []int64{0}).run(0, int64(len(xs))); status != 0 {
			t.Fatalf("status %d", status)
		}
		for h := range all {
			if got, want := uint32(mem[3].get(h).Bits), math.Float32bits(loop.F16ToF32(uint16(h))); got != want {
				t.Fatalf("f16 %04x loads as %08x, want %08x", h, got, want)
			}
			if got, want := uint32(mem[4].get(h).Bits), math.Float32bits(loop.BF16ToF32(uint16(h))); got != want {
				t.Fatalf("bf16 %04x loads as %08x, want %08x", h, got, want)
			}
		}
		for i, x := range xs {
			f := math.Float32frombits(x)
			if got, want := uint16(mem[5].get(i).Bits), loop.F32ToF16(f); got != want {
				t.Fatalf("%08x is stored as f16 %04x, want %04x", x, got, want)
			}
			if got, want := uint16(mem[6].get(i).Bits), loop.F32ToBF16(f); got != want {
				t.Fatalf("%08x is stored as bf16 %04x, want %04x", x, got, want)
			}
		}
	})
}
