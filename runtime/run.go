package runtime

import (
	"context"
	"fmt"
	"os"
	goruntime "runtime"
	"sync"
	"time"

	"github.com/lacuna-sparse/lacuna/internal/admission"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/spill"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
	"github.com/lacuna-sparse/lacuna/runtime/partition"
	"github.com/lacuna-sparse/lacuna/runtime/watch"
)

// Executable is a program compiled by an engine. It may be run any number of
// times, by several goroutines at once.
type Executable struct {
	engine  string
	plan    *plan
	kernels []kernel // by stagePlan.kernel
	memory  *alloc.Allocator
	states  sync.Pool // of *state
	watcher watch.Watcher
	grid    *gridProgram // set if an accelerator runs it; then there are no kernels

	instrumented instrumented
}

// newExecutable joins a plan and the kernels of its stages, which are in the
// order of the stages that have functions.
func newExecutable(engine string, p *plan, kernels []kernel, memory *alloc.Allocator) *Executable {
	x := &Executable{engine: engine, plan: p, kernels: kernels, memory: memory}
	x.states.New = func() any { return newState(p) }
	return x
}

// as is an executable of the same code for p, a program that differs from that of x in names alone.
func (x *Executable) as(p *loop.Program) *Executable {
	return newExecutable(x.engine, newPlan(p), x.kernels, x.memory)
}

// Program is the program that was compiled. It must not be changed.
func (x *Executable) Program() *loop.Program { return x.plan.program }

// Engine is the name of the engine that compiled the program.
func (x *Executable) Engine() string { return x.engine }

// Bindings are the memory and the values a caller gives to a run. The slices
// are indexed by the program's ids and have the lengths of Program.Buffers and
// Program.Scalars; only the elements of Input and InOut buffers and of Bound
// scalars are looked at. Runs only read Bindings, so several may share one.
type Bindings struct {
	Buffers []Memory // by loop.BufferID
	Scalars []int64  // by loop.ScalarID
	// Entries is how many entries the result has at least, and EntryBytes what one takes. A
	// processor does not begin a run whose memory limit they exceed.
	Entries, EntryBytes int64
	// Outputs, if not nil, has memory of the caller for Output buffers, by loop.BufferID: one with a Ptr is written there rather
	// than to memory that the run allocates, and must have as many elements as it needs. Only the processor takes them.
	Outputs []Memory
}

// NewBindings returns empty bindings of the right lengths.
func (x *Executable) NewBindings() *Bindings {
	p := x.plan.program
	return &Bindings{Buffers: make([]Memory, len(p.Buffers)), Scalars: make([]int64, len(p.Scalars))}
}

// Options govern one run. The zero value is the default.
type Options struct {
	// Threads is the largest number of goroutines that run kernels at once.
	// 0 means GOMAXPROCS, which is never exceeded. It does not change results.
	Threads int
	// MemoryLimit is the largest number of bytes that the run may allocate for
	// results and temporaries together. 0 means three quarters of the memory
	// that is available when the run first needs more than 64 MiB.
	MemoryLimit int64
	// Spill, if not nil, has the blocks in files that are too large for memory, or for which the limit has no room left. The processor
	// alone spills, but for copies of what its threads add up.
	Spill *spill.Files
	// Resident leaves the results of an accelerator in its memory: Memory.On of a
	// result has it, and Ptr is nil.
	Resident bool
	// Sure says that no kernel of an accelerator fails: a run with resident results does not wait to know.
	Sure bool
	// Underway, if not nil, is where a run on an accelerator leaves what it need not wait for.
	Underway *Underway
}

// Here is the options with results in this process's memory.
func (o Options) Here() Options {
	o.Resident = false
	return o
}

// Results are what a run produced. The slices are indexed by the program's ids.
type Results struct {
	// Buffers holds the Output buffers, which are the caller's from now on and
	// live in Go memory; the elements of other buffers are zero.
	Buffers []Memory
	// Scalars holds the final values of all scalars.
	Scalars []int64
}

// Run runs the program's stages in order. It ends within about 100 ms of ctx and
// then returns ctx.Err(): kernels that are running are told to stop.
//
// Errors are *BindingError, *OptionError, *SizeError, *MemoryLimitError,
// *KernelError or the context's. After an error, InOut buffers may have been
// partly written.
func (x *Executable) Run(ctx context.Context, b *Bindings, o Options) (*Results, error) {
	// One Go allocation holds the results of a small program.
	r := new(struct {
		Results
		buffers [4]Memory
		scalars [8]int64
	})
	r.Buffers, r.Scalars = r.buffers[:0], r.scalars[:0]
	if err := x.RunInto(ctx, b, o, &r.Results); err != nil {
		return nil, err
	}
	return &r.Results, nil
}

