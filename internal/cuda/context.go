package cuda

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"
)

// deviceContext is a context of the driver's: a device's primary context, which
// all objects of a process on that device share, or a foreign one.
type deviceContext struct {
	driver  *Driver
	info    DeviceInfo
	handle  uintptr
	foreign bool // somebody else's, who also ends it

	users atomic.Int64 // devices, resources and allocations in it
	lost  atomic.Pointer[LostError]

	// recording is held by those who record a graph, and exclusively for what the driver refuses meanwhile.
	recording sync.RWMutex

	pool         uintptr    // the memory pool; 0 if the device has none
	mu           sync.Mutex // guards what follows
	small, large *ring      // nil before their first use
}

// newContext makes a context known, with one user.
func newContext(d *Driver, info DeviceInfo, handle uintptr) *deviceContext {
	c := &deviceContext{driver: d, info: info, handle: handle}
	c.users.Store(1)
	return c
}

// retain adds a user; the caller is one already, or knows one.
func (c *deviceContext) retain() { c.users.Add(1) }

// revive adds a user unless the last one is gone.
func (c *deviceContext) revive() bool {
	for {
		n := c.users.Load()
		if n == 0 {
			return false
		}
		if c.users.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// drop takes a user away. With the last one goes what the package keeps in the
// context, and the hold on a primary context.
func (c *deviceContext) drop() {
	if c.users.Add(-1) > 0 {
		return
	}
	d := c.driver
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.contexts[c.info.Ordinal] == c {
		delete(d.contexts, c.info.Ordinal)
	}
	c.discard()
	if !c.foreign {
		d.invoke(&d.api.primaryCtxRelease, uintptr(c.info.Ordinal)) // nobody is left to tell
	}
}

// discard gives back the pool and the staging memory. Nothing can be done about
// errors, and the context's end takes both along anyway.
func (c *deviceContext) discard() {
	f, err := c.enter()
	if err != nil {
		return
	}
	defer f.leave()
	for _, r := range []*ring{c.small, c.large} {
		if r != nil {
			r.discard(f)
		}
	}
	if c.pool != 0 {
		_ = f.call(&c.driver.api.memPoolDestroy, c.pool)
	}
}

// fail makes the error of a function that returned a code other than 0, and
// remembers a loss of the device.
func (c *deviceContext) fail(fn *function, code Code) error {
	err := c.driver.failure(fn, code)
	if !code.sticky() {
		return err
	}
	c.lost.CompareAndSwap(nil, &LostError{Device: c.info.Name, Err: err})
	return c.lost.Load()
}

// Device opens a device by its number, from 0 on, in its primary context, which
// is made if this is its first use in the process: that takes some tenths of a
// second. Each call gives a Device to close.
func (d *Driver) Device(ordinal int) (*Device, error) {
	info, err := d.info(ordinal)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	c := d.contexts[ordinal]
	if c == nil || !c.revive() {
		handle := new(uintptr)
		if code := d.invoke(&d.api.primaryCtxRetain, uintptr(unsafe.Pointer(handle)), uintptr(ordinal)); code != 0 {
			return nil, d.failure(&d.api.primaryCtxRetain, code)
		}
		c = newContext(d, info, *handle)
		if err := c.makePool(); err != nil {
			d.invoke(&d.api.primaryCtxRelease, uintptr(ordinal))
			return nil, err
		}
		d.contexts[ordinal] = c
	}
	return newDevice(c), nil
}

// Wrap makes a Device of a context that the program has already, a CUcontext
// of the same driver. The caller keeps it alive until the Device and all that
// was made through it are closed, and the memory freed.
func (d *Driver) Wrap(context uintptr) (*Device, error) {
	if context == 0 {
		return nil, fmt.Errorf("the context to wrap is null")
	}
	c := newContext(d, DeviceInfo{Name: "of a foreign context"}, context)
	c.foreign = true
	f, err := c.enter()
	if err != nil {
		return nil, err
	}
	defer f.leave()
	f.clear()
	if err := f.call(&d.api.ctxGetDevice, f.address(0)); err != nil {
		return nil, err
	}
	// A CUdevice is the device's number.
	if c.info, err = d.info(int(uint32(f.out[0]))); err != nil {
		return nil, err
	}
	if err := c.makePool(); err != nil {
		return nil, err
	}
	return newDevice(c), nil
}

// newDevice makes a Device, which takes over the caller's use of the context.
func newDevice(c *deviceContext) *Device {
	defer c.drop()
	r := newResource(c, 0, nil)
	return closeWhenForgotten(&Device{r}, r)
}
