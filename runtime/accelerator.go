package runtime

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/units"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// An accelerator has memory of its own and runs grid functions: a GPU, or the
// interpreter that stands in for one (simulated.go). A run works through a queue:
// what is put in is done in that order, and the host waits only where it must know
// a value.
type accelerator interface {
	// queue opens a queue for a run; the run closes it.
	queue(ctx context.Context) (queue, error)
	// kernels compiles funcs, the functions of a program of grids.
	kernels(ctx context.Context, p *loop.Program, funcs []*loop.Func) ([]gridKernel, error)
}

// queue is the work of one run on an accelerator, in order. It is used by one
// goroutine.
type queue interface {
	// alloc makes a block; the error is an *outOfMemory if there is too little. free gives it back, of so many bytes.
	alloc(bytes int64) (block, error)
	free(b block, bytes int64)
	// allocResident is alloc for a block that becomes a Resident, and freeResident gives such a
	// block back, of so many bytes, when no work under way has to do with it.
	allocResident(bytes int64) (block, error)
	freeResident(b block, bytes int64)
	// scratch finds memory that the run needs not give back, for a small temporary: it is
	// the run's until the queue is closed. It is not ok if there is none.
	scratch(bytes int64, fill alloc.Fill) (b block, ok bool)
	clear(b block, bytes int64) error
	upload(b block, from unsafe.Pointer, bytes int64) error
	// copy copies within the accelerator, between blocks that do not overlap.
	copy(to, from block, bytes int64) error
	// download waits until what is before it in the queue is done, or the context is.
	download(ctx context.Context, to unsafe.Pointer, b block, offset, bytes int64) error
	launch(k gridKernel, blocks int64, c *gridCall) error
	// wait waits until all work is done, or the context is.
	wait(ctx context.Context) error
	// publish makes what was computed fit for other queues of the device: it waits, unless
	// they all put their work behind this queue's.
	publish(ctx context.Context) error
	// rewind ends a run: what comes later in the queue may have its scratch memory.
	rewind()
	// close is rewind, and gives the queue back.
	close()
}

// block is memory of an accelerator: an address that only it understands.
type block uint64

// gridKernel is a compiled grid function.
type gridKernel any

// gridCall is what a grid function is called with.
type gridCall struct {
	bufs []gridBuffer
	args []int64
	// status is the address of the function's status word; the word before it is
	// that of the function called before, or 0.
	status block
}

// gridBuffer is a buffer on an accelerator.
type gridBuffer struct {
	at    block
	len   int64
	bytes int64 // allocated
	// owned says that the run must give the block back.
	owned bool
}

// outOfMemory says that an accelerator has too little memory.
type outOfMemory struct {
	free, total int64
	err         error
}

func (e *outOfMemory) Error() string { return e.err.Error() }

// source is where the limit comes from.
func (e *outOfMemory) source() string {
	return fmt.Sprintf("the device has %s free of %s", units.FormatBytes(e.free), units.FormatBytes(e.total))
}

// gridProgram is a program compiled for an accelerator.
type gridProgram struct {
	device  accelerator
	kernels []gridKernel
	// fails says which stages may fail.
	fails      bool
	memoisable memoisable
}

// compileGrid makes an executable that runs on an accelerator of a program whose functions
// are all run by grids.
func compileGrid(ctx context.Context, engine string, p *loop.Program, device accelerator) (*Executable, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := p.Verify(lib.Lookup); err != nil {
		return nil, &ProgramError{Program: p.Name, Err: err}
	}
	if err := checkMapped(engine, p); err != nil {
		return nil, err
	}
	plan := newPlan(p)
	g := &gridProgram{device: device, memoisable: findMemoisable(plan)}
	for _, f := range plan.funcs {
		g.fails = g.fails || len(f.Fails) > 0
	}
	var err error
	g.kernels, err = device.kernels(ctx, p, plan.funcs)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, &ProgramError{Program: p.Name, Err: fmt.Errorf("engine %s: %w", engine, err)}
	}
	x := newExecutable(engine, plan, nil, alloc.New())
	x.grid = g
	return x, nil
}

