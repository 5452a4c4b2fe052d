package tensor

import (
	"runtime"
	"testing"
	"time"
	"unsafe"
)

// TestForeign checks that arrays know what memory they lie in however they are made,
// and that the memory is released after the last of them, once.
func TestForeign(t *testing.T) {
	released := make(chan struct{}, 2)
	memory := make([]byte, 256) // kept below: to the table it is as foreign as any
	f := NewForeign(memory[:128], func() { released <- struct{}{} })
	a, err := f.Array(Float64, 8, 10)
	if err != nil {
		t.Fatal(err)
	}
	if a.Len() != 10 || a.Pointer() != unsafe.Pointer(&memory[8]) {
		t.Error("the array is elsewhere")
	}
	for name, b := range map[string]Array{
		"slice":       a.Slice(2, 4),
		"empty slice": a.Slice(2, 2),
		"view":        ArrayOf(View[float64](a)[9:]),
		"address":     ArrayAt(Int8, unsafe.Pointer(&memory[127]), 1),
		"first":       ArrayAt(Int8, unsafe.Pointer(&memory[0]), 1),
	} {
		if b.Foreign() != f {
			t.Errorf("%s: does not know its memory", name)
		}
	}
	if ArrayOf(memory[128:]).Foreign() != nil || ArrayOf([]int32{1}).Foreign() != nil {
		t.Error("an array elsewhere is taken for one in the memory")
	}
	for _, bad := range []struct{ offset, n int }{{4, 1}, {-8, 1}, {0, -1}, {120, 2}, {136, 1}, {0, 1 << 62}} {
		if _, err := f.Array(Float64, bad.offset, bad.n); err == nil {
			t.Errorf("%d elements at offset %d: no error", bad.n, bad.offset)
		}
	}
	if _, err := f.Array(Complex128, 8, 1); err != nil {
		t.Errorf("a complex number need only be aligned like its parts: %v", err)
	}
	x, err := New([]int64{10}, Dense(1), []Level{{}}, a)
	if err != nil {
		t.Fatal(err)
	}
	f, a = nil, Array{}
	settle := func() {
		runtime.GC()
		time.Sleep(2 * time.Millisecond)
	}
	settle()
	if len(released) != 0 {
		t.Fatal("released while a tensor uses it")
	}
	runtime.KeepAlive(x)
	x = nil
	for i := 0; len(released) == 0; i++ {
		if settle(); i == 200 {
			t.Fatal("never released")
		}
	}
	if ArrayAt(Int8, unsafe.Pointer(&memory[0]), 1).Foreign() != nil {
		t.Error("released memory is still in the table")
	}
	runtime.KeepAlive(memory)
}
