//go:build (linux || darwin) && (amd64 || arm64)

package main

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/lacuna-sparse/lacuna"
	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	planning "github.com/lacuna-sparse/lacuna/ir/plan"
	"github.com/lacuna-sparse/lacuna/lang"
	"github.com/lacuna-sparse/lacuna/lower"
	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/scalar"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// operands are tensors by name.
type operands map[string]*tensor.Tensor

// args are the operands for a run.
func (o operands) args() lacuna.Args {
	args := lacuna.Args{}
	for name, t := range o {
		args[name] = t
	}
	return args
}

// lowered is a program of one statement taken through the compiler by hand, to
// get at what the public interface hides: the parts of a compilation, a run
// that writes to memory which is already there, and the loops without a run.
type lowered struct {
	args    operands
	program *lang.Program
	compute *ir.Compute
	kernel  *emit.Kernel
}

// declare declares the operands as lacuna.Operand does.
func declare(args operands) map[string]lang.Decl {
	decls := map[string]lang.Decl{}
	for name, t := range args {
		fill := t.Fill()
		decls[name] = lang.Decl{Rank: t.Rank(), Format: t.Format(), HasFormat: true, DType: t.DType(), HasDType: true, Fill: &fill}
	}
	return decls
}

// plan makes the plan of a checked program of one compute step.
func plan(program *lang.Program) (*ir.Compute, error) {
	p, err := planning.New(context.Background(), program, ir.Options{}, scalar.Eval)
	if err != nil {
		return nil, err
	}
	c, ok := p.Steps[0].(*ir.Compute)
	if !ok || len(p.Steps) != 1 {
		return nil, fmt.Errorf("the plan is not one compute step:\n%s", p)
	}
	return c, nil
}

// widths gives the index types of operands. It implements emit.OperandTypes.
type widths operands

func (w widths) IndexType(t *ir.Tensor, level int, kind emit.ArrayKind) tensor.DType {
	l := w[t.Name].LevelAt(level)
	if kind == emit.Positions {
		return l.Pos.DType()
	}
	return l.Crd.DType()
}

func lowerStep(c *ir.Compute, args operands) (*emit.Kernel, error) {
	return lower.Step(c, ir.Algebra{Eval: scalar.Eval}, widths(args), lower.Options{Coordinates: loop.U32})
}

func lowerProgram(src string, args operands) (*lowered, error) {
	file, err := lang.Parse(src)
	if err != nil {
		return nil, err
	}
	program, err := lang.Check(file, declare(args))
	if err != nil {
		return nil, err
	}
	c, err := plan(program)
	if err != nil {
		return nil, err
	}
	k, err := lowerStep(c, args)
	if err != nil {
		return nil, err
	}
	return &lowered{args, program, c, k}, nil
}

// preallocate turns the result's values from memory that a run allocates into
// memory that the caller gives.
func (l *lowered) preallocate() error {
	p := l.kernel.Program
	id := l.kernel.Result.Values
	p.Buffers[id].Role = loop.InOut
	for i := range p.Stages {
		for _, list := range []*[]loop.Alloc{&p.Stages[i].Allocs, &p.Stages[i].PartitionAllocs} {
			kept := (*list)[:0]
			for _, a := range *list {
				if a.Buffer != id {
					kept = append(kept, a)
				} else if a.Zero {
					return fmt.Errorf("the result must start as zeros")
				}
			}
			*list = kept
		}
	}
	return nil
}

// bind fills in the operands, and y as the preallocated result.
func (l *lowered) bind(b *runtime.Bindings, y []float64) error {
	shapes := map[string][]int64{}
	for name, t := range l.args {
		shapes[name] = t.Shape()
	}
	extents, err := lang.Bind(l.program, shapes)
	if err != nil {
		return err
	}
	for _, in := range l.kernel.Inputs {
		t := l.args[in.Tensor.Name]
		array := t.Values()
		switch in.Kind {
		case emit.Positions:
			array = t.LevelAt(in.Level).Pos
		case emit.Coordinates:
			array = t.LevelAt(in.Level).Crd
		}
		b.Buffers[in.Buffer] = runtime.Memory{Ptr: array.Pointer(), Len: int64(array.Len())}
	}
	b.Buffers[l.kernel.Result.Values] = runtime.MemoryOf(y)
	for _, s := range l.kernel.Scalars {
		switch {
		case s.Index != nil:
			b.Scalars[s.Scalar] = extents.Index[0][s.Index.ID]
		case s.Tensor == l.compute.Result:
			b.Scalars[s.Scalar] = extents.Shapes[l.compute.Stmt.LHS.Tensor.Name][s.Axis]
		default:
			b.Scalars[s.Scalar] = l.args[s.Tensor.Name].Dims()[s.Axis]
		}
	}
	return nil
}

// intoRun returns a function that runs the program into y, through all of the
// runtime but without allocating the result.
func intoRun(e runtime.Engine, src string, args operands, y []float64, threads int) (func() error, error) {
	l, err := lowerProgram(src, args)
	if err != nil {
		return nil, err
	}
	if err := l.preallocate(); err != nil {
		return nil, err
	}
	exe, err := e.Compile(context.Background(), l.kernel.Program)
	if err != nil {
		return nil, err
	}
	b := exe.NewBindings()
	if err := l.bind(b, y); err != nil {
		return nil, err
	}
	var r runtime.Results
	return func() error {
		return exe.RunInto(context.Background(), b, runtime.Options{Threads: threads}, &r)
	}, nil
}

// loopsRun returns a function that calls the program's one compiled function
// once, for the whole domain of n: the generated loops and nothing else.
func loopsRun(src string, args operands, y []float64, n int64) (func() error, error) {
	l, err := lowerProgram(src, args)
	if err != nil {
		return nil, err
	}
	if err := l.preallocate(); err != nil {
		return nil, err
	}
	p := l.kernel.Program
	var stage *loop.Stage
	for i := range p.Stages {
		if p.Stages[i].Func == nil {
			continue
		}
		if stage != nil {
			return nil, fmt.Errorf("the program has several functions")
		}
		stage = &p.Stages[i]
	}
	lib0, err := llvm.Load("")
	if err != nil {
		return nil, err
	}
	fn := *stage.Func
	fn.Name = "bench"
	entry, err := compileFunc(lib0, &fn)
	if err != nil {
		return nil, err
	}
	b := &runtime.Bindings{Buffers: make([]runtime.Memory, len(p.Buffers)), Scalars: make([]int64, len(p.Scalars))}
	if err := l.bind(b, y); err != nil {
		return nil, err
	}
	var buffers []unsafe.Pointer
	var scalars []int64
	for _, id := range stage.Bufs {
		buffers = append(buffers, b.Buffers[id].Ptr)
	}
	for _, id := range stage.Args {
		scalars = append(scalars, b.Scalars[id])
	}
	block := llvm.NewArgBlock(buffers, scalars)
	return func() error {
		if status := block.Call(entry, 0, 0, n); status != 0 {
			return fmt.Errorf("status %d", status)
		}
		return nil
	}, nil
}

// compileFunc compiles one loop function for this machine. The code stays.
func compileFunc(l *llvm.LLVM, f *loop.Func) (uintptr, error) {
	text, err := cpu.Emit("bench", []*loop.Func{f}, lib.Lookup)
	if err != nil {
		return 0, err
	}
	module, err := l.Compile(text, llvm.Options{})
	if err != nil {
		return 0, err
	}
	return module.Func(f.Name)
}
