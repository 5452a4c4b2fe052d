package ops

import (
	"context"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Steps lets a scan give only the places where its value may change: the coordinates that A stores, in A's format.
// It is the run-length form of a scan whose gaps change nothing, and takes time and memory of the entries,
// however long the lines are. An element that is not stored equals the last one before it along the axis that is, with
// [Reverse] the first one behind it, or the fill of the result, which is the identity of the scan, if there is none.
// [Repeat] writes them out.
//
// It takes a fill that is the identity: 0 for [CumSum], 1 for [CumProd], the greatest and the least value for [CumMin] and
// [CumMax], -inf for [LogCumSumExp]. Values of exclusive scans change behind the entries: leave [Exclusive] out.
func Steps() Option { return func(s *settings) { s.steps = true } }

// checkSteps refuses scans whose values change elsewhere than at the entries of A.
func (op *operation) checkSteps(kind reduction, A *tensor.Tensor) error {
	if op.exclusive {
		return op.failf("the values of exclusive scans change behind the entries: leave Exclusive out")
	}
	want := identityOf(kind.word, op.scanType(kind, A))
	if fill := A.Fill().Convert(op.elementType(A)).Convert(want.DType()); !A.Format().IsDense() && !fill.Same(want) {
		return op.failf("gaps with the fill %s change the values of %s: Steps takes the fill %s", fill, kind.word, want)
	}
	return nil
}

// identityOf is what a scan gives before its first element.
func identityOf(word string, dt tensor.DType) tensor.Scalar {
	switch word {
	case "cumprod":
		return tensor.One(dt)
	case "cummin":
		return ir.Highest(dt)
	case "cummax", "logcumsumexp":
		return ir.Lowest(dt)
	}
	return tensor.Zero(dt)
}

// Repeat writes out what [Steps] gave, or any tensor with gaps: along one axis, or over all elements of a tensor with one axis, every
// element that is not stored gets the last stored one before it, with [Reverse] the first one behind it, or the fill if there
// is none. The result is dense.
func Repeat(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, "Repeat", opts, A)
	if err != nil {
		return nil, err
	}
	others := []given{{"Exclusive", op.exclusive}, {"Steps", op.steps}, {"Stored", op.stored}, {"KeepDims", op.keepDims}}
	if err := op.refuse("repeating elements", slices.Concat(others, op.ofSorts(), op.ofQuantiles())...); err != nil {
		return nil, err
	}
	switch {
	case A.Rank() == 0:
		return nil, op.failf("a tensor of rank 0 has no axis along which elements are repeated: its one element is written out")
	case !op.hasAxes && A.Rank() != 1:
		return nil, op.failf("a tensor with %d axes needs the one along which elements are repeated: Axes(0)", A.Rank())
	}
	l, err := op.lineOf(A)
	if err != nil {
		return nil, err
	}
	k, element := l.names[l.axis], access("A", l.names)
	// The place of the last stored element so far, -1 before the first.
	place := fmt.Sprintf("cummax_%[1]s where(stored(%[2]s), %[1]s, -1)", k, element)
	if op.reverse { // from the end, with places counted down so that the latest is the greatest
		place = fmt.Sprintf("-(cummax_%[1]s[reverse] where(stored(%[2]s), -%[1]s, -9223372036854775807))", k, element)
	}
	if l.operand.Format().IsDense() {
		return op.finish(l.operand.Share(), nil)
	}
	at := append([]string(nil), l.names...)
	at[l.axis] = access("q", l.names)
	fill := tensor.ScalarTensor(A.Fill())
	n := l.operand.Shape()[l.axis]
	text := fmt.Sprintf("%[1]s = %[2]s; %[3]s = where(%[1]s >= 0 and %[1]s < %[4]d, %[1]s, 0); %[5]s = where(%[1]s >= 0 and %[1]s < %[4]d, %[6]s, f)",
		access("p", l.names), place, access("q", l.names), n, access("R", l.names), access("A", at))
	dense := lacuna.Result("R", tensor.Dense(len(l.names)))
	return op.run(text, lacuna.Args{"A": l.operand, "f": fill}, dense, lacuna.ResultType("R", A.DType()))
}
