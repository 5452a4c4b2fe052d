package runtime

import (
	"context"

	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// Interp returns the engine that is always there: Go closures. It checks every
// access to memory and gives the same bits as the CPU engine.
func Interp() Engine { return &interpEngine{memory: alloc.New()} }

// Traced returns an interpreter that calls compiled for each program and trace for each statement
// that runs, of several goroutines unless sessions have one thread. It is for looking at small runs.
func Traced(compiled func(*loop.Program), trace func(*loop.Func, *interp.Event)) Engine {
	return &interpEngine{alloc.New(), compiled, trace}
}

type interpEngine struct {
	memory   *alloc.Allocator
	compiled func(*loop.Program) // nil unless traced
	trace    func(*loop.Func, *interp.Event)
}

func (*interpEngine) Name() string        { return InterpName }
func (*interpEngine) Fingerprint() string { return InterpName }

func (e *interpEngine) Compile(ctx context.Context, p *loop.Program) (*Executable, error) {
	if e.compiled != nil {
		e.compiled(p)
	}
	return compile(ctx, e.Name(), p, e.memory, e.kernels, e.instrumented)
}

func (e *interpEngine) kernels(ctx context.Context, funcs []*loop.Func) ([]kernel, error) {
	kernels := make([]kernel, len(funcs))
	for i, f := range funcs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k, err := e.kernel(f)
		if err != nil {
			return nil, err
		}
		kernels[i] = interpKernel{k}
	}
	return kernels, nil
}

func (e *interpEngine) kernel(f *loop.Func) (*interp.Kernel, error) {
	if e.trace == nil {
		return interp.Compile(f, lib.Lookup)
	}
	return interp.CompileTraced(f, lib.Lookup, func(event *interp.Event) { e.trace(f, event) })
}

type interpKernel struct{ *interp.Kernel }

func (k interpKernel) call(f *frame, chunk, lo, hi int64) (int64, error) {
	status, err := k.RunUntil(f.stop, f.bufs, f.args, chunk, lo, hi)
	if err != nil {
		return 0, err
	}
	return status, nil
}
