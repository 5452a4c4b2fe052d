package binsparse

import (
	"github.com/lacuna-sparse/lacuna/tensor"
)

// FromPattern makes a tensor in format f of a dense one: values and pattern list every
// element in row-major order, and pattern, of type Bool, says which are stored. It is an
// error if the format cannot store just those: its dense levels store every element.
// Elements that are not stored become the fill, whatever their values.
func FromPattern(shape []int64, f tensor.Format, values, pattern tensor.Array, fill tensor.Scalar) (*tensor.Tensor, error) {
	n := int64(values.Len())
	if pattern.DType() != tensor.Bool || pattern.Len() != values.Len() {
		return nil, errorf("the pattern has %d elements of type %v: expected %d of bool", pattern.Len(), pattern.DType(), n)
	}
	if want := (Dataset{Dims: shape}).Len(); want != n {
		return nil, errorf("there are %d values, but shape %v has %d elements", n, shape, want)
	}
	stored := 0
	for _, on := range tensor.View[bool](pattern) {
		if on {
			stored++
		}
	}
	var t *tensor.Tensor
	var err error
	if f.IsDense() {
		if t, err = tensor.FromDense(shape, tensor.Dense(len(shape)), values, tensor.WithFill(fill)); err == nil {
			t, err = t.Convert(f)
		}
	} else {
		var coords [][]int64
		var kept tensor.Array
		if coords, kept, err = gather(shape, values, pattern, stored); err != nil {
			return nil, err
		}
		t, err = tensor.FromCoords(shape, f, coords, kept, tensor.WithFill(fill))
	}
	if err != nil {
		return nil, tensorError(err)
	}
	if t.NNZ() != int64(stored) {
		return nil, errorf("the pattern stores %d elements, but format %v stores %d: its dense levels store every element of a block", stored, f, t.NNZ())
	}
	return t, nil
}

// gather lists the coordinates and values of the elements that are in the pattern.
func gather(shape []int64, values, pattern tensor.Array, stored int) ([][]int64, tensor.Array, error) {
	kept, err := tensor.MakeArray(values.DType(), stored)
	if err != nil {
		return nil, kept, err
	}
	coords := make([][]int64, len(shape))
	for axis := range coords {
		coords[axis] = make([]int64, 0, stored)
	}
	size := values.DType().Size()
	from, to := values.Raw(), kept.Raw()
	at := make([]int64, len(shape)) // coordinates of the element, counted like an odometer
	for p, on := range tensor.View[bool](pattern) {
		if on {
			for axis, c := range at {
				coords[axis] = append(coords[axis], c)
			}
			to = to[copy(to, from[p*size:(p+1)*size]):]
		}
		for axis := len(at) - 1; axis >= 0; axis-- {
			if at[axis]++; at[axis] < shape[axis] {
				break
			}
			at[axis] = 0
		}
	}
	return coords, kept, nil
}

// Pattern returns an array of Bools in row-major order that says which elements of t
// are stored. Of a matrix with a structure the whole counts.
func Pattern(t *tensor.Tensor) (tensor.Array, error) {
	t, err := t.Canonical()
	if err != nil {
		return tensor.Array{}, err
	}
	stored, err := tensor.MakeArray(tensor.Bool, int(t.NNZ()))
	if err != nil {
		return stored, err
	}
	for i := range stored.Len() {
		tensor.View[bool](stored)[i] = true
	}
	return tensor.NewTrusted(t.Shape(), t.Format(), t.Levels(), stored, tensor.Truth(false)).ToDense()
}
