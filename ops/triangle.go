package ops

import (
	"context"
	"fmt"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Diagonal takes the k-th diagonal of a matrix as a vector: the elements A(i, i+k), the main
// diagonal for k = 0, one above it for k > 0 and one below for k < 0. Of a tensor with more than
// two axes it takes the diagonals of the last two, which become the last axis of the result.
// A diagonal outside the matrix has no elements. The result is dense if A is, else sparse.
func Diagonal(ctx context.Context, A *tensor.Tensor, k int64, opts ...Option) (*tensor.Tensor, error) {
	op, A, rows, columns, err := beginMatrix(ctx, "Diagonal", opts, A)
	if err != nil {
		return nil, err
	}
	k = max(-rows, min(k, columns))
	length := min(rows-max(-k, 0), columns-max(k, 0))
	left := indices(A.Rank() - 1)
	batch, i := left[:len(left)-1], left[len(left)-1]
	diagonal := func(begin int64) string {
		at := append(batch[:len(batch):len(batch)], plus(i, begin+max(-k, 0)), plus(i, begin+max(k, 0)))
		return access("A", at)
	}
	if direct := k > 0 && length == rows || k < 0 && length == columns || k == 0 && rows == columns; direct {
		return op.eval(access("R", left)+" = "+diagonal(0), lacuna.Args{"A": A})
	}
	// The index must not stand alone, where it would take the extent of the longer axis: so
	// the diagonal begins outside the matrix, and what is too much is cut off.
	begin := int64(1)
	if max(k, -k) == begin {
		begin = 2
	}
	cut := make([]string, len(left))
	all := make([]string, len(left))
	for axis := range left {
		cut[axis], all[axis] = ":", ":"
	}
	cut[len(cut)-1] = fmt.Sprintf("%d:%d", begin, begin+length)
	program := access("T", left) + " = " + diagonal(-begin) + "; " + access("R", all) + " = " + access("T", cut)
	return op.eval(program, lacuna.Args{"A": A})
}

// Tril takes the lower triangle of a matrix: the elements A(i,j) with j <= i+k; the others are
// the fill, and are not stored where the format does not need them. Of a tensor with more
// than two axes it takes the triangles of the last two. The result has the format of A.
func Tril(ctx context.Context, A *tensor.Tensor, k int64, opts ...Option) (*tensor.Tensor, error) {
	return triangle(ctx, "Tril", "<=", A, k, opts)
}

// Triu takes the upper triangle of a matrix: the elements A(i,j) with j >= i+k; see [Tril].
func Triu(ctx context.Context, A *tensor.Tensor, k int64, opts ...Option) (*tensor.Tensor, error) {
	return triangle(ctx, "Triu", ">=", A, k, opts)
}

func triangle(ctx context.Context, name, relation string, A *tensor.Tensor, k int64, opts []Option) (*tensor.Tensor, error) {
	op, A, rows, columns, err := beginMatrix(ctx, name, opts, A)
	if err != nil {
		return nil, err
	}
	k = max(-rows, min(k, columns)) // beyond, nothing changes
	at := indices(A.Rank())
	i, j := at[len(at)-2], at[len(at)-1]
	condition := j + " " + relation + " " + plus(i, k)
	program := fmt.Sprintf("%s = where(%s, %s, %s)", access("R", at), condition, access("A", at), literal(A.Fill()))
	return op.eval(program, lacuna.Args{"A": A}, lacuna.Result("R", A.Format()))
}

// beginMatrix is beginMoving for what is done with matrices, as the last two axes of an operand: it returns that in its plain form, and their extents.
func beginMatrix(ctx context.Context, name string, opts []Option, A *tensor.Tensor) (op *operation, plain *tensor.Tensor, rows, columns int64, err error) {
	if op, err = beginMoving(ctx, name, opts, A); err != nil {
		return nil, nil, 0, 0, err
	}
	if plain, err = op.plain(A); err != nil {
		return nil, nil, 0, 0, err
	}
	shape := plain.Shape()
	if len(shape) < 2 {
		return nil, nil, 0, 0, op.failf("the tensor has %d axes: it must be a matrix, or have one in its last two axes", len(shape))
	}
	return op, plain, shape[len(shape)-2], shape[len(shape)-1], nil
}

// literal writes a value as expressions have it.
func literal(x tensor.Scalar) string {
	part := func(v tensor.Scalar) string {
		if s := v.String(); s != "-0" {
			return s
		}
		return "-0.0" // an integer 0 has no sign
	}
	if !x.DType().IsComplex() {
		return part(x)
	}
	v := x.Complex128()
	return "complex(" + part(tensor.Float(tensor.Float64, real(v))) + ", " + part(tensor.Float(tensor.Float64, imag(v))) + ")"
}
