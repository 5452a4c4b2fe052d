package cuda

import (
	"runtime"
	"sync/atomic"
)

// resource is something in a context that must be given back. Its owner counts
// as one user until it is closed, and so does each call under way; what is given
// back goes with the last of them.
type resource struct {
	ctx     *deviceContext
	handle  uintptr
	release *function // gives the handle back; nil if it is not ours
	users   atomic.Int64
	closed  atomic.Bool
}

// newResource makes the resource of a handle in a context, which the caller
// keeps alive meanwhile; from then on the resource does.
func newResource(c *deviceContext, handle uintptr, release *function) *resource {
	c.retain()
	r := &resource{ctx: c, handle: handle, release: release}
	r.users.Store(1)
	return r
}

// closeWhenForgotten closes r when the collector finds that owner is not
// reachable any more.
func closeWhenForgotten[T any](owner *T, r *resource) *T {
	runtime.AddCleanup(owner, func(r *resource) { _ = r.close() }, r)
	return owner
}

// hold makes the caller a user of r. The error is ErrClosed.
func (r *resource) hold() error {
	for {
		n := r.users.Load()
		if n == 0 || r.closed.Load() {
			return ErrClosed
		}
		if r.users.CompareAndSwap(n, n+1) {
			return nil
		}
	}
}

// drop ends what hold began.
func (r *resource) drop() error {
	if r.users.Add(-1) > 0 {
		return nil
	}
	defer r.ctx.drop()
	if r.release == nil || r.ctx.lost.Load() != nil {
		return nil // a lost context takes everything with it
	}
	f, err := r.ctx.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	return f.call(r.release, r.handle)
}

// close gives r back as soon as no call uses it; again it does nothing.
func (r *resource) close() error {
	if r.closed.Swap(true) {
		return nil
	}
	return r.drop()
}

// enter is the context's enter for a call that uses r.
func (r *resource) enter() (*frame, error) {
	if err := r.hold(); err != nil {
		return nil, err
	}
	f, err := r.ctx.enter()
	if err != nil {
		_ = r.drop()
		return nil, err
	}
	f.owner = r
	return f, nil
}

// call calls a function of the driver that takes nothing but the resource.
func (r *resource) call(fn *function) error { return r.do(fn, r.handle) }

// do calls a function of the driver, with numbers, in the context of the resource.
func (r *resource) do(fn *function, args ...uintptr) error {
	f, err := r.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	return f.call(fn, args...)
}

// with is do for a function that uses another resource, too.
func (r *resource) with(other *resource, fn *function, args ...uintptr) error {
	if err := other.hold(); err != nil {
		return err
	}
	defer other.drop()
	return r.do(fn, args...)
}

// made is what a function of the driver makes in the context of the resource, by flags, and another gives back.
func (r *resource) made(create, release *function, flags uintptr) (*resource, error) {
	f, err := r.enter()
	if err != nil {
		return nil, err
	}
	defer f.leave()
	f.clear()
	if err := f.call(create, f.address(0), flags); err != nil {
		return nil, err
	}
	return newResource(f.ctx, uintptr(f.out[0]), release), nil
}

// query calls a function that says whether the resource is ready.
func (r *resource) query(fn *function) (bool, error) {
	f, err := r.enter()
	if err != nil {
		return false, err
	}
	defer f.leave()
	code := f.invoke(fn, r.handle)
	if code != 0 && code != CodeNotReady {
		return false, r.ctx.fail(fn, code)
	}
	return code == 0, nil
}
