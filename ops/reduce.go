package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Sum adds along axes. Bool and integers are added as i64, f16 and bf16 as f32, whatever is
// asked for with [As]. A result of one axis is dense, so that element i of its values is that of row i, unless [StoredAs] or
// [KeepLevels] says otherwise; any other keeps the levels of A that stay, so that what it stores
// are the coordinates of A without the axes: R(i) = sum_j A(i,j).
func Sum(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "Sum", word: "sum"}, A, opts)
}

// Prod multiplies along axes; types are those of [Sum].
func Prod(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "Prod", word: "prod"}, A, opts)
}

// Min is the least element along axes. NaN is less than everything else, and
// there is none of nothing: [ErrEmptyReduction].
func Min(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "Min", word: "min", some: true}, A, opts)
}

// Max is the largest element along axes. NaN is larger than everything else, and there is
// none of nothing: [ErrEmptyReduction].
func Max(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "Max", word: "max", some: true}, A, opts)
}

// Any tells whether some element along axes is not zero; NaN is not. The result is of bool.
func Any(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "Any", word: "any", typ: tensor.Bool}, A, opts)
}

// All tells whether every element along axes is not zero, so that one gap with a fill
// of zero makes it false. The result is of bool.
func All(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "All", word: "all", typ: tensor.Bool}, A, opts)
}

// Count is the number of elements along axes that are not zero, of type i64.
func Count(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "Count", word: "count", typ: tensor.Int64}, A, opts)
}

// Mean is the arithmetic mean along axes, of integers in f64; that of nothing is NaN.
func Mean(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "Mean", word: "mean"}, A, opts)
}

// Var is the variance along axes, of the population: the mean of the squares of the distances
// from the mean. Types are those of [Mean].
func Var(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "Var", word: "var"}, A, opts)
}

// Norm is the square root of the sum of the squared magnitudes along axes, of integers in f64.
func Norm(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "Norm", word: "norm"}, A, opts)
}

// LogSumExp is the logarithm of the sum of the exponentials along axes, without overflow, of integers in
// f64; that of nothing is -inf. A gap with a fill of 0 adds 1 to the sum.
func LogSumExp(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "LogSumExp", word: "logsumexp"}, A, opts)
}

// ArgMin is the position of the first of the least elements along axes, of several axes in
// row-major order, as i64. There is none of nothing: [ErrEmptyReduction].
func ArgMin(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "ArgMin", word: "argmin", some: true, typ: tensor.Int64}, A, opts)
}

// ArgMax is the position of the first of the largest elements along axes, of several axes in
// row-major order, as i64. There is none of nothing: [ErrEmptyReduction].
func ArgMax(ctx context.Context, A *tensor.Tensor, opts ...Option) (*tensor.Tensor, error) {
	return reduce(ctx, reduction{name: "ArgMax", word: "argmax", some: true, typ: tensor.Int64}, A, opts)
}

// reduction is a family of reductions that differ by the word in the expression.
type reduction struct {
	name, word string
	some       bool         // of nothing it has no value
	typ        tensor.DType // of the result, whatever the operand; Invalid if it follows
}

func reduce(ctx context.Context, kind reduction, A *tensor.Tensor, opts []Option) (*tensor.Tensor, error) {
	op, err := begin(ctx, kind.name, opts, A)
	if err != nil {
		return nil, err
	}
	return op.reduce(kind, A)
}

// reduce runs a reduction. Axes of extent 1 are put in afterwards: of R(i,0) = … the planner
// does not know that all of R is assigned.
func (op *operation) reduce(kind reduction, A *tensor.Tensor) (*tensor.Tensor, error) {
	without := *op
	if without.keepDims = false; op.keepDims {
		without.format = nil
	}
	p, err := without.reductionProgram(kind, A)
	if err != nil {
		return nil, err
	}
	out, err := without.run(p.text, lacuna.Args{"A": p.operand}, append(p.options, op.denseVector(p.operand)...)...)
	if err != nil || !op.keepDims {
		return out, op.tooLong(err)
	}
	shape, err := op.keptShape(A)
	if err != nil {
		return nil, err
	}
	f := op.target(A.Format().Standard())
	if out.Rank() == 0 && !f.IsDense() && A.NNZ() > 0 {
		// One number, which is stored even if it equals the fill.
		coords := make([]tensor.Array, len(shape))
		for axis := range coords {
			coords[axis] = tensor.ArrayOf([]int64{0})
		}
		return op.fromCoords(shape, f, coords, out.Values())
	}
	return op.reshape(out, shape, f)
}

// denseVector declares the result dense where one axis of A is left. That of gradients' programs is not declared so: they go over
// what is stored.
func (op *operation) denseVector(A *tensor.Tensor) []lacuna.Option {
	along, err := op.reducedAxes(A.Rank())
	left := 0
	for _, reduced := range along {
		if !reduced {
			left++
		}
	}
	if err != nil || left != 1 || op.keepLevels || op.keepDims || op.format != nil {
		return nil
	}
	return []lacuna.Option{lacuna.Result("R", tensor.Dense(1))}
}

