package runtime

import (
	"context"
	"encoding/json"
	goruntime "runtime"
	"sync"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/diskcache"
	"github.com/lacuna-sparse/lacuna/internal/llvm"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// Whoever calls a new kernel waits for LLVM and for the driver's compiler, which may take some hundred
// times as long as the kernel. So what is waited for is compiled with little optimisation, and
// compiled again behind the first runs; then later launches take that. The results
// are the same bits: neither compiler changes what an operation of floats gives, whatever it optimises; and where
// a function has a smaller one that does the same (loop.Func.Quick), that is compiled first. What
// is kept on disk is what was compiled with care.

// effort says how a function is compiled.
type effort uint8

const (
	quickly effort = iota
	carefully
)

func (e effort) String() string {
	if e == quickly {
		return "quick "
	}
	return ""
}

// llvm is the level of LLVM's optimisation.
func (e effort) llvm() llvm.Level {
	if e == quickly {
		return llvm.Quick
	}
	return llvm.O3
}

// funcs are the functions to compile in place of the given ones.
func (e effort) funcs(named []*loop.Func) []*loop.Func {
	if e == carefully {
		return named
	}
	list := make([]*loop.Func, len(named))
	for i, f := range named {
		list[i] = f
		if f.Quick != nil {
			quick := *f.Quick
			quick.Name = f.Name
			list[i] = &quick
		}
	}
	return list
}

// cubin compiles PTX.
func (e effort) cubin(d *cuda.Device, ptx []byte) ([]byte, error) {
	if e == quickly {
		return d.QuickCubin(ptx)
	}
	return d.Cubin(ptx)
}

// processors is how many functions are compiled at once: what nobody waits for leaves
// processors to others.
func (e effort) processors() int {
	if n := goruntime.GOMAXPROCS(0); e == quickly || n == 1 {
		return n
	}
	return goruntime.GOMAXPROCS(0) / 2
}

// improvements are the compilations behind the first runs, which go one after another.
type improvements struct {
	one sync.Mutex
	// ctx ends when the engine must leave its context alone. Compilations hold using until
	// they are done with it.
	ctx   context.Context
	stop  context.CancelFunc
	using sync.RWMutex
}

// improve compiles kernels again, with care, and puts the code into them and on disk. If that
// fails they stay as they are.
func (e *cudaEngine) improve(kernels []*cudaKernel, named []*loop.Func, key diskcache.Key) {
	if debug.QuickOnly {
		return
	}
	later := &e.later
	ondisk.Background(func() {
		later.one.Lock()
		defer later.one.Unlock()
		later.do(func() { e.compileAgain(kernels, named, key) })
	})
}

// do does what nobody waits for, unless the engine was closed.
func (i *improvements) do(what func()) {
	i.using.RLock()
	defer i.using.RUnlock()
	if i.ctx.Err() == nil {
		what()
	}
}

// compileAgain is what improve does later.
func (e *cudaEngine) compileAgain(kernels []*cudaKernel, named []*loop.Func, key diskcache.Key) {
	images, err := e.images(e.later.ctx, named, carefully)
	if err != nil {
		return
	}
	better, err := e.load(images, named)
	if err != nil {
		return
	}
	for i, k := range kernels {
		k.entry.Store(better[i].entry.Load())
	}
	if e.disk == nil {
		return
	}
	data, err := json.Marshal(images)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	ondisk.WriteLater(e.disk, ondisk.GPUKind, key, data)
}

// leave ends the compilations that nobody waits for; then nothing that compiles uses the context any more.
func (i *improvements) leave() {
	i.stop()
	i.using.Lock()
	defer i.using.Unlock()
}
