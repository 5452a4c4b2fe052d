package ops

import (
	"context"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// Reshape gives the elements, in row-major order, another shape with as many elements: see
// [tensor.Tensor.Reshape]. Without [StoredAs] the result has the format of A if it has as many
// axes. Else a dense tensor stays dense and a list of coordinates one; other tensors
// become CSF. Trailing dense levels stay if the shape keeps their extents.
func Reshape(ctx context.Context, A *tensor.Tensor, shape []int64, opts ...Option) (*tensor.Tensor, error) {
	op, err := beginMoving(ctx, "Reshape", opts, A)
	if err != nil {
		return nil, err
	}
	if len(shape) > tensor.MaxRank {
		return nil, op.failf("the shape has %d axes: a tensor has at most %d", len(shape), tensor.MaxRank)
	}
	return op.reshape(A, shape, op.target(reshapedFormat(A, shape)))
}

// reshapedFormat is the format for a tensor in another shape.
func reshapedFormat(A *tensor.Tensor, shape []int64) tensor.Format {
	f, rank := A.Format(), len(shape)
	switch {
	case rank == f.Rank():
		return f
	case f.IsDense():
		return tensor.Dense(rank)
	}
	order, from := f.Order(), A.Shape()
	dense := 0 // trailing dense levels that stay
	for dense < rank-1 && dense < f.Rank()-f.SparseRank() && order[len(order)-1-dense] == len(order)-1-dense &&
		from[len(from)-1-dense] == shape[rank-1-dense] {
		dense++
	}
	sparse := tensor.CSF(rank - dense)
	if n := f.SparseRank(); slices.Equal(f.Levels()[:n], tensor.Coordinates(n).Levels()) {
		sparse = tensor.Coordinates(rank - dense)
	}
	return mustStack(nil, sparse, tensor.Dense(dense))
}

// mustStack is tensor.Stack for parts and an order that go together.
func mustStack(order []int, parts ...tensor.Format) tensor.Format {
	f, err := tensor.Stack(order, parts...)
	if err != nil {
		panic("BUG: format of a result: " + err.Error())
	}
	return f
}

// Concat joins tensors along an axis, which counts from the end if it is negative: see [tensor.Concat]. Without [StoredAs] the result has the
// format of the first.
func Concat(ctx context.Context, axis int, tensors []*tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	op, err := beginMoving(ctx, "Concat", opts, tensors...)
	if err != nil {
		return nil, err
	}
	var first tensor.Format
	if len(tensors) > 0 {
		first = tensors[0].Format()
		if axis, err = op.axis(axis, first.Rank()); err != nil {
			return nil, err
		}
	}
	return op.concat(axis, op.target(first), tensors...)
}

// Prune drops the stored entries that equal the fill, such as explicit zeros, which all other
// operations keep: see [tensor.Tensor.Prune].
func Prune(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	op, err := beginMoving(ctx, "Prune", opts, A)
	if err != nil {
		return nil, err
	}
	out, err := op.prune(A)
	if err != nil {
		return nil, err
	}
	return op.finish(out, nil)
}
