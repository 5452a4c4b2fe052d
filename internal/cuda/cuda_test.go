//go:build linux || darwin

package cuda

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

// image is what the fake driver takes for PTX with four kernels.
var image = []byte(".version 7.0\n.target sm_70\n.entry scale(\n.entry wild(\n.entry nap(\n.entry nop(\n")

// pack lays parameters out as a kernel wants them.
func pack(values ...any) []byte {
	var b []byte
	for _, v := range values {
		switch v := v.(type) {
		case Ptr:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case int64:
			b = binary.LittleEndian.AppendUint64(b, uint64(v))
		case float64:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
		}
	}
	return b
}

func asBytes(x []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), len(x)*8)
}

// Every function whose failure a program can meet is made to fail: the error
// names it, and nothing stays behind.
func TestFailures(t *testing.T) {
	f := newFake(t)
	steps := func() error {
		d, err := f.Device(0)
		if err != nil {
			return err
		}
		defer d.Close()
		s, err := d.NewStream()
		if err != nil {
			return err
		}
		defer s.Close()
		e, err := d.NewEvent()
		if err != nil {
			return err
		}
		defer e.Close()
		cubin, err := d.Cubin(image)
		if err != nil {
			return err
		}
		m, err := d.Load(cubin)
		if err != nil {
			return err
		}
		defer m.Close()
		k, err := m.Function("scale")
		if err != nil {
			return err
		}
		if _, err := d.MemoryUse(); err != nil {
			return err
		}
		p, err := s.Alloc(80)
		if err != nil {
			return err
		}
		work := errors.Join(
			s.Set8(p, 0, 80),
			s.Upload(p, make([]byte, 80)),
			k.Launch(s, line(1, 32), pack(p, int64(10), 2.0)),
			k.Launch(s, Grid{Blocks: Extent{X: 1}, Threads: Extent{X: 32}, Early: true}, pack(p, int64(10), 2.0)),
			s.CopyOnDevice(p, p+40, 40),
			e.Record(s), s.Wait(e), e.Synchronize(context.Background()),
			s.Download(make([]byte, 80), p),
		)
		return errors.Join(work, s.Free(p), s.Synchronize(t.Context()))
	}
	check(t, steps())
	f.nothingAlive()
	for _, name := range []string{
		"cuDeviceGet", "cuDeviceGetName", "cuDeviceGetUuid_v2", "cuDeviceTotalMem_v2", "cuDevicePrimaryCtxRetain", "cuMemPoolCreate",
		"cuMemPoolSetAttribute", "cuStreamCreate", "cuEventCreate", "cuLinkCreate_v2", "cuLinkAddData_v2", "cuLinkComplete",
		"cuModuleLoadDataEx", "cuModuleGetFunction", "cuFuncGetAttribute",
		"cuMemHostAlloc", "cuMemGetInfo_v2", "cuMemPoolGetAttribute", "cuMemAllocFromPoolAsync", "cuMemsetD8Async",
		"cuMemcpyHtoDAsync_v2", "cuLaunchKernel", "cuLaunchKernelEx", "cuMemcpyDtoDAsync_v2", "cuEventRecord", "cuStreamWaitEvent",
		"cuEventSynchronize", "cuMemcpyDtoHAsync_v2", "cuStreamQuery",
	} {
		for after := range 4 {
			f.fail(name, CodeInvalidValue, after)
			err := steps()
			e, ok := errors.AsType[*Error](err)
			if after == 0 && (!ok || e.Op != name || e.Code != CodeInvalidValue || e.Name != "CUDA_ERROR_FAKE") {
				t.Errorf("when %s fails the error is %v", name, err)
			}
			f.fail("", 0, 0)
			f.nothingAlive()
		}
	}
}

// A context that cannot be made current is not used.
func TestContextNotCurrent(t *testing.T) {
	f := newFake(t)
	f.fail("cuCtxSetCurrent", CodeInvalidValue, 0)
	_, err := f.Device(0)
	if e, ok := errors.AsType[*Error](err); !ok || e.Op != "cuCtxSetCurrent" {
		t.Errorf("error %v", err)
	}
	f.fail("", 0, 0)
	f.nothingAlive()
}

