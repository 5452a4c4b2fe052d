package runtime

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/internal/admission"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/diskcache"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/internal/machine"
	"github.com/lacuna-sparse/lacuna/internal/object"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// CPU returns the engine that runs machine code for this processor, made by
// LLVM. The error is an *UnavailableError if no LLVM is found, or what the environment says of the processor makes no sense. LLVM is opened when
// there is something to compile: what another process has compiled comes from the
// disk (see KeyOf and docs/internals.md).
func CPU() (Engine, error) {
	return newCPU(ondisk.Disk())
}

// newCPU is CPU with a given cache on disk; nil for none.
func newCPU(disk *diskcache.Cache) (Engine, error) {
	if err := machine.CheckSettings(); err != nil {
		return nil, missingCPU(err)
	}
	build := ondisk.ExecutableID()
	if build == "" {
		disk = nil
	}
	h, err := ondisk.FindHost(disk, build, missingCPU)
	if err != nil {
		return nil, missingCPU(err)
	}
	memory := alloc.New()
	memory.Machine = func() admission.Machine {
		// A run that is about to take much memory does not need LLVM's.
		if l := h.Opened.Load(); l != nil {
			l.ReleasePages()
		}
		return admission.Read()
	}
	return &cpuEngine{host: h, memory: memory, disk: disk, build: build}, nil
}

type cpuEngine struct {
	host   *ondisk.Host
	memory *alloc.Allocator
	disk   *diskcache.Cache // nil: nothing is kept
	build  string           // ondisk.ExecutableID

	compiling atomic.Int64 // compilations under way
}

func (*cpuEngine) Name() string { return CPUName }

func (e *cpuEngine) Fingerprint() string {
	h := e.host
	return strings.Join([]string{CPUName, "llvm", h.Version.String(), h.Target.Triple, h.Target.CPU, h.Target.Features}, " ")
}

func (e *cpuEngine) Compile(ctx context.Context, p *loop.Program) (*Executable, error) {
	return compile(ctx, e.Name(), p, e.memory, func(ctx context.Context, funcs []*loop.Func) ([]kernel, error) {
		return e.kernels(ctx, p, funcs)
	}, e.instrumented)
}

// kernels compiles the functions of p in one go, or finds them compiled. What it compiles may be quick at
// first; see tiers.go.
func (e *cpuEngine) kernels(ctx context.Context, p *loop.Program, funcs []*loop.Func) ([]kernel, error) {
	if len(funcs) == 0 {
		return nil, nil
	}
	named := uniqueNames(funcs)
	keep := func([]byte) {}
	if e.disk != nil && !debug.QuickOnly {
		key := ondisk.ObjectKey(e.build, KeyOf(e, p))
		if object, ok := e.disk.Get(ondisk.ObjectKind, key); ok {
			// What does not load is as good as not there.
			if entries, err := e.link(object, named); err == nil {
				return kernelsAt(entries), nil
			}
		}
		keep = func(object []byte) { ondisk.WriteLater(e.disk, ondisk.ObjectKind, key, object) }
	}
	text, err := cpu.Emit("program", named, lib.Lookup)
	if err != nil {
		return nil, err
	}
	return e.compiledSoon(ctx, text, named, keep)
}

// compiled compiles a module to an object file.
func (e *cpuEngine) compiled(ctx context.Context, text string, level llvm.Level) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	l, err := e.host.Open()
	if err != nil {
		return nil, err
	}
	object, err := l.EmitObject(text, llvm.Options{Target: e.host.Target, Level: level})
	if err != nil {
		return nil, err
	}
	return object, ctx.Err()
}

// deepNest is how many loops stand within each other where LLVM gets the quick level: its passes over
// loops take the square of the depth at least, seconds from here on. What runs through so many loops is not
// waiting for the last tenth. The results are the same bits (tiers.go).
const deepNest = 24

// levelOf is how hard LLVM optimises functions.
func levelOf(named []*loop.Func) llvm.Level {
	if debug.QuickOnly {
		return llvm.Draft
	}
	for _, f := range named {
		if depth(f.Body) > deepNest {
			return llvm.Quick
		}
	}
	return llvm.O3
}

// link makes the functions of an object callable: by our own loader, which takes a
// tenth of the time, or by LLVM's linker where ours does not know how.
func (e *cpuEngine) link(file []byte, named []*loop.Func) ([]*entry, error) {
	module, err := e.load(file)
	if err != nil {
		return nil, err
	}
	code := newMachineCode(module)
	entries := make([]*entry, len(named))
	for i, f := range named {
		at, err := module.Func(f.Name)
		if err != nil {
			return nil, err // the code goes with the last mention of it
		}
		entries[i] = &entry{code, at}
	}
	return entries, nil
}

func (e *cpuEngine) load(file []byte) (module, error) {
	code, err := object.Load(file, llvm.RuntimeSymbol)
	if err == nil {
		return code, nil
	}
	if !errors.Is(err, object.ErrUnsupported) {
		return nil, err
	}
	l, openErr := e.host.Open()
	if openErr != nil {
		return nil, errors.Join(err, openErr)
	}
	return l.Link(file)
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

// module is machine code in memory.
type module interface {
	Func(name string) (uintptr, error)
	Close() error
}

// machineCode owns a module: the code is freed when no kernel of it is
// reachable any more. Executables that a cache drops may still be running, so
// nobody but the garbage collector knows when that is.
type machineCode struct{ module module }

func newMachineCode(m module) *machineCode {
	c := &machineCode{m}
	goruntime.AddCleanup(c, func(m module) {
		// Freeing may take LLVM a while, and other cleanups wait. An error means
		// that the code stays, which harms nobody.
		go func() { _ = m.Close() }()
	}, m)
	return c
}

// entry is where a function begins, in code that it keeps.
type entry struct {
	code *machineCode
	at   uintptr
}

func (e *entry) call(block unsafe.Pointer, chunk, lo, hi int64) int64 {
	status := llvm.Call(e.at, block, chunk, lo, hi)
	goruntime.KeepAlive(e.code)
	return status
}

// depth is how many loops stand within each other in a body.
func depth(body []loop.Stmt) int {
	deepest := 0
	for _, s := range body {
		switch s := s.(type) {
		case *loop.For:
			deepest = max(deepest, 1+depth(s.Body))
		case *loop.While:
			deepest = max(deepest, 1+depth(s.Body))
		case *loop.If:
			deepest = max(deepest, depth(s.Then), depth(s.Else))
		}
	}
	return deepest
}

// HostOf is what an engine compiles for, if that is this machine's processor.
func HostOf(e Engine) (record ondisk.HostRecord, ok bool) {
	c, ok := e.(*cpuEngine)
	if !ok {
		return ondisk.HostRecord{}, false
	}
	return c.host.HostRecord, true
}
