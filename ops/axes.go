package ops

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// The mistakes that arguments of reductions, scans and quantiles may have. They are found
// with errors.Is.
var (
	// ErrAxis: an axis that the tensor does not have.
	ErrAxis = errors.New("there is no such axis")
	// ErrAxisTwice: an axis given twice, perhaps once from the end.
	ErrAxisTwice = errors.New("an axis is given twice")
	// ErrNoAxis: an empty list of axes. NumPy takes it for no axis, torch and Paddle for all.
	ErrNoAxis = errors.New("the list of axes is empty: leave Axes out to take all of them")
	// ErrEmptyReduction: a minimum, maximum or quantile of nothing.
	ErrEmptyReduction = errors.New("a reduction over nothing has no value")
)

// Axes says along which axes an operation works: negative ones count from the end, their order
// does not matter. Without it a reduction takes all axes, and a scan runs over all
// elements in row-major order.
func Axes(axes ...int) Option {
	axes = slices.Clone(axes)
	return func(s *settings) { s.axes, s.hasAxes = axes, true }
}

// KeepDims keeps the axes that are reduced, with extent 1.
func KeepDims() Option { return func(s *settings) { s.keepDims = true } }

// As converts the operand to an element type before anything is computed; the result has that type,
// where an operation has no type of its own (as Any has).
func As(dt tensor.DType) Option { return func(s *settings) { s.dtype = dt } }

// KeepLevels makes a reduction that leaves a vector keep the levels of A, so that the result stores the coordinates that A
// stores without the reduced axes. Without it, and without [StoredAs] and [KeepDims], such a vector is dense.
func KeepLevels() Option { return func(s *settings) { s.keepLevels = true } }

// Stored lets only stored entries take part, explicit zeros included. Without it an operation
// means what it means for the tensor written out densely with its fill.
func Stored() Option { return func(s *settings) { s.stored = true } }

// reducedAxes tells for each axis of a tensor of the given rank whether the operation works along it.
func (op *operation) reducedAxes(rank int) ([]bool, error) {
	along := make([]bool, rank)
	if !op.hasAxes {
		for axis := range along {
			along[axis] = true
		}
		return along, nil
	}
	if len(op.axes) == 0 {
		return nil, op.fail(ErrNoAxis)
	}
	for _, a := range op.axes {
		axis, err := op.axis(a, rank)
		switch {
		case err != nil:
			return nil, err
		case along[axis]:
			return nil, op.fail(fmt.Errorf("%w: %d is axis %d", ErrAxisTwice, a, axis))
		}
		along[axis] = true
	}
	return along, nil
}

// axis is the axis of a tensor of the given rank that a caller names; a negative one counts from
// the end.
func (op *operation) axis(a, rank int) (int, error) {
	axis := a
	if a < 0 {
		axis += rank
	}
	if axis < 0 || axis >= rank {
		return 0, op.fail(fmt.Errorf("%w: axis %d of a tensor of rank %d", ErrAxis, a, rank))
	}
	return axis, nil
}

// run evaluates a program, whose result is R unless it says otherwise. The caller's wishes
// about the result come last.
func (op *operation) run(program string, args lacuna.Args, opts ...lacuna.Option) (*tensor.Tensor, error) {
	if op.format != nil {
		opts = append(opts, lacuna.Result("R", *op.format))
	}
	out, err := op.session.Eval(op.ctx, program, args, opts...)
	return out, op.fail(err)
}

// element writes an element of the operand A, converted if the caller wishes.
func (op *operation) element(indices []string) string { return op.cast(access("A", indices)) }

// cast writes the conversion that the caller wishes.
func (op *operation) cast(x string) string {
	if op.dtype.Valid() {
		return fmt.Sprintf("%s(%s)", op.dtype, x)
	}
	return x
}

// elementType is the type that a reduction folds: that of A, or the one that the caller wishes.
func (op *operation) elementType(A *tensor.Tensor) tensor.DType {
	if op.dtype.Valid() {
		return op.dtype
	}
	return A.DType()
}
