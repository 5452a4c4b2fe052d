//go:build linux || darwin

package cuda

import (
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/lacuna-sparse/lacuna/internal/cuda/fakecuda"
	"github.com/lacuna-sparse/lacuna/internal/dl"
)

func TestOpenErrors(t *testing.T) {
	libc := "libc.so.6"
	for _, test := range []struct {
		spec string
		want []string
	}{
		{"off", []string{"switched off", EnvVar + "=off"}},
		{"none", []string{"switched off"}},
		{"/no/such/libcuda.so", []string{"/no/such/libcuda.so: no such file", Install, EnvVar}},
		{"/etc/passwd", []string{"/etc/passwd: cannot open it: "}},
		{libc, []string{"it lacks cuCtxGetCurrent, cuCtxGetDevice, ", "no driver of CUDA 12.0 or newer"}},
	} {
		t.Setenv(EnvVar, test.spec)
		_, err := Open()
		if _, ok := errors.AsType[*NotFoundError](err); !ok {
			t.Errorf("%s: error %v", test.spec, err)
			continue
		}
		for _, want := range test.want {
			if runtime.GOOS == "linux" && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q not in\n%v", test.spec, want, err)
			}
		}
	}
}

// Without a word from the user the usual places are tried, and told in one line.
func TestOpenAnywhere(t *testing.T) {
	t.Setenv(EnvVar, "")
	d, err := Open()
	if err == nil {
		t.Skipf("there is a driver: %s", d.Path())
	}
	if nf, ok := errors.AsType[*NotFoundError](err); ok && runtime.GOOS == "linux" && (len(nf.Tried) == 0 || !strings.Contains(err.Error(), places[0])) {
		t.Errorf("error %v", err)
	}
}

func TestOpenOldDriver(t *testing.T) {
	t.Setenv(EnvVar, fakecuda.Build(t, "-DVERSION=11080"))
	if _, err := Open(); err == nil || !strings.Contains(err.Error(), "it supports CUDA 11.8; 12.0 or newer is needed") {
		t.Errorf("error %v", err)
	}
}

func TestOpenIncompleteDriver(t *testing.T) {
	t.Setenv(EnvVar, fakecuda.Build(t, "-DINCOMPLETE"))
	if _, err := Open(); err == nil || !strings.Contains(err.Error(), "it lacks cuLinkCreate_v2:") {
		t.Errorf("error %v", err)
	}
}

func TestOpenWithoutDevices(t *testing.T) {
	path := fakecuda.Build(t)
	library := must(dl.Open(path))(t)
	dl.Call(library.Symbol("fake_devices"), 0)
	t.Setenv(EnvVar, path)
	_, err := Open()
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != CodeNoDevice || !strings.Contains(err.Error(), "CUDA_VISIBLE_DEVICES") {
		t.Errorf("error %v", err)
	}
}

// A driver that does not work does not hide one that does.
func TestOpenTriesOn(t *testing.T) {
	broken, good := fakecuda.Build(t), fakecuda.Build(t)
	dl.Call(must(dl.Open(broken))(t).Symbol("fake_devices"), 0)
	usual := places
	defer func() { places = usual }()
	places = []string{"/no/such/libcuda.so.1", broken, good}
	t.Setenv(EnvVar, "")
	if d := must(Open())(t); d.Path() != good {
		t.Errorf("opened %s", d.Path())
	}
	places = places[:2]
	_, err := Open()
	if e, ok := errors.AsType[*Error](err); !ok || e.Code != CodeNoDevice {
		t.Errorf("error %v", err)
	}
}

func TestOpenTwice(t *testing.T) {
	path := fakecuda.Build(t)
	t.Setenv(EnvVar, path)
	a, b := must(Open())(t), must(Open())(t)
	if a != b || a.Path() != path || a.Version() != (Version{12, 8}) || a.Version().String() != "12.8" {
		t.Errorf("%p %p of version %v", a, b, a.Version())
	}
}

func TestDevices(t *testing.T) {
	f := newFake(t)
	all := must(f.Devices())(t)
	want := DeviceInfo{Ordinal: 1, Name: "Fake 1", UUID: "GPU-01020304-0506-0708-090a-0b0c0d0e0f10",
		Capability: Capability{9, 0}, Memory: 8 << 30, Multiprocessors: 132, WarpSize: 32, MaxThreads: 1024, MaxThreadsPerSM: 2048,
		MaxShared: 49152, MaxSharedOptIn: 232448, MaxSharedPerSM: 233472, L2: 60 << 20, Clock: 1980e6, MemoryClock: 3201e6,
		MemoryBusWidth: 6144, ECC: true, MemoryPools: true}
	if len(all) != 2 || all[1] != want {
		t.Errorf("got  %+v\nwant %+v", all, want)
	}
	if all[0].Capability.Target() != "sm_90" || all[0].Capability.String() != "9.0" {
		t.Errorf("capability %v, target %s", all[0].Capability, all[0].Capability.Target())
	}
	for _, ordinal := range []int{-1, 2, 1 << 40} {
		if _, err := f.Device(ordinal); err == nil {
			t.Errorf("there is a device %d", ordinal)
		}
	}
	if live := f.alive(); live != "" {
		t.Errorf("describing devices left %s", live)
	}
}

// Devices are opened and closed at will, the context is made and given back as
// often as need be, and never while somebody uses it.
func TestOpenAndCloseDevices(t *testing.T) {
	f := newFake(t)
	var group sync.WaitGroup
	for g := range 6 {
		group.Go(func() {
			for turn := range 100 {
				d, err := f.Device(g % 2)
				if err != nil {
					t.Error(err)
					return
				}
				s, err := d.NewStream()
				if err != nil {
					t.Error(err)
					return
				}
				if turn%2 == 0 {
					err = d.Close()
				}
				p, failed := s.Alloc(64)
				got := make([]byte, 64)
				if err = errors.Join(err, failed, s.Set8(p, byte(g), 64), s.Download(got, p), s.Free(p), s.Close(), d.Close()); err != nil {
					t.Error(err)
					return
				}
				if got[63] != byte(g) {
					t.Errorf("goroutine %d: got %d", g, got[63])
				}
			}
		})
	}
	group.Wait()
	f.nothingAlive()
}
