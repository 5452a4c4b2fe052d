package interp

import (
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file tests every operator of the loop language: arith.go, ints.go, floats.go, compare.go, casts.go.

var computeTypes = []loop.Type{
	loop.Bool, loop.I8, loop.I16, loop.I32, loop.I64, loop.U8, loop.U16, loop.U32, loop.U64,
	loop.F32, loop.F64, loop.C64, loop.C128,
}

// specials are constants of type t that rules tend to break on.
func specials(t loop.Type) []loop.Const {
	var out []loop.Const
	put := func(bits, imag uint64) { out = append(out, loop.Const{Typ: t, Bits: bits, Imag: imag}) }
	floats := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2.5, -3.75, 100, 300, 65504, 1e-310, 1e39,
		1 << 63, -1 << 63, 1 << 64, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN()}
	switch {
	case t == loop.Bool:
		put(0, 0)
		put(1, 0)
	case t.IsInt():
		high := uint64(1) << (8*t.Size() - 1)
		for _, v := range []uint64{0, 1, 2, 7, 63, 64, 100, high - 1, high, high + 1, ^uint64(0), ^uint64(0) - 6} {
			out = append(out, loop.EvalCast(t, loop.Const{Typ: loop.U64, Bits: v}))
		}
	default:
		for _, v := range floats {
			out = append(out, *loop.Float(t, v))
		}
		if t.IsComplex() {
			for i, k := range out[:len(out):len(out)] {
				put(k.Bits, out[(i*7+3)%len(floats)].Bits)
				put(out[(i*5+1)%len(floats)].Bits, k.Bits)
			}
		}
	}
	return out
}

// An array is buffer memory for elements of any type.
type array struct {
	elem loop.Type
	mem  []uint64 // aligned for all types
	n    int
}

func newArray(t loop.Type, n int) *array {
	return &array{t, make([]uint64, (n*t.Size()+7)/8+1), n}
}

func arrayOf(t loop.Type, values []loop.Const) *array {
	a := newArray(t, len(values))
	for i, v := range values {
		p := a.at(i)
		switch t {
		case loop.C64:
			*(*[2]uint32)(p) = [2]uint32{uint32(v.Bits), uint32(v.Imag)}
		case loop.C128:
			*(*[2]uint64)(p) = [2]uint64{v.Bits, v.Imag}
		default:
			switch t.Size() {
			case 1:
				*(*uint8)(p) = uint8(v.Bits)
			case 2:
				*(*uint16)(p) = uint16(v.Bits)
			case 4:
				*(*uint32)(p) = uint32(v.Bits)
			case 8:
				*(*uint64)(p) = v.Bits
			}
		}
	}
	return a
}

func (a *array) at(i int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(a.mem)), i*a.elem.Size())
}

func (a *array) memory() Memory { return Memory{a.at(0), int64(a.n)} }

func (a *array) value(i int) loop.Const {
	p := a.at(i)
	switch a.elem {
	case loop.C64:
		v := *(*[2]uint32)(p)
		return loop.Const{Typ: a.elem, Bits: uint64(v[0]), Imag: uint64(v[1])}
	case loop.C128:
		v := *(*[2]uint64)(p)
		return loop.Const{Typ: a.elem, Bits: v[0], Imag: v[1]}
	}
	var bits uint64
	switch a.elem.Size() {
	case 1:
		bits = uint64(*(*uint8)(p))
	case 2:
		bits = uint64(*(*uint16)(p))
	case 4:
		bits = uint64(*(*uint32)(p))
	case 8:
		bits = *(*uint64)(p)
	}
	if a.elem.IsInt() {
		return loop.EvalCast(a.elem, loop.Const{Typ: loop.U64, Bits: bits})
	}
	return loop.Const{Typ: a.elem, Bits: bits}
}

// same compares constants, all NaNs being equal.
func same(x, y loop.Const) bool {
	norm := func(bits uint64) uint64 {
		switch f32 := math.Float32frombits(uint32(bits)); {
		case x.Typ.Real() == loop.F32 && f32 != f32:
			return ^uint64(0)
		case x.Typ.Real() == loop.F64 && math.IsNaN(math.Float64frombits(bits)):
			return ^uint64(0)
		}
		return bits
	}
	return x.Typ == y.Typ && norm(x.Bits) == norm(y.Bits) && norm(x.Imag) == norm(y.Imag)
}

// A bench is a function under construction that computes, for each i of its
// range, expressions over operands taken from buffers, one result buffer per
// expression. Each operand comes in two forms: a load and a variable.
type bench struct {
	f       *loop.Func
	body    []loop.Stmt
	results []loop.Stmt
	i       loop.VarID
	n       int
	arrays  []*array
	wants   [][]loop.Const // per buffer; nil for operands
	names   []string
	lookup  func(string) (*loop.Scalar, bool)
}

