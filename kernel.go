package lacuna

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sort"
	"strings"
	"sync"
	"sync/atomic"

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
	session  *Session
	options  runtime.Options
	source   string
	file     *lang.File
	program  *lang.Program
	plan     *ir.Plan
	alg      ir.Algebra
	operands []*lang.Tensor
	// operandIDs are the operands' ir.Tensor.IDs.
	operandIDs []int
	steps      []*step
	bound      atomic.Pointer[binding] // of the latest shapes
}

// step is one step of the plan with the variants compiled for it.
type step struct {
	plan ir.Step

	mu       sync.Mutex
	variants map[string]*variant
	latest   atomic.Pointer[variant]
	// converted remembers the latest conversion of a convert step.
	converted atomic.Pointer[conversion]
}

// Compile parses, checks, plans and compiles a program in this session. Options
// declare the operands; results need none.
func (s *Session) Compile(src string, opts ...Option) (*Kernel, error) {
	d := &declarations{decls: map[string]lang.Decl{}, types: map[string]*tensor.Tensor{}}
	for _, o := range opts {
		o(d)
	}
	if d.err != nil {
		return nil, d.err
	}
	key := d.key(src)
	s.mu.Lock()
	k := s.kernels[key]
	s.mu.Unlock()
	if k != nil {
		return k, nil
	}
	k, err := s.compile(src, d)
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
}

// key identifies a program and its declarations.
func (d *declarations) key(src string) string {
	names := make([]string, 0, len(d.decls))
	for name := range d.decls {
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	fmt.Fprintf(&b, "%q %t", src, d.strict)
	for _, name := range names {
		decl := d.decls[name]
		fmt.Fprintf(&b, ";%s %d %t %s %t %s %v %t", name, decl.Rank, decl.HasFormat, decl.Format, decl.HasDType, decl.DType, decl.Shape, decl.Result)
		if decl.Fill != nil {
			lo, hi := decl.Fill.Bits()
			fmt.Fprintf(&b, " %s %x %x", decl.Fill.DType(), lo, hi)
		}
		if t := d.types[name]; t != nil {
			b.WriteString(" " + indexTypes(t))
		}
	}
	return b.String()
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
	if r := recover(); r != nil {
		*err = &InternalError{Program: src, Panic: r, Stack: debug.Stack()}
	}
}

func (s *Session) compile(src string, d *declarations) (k *Kernel, err error) {
	defer caught(src, &err)
	file, err := lang.Parse(src)
	if err != nil {
		return nil, err
	}
	program, err := lang.Check(file, d.decls)
	if err != nil {
		return nil, err
	}
	plan, err := ir.New(program, ir.Options{StrictIEEE: d.strict}, lower.Eval)
	if err != nil {
		var unsupported *lang.Error
		if errors.As(err, &unsupported) {
			return nil, unsupported.WithSource(src)
		}
		return nil, err
	}
	k = &Kernel{
		session: s, options: s.options, source: src, file: file, program: program, plan: plan,
		alg: ir.Algebra{Strict: d.strict, Eval: lower.Eval},
	}
	for _, t := range program.Tensors {
		if t.Operand {
			k.operands = append(k.operands, t)
		}
	}
	types := make(declaredTypes, len(plan.Tensors))
	for _, t := range plan.Tensors {
		if t.Source != nil && t.Source.Operand && len(k.operandIDs) < len(k.operands) {
			k.operandIDs = append(k.operandIDs, t.ID) // the planner starts with the operands
			types[t.ID] = d.types[t.Name]
		}
	}
	for _, st := range plan.Steps {
		sp := &step{plan: st, variants: map[string]*variant{}}
		k.steps = append(k.steps, sp)
		if c, ok := st.(*ir.Compute); ok {
			// Compile ahead of the first run what will most likely run.
			if _, err := k.variant(context.Background(), sp, c, types, loop.U32); err != nil {
				return nil, err
			}
		}
	}
	return k, nil
}

// variant is a step compiled for particular index widths.
type variant struct {
	lower *lower.Kernel
	exe   *runtime.Executable
	calls sync.Pool // of *call
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
// the given type of the result's coordinates.
func (k *Kernel) variant(ctx context.Context, st *step, c *ir.Compute, types declaredTypes, crd loop.Type) (v *variant, err error) {
	defer caught(k.source, &err)
	var b strings.Builder
	b.WriteString(crd.String())
	for _, t := range k.plan.Tensors {
		if v := types[t.ID]; v != nil {
			fmt.Fprintf(&b, ";%s %s", t.Name, indexTypes(v))
		}
	}
	key := b.String()
	st.mu.Lock()
	defer st.mu.Unlock()
	if v := st.variants[key]; v != nil {
		st.latest.Store(v)
		return v, nil
	}
	low, err := lower.Step(c, k.alg, types, lower.Options{Coordinates: crd})
	if err != nil {
		return nil, err
	}
	exe, err := k.session.cache.Compile(ctx, k.session.engine, low.Program)
	if err != nil {
		return nil, err
	}
	v = &variant{lower: low, exe: exe}
	v.calls.New = func() any { return &call{bindings: exe.NewBindings()} }
	st.variants[key] = v
	st.latest.Store(v)
	return v, nil
}
