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
	"github.com/lacuna-sparse/lacuna/internal/flight"
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
// keeps the kernels it has compiled. It is safe for concurrent use. The zero Session is like one
// that NewSession makes without options.
type Session struct {
	engine  runtime.Engine
	options runtime.Options
	cache   *runtime.Cache
	grain   int64  // debug.ChunkGrain when the session was made
	work    string // debug.Workspace then
	eager   bool   // debug.EagerOptimiser then
	// conversions are the kernels that store tensors in other formats.
	conversions conversions
	plain       plainCopies
	notice      func(string) // of WithNotice, nil without

	opened  sync.Once
	mu      sync.Mutex
	kernels map[string]*Kernel
	staying *Session // see resident
	// compiling are the kernels about to be in kernels.
	compiling flight.Group[string, *Kernel]
	// plans are what kernels of programs share that differ in literals only; planning are those about to be.
	plans map[string]*planned
	// keepLiterals, for tests, compiles every program for the numbers that stand in it.
	keepLiterals bool
	planning     flight.Group[string, *planned]
}

// SessionOption configures a Session.
type SessionOption func(*Session)

// WithEngine sets the engine; the default is the best that is there.
func WithEngine(e runtime.Engine) SessionOption { return func(s *Session) { s.engine = e } }

// WithThreads bounds the number of threads; 0 means GOMAXPROCS. The results do
// not depend on it.
func WithThreads(n int) SessionOption { return func(s *Session) { s.options.Threads = n } }

// WithMemoryLimit bounds the bytes that a run, a conversion or another operation of the session may allocate; 0 means three quarters of what the
// machine has to spare. Neither goes beyond what control groups and the limits of the process (ulimit) leave. What goes
// beyond is refused with a *[runtime.MemoryLimitError].
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
	s := &Session{}
	s.empty()
	for _, o := range opts {
		if o != nil {
			o(s)
		}
	}
	if err := s.open(); err != nil {
		panic("BUG: a new session: " + err.Error())
	}
	return s
}

// empty gives a session its caches.
func (s *Session) empty() {
	s.cache, s.kernels, s.grain, s.work = runtime.NewCache(cachedPrograms), map[string]*Kernel{}, debug.ChunkGrain, debug.Workspace
	s.eager = debug.EagerOptimiser
}

// open makes what a session works with the first time. The error says that the session is nil.
func (s *Session) open() error {
	if s == nil {
		return errors.New("the session is nil: make one with lacuna.NewSession")
	}
	s.opened.Do(func() {
		if s.cache == nil {
			s.empty()
		}
		if s.engine == nil {
			s.engine = runtime.Auto(func(note string) { fmt.Fprintln(os.Stderr, "lacuna: "+note) })
		}
	})
	return nil
}

// ready is open for a call with a context, which must not be nil: every call would panic on it, sooner or later.
func (s *Session) ready(ctx context.Context) error {
	if err := s.open(); err != nil {
		return err
	}
	return checkContext(ctx)
}

// Engine is the engine that the session compiles for; nil of a nil session.
func (s *Session) Engine() runtime.Engine {
	if s.open() != nil {
		return nil
	}
	return s.engine
}

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

// Compile compiles a program with the shared session. When the context ends,
// compiling soon does.
func Compile(ctx context.Context, src string, opts ...Option) (*Kernel, error) {
	return shared().Compile(ctx, src, opts...)
}

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
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	d := newDeclarations()
	for name, t := range args {
		d.operand(name, t)
	}
	return s.kernel(ctx, src, d, opts)
}

// checkContext refuses a context that is nil: every call would panic on it,
// sooner or later.
func checkContext(ctx context.Context) error {
	if ctx == nil {
		return errors.New("the context is nil: pass context.Background() where there is no other")
	}
	return nil
}
