package tensor

import (
	"sync"
	"unsafe"
)

// Remote is a copy of an array's elements in another memory, such as a GPU's. An
// array that has one is used there without being brought over.
type Remote interface {
	// Fetch copies the elements to memory of this process, from to on. It is called
	// at most once, before they are first read there, and may wait for a device.
	Fetch(to unsafe.Pointer) error
}

// remote is the remote of an array and of all slices of it.
type remote struct {
	Remote
	base    unsafe.Pointer
	once    sync.Once
	err     error
	present bool // the elements were here from the start
}

// fetch brings the elements here. An error is one of the device, which has no elements
// to give then, nor will have.
func (r *remote) fetch() error {
	if !r.present {
		r.once.Do(func() { r.err = r.Fetch(r.base) })
	}
	return r.err
}

// RemoteArrayAt is ArrayAt for n elements of type dt that r has and that are fetched to
// the memory at data, which is large enough for them, when something reads them here.
// Functions that read an array cannot return the error of a fetch that fails, because
// the device is lost, say: they panic with it. Fetch the tensor first where that must
// not be.
func RemoteArrayAt(dt DType, data unsafe.Pointer, n int, r Remote) Array {
	a := ArrayAt(dt, data, n)
	a.remote = &remote{Remote: r, base: data}
	return a
}

// WithRemote is the array with a copy of it elsewhere, that has the same elements.
func (a Array) WithRemote(r Remote) Array {
	a.remote = &remote{Remote: r, base: a.data, present: true}
	return a
}

// Remote is the copy of the array's elements elsewhere, nil if there is none. A part of
// an array has none: its elements are read here.
func (a Array) Remote() Remote {
	if a.remote == nil || a.remote.base != a.data {
		return nil
	}
	return a.remote.Remote
}

// Here reports whether the elements are in this process's memory from the start.
func (a Array) Here() bool { return a.remote == nil || a.remote.present }

// Fetch brings the elements to this process's memory, if they are not there.
func (a Array) Fetch() error {
	if a.remote == nil {
		return nil
	}
	return a.remote.fetch()
}

// local is the memory of the elements, once they are there.
func (a Array) local() unsafe.Pointer {
	if a.remote != nil {
		if err := a.remote.fetch(); err != nil {
			panic(err)
		}
	}
	return a.data
}

// Fetch brings all arrays of the tensor to this process's memory, as reading them
// does. The error is that of the device that has them.
func (t *Tensor) Fetch() error {
	for l := range t.Levels() {
		level := t.LevelAt(l)
		for _, a := range []Array{level.Pos, level.Crd, level.Group} {
			if err := a.Fetch(); err != nil {
				return err
			}
		}
	}
	return t.Values().Fetch()
}

// MapArrays returns the tensor with other arrays of the same elements: what f makes of
// each of its index arrays and of its values. An error of f ends it.
func (t *Tensor) MapArrays(f func(Array) (Array, error)) (*Tensor, error) {
	out := *t
	out.levels = t.Levels()
	var err error
	change := func(a *Array) {
		if err == nil && a.dt.Valid() {
			*a, err = f(*a)
		}
	}
	for l := range out.levels {
		change(&out.levels[l].Pos)
		change(&out.levels[l].Crd)
		change(&out.levels[l].Group)
	}
	change(&out.values)
	if err != nil {
		return nil, err
	}
	return &out, nil
}
