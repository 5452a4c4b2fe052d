package ops

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Exclusive lets each element of a scan see only those before it: the first is the identity.
func Exclusive() Option { return func(s *settings) { s.exclusive = true } }

// Reverse runs a scan from the end.
func Reverse() Option { return func(s *settings) { s.reverse = true } }

// CumSum adds up along one axis, or over all elements in row-major order without [Axes]:
// the result then has one axis. Types are those of [Sum]. The result is dense, or with
// [Stored] has the coordinates of A.
func CumSum(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return scan(ctx, reduction{name: "CumSum", word: "cumsum"}, A, opts)
}

// CumProd multiplies along one axis; see [CumSum].
func CumProd(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return scan(ctx, reduction{name: "CumProd", word: "cumprod"}, A, opts)
}

// CumMin is the least element so far along one axis; see [CumSum]. NaN stays.
func CumMin(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return scan(ctx, reduction{name: "CumMin", word: "cummin"}, A, opts)
}

// CumMax is the largest element so far along one axis; see [CumSum]. NaN stays.
func CumMax(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return scan(ctx, reduction{name: "CumMax", word: "cummax"}, A, opts)
}

// LogCumSumExp is the logarithm of the sum of the exponentials so far along one axis, without
// overflow; see [CumSum]. The identity is -inf; integers are computed in f64.
func LogCumSumExp(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return scan(ctx, reduction{name: "LogCumSumExp", word: "logcumsumexp"}, A, opts)
}

func scan(ctx context.Context, kind reduction, A *tensor.Tensor, opts []Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, kind.name, opts, A)
	if err != nil {
		return nil, err
	}
	p, err := op.scanProgram(kind, A)
	if err != nil {
		return nil, err
	}
	args := lacuna.Args{"A": p.operand}
	if op.hasAxes || A.Rank() < 2 {
		return op.run(p.text, args, p.options...)
	}
	// The program keeps the axes; the format that the caller asked for is that of the one they become.
	wanted := op.format
	if wanted != nil && wanted.Rank() != 1 {
		return nil, op.failf("the format %s has %d axes, but a scan over all elements gives one: store it as one axis, or give Axes", wanted, wanted.Rank())
	}
	op.format = nil
	out, err := op.run(p.text, args, p.options...)
	if err != nil {
		return nil, err
	}
	out, err = op.flat(out)
	if err != nil || wanted == nil {
		return out, err
	}
	return op.convert(out, *wanted)
}

// scanProgram writes R(i,j) = cumsum_j A(i,j).
func (op *operation) scanProgram(kind reduction, A *tensor.Tensor) (program, error) {
	if err := op.refuse("a scan", slices.Concat(op.ofSorts(), op.ofQuantiles())...); err != nil {
		return program{}, err
	}
	along, err := op.reducedAxes(A.Rank())
	switch {
	case err != nil:
		return program{}, err
	case op.keepDims:
		return program{}, op.failf("a scan keeps its axes: leave KeepDims out")
	case op.steps:
		if err := op.checkSteps(kind, A); err != nil {
			return program{}, err
		}
	}
	if op.hasAxes && len(op.axes) > 1 {
		return program{}, op.failf("a scan runs along one axis, or over all elements without Axes; %d axes are given", len(op.axes))
	}
	if A.Rank() == 0 {
		if A, err = A.Reshape([]int64{1}, tensor.Dense(1)); err != nil {
			return program{}, op.fail(err)
		}
		along = []bool{true}
	}
	names := indices(A.Rank())
	var over, words []string
	for axis, name := range names {
		if !along[axis] {
			continue
		}
		if op.stored || op.steps {
			name += " in A"
		}
		over = append(over, name)
	}
	if op.exclusive {
		words = append(words, "exclusive")
	}
	if op.reverse {
		words = append(words, "reverse")
	}
	brackets := ""
	if len(words) > 0 {
		brackets = "[" + strings.Join(words, ", ") + "]"
	}
	text := fmt.Sprintf("%s = %s_{%s}%s %s", access("R", names), kind.word, strings.Join(over, ","), brackets, op.element(names))
	return program{text, A, []lacuna.Option{lacuna.ResultType("R", op.scanType(kind, A))}}, nil
}

// scanType is the type of a scan's result.
func (op *operation) scanType(kind reduction, A *tensor.Tensor) tensor.DType {
	dt := op.elementType(A)
	integral := dt == tensor.Bool || dt.IsInteger()
	switch {
	case op.dtype.Valid() || !integral || kind.word == "cummin" || kind.word == "cummax" || dt == tensor.Uint64 && kind.word != "logcumsumexp":
		return dt
	case kind.word == "logcumsumexp":
		return tensor.Float64
	}
	return tensor.Int64
}
