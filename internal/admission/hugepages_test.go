package admission

import (
	"testing"
	"unsafe"
)

// TestAdviseHuge: advice about parts of blocks that have no whole huge page, and of
// blocks that start anywhere, leaves what is stored alone.
func TestAdviseHuge(t *testing.T) {
	m := make([]byte, 8<<20)
	for i := range m {
		m[i] = byte(i * 7)
	}
	for _, offset := range []int64{0, 64, 4096, 1<<20 + 64} {
		for _, size := range []int64{64, 1 << 20, 2 << 20, 5 << 20} {
			AdviseHuge(unsafe.Pointer(&m[offset]), size)
		}
	}
	for i := range m {
		if m[i] != byte(i*7) {
			t.Fatalf("byte %d is %d", i, m[i])
		}
	}
}
