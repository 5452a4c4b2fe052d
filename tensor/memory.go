package tensor

import (
	"math"

	"github.com/lacuna-sparse/lacuna/internal/admission"
)

// WithMemoryLimit bounds the bytes that a conversion, a reshape or a constructor that builds arrays may allocate for its result and for
// lists of entries on the way; 0 means what the machine has to spare. Arrays that are shared do not count.
func WithMemoryLimit(bytes int64) Option {
	return func(o *options) {
		if o.memory = nil; bytes > 0 {
			o.memory = &memoryLimit{bytes: bytes}
			o.memory.account.Open(bytes)
		}
	}
}

// memoryLimit is a limit and what is allocated within it.
type memoryLimit struct {
	bytes   int64
	account admission.Account
}

// admit refuses n elements of so many bytes each if they go beyond the limit; else they count. Without a limit only what the
// machine has counts, which MakeArray looks at.
func (m *memoryLimit) admit(n int64, size int) error {
	if m == nil {
		return nil
	}
	bytes, ok := mulSizes(n, int64(size))
	if !ok {
		bytes = math.MaxInt64
	}
	return m.account.Admit(bytes, m.bytes)
}

// admitList is admit for a list of n entries with coordinates of a shape, in the order that it comes in and sorted.
func (m *memoryLimit) admitList(n int, shape []int64) error {
	width := 0
	for _, size := range shape {
		width += narrowestIndex(maxCoordinate(size)).Size()
	}
	return m.admit(int64(n), width)
}
