//go:build linux && (amd64 || arm64)

package runtime

import (
	"bytes"
	"context"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/runtime/alloc"
)

// Runs on a stream have memory for small temporaries one after another: blocks do not
// overlap, and what is to be zero is, whatever the run before left there.
func TestArena(t *testing.T) {
	e := gpuEngine(t, fakeDevice(t), nil)
	any, err := e.queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := any.(*cudaQueue)
	ones := bytes.Repeat([]byte{1}, 300)
	var before []block
	for run := range 3 {
		var list []block
		for i, fill := range []alloc.Fill{alloc.Anything, alloc.Zeroed, alloc.Zeroed, alloc.Anything} {
			b, ok := q.scratch(300, fill)
			if !ok || b%arenaAlignment != 0 {
				t.Fatalf("run %d, block %d: %#x, %v", run, i, b, ok)
			}
			for _, other := range list {
				if b < other+300 && other < b+300 {
					t.Errorf("blocks at %#x and %#x overlap", b, other)
				}
			}
			list = append(list, b)
			got := make([]byte, 300)
			if err := q.download(t.Context(), unsafe.Pointer(&got[0]), b, 0, 300); err != nil {
				t.Fatal(err)
			}
			if fill == alloc.Zeroed && !bytes.Equal(got, make([]byte, 300)) {
				t.Errorf("run %d: block %d is not zero", run, i)
			}
			if err := q.upload(b, unsafe.Pointer(&ones[0]), 300); err != nil {
				t.Fatal(err)
			}
		}
		if run > 0 && list[0] != before[0] {
			t.Errorf("run %d has memory at %#x, the one before had it at %#x", run, list[0], before[0])
		}
		before = list
		q.close()
	}
	for _, c := range []struct {
		bytes int64
		fill  alloc.Fill
	}{{arenaBytes, alloc.Anything}, {arenaZeroes + 1, alloc.Zeroed}} {
		if _, ok := q.scratch(c.bytes, c.fill); ok {
			t.Errorf("the arena has %d bytes in one piece", c.bytes)
		}
	}
	if _, ok := q.scratch(arenaBytes-arenaZeroes, alloc.Anything); !ok {
		t.Error("the arena does not have what it should")
	}
	if _, ok := q.scratch(1, alloc.Anything); ok {
		t.Error("the arena gave memory twice")
	}
	if _, ok := q.scratch(arenaZeroes, alloc.Zeroed); !ok {
		t.Error("the arena has no zeros")
	}
}

// On a stream of the program's own, on which several runs may be at work, there is no
// such memory.
func TestNoArenaOnForeignStreams(t *testing.T) {
	device := fakeDevice(t)
	stream, err := device.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	e := gpuEngine(t, device, nil)
	e.stream = stream
	q, err := e.queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer q.close()
	if _, ok := q.scratch(8, alloc.Anything); ok {
		t.Error("runs share memory")
	}
}

// BenchmarkDeviceRun is what a run costs this process where a device's driver takes no
// time: operands and result stay in its memory.
func BenchmarkDeviceRun(b *testing.B) {
	e := gpuEngine(b, fakeDevice(b), nil)
	x, bind := deviceSpmv(b, e, 3)
	bind.Buffers[0].On = onDevice(b, e, []uint32{0, 2, 3})
	bind.Buffers[1].On = onDevice(b, e, []uint32{0, 2, 1})
	bind.Buffers[2].On = onDevice(b, e, []float64{1, 2, 3})
	bind.Buffers[3].On = onDevice(b, e, []float64{1, 10, 100})
	var r Results
	for b.Loop() {
		if err := x.RunInto(context.Background(), bind, Options{Resident: true}, &r); err != nil {
			b.Fatal(err)
		}
		for _, m := range r.Buffers {
			if m.On != nil {
				m.On.Free()
			}
		}
	}
}
