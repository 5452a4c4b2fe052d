package ops

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Descending sorts from the greatest element to the least. NaN, which is greater than every number,
// comes first then.
func Descending() Option { return func(s *settings) { s.descending = true } }

// Smallest lets [TopK] take the least elements, the least first.
func Smallest() Option { return func(s *settings) { s.smallest = true } }

// Sort puts the elements along one axis in order, or all elements without [Axes]: the result then
// has one axis. Equal elements stay in their order, NaN comes last. Of a sparse tensor the
// entries are sorted, and the gaps are one run among them; the result is dense, or
// leaves out the lines that store nothing, whose elements are all the fill.
func Sort(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return sorted(ctx, "Sort", "sort", A, opts)
}

// ArgSort tells where along the axis each element of [Sort] came from, as i64.
func ArgSort(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return sorted(ctx, "ArgSort", "argsort", A, opts)
}

// SortGrad is the gradient of [Sort] with respect to A for the same options: upstream, of the shape of
// the result, is its adjoint. The gradient has the type, the format and the coordinates of A.
func SortGrad(ctx context.Context, A, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, "SortGrad", opts, A, upstream)
	if err != nil {
		return nil, err
	}
	l, err := op.sortedLine(A)
	if err != nil {
		return nil, err
	}
	return l.sendBack(A, l.sort("argsort"), upstream)
}

func sorted(ctx context.Context, name, word string, A *tensor.Tensor, opts []Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, name, opts, A)
	if err != nil {
		return nil, err
	}
	l, err := op.sortedLine(A)
	if err != nil {
		return nil, err
	}
	p := l.sort(word)
	return op.run(p.text, lacuna.Args{"A": p.operand}, p.options...)
}

// TopK takes the k largest elements along one axis, or of all elements without [Axes], the largest
// first, or with [Smallest] the k least: values has extent k along the axis, and places, of i64, tells where each was.
// Of equal elements the first come first. NaN is greater than every number. It is an error if there are fewer
// than k elements.
//
// Of a sparse tensor the entries of each line are sorted, and the gaps are one run among them: the cost
// follows the entries and the results. These are dense, but those of matrices and tensors whose rows are not
// stored densely (DCSR, COO, CSF) leave out values of lines that store nothing.
func TopK(ctx context.Context, A *tensor.Tensor, k int64, opts ...Option) (values, places *tensor.Tensor, err error) {
	op, err := begin(ctx, "TopK", opts, A)
	if err != nil {
		return nil, nil, err
	}
	l, err := op.topLine(A, k)
	if err != nil {
		return nil, nil, err
	}
	p := l.top("sort", k)
	if values, err = op.run(p.text, lacuna.Args{"A": p.operand}, p.options...); err != nil {
		return nil, nil, err
	}
	p = l.top("argsort", k)
	places, err = op.run(p.text, lacuna.Args{"A": p.operand}, p.options...)
	return values, places, err
}

// TopKGrad is the gradient of the values of [TopK] with respect to A for the same k and options: each element
// of upstream, of the shape of the values, goes to the element that was taken. The gradient has the type, the
// format and the coordinates of A.
func TopKGrad(ctx context.Context, A *tensor.Tensor, k int64, upstream *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, "TopKGrad", opts, A, upstream)
	if err != nil {
		return nil, err
	}
	l, err := op.topLine(A, k)
	if err != nil {
		return nil, err
	}
	return l.sendBack(A, l.top("argsort", k), upstream)
}

// sendBack adds each element of upstream to the element of the gradient at the place that a program
// gives for it: R(p(i)) += U(i), for the elements that A stores.
func (l lines) sendBack(A *tensor.Tensor, program program, upstream *tensor.Tensor) (*tensor.Tensor, error) {
	dt := A.DType()
	if !dt.IsFloat() {
		return nil, l.failf("the tensor holds %s, and only floats have a gradient: convert it before", dt)
	}
	if l.dtype.Valid() && !l.dtype.IsFloat() {
		return nil, l.fail(fmt.Errorf("%w: As converts them to %s", ErrNotDifferentiable, l.dtype))
	}
	inner := *l.operation
	inner.format = nil
	places, err := inner.run(program.text, lacuna.Args{"A": l.operand}, program.options...)
	if err != nil {
		return nil, err
	}
	if !slices.Equal(upstream.Shape(), places.Shape()) {
		return nil, l.failf("the adjoint has shape %v, and the result has %v", upstream.Shape(), places.Shape())
	}
	// What A stores, zeros in dense blocks too, which A may have lost where it got one axis.
	whole, err := inner.plain(A)
	if err != nil {
		return nil, err
	}
	is, err := tensor.Pattern(whole)
	if err != nil {
		return nil, l.fail(err)
	}
	if is.Rank() != l.operand.Rank() {
		if is, err = l.reshape(is, l.operand.Shape(), reshapedFormat(is, l.operand.Shape())); err != nil {
			return nil, err
		}
	}
	element := access("M", l.names)
	zeros, only := fmt.Sprintf("where(stored(%s), %s(0), 0)", element, dt), fmt.Sprintf("where(stored(%s), %s, 0)", element, access("T", l.names))
	if is.Format().IsDense() {
		zeros, only = fmt.Sprintf("like(%s(0), %s)", dt, element), access("T", l.names)
	}
	at := slices.Clone(l.names)
	at[l.axis] = access("P", l.names)
	text := fmt.Sprintf("%s = %s; %s += %s(%s); %s = %s", access("T", l.names), zeros, access("T", at), dt, access("U", l.names), access("R", l.names), only)
	g, err := inner.run(text, lacuna.Args{"M": is, "P": places, "U": upstream},
		lacuna.Result("R", is.Format()), lacuna.ResultType("R", dt), lacuna.Fill("R", tensor.Zero(dt)))
	if err != nil {
		return nil, err
	}
	return l.shapedLike(g, A)
}

