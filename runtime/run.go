package runtime

import (
	"context"
	"fmt"
	"math"
	"os"
	goruntime "runtime"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/admission"
	"github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// Executable is a program compiled by an engine. It may be run any number of
// times, by several goroutines at once.
type Executable struct {
	engine  string
	plan    *plan
	kernels []kernel // by stagePlan.kernel
	memory  *allocator
	states  sync.Pool // of *state
	watcher watcher
	grid    *gridProgram // set if an accelerator runs it; then there are no kernels
}

// newExecutable joins a plan and the kernels of its stages, which are in the
// order of the stages that have functions.
func newExecutable(engine string, p *plan, kernels []kernel, memory *allocator) *Executable {
	x := &Executable{engine: engine, plan: p, kernels: kernels, memory: memory}
	x.states.New = func() any { return newState(p) }
	return x
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
	// Resident leaves the results of an accelerator in its memory: Memory.On of a
	// result has it, and Ptr is nil.
	Resident bool
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
		s.watched.ctx = ctx
		x.watcher.add(&s.watched)
		defer x.watcher.remove(&s.watched)
	}
	s.account.Open(o.MemoryLimit)
	s.threads = threads
	if x.grid == nil {
		if err := x.affords(s, b, o); err != nil {
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
	times, _ := ctx.Value(stageTimes{}).(func(StageTime))
	for i := range s.plan.stages {
		st, start := &s.plan.stages[i], time.Time{}
		if times != nil {
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
		if times != nil {
			times(StageTime{s.plan.program.Name, st.name, start, time.Since(start)})
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
	mem     []Memory    // by buffer
	temps   []temporary // by buffer: what must be given back
	outputs []Memory    // Bindings.Outputs
	scalars []int64
	cuts    []cut // by partition
	stack   []int64
	frame   frame
	team    team
	join    joiner
	copier  copier
	tally   tally
	threads int64 // that this run may use
	account admission.Account
	watched watched
	grid    gridRun // if an accelerator runs it
}

func newState(p *plan) *state {
	s := &state{
		plan:    p,
		mem:     make([]Memory, len(p.program.Buffers)),
		temps:   make([]temporary, len(p.program.Buffers)),
		scalars: make([]int64, len(p.program.Scalars)),
		cuts:    make([]cut, len(p.program.Partitions)),
		stack:   make([]int64, p.stack),
		frame:   newFrame(p.maxBufs, p.maxArgs),
	}
	s.watched.stop = s.frame.stop
	return s
}

// finish gives back what the run holds, on every path, and the state itself.
func (x *Executable) finish(s *state) {
	for i := range s.plan.stages {
		x.free(s, s.plan.stages[i].lastUses)
	}
	clear(s.mem) // let go of the caller's memory
	s.outputs = nil
	s.frame.reset()
	x.states.Put(s)
}

// free gives temporaries back. Those not allocated, or given back before, are
// passed over.
func (x *Executable) free(s *state, ids []loop.BufferID) {
	for _, id := range ids {
		if t := s.temps[id]; t.ptr != nil {
			s.account.InUse -= t.bytes
			s.temps[id], s.mem[id] = temporary{}, Memory{}
			x.memory.release(t)
		}
	}
}

// bind copies the caller's memory and values in and checks that kernels may
// use them: a wrong address or overlap would not fail but give wrong results.
// device is what the program runs on, nil if that is the processor.
func (s *state) bind(b *Bindings, device accelerator) error {
	p := s.plan
	if b == nil || len(b.Buffers) != len(s.mem) || len(b.Scalars) != len(s.scalars) {
		return &BindingError{Program: p.program.Name, Reason: "the bindings were made for another program"}
	}
	for _, id := range p.bound {
		s.scalars[id] = b.Scalars[id]
	}
	for i, id := range p.given {
		m := b.Buffers[id]
		var reason string
		switch {
		case m.Len < 0 || bytesOf(m.Len, p.elemSize[id]) > maxObject:
			reason = fmt.Sprintf("has %d elements", m.Len)
		case m.Ptr == nil && m.Len > 0 && (p.written[id] || m.On == nil || m.On.device != device):
			reason = fmt.Sprintf("has no memory for its %d elements", m.Len)
		case m.On != nil && m.On.device == device && bytesOf(m.Len, p.elemSize[id]) > m.On.bytes:
			reason = fmt.Sprintf("has %d elements, but only %d bytes on the device", m.Len, m.On.bytes)
		case uintptr(m.Ptr)%p.aligned[id] != 0:
			reason = fmt.Sprintf("is not aligned to %d bytes", p.aligned[id])
		}
		if reason != "" {
			return &BindingError{p.program.Name, p.program.Buffers[id].Name, reason}
		}
		for _, other := range p.given[:i] {
			if (p.written[id] || p.written[other]) && s.overlap(id, m, other) {
				return &BindingError{p.program.Name, p.program.Buffers[id].Name, fmt.Sprintf(
					"overlaps buffer %s in memory, and one of them is written", p.program.Buffers[other].Name)}
			}
		}
		s.mem[id] = m
	}
	s.outputs = b.Outputs
	for id, m := range b.Outputs {
		if m.Ptr == nil {
			continue
		}
		if reason := s.cannotWrite(loop.BufferID(id), m, device); reason != "" {
			return &BindingError{p.program.Name, p.program.Buffers[id].Name, reason}
		}
	}
	return nil
}

// cannotWrite is why an Output buffer cannot be in memory of the caller, "" if it can.
func (s *state) cannotWrite(id loop.BufferID, m Memory, device accelerator) string {
	p := s.plan
	switch {
	case p.program.Buffers[id].Role != loop.Output || device != nil:
		return "cannot be written to memory of the caller"
	case m.Len < 0 || bytesOf(m.Len, p.elemSize[id]) > maxObject:
		return fmt.Sprintf("has %d elements", m.Len)
	case uintptr(m.Ptr)%p.aligned[id] != 0:
		return fmt.Sprintf("is not aligned to %d bytes", p.aligned[id])
	}
	for _, other := range p.given {
		if s.overlap(id, m, other) {
			return fmt.Sprintf("overlaps buffer %s in memory, and is written", p.program.Buffers[other].Name)
		}
	}
	return ""
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
	return max(min(s.threads, s.cuts[st.domain].chunks), 1)
}

// maxObject is more bytes than any address space has.
const maxObject = 1 << 56

// overlap reports whether m, the memory of buffer id, shares bytes with the
// memory of another buffer.
func (s *state) overlap(id loop.BufferID, m Memory, other loop.BufferID) bool {
	o := s.mem[other]
	mStart, oStart := uintptr(m.Ptr), uintptr(o.Ptr)
	mEnd := mStart + uintptr(m.Len*s.plan.elemSize[id])
	oEnd := oStart + uintptr(o.Len*s.plan.elemSize[other])
	return m.Len > 0 && o.Len > 0 && mStart < oEnd && oStart < mEnd
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
			s.tally.open(s, st, o, x.memory.machine)
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

// sizes computes scalars and allocates buffers.
func (x *Executable) sizes(s *state, st *stagePlan, z *sizesPlan, o Options) error {
	for i := range z.lets {
		l := &z.lets[i]
		v, fault := s.eval(&l.value)
		if fault != "" {
			return s.sizeError(st, "scalar "+s.plan.program.Scalars[l.scalar].Name, &l.value, fault)
		}
		s.scalars[l.scalar] = v
	}
	for i := range z.trims {
		if err := x.trim(s, st, &z.trims[i]); err != nil {
			return err
		}
	}
	for i := range z.allocs {
		if err := x.allocate(s, st, &z.allocs[i], o); err != nil {
			return err
		}
	}
	return nil
}

func (s *state) eval(c *sizeCode) (int64, sizeFault) {
	return c.eval(s.stack, s.scalars, s.mem, s.plan.program.Buffers, nil)
}

func (s *state) sizeError(st *stagePlan, what string, c *sizeCode, fault sizeFault) error {
	return &SizeError{Program: s.plan.program.Name, Stage: st.name, What: what,
		Expr: formatSize(s.plan.program, c.expr), Reason: string(fault)}
}

// allocate makes one buffer, or refuses to.
func (x *Executable) allocate(s *state, st *stagePlan, a *allocPlan, o Options) error {
	buf := &s.plan.program.Buffers[a.buffer]
	n, fault := s.eval(&a.length)
	if n < 0 && fault == "" {
		fault = sizeFault(fmt.Sprintf("the length is negative (%d)", n))
	}
	if fault != "" {
		return s.sizeError(st, "length of buffer "+buf.Name, &a.length, fault)
	}
	bytes := bytesOf(n, s.plan.elemSize[a.buffer])
	if s.outputs != nil && s.outputs[a.buffer].Ptr != nil {
		m := s.outputs[a.buffer]
		if m.Len != n {
			return s.sizeError(st, "length of buffer "+buf.Name, &a.length, sizeFault(fmt.Sprintf("the result has %d elements, and the caller's memory %d", n, m.Len)))
		}
		if a.fill == zeroed {
			clear(unsafe.Slice((*byte)(m.Ptr), bytes))
		}
		s.mem[a.buffer] = m
		return nil
	}
	if buf.Role == loop.Scratch {
		// One after the other, each on cache lines of its own.
		bytes = bytesOf(padded(min(bytes, maxObject)), s.copies(st))
	}
	refused := func(err error) error {
		return &MemoryLimitError{Program: s.plan.program.Name, Stage: st.name, Buffer: buf.Name,
			Len: n, Elem: buf.Elem.String(), Need: bytes, Result: s.resultBytes(st),
			InUse: s.account.InUse, Limit: s.account.Limit, Source: s.account.Source, Err: err}
	}
	if !s.account.Reserve(padded(min(bytes, maxObject)), o.MemoryLimit, x.memory.machine) {
		return refused(nil)
	}
	if buf.Role == loop.Output {
		s.mem[a.buffer] = x.memory.result(n, s.plan.elemSize[a.buffer], a.fill)
		return nil
	}
	t, err := x.memory.temporary(bytes, a.fill)
	if err != nil {
		return refused(err)
	}
	s.temps[a.buffer] = t
	s.mem[a.buffer] = Memory{Ptr: t.ptr, Len: n}
	return nil
}

// resultBytes is what the results need whose sizes are known when a stage allocates: those
// it has, and those that it and the next stages allocate, up to one that computes.
func (s *state) resultBytes(from *stagePlan) int64 {
	total := int64(0)
	for id, m := range s.mem {
		if s.plan.program.Buffers[id].Role == loop.Output {
			total = saturatingAdd(total, bytesOf(m.Len, s.plan.elemSize[id]))
		}
	}
	reached := false
	for i := range s.plan.stages {
		st := &s.plan.stages[i]
		if reached = reached || st == from; !reached {
			continue
		}
		for j := range st.before.lets {
			l := &st.before.lets[j]
			v, fault := s.eval(&l.value)
			if fault != "" {
				return total
			}
			s.scalars[l.scalar] = v
		}
		for j := range st.before.allocs {
			a := &st.before.allocs[j]
			if s.plan.program.Buffers[a.buffer].Role != loop.Output || s.mem[a.buffer].Ptr != nil {
				continue
			}
			if n, fault := s.eval(&a.length); fault == "" && n > 0 {
				total = saturatingAdd(total, bytesOf(n, s.plan.elemSize[a.buffer]))
			} else if fault != "" {
				total = math.MaxInt64
			}
		}
		if st.fn != nil {
			break
		}
	}
	return total
}

// trim shortens an output. Where more than half of it is not needed, it moves to
// memory of its size; else the rest stays, in most cases never touched.
func (x *Executable) trim(s *state, st *stagePlan, t *trimPlan) error {
	m := &s.mem[t.buffer]
	n, fault := s.eval(&t.length)
	if fault == "" && (n < 0 || n > m.Len) {
		fault = sizeFault(fmt.Sprintf("%d of %d elements are wanted", n, m.Len))
	}
	if fault != "" {
		return s.sizeError(st, "length of buffer "+s.plan.program.Buffers[t.buffer].Name, &t.length, fault)
	}
	if n < m.Len/2 {
		size := s.plan.elemSize[t.buffer]
		shorter := x.memory.result(n, size, anything)
		copy(unsafe.Slice((*byte)(shorter.Ptr), n*size), unsafe.Slice((*byte)(m.Ptr), n*size))
		m.GiveBack()
		*m = shorter
	}
	m.Len = n
	return nil
}

// partition cuts the domain of a stage.
func (s *state) partition(st *stagePlan) error {
	p := st.cut
	name := func() string { return "partition " + s.plan.program.Partitions[p.partition].Name }
	n, fault := s.eval(&p.n)
	if n < 0 && fault == "" {
		fault = sizeFault(fmt.Sprintf("the domain has a negative size (%d)", n))
	}
	if fault != "" {
		return s.sizeError(st, name(), &p.n, fault)
	}
	c := &s.cuts[p.partition]
	if p.weights == -1 {
		c.even(n, p.grain)
	} else if err := c.byWeight(n, p.grain, s.mem[p.weights], s.plan.program.Buffers[p.weights].Elem); err != nil {
		return s.sizeError(st, name(), &p.n, sizeFault(err.Error()))
	}
	s.scalars[p.chunks] = c.chunks
	return nil
}

// call runs a stage's function over its chunks.
func (x *Executable) call(ctx context.Context, s *state, st *stagePlan, o Options, threads int64) error {
	s.frame.fill(st, s.mem, s.scalars)
	kernel := x.kernels[st.kernel]
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
		threads = min(threads, c.chunks)
		switch {
		case st.join != nil && threads > 1 && s.join.open(x, s, st, o, threads):
			s.team.join = &s.join
			defer s.join.close(x, s)
		case st.copies != nil:
			threads = s.copier.open(x, s, st, o, threads)
			s.team.copies = &s.copier
			defer s.copier.close(s)
			if threads <= 1 && c.chunks > 1 && len(st.fn.Fails) == 0 {
				// Functions watch for the stop word, so chunks would be of no use.
				s.copier.whole = cut{n: c.n, chunks: 1, step: c.n}
				c = &s.copier.whole
			}
		default:
			threads = 1
		}
	}
	s.team.many = st.divisible && !st.ordered && len(st.tallies) == 0
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

// formatSize writes a size expression for an error message.
func formatSize(p *loop.Program, e loop.SizeExpr) string {
	switch e := e.(type) {
	case loop.SizeConst:
		return fmt.Sprint(int64(e))
	case loop.SizeScalar:
		return p.Scalars[e].Name
	case loop.SizeLen:
		return fmt.Sprintf("len(%s)", p.Buffers[e.Buffer].Name)
	case *loop.SizeLoad:
		return fmt.Sprintf("%s[%s]", p.Buffers[e.Buffer].Name, formatSize(p, e.Index))
	case *loop.SizeOp:
		x, y, op := formatSize(p, e.X), formatSize(p, e.Y), e.Op.String()
		if e.Op == loop.Min || e.Op == loop.Max {
			return fmt.Sprintf("%s(%s, %s)", op, x, y)
		}
		return fmt.Sprintf("(%s)", strings.Join([]string{x, op, y}, " "))
	}
	return "?"
}
