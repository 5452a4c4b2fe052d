package cuda

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// Driver is a loaded and initialised CUDA driver. Its methods may be used by
// several goroutines at once.
type Driver struct {
	path    string
	version Version
	api     api

	mu       sync.Mutex
	contexts map[int]*deviceContext // the primary contexts in use, by ordinal
}

// Path is the file or library name that was loaded.
func (d *Driver) Path() string { return d.path }

// Version is the newest version of CUDA that the driver supports.
func (d *Driver) Version() Version { return d.version }

// NotFoundError says that no usable driver was found, what was tried, and how
// to get one.
type NotFoundError struct {
	Spec  string   // the value of EnvVar
	Tried []string // each with the reason it was no good
}

// Error returns the whole story on several lines.
func (e *NotFoundError) Error() string {
	if switchedOff(e.Spec) {
		return fmt.Sprintf("the CUDA driver is switched off (%s=%s)", EnvVar, e.Spec)
	}
	return dl.NotFound(fmt.Sprintf("no driver of CUDA %s or newer was found", Oldest), e.Tried,
		fmt.Sprintf("%s, or name its libcuda.so.1 in %s", Install, EnvVar))
}

// switchedOff reports whether a value of EnvVar asks for no driver.
func switchedOff(spec string) bool { return spec == "off" || spec == "none" }

// places are where the driver's library is, best first: where the dynamic
// loader knows it, then where WSL, containers and some distributions keep it.
var places = []string{
	"libcuda.so.1",
	"/usr/lib/wsl/lib/libcuda.so.1",
	"/usr/local/nvidia/lib64/libcuda.so.1",
	"/usr/lib64-nvidia/libcuda.so.1",
	"/run/opengl-driver/lib/libcuda.so.1",
}

// candidates lists the libraries that spec, the value of EnvVar, allows.
func candidates(spec string) []string {
	switch {
	case spec == "":
		return places
	case switchedOff(spec):
		return nil
	}
	return []string{spec}
}

// drivers are the drivers open in this process, by dlopen handle. An
// initialised driver is state of the process, so the table is too; libraries
// are never closed.
var drivers = struct {
	sync.Mutex
	open map[dl.Library]*Driver
}{open: map[dl.Library]*Driver{}}

// Open loads and initialises the CUDA driver: the library that the environment
// variable EnvVar names, or the one found on this system. Opening a library
// again gives the same *Driver. The error is a *NotFoundError that lists what
// was tried, or an *Error if there is a driver that does not work here, for want
// of a device (CodeNoDevice) above all.
func Open() (*Driver, error) {
	spec := os.Getenv(EnvVar)
	notFound := &NotFoundError{Spec: spec}
	var absent []string // where there is no such file: one line for all
	var failed *Error   // the first of drivers that do not work
	for _, path := range candidates(spec) {
		d, err := open(path)
		if err == nil {
			return d, nil
		}
		if e, ok := errors.AsType[*Error](err); ok {
			// Another may work: the first may be a stub, or of another version.
			if failed == nil {
				failed = e
			}
			continue
		}
		if spec == "" && errors.Is(err, dl.ErrNoFile) {
			absent = append(absent, path)
			continue
		}
		notFound.Tried = append(notFound.Tried, fmt.Sprintf("%s: %v", path, err))
	}
	if failed != nil {
		return nil, failed
	}
	if len(absent) > 0 {
		notFound.Tried = append(notFound.Tried, strings.Join(absent, ", ")+": "+dl.ErrNoFile.Error())
	}
	return nil, notFound
}

// open loads one library, or finds it among those that are open.
func open(path string) (*Driver, error) {
	library, err := dl.Open(path)
	if err != nil {
		return nil, err
	}
	drivers.Lock()
	defer drivers.Unlock()
	if d, ok := drivers.open[library]; ok {
		return d, nil
	}
	d := &Driver{path: path, contexts: map[int]*deviceContext{}}
	if err := d.api.bind(library); err != nil {
		return nil, err
	}
	if code := d.invoke(&d.api.init, 0); code != 0 {
		return nil, d.failure(&d.api.init, code)
	}
	var number int32 // 12080 for 12.8
	if code := d.invoke(&d.api.driverGetVersion, uintptr(unsafe.Pointer(&number))); code != 0 {
		return nil, d.failure(&d.api.driverGetVersion, code)
	}
	d.version = Version{int(number) / 1000, int(number) % 1000 / 10}
	if d.version.before(Oldest) {
		return nil, fmt.Errorf("it supports CUDA %s; %s or newer is needed", d.version, Oldest)
	}
	drivers.open[library] = d
	return d, nil
}

// invoke calls a function of the driver, on whatever thread and in whatever
// context: for functions that need none. What args has the addresses of is moved
// to the heap, and so is args.
//
//go:uintptrescapes
func (d *Driver) invoke(f *function, args ...uintptr) Code {
	return Code(uint32(dl.Call(f.Address, args...)))
}
