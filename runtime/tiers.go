package runtime

import (
	"context"
	"encoding/json"
	goruntime "runtime"
	"sync"
	"sync/atomic"

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
// a function for a GPU has a smaller one that does the same (loop.Func.Quick), that is compiled first. What
// is kept on disk is what was compiled with care.
//
// Code for a processor is compiled both ways at once, where two processors have no other compilation to do: so
// the better code is there as early as if it were compiled alone. What runs on much data waits for it.

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

// cpuKernel is a kernel of machine code, which may be replaced by better code between calls.
type cpuKernel struct {
	now  atomic.Pointer[entry]
	done chan struct{} // closed when the code is not going to be replaced any more
}

// kernelsAt are kernels of code that stays.
func kernelsAt(entries []*entry) []kernel {
	kernels, done := make([]kernel, len(entries)), make(chan struct{})
	close(done)
	for i, at := range entries {
		k := &cpuKernel{done: done}
		k.now.Store(at)
		kernels[i] = k
	}
	return kernels
}

// first has the kernel run code until there is better.
func (k *cpuKernel) first(at *entry) { k.now.CompareAndSwap(nil, at) }

func (k *cpuKernel) call(f *frame, chunk, lo, hi int64) (int64, error) {
	return k.now.Load().call(f.blockPtr(), chunk, lo, hi), nil
}

// fewElements is how many elements the buffers of a function have at most if it runs code that was compiled in a hurry, which
// takes about a millisecond for so many, and a run of several times as many would last longer than the better code takes to come.
const fewElements = 1 << 16

// settled reports whether a kernel runs the code that it is going to run from now on. Few elements may be much work, so a stage
// that begins before takes its chunks one by one: the next runs the better code if there is any by then.
func settled(k kernel) bool {
	c, ok := k.(*cpuKernel)
	if !ok {
		return true
	}
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// settle waits for the better code, unless a function is about to run on few elements.
func (k *cpuKernel) settle(ctx context.Context, f *frame) error {
	elements := int64(0)
	for _, b := range f.bufs {
		elements += b.Len
	}
	if elements <= fewElements {
		return nil
	}
	select {
	case <-k.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// compiledSoon compiles the text of functions: with care if other compilations have the processors, else in both ways. It calls
// keep with the object that was compiled with care.
func (e *cpuEngine) compiledSoon(ctx context.Context, text string, named []*loop.Func, keep func(object []byte)) ([]kernel, error) {
	e.compiling.Add(1)
	defer e.compiling.Add(-1)
	level := levelOf(named)
	twice := e.compiling.Add(1) <= int64(goruntime.GOMAXPROCS(0)) && level == llvm.O3 && !debug.OneTier
	if !twice {
		e.compiling.Add(-1)
		object, entries, err := e.linked(ctx, text, named, level)
		if err != nil {
			return nil, err
		}
		keep(object)
		return kernelsAt(entries), nil
	}
	kernels, list, done := make([]cpuKernel, len(named)), make([]kernel, len(named)), make(chan struct{})
	for i := range kernels {
		kernels[i].done, list[i] = done, &kernels[i]
	}
	ondisk.Background(func() {
		defer e.compiling.Add(-1)
		defer close(done)
		object, entries, err := e.linked(context.WithoutCancel(ctx), text, named, llvm.O3)
		if err != nil {
			return // kernels stay as they are
		}
		for i, at := range entries {
			kernels[i].now.Store(at)
		}
		keep(object)
	})
	_, entries, err := e.linked(ctx, text, named, llvm.Draft)
	if err != nil {
		return nil, err
	}
	for i, at := range entries {
		kernels[i].first(at)
	}
	return list, nil
}

// linked compiles the text of functions and links the object.
func (e *cpuEngine) linked(ctx context.Context, text string, named []*loop.Func, level llvm.Level) ([]byte, []*entry, error) {
	object, err := e.compiled(ctx, text, level)
	if err != nil {
		return nil, nil, err
	}
	entries, err := e.link(object, named)
	return object, entries, err
}
