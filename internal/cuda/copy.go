package cuda

// Upload copies bytes to the device in stream order. The bytes are taken when
// it returns: they go through pinned memory of the package's own, on several
// goroutines if there are many, while the device fetches those that are there.
func (s *Stream) Upload(dst Ptr, src []byte) error {
	return s.transfer(dst, src, upload)
}

// Download copies bytes from the device after all earlier work on the stream,
// and returns when they are there. It cannot be interrupted: who wants to stop
// waiting calls Synchronize first.
func (s *Stream) Download(dst []byte, src Ptr) error {
	return s.transfer(src, dst, download)
}

// CopyOnDevice copies bytes within the device's memory, in stream order, or between it and that of a device
// which shares its own with this one (ShareWith). The ranges must not overlap.
func (s *Stream) CopyOnDevice(dst, src Ptr, bytes uint64) error {
	if bytes == 0 {
		return nil
	}
	return s.r.do(&s.r.ctx.driver.api.memcpyDtoDAsync, uintptr(dst), uintptr(src), uintptr(bytes), s.r.handle)
}

// CopyFrom copies bytes from the memory of another device, or of the same, in the order of the stream, which is of the device that
// dst belongs to. Devices that do not see each other's memory are bridged by the driver.
func (s *Stream) CopyFrom(dst Ptr, from *Device, src Ptr, bytes uint64) error {
	if bytes == 0 {
		return nil
	}
	return s.r.with(from.r, &s.r.ctx.driver.api.memcpyPeerAsync, uintptr(dst), s.r.ctx.handle, uintptr(src), from.r.ctx.handle, uintptr(bytes), s.r.handle)
}

// direction is the way of a copy between host and device.
type direction uint8

const (
	upload direction = iota
	download
)

// copyHost puts a copy between the device and pinned memory into a stream.
func (f *frame) copyHost(device Ptr, host uintptr, bytes int, way direction, stream uintptr) error {
	api := &f.ctx.driver.api
	if way == upload {
		return f.call(&api.memcpyHtoDAsync, uintptr(device), host, uintptr(bytes), stream)
	}
	return f.call(&api.memcpyDtoHAsync, host, uintptr(device), uintptr(bytes), stream)
}
