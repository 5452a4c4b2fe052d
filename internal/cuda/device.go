package cuda

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// DeviceInfo describes a device.
type DeviceInfo struct {
	Ordinal    int // its number
	Name       string
	UUID       string // such as GPU-5c9a…, as nvidia-smi prints it
	Capability Capability
	Memory     uint64 // bytes

	Multiprocessors int
	WarpSize        int
	MaxThreads      int // in a block
	MaxThreadsPerSM int
	MaxShared       int // bytes of shared memory in a block
	MaxSharedOptIn  int // the same where a kernel asks the driver for more
	MaxSharedPerSM  int
	L2              int   // bytes of cache
	Clock           int64 // of the multiprocessors at most, Hz; 0 if not told
	MemoryClock     int64 // at most, Hz; 0 if not told
	MemoryBusWidth  int   // bits
	ECC             bool
	MemoryPools     bool // allocation in stream order
}

// Capability is a compute capability, 9.0 for Hopper.
type Capability struct{ Major, Minor int }

// String returns the capability in the form 9.0.
func (c Capability) String() string { return fmt.Sprintf("%d.%d", c.Major, c.Minor) }

// Target returns the capability as compilers name it: sm_90.
func (c Capability) Target() string { return fmt.Sprintf("sm_%d%d", c.Major, c.Minor) }

// Devices describes the devices that the driver lets this process see, in the
// order of their numbers.
func (d *Driver) Devices() ([]DeviceInfo, error) {
	var count int32
	if code := d.invoke(&d.api.deviceGetCount, uintptr(unsafe.Pointer(&count))); code != 0 {
		return nil, d.failure(&d.api.deviceGetCount, code)
	}
	var all []DeviceInfo
	for i := range int(count) {
		info, err := d.info(i)
		if err != nil {
			return nil, err
		}
		all = append(all, info)
	}
	return all, nil
}

// info describes one device.
func (d *Driver) info(ordinal int) (DeviceInfo, error) {
	if ordinal < 0 || ordinal > math.MaxInt32 {
		return DeviceInfo{}, fmt.Errorf("there is no device %d: devices are numbered from 0", ordinal)
	}
	var device int32
	if code := d.invoke(&d.api.deviceGet, uintptr(unsafe.Pointer(&device)), uintptr(ordinal)); code != 0 {
		return DeviceInfo{}, d.failure(&d.api.deviceGet, code)
	}
	info := DeviceInfo{Ordinal: ordinal}
	name := make([]byte, 256)
	if code := d.invoke(&d.api.deviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)-1), uintptr(device)); code != 0 {
		return info, d.failure(&d.api.deviceGetName, code)
	}
	info.Name = dl.String(uintptr(unsafe.Pointer(&name[0])))
	var id [16]byte
	if code := d.invoke(&d.api.deviceGetUUID, uintptr(unsafe.Pointer(&id)), uintptr(device)); code != 0 {
		return info, d.failure(&d.api.deviceGetUUID, code)
	}
	info.UUID = fmt.Sprintf("GPU-%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	if code := d.invoke(&d.api.deviceTotalMem, uintptr(unsafe.Pointer(&info.Memory)), uintptr(device)); code != 0 {
		return info, d.failure(&d.api.deviceTotalMem, code)
	}
	attribute := func(number uintptr) int64 {
		var value int32
		if d.invoke(&d.api.deviceGetAttribute, uintptr(unsafe.Pointer(&value)), number, uintptr(device)) != 0 {
			return 0 // one that this driver does not know (any more)
		}
		return int64(value)
	}
	info.Capability = Capability{int(attribute(attributeCapabilityMajor)), int(attribute(attributeCapabilityMinor))}
	info.Multiprocessors = int(attribute(attributeMultiprocessorCount))
	info.WarpSize = int(attribute(attributeWarpSize))
	info.MaxThreads = int(attribute(attributeMaxThreadsPerBlock))
	info.MaxThreadsPerSM = int(attribute(attributeMaxThreadsPerSM))
	info.MaxShared = int(attribute(attributeMaxSharedPerBlock))
	info.MaxSharedOptIn = int(attribute(attributeMaxSharedPerBlockOptin))
	info.MaxSharedPerSM = int(attribute(attributeMaxSharedPerSM))
	info.L2 = int(attribute(attributeL2CacheSize))
	info.Clock = attribute(attributeClockRate) * 1000
	info.MemoryClock = attribute(attributeMemoryClockRate) * 1000
	info.MemoryBusWidth = int(attribute(attributeMemoryBusWidth))
	info.ECC = attribute(attributeECCEnabled) != 0
	info.MemoryPools = attribute(attributeMemoryPoolsSupported) != 0
	return info, nil
}

// Device is a device that is open for use, in its primary context or a foreign
// one.
type Device struct{ r *resource }

// Info describes the device.
func (d *Device) Info() DeviceInfo { return d.r.ctx.info }

// Close gives the device back. What was made through it stays usable, and keeps
// the context, until it is closed itself.
func (d *Device) Close() error { return d.r.close() }

// Context returns the device's CUcontext, for other libraries in the process.
// It is good until the device is closed.
func (d *Device) Context() uintptr { return d.r.ctx.handle }

// Do calls f with the device's context current on a thread that f keeps, for calls to other libraries.
func (d *Device) Do(f func() error) error {
	visit, err := d.r.enter()
	if err != nil {
		return err
	}
	defer visit.leave()
	return f()
}

// Lost returns the *LostError of a device that cannot be used any more, else
// nil.
func (d *Device) Lost() error {
	if lost := d.r.ctx.lost.Load(); lost != nil {
		return lost
	}
	return nil
}

// MemoryUse says how a device's memory is used, in bytes.
type MemoryUse struct {
	Total uint64
	Free  uint64 // not used by any process
	Idle  uint64 // kept by this context's pool, but not allocated
}

// MemoryUse says how the device's memory is used at the moment.
func (d *Device) MemoryUse() (MemoryUse, error) {
	f, err := d.r.enter()
	if err != nil {
		return MemoryUse{}, err
	}
	defer f.leave()
	return f.memoryUse()
}

// memoryUse is Device.MemoryUse inside a visit.
func (f *frame) memoryUse() (MemoryUse, error) {
	api := &f.ctx.driver.api
	f.clear()
	if err := f.call(&api.memGetInfo, f.address(0), f.address(1)); err != nil {
		return MemoryUse{}, err
	}
	use := MemoryUse{Free: f.out[0], Total: f.out[1]}
	pool := f.ctx.pool
	if pool == 0 {
		return use, nil
	}
	f.clear()
	for i, attribute := range []uintptr{memPoolReservedCurrent, memPoolUsedCurrent} {
		if err := f.call(&api.memPoolGetAttribute, pool, attribute, f.address(i)); err != nil {
			return use, err
		}
	}
	use.Idle = f.out[0] - min(f.out[0], f.out[1])
	return use, nil
}
