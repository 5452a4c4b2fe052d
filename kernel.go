package lacuna

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/lacuna-sparse/lacuna/internal/flight"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/runtime"
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
	written       *lang.Program
	intermediates []string
	notes         []string
}

// planned is what kernels share whose programs differ in literals only.
type planned struct {
	session  *Session
	options  runtime.Options
	program  *lang.Program
	plan     *ir.Plan
	alg      ir.Algebra
	operands []*ir.Operand
	// patterns remember, by operand, the latest value of those that are patterns.
	patterns []atomic.Pointer[conversion]
	steps    []*step
	types    declaredTypes // of the operands
	// tooWide is set when a workspace of several dimensions would have been larger
	// than the operands.
	tooWide atomic.Bool
	// patternsOf are about to be in patterns.
	patternsOf flight.Group[patternOf, *tensor.Tensor]
}

// step is one step of the plan with the variants compiled for it.
type step struct {
	plan ir.Step

	mu        sync.Mutex
	variants  map[string]*variant
	compiling flight.Group[string, *variant] // about to be in variants
	smallRuns atomic.Int64                   // see Kernel.small
	// twoPasses is set when one pass would have needed too much memory.
	twoPasses atomic.Bool
	reads     []*ir.Tensor // whose arrays variants take; known with the first of them
	latest    atomic.Pointer[variant]
	// keys and entries are what the latest run chose the kind of workspaces by, for explain.
	keys, entries atomic.Int64
	broadcasts    []ir.Broadcast // of the step's result
	// converted remembers the latest conversion of a convert step.
	converted  atomic.Pointer[conversion]
	converting flight.Group[*tensor.Tensor, *tensor.Tensor] // by what is about to be converted
}

// Compile parses, checks, plans and compiles a program in this session. Options
// declare the operands; results need none.
func (s *Session) Compile(ctx context.Context, src string, opts ...Option) (*Kernel, error) {
	if err := checkContext(ctx); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	return s.kernel(ctx, src, newDeclarations(), opts)
}

// kernel returns the kernel for a program and what is declared of its tensors,
// from the session's cache if it is there.
func (s *Session) kernel(ctx context.Context, src string, d *declarations, opts []Option) (k *Kernel, err error) {
	defer caught(src, &err)
	if err := d.apply(opts); err != nil {
		return nil, err
	}
	if err := d.makePlain(ctx, s); err != nil {
		return nil, err
	}
	memory := keys.Get().(*[]byte)
	defer keys.Put(memory)
	*memory = d.appendKey((*memory)[:0], src)
	s.mu.Lock()
	k = s.kernels[string(*memory)]
	s.mu.Unlock()
	if k != nil {
		return k, nil
	}
	key := string(*memory)
	return s.compiling.Do(ctx, key, func() (*Kernel, bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		k := s.kernels[key]
		return k, k != nil
	}, func(ctx context.Context) (*Kernel, error) {
		k, err := s.compile(ctx, src, d)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.kernels) >= cachedKernels {
			clear(s.kernels)
		}
		s.kernels[key] = k
		return k, nil
	})
}

// indexTypes spells the widths of a tensor's index arrays.
func indexTypes(t *tensor.Tensor) string {
	var b strings.Builder
	for _, l := range t.Levels() {
		fmt.Fprintf(&b, "%s/%s,", l.Pos.DType(), l.Crd.DType())
	}
	return b.String()
}

// InternalError is a mistake of the compiler itself: a bug, not something wrong
// with the program. The process goes on.
type InternalError struct {
	Program string
	Panic   any
	Stack   []byte
}

// Error asks for a report.
func (e *InternalError) Error() string {
	return fmt.Sprintf("internal error (a bug in lacuna, please report it with the program): %v\nprogram: %s", e.Panic, e.Program)
}

// caught turns a panic of the compiler into an InternalError.
func caught(src string, err *error) {
	r := recover()
	if p, ok := r.(*flight.Panic); ok {
		*err = &InternalError{Program: src, Panic: p.Value, Stack: p.Stack}
	} else if r != nil {
		*err = &InternalError{Program: src, Panic: r, Stack: debug.Stack()}
	}
}

