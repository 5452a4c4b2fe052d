package runtime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/lacuna-sparse/lacuna/codegen/ptx"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/diskcache"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// This file makes machine code for a GPU, or finds it on disk:
//
//	functions ──split──▶ parts, each: LLVM IR ──LLVM──▶ PTX ──driver──▶ image ──load──▶ kernels
//
// LLVM and the driver's compiler take tens of milliseconds for a large function, so
// the parts are compiled at once.

// gpuImage is machine code of some of a program's functions: a cubin, or PTX where the
// driver's linker gives none.
type gpuImage struct {
	Funcs []int // which functions of the program, by their indices
	Code  []byte
}

// kernels compiles the functions of p, or finds them compiled. What it compiles is quick at
// first; see tiers.go.
func (e *cudaEngine) kernels(ctx context.Context, p *loop.Program, funcs []*loop.Func) ([]gridKernel, error) {
	if len(funcs) == 0 {
		return nil, nil
	}
	e.later.using.RLock()
	defer e.later.using.RUnlock()
	if e.later.ctx.Err() != nil {
		return nil, errors.New("the engine was closed")
	}
	named := uniqueNames(funcs)
	var key diskcache.Key
	if e.disk != nil {
		key = ondisk.ObjectKey(e.build, keyOf(e.codeFingerprint(), p))
		if data, ok := e.disk.Get(ondisk.GPUKind, key); ok {
			// What does not load is as good as not there.
			if kernels, err := e.loadKept(data, named); err == nil {
				return anyKernels(kernels), nil
			}
		}
	}
	images, err := e.images(ctx, named, quickly)
	if err != nil {
		return nil, err
	}
	kernels, err := e.load(images, named)
	if err != nil {
		return nil, err
	}
	e.improve(kernels, named, key)
	return anyKernels(kernels), nil
}

func anyKernels(kernels []*cudaKernel) []gridKernel {
	list := make([]gridKernel, len(kernels))
	for i, k := range kernels {
		list[i] = k
	}
	return list
}

// images compiles functions, in parts and at once. Neither LLVM nor the driver can be
// interrupted; the context is looked at between them.
func (e *cudaEngine) images(ctx context.Context, named []*loop.Func, how effort) ([]gpuImage, error) {
	begin := time.Now()
	e.compiler.Do(func() { go e.later.do(e.openCompiler) })
	l, err := e.host.Open()
	traced(begin, "LLVM opened")
	if err != nil {
		return nil, err
	}
	named = how.funcs(named)
	parts := ptx.Split(named, how.processors())
	images := make([]gpuImage, len(parts))
	errs := make([]error, len(parts))
	var all sync.WaitGroup
	for i, part := range parts {
		all.Go(func() {
			code, err := e.image(ctx, l, named, part, how)
			images[i], errs[i] = gpuImage{part, code}, err
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err // any of them: they are mostly the same
		}
	}
	return images, nil
}

// traced prints what took from begin until now, where that is wanted.
func traced(begin time.Time, format string, args ...any) {
	if debug.TraceCompilation {
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }
		fmt.Fprintf(os.Stderr, "%9.1f ms for %8.1f ms: %s\n", ms(begin.Sub(traceStart)), ms(time.Since(begin)), fmt.Sprintf(format, args...))
	}
}

// traceStart is when the process was started, or soon after.
var traceStart = time.Now()

// openCompiler makes the driver load its compiler, a library of its own, while LLVM is opened
// and has the first PTX yet to make.
func (e *cudaEngine) openCompiler() {
	text := fmt.Sprintf(".version 7.8\n.target %s\n.address_size 64\n.visible .entry nothing() { ret; }\n", e.target.CPU)
	begin := time.Now()
	_, _ = e.device.Cubin([]byte(text)) // whether it can compile is seen later
	traced(begin, "the driver's compiler opened")
}

// image compiles some of the functions.
func (e *cudaEngine) image(ctx context.Context, l *llvm.LLVM, named []*loop.Func, part []int, how effort) ([]byte, error) {
	names := ""
	for _, i := range part {
		names += " " + named[i].Name
	}
	begin := time.Now()
	text, err := ptx.EmitPart("program", named, part, lib.Lookup)
	if err != nil {
		return nil, err
	}
	traced(begin, "LLVM IR of%s", names)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	begin = time.Now()
	assembly, err := l.EmitAssembly(text, llvm.Options{Target: e.target, Level: how.llvm()})
	if err != nil && how == quickly { // which leaves code in forms that targets know less well
		assembly, err = l.EmitAssembly(text, llvm.Options{Target: e.target})
	}
	if err != nil {
		return nil, err
	}
	assembly, target := e.raise(assembly)
	assembly, _ = ptx.StartEarly(assembly, target)
	traced(begin, "%sPTX of%s", how, names)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	begin = time.Now()
	cubin, err := how.cubin(e.device, []byte(assembly))
	traced(begin, "%smachine code of%s", how, names)
	if err != nil {
		return []byte(assembly), nil // loading it says what is wrong, if it is not the linker
	}
	return cubin, nil
}

// loadKept loads what was on disk.
func (e *cudaEngine) loadKept(data []byte, named []*loop.Func) ([]*cudaKernel, error) {
	var images []gpuImage
	if err := json.Unmarshal(data, &images); err != nil {
		return nil, err
	}
	return e.load(images, named)
}

// load loads images onto the device and finds the functions in them.
func (e *cudaEngine) load(images []gpuImage, named []*loop.Func) ([]*cudaKernel, error) {
	begin := time.Now()
	defer func() { traced(begin, "%d images loaded", len(images)) }()
	kernels := make([]*cudaKernel, len(named))
	for _, image := range images {
		module, err := e.device.Load(image.Code)
		if err != nil {
			return nil, err
		}
		for _, i := range image.Funcs {
			if i < 0 || i >= len(named) {
				return nil, fmt.Errorf("an image has function %d of %d", i, len(named))
			}
			f := named[i]
			entry, err := module.Function(f.Name)
			if err != nil {
				return nil, err
			}
			kernels[i] = &cudaKernel{first: entry, threads: uint32(f.Grid.Threads)}
			kernels[i].entry.Store(entry)
		}
	}
	for _, k := range kernels {
		if k == nil {
			return nil, errors.New("the images lack a function")
		}
	}
	return kernels, nil
}
