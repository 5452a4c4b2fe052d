package runtime

import (
	"context"
	goruntime "runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/codegen/cpu"
	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
)

// Where the time of a stage goes is found by looking: a goroutine looks now and then at which loop each running call of its function is
// in, which instrumented kernels keep in memory (ir/loop/instrument.go). They are compiled for that, and differ from others in nothing else.

// Looks are so far apart at least: those at what takes long, between which somebody sleeps, and those at what takes microseconds, which
// take a processor that there must be.
const (
	lookInterval  = 50 * time.Microsecond
	shortInterval = time.Microsecond
)

// looksItself: in a browser nobody can look while something runs. There the interpreter reads the clock wherever it comes to a loop or out of
// one, and the one that it was in is found there as often as somebody would have looked meanwhile.
var looksItself = goruntime.GOOS == "js"

// LoopTime is a loop of a stage.
type LoopTime struct {
	loop.InstrumentedLoop
	Visits, Iterations int64 // how often the loop was reached, and how many iterations it had
	Samples            int64 // how many looks at a call found it there, and in no loop in this one
}

// WithLoopTimes is WithStageTimes of runs by kernels that are looked at, on engines that have some. Somebody looks until stop is called,
// as often as the time that a run takes makes it worth.
func WithLoopTimes(ctx context.Context, takes time.Duration, f func(StageTime)) (watched context.Context, stop func()) {
	s := &sampler{end: make(chan struct{}), short: takes < 20*lookInterval && goruntime.GOMAXPROCS(0) > 1}
	if looksItself {
		s.cost = clockCost()
	} else {
		go s.run()
	}
	return context.WithValue(ctx, stageTimes{}, &stageWatch{f, s}), sync.OnceFunc(func() { close(s.end) })
}

// sampler looks at calls.
type sampler struct {
	end   chan struct{}
	short bool // look at what takes microseconds
	mu    sync.Mutex
	calls []*sampledCall

	cost time.Duration // of a look at the clock, for code that looks itself
	owed time.Duration // since the last time that somebody would have looked
}

// clockCost is how long it takes to read the clock.
func clockCost() time.Duration {
	const times = 1000
	start := time.Now()
	last := start
	for range times {
		last = time.Now()
	}
	return last.Sub(start) / times
}

// sampledCall is a call that is running.
type sampledCall struct {
	kernel *instrumentedKernel
	tell   loop.Instruments
	last   time.Time // when the code looked itself
}

// leave is called by code that looks itself, when it leaves what it was in.
func (c *sampledCall) leave(in int64) {
	s, now := c.kernel.sampler, time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owed += now.Sub(c.last) - s.cost
	c.last = now
	if looks := s.owed / lookInterval; looks > 0 {
		s.owed -= looks * lookInterval
		c.kernel.samples[in] += int64(looks)
	}
}

func (s *sampler) run() {
	for {
		select {
		case <-s.end:
			return
		default:
		}
		if s.short {
			for start := time.Now(); time.Since(start) < shortInterval; {
			}
		} else {
			time.Sleep(lookInterval)
		}
		s.look()
	}
}

func (s *sampler) look() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		c.kernel.samples[atomic.LoadInt64(&c.tell[0])]++
	}
}

func (s *sampler) add(c *sampledCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
}

func (s *sampler) remove(c *sampledCall) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = slices.DeleteFunc(s.calls, func(other *sampledCall) bool { return other == c })
	for i, n := range c.tell {
		c.kernel.sum[i] += n
	}
}

// An instrumenter compiles functions that tell of their loops.
type instrumenter func(context.Context, []*loop.Func) ([]instrumentedCode, error)

// instrumentedCode is such a function.
type instrumentedCode interface {
	loops() []loop.InstrumentedLoop
	// callTelling is kernel.call.
	callTelling(f *frame, chunk, lo, hi int64, c *sampledCall) (int64, error)
}

// instrumented are the functions of an executable that tell of their loops, compiled when they are first wanted.
type instrumented struct {
	compile instrumenter // nil: there are none
	mu      sync.Mutex
	code    []instrumentedCode
}

