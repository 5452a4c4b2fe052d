package runtime

import (
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"sync"
	"unsafe"
)

// Resident is an array in the memory of an accelerator that stays there between runs.
// Its memory is freed by Free, or when it is no longer reachable.
type Resident struct {
	device accelerator
	bytes  int64
	at     *residentBlock
	uses   sync.RWMutex // runs hold it for reading, Free for writing
}

// residentBlock is the part of a Resident that outlives it.
type residentBlock struct {
	device accelerator
	at     block
	freed  bool
}

func (b *residentBlock) free() {
	if b.freed {
		return
	}
	b.freed = true
	if q, err := b.device.queue(context.Background()); err == nil {
		q.free(b.at)
		q.close()
	}
}

func newResident(device accelerator, at block, bytes int64) *Resident {
	b := &residentBlock{device: device, at: at}
	r := &Resident{device: device, bytes: bytes, at: b}
	goruntime.AddCleanup(r, func(b *residentBlock) { go b.free() }, b)
	return r
}

// Upload copies memory, of bytes bytes, to the accelerator of an engine. The error is an
// *OptionError-like refusal if the engine has no memory of its own, or that of the
// device.
func Upload(ctx context.Context, e Engine, from unsafe.Pointer, bytes int64) (*Resident, error) {
	device, ok := e.(accelerator)
	if !ok {
		return nil, fmt.Errorf("engine %s computes in this process's memory: there is no device to bring tensors to", e.Name())
	}
	q, err := device.queue(ctx)
	if err != nil {
		return nil, err
	}
	defer q.close()
	at, err := q.alloc(padded(bytes))
	if err != nil {
		return nil, err
	}
	if bytes > 0 {
		err = q.upload(at, from, bytes)
	}
	if err == nil {
		err = q.wait(ctx)
	}
	if err != nil {
		q.free(at)
		return nil, err
	}
	return newResident(device, at, bytes), nil
}

// On reports whether the array is in the memory of the engine's accelerator.
func (r *Resident) On(e Engine) bool {
	device, ok := e.(accelerator)
	return ok && device == r.device
}

// Fetch copies the array to new memory of this process.
func (r *Resident) Fetch() (unsafe.Pointer, error) {
	to := results.result(r.bytes, anything)
	r.uses.RLock()
	defer r.uses.RUnlock()
	if r.at.freed {
		return nil, errors.New("an array in a device's memory is read after it was freed")
	}
	if r.bytes == 0 {
		return to, nil
	}
	q, err := r.device.queue(context.Background())
	if err != nil {
		return nil, err
	}
	defer q.close()
	return to, q.download(to, r.at.at, 0, r.bytes)
}

// results makes memory for arrays that come from a device.
var results = newAllocator()

// Free gives the memory back, once runs that use it have ended. Later uses are errors.
func (r *Resident) Free() {
	r.uses.Lock()
	defer r.uses.Unlock()
	r.at.free()
}