// Check parses a program and checks it against what options declare of its tensors, without compiling it. Errors are
// those of [Compile] about the text; warnings tell what a program that is right may not mean, such as an implied sum
// inside parentheses.
func Check(src string, opts ...Option) ([]*lang.Warning, error) {
	d := newDeclarations()
	if err := d.apply(opts); err != nil {
		return nil, err
	}
	file, program, err := check(src, d)
	if err != nil {
		return nil, err
	}
	return lang.Warnings(file, program), nil
}

// check parses a program and checks it against what is declared.
func check(src string, d *declarations) (*lang.File, *lang.Program, error) {
	file, err := lang.Parse(src)
	if err != nil {
		return nil, nil, err
	}
	program, err := checkFile(file, d)
	return file, program, err
}

// checkFile resolves and types what check has parsed.
func checkFile(file *lang.File, d *declarations) (*lang.Program, error) {
	decls, err := d.decls(file)
	if err != nil {
		return nil, err
	}
	return lang.Check(file, decls)
}

// compileAs compiles a program in the order in which it is written.
func (s *Session) compileAs(ctx context.Context, src string, file *lang.File, program *lang.Program, d *declarations) (*Kernel, error) {
	forms := d.forms()
	var literals []int64
	if forms == nil && !s.keepLiterals {
		var like string
		if literals, like = program.TakeLiterals(); len(literals) > 0 {
			p, err := s.plannedLike(ctx, like, program, d)
			if err != nil {
				return nil, withSource(err, src)
			}
			return &Kernel{planned: p, source: src, file: file, checked: program, literals: literals}, nil
		}
	}
	p, err := s.newPlanned(ctx, program, d)
	if err != nil {
		return nil, withSource(err, src)
	}
	return &Kernel{planned: p, source: src, file: file, checked: program}, nil
}

// plannedLike is newPlanned for a program that has literals taken, from the session's cache if one like it is there.
func (s *Session) plannedLike(ctx context.Context, like string, program *lang.Program, d *declarations) (*planned, error) {
	key := string(d.appendKey(nil, like))
	return s.planning.Do(ctx, key, func() (*planned, bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		p := s.plans[key]
		return p, p != nil
	}, func(ctx context.Context) (*planned, error) {
		p, err := s.newPlanned(ctx, program, d)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.plans == nil || len(s.plans) >= cachedKernels {
			s.plans = map[string]*planned{}
		}
		s.plans[key] = p
		return p, nil
	})
}

// newPlanned plans a program and compiles it for the operands as declared.
func (s *Session) newPlanned(ctx context.Context, program *lang.Program, d *declarations) (*planned, error) {
	k := &planned{session: s, options: s.options, program: program, alg: ir.Algebra{Strict: d.strict, Eval: lower.Eval}}
	forms := d.forms()
	for _, t := range program.Tensors {
		if t.Operand {
			k.types = append(k.types, d.typesOf(t, forms[t.Name])...) // the planner starts with the operands
		}
	}
	if err := k.compile(ctx, ir.Options{StrictIEEE: d.strict, Grids: runtime.OnGrids(s.engine), Forms: forms}); err != nil {
		return nil, err
	}
	return k, nil
}

// emptied returns the kernel for operands with means and variances of nothing.
func (k *Kernel) emptied(ctx context.Context, nothing []*lang.Reduce) (n *Kernel, err error) {
	opts := k.plan.Options
	opts.Nothing = slices.Clone(nothing)
	return k.other(ctx, &k.empty, pointers(nothing), opts)
}

// pointers names things that stay where they are.
func pointers[T any](list []*T) string {
	var b []byte
	for _, p := range list {
		b = fmt.Appendf(b, "%p ", p)
	}
	return string(b)
}

// narrowed is the kernel for the same program whose workspaces have one dimension
// each.
func (k *Kernel) narrowed(ctx context.Context) (n *Kernel, err error) {
	opts := k.plan.Options
	opts.NarrowWorkspaces = true
	return k.other(ctx, &k.narrow, "narrow", opts)
}

// other is the kernel for the same program with another plan, kept in a place; the key tells
// it from other ones that are made at the same time.
func (k *Kernel) other(ctx context.Context, in *atomic.Pointer[Kernel], key string, opts ir.Options) (n *Kernel, err error) {
	defer caught(k.source, &err)
	have := func() (*Kernel, bool) {
		n := in.Load()
		return n, n != nil && slices.Equal(n.plan.Options.Nothing, opts.Nothing)
	}
	if n, ok := have(); ok {
		return n, nil
	}
	return k.others.Do(ctx, key, have, func(ctx context.Context) (*Kernel, error) {
		n, err := k.replanned(ctx, opts)
		if err == nil {
			in.Store(n)
		}
		return n, err
	})
}

