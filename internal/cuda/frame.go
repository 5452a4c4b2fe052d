package cuda

import (
	"runtime"
	"sync"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// frame is one visit of a goroutine to a context: from enter to leave the
// goroutine is locked to its thread and the context is current there. It is also
// the memory that the driver reads and writes meanwhile, which must not lie on
// the goroutine's stack; frames are used again, so a visit allocates nothing.
type frame struct {
	ctx     *deviceContext
	owner   *resource   // held until leave; nil for visits of the context's own
	restore bool        // the thread had another context, previous
	current uintptr     // the thread's context before
	args    [11]uintptr // of the function that is called
	out     [2]uint64   // results of driver functions
	params  []byte      // a launch's parameters, and what tells the driver of them
	size    uint64
	extra   [5]uintptr
	config  launchConfig
	early   launchAttribute
}

var frames = sync.Pool{New: func() any { return new(frame) }}

// enter makes the context current on the goroutine's thread, to which the
// goroutine stays bound until leave. A thread that has no context keeps this
// one, which saves changing it back and forth; another's context comes back in
// leave. Foreign contexts never stay, for their owner may destroy them.
func (c *deviceContext) enter() (*frame, error) {
	if lost := c.lost.Load(); lost != nil {
		return nil, lost
	}
	runtime.LockOSThread()
	f := frames.Get().(*frame)
	f.ctx, f.restore, f.current = c, false, 0
	api := &c.driver.api
	if code := f.invoke(&api.ctxGetCurrent, uintptr(unsafe.Pointer(&f.current))); code != 0 {
		f.current = 0 // a context that is no more: there is nothing to come back to
	}
	if f.current != c.handle {
		if err := f.call(&api.ctxSetCurrent, c.handle); err != nil {
			f.leave()
			return nil, err
		}
		f.restore = f.current != 0 || c.foreign
	}
	return f, nil
}

// leave ends the visit. The frame must not be used afterwards.
func (f *frame) leave() {
	if f.restore {
		f.invoke(&f.ctx.driver.api.ctxSetCurrent, f.current) // best effort: it was current before
	}
	owner := f.owner
	f.ctx, f.owner = nil, nil
	frames.Put(f)
	runtime.UnlockOSThread()
	if owner != nil {
		owner.drop()
	}
}

// invoke calls a function of the driver, whose arguments are numbers, addresses
// that the driver gave, and addresses in the frame: other Go memory may move.
func (f *frame) invoke(fn *function, args ...uintptr) Code {
	n := copy(f.args[:], args)
	return Code(uint32(dl.Call(fn.Address, f.args[:n]...)))
}

// call is invoke with the code made an error: *Error, or *LostError when the
// context is of no use any more.
func (f *frame) call(fn *function, args ...uintptr) error {
	if code := f.invoke(fn, args...); code != 0 {
		return f.ctx.fail(fn, code)
	}
	return nil
}

// callWithMemory is call for arguments that are the addresses of Go memory
// anywhere, which it moves to the heap.
//
//go:uintptrescapes
func (f *frame) callWithMemory(fn *function, args ...uintptr) error {
	return f.call(fn, args...)
}

// address is where the driver puts its i-th result.
func (f *frame) address(i int) uintptr { return uintptr(unsafe.Pointer(&f.out[i])) }

// clear sets the results to 0: not all functions write all of their 8 bytes.
func (f *frame) clear() { f.out = [2]uint64{} }