// tooLong adds to the error of a dense vector that there is no memory for what to do about it.
func (op *operation) tooLong(err error) error {
	var limit *runtime.MemoryLimitError
	if !errors.As(err, &limit) || op.keepLevels || op.keepDims || op.format != nil {
		return err
	}
	return fmt.Errorf("%w; with ops.KeepLevels() a vector stores only the coordinates that the operand stores", err)
}

// keptShape is the shape of A with extent 1 along the axes that are reduced.
func (op *operation) keptShape(A *tensor.Tensor) ([]int64, error) {
	along, err := op.reducedAxes(A.Rank())
	if err != nil {
		return nil, err
	}
	shape := A.Shape()
	for axis := range shape {
		if along[axis] {
			shape[axis] = 1
		}
	}
	return shape, nil
}

// program is an expression with its operand and what is declared of its result R.
type program struct {
	text    string
	operand *tensor.Tensor
	options []lacuna.Option
}

// reductionProgram writes R(i) = sum_j A(i,j).
func (op *operation) reductionProgram(kind reduction, A *tensor.Tensor) (program, error) {
	if err := op.refuse("a reduction", slices.Concat(op.ofScans(), op.ofSorts(), op.ofQuantiles())...); err != nil {
		return program{}, err
	}
	if kind.some && op.elementType(A).IsComplex() { // there may be no element to refuse
		return program{}, op.fail(errComplexOrder)
	}
	op, A, along, err := op.withAxes(A)
	if err != nil {
		return program{}, err
	}
	names := indices(A.Rank())
	left, within := op.leftSide(names, along)
	nothing := groupSize(A.Shape(), along) == 0 && kind.some && !op.stored // stored ones have an identity
	value := fmt.Sprintf("%s_{%s} %s", kind.word, strings.Join(within, ","), op.element(names))
	switch {
	case nothing && !emptyResult(A.Shape(), along):
		return program{}, op.fail(fmt.Errorf("%w: the axes of shape %v have no elements", ErrEmptyReduction, A.Shape()))
	case nothing:
		value = fmt.Sprintf("like(%s(0), %s)", op.resultType(kind, A), access("A", zeroed(names, along)))
	}
	p := program{text: access("R", left) + " = " + value, operand: A}
	p.options = append(p.options, lacuna.ResultType("R", op.resultType(kind, A)))
	kept := make([]bool, A.Rank())
	for axis := range kept {
		kept[axis] = !along[axis] || op.keepDims
	}
	if A.Rank() > 0 && len(left) > 0 {
		p.options = append(p.options, lacuna.Result("R", A.Format().Keep(kept)))
	}
	return p, nil
}

// withAxes finds the axes along which a tensor is reduced. One of rank 0 stands as one element along one axis, and has
// none to keep.
func (op *operation) withAxes(A *tensor.Tensor) (*operation, *tensor.Tensor, []bool, error) {
	along, err := op.reducedAxes(A.Rank())
	if err != nil || A.Rank() > 0 {
		return op, A, along, err
	}
	o := *op
	o.keepDims = false
	A, err = A.Reshape([]int64{1}, tensor.Dense(1))
	return &o, A, []bool{true}, op.fail(err)
}

// leftSide lists the indices of the result and those that are reduced.
func (op *operation) leftSide(names []string, along []bool) (left, within []string) {
	for axis, name := range names {
		switch {
		case !along[axis]:
			left = append(left, name)
			continue
		case op.keepDims:
			left = append(left, "0")
		}
		if op.stored {
			name += " in A"
		}
		within = append(within, name)
	}
	return left, within
}

// resultType is the type of a reduction's result.
func (op *operation) resultType(kind reduction, A *tensor.Tensor) tensor.DType {
	dt := op.elementType(A)
	integral := dt == tensor.Bool || dt.IsInteger()
	switch {
	case kind.typ.Valid():
		return kind.typ
	case kind.word == "norm" && dt.IsComplex():
		return dt.Real()
	case op.dtype.Valid() || !integral || kind.word == "min" || kind.word == "max":
		return dt
	case (kind.word == "sum" || kind.word == "prod") && dt == tensor.Uint64:
		return dt
	case kind.word == "sum" || kind.word == "prod":
		return tensor.Int64
	}
	return tensor.Float64
}

// groupSize is 0 if some axis that is reduced has no coordinates, else 1.
func groupSize(shape []int64, along []bool) int64 {
	for axis, n := range shape {
		if along[axis] && n == 0 {
			return 0
		}
	}
	return 1
}

// emptyResult reports whether some axis that stays has no coordinates.
func emptyResult(shape []int64, along []bool) bool {
	for axis, n := range shape {
		if !along[axis] && n == 0 {
			return true
		}
	}
	return false
}

// zeroed are indices with 0 for the axes that are reduced.
func zeroed(names []string, along []bool) []string {
	names = slices.Clone(names)
	for axis := range names {
		if along[axis] {
			names[axis] = "0"
		}
	}
	return names
}
