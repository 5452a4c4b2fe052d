package file

import (
	"math"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// array returns words, of which every value has s.words, as an array of s.dtype.
// The widest types share the memory of words.
func (s *valueSpec) array(words []uint64) (tensor.Array, error) {
	switch s.dtype {
	case tensor.Float64:
		return tensor.ArrayOf(reinterpret[float64](words)), nil
	case tensor.Int64:
		return tensor.ArrayOf(reinterpret[int64](words)), nil
	case tensor.Uint64:
		return tensor.ArrayOf(words), nil
	}
	a, err := tensor.MakeArray(s.dtype, len(words)/s.words)
	if err != nil {
		return a, err
	}
	s.put(a, words)
	return a, nil
}

// put writes the leading words as the values that they are to the elements of a, an
// array of s.dtype.
func (s *valueSpec) put(a tensor.Array, words []uint64) {
	words = words[:a.Len()*s.words]
	switch s.dtype {
	case tensor.Float64, tensor.Int64, tensor.Uint64:
		copy(tensor.View[uint64](a), words)
	case tensor.Bool, tensor.Int8, tensor.Uint8:
		truncateWords(tensor.View[uint8](a), words)
	case tensor.Int16, tensor.Uint16:
		truncateWords(tensor.View[uint16](a), words)
	case tensor.Int32, tensor.Uint32:
		truncateWords(tensor.View[uint32](a), words)
	case tensor.Float16:
		for i, w := range words {
			tensor.View[uint16](a)[i] = tensor.Float16Bits(float32(math.Float64frombits(w)))
		}
	case tensor.BFloat16:
		for i, w := range words {
			tensor.View[uint16](a)[i] = tensor.BFloat16Bits(float32(math.Float64frombits(w)))
		}
	case tensor.Float32:
		out := tensor.View[float32](a)
		for i, w := range words {
			out[i] = float32(math.Float64frombits(w))
		}
	case tensor.Complex64:
		out := tensor.View[complex64](a)
		for i := range out {
			out[i] = complex(float32(math.Float64frombits(words[2*i])), float32(math.Float64frombits(words[2*i+1])))
		}
	case tensor.Complex128:
		out := tensor.View[complex128](a)
		for i := range out {
			out[i] = complex(math.Float64frombits(words[2*i]), math.Float64frombits(words[2*i+1]))
		}
	}
}

// reinterpret views words as another type of 64 bits.
func reinterpret[T float64 | int64](words []uint64) []T {
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(words))), len(words))
}

// truncateWords keeps the low bits of integers that are known to fit.
func truncateWords[T uint8 | uint16 | uint32](dst []T, words []uint64) {
	for i, w := range words {
		dst[i] = T(w)
	}
}

// denseTensor makes a tensor of its values in row-major order.
func denseTensor(in *input, shape []int64, values tensor.Array) (*tensor.Tensor, error) {
	rank := len(shape)
	format, err := in.format(rank, tensor.Dense(rank))
	if err != nil {
		return nil, err
	}
	t, err := tensor.FromDense(shape, tensor.Dense(rank), values, tensor.WithName(in.name))
	if err != nil {
		return nil, err
	}
	return in.cfg.builder.Convert(t, format)
}