// RunInto is Run with results that the caller provides, whose slices are used
// again if they are long enough. A program that allocates nothing then runs
// without any Go allocation on the interpreter, and with one of 32 bytes for each
// call of a kernel of machine code (purego passes the arguments in a slice).
func (x *Executable) RunInto(ctx context.Context, b *Bindings, o Options, r *Results) error {
	return x.run(ctx, b, o, r, nil)
}

// run runs the program. With keep, it takes over what symbolic stages computed
// in an earlier run, or leaves what they compute.
func (x *Executable) run(ctx context.Context, b *Bindings, o Options, r *Results, keep *Symbolic) error {
	threads, err := o.threads()
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	s := x.states.Get().(*state)
	defer x.finish(s)
	if err := s.bind(b, x.accelerator()); err != nil {
		return err
	}
	if ctx.Done() != nil {
		s.watched.Context = ctx
		x.watcher.Add(&s.watched)
		defer x.watcher.Remove(&s.watched)
	}
	s.account.Open(o.MemoryLimit)
	s.threads = threads
	if x.grid == nil {
		if err := x.admits(s, b, o); err != nil {
			return err
		}
	}
	reuse := false
	if keep != nil {
		if reuse = keep.buffers != nil; !reuse {
			keep.open(s)
		} else if err := keep.check(s); err != nil {
			return err
		}
	}
	if x.grid != nil {
		return x.runGrid(ctx, s, o, r) // which computes what is symbolic again
	}
	told, _ := ctx.Value(stageTimes{}).(*stageWatch)
	if s.watch = told; told != nil {
		if err := told.begin(ctx, x, s); err != nil {
			return err
		}
	}
	for i := range s.plan.stages {
		st, start := &s.plan.stages[i], time.Time{}
		if told != nil {
			start = time.Now()
		}
		if st.symbolic && reuse {
			err = x.recall(s, st, o, keep)
		} else {
			err = x.stage(ctx, s, st, o, threads, keep)
		}
		if err != nil {
			return err
		}
		if told != nil {
			told.done(s, st, start)
		}
	}
	s.results(r)
	return nil
}

// threads checks the options and returns how many threads to use.
func (o Options) threads() (int64, error) {
	if o.Threads < 0 {
		return 0, &OptionError{"Threads", int64(o.Threads), "0 (all processors) or a positive number"}
	}
	if o.MemoryLimit < 0 {
		return 0, &OptionError{"MemoryLimit", o.MemoryLimit, "0 (from the memory available) or a positive number of bytes"}
	}
	return int64(o.MostThreads()), nil
}

// MostThreads is how many threads a run uses at most.
func (o Options) MostThreads() int {
	n := goruntime.GOMAXPROCS(0)
	if o.Threads > 0 {
		n = min(n, o.Threads)
	}
	return n
}

// state is everything that belongs to one run. States are pooled: a run of a
// small program costs less than making one.
type state struct {
	plan    *plan
	mem     []Memory          // by buffer
	temps   []alloc.Temporary // by buffer: what must be given back
	outputs []Memory          // Bindings.Outputs
	scalars []int64
	cuts    []partition.Cut // by partition
	stack   []int64
	frame   frame
	team    team
	join    joiner
	copier  copier
	tally   tally
	threads int64 // that this run may use
	account admission.Account
	watched watch.Run
	grid    gridRun // if an accelerator runs it
	watch   *stageWatch
	telling []instrumentedCode  // of the executable, if loops are looked at
	told    *instrumentedKernel // of the stage
	code    time.Duration       // in the stage's function
}

func newState(p *plan) *state {
	s := &state{
		plan:    p,
		mem:     make([]Memory, len(p.program.Buffers)),
		temps:   make([]alloc.Temporary, len(p.program.Buffers)),
		scalars: make([]int64, len(p.program.Scalars)),
		cuts:    make([]partition.Cut, len(p.program.Partitions)),
		stack:   make([]int64, p.stack),
		frame:   newFrame(p.maxBufs, p.maxArgs),
	}
	s.watched.Stop = s.frame.stop
	return s
}

// finish gives back what the run holds, on every path, and the state itself.
func (x *Executable) finish(s *state) {
	for i := range s.plan.stages {
		x.free(s, s.plan.stages[i].lastUses)
	}
	clear(s.mem) // let go of the caller's memory
	s.watch, s.telling, s.told = nil, nil, nil
	s.outputs = nil
	s.frame.reset()
	x.states.Put(s)
}

// free gives temporaries back. Those not allocated, or given back before, are
// passed over.
func (x *Executable) free(s *state, ids []loop.BufferID) {
	for _, id := range ids {
		if t := s.temps[id]; t.Ptr != nil {
			s.account.InUse -= t.Bytes
			s.temps[id], s.mem[id] = alloc.Temporary{}, Memory{}
			x.memory.Release(t)
		}
	}
}