func newBench(n int) *bench {
	return &bench{n: n, i: 3, f: &loop.Func{
		Name:  "bench",
		Vars:  []loop.Var{{Name: "c", Type: loop.I64}, {Name: "lo", Type: loop.I64}, {Name: "hi", Type: loop.I64}, {Name: "i", Type: loop.I64}},
		Chunk: 0, Lo: 1, Hi: 2,
	}}
}

func (b *bench) index() loop.Expr { return &loop.Ref{Var: b.i, Typ: loop.I64} }

func (b *bench) buffer(a *array, want []loop.Const, name string) loop.BufID {
	b.f.Bufs = append(b.f.Bufs, loop.Buf{Name: fmt.Sprint("b", len(b.arrays)), Elem: a.elem})
	b.arrays, b.wants, b.names = append(b.arrays, a), append(b.wants, want), append(b.names, name)
	return loop.BufID(len(b.arrays) - 1)
}

func (b *bench) variable(t loop.Type) loop.VarID {
	b.f.Vars = append(b.f.Vars, loop.Var{Name: "v", Type: t})
	return loop.VarID(len(b.f.Vars) - 1)
}

// operand returns the two forms of an operand with the given values.
func (b *bench) operand(t loop.Type, values []loop.Const) []loop.Expr {
	buf := b.buffer(arrayOf(t, values), nil, "")
	v := b.variable(t.Compute())
	load := func() loop.Expr { return &loop.Load{Buf: buf, Elem: t, Index: b.index()} }
	b.body = append(b.body, &loop.Let{Var: v, Value: load()})
	return []loop.Expr{load(), &loop.Ref{Var: v, Typ: t.Compute()}}
}

// result adds an expression and what it must give.
func (b *bench) result(name string, e loop.Expr, want []loop.Const) {
	buf := b.buffer(newArray(e.Type(), b.n), want, name)
	b.results = append(b.results, &loop.Store{Buf: buf, Index: b.index(), Value: e})
}

// accumulated adds the statement v = sum, v being start before, where sum is
// made from the reference to v.
func (b *bench) accumulated(name string, start loop.Expr, sum func(v loop.Expr) loop.Expr, want []loop.Const) {
	v := b.variable(start.Type())
	ref := &loop.Ref{Var: v, Typ: start.Type()}
	b.body = append(b.body,
		&loop.Let{Var: v, Mutable: true, Value: start},
		&loop.Assign{Var: v, Value: sum(ref)})
	b.result(name, ref, want)
}

// run checks all results.
func (b *bench) run(t *testing.T) {
	t.Helper()
	hi := &loop.Ref{Var: b.f.Hi, Typ: loop.I64}
	lo := &loop.Ref{Var: b.f.Lo, Typ: loop.I64}
	b.f.Body = []loop.Stmt{&loop.For{Var: b.i, Lo: lo, Hi: hi, Body: append(b.body, b.results...)}}
	k, err := Compile(b.f, b.lookup)
	if err != nil {
		t.Fatal(err)
	}
	var mem []Memory
	for _, a := range b.arrays {
		mem = append(mem, a.memory())
	}
	if st, err := k.Run(mem, nil, 0, 0, int64(b.n)); st != 0 || err != nil {
		t.Fatalf("status %d, %v", st, err)
	}
	for r, want := range b.wants {
		for i := range want {
			if got := b.arrays[r].value(i); !same(got, want[i]) {
				var operands []string
				for o, a := range b.arrays {
					if b.wants[o] == nil {
						v := a.value(i)
						operands = append(operands, v.String())
					}
				}
				t.Errorf("%s, operands %s: got %s, want %s", b.names[r], operands, got.String(), want[i].String())
				break
			}
		}
	}
}

// pairs are all pairs of specials of type t.
func pairs(t loop.Type) (xs, ys []loop.Const) {
	for _, x := range specials(t) {
		for _, y := range specials(t) {
			xs, ys = append(xs, x), append(ys, y)
		}
	}
	return xs, ys
}

func mapped(xs []loop.Const, f func(i int) (loop.Const, bool)) ([]loop.Const, bool) {
	out := make([]loop.Const, len(xs))
	for i := range xs {
		r, ok := f(i)
		if !ok {
			return nil, false
		}
		out[i] = r
	}
	return out, true
}

