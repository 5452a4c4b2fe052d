package lacuna_test

import (
	"context"
	"fmt"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// A conversion of a large tensor runs as a kernel; the result is that of
// tensor.Tensor.Convert in any case.
func ExampleConvert() {
	ctx := context.Background()
	a, err := lacuna.FromColumns(ctx, []int64{2, 3}, tensor.CSR,
		[]tensor.Array{tensor.ArrayOf([]int32{0, 1, 0}), tensor.ArrayOf([]int32{2, 0, 0})},
		tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := lacuna.Convert(ctx, a, tensor.CSC)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tensor.View[float64](a.Values()), tensor.View[float64](b.Values()))
	// Output: [3 1 2] [3 2 1]
}

// Entries may come in any order and repeat: values at equal coordinates are
// summed.
func ExampleFromColumns() {
	rows := tensor.ArrayOf([]uint32{1, 0, 1})
	cols := tensor.ArrayOf([]uint32{0, 2, 0})
	values := tensor.ArrayOf([]float64{1, 2, 3})
	a, err := lacuna.FromColumns(context.Background(), []int64{2, 3}, tensor.CSR, []tensor.Array{rows, cols}, values)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(a, tensor.View[float64](a.Values()))
	// Output: 2x3 f64 CSR, 2 stored, fill 0 [2 4]
}
