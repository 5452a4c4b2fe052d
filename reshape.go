package lacuna

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Reshape gives the elements of a tensor another shape, with the shared session: see
// [Session.Reshape].
func Reshape(ctx context.Context, t *tensor.Tensor, shape []int64, format tensor.Format) (*tensor.Tensor, error) {
	return shared().Reshape(ctx, t, shape, format)
}

// Concat joins tensors along an axis, with the shared session: see [Session.Concat].
func Concat(ctx context.Context, axis int, format tensor.Format, tensors ...*tensor.Tensor) (*tensor.Tensor, error) {
	return shared().Concat(ctx, axis, format, tensors...)
}

// Prune drops the stored entries that equal the fill, with the shared session: see
// [Session.Prune].
func Prune(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	return shared().Prune(ctx, t)
}

// Plain returns a tensor as expressions take it: see [Session.Plain].
func Plain(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	return shared().Plain(ctx, t)
}

// Plain returns a tensor as expressions take it: sorted, and with both triangles. The result is
// that of [tensor.Tensor.Plain], made on the session's device as for [Session.Reshape], and remembered.
func (s *Session) Plain(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if err := s.begin(ctx, t); err != nil {
		return nil, err
	}
	defer t.Unpin()
	return s.plainOperand(ctx, t)
}

// Reshape gives the elements of a tensor, in row-major order, another shape with as many
// elements. The result is that of [tensor.Tensor.Reshape], with index arrays of the usual types where it is made
// on the session's device: there if that has the tensor, and with [WithResidentResults] it stays there.
func (s *Session) Reshape(ctx context.Context, t *tensor.Tensor, shape []int64, format tensor.Format) (*tensor.Tensor, error) {
	if err := s.begin(ctx, t); err != nil {
		return nil, err
	}
	defer t.Unpin()
	here := func() (*tensor.Tensor, error) { return t.Reshape(shape, format, s.within()...) }
	if tensor.CheckReshape(t.Dims(), shape, format) != nil {
		return here() // which says what is wrong
	}
	if shared, ok := t.Reshaped(shape, format); ok {
		return shared, nil
	}
	return s.moved(fmt.Sprintf("reshape %s to %s", t.Format(), format), func(s *Session) (*tensor.Tensor, error) {
		switch {
		case !countable(shape):
			return nil, notForKernels("the shape has more than 2^63-1 elements")
		case keepsBlocks(t.Format()) && !format.IsDense():
			return nil, notForKernels("kernels do not keep the dense blocks of %s", t.Format())
		case t.Format().IsDense() || format.IsDense():
			return s.reshapeDense(ctx, t, shape, format)
		}
		l, err := s.listOf(ctx, t)
		if err != nil {
			return nil, err
		}
		defer l.release()
		l.reshape(slices.Clone(shape))
		return l.store(format)
	}, here, t)
}

// begin checks what calls on a tensor take, and pins it: there must be an Unpin.
func (s *Session) begin(ctx context.Context, t *tensor.Tensor) error {
	if err := s.ready(ctx); err != nil {
		return err
	}
	return t.Pin()
}

// reshapeDense is Reshape by way of all elements in row-major order, whose numbers do not change.
func (s *Session) reshapeDense(ctx context.Context, t *tensor.Tensor, shape []int64, format tensor.Format) (*tensor.Tensor, error) {
	all, err := s.there(ctx, t, tensor.Dense(t.Rank()))
	if err != nil {
		return nil, err
	}
	defer all.Release()
	dense := tensor.Assemble(shape, tensor.Dense(len(shape)), nil, all.Values(), t.Fill())
	defer dense.Release()
	out, err := s.there(ctx, dense, format)
	if err != nil {
		return nil, err
	}
	return renamed(out, t.Name())
}

// keepsBlocks reports whether a format has dense blocks behind levels that are not.
func keepsBlocks(f tensor.Format) bool { return !f.IsDense() && !sparseOnly(f) }

// Concat joins tensors along an axis. The result is that of [tensor.Concat], made on the
// session's device as for [Session.Reshape].
func (s *Session) Concat(ctx context.Context, axis int, format tensor.Format, tensors ...*tensor.Tensor) (*tensor.Tensor, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	here := func() (*tensor.Tensor, error) { return tensor.ConcatWith(axis, format, tensors, s.within()...) }
	if len(tensors) == 0 || slices.Contains(tensors, nil) {
		return here()
	}
	return s.moved(fmt.Sprintf("concatenate %d tensors to %s", len(tensors), format), func(s *Session) (*tensor.Tensor, error) {
		shape, err := tensor.ConcatShape(axis, tensors)
		switch {
		case err != nil:
			return nil, err
		case len(shape) != format.Rank():
			return nil, errPlain
		case format.IsDense():
			return s.concatDense(ctx, axis, shape, format, tensors)
		case !sparseOnly(format) || slices.ContainsFunc(tensors, func(t *tensor.Tensor) bool { return keepsBlocks(t.Format()) }):
			return nil, notForKernels("kernels do not keep dense blocks")
		}
		begin, next := make([]int64, len(tensors)), int64(0)
		for i, t := range tensors {
			begin[i] = next
			next += t.Dims()[axis]
		}
		return s.appended(ctx, tensors, func(l *coordList, i int) { l.name = ""; l.shift(axis, begin[i]) }, shape, format)
	}, here, tensors...)
}

