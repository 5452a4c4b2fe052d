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
	return softmax(ctx, "Softmax", "exp(%[1]s - %[2]s) / %[3]s", A, opts)
}

// LogSoftmax is A less the logarithm of the sum of its exponentials along axes; integers are computed in f64,
// f16 and bf16 in f32. One number without axes is taken for a vector of one element, as in
// torch: its axis is 0 or -1.
// A gap with a fill of 0 has the weight exp(0), so that the result of a sparse tensor stores every
// element; with [Stored] gaps have no weight, as in torch.sparse, and the result has the
// coordinates of A: what is not stored is 0 for Softmax and -inf for LogSoftmax.
func LogSoftmax(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return softmax(ctx, "LogSoftmax", "(%[1]s - %[2]s) - log(%[3]s)", A, opts)
}

func softmax(ctx context.Context, name, form string, A *tensor.Tensor, opts []Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, name, opts, A)
	if err != nil {
		return nil, err
	}
	if err := op.refuse("softmax", slices.Concat(op.ofScans(), op.ofSorts(), op.ofQuantiles())...); err != nil {
		return nil, err
	}
	if op.keepDims {
		return nil, op.failf("the result keeps its axes: leave KeepDims out")
	}
	if A.Rank() == 0 {
		for _, axis := range op.axes {
			if axis != 0 && axis != -1 {
				return nil, op.fail(fmt.Errorf("%w: axis %d of one number, which has the axis 0 or -1", ErrAxis, axis))
			}
		}
		line, err := A.Reshape([]int64{1}, tensor.Dense(1))
		if err != nil {
			return nil, op.fail(err)
		}
		of := *op
		of.format = nil
		out, err := of.softmax(form, line)
		if err != nil {
			return nil, err
		}
		return op.finish(out.Reshape(nil, tensor.Dense(0)))
	}
	return op.softmax(form, A)
}

// softmax is that of a tensor with axes.
func (op *operation) softmax(form string, A *tensor.Tensor) (*tensor.Tensor, error) {
	along, err := op.reducedAxes(A.Rank())
	if err != nil {
		return nil, err
	}
	if op.elementType(A).IsComplex() {
		return nil, op.fail(errComplexOrder)
	}
	dt := op.elementType(A)
	if dt == tensor.Bool || dt.IsInteger() {
		dt = tensor.Float64
	}
	// What is computed of halves is kept in f32 up to the result.
	work := dt
	if dt == tensor.Float16 || dt == tensor.BFloat16 {
		work = tensor.Float32
	}
	names := indices(A.Rank())
	x := work.String() + "(" + op.element(names) + ")"
	kept, within := op.leftSide(names, along)
	// The logarithm of a sum far from 0 is rounded by more than the differences that count: it only
	// keeps the exponentials from overflowing, and what they add up to then is divided by.
	shift, sum := access("t", kept), access("u", kept)
	value := fmt.Sprintf(form, x, shift, sum)
	options := []lacuna.Option{lacuna.ResultType("R", dt), lacuna.ResultType("t", work), lacuna.ResultType("u", work)}
	over := strings.Join(within, ",")
	program := func() string {
		return fmt.Sprintf("%[1]s = logsumexp_{%[2]s} %[3]s; %[4]s = sum_{%[2]s} exp(%[3]s - %[1]s); %[5]s = %[6]s", shift, over, x, sum, access("R", names), value)
	}
	if op.stored && !A.Format().IsDense() {
		empty := "0"
		if op.name == "LogSoftmax" {
			empty = "-inf"
		}
		value = fmt.Sprintf("where(stored(%s), %s, %s)", access("A", names), value, empty)
		return op.softmaxOfStored(A, along, program(), options)
	}
	return op.run(program(), lacuna.Args{"A": A}, options...)
}

// softmaxOfStored runs the program of a softmax over what A stores. If A has all coordinates of no level, neither have the
// sums: they run through the levels of A that stay, which come first, side by side with A.
func (op *operation) softmaxOfStored(A *tensor.Tensor, along []bool, text string, options []lacuna.Option) (*tensor.Tensor, error) {
	format := A.Format().Standard()
	if slices.ContainsFunc(format.Physical(), tensor.LevelType.Full) || !slices.Contains(along, false) {
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
	front, err := format.WithOrder(order)
	if err != nil {
		return nil, op.fail(err)
	}
	plain := *op
	plain.format = nil
	out, err := plain.run(text, lacuna.Args{"A": A}, append(options, lacuna.Result("R", front), lacuna.Result("t", front.Keep(kept)), lacuna.Result("u", front.Keep(kept)))...)
	if err != nil {
		return nil, err
	}
	return op.convert(out, op.target(format))
}
