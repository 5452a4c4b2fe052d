package exec

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/runtime/declare"
	"github.com/lacuna-sparse/lacuna/runtime/invoke"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Kernel is a compiled program. It is specialised for formats, element types,
// fills and index widths, and generic in extents and entry counts. It may be
// run any number of times, by several goroutines at once.
type Kernel struct {
	*planned
	source  string
	file    *lang.File
	checked *lang.Program // planned.program, but for the values of literals
	// literals are the values of numbers of the source that planned does not depend on.
	literals []int64
	bound    atomic.Pointer[binding] // of the latest shapes

	repeated atomic.Pointer[repeated] // on a device
	repeats  atomic.Int64             // runs that were not told again

	// narrow is the kernel of another plan, for shapes that have too many keys
	// for this one's workspaces; nil until it is needed.
	narrow atomic.Pointer[Kernel]
	// empty is the kernel of a plan for operands with means of nothing, made when they first come.
	empty  atomic.Pointer[Kernel]
	others flight.Group[string, *Kernel] // about to be narrow or empty

	// chooser, when not nil, chooses the kernel that runs, which may be this one.
	chooser *chooser
	// written is the program as it is written, where checked is another one: see package logic. That has the
	// intermediates, and the notes tell why.
	written   *lang.Program
	rewritten *lang.File // checked, as text
	// session and says are of kernels that callers have: what they were compiled in, and what was declared.
	session       *Session
	says          *declare.Declarations
	intermediates []string
	notes         []string
	guessed       []string // operands without statistics
}

// planned is what kernels share whose programs differ in literals only.
type planned struct {
	env      *environment
	program  *lang.Program
	plan     *ir.Plan
	alg      ir.Algebra
	operands []*ir.Operand
	// inOrder is of programs whose sums are added up in the order of their loops.
	inOrder bool
	// patterns remember, by operand, the latest value of those that are patterns.
	patterns []atomic.Pointer[memo]
	steps    []*step
	types    declaredTypes // of the operands
	// tooWide is set when a workspace of several dimensions would have been larger
	// than the operands.
	tooWide atomic.Bool
	// patternsOf are about to be in patterns.
	patternsOf flight.Group[patternOf, *tensor.Tensor]
}

// step is one step of the plan with the versions compiled for it.
type step struct {
	plan ir.Step
	to   *ir.Tensor // that it makes

	versions  flight.Cache[*version]
	smallRuns atomic.Int64 // see Kernel.small
	ran       atomic.Bool  // so the latest version is what a run chose
	// twoPasses is set when one pass would have needed too much memory.
	twoPasses atomic.Bool
	reads     []*ir.Tensor // whose arrays versions take; known with the first of them
	latest    atomic.Pointer[version]
	// keys and entries are what the latest run chose the kind of workspaces by, for explain.
	keys, entries atomic.Int64
	broadcasts    []ir.Broadcast // of the step's result
	// converted remembers the latest conversion of a convert step.
	converted  atomic.Pointer[memo]
	converting flight.Group[*tensor.Tensor, *tensor.Tensor] // by what is about to be converted
}

// plan plans a program and compiles it for the operands as declared.
func (env *environment) plan(ctx context.Context, program *lang.Program, d *declare.Declarations) (*planned, error) {
	opts, err := env.planOptions(program, d)
	if err != nil {
		return nil, err
	}
	return env.planAs(ctx, program, d, opts)
}

// planOptions are what a program is planned by, as declared.
func (env *environment) planOptions(program *lang.Program, d *declare.Declarations) (ir.Options, error) {
	wanted, err := d.Wanted(program)
	return ir.Options{StrictIEEE: d.Strict(), Grids: env.OnGrids(), Forms: d.Forms(), Wanted: wanted}, err
}

// planAs plans a program by options and compiles it for the operands as declared.
func (env *environment) planAs(ctx context.Context, program *lang.Program, d *declare.Declarations, opts ir.Options) (*planned, error) {
	k := &planned{env: env, program: program, alg: ir.Algebra{Strict: d.Strict(), Eval: scalar.Eval}, inOrder: d.AsWritten()}
	for _, t := range program.Tensors {
		if t.Operand {
			k.types = append(k.types, d.TypesOf(t, opts.Forms[t.Name])...) // the planner starts with the operands
		}
	}
	if err := k.compile(ctx, opts); err != nil {
		return nil, err
	}
	return k, nil
}

// compile plans the program and compiles its steps for the operands as declared.
func (k *planned) compile(ctx context.Context, opts ir.Options) error {
	plan, err := plan.New(ctx, k.program, opts, scalar.Eval)
	if err != nil {
		return err
	}
	k.plan, k.operands = plan, plan.Operands
	k.patterns = make([]atomic.Pointer[memo], len(k.operands))
	types := make(declaredTypes, len(plan.Tensors))
	copy(types, k.types)
	var begun []*invoke.Compilation
	converts := false
	ahead := ctx
	if k.env.OnGrids() {
		ahead = context.WithoutCancel(ctx) // it may be under way when this returns
	}
	for _, p := range plan.Steps {
		st := &step{plan: p, to: target(p)}
		k.steps = append(k.steps, st)
		switch p := p.(type) {
		case *ir.Convert, *ir.Join:
			types[st.to.ID] = declare.EmptyExample(st.to.Format, st.to.DType)
			_, c := p.(*ir.Convert)
			converts = converts || c
			continue
		case *ir.Compute:
			st.broadcasts = p.Broadcasts(k.alg)
		}
		// Compile ahead of the first run what will most likely run.
		how := specialisation{crd: loop.U32, work: k.env.workspace(lower.DenseWorkspace), assembly: k.assembly()}
		how.tables = how.work == lower.DenseWorkspace && k.mayTabulate(st)
		if k.env.OnGrids() {
			how.work = k.env.workspace(lower.HashWorkspace)
		}
		if err := k.directed(st, &how); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := k.begin(ahead, st, types, how)
		if err != nil {
			return err
		}
		begun = append(begun, c)
	}
	if converts && k.env.OnGrids() {
		// The first run compiles the conversions, which takes longer; meanwhile these are compiled.
		return nil
	}
	for _, c := range begun {
		if err := c.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// target is the tensor that a step makes.
func target(p ir.Step) *ir.Tensor {
	switch p := p.(type) {
	case *ir.Convert:
		return p.To
	case *ir.Join:
		return p.To
	case *ir.Compute:
		return p.Result
	case *ir.Scan:
		return p.To
	case *ir.Sort:
		return p.To
	case *ir.Statistic:
		return p.To
	}
	panic("BUG: unknown step")
}

// withSource adds the text of a program to an error of the planner.
func withSource(err error, src string) error {
	var unsupported *lang.Error
	if errors.As(err, &unsupported) && unsupported.Source == "" {
		return unsupported.WithSource(src)
	}
	return err
}
