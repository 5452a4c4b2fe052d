package cuda

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"
)

//go:embed testdata/fake/fakecuda.c
var fakeSource []byte

// fakeDir is where the compiled drivers of no device are, by their flags.
var fakeDir = struct {
	sync.Mutex
	path string
}{}

func TestMain(m *testing.M) {
	code := m.Run()
	if fakeDir.path != "" {
		_ = os.RemoveAll(fakeDir.path) // what is open stays open
	}
	os.Exit(code)
}

// fake is a driver of no device, with a state of its own.
type fake struct {
	*Driver
	t       testing.TB
	library uintptr
}

// buildFake compiles the fake driver with the given flags and returns a copy of
// it that no other test loads. Without a C compiler it skips the test.
func buildFake(t testing.TB, flags ...string) string {
	t.Helper()
	cc, err := exec.LookPath("gcc")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("no gcc to build the fake driver with")
	}
	fakeDir.Lock()
	defer fakeDir.Unlock()
	if fakeDir.path == "" {
		if fakeDir.path, err = os.MkdirTemp("", "fakecuda"); err != nil {
			t.Fatal(err)
		}
	}
	master := filepath.Join(fakeDir.path, "libcuda"+strings.Join(flags, "")+".so")
	if _, err := os.Stat(master); err != nil {
		args := append([]string{"-shared", "-fPIC", "-pthread", "-O1", "-fvisibility=hidden", "-x", "c", "-o", master, "-"}, flags...)
		cmd := exec.Command(cc, args...)
		cmd.Stdin = strings.NewReader(string(fakeSource))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	library, err := os.ReadFile(master)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "libcuda.so.1")
	if err := os.WriteFile(path, library, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func newFake(t testing.TB, flags ...string) *fake {
	t.Helper()
	d, err := open(buildFake(t, flags...))
	if err != nil {
		t.Fatal(err)
	}
	library, err := openLibrary(d.Path())
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
	address := symbolAddress(f.library, name)
	if address == 0 {
		f.t.Fatalf("the fake driver has no %s", name)
	}
	return int(int32(callAddress(address, args)))
}

// fail makes a function of the driver fail, after it worked so many times.
func (f *fake) fail(name string, code Code, after int) {
	text := append([]byte(name), 0)
	f.control("fake_fail", uintptr(unsafe.Pointer(&text[0])), uintptr(code), uintptr(after))
}

// kinds are what the fake counts, in its order.
var kinds = []string{"contexts", "modules", "streams", "events", "allocations", "host buffers", "pools", "links"}

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
