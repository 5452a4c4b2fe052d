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
	"sync"

	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/runtime/convert"
	"github.com/lacuna-sparse/lacuna/runtime/exec"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Args are the operands of a program, by name: a *tensor.Tensor; or *tensor.Parts, which
// are several tensors that together are one, or *tensor.Blocks of one. A number is an operand of rank 0:
// tensor.ScalarTensor(tensor.Float(tensor.Float64, 3.5)).
type Args map[string]tensor.Operand

// Outputs are the results of a program, by name.
type Outputs map[string]*tensor.Tensor

// Shared returns the session behind Eval, Compile and the other functions of this package. It is made on first use, so
// that importing the package loads nothing.
func Shared() *Session { return shared() }

var shared = sync.OnceValue(func() *Session { return NewSession() })

// Eval runs a program on args with the shared session and returns the result of
// its last statement. Errors are *lang.Error for what is wrong in the text or
// in the fit of the operands to it, *tensor.FormatError, and those of
// runtime.Executable.Run. A context must not be nil; when it ends, the run soon
// does, and its error is the context's.
func Eval(ctx context.Context, src string, args Args, opts ...Option) (*tensor.Tensor, error) {
	return Shared().Eval(ctx, src, args, opts...)
}

// Compile compiles a program with the shared session. When the context ends,
// compiling soon does.
func Compile(ctx context.Context, src string, opts ...Option) (*Kernel, error) {
	return Shared().Compile(ctx, src, opts...)
}

// Check parses a program and checks it against what options declare of its tensors, without compiling it. Errors are
// those of [Compile] about the text; warnings tell what a program that is right may not mean, such as an implied sum
// inside parentheses.
func Check(src string, opts ...Option) ([]*lang.Warning, error) { return exec.Check(src, opts...) }

// Measure measures in a few seconds what steps of programs take on this machine, and keeps it beside compiled kernels on disk. Sessions of processes to come choose by it what
// leaves the bits of results as they are: how workspaces store entries, when a conversion gets a kernel. Progress, when not nil, is told what is measured next.
func Measure(ctx context.Context, progress func(what string)) error {
	return exec.Measure(ctx, progress)
}

// Kernel is a compiled program. It is specialised for formats, element types,
// fills and index widths, and generic in extents and entry counts. It may be
// run any number of times, by several goroutines at once.
type Kernel exec.Kernel

func (k *Kernel) exec() *exec.Kernel { return (*exec.Kernel)(k) }

// Run runs the program on args and returns the result of its last statement.
func (k *Kernel) Run(ctx context.Context, args Args) (*tensor.Tensor, error) {
	return k.exec().Run(ctx, args)
}

// RunAll runs the program on args and returns all its results.
func (k *Kernel) RunAll(ctx context.Context, args Args) (Outputs, error) {
	return k.exec().RunAll(ctx, args)
}

// Prepare runs the kernel on args, whose values do not matter, and keeps what
// follows from their patterns. The operands must stay unchanged, as everywhere. Where the
// kernel stores a dense operand again as a sparse one ([Kernel.Conversions]), the
// pattern is that of the elements that do not equal the fill. A prepared kernel runs in the order in which the program is
// written ([AsWritten]), so sums may differ in their last bits from those of the kernel.
func (k *Kernel) Prepare(ctx context.Context, args Args) (*Prepared, error) {
	p, err := k.exec().Prepare(ctx, args)
	return (*Prepared)(p), err
}

// Stages are the names that Explain takes, in the order of the pipeline:
//
//	syntax     the program as parsed, then with every summation and conversion explicit
//	logic      the program in the order in which it runs, with its intermediates
//	choices    what was weighed for that: other orders, with estimates, and why they lost
//	schedule   the same with the choices of how each statement runs, as a program that makes them
//	plan       formats, inserted conversions, and the loops in concrete index notation
//	lattice    for each loop, the set of coordinates it visits and how
//	loops      the loop program: stages, buffers, code
//	llvm       LLVM IR before optimisation
//	optimised  LLVM IR after optimisation
//	asm        assembly of this machine
//	grids      the loop program as a GPU runs it: each stage with its mapping to threads
//	ptx        PTX, the assembly of NVIDIA's GPUs
func Stages() []string { return exec.Stages() }

// GridStages are the stages that only kernels for a GPU have: those of sessions with
// the engine "cuda", or "simulated".
func GridStages() []string { return exec.GridStages() }

// Explain prints the program at one stage of its compilation. The error of a
// stage that needs LLVM where there is none is a *runtime.UnavailableError.
func (k *Kernel) Explain(stage string) (string, error) { return k.exec().Explain(stage) }

// SourceLine says that a line of a stage comes from a place of the program.
type SourceLine = exec.SourceLine

