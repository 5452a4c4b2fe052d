//go:build linux && (amd64 || arm64)

package runtime

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
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

// scaleKernel multiplies numbers of the device's memory, on a driver without a device.
func scaleKernel(t *testing.T, device *cuda.Device) *cudaKernel {
	t.Helper()
	m, err := device.Load([]byte(".version 7.0\n.target sm_70\n.visible .entry scale() {}\n.entry scale(\n"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.Function("scale")
	if err != nil {
		t.Fatal(err)
	}
	k := &cudaKernel{first: f, threads: 1}
	k.entry.Store(f)
	return k
}

func scaleCall(at block, by float64) *gridCall {
	return &gridCall{bufs: []gridBuffer{{at: at}}, args: []int64{1, int64(math.Float64bits(by))}}
}

// A queue that is told to do the same again uses a graph, and does what it is told all the same where something differs.
func TestReplay(t *testing.T) {
	device := fakeDevice(t)
	e := gpuEngine(t, device, nil)
	k := scaleKernel(t, device)
	any, err := e.queue(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	q := any.(*cudaQueue)
	x, err := q.alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	y, err := q.alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	want := 1.0
	if err := q.upload(x, unsafe.Pointer(&want), 8); err != nil {
		t.Fatal(err)
	}
	graphs := func() int {
		_, n := q.replay.Known()
		return n
	}
	for run := range 3 * cuda.MostKnown {
		by := 2.0
		if run%5 == 4 {
			by = 1 + 1/float64(run) // never again
		}
		for _, err := range []error{q.launch(k, 1, scaleCall(x, by)), q.copy(y, x, 8), q.clear(x, 8), q.copy(x, y, 8), q.launch(k, 1, scaleCall(x, 0.5))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		want *= by
		var got float64
		if err := q.download(t.Context(), unsafe.Pointer(&got), y, 0, 8); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Fatalf("run %d: %v, want %v", run, got, want)
		}
		if want *= 0.5; run == 3 && graphs() != 1 {
			t.Errorf("%d graphs after %d runs", graphs(), run+1)
		}
	}
	if n, _ := q.replay.Known(); n != min(cuda.MostKnown, 1+3*cuda.MostKnown/5) {
		t.Errorf("%d batches are known", n)
	}

	// What is freed may be used by what was not put into the stream yet.
	z, err := q.alloc(8)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.copy(z, x, 8); err != nil {
		t.Fatal(err)
	}
	if err := q.copy(y, z, 8); err != nil {
		t.Fatal(err)
	}
	q.free(z, 8)
	var got float64
	if err := q.download(t.Context(), unsafe.Pointer(&got), y, 0, 8); err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}

	// An error comes when somebody waits, and then always; the queue is not used again.
	k.threads = 2048
	if err := q.launch(k, 1, scaleCall(x, 2)); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := q.wait(t.Context()); err == nil || !strings.Contains(err.Error(), "cuLaunchKernel") {
			t.Errorf("error %v", err)
		}
	}
	q.close()
	if again, err := e.queue(t.Context()); err != nil || again == queue(q) {
		t.Errorf("the queue is used again: %v", err)
	}
}

// A result that was freed leaves its memory to the next one of about its size.
func TestResultsTakeSpareBlocks(t *testing.T) {
	e := gpuEngine(t, fakeDevice(t), nil)
	x, b := deviceSpmv(t, e, 3)
	var places []uint64
	for range 3 {
		r, err := x.Run(t.Context(), b, Options{Resident: true})
		if err != nil {
			t.Fatal(err)
		}
		y := r.Buffers[4].On
		places = append(places, y.Address())
		y.Free()
	}
	if places[1] != places[0] || places[2] != places[0] {
		t.Errorf("results are at %#x, want one place", places)
	}
	if e.spare.Bytes() != 256 {
		t.Errorf("%d bytes are spare, want those of one block", e.spare.Bytes())
	}
	e.spare.Close()
	r, err := x.Run(t.Context(), b, Options{Resident: true})
	if err != nil {
		t.Fatal(err)
	}
	r.Buffers[4].On.Free()
	if e.spare.Bytes() != 0 {
		t.Errorf("%d bytes are kept after the end", e.spare.Bytes())
	}
}
