package cpu_test

import (
	"encoding/binary"
	"math"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// This file has buffers for the tests of this package.

// memory is a buffer of a kernel under test.
type memory struct {
	elem  loop.Type
	words []uint64 // for alignment
}

func newMemory(elem loop.Type, n int) *memory {
	return &memory{elem: elem, words: make([]uint64, (n*elem.Size()+15)/8)}
}

// element is the bytes of element i.
func (m *memory) element(i int) []byte {
	size := m.elem.Size()
	return m.bytes()[i*size : (i+1)*size]
}

func (m *memory) bytes() []byte { return unsafe.Slice((*byte)(m.pointer()), len(m.words)*8) }

func (m *memory) pointer() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(m.words)) }

// put writes the low bytes of c, an F16 or BF16 being given by its bits.
func (m *memory) put(i int, c loop.Const) {
	b := m.element(i)
	var word [16]byte
	if m.elem.IsComplex() {
		half := m.elem.Size() / 2
		binary.LittleEndian.PutUint64(word[:], c.Bits)
		binary.LittleEndian.PutUint64(word[half:], c.Imag)
	} else {
		binary.LittleEndian.PutUint64(word[:], c.Bits)
	}
	copy(b, word[:])
}

// get reads element i as a constant; an F16 or BF16 by its bits.
func (m *memory) get(i int) loop.Const {
	b := m.element(i)
	c := loop.Const{Typ: m.elem}
	if m.elem.IsComplex() {
		half := len(b) / 2
		c.Bits, c.Imag = unsigned(b[:half]), unsigned(b[half:])
		return c
	}
	c.Bits = unsigned(b)
	if m.elem.IsSigned() {
		shift := 64 - 8*len(b)
		c.Bits = uint64(int64(c.Bits<<shift) >> shift)
	}
	return c
}

func unsigned(b []byte) uint64 {
	var word [8]byte
	copy(word[:], b)
	return binary.LittleEndian.Uint64(word[:])
}

// isNaN reports whether the bits of type t, not complex, are a NaN.
func isNaN(t loop.Type, bits uint64) bool {
	switch t {
	case loop.F32:
		return math.IsNaN(float64(math.Float32frombits(uint32(bits))))
	case loop.F64:
		return math.IsNaN(math.Float64frombits(bits))
	case loop.F16:
		return bits&0x7fff > 0x7c00
	case loop.BF16:
		return bits&0x7fff > 0x7f80
	}
	return false
}

// same reports whether two constants have the same bits, one NaN being as good
// as another.
func same(a, b loop.Const) bool {
	t := a.Typ.Real()
	part := func(x, y uint64) bool { return x == y || isNaN(t, x) && isNaN(t, y) }
	return a.Typ == b.Typ && part(a.Bits, b.Bits) && part(a.Imag, b.Imag)
}

// compile makes the functions of a module callable.
func compile(t testing.TB, l *llvm.LLVM, text string, level llvm.Level) *llvm.Module {
	t.Helper()
	m, err := l.Compile(text, llvm.Options{Level: level})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func pointers(bufs []*memory) []unsafe.Pointer {
	all := make([]unsafe.Pointer, len(bufs))
	for i, b := range bufs {
		all[i] = b.pointer()
	}
	return all
}

// kernel is a compiled function with its arguments.
type kernel struct {
	address uintptr
	args    *llvm.ArgBlock
}

// bind looks up a function of a module and packs its arguments.
func bind(t testing.TB, m *llvm.Module, name string, bufs []*memory, scalars []int64) kernel {
	t.Helper()
	fn, err := m.Func(name)
	if err != nil {
		t.Fatal(err)
	}
	args := llvm.NewArgBlock(pointers(bufs), scalars)
	return kernel{fn, args}
}

// run calls the function and returns its status.
func (k kernel) run(lo, hi int64) int64 { return k.args.Call(k.address, 0, lo, hi) }
