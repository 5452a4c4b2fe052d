package runtime

import (
	"context"

	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// Interp returns the engine that is always there: Go closures. It checks every
// access to memory and gives the same bits as the CPU engine.
func Interp() Engine { return &interpEngine{newAllocator()} }

type interpEngine struct{ memory *allocator }

func (*interpEngine) Name() string        { return InterpName }
func (*interpEngine) Fingerprint() string { return InterpName }

func (e *interpEngine) Compile(ctx context.Context, p *loop.Program) (*Executable, error) {
	return compile(ctx, e.Name(), p, e.memory, e.kernels)
}

func (*interpEngine) kernels(ctx context.Context, funcs []*loop.Func) ([]kernel, error) {
	kernels := make([]kernel, len(funcs))
	for i, f := range funcs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k, err := interp.Compile(f, lib.Lookup)
		if err != nil {
			return nil, err
		}
		kernels[i] = interpKernel{k}
	}
	return kernels, nil
}

type interpKernel struct{ *interp.Kernel }

func (k interpKernel) call(f *frame, chunk, lo, hi int64) (int64, error) {
	status, err := k.RunUntil(f.stop, f.bufs, f.args, chunk, lo, hi)
	if err != nil {
		return 0, err
	}
	return status, nil
}
