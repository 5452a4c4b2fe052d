package cuda

import (
	"errors"
	"math"
	"structs"
	"unsafe"
)

// Ptr is an address in a device's memory (CUdeviceptr). It may be added to.
type Ptr uint64

// poolProps is CUmemPoolProps.
type poolProps struct {
	_             structs.HostLayout
	allocType     uint32
	handleTypes   uint32
	locationType  uint32
	locationID    int32
	win32Security uintptr
	maxSize       uintptr
	usage         uint16
	_             [54]byte
}

// makePool makes the context's memory pool, where the device has such. It is a
// pool of the package's own, so that what it keeps is told apart from what
// others in the process do with the device's default pool. It keeps what is
// freed, since to get memory from the system takes some hundred times longer.
func (c *deviceContext) makePool() error {
	if !c.info.MemoryPools {
		return nil
	}
	f, err := c.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	props := &poolProps{allocType: memAllocationTypePinned, locationType: memLocationTypeDevice, locationID: int32(c.info.Ordinal)}
	f.clear()
	api := &c.driver.api
	err = f.callWithMemory(&api.memPoolCreate, f.address(0), uintptr(unsafe.Pointer(props)))
	if e, ok := err.(*Error); ok && e.Code == codeNotSupported {
		return nil // some virtual GPUs have no pools, although they say so
	}
	if err != nil {
		return err
	}
	pool := uintptr(f.out[0])
	f.out[0] = math.MaxUint64
	if err := f.call(&api.memPoolSetAttribute, pool, memPoolReleaseThreshold, f.address(0)); err != nil {
		_ = f.call(&api.memPoolDestroy, pool)
		return err
	}
	c.pool = pool
	return nil
}

// accessDesc is CUmemAccessDesc.
type accessDesc struct {
	_            structs.HostLayout
	locationType uint32
	locationID   int32
	flags        uint32
}

// ShareWith lets another device read and write what is allocated on this one, and reports whether it can: copies between them
// go by the link that joins them then, else through the host's memory. A device reaches its own.
func (d *Device) ShareWith(other *Device) (bool, error) {
	mine, theirs := d.r.ctx, other.r.ctx
	if mine.info.Ordinal == theirs.info.Ordinal || mine.pool == 0 {
		return mine.info.Ordinal == theirs.info.Ordinal, nil
	}
	f, err := d.r.enter()
	if err != nil {
		return false, err
	}
	defer f.leave()
	f.clear()
	api := &mine.driver.api
	if err := f.call(&api.deviceCanAccessPeer, f.address(0), uintptr(theirs.info.Ordinal), uintptr(mine.info.Ordinal)); err != nil {
		return false, err
	}
	if int32(f.out[0]) == 0 {
		return false, nil
	}
	access := &accessDesc{locationType: memLocationTypeDevice, locationID: int32(theirs.info.Ordinal), flags: memAccessReadWrite}
	return true, f.callWithMemory(&api.memPoolSetAccess, mine.pool, uintptr(unsafe.Pointer(access)), 1)
}

// Alloc allocates memory on the stream's device, aligned to 256 bytes or more.
// Work on the stream that comes later may use it; other streams must wait for
// the stream first (Stream.Wait). For 0 bytes it is 0, which Free accepts. The
// error is an *OutOfMemoryError if there is not enough, and that is after memory
// kept by the pool has been given back.
func (s *Stream) Alloc(bytes uint64) (Ptr, error) {
	if bytes == 0 {
		return 0, nil
	}
	f, err := s.r.enter()
	if err != nil {
		return 0, err
	}
	defer f.leave()
	p, err := f.alloc(bytes, s.r.handle)
	if isOutOfMemory(err) && f.ctx.pool != 0 {
		// What other streams have freed comes back when their work is done, and
		// the driver does not wait for it.
		api := &f.ctx.driver.api
		f.ctx.recording.Lock()
		failed := f.call(&api.ctxSynchronize)
		f.ctx.recording.Unlock()
		if failed != nil {
			return 0, failed
		}
		if err := f.call(&api.memPoolTrimTo, f.ctx.pool, 0); err != nil {
			return 0, err
		}
		p, err = f.alloc(bytes, s.r.handle)
	}
	if e, ok := err.(*Error); ok && (e.Code == CodeOutOfMemory || e.Code == CodeInvalidValue && bytes > f.ctx.info.Memory) {
		return 0, f.outOfMemory(err, bytes)
	}
	if err != nil {
		return 0, err
	}
	f.ctx.retain()
	return p, nil
}

// alloc asks the driver for memory, once.
func (f *frame) alloc(bytes uint64, stream uintptr) (Ptr, error) {
	f.clear()
	api := &f.ctx.driver.api
	var err error
	if f.ctx.pool != 0 {
		err = f.call(&api.memAllocFromPoolAsync, f.address(0), uintptr(bytes), f.ctx.pool, stream)
	} else {
		err = f.call(&api.memAlloc, f.address(0), uintptr(bytes))
	}
	return Ptr(f.out[0]), err
}

// isOutOfMemory reports whether the driver had no memory to give.
func isOutOfMemory(err error) bool {
	e, ok := err.(*Error)
	return ok && e.Code == CodeOutOfMemory
}

// outOfMemory makes the error of an allocation on the device that failed.
func (f *frame) outOfMemory(cause error, need uint64) error {
	err := &OutOfMemoryError{Device: f.ctx.info.Name, Need: need, Total: f.ctx.info.Memory}
	err.Err, _ = errors.AsType[*Error](cause)
	if use, failed := f.memoryUse(); failed == nil {
		err.Free, err.Total = use.Free+use.Idle, use.Total
	}
	return err
}

// Free gives memory back once all earlier work on the stream is done. Work on
// other streams that uses the memory must be done by then, or the stream must
// wait for it (Stream.Wait).
func (s *Stream) Free(p Ptr) error {
	if p == 0 {
		return nil
	}
	f, err := s.r.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	f.ctx.recording.Lock() // the block may have been allocated on a stream that is another's by now
	defer f.ctx.recording.Unlock()
	api := &f.ctx.driver.api
	if f.ctx.pool != 0 {
		err = f.call(&api.memFreeAsync, uintptr(p), s.r.handle)
	} else if err = f.call(&api.streamSynchronize, s.r.handle); err == nil {
		err = f.call(&api.memFree, uintptr(p))
	}
	if err == nil {
		f.ctx.drop()
	}
	return err
}

// Set8 fills count bytes at p with value, in stream order.
func (s *Stream) Set8(p Ptr, value uint8, count uint64) error {
	if count == 0 {
		return nil
	}
	return s.r.do(&s.r.ctx.driver.api.memsetD8Async, uintptr(p), uintptr(value), uintptr(count), s.r.handle)
}

// allocHost asks the driver for pinned memory.
func (f *frame) allocHost(bytes int) (uintptr, error) {
	f.clear()
	err := f.call(&f.ctx.driver.api.memHostAlloc, f.address(0), uintptr(bytes), memHostAllocPortable)
	if isOutOfMemory(err) {
		cause, _ := errors.AsType[*Error](err)
		err = &OutOfMemoryError{Device: f.ctx.info.Name, Pinned: true, Need: uint64(bytes), Err: cause}
	}
	return uintptr(f.out[0]), err
}