// checkMapped refuses a program that was not mapped to a GPU's threads.
func checkMapped(engine string, p *loop.Program) error {
	for i := range p.Stages {
		if s := &p.Stages[i]; s.Func != nil && s.Func.Grid == nil {
			return &ProgramError{Program: p.Name, Err: fmt.Errorf(
				"engine %s: stage %s has a function of chunks, where one of a grid is expected: map the program to a GPU's threads first", engine, s.Name)}
		}
	}
	return nil
}

// gridRun is a run on an accelerator. It is part of a state, and used again.
type gridRun struct {
	ctx    context.Context
	x      *Executable
	s      *state
	q      queue
	bufs   []gridBuffer // by buffer
	call   gridCall
	status gridBuffer // one word for each stage, after a 0
	// launched are the stages whose functions were launched: word k of the status is
	// that of the k-th, counted from 1.
	launched []*stagePlan
	inUse    int64
	limit    int64
	err      error // of fetch
	stay     bool  // results stay on the device
	sure     bool  // no function fails
	held     []*residentBlock
	quiet    bool // nothing is at work any more
	// sound is how many of launched are known not to have failed.
	sound int
	// idle says that nothing was put into the queue since the host has waited for it.
	idle      bool
	under     *Underway   // has the queue
	recording *Recording  // of the run, or nil
	parts     []partState // by memoisable.parts
	small     smallBuffer
}

// smallBuffer is a copy of a buffer that sizes are read from: all of it is fetched at once,
// since what costs is the wait.
type smallBuffer struct {
	id       loop.BufferID
	launched int // stages before the copy was made
	bytes    []byte
}

// smallBytes is how large a buffer may be that is fetched at once.
const smallBytes = 256

const statusSize = 4

// runGrid runs the program on its accelerator.
func (x *Executable) runGrid(ctx context.Context, s *state, o Options, r *Results) error {
	under := o.Underway
	var q queue
	var err error
	if under != nil {
		var ok bool
		if q, ok, err = under.begin(ctx, x.grid.device); !ok {
			under = nil
		}
	}
	if q == nil && err == nil {
		q, err = x.grid.device.queue(ctx)
	}
	if err != nil {
		return err
	}
	g := &s.grid
	g.begin(ctx, x, s, q, o)
	if g.under = under; under != nil {
		g.recording = under.Recording
	}
	defer g.close()
	if err := g.open(); err != nil {
		return err
	}
	for i := range s.plan.stages {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := g.stage(i); err != nil {
			return err
		}
	}
	return g.results(ctx, r)
}

// begin makes g the next run, with the memory that its lists have.
func (g *gridRun) begin(ctx context.Context, x *Executable, s *state, q queue, o Options) {
	bufs := g.bufs
	if bufs == nil {
		bufs = make([]gridBuffer, len(s.mem))
	}
	*g = gridRun{ctx: ctx, x: x, s: s, q: q, bufs: bufs, call: g.call, launched: g.launched[:0], held: g.held[:0], parts: g.parts[:0],
		limit: o.MemoryLimit, stay: o.Resident, sure: o.Sure}
}

// close gives back what the run has. Blocks go in the order of the queue; but the
// arrays of Residents are freed through other queues, so kernels that still read
// them, after an error, are waited for: not by the caller.
func (g *gridRun) close() {
	for _, b := range g.bufs {
		g.release(b)
	}
	g.release(g.status)
	clear(g.bufs)
	clear(g.parts)
	q, held := g.q, g.held
	g.ctx, g.q = nil, nil
	if g.under != nil {
		g.under.leave(held, g.idle)
		clear(held)
		g.under = nil
		return
	}
	if g.quiet || len(held) == 0 {
		q.close()
		doneAll(held)
		clear(held)
		return
	}
	g.held = nil
	go func() {
		_ = q.wait(context.Background()) // only a lost device fails to
		q.close()
		doneAll(held)
	}()
}

