package bridge

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/lacuna-sparse/lacuna/tensor"
)

// lenders are the memory of the caller's that tensors lie in. Regions that are in use do not overlap, which package tensor
// asks for: arrays in the same memory share one, and what would overlap one in part is copied.
type lenders struct {
	released func(token uint64)

	telling sync.RWMutex // held while the caller is told of what is his again
	closed  bool         // under telling

	mu      sync.Mutex
	regions map[uintptr]region // by first byte

	lent       atomic.Int64 // bytes and regions, since memory was last looked for that nothing refers to
	lentOften  atomic.Int64
	collecting atomic.Bool
}

// region is memory of the caller's.
type region struct {
	end    uintptr
	memory weak.Pointer[tensor.Foreign]
}

// The garbage collector does not know how large the caller's memory is, so it is run to find what is free again when
// so many bytes were lent, or so many regions, each of which later ones are compared with.
const (
	collectBytes   = 32 << 20
	collectRegions = 256
)

// array makes an array of one of the caller's: a copy if it does not say what it lies in, as small ones do not. Its token
// is released later, or added to returned if nothing keeps the memory for it.
func (l *lenders) array(a array, returned *[]uint64) (out tensor.Array, err error) {
	kept := false
	defer func() {
		if !kept && a.Token != 0 {
			*returned = append(*returned, a.Token)
		}
	}()
	dt, err := tensor.ParseDType(a.Type)
	if err != nil {
		return tensor.Array{}, err
	}
	if a.Len <= 0 || a.Base == 0 {
		return copied(a, dt)
	}
	begin, end := uintptr(a.Base), uintptr(a.Base)+uintptr(a.Bytes)
	offset := int(uintptr(a.Address) - begin)
	if a.Bytes < 0 || end < begin || uintptr(a.Address) < begin || a.Len > (a.Bytes-offset)/dt.Size() {
		return tensor.Array{}, fmt.Errorf("an array of %d %s does not lie in its memory", a.Len, dt)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for from, r := range l.regions {
		f := r.memory.Value()
		if f == nil || end <= from || begin >= r.end {
			continue
		}
		// The memory is kept by another token, or copied.
		if from <= begin && end <= r.end {
			return f.Array(dt, int(uintptr(a.Address)-from), a.Len)
		}
		return copied(a, dt)
	}
	kept = true
	return l.lend(a, dt, begin, end, offset)
}

// copied copies an array of the caller's.
func copied(a array, dt tensor.DType) (tensor.Array, error) {
	out, err := tensor.MakeArray(dt, a.Len)
	if err == nil && a.Len > 0 {
		copy(out.Raw(), unsafe.Slice((*byte)(pointer(a.Address)), a.Len*dt.Size()))
	}
	return out, err
}

// lend makes a region of an array's memory, and the array in it.
func (l *lenders) lend(a array, dt tensor.DType, begin, end uintptr, offset int) (tensor.Array, error) {
	if l.regions == nil {
		l.regions = map[uintptr]region{}
	}
	var of weak.Pointer[tensor.Foreign]
	f := tensor.NewForeign(unsafe.Slice((*byte)(pointer(a.Base)), a.Bytes), func() {
		l.mu.Lock()
		if l.regions[begin].memory == of {
			delete(l.regions, begin)
		}
		l.mu.Unlock()
		l.release(a.Token)
	})
	of = weak.Make(f)
	l.regions[begin] = region{end, of}
	l.lent.Add(int64(a.Bytes))
	l.lentOften.Add(1)
	return f.Array(dt, offset, a.Len)
}

// collect finds memory of the caller's that nothing refers to any more, if he has lent much since the last time.
func (l *lenders) collect() {
	if l.lent.Load() < collectBytes && l.lentOften.Load() < collectRegions || !l.collecting.CompareAndSwap(false, true) {
		return
	}
	l.lent.Store(0)
	l.lentOften.Store(0)
	go func() {
		defer l.collecting.Store(false)
		runtime.GC()
	}()
}

// release tells the caller that an array is his again, unless he does not listen any more.
func (l *lenders) release(token uint64) {
	l.telling.RLock()
	defer l.telling.RUnlock()
	if token != 0 && !l.closed {
		l.released(token)
	}
}

// close makes sure that released is not called any more.
func (l *lenders) close() {
	l.telling.Lock()
	defer l.telling.Unlock()
	l.closed = true
}

// pointer is the pointer to an address, which is not in the Go heap.
func pointer(address uint64) unsafe.Pointer {
	at := uintptr(address)
	return *(*unsafe.Pointer)(unsafe.Pointer(&at))
}
