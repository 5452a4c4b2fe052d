package runtime

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/internal/machine"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// Engine compiles programs. Engines are safe for concurrent use.
type Engine interface {
	// Name is the name that EngineByName takes.
	Name() string
	// Fingerprint names everything besides the program that compiled code
	// depends on: engine, compiler version, processor. It is part of cache keys.
	Fingerprint() string
	// Compile makes a program ready to run, as it is: where OnGrids holds, all its functions
	// are grid functions already (package lower/gpu). The program must not be changed
	// afterwards. Errors are *ProgramError, which wraps the verifier's or the
	// code generator's, or the context's.
	Compile(ctx context.Context, p *loop.Program) (*Executable, error)
}

// The names of the engines.
const (
	AutoName   = "auto" // the best that is there
	InterpName = "interp"
	CPUName    = "cpu"
	CUDAName   = "cuda"
)

// EngineByName returns the engine of a name: "auto", "interp", "cpu" or
// "cuda". The error is an *UnavailableError if the engine cannot be used here,
// and wraps ErrUnknownEngine if there is none of that name. notice, which may
// be nil, is told what "auto" did without.
func EngineByName(name string, notice func(string)) (Engine, error) {
	switch name {
	case AutoName:
		return Auto(notice), nil
	case InterpName:
		return Interp(), nil
	case CPUName:
		return CPU()
	case CUDAName:
		return CUDA()
	case SimulatedName:
		return Simulated(), nil
	}
	return nil, fmt.Errorf("%w %q: want auto, interp, cpu or cuda", ErrUnknownEngine, name)
}

// OnGrids reports whether an engine runs programs of grid functions, as a GPU does.
func OnGrids(e Engine) bool {
	switch e.(type) {
	case *cudaEngine, simulated:
		return true
	}
	return false
}

// Auto returns the CPU engine if LLVM is there, and the interpreter if not.
// In that case it calls notice, unless that is nil, once with a sentence that
// says so and how to get LLVM.
func Auto(notice func(string)) Engine {
	e, err := CPU()
	if err == nil {
		return e
	}
	if notice != nil {
		why := firstLine(Reason(err))
		if _, ok := errors.AsType[*machine.SettingError](err); !ok && !strings.Contains(why, llvm.Install) {
			why += fmt.Sprintf("; to get it, run %q or name an LLVM in %s", llvm.Install, llvm.EnvVar)
		}
		notice("running on the interpreter, which is slower than machine code: " + why)
	}
	return Interp()
}

// firstLine is a message without the details below its first line.
func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// compile makes an executable: the plan, which is the same for every engine,
// and the kernels, which are the engine's.
func compile(ctx context.Context, engine string, p *loop.Program, memory *alloc.Allocator,
	kernels func(context.Context, []*loop.Func) ([]kernel, error), instrument instrumenter) (*Executable, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Everything after this trusts the program, native code most of all.
	if err := p.Verify(lib.Lookup); err != nil {
		return nil, &ProgramError{Program: p.Name, Err: err}
	}
	plan := newPlan(p)
	list, err := kernels(ctx, plan.funcs)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &ProgramError{Program: p.Name, Err: fmt.Errorf("engine %s: %w", engine, err)}
	}
	x := newExecutable(engine, plan, list, memory)
	x.instrumented.compile = instrument
	return x, nil
}