// appended stores the entries of several tensors in one of some shape, after move has given those of
// tensor i their places.
func (s *Session) appended(ctx context.Context, tensors []*tensor.Tensor, move func(l *coordList, i int), shape []int64, format tensor.Format) (*tensor.Tensor, error) {
	var all *coordList
	for i, t := range tensors {
		if t.NNZ() == 0 {
			continue
		}
		l, err := s.listOf(ctx, t)
		if err != nil {
			if all != nil {
				all.release()
			}
			return nil, err
		}
		move(l, i)
		if all == nil {
			all = l
		} else {
			all.add(l)
		}
	}
	if all == nil {
		return emptyOf(shape, format, tensors[0].DType(), tensors[0].Fill())
	}
	defer all.release()
	all.shape = shape
	return all.store(format)
}

// concatDense is Concat to a format of D levels: with the axis first, the tensors stand one
// behind the other.
func (s *Session) concatDense(ctx context.Context, axis int, shape []int64, format tensor.Format, tensors []*tensor.Tensor) (*tensor.Tensor, error) {
	order := []int{axis}
	for k := range shape {
		if k != axis {
			order = append(order, k)
		}
	}
	first, err := tensor.Dense(len(shape)).WithOrder(order)
	if err != nil {
		return nil, err
	}
	var arrays []tensor.Array
	for _, t := range tensors {
		all, err := s.there(ctx, t, first)
		if err != nil {
			return nil, err
		}
		defer all.Release()
		arrays = append(arrays, all.Values())
	}
	values, err := s.concatVectors(ctx, tensors[0].DType(), arrays...)
	if err != nil {
		return nil, err
	}
	out := tensor.Assemble(shape, first, nil, values, tensors[0].Fill())
	defer out.Release()
	return s.there(ctx, out, format)
}

// Prune drops the stored entries that equal the fill. The result is that of [tensor.Tensor.Prune],
// made on the session's device as for [Session.Reshape].
func (s *Session) Prune(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if err := s.begin(ctx, t); err != nil {
		return nil, err
	}
	defer t.Unpin()
	format := t.Format()
	if format.IsDense() {
		return t.Prune()
	}
	if t.NNZ() == 0 {
		return t.Share(), nil
	}
	return s.moved(fmt.Sprintf("prune %s", format), func(s *Session) (*tensor.Tensor, error) {
		if keepsBlocks(format) || !t.IsPlain() {
			return nil, notForKernels("kernels prune sorted tensors without dense blocks, not %s %s", t.Structure(), format)
		}
		l, err := s.listOf(ctx, t)
		if err != nil {
			return nil, err
		}
		defer l.release()
		kept := l.unequal(l.values, t.Fill())
		if l.err == nil && kept.Shape()[0] == t.NNZ() {
			return t.Share(), nil
		}
		l.choose(kept)
		return l.store(format)
	}, func() (*tensor.Tensor, error) { return t.Prune(s.within()...) }, t)
}

// joinedThere stores disjoint parts as one tensor, on the device.
func (s *Session) joinedThere(ctx context.Context, parts []*tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	if slices.ContainsFunc(parts, func(t *tensor.Tensor) bool { return !sparseOnly(t.Format()) }) || !sparseOnly(format) {
		return nil, notForKernels("kernels leave out what equals the fill in dense blocks")
	}
	return s.appended(ctx, parts, func(*coordList, int) {}, parts[0].Shape(), format)
}

// unblockedThere stores a tensor in blocks without them, on the device.
func (s *Session) unblockedThere(ctx context.Context, b *tensor.Blocks, format tensor.Format) (*tensor.Tensor, error) {
	l, err := s.listOf(ctx, b.Blocked())
	if err != nil {
		return nil, err
	}
	defer l.release()
	l.unblock(b.Shape())
	return l.store(format)
}

// moved does on the session's device what moves entries of tensors, if the device has
// one of them, else in this process. Where the device cannot, it is done here too, and
// said.
func (s *Session) moved(op string, there func(*Session) (*tensor.Tensor, error), host func() (*tensor.Tensor, error), tensors ...*tensor.Tensor) (*tensor.Tensor, error) {
	here := func() (*tensor.Tensor, error) {
		out, err := host()
		return out, runtime.Refused("to "+op, err)
	}
	for _, t := range tensors {
		if err := t.Pin(); err != nil {
			return nil, err
		}
		defer t.Unpin()
	}
	if !s.onDevice(tensors...) {
		return here()
	}
	out, err := there(s.resident())
	switch {
	case errors.Is(err, errPlain):
		if why := reasonOf(err); why != "" {
			if err := s.onHost(op, why, tensors...); err != nil {
				return nil, err
			}
		}
		return here()
	case err != nil:
		return nil, err
	case !s.options.Resident:
		if out, err = brought(out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// brought is a tensor in this process's memory alone; t is released.
func brought(t *tensor.Tensor) (*tensor.Tensor, error) {
	out, err := t.MapArrays(func(a tensor.Array) (tensor.Array, error) {
		if err := a.Fetch(); err != nil || a.Remote() == nil {
			return a, err
		}
		return tensor.ArrayAt(a.DType(), a.Pointer(), a.Len()), nil
	})
	t.Release()
	return out, err
}
