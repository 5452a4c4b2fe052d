package tensor

import "unsafe"

// FromBits is the scalar of type dt with the given value bits, in the form that
// [Scalar.Bits] describes; half-precision types round the f32 they are given.
func FromBits(dt DType, lo, hi uint64) Scalar {
	switch dt {
	case Float16, BFloat16:
		return Scalar{dt: Float32, lo: lo}.Convert(dt)
	}
	return Scalar{dt: dt, lo: lo, hi: hi}
}

// HeapArray is ArrayAt of memory on the Go heap that is known to be in no [Pooled] block.
func HeapArray(dt DType, p unsafe.Pointer, n int) Array {
	if n == 0 {
		p = unsafe.Pointer(&emptyMemory)
	}
	return Array{dt: dt, n: n, data: p}
}

// ArrayAt is the array of n elements of type dt at p, which must stay valid as
// long as the array is in use (Go memory stays alive through it).
func ArrayAt(dt DType, p unsafe.Pointer, n int) Array {
	if n == 0 {
		p = unsafe.Pointer(&emptyMemory)
	}
	return Array{dt: dt, n: n, data: p, owner: ownerOf(p)}
}

// Dims are the extents by axis, without copying. The caller must not write to
// the slice.
func (t *Tensor) Dims() []int64 { return t.shape }

// AppendKey appends bytes that tell the format from any other, whatever follows.
func (f Format) AppendKey(b []byte) []byte {
	b = append(b, byte(len(f.levels)), byte(len(f.flags)))
	return append(append(append(b, f.levels...), f.order...), f.flags...)
}

// LevelAt is storage level k, 0 being the outermost; k is below the rank.
func (t *Tensor) LevelAt(k int) Level {
	if t.Released() {
		return t.levels[k].gone()
	}
	return t.levels[k]
}
