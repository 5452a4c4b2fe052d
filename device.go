package lacuna

import (
	"context"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// WithResidentResults leaves results in the memory of the device that computed them,
// such as a GPU's: the next kernel finds them there, and they come to this process when
// something reads them. Without a device the option does nothing.
func WithResidentResults() SessionOption { return func(s *Session) { s.options.Resident = true } }

// ToDevice returns the tensor with copies of its arrays in the memory of the session's
// device, where kernels of the session use them without bringing them over again. The
// tensor shares the arrays of t, which it keeps too. The copies are freed by
// [tensor.Tensor.Release], or when the tensor is no longer reachable. The error says that the session's engine has
// no device, or that its memory is short.
func (s *Session) ToDevice(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	var made []*runtime.Resident
	out, err := t.MapArrays(func(a tensor.Array) (tensor.Array, error) {
		if r, ok := a.Remote().(*runtime.Resident); ok && r.On(s.engine) || a.Len() == 0 {
			return a, nil
		}
		r, err := runtime.Upload(ctx, s.engine, a.Pointer(), a.Bytes())
		if err != nil {
			return a, err
		}
		made = append(made, r)
		return a.WithRemote(r), nil
	})
	if err != nil {
		for _, r := range made {
			r.Free()
		}
		return nil, err
	}
	return out, nil
}
