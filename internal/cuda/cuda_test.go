//go:build linux || darwin

package cuda

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/cuda/fakecuda"
	"github.com/lacuna-sparse/lacuna/internal/dl"
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

func TestRoundTrip(t *testing.T) {
	for _, variant := range []struct {
		name  string
		flags []string
	}{{"pools", nil}, {"no pools", []string{"-DNO_POOLS"}}} {
		t.Run(variant.name, func(t *testing.T) {
			f := newFake(t, variant.flags...)
			d, s := f.open0()
			m := must(d.Load(image))(t)
			scale := must(m.Function("scale"))(t)
			for _, n := range []int{1, 8191, 8192, 8193, 524288, 524289, 2_500_000} {
				x, y := make([]float64, n), make([]float64, n)
				for i := range x {
					x[i] = rand.Float64()
				}
				p := must(s.Alloc(uint64(n) * 8))(t)
				q := must(s.Alloc(uint64(n) * 8))(t)
				check(t, s.Upload(p, asBytes(x)),
					scale.Launch(s, Grid{Blocks: Extent{X: uint32(n)}, Threads: Extent{X: 32}}, pack(p, int64(n), 3.0)),
					s.CopyOnDevice(q, p, uint64(n)*8), s.Free(p),
					s.Download(asBytes(y), q), s.Free(q))
				for i := range y {
					if y[i] != 3*x[i] {
						t.Fatalf("n=%d: element %d is %v, want %v", n, i, y[i], 3*x[i])
					}
				}
			}
			check(t, s.Synchronize(t.Context()), m.Close(), s.Close(), d.Close())
			f.nothingAlive()
		})
	}
}

