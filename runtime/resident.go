package runtime

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// Resident is an array in the memory of an accelerator that stays there between runs.
// Its memory is freed by Free, or when it is no longer reachable.
type Resident struct {
	device accelerator
	bytes  int64
	at     *residentBlock
}

// residentBlock is the part of a Resident that outlives it.
type residentBlock struct {
	device  accelerator
	at      block
	size    int64 // allocated
	foreign bool  // the memory is somebody else's
	// under, if not nil, is the work that computes it, if it is not done.
	under *Underway

	mu    sync.Mutex
	uses  int  // runs and copies at work
	freed bool // no further ones begin; the last one gives the memory back
	// remembered is what runs have left that follows from the array.
	remembered map[rememberedAs]*remembered
	// elements are those that sizes have read.
	elements map[int64]int64
}

// use keeps the memory until the call of done, and waits until it is computed unless that is what comes before in the queue of by.
// It is false once the block is freed.
func (b *residentBlock) use(by *Underway) bool {
	b.mu.Lock()
	there := !b.freed
	if there {
		b.uses++
	}
	b.mu.Unlock()
	if there && b.under != by {
		b.computed()
	}
	return there
}

// computed waits until the array is.
func (b *residentBlock) computed() {
	if b.under != nil {
		_ = b.under.Wait(context.Background()) // only a lost device fails to, which says so to whoever uses it
	}
}

// done ends a use.
func (b *residentBlock) done() {
	b.mu.Lock()
	b.uses--
	last := b.freed && b.uses == 0
	b.mu.Unlock()
	if last {
		b.giveBack()
	}
}

// free gives the memory back, or leaves that to the last use.
func (b *residentBlock) free() {
	b.mu.Lock()
	now := !b.freed && b.uses == 0
	b.freed = true
	b.mu.Unlock()
	if now {
		b.giveBack()
	}
}

func (b *residentBlock) giveBack() {
	if b.under != nil && b.under.keep(b) {
		return
	}
	b.forget()
	residents.Add(-1)
	if b.foreign {
		return
	}
	if q, err := b.device.queue(context.Background()); err == nil {
		q.freeResident(b.at, b.size)
		q.close()
	}
}

// residents counts the blocks of all devices that have not been given back.
var residents atomic.Int64

func newResidentBlock(device accelerator, at block, size int64) *residentBlock {
	residents.Add(1)
	return &residentBlock{device: device, at: at, size: size}
}

// newResident makes a Resident of a block that was allocated with a size.
func newResident(device accelerator, at block, bytes, size int64) *Resident {
	b := newResidentBlock(device, at, size)
	r := &Resident{device: device, bytes: bytes, at: b}
	goruntime.AddCleanup(r, func(b *residentBlock) { go b.free() }, b)
	return r
}

// lifetime says how long a block of a device is there.
type lifetime uint8

const (
	ofRun lifetime = iota
	stays          // as a Resident
)

// allocateOnce makes a block on a device, unless memory is short.
func allocateOnce(q queue, bytes int64, life lifetime) (block, error) {
	if life == stays {
		return q.allocResident(bytes)
	}
	return q.alloc(bytes)
}

// allocate makes a block on a device. Where memory is short, it looks for
// Residents that nobody can reach, which the device's memory alone would not make the
// collector do.
func allocate(device accelerator, q queue, bytes int64, life lifetime) (block, error) {
	at, err := allocateOnce(q, bytes, life)
	if _, short := err.(*outOfMemory); short {
		forgetAll(device)
		at, err = allocateOnce(q, bytes, life)
	}
	for pause := time.Millisecond; pause < 128*time.Millisecond; pause *= 2 {
		if _, short := err.(*outOfMemory); !short || residents.Load() == 0 {
			break
		}
		if pause == time.Millisecond {
			goruntime.GC()
		}
		time.Sleep(pause) // cleanups run on their own goroutines, late on a machine that is busy
		at, err = allocateOnce(q, bytes, life)
	}
	return at, err
}

// Upload copies memory, of bytes bytes, to the accelerator of an engine. The error is an
// *MemoryLimitError if the device's memory is short, says so if the engine has no memory
// of its own, and else is the device's.
func Upload(ctx context.Context, e Engine, from unsafe.Pointer, bytes int64) (*Resident, error) {
	return Concatenate(ctx, e, []Memory{{Ptr: from, Len: bytes}}, 1)
}

