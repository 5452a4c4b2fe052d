package tensor_test

import (
	"errors"
	"fmt"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Of a symmetric matrix one triangle need be stored, in half the memory. Expand stores the rest again.
func ExampleStructure() {
	whole, _ := tensor.NewCSR([]int64{3, 3}, []int{0, 2, 3, 5}, []int{0, 2, 1, 0, 2}, []float64{1, 2, 5, 2, 3})
	lower, err := tensor.ParseStructure("symmetric-lower")
	fmt.Println(lower, "lower:", lower.Lower(), "upper:", lower.Upper(), "its transpose:", lower.Transposed(), err)
	half, err := whole.Triangle(lower)
	fmt.Println(half, err)
	fmt.Println(half.At(0, 2), "is stored above:", lower.Stores(0, 2), "below:", lower.Stores(2, 0))
	again, err := half.Expand()
	fmt.Println(tensor.Equal(whole, again), err)
	fmt.Println(tensor.HermitianLower.Mirror(tensor.Complex(tensor.Complex128, 1+2i)), tensor.SkewSymmetricUpper.Mirror(tensor.Float(tensor.Float64, 3)))
	_, err = whole.Triangle(tensor.SkewSymmetricLower)
	fmt.Println(err)
	// Output:
	// symmetric_lower lower: true upper: false its transpose: symmetric_upper <nil>
	// 3x3 f64 CSR, 4 stored, fill 0, symmetric_lower <nil>
	// 2 is stored above: false below: true
	// true <nil>
	// 1-2i -3
	// tensor: not skew_symmetric_lower: the element at (0,0), on the diagonal, is 1: it would have to be its own mirror image -1
}

// Attributes are claims about elements, such as symmetry, that formats and files carry along. They can be found and checked.
func ExampleTensor_FindAttributes() {
	A, _ := tensor.NewCSR([]int64{2, 2}, []int{0, 1, 2}, []int{1, 0}, []float64{7, 7})
	a, err := A.FindAttributes()
	fmt.Println(a, err)
	fmt.Println(a.Properties.Has(tensor.Symmetric|tensor.Iso), a.Properties.Has(tensor.UpperTriangular), a.Properties.Has(tensor.DiagonalKnown), a.Diagonal)
	claimed, err := A.WithAttributes(tensor.Attributes{Properties: tensor.PatternSymmetric | tensor.LowerTriangular})
	fmt.Println(claimed.Attributes(), err)
	fmt.Println(claimed.CheckAttributes())
	byColumns, _ := A.Convert(tensor.CSC)
	fmt.Println(byColumns.WithAttributesOf(claimed).Attributes())
	// Output:
	// symmetric pattern-symmetric iso diagonal=0 <nil>
	// true false true 0
	// pattern-symmetric lower-triangular <nil>
	// tensor: it is claimed to be lower-triangular, but the element at (0,1) is 7
	// pattern-symmetric lower-triangular
}

// Where a matrix has entries, whatever their values: for masks, and to compare.
func ExamplePattern() {
	A, _ := tensor.NewCSR([]int64{2, 3}, []int{0, 1, 2}, []int{2, 0}, []float64{0.5, 3})
	B, _ := A.WithValues(tensor.ArrayOf([]int8{1, 2}), nil)
	P, err := tensor.Pattern(A)
	fmt.Println(P, P.At(0, 2), P.At(0, 0), err)
	fmt.Println(tensor.SameStructure(A, B), tensor.Equal(A, B))
	fmt.Println(tensor.Diff(A, B))
	// Output:
	// 2x3 bool CSR, 2 stored, fill false true false <nil>
	// true false
	// element type f64, want i8
}

// Statistics of the lengths of rows, and of entries along the axes, by which programs are planned.
func ExampleTensor_Statistics() {
	A, _ := tensor.NewCSR([]int64{4, 3}, []int{0, 3, 3, 4, 5}, []int{0, 1, 2, 1, 1}, []float64{1, 2, 3, 4, 5})
	rows, err := A.FibreLengths(1)
	fmt.Println(rows.Fibres, "rows,", rows.Empty, "empty, with", rows.Min, "to", rows.Max, "entries,", rows.Mean, "on average", err)
	s, ok := A.Statistics()
	fmt.Println(s.Entries, s.Finite, s.NonNegative, ok)
	for axis, a := range s.Axes {
		fmt.Println("axis", axis, "has", a.NonEmpty, "of", a.Extent, "with entries,", a.Longest, "at most")
	}
	B, _ := A.WithValues(tensor.ArrayOf([]float64{5, 4, 3, 2, 1}), nil)
	other, _ := B.Statistics()
	fmt.Println("planned alike:", s.Class() == other.Class(), "as if with", s.Rounded().Entries, "entries")
	C, _ := A.WithValues(tensor.ArrayOf([]float64{-5, 4e9, 3, 2, 1}), nil)
	large, _ := C.Statistics()
	o, ok := C.Outline()
	of, _ := A.Outline()
	fmt.Println("by values:", s.Class() == large.Class(), "without:", o.Class() == of.Class(), o.Entries, "entries", ok)
	// Output:
	// 4 rows, 1 empty, with 0 to 3 entries, 1.25 on average <nil>
	// 5 true true true
	// axis 0 has 3 of 4 with entries, 3 at most
	// axis 1 has 3 of 3 with entries, 3 at most
	// planned alike: true as if with 4 entries
	// by values: false without: true 5 entries true
}

// Who can compute where a tensor is describes it, if it is not here: a session of the GPU's does. This one is here.
func ExampleTensor_StatisticsBy() {
	A, _ := tensor.NewCSR([]int64{2, 3}, []int{0, 2, 3}, []int{0, 2, 1}, []float64{1, 2, 5})
	s, ok := A.StatisticsBy(func() (*tensor.Statistics, error) { return nil, errors.New("it is not asked") })
	fmt.Println(s.Entries, ok)
	// Output: 3 true
}

// The coordinates of a tensor too large to list at once come part by part.
func ExampleTensor_Window() {
	A, _ := tensor.NewCSR([]int64{3, 3}, []int{0, 2, 3, 5}, []int{0, 2, 1, 0, 2}, []float64{1, 2, 5, 2, 3})
	w, values := A.Window(), tensor.StoredValues[float64](A)
	for lo := 0; lo < len(values); lo += 2 {
		hi := min(lo+2, len(values))
		fmt.Println(w.Coords(lo, hi), values[lo:hi])
	}
	// Output:
	// [[0 0] [0 2]] [1 2]
	// [[1 2] [1 0]] [5 2]
	// [[2] [2]] [3]
}
