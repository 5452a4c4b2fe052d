package cuda

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// Copies of ordinary (pageable) memory go through pinned memory. The driver
// could do that too, but on one thread, and on systems where the device reads
// pageable memory itself it does not say when it has: Go memory must not be read
// after a call returns.
//
// A ring is pinned memory cut into slots, each with an event that is reached when
// the device has done with it. A context has one of small slots, many enough that
// a series of small copies does not wait for the device, and one of large slots,
// whose copies by the processors and by the device overlap. Both are made on
// first use.
type ring struct {
	size   int // bytes of a slot
	memory uintptr
	slots  []slot
	free   chan slot // those that no goroutine uses
}

// slot is one piece of a ring.
type slot struct {
	memory uintptr
	event  uintptr
}

// The slots of the rings: bytes and number.
const (
	smallSlot, smallSlots = 64 << 10, 16
	largeSlot, largeSlots = 2 << 20, 8
)

// ring returns the context's ring for copies of so many bytes.
func (c *deviceContext) ring(f *frame, bytes int) (*ring, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, size, count := &c.small, smallSlot, smallSlots
	if bytes > smallSlot {
		kept, size, count = &c.large, largeSlot, largeSlots
	}
	if *kept != nil {
		return *kept, nil
	}
	memory, err := f.allocHost(size * count)
	if err != nil {
		return nil, err
	}
	r := &ring{size: size, memory: memory, free: make(chan slot, count)}
	for i := range count {
		f.clear()
		if err := f.call(&c.driver.api.eventCreate, f.address(0), eventDisableTiming); err != nil {
			r.discard(f)
			return nil, err
		}
		r.slots = append(r.slots, slot{memory + uintptr(i*size), uintptr(f.out[0])})
		r.free <- r.slots[i]
	}
	*kept = r
	return r, nil
}

// discard gives everything back, as far as it goes.
func (r *ring) discard(f *frame) {
	api := &f.ctx.driver.api
	for _, piece := range r.slots {
		_ = f.call(&api.eventSynchronize, piece.event)
		_ = f.call(&api.eventDestroy, piece.event)
	}
	_ = f.call(&api.memFreeHost, r.memory)
}

// transfer copies between ordinary memory and the device, in stream order.
func (s *Stream) transfer(device Ptr, host []byte, way direction) error {
	if len(host) == 0 {
		return nil
	}
	f, err := s.r.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	staged, err := f.ctx.ring(f, len(host))
	if err != nil {
		return err
	}
	chunks := (len(host) + staged.size - 1) / staged.size
	chunk := func(f *frame, i int) error {
		from, to := i*staged.size, min((i+1)*staged.size, len(host))
		return f.copyThrough(staged, device+Ptr(from), host[from:to], way, s.r.handle)
	}
	if chunks == 1 {
		return chunk(f, 0)
	}
	return f.ctx.parallel(chunks, chunk)
}

// parallel does n pieces of work on as many goroutines as there are large slots
// or processors, and returns the first error.
func (c *deviceContext) parallel(n int, work func(*frame, int) error) error {
	var (
		next  atomic.Int64
		first error
		once  sync.Once
		group sync.WaitGroup
	)
	worker := func() {
		f, err := c.enter()
		if err == nil {
			defer f.leave()
			for i := int(next.Add(1)) - 1; i < n && err == nil; i = int(next.Add(1)) - 1 {
				err = work(f, i)
			}
		}
		if err != nil {
			next.Store(int64(n)) // the others stop, too
			once.Do(func() { first = err })
		}
	}
	for range min(n, largeSlots, runtime.GOMAXPROCS(0)) {
		group.Go(worker)
	}
	group.Wait()
	return first
}

// copyThrough copies between the device and host, which is no longer than a
// slot, through one of the free slots of a ring.
func (f *frame) copyThrough(staged *ring, device Ptr, host []byte, way direction, stream uintptr) error {
	piece := <-staged.free
	defer func() { staged.free <- piece }()
	api := &f.ctx.driver.api
	// What the slot was used for last may be under way yet.
	if err := f.call(&api.eventSynchronize, piece.event); err != nil {
		return err
	}
	pinned := unsafe.Slice((*byte)(dl.Pointer(piece.memory)), len(host))
	if way == upload {
		copy(pinned, host)
	}
	if err := f.copyHost(device, piece.memory, len(host), way, stream); err != nil {
		return err
	}
	if err := f.call(&api.eventRecord, piece.event, stream); err != nil {
		return err
	}
	if way == download {
		if err := f.call(&api.eventSynchronize, piece.event); err != nil {
			return err
		}
		copy(host, pinned)
	}
	return nil
}
