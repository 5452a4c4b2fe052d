package file

import (
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// arrayFill puts the values of an array file, listed with the first index running
// fastest, in an array in which the last does; symmetric matrices, of which the file
// lists the columns of the lower triangle, are completed. Where the size of the file bears
// out that all the values are there, each batch is put in its place at once. Else
// they are gathered first.
type arrayFill struct {
	h      *mtxHeader
	value  *valueSpec
	out    tensor.Array // made when it is known to be justified
	stride []int        // in out, of each axis
	at     []int        // indices of the next value
	words  []uint64     // gathered
	direct bool
}

// newArrayFill returns a fill without values.
func newArrayFill(in *input, h *mtxHeader, value *valueSpec) (*arrayFill, error) {
	f := &arrayFill{h: h, value: value, direct: in.size >= 0, at: make([]int, len(h.shape))}
	if h.sym == skewSymmetric {
		f.at[0] = 1
	}
	if f.direct {
		return f, f.make()
	}
	return f, nil
}

// make makes the array.
func (f *arrayFill) make() (err error) {
	rank := len(f.h.shape)
	f.stride = make([]int, rank)
	n := 1
	for k := rank - 1; k >= 0; k-- {
		f.stride[k] = n
		n *= int(f.h.shape[k])
	}
	f.out, err = tensor.MakeArray(f.value.dtype, n)
	return err
}

// add takes the values that come next.
func (f *arrayFill) add(words []uint64) error {
	if f.direct {
		return f.put(words)
	}
	longer, err := withRoom(heap{}, f.words, tensor.Uint64, len(words))
	if err != nil {
		return err
	}
	f.words = append(longer, words...)
	return nil
}

// done returns the array.
func (f *arrayFill) done() (tensor.Array, error) {
	if !f.direct {
		if err := f.make(); err != nil {
			return f.out, err
		}
		for words := range slices.Chunk(f.words, blockSize) { // a multiple of the words of a value
			if err := f.put(words); err != nil {
				return f.out, err
			}
		}
	}
	return f.out, nil
}

// put puts values in their places.
func (f *arrayFill) put(words []uint64) error {
	values, err := f.value.array(words)
	if err != nil {
		return err
	}
	mirrored := values
	if f.h.sym == skewSymmetric || f.h.sym == hermitian {
		other := slices.Clone(words)
		for i := 0; i < len(other); i += f.value.words {
			var w [2]uint64
			copy(w[:f.value.words], other[i:])
			f.h.sym.mirror(f.value, &w)
			copy(other[i:i+f.value.words], w[:])
		}
		if mirrored, err = f.value.array(other); err != nil {
			return err
		}
	}
	switch values.DType().Size() {
	case 1:
		fillArrayOf[uint8](f, values, mirrored)
	case 2:
		fillArrayOf[uint16](f, values, mirrored)
	case 4:
		fillArrayOf[uint32](f, values, mirrored)
	case 8:
		fillArrayOf[uint64](f, values, mirrored)
	default:
		fillArrayOf[complex128](f, values, mirrored)
	}
	return nil
}

// fillArrayOf is put for values of one width.
func fillArrayOf[T tensor.Element](f *arrayFill, values, mirrored tensor.Array) {
	out, v, m := tensor.View[T](f.out), tensor.View[T](values), tensor.View[T](mirrored)
	for len(v) > 0 {
		column := 0
		for k := 1; k < len(f.at); k++ {
			column += f.at[k] * f.stride[k]
		}
		first := f.at[0]
		n := min(len(v), int(f.h.shape[0])-first)
		for i, x := range v[:n] {
			out[column+(first+i)*f.stride[0]] = x
		}
		if f.h.sym != general {
			j := f.at[1]
			for i, x := range m[:n] {
				if first+i != j {
					out[j*f.stride[0]+first+i] = x
				}
			}
		}
		v, m = v[n:], m[n:]
		f.advance(n)
	}
}

// advance steps over n values, which end in one column.
func (f *arrayFill) advance(n int) {
	f.at[0] += n
	if f.at[0] < int(f.h.shape[0]) {
		return
	}
	f.at[0] = 0
	for k := 1; k < len(f.at); k++ {
		if f.at[k]++; f.at[k] < int(f.h.shape[k]) || k == len(f.at)-1 {
			break
		}
		f.at[k] = 0
	}
	switch f.h.sym {
	case symmetric, hermitian:
		f.at[0] = f.at[1]
	case skewSymmetric:
		f.at[0] = f.at[1] + 1
	}
}
