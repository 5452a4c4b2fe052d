// Package invoke runs compiled kernels on tensors: it binds their arrays to the buffers of a program and takes what the
// program makes as arrays again. What a run of a whole program does in between is package exec's.
package invoke

import (
	"context"
	"sync"

	"github.com/lacuna-sparse/lacuna/lower/emit"
	"github.com/lacuna-sparse/lacuna/lower/gpu"
	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Target is where kernels run, and how.
type Target struct {
	Engine  runtime.Engine
	Options runtime.Options
	Cache   *runtime.Cache // of what has been compiled for the engine
	Grain   int64          // as debug.ChunkGrain
}

// OnGrids reports whether the engine runs kernels as a GPU does.
func (t *Target) OnGrids() bool { return runtime.OnGrids(t.Engine) }

// Kernel is a lowered kernel whose program is compiled, or about to be.
type Kernel struct {
	Lower *emit.Kernel
	exe   *Compilation
	calls sync.Pool // of *Call
}

// New is the kernel of a program that is being compiled.
func New(low *emit.Kernel, exe *Compilation) *Kernel {
	k := &Kernel{Lower: low, exe: exe}
	k.calls.New = func() any { return &Call{Bindings: exe.exe.NewBindings(), kernel: k} } // which is there by then
	return k
}

// Compile is a kernel whose program it compiles first.
func (t *Target) Compile(ctx context.Context, low *emit.Kernel) (*Kernel, error) {
	exe, err := t.executable(ctx, low)
	if err != nil {
		return nil, err
	}
	c := &Compilation{done: make(chan struct{}), exe: exe}
	close(c.done)
	return New(low, c), nil
}

// Grids says how a lowered program is mapped to the threads of the engine.
func (t *Target) Grids(low *emit.Kernel) gpu.Options {
	how := gpu.Options{}
	if t.Engine.Name() == runtime.SimulatedName {
		how = gpu.Simulated
	}
	how.Mapping = low.Mapping
	return how
}

// executable makes a lowered program ready to run. Engines run programs as they are, so one for a GPU
// is mapped to its threads here.
func (t *Target) executable(ctx context.Context, low *emit.Kernel) (*runtime.Executable, error) {
	p := low.Program
	if t.OnGrids() {
		mapped, err := gpu.Lower(p, t.Grids(low))
		if err != nil {
			return nil, &runtime.ProgramError{Program: p.Name, Err: err}
		}
		p = mapped
	}
	return t.Cache.Compile(ctx, t.Engine, p)
}

// Compilation is a program that is being compiled, or that has been.
type Compilation struct {
	done chan struct{} // closed when what follows is there
	exe  *runtime.Executable
	err  error
}

// CompileAhead compiles a program in the background; what names it in errors.
func (t *Target) CompileAhead(ctx context.Context, what string, low *emit.Kernel) *Compilation {
	c := &Compilation{done: make(chan struct{})}
	go func() {
		defer close(c.done)
		defer runtime.Caught(what, &c.err)
		c.exe, c.err = t.executable(ctx, low)
	}()
	return c
}

// Wait waits for the compilation, or the end of ctx.
func (c *Compilation) Wait(ctx context.Context) error {
	select {
	case <-c.done:
		return c.err
	default:
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Call is the memory of one run of a kernel, used again by later runs.
type Call struct {
	Bindings *runtime.Bindings
	Results  runtime.Results
	kernel   *Kernel
}

// Begin waits until the kernel is compiled, and returns a call to fill in, run and finish.
func (k *Kernel) Begin(ctx context.Context) (*Call, error) {
	if err := k.exe.Wait(ctx); err != nil {
		return nil, err
	}
	return k.calls.Get().(*Call), nil
}

// Run runs the kernel on what is bound.
func (c *Call) Run(ctx context.Context, o runtime.Options) error {
	return c.kernel.exe.exe.RunInto(ctx, c.Bindings, o, &c.Results)
}

// RunSymbolic is Run with what follows from patterns alone kept in, or taken from, s.
func (c *Call) RunSymbolic(ctx context.Context, o runtime.Options, s *runtime.Symbolic) error {
	return c.kernel.exe.exe.RunSymbolic(ctx, c.Bindings, o, &c.Results, s)
}

// Finish lets go of the operands and keeps the call for the next run.
func (c *Call) Finish() {
	clear(c.Bindings.Buffers)
	clear(c.Results.Buffers)
	c.kernel.calls.Put(c)
}

// Operand is the array of a tensor that an input names.
func Operand(t *tensor.Tensor, in emit.Input) tensor.Array {
	switch in.Kind {
	case emit.Positions:
		return t.LevelAt(in.Level).Pos
	case emit.Coordinates:
		return t.LevelAt(in.Level).Crd
	case emit.FillValue:
		fill, err := tensor.MakeArray(t.DType(), 1)
		if err != nil {
			panic("BUG: " + err.Error())
		}
		fill.SetScalar(0, t.Fill())
		return fill
	}
	return t.Values()
}

// Memory is an array as the engine takes it: where the engine's device has a copy,
// that.
func (t *Target) Memory(a tensor.Array) runtime.Memory {
	if r, ok := a.Remote().(*runtime.Resident); ok && r.On(t.Engine) {
		m := runtime.Memory{Len: int64(a.Len()), On: r}
		if a.Here() {
			m.Ptr = a.Pointer()
		}
		return m
	}
	return runtime.Memory{Ptr: a.Pointer(), Len: int64(a.Len())}
}

// Array is what a run has made as an array, which may still be on a device.
func Array(dt tensor.DType, m runtime.Memory) tensor.Array {
	if m.On != nil {
		return tensor.RemoteArray(dt, int(m.Len), m.On)
	}
	if m.Pooled != nil {
		return m.Pooled.Array(dt, m.Ptr, int(m.Len))
	}
	return tensor.HeapArray(dt, m.Ptr, int(m.Len))
}
