package runtime

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"sync"
	"sync/atomic"

	switches "github.com/lacuna-sparse/lacuna/internal/debug"
	"github.com/lacuna-sparse/lacuna/runtime/partition"
)

// A stage's chunks are run by the goroutine that called Run and as many helpers
// as there are threads to use beside it (helperthreads.go). With one thread or one chunk
// nothing is started at all.

// team runs the chunks of one stage.
type team struct {
	kernel kernel
	frame  *frame
	cut    *partition.Cut
	done   <-chan struct{} // the context's
	tally  *tally          // what chunks count is added up here; nil for most stages
	join   *joiner         // how chunks of an ordered stage run at the same time; nil for most
	copies *copier         // what threads but the first have copies of; nil for most stages
	many   bool            // whether one call may run several chunks in a row (loop.Divisible)

	share int64        // of the chunks that are left, a call runs one in so many; 0: one chunk
	next  atomic.Int64 // the chunk to hand out next
	stop  atomic.Int64 // chunks handed out from this one on need not run

	helpers []helperCall // that were called last, by thread less one
	frames  []*frame     // theirs
	busy    atomic.Int64 // helpers that the stage has to wait for
	wait    sync.WaitGroup

	mu      sync.Mutex
	failure failure // the first
	panics  any     // what a kernel panicked with, or nil
}

// errTooMany says that chunks have counted more entries than memory holds.
var errTooMany = errors.New("too many entries")

// failure is how a chunk failed. The zero value is success.
type failure struct {
	chunk  int64
	status int64 // of the function
	err    error // an engine's own error
}

func (f *failure) failed() bool { return f.status != 0 || f.err != nil }

// run runs all chunks and returns the failure of the first chunk that fails,
// if one does. A cancelled context stops it between chunks and is the error.
//
// Chunks are handed out in order. When one fails, those before it have been
// handed out and are finished, those after it are not begun: so the failure
// reported is the same for any number of threads.
func (t *team) run(ctx context.Context, k kernel, f *frame, c *partition.Cut, threads int64) (failure, error) {
	t.kernel, t.frame, t.cut, t.done = k, f, c, ctx.Done()
	defer func() {
		t.kernel, t.done, t.tally, t.join, t.copies = nil, nil, nil, nil, nil
		clear(t.frames) // which hold on to memory
	}()
	threads = min(threads, c.Chunks)
	if threads <= 1 {
		return t.inOrder(ctx)
	}
	t.share = 0
	if t.many && !switches.ReverseChunks {
		t.share = shares * threads
	}
	t.next.Store(0)
	t.stop.Store(math.MaxInt64)
	t.failure, t.panics = failure{}, nil
	t.busy.Store(threads - 1)
	t.wait.Add(int(threads - 1))
	t.frames = t.frames[:0]
	for thread := int64(1); thread < threads; thread++ {
		own := t.frame.forThread(thread)
		if (t.join != nil || t.copies != nil) && own == t.frame {
			own = t.frame.clone()
		}
		t.frames = append(t.frames, own)
	}
	for thread := int64(1); thread < threads; thread++ {
		t.call(thread)
	}
	t.work(t.frame, 0)
	t.await(threads)
	switch {
	case t.panics != nil:
		panic(t.panics)
	case t.failure.failed():
		return t.failure, nil
	case t.join == nil && t.next.Load() < c.Chunks, t.join != nil && t.join.over: // the context stopped the workers early
		return failure{}, ctx.Err()
	}
	return failure{}, nil
}

// inOrder runs the chunks one after the other.
func (t *team) inOrder(ctx context.Context) (failure, error) {
	step := int64(1)
	if t.many {
		step = mostChunks
	}
	for i := int64(0); i < t.cut.Chunks; i += step {
		if t.cancelled() {
			return failure{}, ctx.Err()
		}
		if f := t.chunks(t.frame, i, min(i+step, t.cut.Chunks)); f.failed() {
			return f, nil
		}
	}
	return failure{}, nil
}

// work takes chunks until there are none, one fails or the run is cancelled.
func (t *team) work(f *frame, thread int64) {
	defer t.catch()
	if t.join != nil {
		t.join.work(f, thread)
		return
	}
	if t.copies != nil && thread > 0 && !t.copies.give(f, t.cut.Chunks-t.next.Load()) {
		return
	}
	for !t.cancelled() {
		i, end := t.take()
		if i >= t.cut.Chunks || i >= t.stop.Load() {
			return
		}
		number := i
		if switches.ReverseChunks {
			number = t.cut.Chunks - 1 - i
		}
		if failed := t.chunks(f, number, number+end-i); failed.failed() {
			t.fail(i, failed)
		}
	}
}

// shares is how many calls a thread makes at least, where a call may run several chunks: they get smaller towards the end, so
// that threads end together (Polychronopoulos, Kuck, "Guided self-scheduling", 1987).
const shares = 4

// mostChunks is how many chunks a call runs at most: between calls a run can be cancelled.
const mostChunks = 64

// take hands out the chunks from i to before end.
func (t *team) take() (i, end int64) {
	if t.share == 0 {
		end = t.next.Add(1)
		return end - 1, end
	}
	for {
		i = t.next.Load()
		end = i + min(max(1, (t.cut.Chunks-i)/t.share), mostChunks)
		if t.next.CompareAndSwap(i, end) {
			return i, end
		}
	}
}

// chunks runs the chunks from i to before end, by one call, in a thread's frame.
func (t *team) chunks(f *frame, i, end int64) failure {
	lo, hi := t.cut.Chunk(i)
	if end > i+1 {
		_, hi = t.cut.Chunk(end - 1)
	}
	status, err := t.kernel.call(f, i, lo, hi)
	if err == nil && status == 0 && t.tally != nil && !t.tally.add(i) {
		err = errTooMany
	}
	return failure{i, status, err}
}

// cancelled reports whether the run's context is done.
func (t *team) cancelled() bool {
	if t.done == nil {
		return false
	}
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// fail notes that the chunk handed out as the i-th failed, unless one handed
// out earlier did.
func (t *team) fail(i int64, f failure) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i < t.stop.Load() {
		t.stop.Store(i)
		t.failure = f
	}
}

// catch keeps a panic in a worker for the goroutine that called Run, where the
// caller can recover it.
func (t *team) catch() {
	v := recover()
	if v == nil {
		return
	}
	t.mu.Lock()
	t.stop.Store(-1)
	if t.panics == nil {
		t.panics = fmt.Sprintf("%v\n\n%s", v, debug.Stack())
	}
	t.mu.Unlock()
	if t.join != nil {
		t.join.wake()
	}
}
