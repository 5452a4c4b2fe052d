package cpu_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/ir/loop/looptest"
)

// This file compares random functions and the library with the interpreter.

// aligned copies raw buffers to memory that is aligned as buffers are.
func aligned(f *loop.Func, raw [][]byte) []*memory {
	var all []*memory
	for i, b := range raw {
		elem := f.Bufs[i].Elem
		m := newMemory(elem, len(b)/elem.Size())
		copy(m.bytes(), b)
		all = append(all, m)
	}
	return all
}

// TestRandomFunctions compares the compiled code of random functions with the
// interpreter, bit for bit, on every LLVM installed.
func TestRandomFunctions(t *testing.T) {
	var all []*llvm.LLVM
	eachLLVM(t, func(_ *testing.T, l *llvm.LLVM) { all = append(all, l) })
	if len(all) == 0 {
		t.Skip("no LLVM found: " + llvm.Install)
	}
	lookup := testLibrary(t)
	var scalars []*loop.Scalar
	for _, name := range []string{"fourth_f64", "clamp_f64"} {
		s, _ := lookup(name)
		scalars = append(scalars, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		c := looptest.Draw(t, scalars...)
		l := rapid.SampledFrom(all).Draw(t, "LLVM")
		level := rapid.SampledFrom([]llvm.Level{llvm.O3, llvm.O1, llvm.O0, llvm.Quick, llvm.Draft}).Draw(t, "level")

		oracle, err := interp.Compile(c.Func, lookup)
		if err != nil {
			t.Fatal(err)
		}
		want := c.CopyMemory()
		var oracleBufs []interp.Memory
		for i, b := range want {
			oracleBufs = append(oracleBufs, interp.Memory{
				Ptr: unsafe.Pointer(unsafe.SliceData(b)), Len: int64(len(b) / c.Func.Bufs[i].Elem.Size()),
			})
		}
		wantStatus := oracle.Call(oracleBufs, c.Args, c.Chunk, c.Lo, c.Hi)

		text, err := cpu.Emit("random", []*loop.Func{c.Func}, lookup)
		if err != nil {
			t.Fatal(err)
		}
		m, err := l.Compile(text, llvm.Options{Level: level})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		defer func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}()
		fn, err := m.Func(c.Func.Name)
		if err != nil {
			t.Fatal(err)
		}
		bufs := aligned(c.Func, c.Memory)
		args := llvm.NewArgBlock(pointers(bufs), c.Args)
		if status := args.Call(fn, c.Chunk, c.Lo, c.Hi); status != wantStatus {
			t.Fatalf("LLVM %v: status %d, the interpreter's is %d\n%s\n%s", l.Version(), status, wantStatus, c.Func, text)
		}
		var got [][]byte
		for i, b := range bufs {
			got = append(got, b.bytes()[:len(want[i])])
		}
		if err := looptest.SameMemory(c.Func, got, want); err != nil {
			t.Fatalf("LLVM %v: %v\n%s\n%s", l.Version(), err, c.Func, text)
		}
	})
}

// TestLibrary compares every function of the mathematical library with the
// interpreter, bit for bit.
func TestLibrary(t *testing.T) {
	const n = 400
	rng := rand.New(rand.NewPCG(1, 2))
	type subject struct {
		f    *loop.Func
		bufs []*memory
		want *memory
	}
	var subjects []subject
	var funcs []*loop.Func
	for _, name := range lib.Names() {
		s, _ := lib.Lookup(name)
		i := &loop.Ref{Var: 3, Typ: loop.I64}
		call := &loop.Call{Fn: name, Typ: s.Result}
		var sub subject
		var bufs []loop.Buf
		for k, id := range s.Args {
			typ := s.Vars[id].Type
			bufs = append(bufs, loop.Buf{Name: fmt.Sprint("x", k), Elem: typ, ReadOnly: true})
			call.Args = append(call.Args, &loop.Load{Buf: loop.BufID(k), Elem: typ, Index: i})
			m := newMemory(typ, n)
			special := values(typ)
			for e := range n {
				switch {
				case e < 200:
					m.put(e, special[rng.IntN(len(special))])
				case typ.IsInt():
					m.put(e, *loop.Number(typ, rng.Int64N(200)-20))
				default:
					c := loop.Float(typ, rng.NormFloat64()*3)
					if typ.IsComplex() {
						c.Imag = loop.Float(typ, rng.NormFloat64()).Bits
					}
					m.put(e, *c)
				}
			}
			sub.bufs = append(sub.bufs, m)
		}
		bufs = append(bufs, loop.Buf{Name: "y", Elem: s.Result})
		body := []loop.Stmt{&loop.For{
			Var: 3, Lo: &loop.Ref{Var: 1, Typ: loop.I64}, Hi: &loop.Ref{Var: 2, Typ: loop.I64},
			Body:        []loop.Stmt{&loop.Store{Buf: loop.BufID(len(s.Args)), Index: i, Value: call}},
			Independent: true,
		}}
		sub.f = loopFunc(name, bufs, body)
		sub.want = newMemory(s.Result, n)
		oracle, err := interp.Compile(sub.f, lib.Lookup)
		if err != nil {
			t.Fatal(err)
		}
		var mem []interp.Memory
		for _, b := range append(sub.bufs, sub.want) {
			mem = append(mem, interp.Memory{Ptr: b.pointer(), Len: n})
		}
		if status := oracle.Call(mem, nil, 0, 0, n); status != 0 {
			t.Fatalf("%s: the interpreter gives status %d", name, status)
		}
		subjects = append(subjects, sub)
		funcs = append(funcs, sub.f)
	}
	text, err := cpu.Emit("library", funcs, lib.Lookup)
	if err != nil {
		t.Fatal(err)
	}
	eachLLVM(t, func(t *testing.T, l *llvm.LLVM) {
		m := compile(t, l, text, llvm.O2)
		for _, sub := range subjects {
			out := newMemory(sub.want.elem, n)
			if status := bind(t, m, sub.f.Name, append(sub.bufs, out), nil).run(0, n); status != 0 {
				t.Errorf("%s: status %d", sub.f.Name, status)
			}
			for i := range n {
				if got, want := out.get(i), sub.want.get(i); !same(got, want) {
					t.Errorf("%s of element %d (%v …): %s, want %s", sub.f.Name, i, sub.bufs[0].get(i), &got, &want)
					break
				}
			}
		}
	})
}
