//go:build linux && (amd64 || arm64)

package runtime

import (
	"math"
	"strings"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
)

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
