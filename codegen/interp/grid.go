package interp

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/ir/loop"
)

// StatusMisused is the status of a grid that broke a rule: a race, a read of what
// was not written, or threads that do not meet.
const StatusMisused = -4

// GridKernel is a grid function made ready to run. It is immutable: any number of
// goroutines may call it at once.
//
// It is there to check grid functions and not to be fast. The threads of a block
// take turns: each runs up to the next place where threads meet. Every access to
// memory that threads may write is looked at; see RaceError and UndefinedError.
type GridKernel struct {
	name      string
	bufs      []loop.Buf // with shared arrays
	params    int        // buffers that are parameters
	grid      loop.Grid
	args      []slot
	code      gridCode
	registers []uint64
	body      exec
}

// CompileGrid turns the grid function f into a GridKernel. lookup finds the scalar
// functions that f calls, as in Compile. The error is a *loop.VerifyError, or says
// that f is no grid function.
func CompileGrid(f *loop.Func, lookup func(string) (*loop.Scalar, bool)) (*GridKernel, error) {
	if f.Grid == nil {
		return nil, fmt.Errorf("interp: func %s is no grid function; Compile takes it", f.Name)
	}
	if err := f.Verify(lookup); err != nil {
		return nil, err
	}
	return compileGrid(f, lookup)
}

// compileGrid is CompileGrid of a function whose threads may fail to meet.
func compileGrid(f *loop.Func, lookup func(string) (*loop.Scalar, bool)) (*GridKernel, error) {
	k := &GridKernel{name: f.Name, bufs: f.Buffers(), params: len(f.Bufs), grid: *f.Grid}
	c := &compiler{lookup: lookup, grid: &k.code}
	c.enter(function{where: "func " + f.Name, bufs: k.bufs, fails: len(f.Fails)}, f.Vars)
	for _, v := range f.Args {
		k.args = append(k.args, c.parameter(v, loop.I64))
	}
	k.body = c.block(f.Body)
	if c.err != nil {
		return nil, c.err
	}
	k.registers = c.registers()
	return k, nil
}

// A Launch says how a grid function is called.
type Launch struct {
	Blocks int64 // how many blocks; up to 2^31-1
	// Seed changes the order in which blocks, warps and threads run, which must not
	// matter: 0 is the order of their numbers.
	Seed uint64
	// Stop, when another goroutine sets it to other than 0, makes Run soon end with
	// loop.StatusStopped. It may be nil.
	Stop *atomic.Uint32
}

// MismatchError says that some threads waited where others did not come to. The
// verifier refuses functions where that may happen without a race.
type MismatchError struct {
	Func  string // name of the function
	Block int64
	At    string // where a thread waited
}

// Error implements error.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("interp: func %s: not all threads of block %d come to %s", e.Func, e.Block, e.At)
}

// Run runs the function for all threads of a grid and returns the greatest of their
// statuses. args are the scalar parameters in order. Of a negative status the error
// tells the reason: a *BoundsError, *CallError, *RaceError, *UndefinedError or
// *MismatchError.
func (k *GridKernel) Run(bufs []Memory, args []int64, launch Launch) (status int64, err error) {
	if err := checkCall(k.name, k.bufs[:k.params], bufs, len(k.args), args); err != nil {
		return StatusBadCall, err
	}
	if launch.Blocks < 0 || launch.Blocks > math.MaxInt32 {
		return StatusBadCall, &CallError{k.name, fmt.Sprintf("runs on up to 2^31-1 blocks, not on %d", launch.Blocks)}
	}
	if launch.Stop == nil {
		launch.Stop = &never
	}
	b := k.newBlock(bufs, args, launch)
	defer b.end()
	defer func() {
		if p := recover(); p != nil {
			status, err = b.reason(p)
		}
	}()
	rng := rand.New(rand.NewPCG(launch.Seed, 0))
	for number := range order(launch.Blocks, launch.Seed, rng) {
		if launch.Stop.Load() != 0 {
			return loop.StatusStopped, nil
		}
		b.start(number, launch.Seed, rng)
		st := b.run()
		if st < 0 {
			return st, nil
		}
		status = max(status, st)
	}
	return status, nil
}

// order goes through 0 … n-1: in order for seed 0, else from some number on in steps
// that come to each of them.
func order(n int64, seed uint64, rng *rand.Rand) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		i, step := int64(0), int64(1)
		if seed != 0 && n > 1 {
			i, step = rng.Int64N(n), 1+rng.Int64N(n-1)
			for gcd(step, n) != 1 {
				step = step%(n-1) + 1
			}
		}
		for range n {
			if !yield(i) {
				return
			}
			i = (i + step) % n
		}
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// A block runs the blocks of a grid, one after another, with one set of threads.
type block struct {
	k       *GridKernel
	number  int64
	blocks  int64  // how many there are
	started uint64 // blocks so far, this one included
	epoch   uint64 // barriers so far, each block starting with one
	shadows []*shadow
	warps   []*warp
	all     []thread
	turns   []*warp // the warps in the order in which they run
	fault   error   // of a thread that broke a rule
}

// A warp is 32 threads.
type warp struct {
	number  int16
	order   uint32 // barriers of the warp so far
	threads []*thread
	turns   []*thread // the threads in the order in which they run
}

// A thread runs as a coroutine where threads meet, else it is just called.
type thread struct {
	number int16
	block  *block
	warp   *warp
	frame  *frame

	at      *meeting // where it waits; nil: it runs or has ended
	operand int64    // what a shuffle or ballot is given besides a value
	running bool     // it has its turn; so after a panic it was its
	started bool     // on the block
	ended   bool
	given   bool // it was given up at a meeting
	status  int64

	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
}