func TestUnary(t *testing.T) {
	for _, typ := range computeTypes {
		xs := specials(typ)
		b := newBench(len(xs))
		forms := b.operand(typ, xs)
		for op := loop.Neg; op <= loop.OnesCount; op++ {
			want, ok := mapped(xs, func(i int) (loop.Const, bool) { return loop.EvalUnary(op, xs[i]) })
			for f, x := range forms {
				if ok {
					b.result(fmt.Sprintf("%s %s (form %d)", op, typ, f), &loop.Unary{Op: op, Typ: want[0].Typ, X: x}, want)
				}
			}
		}
		b.run(t)
	}
}

func TestBinary(t *testing.T) {
	for _, typ := range computeTypes {
		xs, ys := pairs(typ)
		b := newBench(len(xs))
		xForms, yForms := b.operand(typ, xs), b.operand(typ, ys)
		for op := loop.Add; op <= loop.Complex; op++ {
			want, ok := mapped(xs, func(i int) (loop.Const, bool) { return loop.EvalBinary(op, xs[i], ys[i]) })
			if !ok {
				continue
			}
			for f, x := range xForms {
				for g, y := range yForms {
					name := fmt.Sprintf("%s %s (forms %d %d)", op, typ, f, g)
					b.result(name, &loop.Binary{Op: op, Typ: want[0].Typ, X: x, Y: y}, want)
				}
			}
		}
		b.run(t)
	}
}

// Constants are operands of their own form.
func TestBinaryConstants(t *testing.T) {
	for _, typ := range computeTypes {
		xs := specials(typ)
		b := newBench(len(xs))
		forms := b.operand(typ, xs)
		for op := loop.Add; op <= loop.Complex; op++ {
			for _, k := range xs[:2] {
				right, ok := mapped(xs, func(i int) (loop.Const, bool) { return loop.EvalBinary(op, xs[i], k) })
				if !ok {
					continue
				}
				left, _ := mapped(xs, func(i int) (loop.Const, bool) { return loop.EvalBinary(op, k, xs[i]) })
				both, _ := mapped(xs, func(int) (loop.Const, bool) { return loop.EvalBinary(op, k, k) })
				for f, x := range forms {
					name := fmt.Sprintf("%s %s (form %d, constant %s)", op, typ, f, k.String())
					b.result(name, &loop.Binary{Op: op, Typ: right[0].Typ, X: x, Y: &k}, right)
					b.result(name+" left", &loop.Binary{Op: op, Typ: right[0].Typ, X: &k, Y: x}, left)
					b.result(name+" both", &loop.Binary{Op: op, Typ: right[0].Typ, X: &k, Y: &k}, both)
				}
			}
		}
		b.run(t)
	}
}

// Sums with a product in them are merged; they must round twice all the same.
func TestMulAdd(t *testing.T) {
	for _, typ := range computeTypes[1:] {
		xs, ys := pairs(typ)
		zs := make([]loop.Const, len(xs))
		for i := range zs {
			zs[i] = xs[(i*31+17)%len(xs)]
		}
		b := newBench(len(xs))
		xForms, yForms, zForms := b.operand(typ, xs), b.operand(typ, ys), b.operand(typ, zs)
		product := func(i int) loop.Const {
			p, _ := loop.EvalBinary(loop.Mul, xs[i], ys[i])
			return p
		}
		left, _ := mapped(xs, func(i int) (loop.Const, bool) { return loop.EvalBinary(loop.Add, product(i), zs[i]) })
		right, _ := mapped(xs, func(i int) (loop.Const, bool) { return loop.EvalBinary(loop.Add, zs[i], product(i)) })
		sum, _ := mapped(xs, func(i int) (loop.Const, bool) { return loop.EvalBinary(loop.Add, zs[i], xs[i]) })
		plus := func(x, y loop.Expr) loop.Expr { return &loop.Binary{Op: loop.Add, Typ: typ, X: x, Y: y} }
		for f, x := range xForms {
			for g, y := range yForms {
				xy := &loop.Binary{Op: loop.Mul, Typ: typ, X: x, Y: y}
				for h, z := range zForms {
					name := fmt.Sprintf("%s (forms %d %d %d)", typ, f, g, h)
					b.result("x*y + z, "+name, plus(xy, z), left)
					b.result("z + x*y, "+name, plus(z, xy), right)
					b.accumulated("z += x*y, "+name, z, func(v loop.Expr) loop.Expr { return plus(v, xy) }, right)
					b.accumulated("z = x*y + z, "+name, z, func(v loop.Expr) loop.Expr { return plus(xy, v) }, left)
				}
			}
			b.accumulated(fmt.Sprintf("z += x, %s (form %d)", typ, f), zForms[0], func(v loop.Expr) loop.Expr { return plus(v, x) }, sum)
			b.accumulated(fmt.Sprintf("z = x + z, %s (form %d)", typ, f), zForms[0], func(v loop.Expr) loop.Expr { return plus(x, v) }, sum)
		}
		b.run(t)
	}
}

