//go:build linux || darwin

package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"testing"
	"unsafe"
)

// This file has benchmarks on a GPU.

// params is what BenchmarkGPU* pass to the kernel nop.
var params = binary.LittleEndian.AppendUint64(make([]byte, 24), 1)

// The time to put a launch into a stream; every 500 launches the stream is
// waited for, so that it never is full.
func BenchmarkGPULaunch(b *testing.B) {
	_, s, k := gpu(b)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		check(b, k["nop"].Launch(s, line(1, 32), params))
		if i++; i%500 == 0 {
			check(b, s.Synchronize(context.Background()))
		}
	}
}

// The time of a launch from start to end.
func BenchmarkGPULaunchAndSynchronize(b *testing.B) {
	for _, way := range []struct {
		name string
		ctx  context.Context
	}{{"background", context.Background()}, {"cancellable", b.Context()}} {
		b.Run(way.name, func(b *testing.B) {
			_, s, k := gpu(b)
			b.ReportAllocs()
			for b.Loop() {
				check(b, k["nop"].Launch(s, line(1, 32), params), s.Synchronize(way.ctx))
			}
		})
	}
}

// The time of a call that does next to nothing, most of it for the context.
func BenchmarkGPUCall(b *testing.B) {
	d, s, _ := gpu(b)
	b.Run("query", func(b *testing.B) {
		for b.Loop() {
			_ = must(s.Done())(b)
		}
	})
	b.Run("visit", func(b *testing.B) {
		for b.Loop() {
			must(d.r.enter())(b).leave()
		}
	})
}

func BenchmarkGPUAlloc(b *testing.B) {
	for _, size := range []uint64{1 << 10, 1 << 20, 1 << 30} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			_, s, _ := gpu(b)
			for b.Loop() {
				check(b, s.Free(must(s.Alloc(size))(b)))
			}
		})
	}
}

func BenchmarkGPUCopy(b *testing.B) {
	for _, size := range []int{64, 16 << 10, 1 << 20, 256 << 20} {
		_, s, _ := gpu(b)
		host := make([]byte, size)
		p := must(s.Alloc(uint64(size)))(b)
		for _, way := range []struct {
			name string
			run  func() error
		}{
			{"upload", func() error { return errors.Join(s.Upload(p, host), s.Synchronize(context.Background())) }},
			{"download", func() error { return s.Download(host, p) }},
			{"onDevice", func() error {
				return errors.Join(s.CopyOnDevice(p+Ptr(size/2), p, uint64(size/2)), s.Synchronize(context.Background()))
			}},
			{"byTheDriver", func() error { return uploadPageable(s, p, host) }},
		} {
			b.Run(fmt.Sprintf("%s/%d", way.name, size), func(b *testing.B) {
				b.SetBytes(int64(size))
				for b.Loop() {
					check(b, way.run())
				}
			})
		}
		check(b, s.Free(p))
	}
}

// uploadPageable leaves the staging to the driver, for comparison.
func uploadPageable(s *Stream, p Ptr, host []byte) error {
	f, err := s.r.enter()
	if err != nil {
		return err
	}
	defer f.leave()
	api := &f.ctx.driver.api
	if err := f.callWithMemory(&api.memcpyHtoDAsync, uintptr(p), uintptr(unsafe.Pointer(&host[0])), uintptr(len(host)), s.r.handle); err != nil {
		return err
	}
	return f.call(&api.streamSynchronize, s.r.handle)
}

func BenchmarkGPULoad(b *testing.B) {
	d, _, _ := gpu(b)
	cubin := must(d.Cubin([]byte(kernels)))(b)
	for name, image := range map[string][]byte{"ptx": []byte(kernels), "cubin": cubin} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				check(b, must(d.Load(image))(b).Close())
			}
		})
	}
}

// BenchmarkGPUCubin compiles modules one after another and at once, which tells whether the
// driver's compiler does several at a time.
func BenchmarkGPUCubin(b *testing.B) {
	d, _, _ := gpu(b)
	number := 0
	for _, c := range []struct {
		name   string
		atOnce int
	}{{"one", 1}, {"eight", 8}} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				var all sync.WaitGroup
				for range c.atOnce {
					number++
					text := fmt.Sprintf("%s// %d: not one that the driver has kept\n", kernels, number)
					all.Go(func() {
						if _, err := d.Cubin([]byte(text)); err != nil {
							b.Error(err)
						}
					})
				}
				all.Wait()
			}
		})
	}
}
