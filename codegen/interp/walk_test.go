package interp

import (
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/ir/loop/looptest"
)

// This file compares closures with a reference that walks the tree.

// A walker runs a function the plainest way there is: it walks the tree, every
// value a loop.Const, every operator one of loop's Eval functions. It judges the
// closures.
type walker struct {
	f       *loop.Func
	mem     [][]byte
	vars    []loop.Const
	lookup  func(string) (*loop.Scalar, bool)
	value   loop.Const // of the last Return
	returns bool
}

// walk runs case c on mem and returns the status.
func walk(c looptest.Case, mem [][]byte, lookup func(string) (*loop.Scalar, bool)) int64 {
	w := &walker{f: c.Func, mem: mem, vars: make([]loop.Const, len(c.Func.Vars)), lookup: lookup}
	for i, v := range c.Func.Args {
		w.vars[v] = *loop.Int(c.Args[i])
	}
	w.vars[c.Func.Chunk] = *loop.Int(c.Chunk)
	w.vars[c.Func.Lo] = *loop.Int(c.Lo)
	w.vars[c.Func.Hi] = *loop.Int(c.Hi)
	return w.block(c.Func.Body)
}

func (w *walker) block(body []loop.Stmt) int64 {
	for _, s := range body {
		if st := w.stmt(s); st != 0 || w.returns {
			return st
		}
	}
	return 0
}

func (w *walker) stmt(s loop.Stmt) int64 {
	switch s := s.(type) {
	case *loop.Let:
		w.vars[s.Var] = w.expr(s.Value)
	case *loop.Assign:
		w.vars[s.Var] = w.expr(s.Value)
	case *loop.Store:
		w.store(s)
	case *loop.For:
		lo, hi := int64(w.expr(s.Lo).Bits), int64(w.expr(s.Hi).Bits)
		for i := lo; i < hi; i++ {
			w.vars[s.Var] = *loop.Int(i)
			if st := w.block(s.Body); st != 0 || w.returns {
				return st
			}
		}
	case *loop.While:
		for w.expr(s.Cond).Bits != 0 {
			if st := w.block(s.Body); st != 0 || w.returns {
				return st
			}
		}
	case *loop.If:
		if w.expr(s.Cond).Bits != 0 {
			return w.block(s.Then)
		}
		return w.block(s.Else)
	case *loop.Fail:
		return 1 + int64(s.Code)
	case *loop.Return:
		w.value, w.returns = w.expr(s.Value), true
	}
	return 0
}

func (w *walker) element(b loop.BufID, index loop.Expr) []byte {
	size := w.f.Bufs[b].Elem.Size()
	at := int(w.expr(index).Bits) * size
	return w.mem[b][at : at+size]
}

func (w *walker) store(s *loop.Store) {
	p, v := w.element(s.Buf, s.Index), w.expr(s.Value)
	switch w.f.Bufs[s.Buf].Elem {
	case loop.F16:
		v.Bits = uint64(loop.F32ToF16(f32Literal(v)))
	case loop.BF16:
		v.Bits = uint64(loop.F32ToBF16(f32Literal(v)))
	case loop.C64:
		v.Bits |= v.Imag << 32
	case loop.C128:
		binary.LittleEndian.PutUint64(p[8:], v.Imag)
	}
	var bits [8]byte
	binary.LittleEndian.PutUint64(bits[:], v.Bits)
	copy(p, bits[:])
}

func (w *walker) load(e *loop.Load) loop.Const {
	p := w.element(e.Buf, e.Index)
	var raw [16]byte
	copy(raw[:], p)
	bits, imag := binary.LittleEndian.Uint64(raw[:]), binary.LittleEndian.Uint64(raw[8:])
	switch {
	case e.Elem == loop.F16:
		return *loop.Float(loop.F32, float64(loop.F16ToF32(uint16(bits))))
	case e.Elem == loop.BF16:
		return loop.Const{Typ: loop.F32, Bits: bits << 16}
	case e.Elem == loop.C64:
		return loop.Const{Typ: e.Elem, Bits: bits & 0xffffffff, Imag: bits >> 32}
	case e.Elem.IsInt():
		return loop.EvalCast(e.Elem, loop.Const{Typ: loop.U64, Bits: bits})
	}
	return loop.Const{Typ: e.Elem, Bits: bits, Imag: imag}
}

