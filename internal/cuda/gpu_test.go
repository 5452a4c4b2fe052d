//go:build linux || darwin

package cuda

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// This file tests the package on a GPU, where there is one.

// The tests of this file run on a GPU, and are skipped where there is none.

// kernels is PTX by hand. Parameters are named for what they are.
const kernels = `
.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 8 .b8 dynamic[];

// x[i] *= by
.visible .entry scale(.param .u64 x, .param .u64 n, .param .f64 by)
{
	.reg .pred %p;
	.reg .b32 %r<4>;
	.reg .b64 %a<5>;
	.reg .f64 %d<3>;
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	cvt.u64.u32 %a3, %r3;
	mad.wide.u32 %a1, %r1, %r2, %a3;
	ld.param.u64 %a2, [n];
	setp.ge.u64 %p, %a1, %a2;
	@%p bra done;
	ld.param.u64 %a2, [x];
	cvta.to.global.u64 %a2, %a2;
	shl.b64 %a3, %a1, 3;
	add.u64 %a4, %a2, %a3;
	ld.global.f64 %d1, [%a4];
	ld.param.f64 %d2, [by];
	mul.f64 %d1, %d1, %d2;
	st.global.f64 [%a4], %d1;
done:
	ret;
}

// One block: y[i] = x[threads-1-i], by way of the last bytes of shared memory
.visible .entry reverse(.param .u64 y, .param .u64 x, .param .u64 at)
{
	.reg .b32 %r<4>;
	.reg .b64 %a<8>;
	.reg .f64 %d<2>;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ntid.x;
	mul.wide.u32 %a1, %r1, 8;
	ld.param.u64 %a2, [x];
	cvta.to.global.u64 %a2, %a2;
	add.u64 %a2, %a2, %a1;
	ld.global.f64 %d1, [%a2];
	mov.u64 %a3, dynamic;
	ld.param.u64 %a4, [at];
	add.u64 %a3, %a3, %a4;
	add.u64 %a5, %a3, %a1;
	st.shared.f64 [%a5], %d1;
	bar.sync 0;
	sub.u32 %r3, %r2, %r1;
	sub.u32 %r3, %r3, 1;
	mul.wide.u32 %a6, %r3, 8;
	add.u64 %a6, %a3, %a6;
	ld.shared.f64 %d1, [%a6];
	ld.param.u64 %a7, [y];
	cvta.to.global.u64 %a7, %a7;
	add.u64 %a7, %a7, %a1;
	st.global.f64 [%a7], %d1;
	ret;
}

// Keeps a thread busy for so many clocks
.visible .entry spin(.param .u64 clocks)
{
	.reg .pred %p;
	.reg .b64 %a<4>;
	ld.param.u64 %a1, [clocks];
	mov.u64 %a2, %clock64;
	add.u64 %a1, %a1, %a2;
again:
	mov.u64 %a2, %clock64;
	setp.lt.u64 %p, %a2, %a1;
	@%p bra again;
	ret;
}

// Writes where it may not
.visible .entry wild()
{
	.reg .b64 %a;
	mov.u64 %a, 64;
	st.global.u64 [%a], %a;
	ret;
}

.visible .entry nop(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d)
{
	ret;
}
`

// gpu opens device 0, a stream, and the kernels above.
func gpu(t testing.TB) (*Device, *Stream, map[string]*Function) {
	t.Helper()
	driver, err := Open()
	if err != nil {
		t.Skipf("no GPU: %v", err)
	}
	d := must(driver.Device(0))(t)
	s := must(d.NewStream())(t)
	m := must(d.Load([]byte(kernels)))(t)
	t.Cleanup(func() { check(t, m.Close(), s.Close(), d.Close()) })
	all := map[string]*Function{}
	for _, name := range []string{"scale", "reverse", "spin", "wild", "nop"} {
		all[name] = must(m.Function(name))(t)
	}
	return d, s, all
}

// line is a grid of one dimension.
func line(blocks, threads uint32) Grid {
	return Grid{Blocks: Extent{X: blocks}, Threads: Extent{X: threads}}
}

func TestGPUDevices(t *testing.T) {
	d, _, _ := gpu(t)
	all := must(d.r.ctx.driver.Devices())(t)
	t.Logf("driver %s, CUDA %s", d.r.ctx.driver.Path(), d.r.ctx.driver.Version())
	for _, info := range all {
		t.Logf("%+v", info)
		if info.Name == "" || info.Capability.Major < 5 || info.Memory < 1<<28 || info.Multiprocessors < 1 || info.WarpSize != 32 ||
			info.MaxThreads != 1024 || info.MaxShared != 48<<10 || info.MaxSharedOptIn < info.MaxShared || info.L2 < 1 {
			t.Errorf("device %d: %+v", info.Ordinal, info)
		}
	}
	use := must(d.MemoryUse())(t)
	t.Logf("memory %+v", use)
	if use.Total == 0 || use.Free > use.Total {
		t.Errorf("memory %+v", use)
	}
}

