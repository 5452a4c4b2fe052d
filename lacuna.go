// Package lacuna compiles sparse tensor algebra.
//
// A user writes an index expression and says how each tensor is stored; Lacuna
// makes a kernel for exactly that expression and those formats, and runs it:
//
//	y, err := lacuna.Eval(ctx, "y(i) = sum_j A(i,j) * x(j)", lacuna.Args{"A": A, "x": x})
//
// Eval compiles on first use and remembers what it compiled. Compile gives the
// kernel itself, for programs that declare formats once and run many times.
// A Session holds the choices behind both: the engine, threads, limits.
//
// An expression means what it would mean if every tensor were written out
// densely with its fill value: formats change the cost, never the answer.
package lacuna

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Args are the operands of a program, by name: a *tensor.Tensor; or *tensor.Parts, which
// are several tensors that together are one, or *tensor.Blocks of one. A number is an operand of rank 0:
// tensor.ScalarTensor(tensor.Float(tensor.Float64, 3.5)).
type Args map[string]tensor.Operand

// Outputs are the results of a program, by name.
type Outputs map[string]*tensor.Tensor

// Session compiles and runs programs with one engine and one set of limits, and
// keeps the kernels it has compiled. It is safe for concurrent use.
type Session struct {
	engine  runtime.Engine
	options runtime.Options
	cache   *runtime.Cache
	grain   int64  // debug.ChunkGrain when the session was made
	work    string // debug.Workspace then
	// conversions are the kernels that store tensors in other formats.
	conversions conversions
	plain       plainCopies
	notice      func(string) // of WithNotice, nil without

	mu      sync.Mutex
	kernels map[string]*Kernel
	staying *Session // see resident
}

// SessionOption configures a Session.
type SessionOption func(*Session)

// WithEngine sets the engine; the default is the best that is there.
func WithEngine(e runtime.Engine) SessionOption { return func(s *Session) { s.engine = e } }

// WithThreads bounds the number of threads; 0 means GOMAXPROCS. The results do
// not depend on it.
func WithThreads(n int) SessionOption { return func(s *Session) { s.options.Threads = n } }

// WithMemoryLimit bounds the bytes that a run may allocate; 0 means what the
// machine has to spare.
func WithMemoryLimit(bytes int64) SessionOption {
	return func(s *Session) { s.options.MemoryLimit = bytes }
}

// Sizes of the two caches: compiled programs, and kernels in front of them.
const (
	cachedPrograms = 256
	cachedKernels  = 256
)

// NewSession returns a session. Options that are nil change nothing.
func NewSession(opts ...SessionOption) *Session {
	s := &Session{cache: runtime.NewCache(cachedPrograms), kernels: map[string]*Kernel{}, grain: debug.ChunkGrain, work: debug.Workspace}
	for _, o := range opts {
		if o != nil {
			o(s)
		}
	}
	if s.engine == nil {
		s.engine = runtime.Auto(func(note string) { fmt.Fprintln(os.Stderr, "lacuna: "+note) })
	}
	return s
}

// Engine is the engine that the session compiles for.
func (s *Session) Engine() runtime.Engine { return s.engine }

// shared is the session behind Eval and Compile. It is made on first use, so
// that importing the package loads nothing.
var shared = sync.OnceValue(func() *Session { return NewSession() })

// Eval runs a program on args with the shared session and returns the result of
// its last statement. Errors are *lang.Error for what is wrong in the text or
// in the fit of the operands to it, *tensor.FormatError, and those of
// runtime.Executable.Run. A context must not be nil; when it ends, the run soon
// does, and its error is the context's.
func Eval(ctx context.Context, src string, args Args, opts ...Option) (*tensor.Tensor, error) {
	return shared().Eval(ctx, src, args, opts...)
}

// Compile compiles a program with the shared session.
func Compile(src string, opts ...Option) (*Kernel, error) { return shared().Compile(src, opts...) }

// Eval is like the function Eval, in this session.
func (s *Session) Eval(ctx context.Context, src string, args Args, opts ...Option) (*tensor.Tensor, error) {
	k, err := s.kernelFor(ctx, src, args, opts)
	if err != nil {
		return nil, err
	}
	return k.Run(ctx, args)
}

// EvalAll runs a program on args and returns all its results.
func (s *Session) EvalAll(ctx context.Context, src string, args Args, opts ...Option) (Outputs, error) {
	k, err := s.kernelFor(ctx, src, args, opts)
	if err != nil {
		return nil, err
	}
	return k.RunAll(ctx, args)
}

// kernelFor returns the kernel for the formats, types and fills of the operands.
func (s *Session) kernelFor(ctx context.Context, src string, args Args, opts []Option) (*Kernel, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	d := newDeclarations()
	for name, t := range args {
		d.operand(name, t)
	}
	return s.kernel(src, d, opts)
}

// checkContext refuses a context that is nil: every call would panic on it,
// sooner or later.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		return errors.New("the context is nil: pass context.Background() where there is no other")
	}
	return nil
}
