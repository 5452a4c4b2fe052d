package ops_test

import (
	"context"
	"testing"

	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests all operations on operands that are unsorted, repeated or one triangle.

// TestOperandsThatAreNotPlain compares each function on a tensor that is unsorted, has
// several values for a coordinate, or is one triangle of a matrix, with the same on its
// plain form.
func TestOperandsThatAreNotPlain(t *testing.T) {
	ctx := context.Background()
	values := tensor.ArrayOf([]float64{1, 2, 3, 4, 5})
	coords := [][]int64{{2, 0, 2, 2, 1}, {0, 0, 1, 1, 0}}
	var operands []*tensor.Tensor
	for _, text := range []string{"CSR(unsorted,duplicates)", "COO(duplicates)", "C-C(duplicates)", "DC(unsorted)-DC(duplicates)", "DC(duplicates)-S"} {
		f, err := tensor.ParseFormat(text, 2)
		if err != nil {
			t.Fatal(err)
		}
		a, err := tensor.FromCoords([]int64{3, 3}, f, coords, values)
		if err != nil {
			t.Fatal(err)
		}
		operands = append(operands, a)
	}
	half, err := tensor.FromCoords([]int64{3, 3}, tensor.CSR, coords, values)
	if err != nil {
		t.Fatal(err)
	}
	if half, err = half.WithStructure(tensor.SymmetricLower); err != nil {
		t.Fatal(err)
	}
	operands = append(operands, half)
	for _, a := range operands {
		plain, err := a.Canonical()
		if err != nil {
			t.Fatal(err)
		}
		for name, f := range map[string]func(a *tensor.Tensor) (*tensor.Tensor, error){
			"Transpose": func(a *tensor.Tensor) (*tensor.Tensor, error) { return ops.Transpose(ctx, a, nil) },
			"Permute":   func(a *tensor.Tensor) (*tensor.Tensor, error) { return ops.Permute(ctx, a, 0, []int64{2, 0, 1}) },
			"Reshape":   func(a *tensor.Tensor) (*tensor.Tensor, error) { return ops.Reshape(ctx, a, []int64{9}) },
			"Concat": func(a *tensor.Tensor) (*tensor.Tensor, error) {
				return ops.Concat(ctx, 1, []*tensor.Tensor{a, a})
			},
			"Prune":    func(a *tensor.Tensor) (*tensor.Tensor, error) { return ops.Prune(ctx, a) },
			"Slice":    func(a *tensor.Tensor) (*tensor.Tensor, error) { return ops.Slice(ctx, a, []ops.Range{ops.From(1)}) },
			"row":      func(a *tensor.Tensor) (*tensor.Tensor, error) { return ops.Slice(ctx, a, []ops.Range{ops.At(2)}) },
			"Diagonal": func(a *tensor.Tensor) (*tensor.Tensor, error) { return ops.Diagonal(ctx, a, -1) },
			"Tril":     func(a *tensor.Tensor) (*tensor.Tensor, error) { return ops.Tril(ctx, a, 0) },
			"Triu":     func(a *tensor.Tensor) (*tensor.Tensor, error) { return ops.Triu(ctx, a, 1) },
			"As":       func(a *tensor.Tensor) (*tensor.Tensor, error) { return ops.Triu(ctx, a, 0, ops.StoredAs(tensor.CSC)) },
		} {
			got, err := f(a)
			if err != nil {
				t.Errorf("%s of %v: %v", name, a, err)
				continue
			}
			want, err := f(plain)
			if err != nil {
				t.Fatal(err)
			}
			x, err := got.ToDense()
			if err != nil {
				t.Fatal(err)
			}
			y, err := want.ToDense()
			if err != nil {
				t.Fatal(err)
			}
			if x.Len() != y.Len() {
				t.Fatalf("%s of %v has %d elements, want %d", name, a, x.Len(), y.Len())
			}
			for i := range x.Len() {
				if !x.Scalar(i).Same(y.Scalar(i)) {
					t.Errorf("%s of %v: element %d is %v, want %v", name, a, i, x.Scalar(i), y.Scalar(i))
				}
			}
		}
	}
}

// A reduction that keeps its axes is stored as the operand, sorted and with one value for each coordinate.
func TestKeepDimsOfFlags(t *testing.T) {
	for text, want := range map[string]string{
		"CSR(unsorted,duplicates)": "CSR", "COO(unsorted,duplicates)": "COO", "C-C(duplicates)": "CSR", "C-DC(duplicates)": "CSR",
		"DC-C(duplicates)": "DCSR", "DC(duplicates)-D": "S-D",
	} {
		f, err := tensor.ParseFormat(text, 2)
		if err != nil {
			t.Fatal(err)
		}
		a, err := tensor.FromCoords([]int64{3, 2}, f, [][]int64{{2, 0, 2, 2}, {0, 0, 1, 1}}, tensor.ArrayOf([]float64{1, 2, 3, 4}))
		if err != nil {
			t.Fatal(err)
		}
		out, err := ops.Sum(t.Context(), a, ops.Axes(1), ops.KeepDims())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if out.Format().String() != want || out.At(0, 0).Float64() != 2 || out.At(1, 0).Float64() != 0 || out.At(2, 0).Float64() != 8 {
			t.Errorf("%s: %v of %v, %v, %v, want %s of 2, 0, 8", text, out, out.At(0, 0), out.At(1, 0), out.At(2, 0), want)
		}
	}
}

// The gradients of functions have the entries of the operand, in its order.
func TestGradientsOfUnsortedOperands(t *testing.T) {
	f, err := tensor.ParseFormat("CSR(unsorted,duplicates)", 2)
	if err != nil {
		t.Fatal(err)
	}
	A, err := tensor.FromCoords([]int64{3, 3}, f, [][]int64{{2, 0, 2, 2, 1}, {1, 0, 0, 1, 0}}, tensor.ArrayOf([]float64{1, 2, 3, 4, 5}))
	if err != nil {
		t.Fatal(err)
	}
	vector := func(list ...float64) *tensor.Tensor {
		v, err := tensor.FromDense([]int64{int64(len(list))}, tensor.Dense(1), tensor.ArrayOf(list))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	column, err := vector(1, 2, 3).Reshape([]int64{3, 1}, tensor.Dense(2))
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		g   func() (*tensor.Tensor, error)
		sum map[[2]int64]float64
	}{
		"Sum":  {func() (*tensor.Tensor, error) { return ops.SumGrad(t.Context(), A, vector(1, 2, 3), ops.Axes(1)) }, map[[2]int64]float64{{0, 0}: 1, {1, 0}: 2, {2, 0}: 3, {2, 1}: 3}},
		"TopK": {func() (*tensor.Tensor, error) { return ops.TopKGrad(t.Context(), A, 1, column, ops.Axes(1)) }, map[[2]int64]float64{{0, 0}: 1, {1, 0}: 2, {2, 1}: 3}},
		"Sort": {func() (*tensor.Tensor, error) {
			return ops.SortGrad(t.Context(), A, vector(0, 0, 0, 0, 0, 1, 2, 3, 4))
		}, map[[2]int64]float64{{0, 0}: 1, {2, 0}: 2, {1, 0}: 3, {2, 1}: 4}},
	} {
		g, err := test.g()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		from, _, err := A.ToCoords()
		if err != nil {
			t.Fatal(err)
		}
		if g.Format() != f || g.Values().Len() != 5 {
			t.Errorf("%s: the gradient is %v", name, g)
			continue
		}
		for e := range 5 {
			at := [2]int64{from[0][e], from[1][e]}
			if v := g.Values().Scalar(e).Float64(); v != test.sum[at] {
				t.Errorf("%s: at %v: %v, want %v", name, at, v, test.sum[at])
			}
		}
	}
}
