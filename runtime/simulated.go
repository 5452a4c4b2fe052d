package runtime

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/codegen/interp"
	"github.com/lacuna-sparse/lacuna/ir/loop"
	"github.com/lacuna-sparse/lacuna/ir/loop/lib"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// SimulatedName is the name of the engine that stands in for a GPU.
const SimulatedName = "simulated"

// Simulated returns the engine that runs the programs that a GPU would run, on the
// interpreter's grids: it finds races, reads of memory that was never written and
// accesses outside a buffer. It is slow, and there for tests.
func Simulated() Engine { return newSimulated(simulatedMemory) }

func newSimulated(memory int64) simulated {
	return simulated{&simulatedBlocks{list: map[block][]byte{}, size: memory}}
}

type simulated struct{ memory *simulatedBlocks }

func (simulated) Name() string        { return SimulatedName }
func (simulated) Fingerprint() string { return SimulatedName }

func (e simulated) Compile(ctx context.Context, p *loop.Program) (*Executable, error) {
	return compileGrid(ctx, e.Name(), p, e)
}

func (simulated) kernels(ctx context.Context, _ *loop.Program, funcs []*loop.Func) ([]gridKernel, error) {
	kernels := make([]gridKernel, len(funcs))
	for i, f := range funcs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k := &simulatedKernel{name: f.Name}
		var err error
		if k.careful, err = interp.CompileGrid(f, lib.Lookup); err != nil {
			return nil, err
		}
		if f.Quick != nil {
			if k.quick, err = interp.CompileGrid(f.Quick, lib.Lookup); err != nil {
				return nil, err
			}
			k.anyOrder = takesPlaces(f)
			for j, buf := range f.Bufs {
				if !buf.ReadOnly {
					k.written = append(k.written, j)
				}
			}
		}
		kernels[i] = k
	}
	return kernels, nil
}

// simulatedKernel is a function, and what stands in for it while it is compiled, if there is
// something: both run, and must store the same.
type simulatedKernel struct {
	name           string
	careful, quick *interp.GridKernel
	written        []int // parameters that may be written; of one with a quick function
	// anyOrder says that what is stored depends on which thread is first, as lists do. Then
	// one of the two runs; results show whether it is right.
	anyOrder bool
}

// takesPlaces reports whether threads look at what atomics find in parameters.
func takesPlaces(f *loop.Func) (takes bool) {
	loop.WalkStmts(f.Body, func(s loop.Stmt) {
		a, ok := s.(*loop.Atomic)
		takes = takes || ok && a.Var != loop.NoVar && int(a.Buf) < len(f.Bufs)
	})
	return takes
}

func (e simulated) queue(context.Context) (queue, error) {
	return &simulatedQueue{memory: e.memory}, nil
}

// simulatedBlocks is the memory of a device that is simulated. A block's address is its
// number.
type simulatedBlocks struct {
	mu   sync.Mutex
	list map[block][]byte
	next block
	size int64 // of the device
	used int64
}

// take notes bytes as used.
func (m *simulatedBlocks) take(bytes int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if free := m.size - m.used; bytes > free {
		return &outOfMemory{free: free, total: m.size, err: fmt.Errorf("the simulated device has no %d bytes", bytes)}
	}
	m.used += bytes
	return nil
}

// simulatedQueue does what is put in as late as a device may: when somebody waits for it, or the queue is closed.
type simulatedQueue struct {
	memory   *simulatedBlocks
	launches uint64
	todo     []func() error
	err      error // of what was done
}

func (q *simulatedQueue) later(do func() error) error {
	q.todo = append(q.todo, do)
	return nil
}

func (q *simulatedQueue) wait(context.Context) error {
	for _, do := range q.todo {
		if q.err != nil {
			break
		}
		q.err = do()
	}
	q.todo = nil
	return q.err
}

// numbersPerBlock keeps addresses inside a block apart from other blocks.
const numbersPerBlock = 1 << 48

func (q *simulatedQueue) alloc(bytes int64) (block, error) {
	if err := q.memory.take(bytes); err != nil {
		return 0, err
	}
	words := make([]uint64, (bytes+7)/8)
	memory := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), bytes)
	for i := range memory {
		memory[i] = 0xA5
	}
	m := q.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next += numbersPerBlock
	m.list[m.next] = memory
	return m.next, nil
}

// simulatedMemory is the memory of the device that is simulated.
const simulatedMemory = 1 << 32

func (q *simulatedQueue) free(b block, bytes int64) {
	if len(q.todo) == 0 {
		q.freeResident(b, bytes)
		return
	}
	_ = q.later(func() error { q.freeResident(b, bytes); return nil })
}

