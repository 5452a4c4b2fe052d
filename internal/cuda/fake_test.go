//go:build linux || darwin

package cuda

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/cuda/fakecuda"
	"github.com/lacuna-sparse/lacuna/internal/dl"
)

// This file loads the driver without a device that tests run on (fakecuda).

// fake is a driver of no device, with a state of its own.
type fake struct {
	*Driver
	t       testing.TB
	library dl.Library
}

func newFake(t testing.TB, flags ...string) *fake {
	t.Helper()
	d, err := open(fakecuda.Build(t, flags...))
	if err != nil {
		t.Fatal(err)
	}
	library, err := dl.Open(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{d, t, library}
	t.Cleanup(func() { f.fail("", 0, 0) })
	return f
}

// control calls one of the fake's own functions.
//
//go:uintptrescapes
func (f *fake) control(name string, args ...uintptr) int {
	address := f.library.Symbol(name)
	if address == 0 {
		f.t.Fatalf("the fake driver has no %s", name)
	}
	return int(int32(dl.Call(address, args...)))
}

// fail makes a function of the driver fail, after it worked so many times.
func (f *fake) fail(name string, code Code, after int) {
	text := append([]byte(name), 0)
	f.control("fake_fail", uintptr(unsafe.Pointer(&text[0])), uintptr(code), uintptr(after))
}

// kinds are what the fake counts, in its order.
var kinds = []string{"contexts", "modules", "streams", "events", "allocations", "host buffers", "pools", "links", "graphs"}

// alive says what has not been given back; "" if nothing.
func (f *fake) alive() string {
	var all []string
	for kind, name := range kinds {
		if n := f.control("fake_live", uintptr(kind)); n != 0 {
			all = append(all, fmt.Sprint(n, " ", name))
		}
	}
	return strings.Join(all, ", ")
}

// nothingAlive fails the test if something is not given back, which the
// collector is first asked to do.
func (f *fake) nothingAlive() {
	f.t.Helper()
	for range 100 {
		runtime.GC()
		if f.alive() == "" {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	f.t.Errorf("not given back: %s", f.alive())
}

// open0 opens device 0 and a stream.
func (f *fake) open0() (*Device, *Stream) {
	f.t.Helper()
	return must(f.Device(0))(f.t), newStream(f.t, f.Driver)
}

func newStream(t testing.TB, d *Driver) *Stream {
	t.Helper()
	device := must(d.Device(0))(t)
	defer device.Close()
	return must(device.NewStream())(t)
}

// must returns a value unless there is an error, which ends the test.
func must[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// check ends the test on an error.
func check(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}
