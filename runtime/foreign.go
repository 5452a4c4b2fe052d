package runtime

import (
	"context"
	"fmt"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/runtime/ondisk"
)

// CUDAOn returns an engine that works in a CUDA context, and on a stream of it, that
// the program has made by other means, such as gorgonia.org/cu: cuContext is a CUcontext,
// cuStream a CUstream, 0 for the default stream. All that the engine does is put into
// that stream, so it is done after what the program put in before, and before what it
// puts in later: a run whose results stay on the device returns before they are computed, unless
// it must know a size or whether a kernel failed. Nothing of the context is ended by the engine; close gives back what
// the engine holds, and comes after the last run and before the end of the context.
// Which context is current on the caller's thread stays as it is.
//
// The error is an *UnavailableError, as CUDA's.
func CUDAOn(cuContext, cuStream uintptr) (e Engine, close func() error, err error) {
	driver, err := cuda.Open()
	if err != nil {
		return nil, nil, &UnavailableError{Engine: CUDAName, Err: err}
	}
	device, err := driver.Wrap(cuContext)
	if err != nil {
		return nil, nil, &UnavailableError{Engine: CUDAName, Err: err}
	}
	wrapped, err := device.WrapStream(cuStream)
	if err != nil {
		_ = device.Close() // which the caller has never seen
		return nil, nil, &UnavailableError{Engine: CUDAName, Err: err}
	}
	engine, leave, err := CUDAStream(device, wrapped)
	if err != nil {
		_, _ = wrapped.Close(), device.Close()
		return nil, nil, err
	}
	return engine, func() error {
		leave()
		err := wrapped.Synchronize(context.Background())
		for _, c := range []interface{ Close() error }{wrapped, device} {
			if e := c.Close(); err == nil {
				err = e
			}
		}
		return err
	}, nil
}

// CUDAStream is CUDAOn for packages of this module that have a device and a stream of it open: leave gives back what the engine holds, and neither
// of them.
func CUDAStream(device *cuda.Device, stream *cuda.Stream) (e Engine, leave func(), err error) {
	driver, err := cuda.Open()
	if err != nil {
		return nil, nil, &UnavailableError{Engine: CUDAName, Err: err}
	}
	engine, err := newCUDAEngine(driver, device, ondisk.Disk())
	if err != nil {
		return nil, nil, err
	}
	engine.stream = stream
	engine.spare = cuda.NewSpare(int64(device.Info().Memory / 8)) // all that runs need, as these do not ask the driver
	engine.key = fmt.Sprintf(" context %#x stream %#x", device.Context(), stream.Handle())
	return engine, func() {
		engine.later.leave()
		engine.spare.Close()
	}, nil
}

// ForeignAlignment is that of arrays in bytes, on which kernels rely that load several elements at once. What
// the driver allocates has more.
const ForeignAlignment = 16

// ForeignResident is an array that is in the memory of an engine's device already: bytes
// bytes from address on, a CUdeviceptr of the engine's context. Kernels read it where it
// is. It stays the caller's, who frees it after the Resident is freed and what runs that
// use it have put into the stream is done. The error says that the engine has no device, or that the address
// is not a multiple of 16.
func ForeignResident(e Engine, address uint64, bytes int64) (*Resident, error) {
	device, ok := e.(accelerator)
	switch {
	case !ok:
		return nil, fmt.Errorf("engine %s computes in this process's memory: it cannot use a device's", e.Name())
	case bytes < 0:
		return nil, fmt.Errorf("an array in a device's memory has %d bytes", bytes)
	case address == 0 && bytes > 0:
		return nil, fmt.Errorf("an array of %d bytes in a device's memory has the address 0", bytes)
	case address%ForeignAlignment != 0:
		return nil, fmt.Errorf("the address %#x in a device's memory is not a multiple of %d: copy the array to memory of its own", address, ForeignAlignment)
	}
	r := newResident(device, block(address), bytes, bytes)
	r.at.foreign = true
	return r, nil
}

// Address is where the array is in its device's memory, a CUdeviceptr for the engine
// "cuda": for other libraries in the process. It is good until the Resident is freed,
// or can no longer be reached.
func (r *Resident) Address() uint64 {
	r.at.computed()
	return uint64(r.at.at)
}

// Bytes is the length of the array.
func (r *Resident) Bytes() int64 { return r.bytes }