// replanned is the kernel for the same program and operands with another plan.
func (k *Kernel) replanned(ctx context.Context, opts ir.Options) (n *Kernel, err error) {
	defer caught(k.source, &err)
	n = &Kernel{
		planned: &planned{session: k.session, options: k.options, program: k.checked, alg: k.alg, types: k.types},
		source:  k.source, file: k.file, checked: k.checked, literals: k.literals,
		written: k.written, intermediates: k.intermediates, notes: k.notes,
	}
	if err := n.compile(ctx, opts); err != nil {
		return nil, withSource(err, k.source)
	}
	return n, nil
}

// compile plans the program and compiles its steps for the operands as declared.
func (k *planned) compile(ctx context.Context, opts ir.Options) error {
	plan, err := ir.New(ctx, k.program, opts, lower.Eval)
	if err != nil {
		return err
	}
	k.plan, k.operands = plan, plan.Operands
	k.patterns = make([]atomic.Pointer[conversion], len(k.operands))
	types := make(declaredTypes, len(plan.Tensors))
	copy(types, k.types)
	var begun []*compilation
	converts := false
	ahead := ctx
	if runtime.OnGrids(k.session.engine) {
		ahead = context.WithoutCancel(ctx) // it may be under way when this returns
	}
	for _, st := range plan.Steps {
		sp := &step{plan: st, variants: map[string]*variant{}}
		if c, ok := st.(*ir.Compute); ok {
			sp.broadcasts = c.Broadcasts(k.alg)
		}
		k.steps = append(k.steps, sp)
		if c, ok := st.(*ir.Convert); ok {
			types[c.To.ID] = emptyTensor(c.To.Format, c.To.DType)
			converts = true
		}
		if j, ok := st.(*ir.Join); ok {
			types[j.To.ID] = emptyTensor(j.To.Format, j.To.DType)
		}
		switch st.(type) {
		case *ir.Compute, *ir.Scan, *ir.Statistic, *ir.Sort:
			// Compile ahead of the first run what will most likely run.
			how := choice{crd: loop.U32, work: k.session.workspace(lower.DenseWorkspace), assembly: k.assembly()}
			how.tables = how.work == lower.DenseWorkspace && k.mayTabulate(sp)
			if runtime.OnGrids(k.session.engine) {
				how.work = k.session.workspace(lower.HashWorkspace)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			c, err := k.begin(ahead, sp, types, how)
			if err != nil {
				return err
			}
			begun = append(begun, c)
		}
	}
	if converts && runtime.OnGrids(k.session.engine) {
		// The first run compiles the conversions, which takes longer; meanwhile these are compiled.
		return nil
	}
	for _, c := range begun {
		if _, err := c.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// withSource adds the text of a program to an error of the planner.
func withSource(err error, src string) error {
	var unsupported *lang.Error
	if errors.As(err, &unsupported) {
		return unsupported.WithSource(src)
	}
	return err
}

// variant is a step compiled for particular index widths.
type variant struct {
	choice
	lower *lower.Kernel
	exe   *compilation
	calls sync.Pool // of *call
}

// newVariant is a variant whose program is compiled, or about to be.
func newVariant(how choice, low *lower.Kernel, exe *compilation) *variant {
	v := &variant{choice: how, lower: low, exe: exe}
	v.calls.New = func() any { return &call{bindings: exe.exe.NewBindings()} } // which is there by then
	return v
}

// compilation is a program that is being compiled, or that has been.
type compilation struct {
	done chan struct{} // closed when what follows is there
	exe  *runtime.Executable
	err  error
}

// compileAhead compiles a program in the background; what names it in errors.
func (s *Session) compileAhead(ctx context.Context, what string, p *loop.Program) *compilation {
	c := &compilation{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		defer caught(what, &c.err)
		c.exe, c.err = s.cache.Compile(ctx, s.engine, p)
	}()
	return c
}

// compiled is a compilation that is done.
func compiled(exe *runtime.Executable) *compilation {
	c := &compilation{done: make(chan struct{}), exe: exe}
	close(c.done)
	return c
}

// wait waits for the compilation, or the end of ctx.
func (c *compilation) wait(ctx context.Context) (*runtime.Executable, error) {
	select {
	case <-c.done:
		return c.exe, c.err
	default:
	}
	select {
	case <-c.done:
		return c.exe, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// declaredTypes gives index widths where tensors are known, and the usual ones
// elsewhere.
type declaredTypes []*tensor.Tensor // by ir.Tensor.ID; nil: unknown

// IndexType implements lower.OperandTypes.
func (d declaredTypes) IndexType(t *ir.Tensor, level int, kind lower.ArrayKind) tensor.DType {
	if v := d[t.ID]; v != nil {
		if kind == lower.Positions {
			return v.Levels()[level].Pos.DType()
		}
		return v.Levels()[level].Crd.DType()
	}
	if kind == lower.Positions && (t.Source == nil || t.Source.Result) {
		return tensor.Uint64
	}
	return tensor.Uint32
}

// variant returns the step compiled for the given operands' index widths and
// the given choice.
func (k *Kernel) variant(ctx context.Context, st *step, types declaredTypes, how choice) (v *variant, err error) {
	defer caught(k.source, &err)
	key := st.key(types, how)
	return st.compiling.Do(ctx, key, func() (*variant, bool) {
		st.mu.Lock()
		defer st.mu.Unlock()
		v := st.variants[key]
		if v != nil {
			st.latest.Store(v)
		}
		return v, v != nil
	}, func(ctx context.Context) (*variant, error) {
		low, err := k.lowered(st.plan, types, k.lowering(how))
		if err != nil {
			return nil, err
		}
		exe, err := k.session.cache.Compile(ctx, k.session.engine, low.Program)
		if err != nil {
			return nil, err
		}
		return st.keep(key, newVariant(how, low, compiled(exe))), nil
	})
}

// begin is variant, for the first one of a step, that does not wait for the compilation.
func (k *planned) begin(ctx context.Context, st *step, types declaredTypes, how choice) (*compilation, error) {
	low, err := k.lowered(st.plan, types, k.lowering(how))
	if err != nil {
		return nil, err
	}
	c := k.session.compileAhead(ctx, k.program.Source, low.Program)
	st.reads = tensorsOf(low.Inputs)
	st.keep(st.key(types, how), newVariant(how, low, c))
	return c, nil
}

// keep makes a variant one of the step's, and the latest.
func (st *step) keep(key string, v *variant) *variant {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.variants[key] = v
	st.latest.Store(v)
	return v
}

// lowering are the options that a choice stands for.
func (k *planned) lowering(how choice) lower.Options {
	grids := runtime.OnGrids(k.session.engine)
	return lower.Options{Coordinates: how.crd, Workspace: how.work,
		LimitWide: !k.plan.Options.NarrowWorkspaces, Tables: how.tables, Assembly: how.assembly,
		Grids: grids, Copies: !grids, Grain: k.session.grain}
}

// lowered is the program of a step.
func (k *planned) lowered(st ir.Step, types declaredTypes, opts lower.Options) (*lower.Kernel, error) {
	switch s := st.(type) {
	case *ir.Scan:
		return lower.Scan(s, types, opts)
	case *ir.Statistic:
		return lower.Statistic(s, types, opts)
	case *ir.Sort:
		return lower.Sort(s, types, opts)
	}
	return lower.Step(st.(*ir.Compute), k.alg, types, opts)
}

// tables are the tables of a step's loops.
func (st *step) tables() []*ir.Tabulate {
	if c, ok := st.plan.(*ir.Compute); ok {
		return c.Tables
	}
	return nil
}

// key names a variant: the widths of the index arrays that the step reads.
func (st *step) key(types declaredTypes, how choice) string {
	var b strings.Builder
	b.WriteString(how.crd.String() + " " + how.work.String())
	if how.tables {
		b.WriteString(" tables")
	}
	b.WriteString(" " + how.assembly.String())
	for _, t := range st.reads {
		if v := types[t.ID]; v != nil {
			fmt.Fprintf(&b, ";%s %s", t.Name, indexTypes(v))
		}
	}
	return b.String()
}

// tensorsOf lists the tensors that inputs are of, each once.
func tensorsOf(inputs []lower.Input) []*ir.Tensor {
	var list []*ir.Tensor
	for _, in := range inputs {
		if !slices.Contains(list, in.Tensor) {
			list = append(list, in.Tensor)
		}
	}
	return list
}
