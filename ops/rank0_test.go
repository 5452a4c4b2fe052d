package ops_test

import (
	"context"
	"testing"

	"github.com/lacuna-sparse/lacuna/ops"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file tests KeepDims of tensors without axes.

// A tensor of rank 0 has no axis that KeepDims could keep, in results and in gradients.
func TestKeepDimsOfRank0(t *testing.T) {
	ctx := context.Background()
	A := tensor.ScalarTensor(tensor.Float(tensor.Float64, 3))
	for name, f := range map[string]func() (*tensor.Tensor, error){
		"sum":      func() (*tensor.Tensor, error) { return ops.Sum(ctx, A, ops.KeepDims()) },
		"quantile": func() (*tensor.Tensor, error) { return ops.Quantile(ctx, A, 0.5, ops.KeepDims()) },
		"median":   func() (*tensor.Tensor, error) { return ops.Median(ctx, A, ops.KeepDims()) },
		"sum grad": func() (*tensor.Tensor, error) { return ops.SumGrad(ctx, A, A, ops.KeepDims()) },
		"max grad": func() (*tensor.Tensor, error) { return ops.MaxGrad(ctx, A, A, ops.KeepDims()) },
	} {
		out, err := f()
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if out.Rank() != 0 {
			t.Errorf("%s has shape %v", name, out.Shape())
		}
	}
}
