// Package ops has operations on whole tensors, called as functions: reductions and scans along axes,
// quantiles, sorting, their gradients, products and sums, softmax, transposition, slices, diagonals,
// triangles, permutations, reshaping, concatenation.
//
//	L, err := ops.Tril(ctx, A, 0)
//	s, err := ops.Sum(ctx, A, ops.Axes(0, -1), ops.KeepDims(), ops.As(tensor.Float64))
//
// The package computes nothing itself. Each function either writes an expression, such as
//
//	R(i,j) = where(j <= i, A(i,j), 0)
//
// and has it compiled and run, or has the session share or move arrays
// about, on its device if it has one. So formats, element types and fills are as free as in expressions; what
// a result stores follows from what the operands store, explicit zeros stay (see [Prune]),
// and nothing larger than operand and result is made along the way.
//
// Every function takes a context, which ends a run early, and options: [StoredAs] stores
// the result in another format than the one the function documents, [In] runs in a
// session of the caller's. The kernel of a slice serves slices elsewhere, too: only what is written with as many
// digits, a first coordinate of 0 and another step make a new one. What would be a loop over slices is
// still better written as one expression over all of them.
package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Option is an optional argument of the functions.
type Option func(*settings)

type settings struct {
	session *lacuna.Session // nil in options: the shared one
	format  *tensor.Format  // nil for the function's choice

	axes                                          []int
	hasAxes, keepDims, stored, exclusive, reverse bool
	keepLevels                                    bool
	dtype                                         tensor.DType // Invalid: that of the operand
	method                                        Method       // "": Linear
	straightThrough                               bool
	descending, smallest, inverse, steps          bool
}

// StoredAs stores the result in a format.
func StoredAs(f tensor.Format) Option { return func(s *settings) { s.format = &f } }

// In runs the operation in a session, with its engine, threads and memory limit; the default
// is the session that [lacuna.Eval] uses.
func In(session *lacuna.Session) Option { return func(s *settings) { s.session = session } }

// Error says which operation cannot be done, and why.
type Error struct {
	Op  string // the function, such as "Slice"
	Err error
}

// Error returns the message with the function before it.
func (e *Error) Error() string { return fmt.Sprintf("ops.%s: %v", e.Op, e.Err) }

// Unwrap returns the reason, such as a *lang.Error or a *tensor.FormatError.
func (e *Error) Unwrap() error { return e.Err }

// operation is one call of a function of this package.
type operation struct {
	settings
	ctx  context.Context
	name string
}

// begin checks what all functions take.
func begin(ctx context.Context, name string, opts []Option, operands ...*tensor.Tensor) (*operation, error) {
	op := &operation{ctx: ctx, name: name}
	for _, o := range opts {
		if o == nil {
			return nil, op.fail(errors.New("an option is nil: leave it out"))
		}
		o(&op.settings)
	}
	if op.session == nil {
		op.session = lacuna.Shared()
	}
	if op.dtype != tensor.Invalid && !op.dtype.Valid() {
		return nil, op.fail(fmt.Errorf("As(%d) is no element type: take one of package tensor, such as tensor.Float64", op.dtype))
	}
	if ctx == nil {
		return nil, op.fail(errors.New("the context is nil: pass context.Background() where there is no other"))
	}
	for _, t := range operands {
		if t == nil || !t.DType().Valid() {
			return nil, op.fail(errors.New("an operand is nil or a zero value: pass a tensor"))
		}
		if t.Released() {
			return nil, op.fail(tensor.ErrReleased)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, op.fail(err)
	}
	return op, nil
}

// fail is an error of the operation, nil if err is nil.
func (op *operation) fail(err error) error {
	if err == nil {
		return nil
	}
	return &Error{op.name, err}
}

func (op *operation) failf(format string, args ...any) error {
	return op.fail(fmt.Errorf(format, args...))
}

// plain is an operand as expressions take it, whose format is one for results too.
func (op *operation) plain(t *tensor.Tensor) (*tensor.Tensor, error) {
	out, err := op.session.Canonical(op.ctx, t)
	return out, op.fail(err)
}

// eval runs a program that makes R of A. R has the fill of A, and is stored in the format that
// the caller asked for.
func (op *operation) eval(program string, args lacuna.Args, opts ...lacuna.Option) (*tensor.Tensor, error) {
	return op.run(program, args, append(opts, lacuna.Fill("R", args["A"].Fill()))...)
}

// convert stores a tensor in a format.
func (op *operation) convert(t *tensor.Tensor, f tensor.Format) (*tensor.Tensor, error) {
	if t.Format() == f {
		return t, nil
	}
	out, err := op.session.Convert(op.ctx, t, f)
	return out, op.fail(err)
}

// reshape gives a tensor another shape.
func (op *operation) reshape(t *tensor.Tensor, shape []int64, f tensor.Format) (*tensor.Tensor, error) {
	out, err := op.session.Reshape(op.ctx, t, shape, f)
	return out, op.fail(err)
}

// concat joins tensors.
func (op *operation) concat(axis int, f tensor.Format, tensors ...*tensor.Tensor) (*tensor.Tensor, error) {
	out, err := op.session.Concat(op.ctx, axis, f, tensors...)
	return out, op.fail(err)
}

// prune drops what equals the fill.
func (op *operation) prune(t *tensor.Tensor) (*tensor.Tensor, error) {
	out, err := op.session.Prune(op.ctx, t)
	return out, op.fail(err)
}

// fromCoords makes a tensor of columns of coordinates.
func (op *operation) fromCoords(shape []int64, f tensor.Format, coords []tensor.Array, values tensor.Array) (*tensor.Tensor, error) {
	out, err := op.session.FromColumns(op.ctx, shape, f, coords, values)
	return out, op.fail(err)
}

// finish stores the result of package tensor in the format that the caller asked for.
func (op *operation) finish(t *tensor.Tensor, err error) (*tensor.Tensor, error) {
	switch {
	case err != nil:
		return nil, op.fail(err)
	case op.format != nil:
		return op.convert(t, *op.format)
	}
	return t, nil
}

// target is the format that the caller asked for, or else the given one.
func (op *operation) target(otherwise tensor.Format) tensor.Format {
	if op.format != nil {
		return *op.format
	}
	return otherwise
}

// vectorOf is an array of a tensor as a dense vector. It reads nothing, wherever the array is:
// [tensor.FromDense] would look for bools that are not 0 or 1.
func vectorOf(values tensor.Array) *tensor.Tensor {
	return tensor.NewTrusted([]int64{int64(values.Len())}, tensor.Dense(1), nil, values, tensor.Zero(values.DType()))
}

// indices are the names of the index variables of a tensor of the given rank.
func indices(rank int) []string {
	names := make([]string, rank)
	for axis := range names {
		names[axis] = fmt.Sprintf("i%d", axis)
	}
	return names
}

// access writes a tensor with its indices.
func access(name string, indices []string) string {
	if len(indices) == 0 {
		return name
	}
	return name + "(" + strings.Join(indices, ",") + ")"
}

// plus writes the sum of an index and a constant.
func plus(index string, k int64) string {
	if k == 0 {
		return index
	}
	return fmt.Sprintf("%s%+d", index, k)
}