func (q *simulatedQueue) allocResident(bytes int64) (block, error) { return q.alloc(bytes) }

func (q *simulatedQueue) freeResident(b block, _ int64) {
	q.memory.mu.Lock()
	defer q.memory.mu.Unlock()
	q.memory.used -= int64(len(q.memory.list[b]))
	delete(q.memory.list, b)
}

// at is the memory at an address.
func (q *simulatedQueue) at(b block) []byte {
	q.memory.mu.Lock()
	defer q.memory.mu.Unlock()
	offset := b % numbersPerBlock
	return q.memory.list[b-offset][offset:]
}

func (q *simulatedQueue) clear(b block, bytes int64) error {
	return q.later(func() error { clear(q.at(b)[:bytes]); return nil })
}

func (q *simulatedQueue) upload(b block, from unsafe.Pointer, bytes int64) error {
	taken := slices.Clone(unsafe.Slice((*byte)(from), bytes))
	return q.later(func() error { copy(q.at(b), taken); return nil })
}

func (q *simulatedQueue) copy(to, from block, bytes int64) error {
	return q.later(func() error { copy(q.at(to)[:bytes], q.at(from)); return nil })
}

func (q *simulatedQueue) download(ctx context.Context, to unsafe.Pointer, b block, offset, bytes int64) error {
	if err := q.wait(ctx); err != nil {
		return err
	}
	copy(unsafe.Slice((*byte)(to), bytes), q.at(b)[offset:])
	return nil
}

func (q *simulatedQueue) launch(kernel gridKernel, blocks int64, c *gridCall) error {
	own := &gridCall{slices.Clone(c.bufs), slices.Clone(c.args), c.status}
	return q.later(func() error { return q.run(kernel.(*simulatedKernel), blocks, own) })
}

func (q *simulatedQueue) run(k *simulatedKernel, blocks int64, c *gridCall) error {
	status := (*uint32)(nil)
	if c.status != 0 {
		words := q.at(c.status - statusSize)
		if *(*uint32)(unsafe.Pointer(&words[0])) != 0 {
			*(*uint32)(unsafe.Pointer(&words[statusSize])) = 1
			return nil
		}
		status = (*uint32)(unsafe.Pointer(&words[statusSize]))
	}
	bufs := make([]interp.Memory, len(c.bufs))
	for i, b := range c.bufs {
		bufs[i] = interp.Memory{Ptr: unsafe.Pointer(unsafe.SliceData(q.at(b.at))), Len: b.len}
	}
	q.launches++
	how := interp.Launch{Blocks: blocks, Seed: q.launches}
	run, compared := k.careful, k.quick != nil && !k.anyOrder
	if k.anyOrder && q.launches%2 == 0 {
		run = k.quick
	}
	var stored [][]byte
	var quickly int64
	if compared {
		var err error
		if stored, quickly, err = q.runQuick(k, bufs, c, how); err != nil {
			return err
		}
	}
	s, err := run.Run(bufs, c.args, how)
	if err != nil {
		return err
	}
	if compared && s != quickly {
		return fmt.Errorf("BUG: the quick function of %s ends with status %d, not %d", k.name, quickly, s)
	}
	for i, bytes := range stored {
		if s == 0 && !slices.Equal(bytes, q.at(c.bufs[k.written[i]].at)) {
			return fmt.Errorf("BUG: the quick function of %s stores something else in its parameter %d", k.name, k.written[i])
		}
	}
	if s > 0 {
		*status = uint32(s)
	}
	return nil
}

// runQuick runs the quick function and returns its status and what is then in the
// buffers that may be written, which have afterwards what they had before.
func (q *simulatedQueue) runQuick(k *simulatedKernel, bufs []interp.Memory, c *gridCall, how interp.Launch) (stored [][]byte, status int64, err error) {
	var before [][]byte
	for _, i := range k.written {
		before = append(before, slices.Clone(q.at(c.bufs[i].at)))
	}
	if status, err = k.quick.Run(bufs, c.args, how); err != nil {
		return nil, 0, fmt.Errorf("quickly: %w", err)
	}
	for j, i := range k.written {
		memory := q.at(c.bufs[i].at)
		stored = append(stored, slices.Clone(memory))
		copy(memory, before[j])
	}
	return stored, status, nil
}

// scratch has nothing: that blocks are apart shows accesses outside them.
func (q *simulatedQueue) scratch(int64, alloc.Fill) (block, bool) { return 0, false }

func (q *simulatedQueue) publish(ctx context.Context) error { return q.wait(ctx) }

func (q *simulatedQueue) rewind() {}

func (q *simulatedQueue) close() { _ = q.wait(context.Background()) }