// get returns the functions, none if there are none.
func (i *instrumented) get(ctx context.Context, funcs []*loop.Func) ([]instrumentedCode, error) {
	if i.compile == nil {
		return nil, nil
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.code != nil {
		return i.code, nil
	}
	code, err := i.compile(ctx, funcs)
	if err == nil {
		i.code = code
	}
	return code, err
}

// instrumentedKernel is the kernel of one stage in one run.
type instrumentedKernel struct {
	instrumentedCode
	sampler *sampler
	// Under the sampler's lock:
	samples []int64 // by what the calls tell
	sum     loop.Instruments
}

func newInstrumentedKernel(c instrumentedCode, s *sampler) *instrumentedKernel {
	n := len(c.loops())
	return &instrumentedKernel{c, s, make([]int64, 1+n), loop.NewInstruments(n)}
}

func (k *instrumentedKernel) call(f *frame, chunk, lo, hi int64) (int64, error) {
	c := &sampledCall{kernel: k, tell: loop.NewInstruments(len(k.loops())), last: time.Now()}
	k.sampler.add(c)
	defer k.sampler.remove(c)
	return k.callTelling(f, chunk, lo, hi, c)
}

// tell adds what is known of the loops.
func (k *instrumentedKernel) tell(t *StageTime) {
	k.sampler.mu.Lock()
	defer k.sampler.mu.Unlock()
	t.Samples = k.samples[0]
	for i, l := range k.loops() {
		at := loop.VisitsAt(i)
		t.Loops = append(t.Loops, LoopTime{l, k.sum[at], k.sum[at+1], k.samples[1+i]})
	}
}

func (e *interpEngine) instrumented(ctx context.Context, funcs []*loop.Func) ([]instrumentedCode, error) {
	code := make([]instrumentedCode, len(funcs))
	for i, f := range funcs {
		k, err := interp.CompileInstrumented(f, lib.Lookup)
		if err != nil {
			return nil, err
		}
		code[i] = tellingClosures{k}
	}
	return code, ctx.Err()
}

// tellingClosures are those of the interpreter.
type tellingClosures struct{ *interp.Instrumented }

func (c tellingClosures) loops() []loop.InstrumentedLoop { return c.Loops }

func (c tellingClosures) callTelling(f *frame, chunk, lo, hi int64, call *sampledCall) (int64, error) {
	var leave func(int64)
	if looksItself {
		leave = call.leave
		defer leave(0)
	}
	status, err := c.RunUntil(f.stop, f.bufs, f.args, chunk, lo, hi, call.tell, leave)
	if err != nil {
		return 0, err
	}
	return status, nil
}

func (e *cpuEngine) instrumented(ctx context.Context, funcs []*loop.Func) ([]instrumentedCode, error) {
	named := uniqueNames(funcs)
	text, loops, err := cpu.EmitInstrumented("program", named, lib.Lookup)
	if err != nil {
		return nil, err
	}
	object, err := e.compiled(ctx, text, levelOf(named))
	if err != nil {
		return nil, err
	}
	entries, err := e.link(object, named)
	if err != nil {
		return nil, err
	}
	code := make([]instrumentedCode, len(named))
	for i, at := range entries {
		code[i] = tellingMachineCode{at, loops[i]}
	}
	return code, nil
}

// tellingMachineCode is that of LLVM.
type tellingMachineCode struct {
	*entry
	list []loop.InstrumentedLoop
}

func (c tellingMachineCode) loops() []loop.InstrumentedLoop { return c.list }

func (c tellingMachineCode) callTelling(f *frame, chunk, lo, hi int64, call *sampledCall) (int64, error) {
	n := len(f.bufs) + len(f.args) + 1
	block := append(f.block[:n:n], uint64(uintptr(unsafe.Pointer(unsafe.SliceData(call.tell)))))
	status := c.call(unsafe.Pointer(unsafe.SliceData(block)), chunk, lo, hi)
	goruntime.KeepAlive(call)
	return status, nil
}