func TestCasts(t *testing.T) {
	for _, from := range computeTypes {
		xs := specials(from)
		b := newBench(len(xs))
		forms := b.operand(from, xs)
		for _, to := range computeTypes {
			want, _ := mapped(xs, func(i int) (loop.Const, bool) { return loop.EvalCast(to, xs[i]), true })
			for f, x := range forms {
				b.result(fmt.Sprintf("%s to %s (form %d)", from, to, f), &loop.Cast{Typ: to, X: x}, want)
			}
			// Twice: what the first cast leaves must be extended properly.
			back, _ := mapped(xs, func(i int) (loop.Const, bool) { return loop.EvalCast(from, want[i]), true })
			b.result(fmt.Sprintf("%s to %s and back", from, to), &loop.Cast{Typ: from, X: &loop.Cast{Typ: to, X: forms[0]}}, back)
			wide, _ := mapped(xs, func(i int) (loop.Const, bool) { return loop.EvalCast(loop.I64, want[i]), true })
			b.result(fmt.Sprintf("%s to %s to i64", from, to), &loop.Cast{Typ: loop.I64, X: &loop.Cast{Typ: to, X: forms[0]}}, wide)
		}
		b.run(t)
	}
}

func TestSelect(t *testing.T) {
	for _, typ := range computeTypes {
		xs, ys := pairs(typ)
		conds := make([]loop.Const, len(xs))
		for i := range conds {
			conds[i] = *loop.Truth(i%3 == 0)
		}
		want, _ := mapped(xs, func(i int) (loop.Const, bool) {
			if i%3 == 0 {
				return xs[i], true
			}
			return ys[i], true
		})
		b := newBench(len(xs))
		cond, xForms, yForms := b.operand(loop.Bool, conds), b.operand(typ, xs), b.operand(typ, ys)
		for f := range xForms {
			for g := range yForms {
				b.result(fmt.Sprintf("select %s (forms %d %d)", typ, f, g), &loop.Select{Cond: cond[(f+g)%2], X: xForms[f], Y: yForms[g]}, want)
			}
		}
		b.run(t)
	}
}

// Loading and storing a half-precision buffer converts it.
func TestHalfPrecision(t *testing.T) {
	for _, half := range []struct {
		elem  loop.Type
		widen func(uint16) float32
		round func(float32) uint16
	}{
		{loop.F16, loop.F16ToF32, loop.F32ToF16},
		{loop.BF16, loop.BF16ToF32, loop.F32ToBF16},
	} {
		var xs, wide []loop.Const
		for h := range 1 << 16 {
			xs = append(xs, loop.Const{Typ: half.elem, Bits: uint64(h)})
			wide = append(wide, *loop.Float(loop.F32, float64(half.widen(uint16(h)))))
		}
		b := newBench(len(xs))
		for f, x := range b.operand(half.elem, xs) {
			b.result(fmt.Sprintf("%s widened (form %d)", half.elem, f), x, wide)
		}
		// 1.001 x is halfway between no two values; it must be rounded on store.
		k := float32(1.001)
		rounded, _ := mapped(xs, func(i int) (loop.Const, bool) {
			return loop.Const{Typ: half.elem, Bits: uint64(half.round(half.widen(uint16(i)) * k))}, true
		})
		load := &loop.Load{Buf: 0, Elem: half.elem, Index: b.index()}
		buf := b.buffer(newArray(half.elem, b.n), rounded, fmt.Sprintf("%s stored", half.elem))
		b.results = append(b.results, &loop.Store{Buf: buf, Index: b.index(),
			Value: &loop.Binary{Op: loop.Mul, Typ: loop.F32, X: load, Y: loop.Float(loop.F32, float64(k))}})
		b.runHalf(t, half.widen)
	}
}

// runHalf is run for results that may be half-precision NaNs.
func (b *bench) runHalf(t *testing.T, widen func(uint16) float32) {
	t.Helper()
	last := len(b.wants) - 1
	want := b.wants[last]
	b.wants[last] = nil
	b.run(t)
	for i := range want {
		got, wanted := widen(uint16(b.arrays[last].value(i).Bits)), widen(uint16(want[i].Bits))
		if got != wanted && (got == got || wanted == wanted) {
			t.Fatalf("%s: element %d is %v, want %v", b.names[last], i, got, wanted)
		}
	}
}
