// Package cuda drives NVIDIA GPUs through the CUDA driver API, loaded at run
// time with purego: no cgo, no headers, no CUDA toolkit. A program built with
// CGO_ENABLED=0 runs without a GPU and uses one where the driver's library,
// libcuda.so.1, is found.
//
// The way of a kernel through the package:
//
//	Open             find and load libcuda, bind its functions   load.go, api.go
//	Driver.Device    a device and its primary context            device.go, context.go
//	Device.Load      PTX or a cubin becomes a module             module.go
//	Stream.Alloc     memory on the device, in stream order       memory.go
//	Stream.Upload    bytes to the device, through pinned memory  copy.go, staging.go
//	Function.Launch  run a kernel                                launch.go
//	Stream.Synchronize, Stream.Download                          stream.go, copy.go
//	Replay.Flush     what a queue is told again and again, as a graph  replay.go, graph.go
//	Spare.Take       blocks that were given back, kept           spare.go
//
// # Contexts and threads
//
// A CUDA context is current to an operating system thread, and goroutines move
// between threads. So each call locks its goroutine to its thread, makes the
// context of its object current there, and leaves the thread as it found it
// (frame.go). Every method may be called from any goroutine, and by several at
// once.
//
// # Lifetimes
//
// What holds something of the driver's has a Close method, which may be called
// at any time and more than once: what is closed while a call uses it goes when
// that call is done. What is forgotten is given back by the garbage collector.
// Device memory (Ptr) is the exception: it is a number, which only Free gives
// back. A context lives until everything made in it is gone.
//
// # Errors
//
// Errors of the driver are *Error, out of memory is *OutOfMemoryError. After an
// error that the driver cannot recover from, such as a kernel that wrote where
// it may not, every call to that device returns a *LostError with the cause.
package cuda

import "fmt"

// EnvVar is the environment variable that names the driver library to load: a
// file, or "off" for none.
const EnvVar = "LACUNA_CUDA"

// Install says how to get what the package needs, for messages.
const Install = "install NVIDIA's driver (on Debian: apt-get install nvidia-driver; in a container: run it with access to the GPUs)"

// Oldest is the first version of CUDA whose driver has all this package needs.
var Oldest = Version{12, 0}

// Version is a version of CUDA, as the driver counts: the newest that it
// supports.
type Version struct{ Major, Minor int }

// String returns the version in the form 12.8.
func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// before reports whether v is older than w.
func (v Version) before(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}
