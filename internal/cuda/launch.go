package cuda

import (
	"structs"
	"unsafe"
)

// Extent is the extent of a grid or a block; 0 in Y or Z counts as 1.
type Extent struct{ X, Y, Z uint32 }

// Grid is the form of a launch.
type Grid struct {
	Blocks  Extent
	Threads Extent // of each block
	Shared  uint32 // bytes of dynamic shared memory of each block
	// Early lets blocks start while the kernel before in the stream, if one is right before it, still
	// runs and has said that they may (griddepcontrol.launch_dependents). The kernel must wait for
	// that one itself, by griddepcontrol.wait, before it reads or writes memory. Devices of
	// compute capability 9.0 or newer only; not for the legacy default stream.
	Early bool
}

// launchConfig is CUlaunchConfig.
type launchConfig struct {
	_                   structs.HostLayout
	gridX, gridY, gridZ uint32
	threadsX, threadsY  uint32
	threadsZ, shared    uint32
	stream              uintptr
	attributes          uintptr
	attributeCount      uint32
	_                   uint32
}

// launchAttribute is CUlaunchAttribute.
type launchAttribute struct {
	_     structs.HostLayout
	id    uint32
	_     uint32
	value uint32 // the first part of a union of 64 bytes
	_     [60]byte
}

// Launch puts a run of the kernel into a stream. params are the kernel's
// parameters as they lie in PTX's parameter space: in order, each at the next
// multiple of its size, little-endian. They are taken when it returns. A grid
// without blocks is nothing to do. Errors of the run itself come from a later
// call, Synchronize at the latest. A launch allocates no Go memory.
func (k *Function) Launch(s *Stream, g Grid, params []byte) error {
	if g.Blocks.X == 0 {
		return nil
	}
	module := k.module.r
	if module.ctx != s.r.ctx {
		return ErrMixedDevices
	}
	if err := module.hold(); err != nil {
		return err
	}
	f, err := s.r.enter()
	if err != nil {
		_ = module.drop()
		return err
	}
	if s.recording != nil {
		s.recording.uses(module)
	}
	f.params = append(f.params[:0], params...)
	f.params = append(f.params, 0) // so that there is a first byte
	f.size = uint64(len(params))
	f.extra = [5]uintptr{
		launchParamBufferPointer, uintptr(unsafe.Pointer(&f.params[0])),
		launchParamBufferSize, uintptr(unsafe.Pointer(&f.size)),
		0,
	}
	if g.Early {
		err = f.launchEarly(k.handle, s.r.handle, g)
	} else {
		err = f.call(&f.ctx.driver.api.launchKernel, k.handle,
			uintptr(g.Blocks.X), uintptr(max(g.Blocks.Y, 1)), uintptr(max(g.Blocks.Z, 1)),
			uintptr(g.Threads.X), uintptr(max(g.Threads.Y, 1)), uintptr(max(g.Threads.Z, 1)),
			uintptr(g.Shared), s.r.handle, 0, uintptr(unsafe.Pointer(&f.extra)))
	}
	f.leave()
	_ = module.drop()
	return err
}

// launchEarly is the launch of a kernel whose blocks may start early; its parameters are in the frame.
func (f *frame) launchEarly(kernel, stream uintptr, g Grid) error {
	f.early = launchAttribute{id: launchAttributeProgrammaticStreamSerialization, value: 1}
	f.config = launchConfig{
		gridX: g.Blocks.X, gridY: max(g.Blocks.Y, 1), gridZ: max(g.Blocks.Z, 1),
		threadsX: g.Threads.X, threadsY: max(g.Threads.Y, 1), threadsZ: max(g.Threads.Z, 1), shared: g.Shared,
		stream: stream, attributes: uintptr(unsafe.Pointer(&f.early)), attributeCount: 1,
	}
	return f.call(&f.ctx.driver.api.launchKernelEx, uintptr(unsafe.Pointer(&f.config)), kernel, 0, uintptr(unsafe.Pointer(&f.extra)))
}
