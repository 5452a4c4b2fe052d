package cuda

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// Code is an error number of the driver (CUresult).
type Code uint32

// The codes that programs decide on.
const (
	CodeInvalidValue  Code = 1
	CodeOutOfMemory   Code = 2
	CodeNoDevice      Code = 100
	CodeInvalidDevice Code = 101
	CodeInvalidImage  Code = 200
	CodeNoBinary      Code = 209 // a cubin for another architecture
	CodeInvalidPTX    Code = 218
	CodeOldPTX        Code = 222 // PTX newer than the driver
	CodeNotFound      Code = 500
	CodeNotReady      Code = 600

	codeNotSupported Code = 801
)

// advice says what to do about an error, where that is known.
var advice = map[Code]string{
	34:           "the library found is the stub that programs link against, not the driver: name the driver's libcuda.so.1 in " + EnvVar,
	46:           "another process has the device to itself",
	CodeNoDevice: "the driver is there but sees no GPU: check nvidia-smi, CUDA_VISIBLE_DEVICES, and in a container that it is run with access to the GPUs",
	CodeNoBinary: "the image was made for another architecture than the device's",
	CodeOldPTX:   "the PTX is of a newer version than the driver knows: make older PTX, or update the driver",
	701:          "the launch asks for more registers or shared memory than a block can have",
	802:          "the system is not ready: is the fabric manager running?",
	803:          "the driver's library and its kernel module are of different versions: restart the machine after an update, or bring a container up to the host's version",
	804:          "the compatibility library does not support this GPU: remove it from the library path",
	999:          "the driver says no more: see the kernel's log (dmesg)",
}

// sticky reports whether after an error of this code the context is of no more
// use: the driver answers everything else in it with the same error.
func (c Code) sticky() bool {
	switch c {
	case 214, 220, 226, // memory and link errors that cannot be corrected
		700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999:
		return true
	}
	return false
}

// Error is a failure of the driver.
type Error struct {
	Op      string // the driver's function, such as "cuModuleLoadDataEx"
	Code    Code
	Name    string // the code's name, such as "CUDA_ERROR_INVALID_PTX"
	Message string // what the driver says about the code
	Detail  string // the JIT compiler's log or what to do, if there is any
}

// Error returns operation, name and message, then the detail.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s: %s (%s, %d)", e.Op, e.Message, e.Name, uint32(e.Code))
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

// failure makes the error of a function that returned a code other than 0.
func (d *Driver) failure(f *function, code Code) *Error {
	e := &Error{Op: f.Name, Code: code, Name: "unknown", Message: "unknown error", Detail: advice[code]}
	var text uintptr
	if d.invoke(&d.api.getErrorName, uintptr(code), uintptr(unsafe.Pointer(&text))) == 0 {
		e.Name = dl.String(text)
	}
	if d.invoke(&d.api.getErrorString, uintptr(code), uintptr(unsafe.Pointer(&text))) == 0 {
		e.Message = dl.String(text)
	}
	return e
}

// withLog puts what the JIT compiler said into an error of the driver.
func withLog(err error, log string) error {
	if e, ok := errors.AsType[*Error](err); ok && log != "" {
		e.Detail = strings.TrimSpace(strings.TrimSpace(log) + "\n" + e.Detail)
	}
	return err
}

// LostError says that a device cannot be used any more by this process, because
// of an error that the driver does not recover from. What was computed since the
// last successful Synchronize is not to be trusted.
type LostError struct {
	Device string // its name
	Err    *Error // the first such error
}

// Error names the device, the cause and what to do.
func (e *LostError) Error() string {
	return fmt.Sprintf("the GPU %s is lost to this process, which must be started anew to use it again: %v", e.Device, e.Err)
}

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// OutOfMemoryError says that memory was not to be had.
type OutOfMemoryError struct {
	Device string // its name
	Pinned bool   // host memory was asked for, not the device's
	Need   uint64 // bytes asked for
	Free   uint64 // bytes free on the device, 0 for host memory
	Total  uint64 // bytes of the device, 0 for host memory
	Err    *Error // the driver's error
}

// Error tells what is needed and what there is.
func (e *OutOfMemoryError) Error() string {
	if e.Pinned {
		return fmt.Sprintf("out of pinned host memory for the GPU %s: %d bytes are needed", e.Device, e.Need)
	}
	return fmt.Sprintf("out of memory on the GPU %s: %d bytes are needed, %d of %d are free", e.Device, e.Need, e.Free, e.Total)
}

// Unwrap returns the driver's error.
func (e *OutOfMemoryError) Unwrap() error { return e.Err }

// ErrClosed is returned by calls to what has been closed.
var ErrClosed = errors.New("used after it was closed")

// ErrMixedDevices is returned by calls that are given objects of different
// devices or contexts.
var ErrMixedDevices = errors.New("objects of different devices or contexts are used together")
