package exec

import (
	"context"
	"sync"

	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// This file says things as users of package lacuna do, for the tests of this package.

var shared = sync.OnceValue(func() *Session { return NewSession() })

func Compile(ctx context.Context, src string, opts ...Option) (*Kernel, error) {
	return shared().Compile(ctx, src, opts...)
}

func Eval(ctx context.Context, src string, args Args, opts ...Option) (*tensor.Tensor, error) {
	return shared().Eval(ctx, src, args, opts...)
}

func (s *Session) Convert(ctx context.Context, t *tensor.Tensor, f tensor.Format) (*tensor.Tensor, error) {
	return s.env.convert.Convert(ctx, t, f)
}

func (s *Session) FromCoords(ctx context.Context, shape []int64, f tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
	return s.env.convert.FromCoords(ctx, shape, f, coords, values, opts...)
}

func (s *Session) ToDevice(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	return s.env.convert.ToDevice(ctx, t)
}

type Option = declare.Option

var (
	Format         = declare.Format
	FormatTriangle = declare.FormatTriangle
	FormatParts    = declare.FormatParts
	Operand        = declare.Operand
	Result         = declare.Result
	ResultType     = declare.ResultType
	Shape          = declare.Shape
	Fill           = declare.Fill
	StrictIEEE     = declare.StrictIEEE
	AsWritten      = declare.AsWritten
)
