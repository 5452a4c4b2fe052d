package cuda

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Copies of ordinary (pageable) memory go through pinned memory. The driver
// could do that too, but on one thread, and on systems where the device reads
// pageable memory itself it does not say when it has: Go memory must not be read
// after a call returns.
//
// A slot is a piece of pinned memory and an event that is reached when the
// device has done with it. There are a few large slots, whose copies by the
// processor and by the device overlap, and more small ones, so that a series of
// small copies does not wait for the device.
const (
	smallSlot, smallSlots = 64 << 10, 16
	largeSlot, largeSlots = 4 << 20, 4
)

type slot struct {
	memory uintptr
	event  uintptr
}

// staging is the pinned memory of a context.
type staging struct {
	all          []slot
	small, large chan slot // those that no goroutine uses
}

// stage returns the context's staging memory, which is made on first use.
func (c *deviceContext) stage(f *frame) (*staging, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.staging != nil {
		return c.staging, nil
	}
	s := &staging{small: make(chan slot, smallSlots), large: make(chan slot, largeSlots)}
	for _, class := range []struct {
		bytes int
		free  chan slot
	}{{smallSlot, s.small}, {largeSlot, s.large}} {
		memory, err := f.allocHost(class.bytes * cap(class.free))
		if err != nil {
			s.discard(f)
			return nil, err
		}
		for i := range cap(class.free) {
			piece := slot{memory: memory + uintptr(i*class.bytes)}
			f.clear()
			err := f.call(&c.driver.api.eventCreate, f.address(0), eventDisableTiming)
			piece.event = uintptr(f.out[0])
			s.all = append(s.all, piece)
			if err != nil {
				s.discard(f)
				return nil, err
			}
			class.free <- piece
		}
	}
	c.staging = s
	return s, nil
}

// discard gives everything back, as far as it goes.
func (s *staging) discard(f *frame) {
	api := &f.ctx.driver.api
	for i, piece := range s.all {
		if piece.event != 0 {
			_ = f.call(&api.eventSynchronize, piece.event)
			_ = f.call(&api.eventDestroy, piece.event)
		}
		if i == 0 || i == smallSlots { // the first of its class
			_ = f.call(&api.memFreeHost, piece.memory)
		}
	}
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
	staged, err := f.ctx.stage(f)
	if err != nil {
		return err
	}
	if len(host) <= smallSlot {
		return f.copyThrough(staged.small, device, host, way, s.r.handle)
	}
	chunks := (len(host) + largeSlot - 1) / largeSlot
	chunk := func(f *frame, i int) error {
		from, to := i*largeSlot, min((i+1)*largeSlot, len(host))
		return f.copyThrough(staged.large, device+Ptr(from), host[from:to], way, s.r.handle)
	}
	if chunks == 1 {
		return chunk(f, 0)
	}
	return f.ctx.parallel(chunks, chunk)
}

// parallel does n pieces of work on as many goroutines as there are large slots
// and processors, and returns the first error.
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
// slot, through one of the free slots.
func (f *frame) copyThrough(free chan slot, device Ptr, host []byte, way direction, stream uintptr) error {
	piece := <-free
	defer func() { free <- piece }()
	api := &f.ctx.driver.api
	// What the slot was used for last may be under way yet.
	if err := f.call(&api.eventSynchronize, piece.event); err != nil {
		return err
	}
	pinned := unsafe.Slice((*byte)(pointer(piece.memory)), len(host))
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
