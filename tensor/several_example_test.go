package tensor_test

import (
	"fmt"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// describe takes whatever an expression takes.
func describe(o tensor.Operand) {
	fmt.Println(o, "in", o.Bytes(), "bytes")
}

// A band beside elements that are scattered, each in the format that suits it, is one operand.
func ExampleNewParts() {
	band, _ := tensor.FromCoords([]int64{4, 4}, tensor.CSR, [][]int{{0, 1, 2, 3}, {0, 1, 2, 3}}, tensor.ArrayOf([]float64{1, 2, 3, 4}))
	scattered, _ := tensor.FromCoords([]int64{4, 4}, tensor.COO, [][]int{{0}, {3}}, tensor.ArrayOf([]float64{9}))
	A, err := tensor.NewParts(band, scattered)
	describe(A)
	fmt.Println(A.At(0, 3), len(A.Parts()), err)
	one, err := A.Expand(tensor.CSC)
	fmt.Println(one, err)
	_, err = tensor.NewParts(band, band)
	fmt.Println(err)
	fmt.Println(tensor.NewTrustedParts(band, scattered)) // what is known to be disjoint is not looked at
	// Output:
	// 4x4 f64, 5 stored in 2 parts (4 CSR, 1 COO), fill 0 in 92 bytes
	// 9 2 <nil>
	// 4x4 f64 CSC, 5 stored, fill 0 <nil>
	// tensor: parts 0 and 1 both store the coordinate (0,0): parts must be disjoint
	// 4x4 f64, 5 stored in 2 parts (4 CSR, 1 COO), fill 0
}

// Mixed formats of the literature are parts that the entries themselves decide.
func ExampleHBCSF() {
	T, _ := tensor.FromCoords([]int64{3, 3, 4}, tensor.CSF(3), [][]int{{0, 1, 1, 2, 2, 2}, {0, 0, 1, 0, 0, 1}, {1, 2, 3, 0, 1, 3}}, tensor.ArrayOf([]float32{1, 2, 3, 4, 5, 6}))
	hybrid, err := tensor.HBCSF(T, nil)
	fmt.Println(hybrid, err)
	mixed, err := tensor.MMCSF(T)
	fmt.Println(mixed, err)
	// Output:
	// 3x3x4 f32, 6 stored in 3 parts (1 COO, 2 DC-S-S, 3 CSF), fill 0 <nil>
	// 3x3x4 f32, 6 stored in 2 parts (5 DC-DC-S[1,2,0], 1 CSF), fill 0 <nil>
}

// A blocked matrix is an operand by its whole indices.
func ExampleNewBlocks() {
	A, _ := tensor.FromCoords([]int64{3, 4}, tensor.CSR, [][]int{{0, 1, 2}, {0, 1, 3}}, tensor.ArrayOf([]float64{1, 2, 3}))
	inner, _ := A.Blocked([]int64{2, 2}, tensor.BSR)
	B, err := tensor.NewBlocks(inner, []int64{3, 4})
	describe(B)
	fmt.Println(B.At(2, 3), err)
	whole, err := B.Expand(tensor.CSR)
	fmt.Println(tensor.Equal(whole, A), err)
	same, err := inner.Unblocked([]int64{3, 4}, tensor.CSR)
	fmt.Println(tensor.Equal(same, A), err)
	// Output:
	// 3x4 f64 in blocks of 2x2, C-S-D-D, 8 stored, fill 0 in 84 bytes
	// 3 <nil>
	// true <nil>
	// true <nil>
}

// Hierarchical coordinates in Z-order, as their paper has them.
func ExampleTensor_MortonOrder() {
	A, _ := tensor.FromCoords([]int64{4, 4}, tensor.COO, [][]int{{0, 0, 1, 2}, {0, 3, 1, 0}}, tensor.ArrayOf([]float64{1, 2, 3, 4}))
	Z, err := A.MortonOrder()
	fmt.Println(Z, tensor.StoredValues[float64](Z), err)
	// Output: 4x4 f64 S(unsorted)-S, 4 stored, fill 0 [1 3 2 4] <nil>
}

// Fibres that are much longer than others are split, so that threads have even shares.
func ExampleWithFibreLimit() {
	split, _ := tensor.ParseFormat("DC(duplicates)-S", 2)
	A, err := tensor.FromCoords([]int64{2, 9}, split, [][]int{{0, 1, 1, 1, 1, 1}, {0, 1, 2, 3, 4, 5}}, tensor.ArrayOf(make([]float64, 6)), tensor.WithFibreLimit(2))
	rows, _ := A.Indices(0)
	fmt.Println(tensor.View[uint32](rows), err)
	// Output: [0 1 1 1] <nil>
}

// What several tensors make together, and how much memory that may take, is known before it is made.
func ExampleConcatWith() {
	A, _ := tensor.NewCSR([]int64{2, 3}, []int{0, 1, 2}, []int{2, 0}, []float64{1, 2})
	list := []*tensor.Tensor{A, A, A}
	shape, err := tensor.ConcatShape(0, list)
	fmt.Println(shape, err)
	B, err := tensor.ConcatWith(0, tensor.CSR, list, tensor.WithName("B"), tensor.WithMemoryLimit(1<<20))
	fmt.Println(B, err)
	_, err = tensor.ConcatWith(0, tensor.Dense(2), list, tensor.WithMemoryLimit(64))
	fmt.Println(err)
	fmt.Println(tensor.ReshapeGroups(shape, []int64{2, 9}, tensor.COO))
	_, err = tensor.ReshapeGroups(shape, []int64{4, 4}, tensor.COO)
	fmt.Println(err)
	x := tensor.Vector([]float64{1, 2, 3, 4, 5, 6})
	y, shares := x.Reshaped([]int64{2, 3}, tensor.Dense(2)) // if that copies nothing
	fmt.Println(y, shares)
	// Output:
	// [6 3] <nil>
	// B: 6x3 f64 CSR, 6 stored, fill 0 <nil>
	// tensor: it takes 144 B; the memory limit is 64 B (option WithMemoryLimit)
	// [[[0 1] [0 1]]] <nil>
	// tensor: cannot reshape 6x3, of 18 elements, to 4x4, of 16 elements: the numbers must be the same
	// 2x3 f64 D, 6 stored, fill 0 true
}

// Coordinates in arrays whose types are known at run time only, such as those of a file.
func ExampleFromColumns() {
	rows, cols := tensor.ArrayOf([]uint8{1, 0, 1}), tensor.ArrayOf([]int64{0, 2, 0})
	A, err := tensor.FromColumns([]int64{2, 3}, tensor.CSR, []tensor.Array{rows, cols}, tensor.ArrayOf([]float32{1, 2, 3}))
	fmt.Println(A, A.At(1, 0), err)
	// Output: 2x3 f32 CSR, 2 stored, fill 0 4 <nil>
}

// The changes that made one matrix of another, made in a copy in another format.
func ExampleTensor_Follow() {
	old, _ := tensor.NewCSR([]int64{2, 3}, []int{0, 1, 2}, []int{2, 0}, []float64{1, 2})
	byColumns, _ := old.Convert(tensor.CSC)
	changed, _ := tensor.Update(old, tensor.Set(5.0, 1, 1), tensor.Delete(0, 2))
	also, ok := changed.Follow(old, byColumns)
	fmt.Println(also, also.At(1, 1), also.At(0, 2), ok)
	// Output: 2x3 f64 CSC, 2 stored, fill 0 5 0 true
}
