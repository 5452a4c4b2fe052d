//go:build linux || darwin

package runtime

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/lacuna-sparse/lacuna/internal/cuda"
	"github.com/lacuna-sparse/lacuna/internal/cuda/fakecuda"
)

// fakeDevice opens a device of a driver without one, whose kernels do nothing. LLVM is
// needed to make the engine.
func fakeDevice(t testing.TB, flags ...string) *cuda.Device {
	t.Helper()
	if _, err := CPU(); err != nil {
		t.Skip(err)
	}
	t.Setenv("LACUNA_CUDA", fakecuda.Build(t, flags...))
	driver, err := cuda.Open()
	if err != nil {
		t.Fatal(err)
	}
	device, err := driver.Device(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := device.Close(); err != nil {
			t.Error(err)
		}
	})
	return device
}

// The engine works in a context and on a stream that it is given.
func TestCUDAOn(t *testing.T) {
	device := fakeDevice(t)
	stream, err := device.NewStream()
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	e, end, err := CUDAOn(device.Context(), stream.Handle())
	if err != nil {
		t.Fatal(err)
	}
	if !OnGrids(e) || e.Name() != CUDAName || !strings.Contains(e.Fingerprint(), "context 0x") {
		t.Errorf("the engine is %s, %s", e.Name(), e.Fingerprint())
	}
	values := []float64{1, 2, 3}
	r := onDevice(t, e, values)
	given, err := ForeignResident(e, r.Address(), r.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	p, err := given.Fetch()
	if err != nil || !slices.Equal(unsafe.Slice((*float64)(p), 3), values) {
		t.Errorf("what was brought over came back otherwise: %v", err)
	}

	x, err := e.Compile(t.Context(), forEngine(e, scaleProgram(t)))
	if err != nil {
		t.Fatal(err)
	}
	b := x.NewBindings()
	y := []float64{7, 8, 9}
	b.Buffers[0], b.Buffers[1], b.Scalars[0] = Memory{Len: 3, On: given}, MemoryOf(y), 3
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := x.Run(ctx, b, Options{}); err != nil || !slices.Equal(y, []float64{7, 8, 9}) {
		t.Errorf("got %v, %v", y, err)
	}
	cancel()
	if _, err := x.Run(ctx, b, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}

	given.Free() // which leaves the memory alone
	if _, err := r.Fetch(); err != nil {
		t.Error(err)
	}
	r.Free()
	var m *MemoryLimitError
	if _, err := Upload(t.Context(), e, nil, 1<<40); !errors.As(err, &m) || m.Need != 1<<40 || !strings.Contains(err.Error(), "free of 8.0 GiB") {
		t.Errorf("got %v, want one that tells need and free", err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if done, err := stream.Done(); err != nil || !done {
		t.Errorf("the caller's stream is not usable any more: %v, %v", done, err)
	}
}

func TestCUDAOnNothing(t *testing.T) {
	fakeDevice(t)
	var u *UnavailableError
	if _, _, err := CUDAOn(0, 0); !errors.As(err, &u) {
		t.Errorf("got %v, want a refusal", err)
	}
}

func TestForeignResidentRefusals(t *testing.T) {
	device := newSimulated(simulatedMemory)
	for _, c := range []struct {
		e       Engine
		address uint64
		bytes   int64
		want    string
	}{
		{Interp(), 256, 8, "this process's memory"},
		{device, 264, 8, "multiple of 16"},
		{device, 0, 8, "address 0"},
		{device, 256, -8, "-8 bytes"},
	} {
		if _, err := ForeignResident(c.e, c.address, c.bytes); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
	if r, err := ForeignResident(device, 0, 0); err != nil || r.Bytes() != 0 {
		t.Errorf("an empty array: %v", err)
	}
}
