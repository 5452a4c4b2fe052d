package runtime

import (
	"context"
	"fmt"
	goruntime "runtime"
	"strings"

	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// CPU returns the engine that runs machine code for this processor, made by
// LLVM. The error is an *UnavailableError if no LLVM is found.
func CPU() (Engine, error) {
	l, err := llvm.Load("")
	if err != nil {
		return nil, missingLLVM(err)
	}
	host, err := l.Host()
	if err != nil {
		return nil, missingLLVM(err)
	}
	memory := newAllocator()
	memory.machine = func() machineMemory {
		// A run that is about to take much memory does not need LLVM's.
		l.ReleasePages()
		return readMachineMemory()
	}
	return &cpuEngine{llvm: l, host: host, memory: memory}, nil
}

type cpuEngine struct {
	llvm   *llvm.LLVM
	host   llvm.Target
	memory *allocator
}

func (*cpuEngine) Name() string { return CPUName }

func (e *cpuEngine) Fingerprint() string {
	return strings.Join([]string{CPUName, "llvm", e.llvm.Version().String(), e.host.Triple, e.host.CPU, e.host.Features}, " ")
}

func (e *cpuEngine) Compile(ctx context.Context, p *loop.Program) (*Executable, error) {
	return compile(ctx, e.Name(), p, e.memory, e.kernels)
}

// kernels compiles the functions in one go. LLVM cannot be interrupted; the
// context is looked at between its steps.
func (e *cpuEngine) kernels(ctx context.Context, funcs []*loop.Func) ([]kernel, error) {
	if len(funcs) == 0 {
		return nil, nil
	}
	named := uniqueNames(funcs)
	text, err := cpu.Emit("program", named, lib.Lookup)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Two steps, because the object is what can be kept for another process.
	object, err := e.llvm.EmitObject(text, llvm.Options{Target: e.host})
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	module, err := e.llvm.Link(object)
	if err != nil {
		return nil, err
	}
	code := newMachineCode(module)
	kernels := make([]kernel, len(funcs))
	for i, f := range named {
		entry, err := module.Func(f.Name)
		if err != nil {
			return nil, err
		}
		kernels[i] = &cpuKernel{code, entry}
	}
	return kernels, nil
}

// uniqueNames returns the functions under names that differ: two stages may have
// functions of one name, or one function, but they share a module.
func uniqueNames(funcs []*loop.Func) []*loop.Func {
	named := make([]*loop.Func, len(funcs))
	for i, f := range funcs {
		g := *f
		g.Name = fmt.Sprintf("%s_%d", loop.CleanName(f.Name), i)
		named[i] = &g
	}
	return named
}

// machineCode owns a module: the code is freed when no kernel of it is
// reachable any more. Executables that a cache drops may still be running, so
// nobody but the garbage collector knows when that is.
type machineCode struct{ module *llvm.Module }

func newMachineCode(m *llvm.Module) *machineCode {
	c := &machineCode{m}
	goruntime.AddCleanup(c, func(m *llvm.Module) {
		// Freeing takes LLVM a while, and other cleanups wait. An error means
		// that the code stays, which harms nobody.
		go func() { _ = m.Close() }()
	}, m)
	return c
}

type cpuKernel struct {
	code  *machineCode
	entry uintptr
}

func (k *cpuKernel) call(f *frame, chunk, lo, hi int64) (int64, error) {
	status := llvm.Call(k.entry, f.blockPtr(), chunk, lo, hi)
	goruntime.KeepAlive(k.code)
	return status, nil
}