// The bytes are taken when Upload returns, however late the device fetches them
// and however often its staging memory is used meanwhile.
func TestUploadTakesTheBytes(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	defer d.Close()
	f.control("fake_delay", 300)
	for _, n := range []int{100, 100_000, 9 << 20} {
		src, got := make([]byte, n), make([]byte, n)
		p := must(s.Alloc(uint64(n) * 40))(t)
		for turn := range 40 {
			for i := range src {
				src[i] = byte(turn)
			}
			check(t, s.Upload(p+Ptr(turn*n), src))
			if n > 1<<20 && turn == 5 {
				break
			}
		}
		for turn := range 40 {
			check(t, s.Download(got, p+Ptr(turn*n)))
			if !bytes.Equal(got, bytes.Repeat([]byte{byte(turn)}, n)) {
				t.Fatalf("n=%d: turn %d has other bytes", n, turn)
			}
			if n > 1<<20 && turn == 5 {
				break
			}
		}
		check(t, s.Free(p))
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

// Sizes do not fit into 32 bits anywhere.
func TestCopyOver4GiB(t *testing.T) {
	if testing.Short() {
		t.Skip("copies 5 GiB")
	}
	f := newFake(t)
	d, s := f.open0()
	defer d.Close()
	const n = 5<<30 + 12345
	zeros, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	check(t, err)
	defer syscall.Munmap(zeros)
	f.control("fake_discard", 1)
	p := must(s.Alloc(n))(t)
	check(t, s.Upload(p, zeros))
	copied, end := new(uintptr), new(uintptr)
	f.control("fake_discarded", uintptr(unsafe.Pointer(copied)), uintptr(unsafe.Pointer(end)))
	if *copied != n || *end != n {
		t.Errorf("%d bytes copied, the last at %d, want %d", *copied, *end, n)
	}
	check(t, s.CopyOnDevice(p, p+n/2, n/2), s.Free(p))
	f.control("fake_discarded", uintptr(unsafe.Pointer(copied)), uintptr(unsafe.Pointer(end)))
	if *copied != n+n/2 {
		t.Errorf("%d bytes copied, want %d", *copied, n+n/2)
	}
}

func TestOutOfMemory(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	other := must(d.NewStream())(t)
	const giB = 1 << 30
	p := must(s.Alloc(6 * giB))(t)
	_, err := s.Alloc(3 * giB)
	e, ok := errors.AsType[*OutOfMemoryError](err)
	if !ok || e.Need != 3*giB || e.Free != 2*giB || e.Total != 8*giB || e.Err.Code != CodeOutOfMemory || e.Device != "Fake 0" {
		t.Fatalf("error %v", err)
	}
	if want := "out of memory on the GPU Fake 0: 3221225472 bytes are needed, 2147483648 of 8589934592 are free"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	// What another stream frees only later, and what the pool keeps, is had.
	nap := must(must(d.Load(image))(t).Function("nap"))(t)
	check(t, nap.Launch(other, line(1, 1), pack(int64(20_000))), other.Free(p))
	q, err := s.Alloc(3 * giB)
	check(t, err)
	check(t, s.Free(q), s.Synchronize(t.Context()))
	if use := must(d.MemoryUse())(t); use != (MemoryUse{Total: 8 * giB, Free: 5 * giB, Idle: 3 * giB}) {
		t.Errorf("use %+v", use)
	}
	for _, code := range []Code{CodeOutOfMemory, CodeInvalidValue} { // whichever the driver finds fitting
		f.fail("cuMemAllocFromPoolAsync", code, 0)
		_, err := s.Alloc(math.MaxUint64)
		if e, ok := errors.AsType[*OutOfMemoryError](err); !ok || e.Need != math.MaxUint64 {
			t.Errorf("error %v", err)
		}
		f.fail("", 0, 0)
	}
	if p, err := s.Alloc(0); p != 0 || err != nil || s.Free(0) != nil {
		t.Errorf("0 bytes: %v, %v", p, err)
	}
	if s.Free(12345) == nil {
		t.Error("freed what was not allocated")
	}
	check(t, s.Close(), other.Close(), d.Close())
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

// A copy in many pieces that fails in the middle returns the error, and the
// staging memory is there for the next.
func TestCopyFailsInTheMiddle(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	host := make([]byte, 50*largeSlot+1)
	p := must(s.Alloc(uint64(len(host))))(t)
	for _, name := range []string{"cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuEventRecord", "cuEventSynchronize", "cuCtxGetCurrent"} {
		for range 3 {
			f.fail(name, CodeInvalidValue, 7)
			err := s.Upload(p, host)
			if name == "cuMemcpyDtoHAsync_v2" {
				err = s.Download(host, p)
			}
			f.fail("", 0, 0)
			// Without cuCtxGetCurrent the context is just set.
			if e, ok := errors.AsType[*Error](err); name != "cuCtxGetCurrent" && (!ok || e.Op != name) {
				t.Errorf("when %s fails the error is %v", name, err)
			}
			check(t, s.Upload(p, host), s.Download(host, p))
		}
	}
	if n := len(d.r.ctx.large.free); n != largeSlots {
		t.Errorf("%d of %d slots are free", n, largeSlots)
	}
	check(t, s.Free(p), s.Close(), d.Close())
	f.nothingAlive()
}

func TestLostDevice(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	m := must(d.Load(image))(t)
	wild := must(m.Function("wild"))(t)
	p := must(s.Alloc(100))(t)
	if d.Lost() != nil {
		t.Error("lost from the start")
	}
	check(t, wild.Launch(s, line(1, 1), nil))
	err := s.Synchronize(context.Background())
	e, ok := errors.AsType[*LostError](err)
	if !ok || e.Err.Code != 700 || !strings.Contains(err.Error(), "the GPU Fake 0 is lost") || !strings.Contains(err.Error(), "illegal memory access") {
		t.Fatalf("error %v", err)
	}
	for name, got := range map[string]error{
		"Upload": s.Upload(p, make([]byte, 10)), "Free": s.Free(p), "Lost": d.Lost(),
		"Launch": wild.Launch(s, line(1, 1), nil),
	} {
		if !errors.Is(got, e) {
			t.Errorf("%s: error %v", name, got)
		}
	}
	if other, err := f.Device(1); err != nil || other.Lost() != nil {
		t.Errorf("the other device is lost, too: %v", err)
	} else {
		check(t, other.Close())
	}
	check(t, m.Close(), s.Close(), d.Close())
}

func TestSynchronizeEndsWithItsContext(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	defer d.Close()
	nap := must(must(d.Load(image))(t).Function("nap"))(t)
	check(t, nap.Launch(s, line(1, 1), pack(int64(300_000))))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if err := s.Synchronize(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if waited := time.Since(start); waited > 250*time.Millisecond {
		t.Errorf("waited %v after a deadline of 20ms", waited)
	}
	if done, err := s.Done(); done || err != nil {
		t.Errorf("done %v, error %v", done, err)
	}
	check(t, s.Synchronize(t.Context()))
	if done, err := s.Done(); !done || err != nil {
		t.Errorf("done %v, error %v", done, err)
	}
}

// A device whose pools do not work has memory all the same.
func TestPoolsNotSupported(t *testing.T) {
	f := newFake(t)
	f.fail("cuMemPoolCreate", codeNotSupported, 0)
	d, s := f.open0()
	p := must(s.Alloc(100))(t)
	if use := must(d.MemoryUse())(t); use.Idle != 0 || use.Free != use.Total-100 {
		t.Errorf("use %+v", use)
	}
	check(t, s.Free(p), s.Close(), d.Close())
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

func TestEvents(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	other := must(d.NewStream())(t)
	nap := must(must(d.Load(image))(t).Function("nap"))(t)
	start, end := must(d.NewEvent())(t), must(d.NewEvent())(t)
	p := must(s.Alloc(4))(t)
	check(t, start.Record(s),
		nap.Launch(s, line(1, 1), pack(int64(10_000))),
		s.Set8(p, 7, 4), end.Record(s),
		other.Wait(end)) // so that it reads the 7s
	got := make([]byte, 4)
	check(t, other.Download(got, p), end.Synchronize(context.Background()))
	if !bytes.Equal(got, []byte{7, 7, 7, 7}) {
		t.Errorf("got %v", got)
	}
	if took := must(end.Since(start))(t); took < 10*time.Millisecond || took > 5*time.Second {
		t.Errorf("a nap of 10ms took %v", took)
	}
	check(t, s.Free(p), start.Close(), end.Close(), s.Close(), other.Close(), d.Close())
	f.nothingAlive()
}

// What is not closed, the collector gives back: also the context.
func TestForgotten(t *testing.T) {
	f := newFake(t)
	func() {
		d, s := f.open0()
		_ = must(d.NewEvent())(t)
		_ = must(must(d.Load(image))(t).Function("nop"))(t)
		p := must(s.Alloc(100))(t)
		check(t, s.Upload(p, make([]byte, 100)), s.Free(p), s.Synchronize(t.Context()))
	}()
	f.nothingAlive()
	d := must(f.Device(0))(t) // and all can begin anew
	check(t, d.Close())
	f.nothingAlive()
}

// A kernel keeps its module, and everything keeps the context.
func TestLifetimes(t *testing.T) {
	f := newFake(t)
	d, s := f.open0()
	nop := must(must(d.Load(image))(t).Function("nop"))(t)
	p := must(s.Alloc(100))(t)
	check(t, d.Close(), d.Close())
	for range 5 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	check(t, nop.Launch(s, line(1, 1), nil), s.Synchronize(t.Context()))
	if _, err := d.NewStream(); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed device makes a stream: %v", err)
	}
	if _, err := d.WrapStream(0); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed device wraps a stream: %v", err)
	}
	check(t, s.Free(p), nop.module.Close(), s.Close())
	for name, err := range map[string]error{
		"Launch": nop.Launch(s, line(1, 1), nil), "Upload": s.Upload(p, []byte{1}), "Synchronize": s.Synchronize(t.Context()),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	f.nothingAlive()
}

// Closing what other goroutines use never breaks a call that is under way.
func TestCloseWhileInUse(t *testing.T) {
	f := newFake(t)
	d := must(f.Device(0))(t)
	for range 50 {
		s, m := must(d.NewStream())(t), must(d.Load(image))(t)
		nop := must(m.Function("nop"))(t)
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				for {
					err := errors.Join(nop.Launch(s, line(1, 1), nil), s.Synchronize(t.Context()))
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		runtime.Gosched()
		check(t, m.Close(), s.Close())
		group.Wait()
	}
	check(t, d.Close())
	f.nothingAlive()
}

func TestForeignContext(t *testing.T) {
	f := newFake(t)
	runtime.LockOSThread() // to look at the thread's context
	defer runtime.UnlockOSThread()
	foreign, current := new(uintptr), new(uintptr)
	f.control("fake_foreign", uintptr(unsafe.Pointer(foreign)))
	contextNow := func() uintptr {
		f.control("fake_get_current", uintptr(unsafe.Pointer(current)))
		return *current
	}
	d := must(f.Wrap(*foreign))(t)
	if d.Info().Ordinal != 1 || d.Info().Name != "Fake 1" || d.Context() != *foreign {
		t.Errorf("device %+v", d.Info())
	}
	if contextNow() != 0 {
		t.Error("a foreign context stays current")
	}
	s := must(d.WrapStream(0))(t)
	p := must(s.Alloc(8))(t)
	got := make([]byte, 8)
	check(t, s.Set8(p, 9, 8), s.Download(got, p), s.Free(p), s.Synchronize(t.Context()))
	if !bytes.Equal(got, bytes.Repeat([]byte{9}, 8)) {
		t.Errorf("got %v", got)
	}
	own := must(f.Device(0))(t)
	check(t, must(own.NewStream())(t).Close())
	if contextNow() != own.Context() {
		t.Error("the primary context does not stay on a thread that had none")
	}
	f.control("fake_set_current", *foreign)
	ownStream := must(own.NewStream())(t)
	if contextNow() != *foreign {
		t.Error("the thread's own context does not come back")
	}
	nop := must(must(own.Load(image))(t).Function("nop"))(t)
	for name, err := range map[string]error{
		"Launch": nop.Launch(s, line(1, 1), nil),
		"Record": must(own.NewEvent())(t).Record(s),
	} {
		if !errors.Is(err, ErrMixedDevices) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	check(t, s.Close(), d.Close(), ownStream.Close(), own.Close())
	if _, err := f.Wrap(0); err == nil {
		t.Error("wrapped no context")
	}
	f.nothingAlive()
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
