package ops_test

import (
	"context"
	"fmt"
	"log"

	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// matrix is used by the examples below: 3 rows, 4 columns, 4 stored entries.
//
//	0  1  2  .
//	.  .  .  .
//	3  .  .  4
//
// The 0 is stored too.
func matrix(f tensor.Format) *tensor.Tensor {
	rows, cols := []int64{0, 0, 0, 2, 2}, []int64{0, 1, 2, 0, 3}
	A, err := tensor.FromCoords([]int64{3, 4}, f, [][]int64{rows, cols}, tensor.ArrayOf([]float64{0, 1, 2, 3, 4}))
	if err != nil {
		log.Fatal(err)
	}
	return A
}

// show prints a tensor and its stored entries.
func show(t *tensor.Tensor, err error) {
	if err != nil {
		log.Fatal(err)
	}
	coords, values, err := t.ToCoords()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(t)
	fmt.Println(coords, tensor.View[float64](values))
}

func ExampleTranspose() {
	show(ops.Transpose(context.Background(), matrix(tensor.CSR), nil))
	// Output:
	// 4x3 f64 CSC, 5 stored, fill 0
	// [[0 1 2 0 3] [0 0 0 2 2]] [0 1 2 3 4]
}

// The rows in reverse order.
func ExamplePermute() {
	show(ops.Permute(context.Background(), matrix(tensor.CSR), 0, []int64{2, 1, 0}))
	// Output:
	// 3x4 f64 CSR, 5 stored, fill 0
	// [[0 0 2 2 2] [0 3 0 1 2]] [3 4 0 1 2]
}

// Every second column from column 1 on; then the last row.
func ExampleSlice() {
	ctx, A := context.Background(), matrix(tensor.CSR)
	show(ops.Slice(ctx, A, []ops.Range{ops.Whole(), ops.From(1).Step(2)}))
	show(ops.Slice(ctx, A, []ops.Range{ops.At(-1)}))
	// Output:
	// 3x2 f64 CSR, 2 stored, fill 0
	// [[0 2] [0 1]] [1 4]
	// 4 f64 S, 2 stored, fill 0
	// [[0 3]] [3 4]
}

func ExampleDiagonal() {
	show(ops.Diagonal(context.Background(), matrix(tensor.CSR), 1))
	// Output:
	// 3 f64 S, 2 stored, fill 0
	// [[0 2]] [1 4]
}

func ExampleTril() {
	show(ops.Tril(context.Background(), matrix(tensor.CSR), 0))
	// Output:
	// 3x4 f64 CSR, 2 stored, fill 0
	// [[0 2] [0 0]] [0 3]
}

func ExampleTriu() {
	show(ops.Triu(context.Background(), matrix(tensor.CSR), 1, ops.StoredAs(tensor.COO)))
	// Output:
	// 3x4 f64 COO, 3 stored, fill 0
	// [[0 0 2] [1 2 3]] [1 2 4]
}

func ExampleReshape() {
	show(ops.Reshape(context.Background(), matrix(tensor.CSR), []int64{2, 6}, ops.StoredAs(tensor.COO)))
	// Output:
	// 2x6 f64 COO, 5 stored, fill 0
	// [[0 0 0 1 1] [0 1 2 2 5]] [0 1 2 3 4]
}

func ExampleConcat() {
	A := matrix(tensor.CSR)
	show(ops.Concat(context.Background(), 1, []*tensor.Tensor{A, A}))
	// Output:
	// 3x8 f64 CSR, 10 stored, fill 0
	// [[0 0 0 0 0 0 2 2 2 2] [0 1 2 4 5 6 0 3 4 7]] [0 1 2 0 1 2 3 4 3 4]
}

// The triangle has the explicit zero of the operand; Prune drops it.
func ExamplePrune() {
	ctx := context.Background()
	L, err := ops.Tril(ctx, matrix(tensor.CSR), 0)
	if err != nil {
		log.Fatal(err)
	}
	show(ops.Prune(ctx, L))
	// Output:
	// 3x4 f64 CSR, 1 stored, fill 0
	// [[2] [0]] [3]
}

// The gaps of the second row are zeros, which take part.
func ExampleTopK() {
	values, places, err := ops.TopK(context.Background(), matrix(tensor.CSR), 2, ops.Axes(1))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.View[float64](values.Values()), tensor.View[int64](places.Values()))
	// Output: [2 1 0 0 4 3] [2 1 0 1 3 0]
}

func ExampleUnique() {
	u, err := ops.Unique(context.Background(), matrix(tensor.CSR))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tensor.View[float64](u.Values.Values()), tensor.View[int64](u.Counts.Values()))
	// Output: [0 1 2 3 4] [8 1 1 1 1]
}

// The running sum changes at the entries only.
func ExampleSteps() {
	ctx := context.Background()
	steps, err := ops.CumSum(ctx, matrix(tensor.CSR), ops.Axes(1), ops.Steps())
	if err != nil {
		log.Fatal(err)
	}
	show(steps, nil)
	show(ops.Repeat(ctx, steps, ops.Axes(1), ops.StoredAs(tensor.Dense(2))))
	// Output:
	// 3x4 f64 CSR, 5 stored, fill 0
	// [[0 0 0 2 2] [0 1 2 0 3]] [0 1 3 3 7]
	// 3x4 f64 D, 12 stored, fill 0
	// [[0 0 0 0 1 1 1 1 2 2 2 2] [0 1 2 3 0 1 2 3 0 1 2 3]] [0 1 3 3 0 0 0 0 3 3 3 7]
}
