package runtime

import (
	"context"
	"errors"
	goruntime "runtime"
	"sync"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// queue takes a stream that no run uses.
func (e *cudaEngine) queue(ctx context.Context) (queue, error) {
	if e.stream != nil {
		return &cudaQueue{engine: e, stream: e.stream}, nil
	}
	q := e.queues.get()
	if q == nil {
		stream, err := e.device.NewStream()
		if err != nil {
			return nil, err
		}
		q = &cudaQueue{engine: e, stream: stream}
	}
	return q, nil
}

// idleQueues are queues that no run uses. The one of latest use comes first, as it knows best what it may be told to do again.
type idleQueues struct {
	mu   sync.Mutex
	list []*cudaQueue
}

const mostIdle = 32

func (l *idleQueues) get() *cudaQueue {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.list) - 1
	if n < 0 {
		return nil
	}
	q := l.list[n]
	l.list[n] = nil
	l.list = l.list[:n]
	return q
}

func (l *idleQueues) put(q *cudaQueue) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) < mostIdle {
		l.list = append(l.list, q)
	}
}

// forget gives back what idle queues know, which takes memory of the device.
func (l *idleQueues) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.list {
		q.replay.Forget()
	}
}

// cudaQueue is a stream.
type cudaQueue struct {
	engine *cudaEngine
	stream *cuda.Stream
	arena  arena
	replay cuda.Replay // what is not in the stream yet
}

// arena is memory that runs on a stream use one after another for small temporaries, which spares
// each of those the driver's allocation. The part for zeros holds zeros between runs.
type arena struct {
	at           cuda.Ptr // 0: not allocated yet
	used, zeroes int64    // by the run, of arenaBytes and of arenaZeroes
}

const (
	arenaBytes  = 1 << 20
	arenaZeroes = 1 << 15 // at its end
)

// close leaves what is still to be done to the stream, for another run.
func (q *cudaQueue) close() {
	if q.flush() != nil || q.stream == q.engine.stream {
		return // if the stream is of no use, it goes with the queue
	}
	a := &q.arena
	if a.zeroes > 0 && q.clear(block(a.at+arenaBytes-arenaZeroes), a.zeroes) != nil {
		return
	}
	a.used, a.zeroes = 0, 0
	q.engine.queues.put(q)
}

// rewind lets the device begin with the run's work while the host prepares the next. What is to hold zeros is cleared once, in close: what a run does
// not find in what is left of them, it allocates.
func (q *cudaQueue) rewind() {
	if q.flush() == nil { // an error comes again
		q.arena.used = 0
	}
}

func (q *cudaQueue) scratch(bytes int64, fill alloc.Fill) (block, bool) {
	// Several runs at once may use a stream that is the program's own.
	if q.stream == q.engine.stream || bytes > arenaBytes-arenaZeroes || !q.openArena() {
		return 0, false
	}
	a := &q.arena
	from, used, size := cuda.Ptr(0), &a.used, int64(arenaBytes-arenaZeroes)
	if fill == alloc.Zeroed {
		from, used, size = arenaBytes-arenaZeroes, &a.zeroes, arenaZeroes
	}
	at := *used
	if bytes > size-at {
		return 0, false
	}
	*used += (bytes + arenaAlignment - 1) / arenaAlignment * arenaAlignment
	return block(a.at + from + cuda.Ptr(at)), true
}

// arenaAlignment is that of the driver's own allocations.
const arenaAlignment = 256

// openArena allocates the arena unless it is there. It is freed when the queue is forgotten.
func (q *cudaQueue) openArena() bool {
	if q.arena.at != 0 {
		return true
	}
	at, err := q.stream.Alloc(arenaBytes)
	if err != nil {
		return false
	}
	stream := q.stream
	if stream.Set8(at+arenaBytes-arenaZeroes, 0, arenaZeroes) != nil {
		_ = stream.Free(at)
		return false
	}
	q.arena.at = at
	goruntime.AddCleanup(q, func(at cuda.Ptr) { go func() { _ = stream.Free(at) }() }, at)
	return true
}

func (q *cudaQueue) alloc(bytes int64) (block, error) {
	if q.stream == q.engine.stream { // where what was freed is free for all that comes later
		return q.allocResident(bytes)
	}
	return q.allocNew(bytes)
}