func doneAll(held []*residentBlock) {
	for _, r := range held {
		r.done()
	}
}

func (g *gridRun) release(b gridBuffer) {
	g.inUse -= b.bytes
	if b.owned {
		g.q.free(b.at, b.bytes)
	}
}

// open brings what the caller gives to the device.
func (g *gridRun) open() error {
	p := g.s.plan
	if g.x.grid.fails {
		bytes := int64(len(p.stages)+1) * statusSize
		b, err := g.temporary(bytes, alloc.Zeroed)
		if err != nil {
			return g.refused("inputs", &loop.Buffer{Name: "status", Elem: loop.U32}, bytes/statusSize, bytes, err)
		}
		g.status = b
	}
	for _, id := range p.given {
		m := g.s.mem[id]
		bytes := m.Len * p.elemSize[id]
		if r := m.On; r != nil && r.device == g.x.grid.device && !p.written[id] {
			if !r.at.use(g.under) {
				return &BindingError{p.program.Name, p.program.Buffers[id].Name, "was freed on the device"}
			}
			g.held = append(g.held, r.at)
			g.bufs[id] = gridBuffer{at: r.at.at, len: m.Len}
			continue
		}
		b, err := g.alloc(bytes, alloc.Anything, ofRun)
		if err != nil {
			return g.refused("inputs", &p.program.Buffers[id], m.Len, bytes, err)
		}
		b.len = m.Len
		g.bufs[id] = b
		if bytes > 0 {
			if err := g.q.upload(b.at, m.Ptr, bytes); err != nil {
				return err
			}
		}
	}
	g.recall()
	g.recording.uses(g.held)
	return nil
}

// alloc makes a block of at least one byte.
func (g *gridRun) alloc(bytes int64, fill alloc.Fill, life lifetime) (gridBuffer, error) {
	size := alloc.Padded(bytes)
	if g.limit > 0 && size > g.limit-g.inUse {
		return gridBuffer{}, errOverLimit
	}
	at, err := allocate(g.x.grid.device, g.q, size, life)
	if err != nil {
		return gridBuffer{}, err
	}
	if fill == alloc.Zeroed && bytes > 0 {
		if err := g.q.clear(at, bytes); err != nil {
			g.q.free(at, size)
			return gridBuffer{}, err
		}
		g.idle = false
	}
	g.inUse += size
	return gridBuffer{at: at, bytes: size, owned: true}, nil
}

// temporary is alloc for what ends with the run.
func (g *gridRun) temporary(bytes int64, fill alloc.Fill) (gridBuffer, error) {
	size := alloc.Padded(bytes)
	if g.limit > 0 && size > g.limit-g.inUse {
		return gridBuffer{}, errOverLimit
	}
	if bytes == 0 {
		fill = alloc.Anything
	}
	at, ok := g.q.scratch(size, fill)
	if !ok {
		return g.alloc(bytes, fill, ofRun)
	}
	g.inUse += size
	return gridBuffer{at: at, bytes: size}, nil
}

var errOverLimit = &outOfMemory{}

// refused is the error for a buffer that does not fit.
func (g *gridRun) refused(stage string, buf *loop.Buffer, n, bytes int64, err error) error {
	e := &MemoryLimitError{Program: g.s.plan.program.Name, Stage: stage, Buffer: buf.Name,
		Len: n, Elem: buf.Elem.String(), Need: bytes, InUse: g.inUse, Limit: g.limit, Source: limitOption}
	if oom, ok := err.(*outOfMemory); ok && oom != errOverLimit {
		e.Limit, e.Source = oom.free+g.inUse, oom.source()
	} else if !ok {
		e.Err = err
	}
	return e
}

