package interop_test

import (
	"fmt"
	"log"

	"github.com/lacuna-sparse/lacuna/tensor"
	"github.com/lacuna-sparse/lacuna/tensor/interop"
)

// The same arrays, as MLIR's sparse_tensor dialect describes them.
func ExampleToMLIR() {
	A, err := tensor.FromCoords([]int64{3, 4}, tensor.COO, [][]int64{{0, 1, 2}, {0, 1, 3}}, tensor.ArrayOf([]float64{1, 2, 3}))
	if err != nil {
		log.Fatal(err)
	}
	m, err := interop.ToMLIR(A)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Encoding)
	// Output:
	// #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed(nonunique), d1 : singleton(soa)), posWidth = 32, crdWidth = 32 }>
}

// Arrays of TACO and MLIR are ours, and the other way round: nothing is copied.
func ExampleFromTACO() {
	A, _ := tensor.NewCSR([]int64{2, 3}, []int32{0, 1, 2}, []int32{2, 0}, []float64{1, 2})
	taco, err := interop.ToTACO(A)
	fmt.Println(taco.Descriptor("A"), tensor.View[int32](taco.Pos[1]), err)
	back, err := interop.FromTACO(&interop.TACO{Modes: "ds", Order: []int{0, 1}, Shape: []int64{2, 3}, Pos: taco.Pos, Crd: taco.Crd, Values: taco.Values})
	fmt.Println(tensor.Equal(back, A), err)
	C, _ := A.Convert(tensor.COO)
	m, err := interop.ToMLIR(C)
	fmt.Println(m.Encoding, err)
	usual, err := m.Interleaved()
	fmt.Println(usual.Encoding, tensor.View[uint32](usual.Coordinates[0]), err)
	same, err := interop.FromMLIR(usual)
	fmt.Println(tensor.Equal(same, C), err)
	// Output:
	// -f=A:ds:0,1 [0 1 2] <nil>
	// true <nil>
	// #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed(nonunique), d1 : singleton(soa)), posWidth = 32, crdWidth = 32 }> <nil>
	// #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 : compressed(nonunique), d1 : singleton), posWidth = 32, crdWidth = 32 }> [0 2 1 0] <nil>
	// true <nil>
}

// Levels of a blocked matrix are quotients and remainders of its axes.
func ExampleToMLIRBlocked() {
	A, _ := tensor.FromCoords([]int64{3, 4}, tensor.CSR, [][]int{{0, 1, 2}, {0, 1, 3}}, tensor.ArrayOf([]float64{1, 2, 3}))
	inner, _ := A.Blocked([]int64{2, 2}, tensor.BSR)
	m, err := interop.ToMLIRBlocked(inner, []int64{3, 4})
	fmt.Println(m.Encoding, err)
	// Output:
	// #sparse_tensor.encoding<{ map = (d0, d1) -> (d0 floordiv 2 : dense, d1 floordiv 2 : compressed, d0 mod 2 : dense, d1 mod 2 : dense), posWidth = 32, crdWidth = 32 }> <nil>
}
