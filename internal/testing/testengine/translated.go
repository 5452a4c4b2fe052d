package testengine

import (
	"context"
	"fmt"
	"slices"

	"github.com/lacuna-sparse/lacuna/codegen/ptx"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
	"github.com/lacuna-sparse/lacuna/runtime"
)

// translated runs programs on the interpreter, but refuses those that cannot be
// mapped to grids and translated to PTX: a test of all that needs no GPU.
type translated struct {
	runtime.Engine
	llvm *llvm.LLVM
}

// targetCPU is the oldest architecture that kernels are made for.
const targetCPU = "sm_70"

// PTX returns the engine that translates programs to PTX and runs them on the
// interpreter. The error says that there is no LLVM.
func PTX() (runtime.Engine, error) {
	l, err := llvm.Load("")
	if err != nil {
		return nil, err
	}
	return &translated{runtime.Interp(), l}, nil
}

func (e *translated) Name() string { return "ptx" }

// Compile translates the program both ways.
func (e *translated) Compile(ctx context.Context, p *loop.Program) (*runtime.Executable, error) {
	if slices.ContainsFunc(p.Stages, func(s loop.Stage) bool { return s.Copies != nil }) {
		return e.Engine.Compile(ctx, p) // programs for grids have no stages that update copies
	}
	mapped, err := gpu.Lower(p, gpu.Options{})
	if err != nil {
		return nil, fmt.Errorf("mapped to a GPU: %w\n%s", err, p)
	}
	var quick, careful []*loop.Func
	add := func(list []*loop.Func, f *loop.Func, i int) []*loop.Func {
		named := *f
		named.Name = fmt.Sprintf("%s_%d", f.Name, i)
		return append(list, &named)
	}
	for i := range mapped.Stages {
		f := mapped.Stages[i].Func
		if f == nil {
			continue
		}
		careful = add(careful, f, i)
		if f.Quick != nil {
			f = f.Quick
		}
		quick = add(quick, f, i)
	}
	if len(careful) > 0 { // both tiers, as the engine for GPUs does
		if err := e.translate(quick, llvm.Quick); err != nil {
			return nil, err
		}
		if err := e.translate(careful, llvm.O3); err != nil {
			return nil, err
		}
	}
	return e.Engine.Compile(ctx, p)
}

// translate makes PTX of functions.
func (e *translated) translate(funcs []*loop.Func, level llvm.Level) error {
	text, err := ptx.Emit("program", funcs, lib.Lookup)
	if err != nil {
		return err
	}
	_, err = e.llvm.EmitAssembly(text, llvm.Options{Target: llvm.Target{Triple: ptx.Triple, CPU: targetCPU}, Level: level})
	return err
}
