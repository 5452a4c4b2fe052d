package main

import (
	"context"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// convert and fromCoords are the conversions that the benchmark measures. Those
// of package tensor do the same without kernels, on one thread.

func convert(ctx context.Context, s *lacuna.Session, t *tensor.Tensor, f tensor.Format) (*tensor.Tensor, error) {
	return s.Convert(ctx, t, f)
}

func fromCoords(ctx context.Context, s *lacuna.Session, shape []int64, f tensor.Format, coords []tensor.Array, vals tensor.Array) (*tensor.Tensor, error) {
	return s.FromColumns(ctx, shape, f, coords, vals)
}
