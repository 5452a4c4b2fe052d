package convert

import (
	"context"
	"errors"
	"fmt"
	"github.com/lacuna-sparse/lacuna/internal/cost"
	"slices"
	"strings"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Where a conversion is done: on the session's device, which may have the tensors, or on the processor instead, which
// is said.

// HostError says that an operation on tensors that only the session's device has cannot be
// done there. A session that gives notice (lacuna.WithNotice) lets the session do it on the processor; so does fetching the tensors
// first ([tensor.Tensor.Fetch]).
type HostError struct {
	Op     string // what was to be done, such as "convert CSR to S-S{unsorted}"
	Engine string // the name of the session's engine
	Why    string // what the device cannot do
	Bytes  int64  // how much would have to come from the device
}

// Error says what to do instead.
func (e *HostError) Error() string {
	return fmt.Sprintf("engine %s cannot %s: %s; to have it done on the processor, fetch the operand first (Tensor.Fetch), which brings %d bytes here, or make the session with lacuna.WithNotice",
		e.Engine, e.Op, e.Why, e.Bytes)
}

// place does on the session's device what moves entries of tensors, if the device has
// one of them, else in this process. Where the device cannot, it is done here too, and
// said.
//
// Either is the same conversion, by kernels, which leaves its result there or here; plain does without, here, what no kernel is for, or not
// worth one.
func (s *Service) place(op string, by func(c *conversion) (*tensor.Tensor, error), plain func() (*tensor.Tensor, error), tensors ...*tensor.Tensor) (*tensor.Tensor, error) {
	here := func() (*tensor.Tensor, error) {
		out, err := by(s.begin(false))
		if errors.Is(err, errFallback) {
			out, err = plain()
		}
		return out, runtime.Refused("to "+op, err)
	}
	for _, t := range tensors {
		if err := t.Pin(); err != nil {
			return nil, err
		}
		defer t.Unpin()
	}
	if !s.placed(tensors...) {
		return here()
	}
	out, err := by(s.remote())
	switch {
	case errors.Is(err, errFallback):
		if why := reasonOf(err); why != "" {
			if err := s.onHost(op, why, tensors...); err != nil {
				return nil, err
			}
		}
		return here()
	case err != nil:
		return nil, err
	case !s.Options.Resident:
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

// placed reports whether the session's device has arrays of one of the tensors, and
// they are long or nowhere else.
func (s *Service) placed(tensors ...*tensor.Tensor) bool {
	there := func(a tensor.Array) bool {
		r, ok := a.Remote().(*runtime.Resident)
		return ok && r.On(s.Engine) && (a.Len() >= cost.FewEntries || !a.Fetched())
	}
	return s.OnGrids() && slices.ContainsFunc(tensors, func(t *tensor.Tensor) bool {
		return there(t.Values()) || slices.ContainsFunc(t.Levels(), func(l tensor.Level) bool { return there(l.Pos) || there(l.Crd) })
	})
}

// onHost is called before the processor does what the session's device might have done. The
// error says that it must not; after it, the tensors are here.
func (s *Service) onHost(op, why string, tensors ...*tensor.Tensor) error {
	away := int64(0)
	for _, t := range tensors {
		away += bytesAway(t)
	}
	return fetch(s, op, why, away, tensors)
}

// fetchFor is onHost for arrays that are no tensor yet.
func (s *Service) fetchFor(op, why string, arrays []tensor.Array) error {
	away := int64(0)
	for _, a := range arrays {
		if !a.Fetched() {
			away += a.Bytes()
		}
	}
	if away == 0 {
		return nil
	}
	return fetch(s, op, why, away, arrays)
}

// fetch brings what an operation on the processor takes, of which so many bytes are away, and gives a note of it.
func fetch[T interface{ Fetch() error }](s *Service, op, why string, away int64, list []T) error {
	switch {
	case !s.OnGrids() || s.Notice == nil && away == 0:
		return nil
	case s.Notice == nil:
		return &HostError{Op: op, Engine: s.Engine.Name(), Why: why, Bytes: away}
	}
	for _, x := range list {
		if err := x.Fetch(); err != nil {
			return err
		}
	}
	note := fmt.Sprintf("the processor, not engine %s, has to %s: %s", s.Engine.Name(), op, why)
	if away > 0 {
		note += fmt.Sprintf("; %d bytes came from the device", away)
	}
	s.Notice(note)
	return nil
}

// bytesAway is how much of a tensor is not in this process's memory, in bytes.
func bytesAway(t *tensor.Tensor) (n int64) {
	count := func(a tensor.Array) {
		if !a.Fetched() {
			n += a.Bytes()
		}
	}
	for _, l := range t.Levels() {
		count(l.Pos)
		count(l.Crd)
	}
	count(t.Values())
	return n
}

// outsideReason is why a list of coordinates is none for kernels that one of them is outside of.
const outsideReason = "a coordinate is out of range, and the processor says which"

// flagsReason is why no kernel makes tensors in a format with flags.
func flagsReason(format tensor.Format) string {
	return fmt.Sprintf("kernels make sorted tensors, not %s", format)
}

// errFallback says that a conversion is not one for a kernel.
var errFallback = errors.New("not worth a kernel")

// fallback is errFallback with the reason.
func fallback(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errFallback, fmt.Sprintf(format, args...))
}

// reasonOf is the reason of an error that fallback made; "" of errFallback alone, where
// there is nothing to do but to share arrays or to fail.
func reasonOf(err error) string {
	if err == nil || errors.Is(errFallback, err) {
		return ""
	}
	return strings.TrimPrefix(err.Error(), errFallback.Error()+": ")
}

// ToDevice returns the tensor with copies of its arrays in the memory of the session's device: see lacuna's Session.ToDevice.
func (s *Service) ToDevice(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	var made []*runtime.Resident
	out, err := t.MapArrays(func(a tensor.Array) (tensor.Array, error) {
		if r, ok := a.Remote().(*runtime.Resident); ok && r.On(s.Engine) || a.Len() == 0 {
			return a, nil
		}
		r, err := runtime.Upload(ctx, s.Engine, a.Pointer(), a.Bytes())
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
