//go:build linux || darwin

package cuda

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

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