// lines are the elements along one axis of an operand.
type lines struct {
	*operation
	operand *tensor.Tensor
	names   []string // of the indices
	axis    int
}

// lineOf finds the axis that is sorted; without one the elements get one axis, in row-major order.
func (op *operation) lineOf(A *tensor.Tensor) (lines, error) {
	along, err := op.reducedAxes(A.Rank())
	switch {
	case err != nil:
		return lines{}, err
	case op.keepDims:
		return lines{}, op.failf("the result keeps its axes: leave KeepDims out")
	case op.stored:
		return lines{}, op.failf("whole lines are sorted, gaps too: leave Stored out")
	case op.hasAxes && len(op.axes) > 1:
		return lines{}, op.failf("elements are sorted along one axis, or all of them without Axes; %d axes are given", len(op.axes))
	}
	if A, err = op.plain(A); err != nil {
		return lines{}, err
	}
	if !op.hasAxes && A.Rank() != 1 {
		if A, err = op.flat(A); err != nil {
			return lines{}, err
		}
		along = []bool{true}
	}
	l := lines{operation: op, operand: A, names: indices(A.Rank())}
	for axis, is := range along {
		if is {
			l.axis = axis
		}
	}
	return l, nil
}

// sortedLine is lineOf for whole lines.
func (op *operation) sortedLine(A *tensor.Tensor) (lines, error) {
	if err := op.refuse("sorting", slices.Concat(op.ofScans(), op.ofQuantiles(), op.ofUnique(), []given{{"Smallest", op.smallest}})...); err != nil {
		return lines{}, err
	}
	return op.lineOf(A)
}

// topLine is lineOf for the k first elements.
func (op *operation) topLine(A *tensor.Tensor, k int64) (lines, error) {
	if err := op.refuse("the first elements", slices.Concat(op.ofScans(), op.ofQuantiles(), op.ofUnique())...); err != nil {
		return lines{}, err
	}
	if op.descending {
		return lines{}, op.failf("the largest elements come first; Smallest takes the least")
	}
	op.descending = !op.smallest
	l, err := op.lineOf(A)
	if err != nil {
		return lines{}, err
	}
	if n := l.operand.Shape()[l.axis]; k < 0 || k > n {
		return lines{}, op.failf("there are no %d elements to take: the axis has %d", k, n)
	}
	return l, nil
}

// flat is a tensor with one axis that holds all elements, in row-major order.
func (op *operation) flat(A *tensor.Tensor) (*tensor.Tensor, error) {
	size, fits := elements(A.Shape())
	if !fits {
		return nil, op.failf("the tensor has more than 2^63 elements: give an axis")
	}
	return op.reshape(A, []int64{size}, reshapedFormat(A, []int64{size}))
}

// sort writes R(i,j) = sort_j A(i,j).
func (l lines) sort(word string) program {
	return program{fmt.Sprintf("%s = %s", access("R", l.names), l.order(word, 0)), l.operand, l.result(word, 0)}
}

// top writes the first k of R(i,j) = sort_j A(i,j).
func (l lines) top(word string, k int64) program {
	at := slices.Clone(l.names)
	at[l.axis] = ":"
	from := slices.Clone(l.names)
	from[l.axis] = fmt.Sprintf("0:%d", k)
	text := fmt.Sprintf("S%[1]s = %[2]s; %[3]s = %[4]s", access("", l.names), l.order(word, max(k, 1)), access("R", at), access("S", from))
	return program{text, l.operand, l.result(word, max(k, 1))}
}

// order writes the sorting of the lines; first is 0 for whole lines.
func (l lines) order(word string, first int64) string {
	var options []string
	if l.descending {
		options = append(options, "descending")
	}
	if first > 0 && first <= math.MaxInt32 {
		options = append(options, fmt.Sprintf("first=%d", first))
	}
	brackets := ""
	if len(options) > 0 {
		brackets = "[" + strings.Join(options, ", ") + "]"
	}
	return fmt.Sprintf("%s_%s%s %s", word, l.names[l.axis], brackets, l.element(l.names))
}

// result declares the result of a sort: the first elements of lines that are all stored fill a dense tensor.
func (l lines) result(word string, first int64) []lacuna.Option {
	dt := l.elementType(l.operand)
	if word == "argsort" {
		dt = tensor.Int64
	}
	options := []lacuna.Option{lacuna.ResultType("R", dt)}
	levels := l.operand.Format().Physical()
	if first > 0 && (len(levels) == 1 || levels[0].Full() || word == "argsort") {
		options = append(options, lacuna.Result("R", tensor.Dense(len(levels))))
	}
	return options
}
