package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Softmax is exp(A) divided by its sum along axes; see [LogSoftmax].
func Softmax(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return softmax(ctx, "Softmax", "exp(%[1]s - %[2]s)", A, opts)
}

// LogSoftmax is A less the logarithm of the sum of its exponentials along axes; integers are computed in f64.
// A gap with a fill of 0 has the weight exp(0), so that the result of a sparse tensor stores every
// element; with [Stored] gaps have no weight, as in torch.sparse, and the result has the
// coordinates of A: what is not stored is 0 for Softmax and -inf for LogSoftmax.
func LogSoftmax(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return softmax(ctx, "LogSoftmax", "%[1]s - %[2]s", A, opts)
}

func softmax(ctx context.Context, name, form string, A *tensor.Tensor, opts []Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, name, opts, A)
	if err != nil {
		return nil, err
	}
	if err := op.refuse("softmax", slices.Concat(op.ofScans(), op.ofSorts(), op.ofQuantiles())...); err != nil {
		return nil, err
	}
	along, err := op.reducedAxes(A.Rank())
	switch {
	case err != nil:
		return nil, err
	case op.keepDims:
		return nil, op.failf("the result keeps its axes: leave KeepDims out")
	case A.Rank() == 0:
		return nil, op.failf("a tensor of rank 0 has no axis")
	}
	if op.elementType(A).IsComplex() {
		return nil, op.failf("complex numbers have no order: take abs, real or imag first")
	}
	dt := op.elementType(A)
	if dt == tensor.Bool || dt.IsInteger() {
		dt = tensor.Float64
	}
	names := indices(A.Rank())
	x := dt.String() + "(" + access("A", names) + ")"
	kept, within := op.leftSide(names, along)
	whole := access("t", kept)
	value := fmt.Sprintf(form, x, whole)
	options := []lacuna.Option{lacuna.ResultType("R", dt)}
	if op.stored && !A.Format().IsDense() {
		empty := "0"
		if name == "LogSoftmax" {
			empty = "-inf"
		}
		value = fmt.Sprintf("where(stored(%s), %s, %s)", access("A", names), value, empty)
		options = append(options, lacuna.Result("R", A.Format().Standard()))
	}
	text := fmt.Sprintf("%s = logsumexp_{%s} %s; %s = %s", whole, strings.Join(within, ","), x, access("R", names), value)
	return op.run(text, lacuna.Args{"A": A}, options...)
}