// Concatenate copies arrays, whose elements have size bytes, one after the other to the accelerator of
// an engine: those that are there already within its memory. Errors are those of Upload,
// and that an array was freed.
func Concatenate(ctx context.Context, e Engine, arrays []Memory, size int64) (*Resident, error) {
	return onQueue(ctx, e, func(device accelerator, q queue) (*Resident, error) { return concatenate(ctx, device, q, arrays, size) })
}

func concatenate(ctx context.Context, device accelerator, q queue, arrays []Memory, size int64) (*Resident, error) {
	var bytes int64
	for _, m := range arrays {
		bytes += m.Len * size
	}
	at, err := allocate(device, q, alloc.Padded(bytes), stays)
	if err != nil {
		return nil, refusedUpload(err, bytes)
	}
	to := at
	var held []*residentBlock
	for _, m := range arrays {
		n := m.Len * size
		switch there := m.On != nil && m.On.device == device; {
		case n == 0:
		case there && !m.On.at.use(nil):
			err = errors.New("an array in a device's memory is copied after it was freed")
		case there:
			held = append(held, m.On.at)
			err = q.copy(to, m.On.at.at, n)
		default:
			err = q.upload(to, m.Ptr, n)
		}
		if err != nil {
			break
		}
		to += block(n)
	}
	if len(held) > 0 { // what is freed is freed through other queues; copies take a moment
		ctx = context.WithoutCancel(ctx)
	}
	if waited := q.wait(ctx); err == nil {
		err = waited
	}
	doneAll(held)
	if err != nil {
		q.free(at, alloc.Padded(bytes))
		return nil, err
	}
	return newResident(device, at, bytes, alloc.Padded(bytes)), nil
}

// Allocate makes an array of bytes bytes on the accelerator of an engine, whose elements are not set. Errors are those of Upload.
func Allocate(ctx context.Context, e Engine, bytes int64) (*Resident, error) {
	return onQueue(ctx, e, func(device accelerator, q queue) (*Resident, error) {
		at, err := allocate(device, q, alloc.Padded(bytes), stays)
		if err != nil {
			return nil, refusedUpload(err, bytes)
		}
		return newResident(device, at, bytes, alloc.Padded(bytes)), nil
	})
}

// Move copies bytes within the memory of the accelerator of an engine, between addresses (Resident.Address) of which the caller keeps
// the arrays until what was put into the engine's queue is done. The ranges do not overlap.
func Move(ctx context.Context, e Engine, to, from uint64, bytes int64) error {
	_, err := onQueue(ctx, e, func(_ accelerator, q queue) (_ struct{}, err error) {
		if bytes > 0 {
			if err = q.copy(block(to), block(from), bytes); err == nil {
				err = q.publish(ctx)
			}
		}
		return struct{}{}, err
	})
	return err
}

// onQueue works on a queue of an engine's accelerator.
func onQueue[T any](ctx context.Context, e Engine, work func(accelerator, queue) (T, error)) (none T, err error) {
	device, ok := e.(accelerator)
	if !ok {
		return none, fmt.Errorf("engine %s computes in this process's memory: there is no device to bring tensors to", e.Name())
	}
	q, err := device.queue(ctx)
	if err != nil {
		return none, err
	}
	defer q.close()
	return work(device, q)
}

// refusedUpload is the error where no block of bytes bytes was to be had.
func refusedUpload(err error, bytes int64) error {
	if oom, ok := err.(*outOfMemory); ok {
		return &MemoryLimitError{Program: "upload", Stage: "inputs", Buffer: "array", Len: bytes, Elem: "byte",
			Need: bytes, Limit: oom.free, Source: oom.source()}
	}
	return err
}

// On reports whether the array is in the memory of the engine's accelerator.
func (r *Resident) On(e Engine) bool {
	device, ok := e.(accelerator)
	return ok && device == r.device
}

// Fetch copies the array to new memory of this process.
func (r *Resident) Fetch() (unsafe.Pointer, error) {
	to := newResult(results, r.bytes, 1, alloc.Anything).Ptr
	if !r.at.use(nil) {
		return nil, errors.New("an array in a device's memory is read after it was freed")
	}
	defer r.at.done()
	if r.bytes == 0 {
		return to, nil
	}
	q, err := r.device.queue(context.Background())
	if err != nil {
		return nil, err
	}
	defer q.close()
	return to, q.download(context.Background(), to, r.at.at, 0, r.bytes)
}

// results makes memory for arrays that come from a device.
var results = alloc.New()

// Free gives the memory back, once runs that use it have ended, for which it does not
// wait. Later uses are errors.
func (r *Resident) Free() { r.at.free() }
