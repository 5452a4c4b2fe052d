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

func TestAccount(t *testing.T) {
	machine := func() machineMemory {
		return machineMemory{total: 1 << 40, totalSource: "T", available: 1 << 30, availableSource: "A"}
	}
	for _, tt := range []struct {
		name   string
		option int64
		steps  []int64 // sizes, negative if they must be refused
		limit  int64
	}{
		{"small runs do not look at the machine", 0, []int64{1 << 20, 63 << 20}, freeAllowance},
		{"default", 0, []int64{1 << 26, 3 << 28, -1}, 1<<26 + 3<<28},
		{"default, refused", 0, []int64{-(3<<28 + 1), 3 << 28}, 3 << 28},
		{"small option", 100, []int64{60, 40, -1}, 100},
		{"large option", 1 << 35, []int64{1 << 35, -1}, 1 << 35},
		{"option beyond the machine", math.MaxInt64, []int64{-(1<<40 + 1), 1 << 40}, 1 << 40},
		{"no overflow", math.MaxInt64, []int64{1 << 30, -math.MaxInt64}, 1 << 40},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var c account
			c.open(tt.option)
			for _, size := range tt.steps {
				want := size >= 0
				if got := c.reserve(max(size, -size), tt.option, machine); got != want {
					t.Errorf("reserve(%d) = %v with %d of %d in use", max(size, -size), got, c.inUse, c.limit)
				}
			}
			if c.limit != tt.limit {
				t.Errorf("limit %d, want %d", c.limit, tt.limit)
			}
		})
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