func TestManyGoroutines(t *testing.T) {
	f := newFake(t)
	d := must(f.Device(0))(t)
	m := must(d.Load(image))(t)
	scale := must(m.Function("scale"))(t)
	shared := must(d.NewStream())(t)
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			s := shared
			if g%2 == 0 {
				s = newStream(t, f.Driver)
				defer s.Close()
			}
			for turn := range 30 {
				n := 1 << (turn % 19)
				x := make([]float64, n)
				for i := range x {
					x[i] = float64(g + i)
				}
				p, err := s.Alloc(uint64(n) * 8)
				if err != nil {
					t.Error(err)
					return
				}
				err = errors.Join(s.Upload(p, asBytes(x)),
					scale.Launch(s, line(1, 32), pack(p, int64(n), 2.0)),
					s.Download(asBytes(x), p), s.Free(p), s.Synchronize(t.Context()))
				if err != nil {
					t.Error(err)
					return
				}
				for i := range x {
					if x[i] != 2*float64(g+i) {
						t.Errorf("goroutine %d: element %d is %v", g, i, x[i])
						return
					}
				}
			}
		})
	}
	group.Wait()
	check(t, shared.Close(), m.Close(), d.Close())
	f.nothingAlive()
}

// The image is checked before the driver sees it.
func FuzzCheckImage(f *testing.F) {
	f.Add(image)
	cubin := make([]byte, 200)
	copy(cubin, "\x7fELF\x02\x01\x01")
	cubin[40], cubin[58], cubin[60] = 64, 64, 2
	f.Add(cubin)
	f.Fuzz(func(t *testing.T, data []byte) {
		checked, err := checkImage(bytes.Clone(data))
		if err != nil {
			return
		}
		if bytes.HasPrefix(data, []byte("\x7fELF")) {
			if !bytes.Equal(checked, data) {
				t.Error("a cubin is changed")
			}
			return
		}
		if end := bytes.IndexByte(checked, 0); end != len(checked)-1 {
			t.Errorf("PTX of %d bytes ends at %d", len(checked), end)
		}
	})
}

func TestLoadErrors(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	_, err := d.Load([]byte(".target sm_70\nSYNTAX ERROR"))
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Code != CodeInvalidPTX || !strings.Contains(err.Error(), "line 3; fatal: what is this?") {
		t.Errorf("error %v", err)
	}
	cubin := must(d.Cubin(image))(t)
	check(t, must(d.Load(cubin))(t).Close())
	beyond := bytes.Clone(cubin)
	binary.LittleEndian.PutUint64(beyond[32:], 64) // a segment, in the text that follows
	binary.LittleEndian.PutUint16(beyond[56:], 1)
	for name, bad := range map[string][]byte{
		"big end first": bytes.Replace(cubin, []byte{2, 1, 1}, []byte{2, 2, 1}, 1),
		"empty":         nil, "noise": []byte("hello"), "PTX with a zero": []byte(".target\x00x"), "half a header": cubin[:40], "segment": beyond,
	} {
		if _, err := d.Load(bad); err == nil {
			t.Errorf("%s is loaded", name)
		}
	}
	if _, err := d.Cubin(cubin); err == nil {
		t.Error("a cubin is linked as PTX")
	}
	m := must(d.Load(image))(t)
	if _, err := m.Function("nobody"); err == nil || !strings.Contains(err.Error(), `the module has no kernel "nobody"`) {
		t.Errorf("error %v", err)
	}
	k := must(m.Function("scale"))(t)
	if want := (FunctionInfo{MaxThreads: 1024, Registers: 40, Shared: 48, Local: 8, DynamicLimit: 49152}); k.Info() != want || k.Name() != "scale" {
		t.Errorf("kernel %s, %+v", k.Name(), k.Info())
	}
	if k.Launch(s, Grid{Blocks: Extent{X: 1}, Threads: Extent{X: 2048}}, nil) == nil {
		t.Error("launched blocks of 2048 threads")
	}
	check(t, k.Launch(s, Grid{}, nil), m.Close(), s.Close(), d.Close())
	f.nothingAlive()
}

func TestLaunchAllocatesNothing(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	defer d.Close()
	nop := must(must(d.Load(image))(t).Function("nop"))(t)
	params := make([]byte, 200)
	launch := func() {
		early := line(1, 1)
		early.Early = true
		check(t, nop.Launch(s, line(1, 1), params), nop.Launch(s, early, params))
	}
	launch()
	if raceEnabled {
		t.Skip("the race detector empties pools")
	}
	if n := testing.AllocsPerRun(1000, launch); n != 0 {
		t.Errorf("%v allocations per launch", n)
	}
	check(t, s.Synchronize(t.Context()))
}

func BenchmarkFakeLaunch(b *testing.B) {
	f := newFake(b)
	d, s := f.open0()
	defer d.Close()
	nop := must(must(d.Load(image))(b).Function("nop"))(b)
	params := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		check(b, nop.Launch(s, line(1, 1), params))
	}
}

func TestErrorText(t *testing.T) {
	f := newFake(t)
	f.fail("cuDeviceGetCount", 999, 0)
	_, err := f.Devices()
	if want := "cuDeviceGetCount: unknown error (unknown, 999): " + advice[999]; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