func TestGPUKernel(t *testing.T) {
	d, s, k := gpu(t)
	cubin := must(d.Cubin([]byte(kernels)))(t)
	linked := must(d.Load(cubin))(t)
	defer linked.Close()
	for name, scale := range map[string]*Function{"PTX": k["scale"], "cubin": must(linked.Function("scale"))(t)} {
		t.Logf("%s: %+v", name, scale.Info())
		for _, n := range []int{1, 1000, 8192, 8193, 600_000, 5_000_001} {
			x, y := make([]float64, n), make([]float64, n)
			for i := range x {
				x[i] = rand.Float64()
			}
			p := must(s.Alloc(uint64(n) * 8))(t)
			q := must(s.Alloc(uint64(n) * 8))(t)
			check(t, s.Upload(p, asBytes(x)), scale.Launch(s, line(uint32(n+255)/256, 256), pack(p, int64(n), 3.0)),
				s.CopyOnDevice(q, p, uint64(n)*8), s.Free(p), s.Download(asBytes(y), q), s.Free(q))
			for i := range y {
				if y[i] != 3*x[i] {
					t.Fatalf("%s, n=%d: element %d is %v, want %v", name, n, i, y[i], 3*x[i])
				}
			}
		}
	}
}

func TestGPULoadErrors(t *testing.T) {
	d, _, _ := gpu(t)
	bad := strings.Replace(kernels, "mul.f64", "mull.f64", 1)
	for what, err := range map[string]error{
		"Load":  second(d.Load([]byte(bad))),
		"Cubin": second(d.Cubin([]byte(bad))),
	} {
		t.Log(err)
		if err == nil || !strings.Contains(err.Error(), "mull") {
			t.Errorf("%s: the log is not in the error %v", what, err)
		}
	}
	cubin := must(d.Cubin([]byte(kernels)))(t)
	for _, size := range []int{len(cubin) / 2, 64, 5} {
		if _, err := d.Load(cubin[:size]); err == nil {
			t.Errorf("%d of %d bytes of a cubin are loaded", size, len(cubin))
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestGPUOutOfMemory(t *testing.T) {
	d, s, _ := gpu(t)
	use := must(d.MemoryUse())(t)
	for _, need := range []uint64{2 * use.Total, 1 << 60} {
		_, err := s.Alloc(need)
		t.Log(err)
		if e, ok := errors.AsType[*OutOfMemoryError](err); !ok || e.Need != need || e.Free == 0 || e.Free > e.Total {
			t.Errorf("error %v", err)
		}
	}
	part := use.Free / 10 * 6
	p := must(s.Alloc(part))(t)
	if _, err := s.Alloc(part); err == nil {
		t.Error("twice 60 % of the memory")
	}
	// Freed on another stream, which is busy, and of another size.
	other := must(d.NewStream())(t)
	check(t, s.Synchronize(t.Context()), other.Free(p))
	q := must(s.Alloc(part + 12345))(t)
	check(t, s.Set8(q+Ptr(part), 1, 12345), s.Free(q), other.Close(), s.Synchronize(t.Context()))
}

func TestGPUCopyOver4GiB(t *testing.T) {
	d, s, _ := gpu(t)
	const n = 5<<30 + 12345
	if use := must(d.MemoryUse())(t); testing.Short() || use.Free < 2*n {
		t.Skip("copies 5 GiB")
	}
	var host [2][]byte
	for i := range host {
		var err error
		host[i], err = syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		check(t, err)
		defer syscall.Munmap(host[i])
	}
	marks := []int{0, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + largeSlot, n - 1}
	for i, at := range marks {
		host[0][at] = byte(i + 1)
	}
	p, q := must(s.Alloc(n))(t), must(s.Alloc(n))(t)
	check(t, s.Set8(q, 0xff, n), s.Upload(p, host[0]), s.CopyOnDevice(q, p, n), s.Free(p), s.Download(host[1], q), s.Free(q))
	if !bytes.Equal(host[0], host[1]) {
		t.Error("what came back is not what was sent")
	}
}

func TestGPUSet(t *testing.T) {
	_, s, _ := gpu(t)
	p := must(s.Alloc(64))(t)
	got, want := make([]byte, 64), make([]byte, 64)
	check(t, s.Upload(p, want), s.Set8(p+24, 9, 3), s.Download(got, p), s.Free(p))
	copy(want[24:], []byte{9, 9, 9})
	if !bytes.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestGPUEventsAndCancellation(t *testing.T) {
	d, s, k := gpu(t)
	start, end := must(d.NewEvent())(t), must(d.NewEvent())(t)
	defer start.Close()
	defer end.Close()
	const clocks = 400e6 // 0.2 s at 2 GHz
	check(t, start.Record(s), k["spin"].Launch(s, line(1, 1), pack(int64(clocks))), end.Record(s))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	began := time.Now()
	if err := s.Synchronize(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if waited := time.Since(began); waited > 100*time.Millisecond {
		t.Errorf("waited %v", waited)
	}
	check(t, s.Synchronize(t.Context()))
	if took := must(end.Since(start))(t); took < 100*time.Millisecond || took > 2*time.Second {
		t.Errorf("%v clocks took %v", clocks, took)
	} else {
		t.Logf("%v clocks took %v: %.2f GHz", clocks, took, clocks/float64(took.Nanoseconds()))
	}
}

func TestGPUManyGoroutines(t *testing.T) {
	d, shared, k := gpu(t)
	var group sync.WaitGroup
	for g := range 16 {
		group.Go(func() {
			s := shared
			if g%2 == 0 {
				var err error
				if s, err = d.NewStream(); err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
			}
			for turn := range 50 {
				n := 1 << (turn % 20)
				x := make([]float64, n)
				for i := range x {
					x[i] = float64(g + i)
				}
				p, err := s.Alloc(uint64(n) * 8)
				if err != nil {
					t.Error(err)
					return
				}
				if err := errors.Join(s.Upload(p, asBytes(x)), k["scale"].Launch(s, line(uint32(n+255)/256, 256), pack(p, int64(n), 2.0)),
					s.Download(asBytes(x), p), s.Free(p), s.Synchronize(t.Context())); err != nil {
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
}

// A foreign context is one that this process made with the driver itself.
func TestGPUForeign(t *testing.T) {
	d, s, _ := gpu(t)
	wrapped := must(d.r.ctx.driver.Wrap(d.Context()))(t)
	if wrapped.Info() != d.Info() {
		t.Errorf("%+v is not %+v", wrapped.Info(), d.Info())
	}
	ws := must(wrapped.WrapStream(s.Handle()))(t)
	legacy := must(wrapped.WrapStream(0))(t)
	p := must(s.Alloc(8))(t)
	got := make([]byte, 8)
	check(t, s.Set8(p, 5, 8), ws.Download(got, p), legacy.Set8(p, 6, 4), legacy.Synchronize(t.Context()), ws.Download(got[4:], p), s.Free(p))
	if !bytes.Equal(got, []byte{5, 5, 5, 5, 6, 6, 6, 6}) {
		t.Errorf("got %v", got)
	}
	check(t, legacy.Close(), ws.Close(), wrapped.Close())
}

// The pool keeps memory, and all of it goes when the device is closed.
func TestGPUGivesMemoryBack(t *testing.T) {
	d, _, _ := gpu(t)
	before := must(d.MemoryUse())(t)
	wrapped := must(d.r.ctx.driver.Wrap(d.Context()))(t) // with a pool of its own
	s := must(wrapped.NewStream())(t)
	const n = 1 << 30
	p := must(s.Alloc(n))(t)
	check(t, s.Free(p), s.Synchronize(t.Context()))
	if kept := must(wrapped.MemoryUse())(t); kept.Idle < n {
		t.Errorf("the pool keeps %d bytes of %d", kept.Idle, n)
	}
	s, wrapped = nil, nil // nobody closes them
	var after MemoryUse
	for range 50 {
		runtime.GC()
		time.Sleep(2 * time.Millisecond)
		if after = must(d.MemoryUse())(t); after.Free+64<<20 > before.Free {
			return
		}
	}
	t.Errorf("%d bytes free before, %d after", before.Free, after.Free)
}

// A kernel that writes where it may not loses the device to its process, which
// is another one here.
func TestGPULost(t *testing.T) {
	const marker = "LACUNA_TEST_LOSE_DEVICE"
	_, s, k := gpu(t)
	if os.Getenv(marker) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestGPULost$", "-test.v")
		cmd.Env = append(os.Environ(), marker+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "lost as it should be") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	p := must(s.Alloc(100))(t)
	check(t, k["wild"].Launch(s, line(1, 1), nil))
	err := s.Synchronize(t.Context())
	if _, ok := errors.AsType[*LostError](err); !ok {
		t.Fatalf("error %v", err)
	}
	for _, again := range []error{s.Upload(p, []byte{1}), s.Free(p), second(s.Alloc(1)), s.Synchronize(context.Background())} {
		if !errors.Is(again, err) {
			t.Errorf("error %v", again)
		}
	}
	fmt.Println("lost as it should be:", err)
}
