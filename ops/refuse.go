package ops

import (
	"context"
	"errors"
	"slices"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// errComplexOrder refuses complex numbers where elements are compared.
var errComplexOrder = errors.New("complex numbers have no order: take abs, real or imag first")

// given is an option by name, and whether a call has it.
type given struct {
	name string
	is   bool
}

// refuse is an error if a call has an option that means nothing to what it does: ignoring it
// would give another result than was asked for.
func (op *operation) refuse(what string, options ...given) error {
	for _, o := range options {
		if o.is {
			return op.failf("%s means nothing to %s: leave it out", o.name, what)
		}
	}
	return nil
}

// beginMoving is begin for operations that move elements: they take [StoredAs] and [In] alone.
func beginMoving(ctx context.Context, name string, opts []Option, operands ...*tensor.Tensor) (*operation, error) {
	op, err := beginElements(ctx, name, opts, operands...)
	if err != nil {
		return nil, err
	}
	return op, op.refuse(name, given{"As", op.dtype.Valid()})
}

// beginElements is begin for operations that take [As] too, and have no axes to choose.
func beginElements(ctx context.Context, name string, opts []Option, operands ...*tensor.Tensor) (*operation, error) {
	op, err := begin(ctx, name, opts, operands...)
	if err != nil {
		return nil, err
	}
	others := []given{{"Axes", op.hasAxes}, {"KeepDims", op.keepDims}, {"KeepLevels", op.keepLevels}, {"Stored", op.stored}, {"StraightThrough", op.straightThrough}}
	return op, op.refuse(name, slices.Concat(others, op.ofScans(), op.ofSorts(), op.ofQuantiles())...)
}

// ofScans are the options of scans.
func (s *settings) ofScans() []given {
	return []given{{"Exclusive", s.exclusive}, {"Reverse", s.reverse}, {"Steps", s.steps}}
}

// ofSorts are the options of sorts and of unique elements.
func (s *settings) ofSorts() []given {
	return append([]given{{"Descending", s.descending}, {"Smallest", s.smallest}}, s.ofUnique()...)
}

// ofUnique is the option of unique elements.
func (s *settings) ofUnique() []given { return []given{{"Inverse", s.inverse}} }

// ofQuantiles is the option of quantiles.
func (s *settings) ofQuantiles() []given { return []given{{"With", s.method != ""}} }
