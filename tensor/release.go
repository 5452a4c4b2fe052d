package tensor

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
)

// ErrReleased is wrapped by the errors of operations on a tensor that was released.
var ErrReleased = errors.New("the tensor was released: its arrays are gone")

// Release says that the caller is done with the tensor: what it alone has is used again
// for results to come, without waiting for the garbage collector. That is the memory that
// a run allocated for its result, and copies in the memory of a device. Arrays that another
// tensor shares, however it came to them (conversions and other views, fields, parts,
// what a kernel remembers), stay until that one is released too, or for the collector, as
// do arrays of the caller's own and those in mapped files.
//
// It must be the last use of the tensor by the caller, and of arrays and slices that he
// got from it: their memory may belong to another result at once. The memory goes when no
// run or other call uses the tensor any more. From then on the tensor
// stores nothing: its Values and index arrays are empty, [Tensor.At] finds nothing, and
// whatever returns an error returns one that wraps [ErrReleased]. Name, shape, format,
// type and fill stay. To release a tensor again does nothing. A nil tensor is released
// already.
//
// Nobody needs to call it: what is forgotten goes to the garbage collector.
func (t *Tensor) Release() {
	if t == nil {
		return
	}
	if old := atomic.OrInt64(&t.state, released); old == 0 {
		t.drop()
	}
}

// Released reports whether the tensor was released, and its arrays are gone.
func (t *Tensor) Released() bool { return atomic.LoadInt64(&t.state) == released }

// Pin keeps the arrays of the tensor, should someone release it, until the call of Unpin
// for it. The error wraps [ErrReleased]: the arrays are gone, and there must be no Unpin. Runs
// of kernels, conversions, writing to files and the functions of this package pin what they
// read; it is for code that reads arrays itself, in a goroutine that does not know of a
// release in another. A nil tensor and one that no function made are errors too.
func (t *Tensor) Pin() error {
	if err := t.pin(); err != nil {
		return err
	}
	if err := t.overlay.merge(); err != nil {
		t.Unpin()
		return named(tensorError("%v", err), t.name)
	}
	return nil
}

// pin is Pin without making the arrays of an overlay.
func (t *Tensor) pin() error {
	if t == nil || !t.values.dt.Valid() {
		return errNoTensor
	}
	for {
		old := atomic.LoadInt64(&t.state)
		if old == released {
			return t.releasedError()
		}
		if atomic.CompareAndSwapInt64(&t.state, old, old+pinned) {
			return nil
		}
	}
}

// Unpin ends what Pin began.
func (t *Tensor) Unpin() {
	if atomic.AddInt64(&t.state, -pinned) == released {
		t.drop()
	}
}

// pinAll pins tensors until the call of unpin.
func pinAll(tensors []*Tensor) (unpin func(), err error) {
	for i, t := range tensors {
		if err := t.Pin(); err != nil {
			unpinAll(tensors[:i])
			return nil, err
		}
	}
	return func() { unpinAll(tensors) }, nil
}

func unpinAll(tensors []*Tensor) {
	for _, t := range tensors {
		t.Unpin()
	}
}

// The state of a tensor: released is a bit, pins count above it. A tensor that is released
// and not pinned stays so.
const (
	released = 1
	pinned   = 2
)

// errNoTensor says that a tensor is nil, or the zero value of its type.
var errNoTensor = errors.New("the tensor is nil or a zero value: make one with FromCoords, FromDense or New, or read one from a file")

func (t *Tensor) releasedError() error {
	if t.name == "" {
		return ErrReleased
	}
	return fmt.Errorf("tensor %q: %w", t.name, ErrReleased)
}

// drop ends the tensor's hold on its arrays.
func (t *Tensor) drop() {
	t.eachArray(func(a *Array) {
		a.owner.drop()
		a.remote.drop()
	})
}

// holding makes a tensor that is complete hold its arrays. All tensors are made by it: what
// is handed out again is what no tensor holds. A tensor of which an array is gone already
// is one that was released.
func holding(t *Tensor) *Tensor {
	t.eachArray(func(a *Array) {
		if !a.owner.hold() || !a.remote.hold() {
			t.state = released
		}
	})
	return t
}

// with returns a tensor with the arrays of t and all else of it, but for what change
// changes.
func (t *Tensor) with(change func(out *Tensor)) *Tensor {
	out := &Tensor{
		name: t.name, shape: slices.Clone(t.shape), format: t.format, fill: t.fill, levels: slices.Clone(t.levels), values: t.values, // slices of t may lie in t
		structure: t.structure, attributes: t.attributes,
	}
	change(out)
	if t.Released() {
		out.state = released
	}
	return holding(out)
}

// become makes a zero tensor hold the arrays of another one, and all else of it.
func (t *Tensor) become(from *Tensor) {
	t.name, t.shape, t.format, t.fill, t.structure, t.attributes = from.name, from.shape, from.format, from.fill, from.structure, from.attributes
	t.levels, t.values = slices.Clone(from.levels), from.values
	holding(t)
}

// Share returns another tensor with the same arrays, that is released by itself.
func (t *Tensor) Share() *Tensor { return t.with(func(out *Tensor) { out.overlay = t.overlay }) }

// eachArray calls f for every array of the tensor.
func (t *Tensor) eachArray(f func(a *Array)) {
	for k := range t.levels {
		l := &t.levels[k]
		f(&l.Pos)
		f(&l.Crd)
		f(&l.Group)
	}
	f(&t.values)
}

// gone is an array of a tensor that was released: its type is all that is left.
func (a Array) gone() Array {
	if a.dt == Invalid {
		return Array{}
	}
	return HeapArray(a.dt, nil, 0)
}

// gone is a level of a tensor that was released.
func (l Level) gone() Level {
	l.Pos, l.Crd, l.Group = l.Pos.gone(), l.Crd.gone(), l.Group.gone()
	return l
}
