package tensor_test

import (
	"fmt"
	"log"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// A matrix of four entries, stored in compressed rows.
func ExampleFromCoords() {
	rows := []int64{2, 0, 1, 0}
	cols := []int64{1, 3, 2, 0}
	values := tensor.ArrayOf([]float64{4, 2, 3, 1})
	a, err := tensor.FromCoords([]int64{3, 4}, tensor.CSR, [][]int64{rows, cols}, values)
	if err != nil {
		fmt.Println(err)
		return
	}
	pointers, _ := a.Pointers(0)
	indices, _ := a.Indices(1)
	fmt.Println(a)
	fmt.Println("pointers_0", tensor.View[uint32](pointers))
	fmt.Println("indices_1 ", tensor.View[uint32](indices))
	fmt.Println("values    ", tensor.View[float64](a.Values()))
	fmt.Println("a(0,3) =", a.At(0, 3), " a(0,1) =", a.At(0, 1))
	// Output:
	// 3x4 f64 CSR, 4 stored, fill 0
	// pointers_0 [0 2 3 4]
	// indices_1  [0 3 2 1]
	// values     [1 2 3 4]
	// a(0,3) = 2  a(0,1) = 0
}

// Existing arrays become a tensor without copying, once they are checked.
func ExampleNewNamed() {
	arrays := map[string]tensor.Array{
		"pointers_0": tensor.ArrayOf([]int32{0, 2, 2}),
		"indices_1":  tensor.ArrayOf([]int32{1, 1}),
	}
	values := tensor.ArrayOf([]float32{1, 2})
	_, err := tensor.NewNamed([]int64{2, 3}, tensor.CSR, arrays, values, tensor.WithName("A"))
	fmt.Println(err)
	// Output:
	// tensor "A", level 1, position 1: indices_1[1] = 1 repeats the coordinate before it: coordinates must be unique
}

// A distance matrix, in which what is not stored is infinitely far.
func ExampleWithFill() {
	inf, _ := tensor.ParseScalar("inf", tensor.Float64)
	d, err := tensor.FromCoords([]int64{2, 2}, tensor.COO, [][]int64{{0}, {1}},
		tensor.ArrayOf([]float64{3}), tensor.WithFill(inf))
	if err != nil {
		fmt.Println(err)
		return
	}
	dense, _ := d.ToDense()
	fmt.Println(tensor.View[float64](dense))
	// Output: [+Inf 3 +Inf +Inf]
}

func ExampleTensor_Convert() {
	a, err := tensor.FromDense([]int64{2, 3}, tensor.CSR, tensor.ArrayOf([]int32{0, 5, 0, 6, 0, 7}))
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := a.Convert(tensor.CSC)
	if err != nil {
		fmt.Println(err)
		return
	}
	coords, values, _ := b.ToCoords()
	fmt.Println(b)
	fmt.Println(coords, tensor.View[int32](values))
	// Output:
	// 2x3 i32 CSC, 3 stored, fill 0
	// [[1 0 1] [0 1 2]] [6 5 7]
}

func ExampleParseFormat() {
	for _, text := range []string{"CSR", "C-S-C", "dss", "CSF[2,0,1]", "S-C-S"} {
		f, err := tensor.ParseFormat(text, -1)
		fmt.Println(f, f.Levels(), f.Order(), err)
	}
	_, err := tensor.ParseFormat("CRS", 2)
	fmt.Println(err)
	// Output:
	// CSR [C S] [0 1] <nil>
	// CSC [C S] [1 0] <nil>
	// C-DC-S [C DC S] [0 1 2] <nil>
	// DC-DC-S[2,0,1] [DC DC S] [2 0 1] <nil>
	// DC-C-S [DC C S] [0 1 2] <nil>
	// unknown format "CRS": did you mean "CSR"? (formats are CSR, CSC, DCSR, DCSC, COO, COOC, CSF, D (dense), levels such as C-DC-S with an optional order such as -R, -C or [2,0,1], or TACO letters such as ds)
}

func ExampleFormat_Physical() {
	f, err := tensor.ParseFormat("C-S-DC-S", 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, level := range f.Physical() {
		fmt.Println(level)
	}
	// Output:
	// dense
	// compressed(nonunique)
	// singleton
	// compressed
}

func ExamplePromote() {
	fmt.Println(tensor.Promote(tensor.Int8, tensor.Uint8), tensor.Promote(tensor.Float32, tensor.Int32))
	// Output: i16 f64
}

// Operations keep explicit zeros; Prune drops them.
func ExampleTensor_Prune() {
	a, err := tensor.FromCoords([]int64{2, 3}, tensor.CSR, [][]int64{{0, 0, 1}, {0, 2, 1}}, tensor.ArrayOf([]float64{1, 0, 2}))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := a.Prune()
	fmt.Println(a)
	fmt.Println(p, err)
	// Output:
	// 2x3 f64 CSR, 3 stored, fill 0
	// 2x3 f64 CSR, 2 stored, fill 0 <nil>
}

func ExampleTensor_Reshape() {
	a, err := tensor.FromCoords([]int64{2, 6}, tensor.CSR, [][]int64{{0, 1}, {5, 2}}, tensor.ArrayOf([]float64{1, 2}))
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := a.Reshape([]int64{2, 2, 3}, tensor.CSF(3))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b)
	fmt.Println(b.At(0, 1, 2), b.At(1, 0, 2))
	// Output:
	// 2x2x3 f64 CSF, 2 stored, fill 0
	// 1 2
}

// The transpose of a matrix in compressed rows is one in compressed columns, of the same
// arrays.
func ExampleTensor_Transpose() {
	a, err := tensor.FromCoords([]int64{2, 6}, tensor.CSR, [][]int64{{0, 1}, {5, 2}}, tensor.ArrayOf([]float64{1, 2}))
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := a.Transpose(nil)
	fmt.Println(b, err)
	// Output: 6x2 f64 CSC, 2 stored, fill 0 <nil>
}

func ExampleConcat() {
	a, err := tensor.FromCoords([]int64{2, 3}, tensor.CSR, [][]int64{{0, 1}, {2, 0}}, tensor.ArrayOf([]float64{1, 2}))
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := tensor.Concat(0, tensor.CSR, a, a)
	if err != nil {
		fmt.Println(err)
		return
	}
	coords, values, _ := b.ToCoords()
	fmt.Println(b)
	fmt.Println(coords, tensor.View[float64](values))
	// Output:
	// 4x3 f64 CSR, 4 stored, fill 0
	// [[0 1 2 3] [2 0 2 0]] [1 2 1 2]
}

// A symmetric matrix, stored as its lower triangle, means the whole.
func ExampleTensor_WithStructure() {
	triangle, err := tensor.FromCoords([]int64{3, 3}, tensor.CSR, [][]int64{{0, 2, 2}, {0, 0, 2}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		log.Fatal(err)
	}
	A, err := triangle.WithStructure(tensor.SymmetricLower)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(A)
	fmt.Println(A.At(2, 0), A.At(0, 2))
	// Output:
	// 3x3 f64 CSR, 3 stored, fill 0, symmetric_lower
	// 2 2
}

// Values at one coordinate are kept apart in a multigraph, and summed where it is read.
func ExampleFormatWith() {
	multigraph, err := tensor.FormatWith([]tensor.LevelKind{tensor.C, tensor.S}, nil, []tensor.LevelFlags{0, tensor.Duplicates})
	if err != nil {
		log.Fatal(err)
	}
	A, err := tensor.FromCoords([]int64{2, 2}, multigraph, [][]int64{{0, 1, 0}, {1, 0, 1}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		log.Fatal(err)
	}
	summed, err := A.Convert(tensor.CSR)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(A, "->", A.At(0, 1))
	fmt.Println(summed)
	// Output:
	// 2x2 f64 C-S(duplicates), 3 stored, fill 0 -> 4
	// 2x2 f64 CSR, 2 stored, fill 0
}

// A matrix in dense blocks of 2×2.
func ExampleTensor_Blocked() {
	A, err := tensor.FromCoords([]int64{3, 4}, tensor.CSR, [][]int64{{0, 1, 2}, {0, 1, 3}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		log.Fatal(err)
	}
	B, err := A.Blocked([]int64{2, 2}, tensor.BSR)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(B)
	fmt.Println(tensor.View[float64](B.Values()))
	// Output:
	// 2x2x2x2 f64 C-S-D-D, 8 stored, fill 0
	// [1 0 0 2 0 3 0 0]
}

// Two fields of the same edges share their index arrays.
func ExampleNewFields() {
	weight, err := tensor.FromCoords([]int64{3, 3}, tensor.CSR, [][]int64{{0, 2}, {1, 0}}, tensor.ArrayOf([]float64{0.5, 2}))
	if err != nil {
		log.Fatal(err)
	}
	color, err := weight.WithValues(tensor.ArrayOf([]uint8{255, 0, 0, 0, 0, 255}), []int64{3})
	if err != nil {
		log.Fatal(err)
	}
	edges, err := tensor.NewFields([]string{"weight", "color"}, []*tensor.Tensor{weight, color})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(edges.Field("color"))
	// Output: 3x3x3 u8 C-S-D, 6 stored, fill 0
}

// Slices that a program has already become a tensor without copying.
func ExampleNewCSR() {
	a, err := tensor.NewCSR([]int64{2, 3}, []int{0, 2, 3}, []int{0, 2, 1}, []float64{1, 2, 3})
	fmt.Println(a, err)

	_, err = tensor.NewCSR([]int64{2, 3}, []int{0, 2, 3}, []int{2, 0, 1}, []float64{1, 2, 3})
	fmt.Println(err)
	// Output:
	// 2x3 f64 CSR, 3 stored, fill 0 <nil>
	// tensor, level 1, position 1: indices_1[1] = 0 follows 2: coordinates must ascend under one parent
}

func ExampleNewCSC() {
	a, err := tensor.NewCSC([]int64{3, 2}, []int{0, 2, 3}, []int{0, 2, 1}, []float64{1, 2, 3})
	fmt.Println(a, err, a.At(1, 1))
	// Output: 3x2 f64 CSC, 3 stored, fill 0 <nil> 3
}

func ExampleNewCOO() {
	a, err := tensor.NewCOO([]int64{2, 3}, [][]int{{0, 0, 1}, {0, 2, 1}}, []float64{1, 2, 3})
	fmt.Println(a, err, a.At(0, 2))
	// Output: 2x3 f64 COO, 3 stored, fill 0 <nil> 2
}

func ExampleNewVector() {
	v, err := tensor.NewVector(1<<40, []int64{7, 1 << 39}, []bool{true, true})
	fmt.Println(v, err, v.At(7))
	// Output: 1099511627776 bool S, 2 stored, fill false <nil> true
}

func ExampleNewDense() {
	x, _ := tensor.NewDense([]float32{1, 2, 3, 4, 5, 6})
	m, err := tensor.NewDense([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	fmt.Println(x)
	fmt.Println(m, err, m.At(1, 0))
	// Output:
	// 6 f32 D, 6 stored, fill 0
	// 2x3 f32 D, 6 stored, fill 0 <nil> 4
}

// Values at one coordinate are summed in their order; those of half precision with more digits, and rounded once.
func ExampleArray_Total() {
	fmt.Println(tensor.ArrayOf([]int8{100, 27, 1}).Total(), tensor.ArrayOf([]bool{false, true}).Total())
	// Output: -128 true
}

// Entries come in storage order, here by columns, whatever the types of the indices.
func ExampleEntries() {
	a, _ := tensor.NewCSC([]int64{3, 2}, []uint8{0, 2, 3}, []uint8{0, 2, 1}, []float32{1, 2, 3})
	for at, v := range tensor.Entries[float64](a) {
		fmt.Println(at, v)
	}
	// Output:
	// [0 0] 1
	// [2 0] 2
	// [1 1] 3
}

// A row of a matrix that is stored by rows is a slice of its values.
func ExampleRow() {
	a, _ := tensor.NewCSR([]int64{2, 3}, []int{0, 2, 3}, []int{0, 2, 1}, []float64{1, 2, 3})
	row, err := tensor.Row[float64](a, 0)
	fmt.Println(row.Values, row.Coord(1), err)
	fmt.Println(row, row.Coords) // their String methods

	_, err = tensor.Column[float64](a, 0)
	fmt.Println(err)
	// Output:
	// [1 2] 2 <nil>
	// [0:1 2:2] [0 2]
	// tensor: format CSR stores axis 1 innermost, not axis 0: convert it first, such as to CSC
}

func ExampleColumn() {
	a, _ := tensor.NewCSC([]int64{3, 2}, []int{0, 2, 3}, []int{0, 2, 1}, []float64{1, 2, 3})
	column, err := tensor.Column[float64](a, 0)
	for i, v := range column.All() {
		fmt.Println(i, v, err)
	}
	// Output:
	// 0 1 <nil>
	// 2 2 <nil>
}

func ExampleFibreAt() {
	a, _ := tensor.NewDense([]int{1, 2, 3, 4, 5, 6, 7, 8}, 2, 2, 2)
	fibre, err := tensor.FibreAt[int](a, 1, 0, -1)
	fmt.Println(fibre.Values, err)
	// Output: [5 6] <nil>
}

// What is stored of a sparse tensor is not all its elements.
func ExampleElements() {
	a, _ := tensor.NewVector(5, []int{1, 4}, []float64{7, 8})
	all, err := tensor.Elements[float64](a)
	fmt.Println(tensor.StoredValues[float64](a))
	fmt.Println(all, err)
	// Output:
	// [7 8]
	// [0 7 0 0 8] <nil>
}

func ExampleAt() {
	a, _ := tensor.NewVector(5, []int{1, 4}, []float32{7, 8})
	x, err := tensor.At[float64](a, 4)
	fmt.Println(x, err)
	_, err = tensor.At[float64](a, 5)
	fmt.Println(err)
	// Output:
	// 8 <nil>
	// tensor: there is no element at [5]: the shape is [5]
}

// Slices and numbers are operands without an error to check.
func ExampleVector() {
	fmt.Println(tensor.Vector([]float32{1, 2}), tensor.Number(3.5).At())
	// Output: 2 f32 D, 2 stored, fill 0 3.5
}

func ExampleNumber() {
	fmt.Println(tensor.Number(true), tensor.Number(2+1i).At())
	// Output: scalar bool D, 1 stored, fill false 2+1i
}

// A new rating, a changed one, and one that is taken back: the other ratings are not copied.
func ExampleUpdate() {
	ratings, _ := tensor.NewCSR([]int64{2, 4}, []int{0, 2, 3}, []int{0, 2, 1}, []float64{5, 4, 3})
	updated, err := tensor.Update(ratings, tensor.Set(1.0, 1, 3), tensor.Set(4.5, 0, 0), tensor.Delete(0, 2))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(updated.At(0, 0), updated.At(0, 2), ratings.At(0, 2))
	fmt.Println(updated)
	// Output:
	// 4.5 0 4
	// 2x4 f64 CSR, 3 stored, fill 0
}

// Formats are made of others: rows in which entries are blocks of 2 by 2, and lists of columns under the rows that have any.
func ExampleStack() {
	blocks, _ := tensor.Stack(nil, tensor.CSR, tensor.Dense(2))
	lists, _ := tensor.Stack([]int{2, 0, 1}, tensor.CSF(1), tensor.Coordinates(2))
	fmt.Println(blocks, blocks.SparseRank(), blocks.HasBlocks(), blocks.AllRows())
	fmt.Println(lists, lists.HasBlocks(), lists.AllRows(), lists.Inner(1).IsCoordinates())
	// Output:
	// C-S-D-D 2 true true
	// DC-S-S[2,0,1] false false true
}

// The format of a slice has no level for an axis that is gone.
func ExampleFormat_Keep() {
	f, _ := tensor.ParseFormat("C-DC-S[2,0,1]", 3)
	fmt.Println(f.Keep([]bool{true, false, true}), f.Outer(2), f.Inner(1))
	// Output: CSC CSC DCSR
}

// A level draws itself: the coordinates of its positions, and the position above each.
func ExampleTensor_Nodes() {
	a, _ := tensor.NewCSR([]int64{2, 3}, []int{0, 2, 3}, []int{0, 2, 1}, []float64{1, 2, 3})
	fmt.Println(a.Nodes(0, 100))
	fmt.Println(a.Nodes(1, 100))
	// Output:
	// [0 1] [0 0] true
	// [0 2 1] [0 0 1] true
}
