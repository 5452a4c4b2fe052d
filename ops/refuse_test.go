package ops_test

import (
	"context"
	"strings"
	"testing"

	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Options that mean nothing to an operation are refused by name.
func TestMeaninglessOptions(t *testing.T) {
	ctx := context.Background()
	A, err := tensor.FromDense([]int64{3}, tensor.Dense(1), tensor.ArrayOf([]float64{1, 3, 2}))
	if err != nil {
		t.Fatal(err)
	}
	of := func(_ *tensor.Tensor, _ *tensor.Tensor, err error) (*tensor.Tensor, error) { return nil, err }
	for want, f := range map[string]func() (*tensor.Tensor, error){
		"Descending": func() (*tensor.Tensor, error) { return ops.Sum(ctx, A, ops.Descending()) },
		"Steps":      func() (*tensor.Tensor, error) { return ops.Max(ctx, A, ops.Steps()) },
		"Reverse":    func() (*tensor.Tensor, error) { return ops.Mean(ctx, A, ops.Reverse()) },
		"With":       func() (*tensor.Tensor, error) { return ops.CumSum(ctx, A, ops.With("hazen")) },
		"Exclusive":  func() (*tensor.Tensor, error) { return ops.Median(ctx, A, ops.Exclusive()) },
		"Smallest":   func() (*tensor.Tensor, error) { return ops.SumGrad(ctx, A, A, ops.Smallest()) },

		"Median: Reverse means nothing to a median":                        func() (*tensor.Tensor, error) { return ops.Median(ctx, A, ops.Reverse()) },
		"Median: complex numbers have no order":                            func() (*tensor.Tensor, error) { return ops.Median(ctx, A, ops.As(tensor.Complex128)) },
		"MedianGrad: complex numbers have no order":                        func() (*tensor.Tensor, error) { return ops.MedianGrad(ctx, A, A, ops.As(tensor.Complex128)) },
		"MedianGrad: upstream has shape [3], but the result has shape [1]": func() (*tensor.Tensor, error) { return ops.MedianGrad(ctx, A, A, ops.KeepDims()) },
		"SumGrad: upstream has 1 dimension, but the result has 0":          func() (*tensor.Tensor, error) { return ops.SumGrad(ctx, A, A) },
		"axis 1 of one number, which has the axis 0 or -1": func() (*tensor.Tensor, error) {
			return ops.Softmax(ctx, tensor.ScalarTensor(tensor.Float(tensor.Float64, 3)), ops.Axes(1))
		},
		"Smallest means nothing to sorting":           func() (*tensor.Tensor, error) { return ops.Sort(ctx, A, ops.Smallest()) },
		"Reverse means nothing to sorting":            func() (*tensor.Tensor, error) { return ops.SortGrad(ctx, A, A, ops.Reverse()) },
		"Inverse means nothing to the first elements": func() (*tensor.Tensor, error) { return of(ops.TopK(ctx, A, 1, ops.Inverse())) },
		"Exclusive means nothing to unique elements":  func() (*tensor.Tensor, error) { return nil, second(ops.Unique(ctx, A, ops.Exclusive())) },
		"With means nothing to unique elements":       func() (*tensor.Tensor, error) { return nil, second(ops.UniqueAlong(ctx, A, 0, ops.With("lower"))) },
		"Stored means nothing to repeating elements":  func() (*tensor.Tensor, error) { return ops.Repeat(ctx, A, ops.Stored()) },
		"Steps means nothing to softmax":              func() (*tensor.Tensor, error) { return ops.Softmax(ctx, A, ops.Steps()) },
		"As means nothing to Transpose":               func() (*tensor.Tensor, error) { return ops.Transpose(ctx, A, nil, ops.As(tensor.Float32)) },
		"Stored means nothing to Slice":               func() (*tensor.Tensor, error) { return ops.Slice(ctx, A, nil, ops.Stored()) },
		"Axes means nothing to Reshape":               func() (*tensor.Tensor, error) { return ops.Reshape(ctx, A, []int64{3, 1}, ops.Axes(0)) },
		"Stored means nothing to Add":                 func() (*tensor.Tensor, error) { return ops.Add(ctx, A, A, ops.Stored()) },
		"KeepDims means nothing to MatMul":            func() (*tensor.Tensor, error) { return ops.MatMul(ctx, A, A, ops.KeepDims()) },
		"Axes means nothing to Einsum":                func() (*tensor.Tensor, error) { return ops.Einsum(ctx, "i", []*tensor.Tensor{A}, ops.Axes(0)) },
		"Inverse means nothing here":                  func() (*tensor.Tensor, error) { return nil, second(ops.UniqueAlong(ctx, A, 0, ops.Inverse())) },
		"rank 0 has no axis along which elements are repea": func() (*tensor.Tensor, error) {
			return ops.Repeat(ctx, tensor.ScalarTensor(tensor.Int(tensor.Int64, 3)))
		},
	} {
		if !strings.Contains(want, " ") {
			want += " means nothing to"
		}
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
}
