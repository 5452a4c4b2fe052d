//go:build gorgonia_cu

package gorgonia

import (
	"unsafe"

	"gorgonia.org/cu"

	"github.com/lacuna-sparse/lacuna/runtime"
	"github.com/lacuna-sparse/lacuna/tensor"
)

// Engine is Lacuna's engine in a context that belongs to the program.
type Engine struct {
	engine runtime.Engine
	end    func() error
}

// A CUContext is one pointer, which it does not give away: New reads it from memory.
const (
	_ = uint(unsafe.Sizeof(cu.CUContext{}) - unsafe.Sizeof(uintptr(0)))
	_ = uint(unsafe.Sizeof(uintptr(0)) - unsafe.Sizeof(cu.CUContext{}))
)

// New returns the engine for a context and a stream of it; cu.NoStream is the default
// stream. Runs put their work into the stream; results are there for what is put in
// later, and for the host once it has waited for the stream. The context need not be current, and what is current stays so. The error is a
// *runtime.UnavailableError.
func New(ctx cu.CUContext, stream cu.Stream) (*Engine, error) {
	e, end, err := runtime.CUDAOn(*(*uintptr)(unsafe.Pointer(&ctx)), uintptr(unsafe.Pointer(stream.C())))
	if err != nil {
		return nil, err
	}
	return &Engine{e, end}, nil
}

// Engine is the engine for lacuna.WithEngine.
func (e *Engine) Engine() runtime.Engine { return e.engine }

// Close waits for the stream and gives back what the engine holds: after the last run,
// and before the context ends. The context and the stream stay the program's.
func (e *Engine) Close() error { return e.end() }

// Array is an array of n elements that are in the context's memory from p on, which must
// be a multiple of 16. The memory stays the program's, and must stay as it is while the
// array is in use. Tensors made of the array read it on the device; index arrays
// are also brought to the host once, to be checked.
func (e *Engine) Array(dt tensor.DType, p cu.DevicePtr, n int) (tensor.Array, error) {
	r, err := runtime.ForeignResident(e.engine, uint64(p), int64(n)*int64(dt.Size()))
	if err != nil {
		return tensor.Array{}, err
	}
	return tensor.RemoteArray(dt, n, r), nil
}

// Pointer is where a device has an array, of a result for one. It is good as long as
// the array can be reached and is not released. It is not ok for an array that no device
// has.
func Pointer(a tensor.Array) (p cu.DevicePtr, ok bool) {
	r, ok := a.Remote().(*runtime.Resident)
	if !ok {
		return 0, false
	}
	return cu.DevicePtr(r.Address()), true
}