func (g *gridRun) stage(number int) error {
	s := g.s
	st := &s.plan.stages[number]
	for i := range st.before.lets {
		l := &st.before.lets[i]
		v, err := g.eval(st, sizeOf{"scalar ", s.plan.program.Scalars[l.scalar].Name}, &l.value)
		if err != nil {
			return err
		}
		s.scalars[l.scalar] = v
	}
	for i := range st.before.trims {
		t := &st.before.trims[i]
		b := &g.bufs[t.buffer]
		what := sizeOf{"length of buffer ", s.plan.program.Buffers[t.buffer].Name}
		n, err := g.eval(st, what, &t.length)
		if err != nil {
			return err
		}
		if n < 0 || n > b.len {
			return s.sizeError(st, what.String(), &t.length,
				sizeFault(fmt.Sprintf("%d of %d elements are wanted", n, b.len)))
		}
		b.len = n
		s.mem[t.buffer].Len = n
	}
	for i := range st.before.allocs {
		if err := g.allocate(st, &st.before.allocs[i]); err != nil {
			return err
		}
	}
	if st.fn != nil && !g.skips(number) {
		if err := g.launch(st); err != nil {
			return err
		}
	}
	for _, id := range st.lastUses {
		if g.keeps(id) {
			continue
		}
		g.release(g.bufs[id])
		g.bufs[id] = gridBuffer{}
	}
	return nil
}

// eval computes a size, which may read elements that are on the device.
func (g *gridRun) eval(st *stagePlan, what sizeOf, c *sizeCode) (int64, error) {
	s := g.s
	g.err = nil
	v, fault := c.eval(s.stack, s.scalars, s.mem, s.plan.program.Buffers, g.fetch)
	switch {
	case g.err != nil:
		return 0, g.err
	case fault != "":
		return 0, s.sizeError(st, what.String(), c, fault)
	}
	return v, nil
}

// sizeOf says what a size is of, for errors: nothing is put together where there is none.
type sizeOf struct{ kind, name string }

func (w sizeOf) String() string { return w.kind + w.name }

func (g *gridRun) allocate(st *stagePlan, a *allocPlan) error {
	s := g.s
	buf := &s.plan.program.Buffers[a.buffer]
	what := sizeOf{"length of buffer ", buf.Name}
	n, err := g.eval(st, what, &a.length)
	if err != nil {
		return err
	}
	if n < 0 {
		return s.sizeError(st, what.String(), &a.length, sizeFault(fmt.Sprintf("the length is negative (%d)", n)))
	}
	bytes := bytesOf(n, s.plan.elemSize[a.buffer])
	if bytes > maxObject {
		return g.refused(st.name, buf, n, bytes, errOverLimit)
	}
	var b gridBuffer
	switch {
	case g.recalled(a.buffer, n):
		s.mem[a.buffer] = Memory{Len: n}
		return nil
	case g.keeps(a.buffer):
		b, err = g.alloc(bytes, a.fill, stays)
	case buf.Role != loop.Output:
		b, err = g.temporary(bytes, a.fill)
	case g.stay:
		b, err = g.alloc(bytes, a.fill, stays)
	default:
		b, err = g.alloc(bytes, a.fill, ofRun)
	}
	if err != nil {
		return g.refused(st.name, buf, n, bytes, err)
	}
	b.len = n
	g.bufs[a.buffer] = b
	s.mem[a.buffer] = Memory{Len: n}
	return nil
}

func (g *gridRun) launch(st *stagePlan) error {
	s := g.s
	blocks, err := g.eval(st, sizeOf{"number of ", "blocks"}, &st.blocks)
	if err != nil {
		return err
	}
	c := &g.call
	c.bufs, c.args = c.bufs[:0], c.args[:0]
	for _, id := range st.bufs {
		c.bufs = append(c.bufs, g.bufs[id])
	}
	for _, id := range st.args {
		c.args = append(c.args, s.scalars[id])
	}
	if blocks <= 0 {
		return nil // and the next one looks at the status of the one before
	}
	g.launched = append(g.launched, st)
	c.status = 0
	if g.x.grid.fails {
		c.status = g.status.at + block(len(g.launched)*statusSize)
	}
	g.idle = false
	return g.q.launch(g.x.grid.kernels[st.kernel], blocks, c)
}