// SourceMap says where in the program the lines come from that Explain prints of a stage: the compiler keeps positions through all stages up to
// the loops. It is empty for what LLVM makes.
func (k *Kernel) SourceMap(stage string) ([]SourceLine, error) { return k.exec().SourceMap(stage) }

// Schedules lists programs that compute the same as the kernel does, each with another choice for one statement (docs/schedule.md),
// those first that are estimated to cost least. Results differ in the order of sums only. Where the program runs in another
// order than it is written in, the programs have the statements of that, with what is no result marked as temporary.
func (k *Kernel) Schedules(ctx context.Context) ([]string, error) { return k.exec().Schedules(ctx) }

// Tune measures the program as it runs, and others that compute the same ([Kernel.Schedules], and operands in other formats), on
// operands. Results of the fastest may differ from the kernel's in the order of sums.
func (k *Kernel) Tune(ctx context.Context, args Args, opts TuneOptions) (*Tuning, error) {
	return k.exec().Tune(ctx, args, opts)
}

// TuneOptions say how long tuning may take, and who hears of its progress.
type TuneOptions = exec.TuneOptions

// Tuning is what tuning has measured.
type Tuning = exec.Tuning

// Trial is one way to run a program, measured.
type Trial = exec.Trial

// Choices weighs again what the kernel was compiled by: the orders of each product, and of the loops of each statement, with estimates of what
// they cost by the statistics of args; without (nil), of the operands that the kernel was compiled for, or by guesses. It computes nothing. Its
// String is the stage "choices" of [Kernel.Explain].
func (k *Kernel) Choices(ctx context.Context, args Args) (*Choices, error) {
	return k.exec().Choices(ctx, args)
}

// Profile runs the program on args, and says what each step took beside what it was estimated to take. An operand that is stored again is so in
// the first run only, and that may compile: profile a second run to see what others take.
func (k *Kernel) Profile(ctx context.Context, args Args) (*Profile, Outputs, error) {
	return k.exec().Profile(ctx, args)
}

// Choices are what was weighed to run a program.
type Choices = exec.Choices

// StatementChoices are those of one statement.
type StatementChoices = exec.StatementChoices

// Profile is what the steps of one run took.
type Profile = exec.Profile

// StepProfile is one step of a run.
type StepProfile = exec.StepProfile

// StageProfile is one stage of a step.
type StageProfile = exec.StageProfile

// LoopProfile is one loop of a stage.
type LoopProfile = exec.LoopProfile

// Conversions tells which operands a run of the kernel stores again because the
// loops need them in another order, or as one tensor, and why.
func (k *Kernel) Conversions() []string { return k.exec().Conversions() }

// Described names the operands of which compiling took statistics, to choose the order of computing.
func (k *Kernel) Described() []string { return k.exec().Described() }

// Warnings tells what the program may not mean (codes W1xx, see [Check]) and which of its loops may take
// unexpectedly long (W2xx): those over a whole dimension of which the operands store only some
// coordinates, where no tensor that stores all of them bounds it.
func (k *Kernel) Warnings() []*lang.Warning { return k.exec().Warnings() }

// ErrPattern is wrapped by the error of a Prepared kernel that is run on operands
// whose patterns or shapes are not those that it was prepared for.
var ErrPattern = runtime.ErrPattern

// Prepared is a kernel for operands of known patterns. What follows from patterns
// alone, the number and the places of a sparse result's entries, has been computed
// once; each run computes values only. It may be run by several goroutines at once.
type Prepared exec.Prepared

func (p *Prepared) exec() *exec.Prepared { return (*exec.Prepared)(p) }

// Run is [Kernel.Run] on operands with the patterns of Prepare's. The patterns are
// compared, by address where the arrays are shared and by content where not; where
// one differs, the error wraps [ErrPattern] and nothing is computed.
func (p *Prepared) Run(ctx context.Context, args Args) (*tensor.Tensor, error) {
	return p.exec().Run(ctx, args)
}

// RunAll is [Kernel.RunAll] on operands with the patterns of Prepare's.
func (p *Prepared) RunAll(ctx context.Context, args Args) (Outputs, error) {
	return p.exec().RunAll(ctx, args)
}

// InternalError is a mistake of the compiler itself: a bug, not something wrong
// with the program. The process goes on. Its fields are Program, Panic and Stack.
type InternalError = runtime.InternalError

// HostError says that an operation on tensors that only the session's device has cannot be
// done there. [WithNotice] lets the session do it on the processor; so does fetching the tensors
// first ([tensor.Tensor.Fetch]). Its fields are Op, what was to be done; Engine, the name of the
// session's engine; Why, what the device cannot do; and Bytes, how much would have to come from the device.
type HostError = convert.HostError
