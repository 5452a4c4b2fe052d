package tensor

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Remote is a copy of an array's elements in another memory, such as a GPU's. An
// array that has one is used there without being brought over. If it has a method Free,
// that is called when the last tensor with the array is released.
type Remote interface {
	// Fetch copies the elements to memory of this process, which stays valid as long
	// as the pointer is held. It is called at most once for an array and its copies,
	// before they are first read here, and may wait for a device.
	Fetch() (unsafe.Pointer, error)
}

// remote is the remote of an array and of its copies.
type remote struct {
	Remote
	holders
	once sync.Once
	data unsafe.Pointer // once fetched
	err  error
	near atomic.Bool // data is there
}

// hold counts one array of a tensor. It is false if the elements were freed.
func (r *remote) hold() bool { return r == nil || r.holders.hold() }

// drop ends a hold. The last one frees the elements, if they can be.
func (r *remote) drop() {
	if r != nil && r.holders.drop() {
		r.free()
	}
}

func (r *remote) free() {
	if f, ok := r.Remote.(interface{ Free() }); ok {
		f.Free()
	}
}

func (r *remote) fetch() (unsafe.Pointer, error) {
	r.once.Do(func() {
		r.data, r.err = r.Fetch()
		r.near.Store(r.err == nil)
	})
	return r.data, r.err
}

// RemoteArray is an array of n elements of type dt that r has and that are fetched when
// something reads them here. Functions that read an array cannot return the error of a
// fetch that fails, because the device is lost, say: they panic with it. Call Fetch
// first where that must not be.
func RemoteArray(dt DType, n int, r Remote) Array {
	if n == 0 {
		return ArrayAt(dt, nil, 0)
	}
	return Array{dt: dt, n: n, remote: &remote{Remote: r}}
}

// WithRemote is the array with a copy of it elsewhere, that has the same elements.
func (a Array) WithRemote(r Remote) Array {
	a.remote = &remote{Remote: r}
	return a
}

// Remote is the copy of the array's elements elsewhere, nil if there is none.
func (a Array) Remote() Remote {
	if a.remote == nil {
		return nil
	}
	return a.remote.Remote
}

// Here reports whether the elements were in this process's memory from the start.
func (a Array) Here() bool { return a.data != nil || a.remote == nil }

// Fetched reports whether reading the elements brings nothing over: they are in this
// process's memory, from the start or since something read them.
func (a Array) Fetched() bool { return a.Here() || a.remote.near.Load() }

// Fetch brings the elements to this process's memory, if they are not there. The error
// is that of the device that has them.
func (a Array) Fetch() error {
	if a.Here() {
		return nil
	}
	_, err := a.remote.fetch()
	return err
}

// local is the memory of the elements, once they are there; nil for the zero Array.
func (a Array) local() unsafe.Pointer {
	if a.Here() {
		return a.data
	}
	data, err := a.remote.fetch()
	if err != nil {
		panic(err)
	}
	return data
}

// Fetch brings all arrays of the tensor to this process's memory, as reading them
// does. The error is that of the device that has them.
func (t *Tensor) Fetch() error {
	if err := t.Pin(); err != nil {
		return err
	}
	defer t.Unpin()
	return t.fetchArrays()
}

func (t *Tensor) fetchArrays() error {
	var err error
	t.eachArray(func(a *Array) {
		if err == nil {
			err = a.Fetch()
		}
	})
	return err
}

// MapArrays returns the tensor with other arrays of the same elements: what f makes of
// each of its index arrays and of its values. An error of f ends it.
func (t *Tensor) MapArrays(f func(Array) (Array, error)) (*Tensor, error) {
	if err := t.Pin(); err != nil {
		return nil, err
	}
	defer t.Unpin()
	var err error
	out := t.with(func(out *Tensor) {
		out.levels = slices.Clone(t.levels)
		out.eachArray(func(a *Array) {
			if err == nil && a.dt.Valid() {
				*a, err = f(*a)
			}
		})
	})
	if err != nil {
		out.Release()
		return nil, err
	}
	return out, nil
}
