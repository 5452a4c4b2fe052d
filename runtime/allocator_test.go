package runtime

import (
	"bytes"
	"math"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

func TestSizeClasses(t *testing.T) {
	if classSize(0) != 1<<minClassBits || classSize(classCount-1) != maxPooled {
		t.Fatalf("classes run from %d to %d, want %d to %d", classSize(0), classSize(classCount-1), 1<<minClassBits, maxPooled)
	}
	rapid.Check(t, func(t *rapid.T) {
		size := padded(rapid.Int64Range(0, maxPooled).Draw(t, "bytes"))
		class := classOf(size)
		got := classSize(class)
		switch {
		case got < size:
			t.Fatalf("class %d of %d bytes has only %d", class, size, got)
		case class > 0 && classSize(class-1) >= size:
			t.Fatalf("class %d of %d bytes, but class %d would do", class, size, class-1)
		case got%blockAlign != 0:
			t.Fatalf("class %d has %d bytes, not a multiple of %d", class, got, blockAlign)
		}
	})
}

func TestAllocatorGivesAlignedZeroedBlocks(t *testing.T) {
	a := newAllocator()
	dirt := bytes.Repeat([]byte{0xFF}, maxPooled)
	for _, size := range []int64{0, 1, 63, 64, 65, 4096, 33000, 1 << 20, maxPooled, maxPooled + 1} {
		check := func(kind string, p unsafe.Pointer) {
			if uintptr(p)%blockAlign != 0 {
				t.Errorf("%s of %d bytes is at %p", kind, size, p)
			}
			if b := unsafe.Slice((*byte)(p), padded(size)); bytes.Count(b, []byte{0}) != len(b) {
				t.Errorf("%s of %d bytes is not zero", kind, size)
			}
		}
		check("result", a.result(size, 1, zeroed).Ptr)
		a.result(size, 1, anything) // any bytes will do, but there must be some
		for range 2 {               // the second time round the block comes from a pool
			tmp, err := a.temporary(size, zeroed)
			if err != nil {
				t.Fatal(err)
			}
			check("temporary", tmp.ptr)
			copy(unsafe.Slice((*byte)(tmp.ptr), padded(size)), dirt)
			a.release(tmp)
		}
	}
}

func TestAllocatorReportsRefusal(t *testing.T) {
	if _, err := newAllocator().temporary(maxObject, anything); err == nil {
		t.Error("a temporary larger than any address space was allocated")
	}
}

func TestBytesOf(t *testing.T) {
	for _, tt := range []struct{ n, size, want int64 }{
		{0, 16, 0}, {3, 8, 24}, {1 << 60, 8, math.MaxInt64}, {1 << 62, 16, math.MaxInt64}, {math.MaxInt64, 1, math.MaxInt64},
	} {
		if got := bytesOf(tt.n, tt.size); got != tt.want {
			t.Errorf("bytesOf(%d, %d) = %d, want %d", tt.n, tt.size, got, tt.want)
		}
	}
}