// allocNew asks the driver for a block.
func (q *cudaQueue) allocNew(bytes int64) (block, error) {
	p, err := q.stream.Alloc(uint64(bytes))
	if errors.As(err, new(*cuda.OutOfMemoryError)) {
		if err := q.flush(); err != nil { // which may give blocks back
			return 0, err
		}
		q.replay.Forget()
		q.engine.queues.forget()
		q.engine.spare.Flush()
		p, err = q.stream.Alloc(uint64(bytes))
	}
	if oom := (*cuda.OutOfMemoryError)(nil); errors.As(err, &oom) {
		return 0, &outOfMemory{free: int64(oom.Free), total: int64(oom.Total), err: err}
	}
	return block(p), err
}

// free gives a block back when the work so far is done.
func (q *cudaQueue) free(b block, bytes int64) {
	if q.stream == q.engine.stream {
		q.freeResident(b, bytes)
		return
	}
	if q.replay.Empty() {
		q.freeOld(b)
		return
	}
	if q.replay.Free(cuda.Ptr(b), bytes) {
		_ = q.flush() // an error comes again
	}
}

// freeOld gives a block that nothing uses any more back to the driver. Only a lost device fails to, and then all memory is lost.
func (q *cudaQueue) freeOld(b block) { _ = q.stream.Free(cuda.Ptr(b)) }

func (q *cudaQueue) allocResident(bytes int64) (block, error) {
	size, ok := q.engine.spare.Size(bytes)
	if !ok {
		return q.allocNew(bytes)
	}
	if p, ok := q.engine.spare.Take(size); ok {
		return block(p), nil
	}
	return q.allocNew(size)
}

func (q *cudaQueue) freeResident(b block, bytes int64) {
	if size, ok := q.engine.spare.Size(bytes); ok && q.engine.spare.Keep(size, cuda.Ptr(b), q.stream) {
		return
	}
	q.freeOld(b)
}

// put adds something to do. On a stream of the program's own it comes before what the program puts there later.
func (q *cudaQueue) put(op cuda.Op) error {
	if full := q.replay.Put(op); full || q.stream == q.engine.stream {
		return q.flush()
	}
	return nil
}

func (q *cudaQueue) flush() error { return q.replay.Flush(q.stream, q.stream != q.engine.stream) }

func (q *cudaQueue) clear(b block, bytes int64) error {
	return q.put(cuda.Op{At: cuda.Ptr(b), Bytes: uint64(bytes)})
}

func (q *cudaQueue) upload(b block, from unsafe.Pointer, bytes int64) error {
	if err := q.flush(); err != nil {
		return err
	}
	return q.stream.Upload(cuda.Ptr(b), unsafe.Slice((*byte)(from), bytes))
}

func (q *cudaQueue) copy(to, from block, bytes int64) error {
	return q.put(cuda.Op{At: cuda.Ptr(to), From: cuda.Ptr(from), Bytes: uint64(bytes)})
}

func (q *cudaQueue) download(ctx context.Context, to unsafe.Pointer, b block, offset, bytes int64) error {
	if err := q.flush(); err != nil {
		return err
	}
	if ctx.Done() != nil { // the copy's own waiting cannot be cut short
		if err := q.stream.Synchronize(ctx); err != nil {
			return err
		}
	}
	return q.stream.Download(unsafe.Slice((*byte)(to), bytes), cuda.Ptr(b)+cuda.Ptr(offset))
}

// wait waits for what is in the stream also where something could not be put there.
func (q *cudaQueue) wait(ctx context.Context) error {
	err := q.flush()
	if waited := q.stream.Synchronize(ctx); err == nil {
		err = waited
	}
	return err
}

func (q *cudaQueue) publish(ctx context.Context) error {
	if q.stream == q.engine.stream {
		return nil // the only one that there is
	}
	return q.wait(ctx)
}

func (q *cudaQueue) launch(kernel gridKernel, blocks int64, c *gridCall) error {
	k := kernel.(*cudaKernel)
	for i := range c.bufs {
		q.replay.Param(uint64(c.bufs[i].at))
	}
	for _, a := range c.args {
		q.replay.Param(uint64(a))
	}
	q.replay.Param(uint64(c.status))
	return q.put(cuda.Op{Kernel: k.entry.Load(), Grid: cuda.Grid{
		Blocks: cuda.Extent{X: uint32(blocks)}, Threads: cuda.Extent{X: k.threads}, Early: q.engine.early && q.stream.Handle() > perThreadStream,
	}})
}
