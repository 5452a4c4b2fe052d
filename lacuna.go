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
	"fmt"
	"os"
	"sync"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Args are the operands of a program, by name. A number is an operand of
// rank 0: tensor.ScalarTensor(tensor.Float(tensor.Float64, 3.5)).
type Args map[string]*tensor.Tensor

// Outputs are the results of a program, by name.
type Outputs map[string]*tensor.Tensor

// Session compiles and runs programs with one engine and one set of limits, and
// keeps the kernels it has compiled. It is safe for concurrent use.
type Session struct {
	engine  runtime.Engine
	options runtime.Options
	cache   *runtime.Cache

	mu      sync.Mutex
	kernels map[string]*Kernel
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

// NewSession returns a session.
func NewSession(opts ...SessionOption) *Session {
	s := &Session{cache: runtime.NewCache(cachedPrograms), kernels: map[string]*Kernel{}}
	for _, o := range opts {
		o(s)
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
// runtime.Executable.Run.
func Eval(ctx context.Context, src string, args Args, opts ...Option) (*tensor.Tensor, error) {
	return shared().Eval(ctx, src, args, opts...)
}

// Compile compiles a program with the shared session.
func Compile(src string, opts ...Option) (*Kernel, error) { return shared().Compile(src, opts...) }

// Eval is like the function Eval, in this session.
func (s *Session) Eval(ctx context.Context, src string, args Args, opts ...Option) (*tensor.Tensor, error) {
	k, err := s.kernelFor(src, args, opts)
	if err != nil {
		return nil, err
	}
	return k.Run(ctx, args)
}

// EvalAll runs a program on args and returns all its results.
func (s *Session) EvalAll(ctx context.Context, src string, args Args, opts ...Option) (Outputs, error) {
	k, err := s.kernelFor(src, args, opts)
	if err != nil {
		return nil, err
	}
	return k.RunAll(ctx, args)
}

// kernelFor compiles a program for the formats, types and fills of the operands.
func (s *Session) kernelFor(src string, args Args, opts []Option) (*Kernel, error) {
	all := make([]Option, 0, len(args)+len(opts))
	for name, t := range args {
		if t == nil {
			return nil, fmt.Errorf("operand %s is nil", name)
		}
		all = append(all, Operand(name, t))
	}
	return s.Compile(src, append(all, opts...)...)
}

// Option declares something about a program.
type Option func(*declarations)

// declarations are what the options of one Compile say.
type declarations struct {
	decls  map[string]lang.Decl
	strict bool
	// types are the index widths of declared operands, for the first variant.
	types map[string]*tensor.Tensor
	err   error
}

func (d *declarations) update(name string, f func(*lang.Decl)) {
	decl, ok := d.decls[name]
	if !ok {
		decl = lang.Decl{Rank: lang.AnyRank}
	}
	f(&decl)
	d.decls[name] = decl
}

// conflict notes a declaration that contradicts the operand passed by that name:
// a tensor that a program updates keeps its format and type.
func (d *declarations) conflict(name string, f tensor.Format, dt tensor.DType) {
	t := d.types[name]
	if t != nil && (t.Format() != f || t.DType() != dt) && d.err == nil {
		d.err = fmt.Errorf("%s is declared as %s %s, but the operand of that name is stored as %s %s: convert it, or give the result another name",
			name, f, dt, t.Format(), t.DType())
	}
}

// Format declares how an operand is stored and its element type. For a tensor
// that the program assigns, see Result.
func Format(name string, f tensor.Format, dt tensor.DType) Option {
	return func(d *declarations) {
		d.conflict(name, f, dt)
		d.update(name, func(decl *lang.Decl) {
			decl.Rank, decl.Format, decl.HasFormat = f.Rank(), f, true
			decl.DType, decl.HasDType = dt, true
		})
	}
}

// Operand declares an operand by example: its format, type and fill.
func Operand(name string, t *tensor.Tensor) Option {
	return func(d *declarations) {
		fill := t.Fill()
		d.update(name, func(decl *lang.Decl) {
			decl.Rank, decl.Format, decl.HasFormat = t.Rank(), t.Format(), true
			decl.DType, decl.HasDType, decl.Fill = t.DType(), true, &fill
		})
		d.types[name] = t
	}
}

// Result declares how a result is stored. A name that is also passed as an
// operand is updated: its old value is read.
func Result(name string, f tensor.Format) Option {
	return func(d *declarations) {
		if t := d.types[name]; t != nil {
			d.conflict(name, f, t.DType())
		}
		d.update(name, func(decl *lang.Decl) {
			decl.Rank, decl.Format, decl.HasFormat = f.Rank(), f, true
			decl.Result = d.types[name] == nil
		})
	}
}

// ResultType declares the element type of a result.
func ResultType(name string, dt tensor.DType) Option {
	return func(d *declarations) {
		if t := d.types[name]; t != nil {
			d.conflict(name, t.Format(), dt)
		}
		d.update(name, func(decl *lang.Decl) {
			decl.DType, decl.HasDType = dt, true
			decl.Result = d.types[name] == nil
		})
	}
}

// Shape declares the extents of a result that its operands do not fix; -1
// leaves one open.
func Shape(name string, extents ...int64) Option {
	return func(d *declarations) {
		d.update(name, func(decl *lang.Decl) {
			decl.Shape = append([]int64(nil), extents...)
			decl.Result = d.types[name] == nil
		})
	}
}

// Fill declares the fill value of an operand or a result.
func Fill(name string, v tensor.Scalar) Option {
	return func(d *declarations) {
		d.update(name, func(decl *lang.Decl) { decl.Fill = &v })
	}
}

// StrictIEEE makes products with an implicit zero honest: 0*inf and 0*nan are
// nan, as in dense arithmetic, at the cost of visiting every coordinate.
// Without it an implicit zero annihilates.
func StrictIEEE() Option { return func(d *declarations) { d.strict = true } }
