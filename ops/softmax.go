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
		return op.softmaxOfStored(A, along, fmt.Sprintf("%s = logsumexp_{%s} %s; %s = %s", whole, strings.Join(within, ","), x, access("R", names), value), options)
	}
	text := fmt.Sprintf("%s = logsumexp_{%s} %s; %s = %s", whole, strings.Join(within, ","), x, access("R", names), value)
	return op.run(text, lacuna.Args{"A": A}, options...)
}

// softmaxOfStored runs the program of a softmax over what A stores. If A has all coordinates of no level, neither have the
// sums t: they run through the levels of A that stay, which come first, side by side with A.
func (op *operation) softmaxOfStored(A *tensor.Tensor, along []bool, text string, options []lacuna.Option) (*tensor.Tensor, error) {
	format := A.Format().Standard()
	levels := format.Levels()
	if slices.Contains(levels, tensor.C) || slices.Contains(levels, tensor.D) || !slices.Contains(along, false) {
		return op.run(text, lacuna.Args{"A": A}, append(options, lacuna.Result("R", format))...)
	}
	order := format.Order()
	kept := make([]bool, len(along))
	for axis := range kept {
		kept[axis] = !along[axis]
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case kept[a] == kept[b]:
			return 0
		case kept[a]:
			return -1
		}
		return 1
	})
	front, err := tensor.FormatOf(levels, order)
	if err != nil {
		return nil, op.fail(err)
	}
	plain := *op
	plain.format = nil
	out, err := plain.run(text, lacuna.Args{"A": A}, append(options, lacuna.Result("R", front), lacuna.Result("t", keptLevels(front, kept)))...)
	if err != nil {
		return nil, err
	}
	return op.convert(out, op.target(format))
}