// newBlock makes the threads and the memory of a block.
func (k *GridKernel) newBlock(bufs []Memory, args []int64, launch Launch) *block {
	b := &block{k: k, blocks: launch.Blocks}
	mem := append([]Memory{}, bufs...)
	for _, s := range k.grid.Shared {
		words := make([]uint64, (s.Len*int64(s.Elem.Size())+7)/8)
		mem = append(mem, Memory{Ptr: unsafe.Pointer(unsafe.SliceData(words)), Len: s.Len})
	}
	for i, m := range mem {
		s := &shadow{}
		if !k.bufs[i].ReadOnly {
			s = newShadow(k.bufs[i], m.Len)
		}
		s.shared = i >= k.params
		b.shadows = append(b.shadows, s)
	}
	var fr *frame
	b.all = make([]thread, k.grid.Threads)
	for i := range b.all {
		// Threads that never wait may have one frame after another.
		if fr == nil || k.code.meets {
			fr = newFrame(k.registers, mem)
			fr.stop, fr.fuel = launch.Stop, pollInterval
			for i, s := range k.args {
				*reg[int64](fr, s) = args[i]
			}
		}
		if i%loop.WarpSize == 0 {
			b.warps = append(b.warps, &warp{number: int16(i / loop.WarpSize)})
		}
		w := b.warps[len(b.warps)-1]
		t := &b.all[i]
		t.number, t.block, t.warp, t.frame = int16(i), b, w, fr
		if k.code.meets {
			t.next, t.stop = iter.Pull(t.coroutine)
		}
		w.threads = append(w.threads, t)
	}
	return b
}

// coroutine runs the body, once for each block.
func (t *thread) coroutine(yield func(struct{}) bool) {
	t.yield = yield
	for {
		t.status = t.block.k.body(t.frame)
		t.ended = true
		if t.given || !yield(struct{}{}) {
			return
		}
	}
}

// start prepares for a block.
func (b *block) start(number int64, seed uint64, rng *rand.Rand) {
	b.number = number
	b.started++
	b.epoch++
	b.turns = b.turns[:0]
	for i := range order(int64(len(b.warps)), seed, rng) {
		w := b.warps[i]
		b.turns = append(b.turns, w)
		w.turns = w.turns[:0]
		for k := range order(loop.WarpSize, seed, rng) {
			w.turns = append(w.turns, w.threads[k])
		}
	}
	for i := range b.all {
		b.all[i].ended, b.all[i].started, b.all[i].at = false, false, nil
	}
}

// begin gives a thread its frame for the block.
func (t *thread) begin() {
	t.started, t.frame.thread = true, t
	t.special(loop.BlockIndex, t.block.number)
	t.special(loop.BlockCount, t.block.blocks)
	t.special(loop.ThreadIndex, int64(t.number))
	t.special(loop.WarpIndex, int64(t.number)/loop.WarpSize)
	t.special(loop.LaneIndex, int64(t.number)%loop.WarpSize)
}

// special sets a special register, if the function reads it.
func (t *thread) special(r loop.Register, v int64) {
	if code := &t.block.k.code; code.used[r] {
		*reg[int64](t.frame, code.registers[r]) = v
	}
}

// run runs a block and returns the greatest status of its threads, or that of one
// that was stopped.
func (b *block) run() int64 {
	for {
		met := (*meeting)(nil)
		for i, w := range b.turns {
			m, st := w.run()
			if st < 0 {
				return st
			}
			if i > 0 && m != met {
				b.mismatch(m, met)
			}
			met = m
		}
		if met == nil {
			break
		}
		b.epoch++
		for i := range b.all {
			b.all[i].at = nil
		}
	}
	worst := int64(0)
	for i := range b.all {
		worst = max(worst, b.all[i].status)
	}
	return worst
}

// run runs the threads of a warp until they have all ended, or wait at a barrier of
// the block, which it returns. The status is negative if one was stopped.
func (w *warp) run() (*meeting, int64) {
	for {
		met := (*meeting)(nil)
		for i, t := range w.turns {
			if st := t.resume(); st < 0 {
				return nil, st
			}
			if i > 0 && t.at != met {
				t.block.mismatch(t.at, met)
			}
			met = t.at
		}
		if met == nil || met.scope == loop.BlockScope {
			return met, 0
		}
		if met.exchange != nil {
			met.exchange(w)
		} else {
			w.order++
		}
		for _, t := range w.threads {
			t.at = nil
		}
	}
}

// resume runs a thread up to where it waits or ends. The status is negative if it was
// stopped.
func (t *thread) resume() int64 {
	if t.ended {
		return 0
	}
	if t.running = true; !t.started {
		t.begin()
	}
	switch t.next {
	case nil:
		t.status = t.block.k.body(t.frame)
		t.ended = true
	default:
		t.next()
	}
	t.running = false
	if t.ended {
		return min(t.status, 0)
	}
	return 0
}

// mismatch ends the grid as threads are at different places, of which one may be the
// end.
func (b *block) mismatch(x, y *meeting) {
	if x == nil {
		x = y
	}
	b.fault = &MismatchError{b.k.name, b.number, x.text}
	panic(misused)
}

// reason is what a panic of a thread means.
func (b *block) reason(p any) (int64, error) {
	switch p {
	case any(misused):
		return StatusMisused, b.fault
	case any(outOfBounds):
		for i := range b.all {
			if t := &b.all[i]; t.running {
				return StatusOutOfBounds, boundsError(b.k.name, b.k.bufs, t.frame)
			}
		}
	}
	panic(p)
}

// end lets go of the threads.
func (b *block) end() {
	for i := range b.all {
		if stop := b.all[i].stop; stop != nil {
			stop()
		}
	}
}