// accelerator is what the program runs on, nil if that is the processor.
func (x *Executable) accelerator() accelerator {
	if x.grid == nil {
		return nil
	}
	return x.grid.device
}

// copies is how many threads may use a buffer of which each has its own.
func (s *state) copies(st *stagePlan) int64 {
	if st.domain < 0 {
		return 1
	}
	return max(min(s.threads, s.cuts[st.domain].Chunks), 1)
}

// stage runs one stage.
func (x *Executable) stage(ctx context.Context, s *state, st *stagePlan, o Options, threads int64, keep *Symbolic) error {
	if err := x.sizes(s, st, &st.before, o); err != nil {
		return err
	}
	if st.cut != nil {
		if err := s.partition(st); err != nil {
			return err
		}
	}
	if err := x.sizes(s, st, &st.after, o); err != nil {
		return err
	}
	if st.fn != nil {
		if st.tallies != nil {
			s.tally.open(s, st, o, x.memory.Machine)
			s.team.tally = &s.tally
		}
		if err := x.call(ctx, s, st, o, threads); err != nil {
			return err
		}
	}
	if debug.TraceStages {
		fmt.Fprintf(os.Stderr, "lacuna: program %s, stage %s done, %s in use\n", s.plan.program.Name, st.name, units.FormatBytes(s.account.InUse))
	}
	if keep != nil && st.symbolic {
		keep.save(s, st)
	}
	x.free(s, st.lastUses)
	return nil
}

// call runs a stage's function over its chunks.
func (x *Executable) call(ctx context.Context, s *state, st *stagePlan, o Options, threads int64) error {
	s.frame.fill(st, s.mem, s.scalars)
	kernel := x.kernels[st.kernel]
	if k, ok := kernel.(*cpuKernel); ok {
		if err := k.settle(ctx, &s.frame); err != nil {
			return err
		}
	}
	many := st.divisible && !st.ordered && len(st.tallies) == 0 && x.engine != InterpName && settled(kernel) // whose chunks take long enough
	if s.watch != nil {
		var done func()
		kernel, done = s.watch.code(s, st, kernel)
		defer done()
	}
	if st.domain == -1 {
		// The common case of a small program: one call and nothing else.
		if err := ctx.Err(); err != nil {
			return err
		}
		status, err := kernel.call(&s.frame, 0, 0, 0)
		return s.outcome(ctx, st, failure{0, status, err})
	}
	c := &s.cuts[st.domain]
	if st.ordered {
		threads = min(threads, c.Chunks)
		switch {
		case st.join != nil && threads > 1 && s.join.open(x, s, st, o, threads):
			s.team.join = &s.join
			defer s.join.close(x, s)
		case st.copies != nil:
			threads = s.copier.open(x, s, st, o, threads)
			s.team.copies = &s.copier
			defer s.copier.close(s)
			if threads <= 1 && c.Chunks > 1 && len(st.fn.Fails) == 0 {
				// Functions watch for the stop word, so chunks would be of no use.
				s.copier.whole = partition.Whole(c.N)
				c = &s.copier.whole
			}
		default:
			threads = 1
		}
	}
	s.team.many = many
	f, err := s.team.run(ctx, kernel, &s.frame, c, threads)
	if err != nil {
		return err
	}
	return s.outcome(ctx, st, f)
}

// outcome is the error of a stage: none, the context's if that is why a kernel
// stopped, or how a chunk failed.
func (s *state) outcome(ctx context.Context, st *stagePlan, f failure) error {
	switch {
	case !f.failed():
		return nil
	case f.err == nil && f.status == loop.StatusStopped:
		return ctx.Err()
	}
	if f.err == errTooMany {
		return s.tooMany(st)
	}
	e := &KernelError{Program: s.plan.program.Name, Stage: st.name, Func: st.fn.Name, Chunk: f.chunk, Code: int(f.status - 1)}
	switch {
	case f.err != nil:
		e.Code, e.Message, e.Err = -1, f.err.Error(), f.err
	case e.Code >= 0 && e.Code < len(st.fn.Fails):
		e.Message = st.fn.Fails[e.Code]
	default:
		panic(fmt.Sprintf("BUG: function %s returned status %d", st.fn.Name, f.status))
	}
	return e
}

// results copies what the caller gets out of the state.
func (s *state) results(r *Results) {
	r.Buffers = append(r.Buffers[:0], s.mem...)
	for id := range r.Buffers {
		if s.plan.program.Buffers[id].Role != loop.Output {
			r.Buffers[id] = Memory{}
		}
	}
	r.Scalars = append(r.Scalars[:0], s.scalars...)
}
