package lacuna

import (
	"context"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Session compiles and runs programs with one engine and one set of limits, and
// keeps the kernels it has compiled. It is safe for concurrent use. The zero Session is like one
// that NewSession makes without options.
type Session exec.Session

func (s *Session) exec() *exec.Session { return (*exec.Session)(s) }

// SessionOption configures a Session.
type SessionOption = exec.SessionOption

// WithEngine sets the engine; the default is the best that is there.
func WithEngine(e runtime.Engine) SessionOption { return exec.WithEngine(e) }

// WithThreads bounds the number of threads; 0 means GOMAXPROCS. The results do
// not depend on it.
func WithThreads(n int) SessionOption { return exec.WithThreads(n) }

// WithMemoryLimit bounds the bytes that a run, a conversion or another operation of the session may allocate; 0 means three quarters of what the
// machine has to spare. Neither goes beyond what control groups and the limits of the process (ulimit) leave. What goes
// beyond is refused with a *[runtime.MemoryLimitError].
func WithMemoryLimit(bytes int64) SessionOption { return exec.WithMemoryLimit(bytes) }

// WithNotice lets a session whose engine is a device do on the processor what the device
// cannot do with a tensor that only it has, and calls f with a sentence that says so. Without it
// such an operation is an error, a *[HostError]. f is also told of conversions of tensors that are in
// this process's memory and are done there; it may be called by several
// goroutines at once, and again for the same.
func WithNotice(f func(note string)) SessionOption { return exec.WithNotice(f) }

// WithResidentResults leaves results in the memory of the device that computed them,
// such as a GPU's: the next kernel finds them there, and they come to this process when
// something reads them. Without a device the option does nothing.
func WithResidentResults() SessionOption { return exec.WithResidentResults() }

// WithConversionKernels makes a session compile a kernel for every conversion the
// first time, however little there is to convert, rather than once the session has
// converted enough for it to pay. Results are the same; it is for programs that
// convert often and start once, and for measuring.
func WithConversionKernels() SessionOption { return exec.WithConversionKernels() }

// NewSession returns a session. Options that are nil change nothing.
func NewSession(opts ...SessionOption) *Session { return (*Session)(exec.NewSession(opts...)) }

// Engine is the engine that the session compiles for; nil of a nil session.
func (s *Session) Engine() runtime.Engine { return s.exec().Engine() }

// Eval is like the function Eval, in this session.
func (s *Session) Eval(ctx context.Context, src string, args Args, opts ...Option) (*tensor.Tensor, error) {
	return s.exec().Eval(ctx, src, args, opts...)
}

// EvalAll runs a program on args and returns all its results.
func (s *Session) EvalAll(ctx context.Context, src string, args Args, opts ...Option) (Outputs, error) {
	return s.exec().EvalAll(ctx, src, args, opts...)
}

// Compile parses, checks, plans and compiles a program in this session. Options
// declare the operands; results need none.
func (s *Session) Compile(ctx context.Context, src string, opts ...Option) (*Kernel, error) {
	k, err := s.exec().Compile(ctx, src, opts...)
	return (*Kernel)(k), err
}

// Convert stores a tensor in another format. The result is that of
// [tensor.Tensor.Convert], made by a kernel for the two formats where that is
// faster: on the session's threads, within its memory limit, and until ctx ends.
// Arrays that the two formats have in common are shared. With [WithResidentResults] the
// others stay on the device.
func (s *Session) Convert(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	c, err := s.exec().Converter(ctx)
	if err != nil {
		return nil, err
	}
	return c.Convert(ctx, t, format)
}

// FromColumns makes a tensor of entries given by their coordinates: coords has an
// array of integers for each axis, each as long as values. They need not be sorted.
// The result is that of [tensor.FromColumns], which takes the same options: values at
// equal coordinates are summed in the order in which they are given, explicit
// zeros are stored, arrays may be shared.
func (s *Session) FromColumns(ctx context.Context, shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
	c, err := s.exec().Converter(ctx)
	if err != nil {
		return nil, err
	}
	return c.FromCoords(ctx, shape, format, coords, values, opts...)
}

// Canonical returns a tensor as expressions take it: sorted, and with both triangles. The result is
// that of [tensor.Tensor.Canonical], made on the session's device as for [Session.Reshape], and remembered.
func (s *Session) Canonical(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	c, err := s.exec().Converter(ctx)
	if err != nil {
		return nil, err
	}
	return c.PinnedCanonical(ctx, t)
}

// Reshape gives the elements of a tensor, in row-major order, another shape with as many
// elements. The result is that of [tensor.Tensor.Reshape], with index arrays of the usual types where it is made
// on the session's device: there if that has the tensor, and with [WithResidentResults] it stays there.
func (s *Session) Reshape(ctx context.Context, t *tensor.Tensor, shape []int64, format tensor.Format) (*tensor.Tensor, error) {
	c, err := s.exec().Converter(ctx)
	if err != nil {
		return nil, err
	}
	return c.Reshape(ctx, t, shape, format)
}

// Concat joins tensors along an axis. The result is that of [tensor.Concat], made on the
// session's device as for [Session.Reshape].
func (s *Session) Concat(ctx context.Context, axis int, format tensor.Format, tensors ...*tensor.Tensor) (*tensor.Tensor, error) {
	c, err := s.exec().Converter(ctx)
	if err != nil {
		return nil, err
	}
	return c.Concat(ctx, axis, format, tensors...)
}

// Prune drops the stored entries that equal the fill. The result is that of [tensor.Tensor.Prune],
// made on the session's device as for [Session.Reshape].
func (s *Session) Prune(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	c, err := s.exec().Converter(ctx)
	if err != nil {
		return nil, err
	}
	return c.Prune(ctx, t)
}

// ToDevice returns the tensor with copies of its arrays in the memory of the session's
// device, where kernels of the session use them without bringing them over again. The
// tensor shares the arrays of t, which it keeps too. The copies are freed by
// [tensor.Tensor.Release], or when the tensor is no longer reachable. The error says that the session's engine has
// no device, or that its memory is short.
func (s *Session) ToDevice(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	c, err := s.exec().Converter(ctx)
	if err != nil {
		return nil, err
	}
	return c.ToDevice(ctx, t)
}

// Convert stores a tensor in another format, with the shared session: see
// [Session.Convert].
func Convert(ctx context.Context, t *tensor.Tensor, format tensor.Format) (*tensor.Tensor, error) {
	return Shared().Convert(ctx, t, format)
}

// FromColumns makes a tensor of entries given by their coordinates, with the
// shared session: see [Session.FromColumns].
func FromColumns(ctx context.Context, shape []int64, format tensor.Format, coords []tensor.Array, values tensor.Array, opts ...tensor.Option) (*tensor.Tensor, error) {
	return Shared().FromColumns(ctx, shape, format, coords, values, opts...)
}

// Canonical returns a tensor as expressions take it: see [Session.Canonical].
func Canonical(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	return Shared().Canonical(ctx, t)
}

// Reshape gives the elements of a tensor another shape, with the shared session: see
// [Session.Reshape].
func Reshape(ctx context.Context, t *tensor.Tensor, shape []int64, format tensor.Format) (*tensor.Tensor, error) {
	return Shared().Reshape(ctx, t, shape, format)
}

// Concat joins tensors along an axis, with the shared session: see [Session.Concat].
func Concat(ctx context.Context, axis int, format tensor.Format, tensors ...*tensor.Tensor) (*tensor.Tensor, error) {
	return Shared().Concat(ctx, axis, format, tensors...)
}

// Prune drops the stored entries that equal the fill, with the shared session: see
// [Session.Prune].
func Prune(ctx context.Context, t *tensor.Tensor) (*tensor.Tensor, error) {
	return Shared().Prune(ctx, t)
}
