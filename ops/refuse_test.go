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
	for want, f := range map[string]func() (*tensor.Tensor, error){
		"Descending": func() (*tensor.Tensor, error) { return ops.Sum(ctx, A, ops.Descending()) },
		"Steps":      func() (*tensor.Tensor, error) { return ops.Max(ctx, A, ops.Steps()) },
		"Reverse":    func() (*tensor.Tensor, error) { return ops.Mean(ctx, A, ops.Reverse()) },
		"With":       func() (*tensor.Tensor, error) { return ops.CumSum(ctx, A, ops.With("hazen")) },
		"Exclusive":  func() (*tensor.Tensor, error) { return ops.Median(ctx, A, ops.Exclusive()) },
		"Smallest":   func() (*tensor.Tensor, error) { return ops.SumGrad(ctx, A, A, ops.Smallest()) },
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want+" means nothing to") {
			t.Errorf("%s: error %v", want, err)
		}
	}
}