func (w *walker) expr(e loop.Expr) loop.Const {
	switch e := e.(type) {
	case *loop.Const:
		return *e
	case *loop.Ref:
		return w.vars[e.Var]
	case *loop.Load:
		return w.load(e)
	case *loop.Unary:
		r, _ := loop.EvalUnary(e.Op, w.expr(e.X))
		return r
	case *loop.Binary:
		r, _ := loop.EvalBinary(e.Op, w.expr(e.X), w.expr(e.Y))
		return r
	case *loop.Select:
		cond, x, y := w.expr(e.Cond), w.expr(e.X), w.expr(e.Y)
		if cond.Bits != 0 {
			return x
		}
		return y
	case *loop.FMA:
		r, _ := loop.EvalFMA(w.expr(e.X), w.expr(e.Y), w.expr(e.Z))
		return r
	case *loop.Cast:
		return loop.EvalCast(e.Typ, w.expr(e.X))
	case *loop.Call:
		s, _ := w.lookup(e.Fn)
		in := &walker{vars: make([]loop.Const, len(s.Vars)), lookup: w.lookup}
		for i, v := range s.Args {
			in.vars[v] = w.expr(e.Args[i])
		}
		in.block(s.Body)
		return in.value
	}
	panic("BUG: unknown kind of expression")
}

// memories are raw buffers as the kernel takes them.
func memories(f *loop.Func, mem [][]byte) []Memory {
	var out []Memory
	for i, b := range mem {
		m := memory(b)
		m.Len /= int64(f.Bufs[i].Elem.Size())
		out = append(out, m)
	}
	return out
}

// On random functions the closures do what the walker does, twice the same.
func TestRandomFunctions(t *testing.T) {
	lookup := library(t, testLibrary)
	var scalars []*loop.Scalar
	for _, name := range []string{"sub_f64", "clamp_f64", "pow_f64", "swap_c128", "positive_bool"} {
		s, _ := lookup(name)
		scalars = append(scalars, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		c := looptest.Draw(t, scalars...)
		k, err := Compile(c.Func, lookup)
		if err != nil {
			t.Fatalf("%v\n%s", err, c.Func)
		}
		want := c.CopyMemory()
		wantStatus := walk(c, want, lookup)
		for range 2 {
			got := c.CopyMemory()
			st, err := k.Run(memories(c.Func, got), c.Args, c.Chunk, c.Lo, c.Hi)
			if st != wantStatus || err != nil {
				t.Fatalf("status %d, %v; want %d\n%s", st, err, wantStatus, c.Func)
			}
			if err := looptest.SameMemory(c.Func, got, want); err != nil {
				t.Fatalf("%v\n%s", err, c.Func)
			}
		}
	})
}

// Cutting SpMV into chunks in any way gives the same bits.
func TestChunks(t *testing.T) {
	m := randomCSR(100, 4)
	k := mustCompile(t, spmvText)
	want := make([]float64, len(m.y))
	m.multiply(want)
	rapid.Check(t, func(t *rapid.T) {
		cuts := rapid.SliceOfN(rapid.Int64Range(0, 100), 0, 10).Draw(t, "cuts")
		slices.Sort(cuts)
		clear(m.y)
		bufs, lo := m.buffers(m.y), int64(0)
		for chunk, hi := range append(cuts, 100) {
			if st := k.Call(bufs, []int64{100}, int64(chunk), lo, hi); st != 0 {
				t.Fatalf("status %d", st)
			}
			lo = hi
		}
		if !slices.Equal(m.y, want) {
			t.Fatal("differs from one chunk")
		}
	})
}

// Every function of the library compiles, and gives what the walker gives.
func TestLibrary(t *testing.T) {
	for _, name := range lib.Names() {
		s, _ := lib.Lookup(name)
		b := newBench(0)
		call := &loop.Call{Fn: name, Typ: s.Result}
		var values [][]loop.Const
		for i, v := range s.Args {
			typ := s.Vars[v].Type
			xs := specials(typ)
			if i > 0 { // other pairs than of equal values
				slices.Reverse(xs)
			}
			values = append(values, xs)
			b.n = len(xs)
			call.Args = append(call.Args, b.operand(typ, xs)[i%2])
		}
		w := &walker{lookup: lib.Lookup}
		want, _ := mapped(values[0], func(i int) (loop.Const, bool) {
			e := &loop.Call{Fn: name, Typ: s.Result}
			for _, xs := range values {
				e.Args = append(e.Args, &xs[i])
			}
			return w.expr(e), true
		})
		b.result(name, call, want)
		b.lookup = lib.Lookup
		b.run(t)
	}
}

func BenchmarkExp(b *testing.B) {
	f := mustParse(b, "func f(readonly x: []f64, y: []f64) chunk c, lo, hi {\n for i = lo to hi {\n y[i] = exp_f64(x[i])\n }\n}\n")
	k, err := Compile(f, lib.Lookup)
	if err != nil {
		b.Fatal(err)
	}
	x, y := make([]float64, 1000), make([]float64, 1000)
	for b.Loop() {
		k.Call([]Memory{memory(x), memory(y)}, nil, 0, 0, 1000)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1000), "ns/element")
}
