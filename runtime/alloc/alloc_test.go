package alloc

import (
	"bytes"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

func TestSizeClasses(t *testing.T) {
	if classSize(0) != 1<<minClassBits || classSize(classCount-1) != maxPooled {
		t.Fatalf("classes run from %d to %d, want %d to %d", classSize(0), classSize(classCount-1), 1<<minClassBits, maxPooled)
	}
	rapid.Check(t, func(t *rapid.T) {
		size := Padded(rapid.Int64Range(0, maxPooled).Draw(t, "bytes"))
		class := classOf(size)
		got := classSize(class)
		switch {
		case got < size:
			t.Fatalf("class %d of %d bytes has only %d", class, size, got)
		case class > 0 && classSize(class-1) >= size:
			t.Fatalf("class %d of %d bytes, but class %d would do", class, size, class-1)
		case got%Align != 0:
			t.Fatalf("class %d has %d bytes, not a multiple of %d", class, got, Align)
		}
	})
}

func TestAllocatorGivesAlignedZeroedBlocks(t *testing.T) {
	a := New()
	dirt := bytes.Repeat([]byte{0xFF}, maxPooled)
	for _, size := range []int64{0, 1, 63, 64, 65, 4096, 33000, 1 << 20, maxPooled, maxPooled + 1} {
		check := func(kind string, p unsafe.Pointer) {
			if uintptr(p)%Align != 0 {
				t.Errorf("%s of %d bytes is at %p", kind, size, p)
			}
			if b := unsafe.Slice((*byte)(p), Padded(size)); bytes.Count(b, []byte{0}) != len(b) {
				t.Errorf("%s of %d bytes is not zero", kind, size)
			}
		}
		p, _ := a.Result(size, Zeroed)
		check("result", p)
		a.Result(size, Anything) // any bytes will do, but there must be some
		for range 2 {            // the second time round the block comes from a pool
			tmp, err := a.Temporary(size, Zeroed)
			if err != nil {
				t.Fatal(err)
			}
			check("temporary", tmp.Ptr)
			copy(unsafe.Slice((*byte)(tmp.Ptr), Padded(size)), dirt)
			a.Release(tmp)
		}
	}
}

func TestAllocatorReportsRefusal(t *testing.T) {
	if _, err := New().Temporary(1<<56, Anything); err == nil {
		t.Error("a temporary larger than any address space was allocated")
	}
}
